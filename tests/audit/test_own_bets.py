"""A table's own bets in a certification: the compiled count of pairs, the two checks, and what they see."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaincc, ndtr

from audit.battery import Sizes, find_check
from audit.cells import CELL_INDEX, CELLS, cell_of
from audit.checks.own_bets import (
    bet_returns,
    least_for_pairs,
    least_for_returns,
    pair_classes,
    seen_by_bets,
    skewed_tails,
)
from audit.checks.returns import returns
from audit.counts import Dealt
from audit.findings import find
from audit.gains import unit_gains
from audit.kernel import deal_block, orders
from audit.own_bets import bets_of, beyond_main, looks_at_pairs
from audit.pair_law import pair_covariance
from audit.plan import make_plan, parse_plan
from audit.power import effect_within_shoes
from audit.run import run
from audit.showings import showings
from audit.tally import Tally
from shoe.errors import InputError, RulesError
from shoe.game.bets.shown import PAIRS, Shown, shown_by
from shoe.game.bets.wagers import CATALOGUE, MAIN, Bet, Pay
from shoe.game.houses import DOPPELGANGER, HOUSES, NP_PUNTO_BANCO, vary
from shoe.game.rules import Rules
from tests.audit.plans import plan_of
from tests.audit.scalar_block import key, scalar_coups
from tests.audit.wrong_suits import CLASSES, engine, hearts_printed_as_spades, pair_cells, right

SIX = DOPPELGANGER.rules
EACH_COUP = vary(SIX, {"shuffle": "coup", "cut": None, "coups": 5})
BURNED = vary(SIX, {"decks": 2, "burn": "first_card", "last_coup": "one_more", "cut": {"from": 11, "to": 40}})
ONE = vary(
    SIX, {"decks": 1, "bets": [{"name": "pair", "pays": [["either_pair", 5, 1]], "commission_bp": 0, "side": True}]}
)
KEY = key("own bets")
CHECKS = 148
"""A full plan's checks of this table."""


# --- counts ------------------------------------------------------------------------------------


def slow_pair_cells(rules: Rules, shoes: range) -> dict[int, int]:
    """Coup by coup, by the scalar shuffle and dealer."""
    found: Counter[int] = Counter()
    for coup in (coup for hand in shoes for coup in scalar_coups(rules, KEY, hand)[: rules.judged_coups]):
        shown = shown_by(coup)
        found[16 * CELL_INDEX[cell_of(coup)] + 4 * PAIRS.index(shown.player_pair) + PAIRS.index(shown.banker_pair)] += 1
    return dict(found)


@pytest.mark.parametrize("rules", [SIX, EACH_COUP, BURNED, ONE], ids=["shoe", "each coup", "burned", "one deck"])
@pytest.mark.parametrize("count", [1, 33, 301])
def test_the_kernel_counts_pairs_as_the_scalar_code_does(rules: Rules, count: int) -> None:
    block = deal_block(rules, KEY, 2, count)
    assert slow_pair_cells(rules, range(2, 2 + count)) == {
        int(place): int(block.pair_cells[place]) for place in np.flatnonzero(block.pair_cells)
    }
    assert block.pair_cells.reshape(len(CELLS), 16).sum(axis=1).tolist() == block.judged_cells.tolist()


def test_the_kernel_counts_pairs_as_a_third_road_does() -> None:
    """By numpy over the orders, with pairs told by the names of cards."""
    cards = right(6)[orders(SIX, KEY, range(2000))]
    assert deal_block(SIX, KEY, 0, 2000).pair_cells.tolist() == pair_cells(cards, SIX.judged_coups).tolist()


@pytest.mark.parametrize(
    "rules", [NP_PUNTO_BANCO.rules, HOUSES["vip"].rules, replace(NP_PUNTO_BANCO.rules, further={})]
)
def test_where_no_bet_looks_at_pairs_none_are_counted(rules: Rules) -> None:
    assert not looks_at_pairs(rules)
    assert deal_block(rules, KEY, 0, 4).pair_cells.tolist() == []


def test_any_split_counts_the_same(tmp_path: Path) -> None:
    whole = Dealt.of(deal_block(SIX, KEY, 0, 600), 0)
    parts = [Dealt.of(deal_block(SIX, KEY, first, count), first) for first, count in ((0, 2), (2, 254), (256, 344))]
    assert (parts[2] + parts[0] + parts[1]).pair_cells.tolist() == whole.pair_cells.tolist()
    plan = plan_of(Sizes(600, 0, 0, 4), rules=SIX)
    with ThreadPoolExecutor(2) as threads:
        abroad = find(plan, run(plan, threads, checkpoint=tmp_path / "c"))
    assert find(plan, run(plan)).hash == abroad.hash == find(plan, run(plan, checkpoint=tmp_path / "c")).hash


# --- what a plan names -------------------------------------------------------------------------


def test_tables_that_pay_as_most_houses_do_have_no_further_checks() -> None:
    for name in ("np_punto_banco", "np_punto_banco_three", "chance", "intercasino", "vip"):
        rules = HOUSES[name].rules
        assert not beyond_main(rules)
        assert len(make_plan(name, rules, 10**6, bytes(32)).checks) == (138 if rules.shuffle == "coup" else 144)
    assert bets_of(replace(SIX, further={})) == ()
    assert not beyond_main(replace(SIX, further={}))


def test_other_tables_have() -> None:
    doppelganger = make_plan("doppelganger", SIX, 10**6, bytes(32))
    assert len(doppelganger.checks) == CHECKS
    assert [name for name in doppelganger.checks if "pair_classes" in name or "bet_returns" in name] == [
        "batch_pair_classes", "batch_bet_returns", "production_pair_classes", "production_bet_returns",
    ]  # fmt: skip
    assert parse_plan(doppelganger.to_bytes()) == doppelganger
    printed = HOUSES["intercasino_as_printed"].rules
    plan = make_plan("intercasino_as_printed", printed, 10_000, bytes(32))
    assert "batch_bet_returns" in plan.checks
    assert "batch_pair_classes" not in plan.checks


def test_checks_are_named_where_their_law_holds() -> None:
    """Both pure, 6 decks: least expected 5 times. Wanted by hand: 5 / p(pure, pure)."""
    law = pair_covariance(6)
    pure = law.p[law.labels.index(("pure", "pure"))]
    assert least_for_pairs(6) == 5 / min(law.p) == 5 / pure
    shoes = -(-int(least_for_pairs(6)) // SIX.judged_coups)
    _, pairs = find_check("batch_pair_classes")
    assert not pairs.fits(SIX, Sizes(shoes - 1, 0, 0, 0))
    assert pairs.fits(SIX, Sizes(shoes + 1, 0, 0, 0))
    _, bets = find_check("batch_bet_returns")
    assert bets.fits(SIX, Sizes(14, 0, 0, 0))  # 714 coups, over the 690 that any check of returns takes
    assert not bets.fits(SIX, Sizes(13, 0, 0, 0))
    rare = Bet("rare", (Pay("both_pure", 1000),), side=True)
    assert float(least_for_returns(6, (rare,))) == pytest.approx(10 * (1 - 2 * pure) ** 2 / (pure * (1 - pure)))


def test_bets_that_can_not_be_paid_are_refused() -> None:
    with pytest.raises(RulesError, match=r"rules: expected"):
        bets_of(replace(SIX, further={"bets": []}))


# --- the checks on sound shoes -----------------------------------------------------------------


@pytest.fixture(scope="module")
def sound() -> Dealt:
    return Dealt.of(deal_block(SIX, KEY, 0, 4000), 0)


@pytest.fixture(scope="module")
def seen(sound: Dealt) -> dict[Shown, int]:
    return seen_by_bets(sound.judged_cells, sound.pair_cells)


def test_sound_shoes_pass(sound: Dealt, seen: dict[Shown, int]) -> None:
    bets = (*bets_of(SIX), *(CATALOGUE[name] for name in ("perfect_pair", "super_6", "big", "player_dragon_bonus")))
    pairs, back = pair_classes(seen, sound.tally(), 6), bet_returns(seen, sound.tally(), 6, bets)
    assert (pairs.n, back.n, pairs.dof) == (204_000, 204_000, 15)
    assert pairs.p > 0.005
    assert back.p > 0.005
    assert len(back.items) == len(back.intervals) == len(bets)
    assert all(interval.low < interval.exact < interval.high for interval in back.intervals)


def test_each_line_is_what_a_unit_on_every_coup_gave_back(sound: Dealt, seen: dict[Shown, int]) -> None:
    result = bet_returns(seen, sound.tally(), 6, bets_of(SIX))
    for bet, line, interval in zip(bets_of(SIX), result.items, result.intervals, strict=True):
        back = sum(count * (1 + unit_gains(6, bet)[shown]) for shown, count in seen.items())
        unit = 20 if bet.name == "banker" else 1
        assert line.label == f"{bet.name}: returned, in stakes" + (" / 20" if unit == 20 else "")
        assert line.observed == back * unit
        assert interval.estimate == Fraction(back, 204_000)
        law = showings(6)
        mean = sum(count * (1 + unit_gains(6, bet)[shown]) for shown, count in law.counts.items()) / Fraction(law.total)
        assert (line.expected, interval.exact) == (204_000 * mean * unit, mean)


def test_the_main_bets_deviate_as_the_check_of_returns_says(sound: Dealt, seen: dict[Shown, int]) -> None:
    """Two roads to one number: a form of the outcomes' counts there, of all that coups show here."""
    mine = bet_returns(seen, sound.tally(), 6, MAIN)
    wanted = returns(sound.tally(), 6)
    for line, other in zip(mine.items, wanted.items, strict=True):
        assert (line.observed, line.expected) == (other.observed, other.expected)
        assert line.deviation == pytest.approx(other.deviation, rel=1e-9)


def test_cells_alone_do_for_bets_that_pairs_leave_alone(sound: Dealt, seen: dict[Shown, int]) -> None:
    bets = (CATALOGUE["lucky_6"], CATALOGUE["tie_9"])
    without = seen_by_bets(sound.judged_cells, np.zeros(0, np.int64))
    assert {shown.player_pair for shown in without} == {"none"}
    assert bet_returns(without, sound.tally(), 6, bets) == bet_returns(seen, sound.tally(), 6, bets)


@pytest.mark.slow
def test_calibrated_on_many_runs() -> None:
    """1,000 runs of 14 shoes of 6 decks, the least that is named: p below .05, .01 as often as may be."""
    bets = (*bets_of(SIX), CATALOGUE["dragon_7"], CATALOGUE["perfect_pair"])
    p = []
    for part in range(1000):
        dealt = Dealt.of(deal_block(SIX, key("calibration"), 14 * part, 14), 14 * part)
        p.append(bet_returns(seen_by_bets(dealt.judged_cells, dealt.pair_cells), dealt.tally(), 6, bets).p)
    for level in (0.05, 0.01):
        assert sum(each <= level for each in p) <= 1000 * level + 3 * sqrt(1000 * level)
    assert sum(each <= 0.05 for each in p) > 10


def test_the_statistic_of_pair_classes_follows_chi_square() -> None:
    """300 runs of 400 shoes: the mean within four standard errors of 15 degrees of freedom."""
    found = []
    for part in range(300):
        dealt = Dealt.of(deal_block(SIX, key("chi-square"), 400 * part, 400), 400 * part)
        found.append(pair_classes(seen_by_bets(dealt.judged_cells, dealt.pair_cells), dealt.tally(), 6))
    assert abs(sum(each.statistic for each in found) / 300 - 15) < 4 * sqrt(30 / 300)
    assert 3 <= sum(each.p <= 0.05 for each in found) <= 30


# --- what they see -----------------------------------------------------------------------------


def judged_by(faces: np.ndarray, shoes: int) -> dict[str, float]:
    plan = plan_of(Sizes(shoes, 0, 0, 0), rules=SIX)
    found = json.loads(find(plan, run(plan, engine=engine(faces))).to_bytes())
    return {check["name"].removeprefix("batch_"): check["p"] for check in found["checks"] if check["rejected"]}


def test_a_suit_printed_twice_shows_in_pairs_alone() -> None:
    """Every heart a spade: points, order and hashes are those of sound shoes, so that nothing else can see it."""
    assert set(judged_by(hearts_printed_as_spades(6, 6), 400)) == {"pair_classes", "bet_returns"}
    assert judged_by(right(6), 400) == {}


def test_pairs_counted_otherwise_fail_the_replay() -> None:
    plan = plan_of(Sizes(14, 0, 0, 4), rules=SIX)
    results = {}
    for name, faces in (("right", right(6)), ("wrong", hearts_printed_as_spades(6, 6))):
        findings = find(plan, run(plan, engine=engine(faces)))
        results[name] = next(check.p for check in findings.checks if check.name == "batch_replay")
    assert results == {"right": 1.0, "wrong": 0.0}


def pairs_of(faces: np.ndarray) -> dict[tuple[str, str], Fraction]:
    """The law of both hands' pairs of a shoe with such faces, by every four cards."""
    of = np.bincount(faces, minlength=52)
    one = np.array([[of[a] * (of[b] - (a == b)) * (CLASSES[a, b] == kind) for a, b in product(range(52), repeat=2)]
                    for kind in range(4)], dtype=np.float64)  # fmt: skip
    places = np.array(list(product(range(52), repeat=2)))
    left = np.tile(of.astype(np.float64), (52 * 52, 1))  # cards left of every face behind each first hand
    for hand in places.T:
        left[np.arange(52 * 52), hand] -= 1
    found = {}
    for kind in range(4):
        pairs = np.array([CLASSES[a, b] == kind for a, b in places], dtype=np.float64).reshape(52, 52)
        second = np.einsum("ra,rb,ab->r", left, left, pairs) - left @ np.diag(pairs)
        for other in range(4):
            found[PAIRS[other], PAIRS[kind]] = Fraction(round(float(one[other] @ second)))
    total = sum(found.values())
    return {both: count / total for both, count in found.items()}


def test_the_law_of_right_faces_is_the_exact_one() -> None:
    law = pair_covariance(6)
    assert pairs_of(right(6)) == dict(zip(law.labels, law.p, strict=True))


@pytest.mark.parametrize(("wrong", "coups"), [(1, 3_872_169), (2, 242_004), (6, 2_976)])
def test_power_by_theory(wrong: int, coups: int) -> None:
    """METHODS: judged coups after which pair_classes catches so many decks with hearts printed as spades."""
    assert power_needed(wrong) == coups


def power_needed(wrong: int) -> int | None:
    effect = effect_within_shoes(pair_covariance(6), pairs_of(hearts_printed_as_spades(6, wrong)), SIX.judged_coups)
    return effect.need(0.01 / CHECKS, 0.9)


@pytest.mark.slow
def test_power_on_real_shoes() -> None:
    """Two decks of six wrong: of 100 tables with as many shoes as theory asks for, 90 give or take three errors."""
    shoes = -(-(power_needed(2) or 0) // SIX.judged_coups)
    caught = 0
    for table in range(100):
        block = engine(hearts_printed_as_spades(6, 2)).deal_block(
            SIX, key("power"), table * (shoes + 1) // 2 * 2, shoes
        )
        dealt = Dealt.of(block, 0)
        result = pair_classes(seen_by_bets(dealt.judged_cells, dealt.pair_cells), dealt.tally(), 6)
        caught += result.p <= 0.01 / CHECKS
    assert 81 <= caught <= 99


def test_a_coup_that_can_not_be_fails_by_itself() -> None:
    """A pure pair of one deck."""
    law, tally = showings(1), Tally(lengths=Counter({8: 100}))
    tally.coups.update(Dealt.of(deal_block(ONE, KEY, 0, 100), 0).tally().coups)
    shown = next(iter(law.counts))
    seen = {shown._replace(player_pair="pure"): 1, **dict.fromkeys([shown], 799)}
    for result in (pair_classes(seen, tally, 1), bet_returns(seen, tally, 1, bets_of(ONE))):
        assert (result.p, result.statistic) == (0.0, inf)


# --- tails and bad input -----------------------------------------------------------------------


def test_tails_without_skewness_are_normal() -> None:
    for z in (-4.0, -1.0, 0.0, 2.5):
        assert skewed_tails(z, 0.0) == pytest.approx(min(1, 2 * ndtr(-abs(z))))
        assert skewed_tails(z, 1e-5) == pytest.approx(skewed_tails(z, 0.0), rel=1e-3)
        assert skewed_tails(z, -0.3) == skewed_tails(-z, 0.3)


def test_tails_of_a_poisson_count() -> None:
    """Poisson(40), skewness 1/√40: P(X ≥ 60) with half of the last step, against the exact sum by the gamma law."""
    exact = [1 - float(gammaincc(k, 40.0)) for k in (60, 61)]  # P(X >= k) = P(gamma(k) <= 40)
    z = (60 - 40) / sqrt(40)
    assert skewed_tails(z, 1 / sqrt(40)) == pytest.approx(sum(exact), rel=0.05)
    assert abs(2 * float(ndtr(-z)) / sum(exact) - 1) > 0.3  # the normal law is out by a third


def test_no_coups_and_no_bets_are_refused(sound: Dealt, seen: dict[Shown, int]) -> None:
    with pytest.raises(InputError, match="tally: expected 1 or more judged coups"):
        bet_returns({}, Tally(), 6, MAIN)
    with pytest.raises(InputError, match="tally: expected 1 or more judged coups"):
        pair_classes({}, Tally(), 6)
    with pytest.raises(InputError, match="bets: expected 1 or more bets"):
        bet_returns(seen, sound.tally(), 6, ())
