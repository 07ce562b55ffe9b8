"""Audits of records: counts by slow definitions, the exact return of live stakes, plans, faults in pieces, verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from statistics import NormalDist
from typing import Any

import pytest

from audit.battery import LEAST_COUPS, LEAST_FOR_JOINT
from audit.records.battery import Sizes, checks_for, judge_all
from audit.records.counts import Counts
from audit.records.findings import Ended, Findings, find
from audit.records.live import LiveBets, live_returns, mean_gain
from audit.records.plan import Held, Plan, Stratum, make_plan, parse_plan
from audit.records.wrong import RECORD_CHECKS, SHOWN, Fault, Looked, in_ascii
from audit.showings import showings
from audit.tally import Seen
from audit.wagers import edge_at, net_law
from shoe.errors import InputError
from shoe.game.bets.record import print_terms
from shoe.game.houses import HOUSES
from shoe.proof.canonical import parse_object, print_canonical
from tests.audit import seen_shoes
from tests.reference import vector_dealer

JUDGED = 8
"""Coups 1...K of a shoe of one deck."""

WINS = {"player": "P", "banker": "B", "tie": "T"}


def counted(shoes: list[list[Seen]], *, void: int = 0) -> Counts:
    """Count one table's shoes in turn, the first of them void."""
    counts, before = Counts(), ""
    for number, shoe in enumerate(shoes):
        before = counts.add_shoe(shoe[:JUDGED], before, void=number < void, fresh=False)
    return counts


# --- counts ------------------------------------------------------------------------------------


def test_counts_are_those_of_a_certification() -> None:
    shoes = seen_shoes.deal(1, 300, JUDGED, seed=11)
    assert counted(shoes, void=40).tally() == seen_shoes.tally(shoes, JUDGED)


def test_pairs_of_outcomes_are_counted_by_their_definition() -> None:
    shoes = seen_shoes.deal(1, 200, JUDGED, seed=12)
    counts = counted(shoes)
    letters = [[WINS[coup.outcome] for coup in shoe[:JUDGED]] for shoe in shoes]
    assert counts.neighbours == Counter(pair for shoe in letters for pair in pairwise(shoe))
    assert counts.last == Counter(shoe[-1] for shoe in letters)
    assert counts.same_place == Counter(
        pair for one, other in pairwise(letters) for pair in zip(one, other, strict=True)
    )


def test_void_and_revealed_shoes_are_told_apart_and_judged_together() -> None:
    shoes = seen_shoes.deal(1, 50, JUDGED, seed=13)
    counts = counted(shoes, void=10)
    assert counts.void == Counter(coup for shoe in shoes[:10] for coup in shoe[:JUDGED])
    assert counts.revealed == Counter(coup for shoe in shoes[10:] for coup in shoe[:JUDGED])


def test_a_shoe_of_fresh_shuffles_is_as_many_shoes() -> None:
    (shoe,) = seen_shoes.deal(1, 1, JUDGED, seed=14)
    counts = Counts()
    counts.add_shoe(shoe, "", void=False, fresh=True)
    assert counts.lengths == Counter({1: JUDGED})


def test_an_outcome_that_is_none_is_counted_and_fails() -> None:
    """A row of the store may say anything."""
    shoes = seen_shoes.deal(1, 200, JUDGED, seed=15)
    counts = counted([[Seen("dealer", "none", 4, 0, 0), *shoes[0]], *shoes[1:]])  # type: ignore[arg-type]
    sizes = [Sizes(1, "shoe", None, 200 * JUDGED)]
    (check,) = [each for each in judge_all(sizes, [counts]) if each.name.startswith("structural_zeros")]
    assert check.p == 0


@pytest.mark.parametrize(
    ("up_to", "fails"),
    [(vector_dealer.UP_TO, False), ((*vector_dealer.UP_TO[:-1], 6), True)],
    ids=["the tableau", "the banker draws too often"],
)
def test_a_wrong_dealer_is_found_and_the_right_one_is_not(up_to: tuple[int, ...], fails: bool) -> None:
    shoes = seen_shoes.deal(1, 4000, JUDGED, 16, up_to)
    sizes = [Sizes(1, "shoe", None, 4000 * JUDGED)]
    results = judge_all(sizes, [counted(shoes)])
    assert [check.name for check in results] == list(checks_for(sizes))
    assert (min(check.p for check in results) < Fraction(1, 1000) / len(results)) == fails


def test_strata_of_the_same_shuffle_are_judged_together() -> None:
    shoes = seen_shoes.deal(1, 400, JUDGED, seed=17)
    half = [Sizes(1, "shoe", None, 200 * JUDGED)] * 2
    parts = [counted(shoes[:200]), counted(shoes[200:])]
    whole = counted(shoes)
    together = {check.name: check for check in judge_all(half, parts)}
    alone = {check.name: check for check in judge_all([Sizes(1, "shoe", None, 400 * JUDGED)], [whole])}
    assert together.keys() == alone.keys()
    for name in alone.keys() - {"same_place_1_decks"}:  # the first shoe of the second half has none before it
        assert together[name] == alone[name]


# --- which checks ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("coups", "named"),
    [
        (1, {"structural_zeros"}),
        (LEAST_COUPS - 1, {"structural_zeros"}),
        (LEAST_COUPS, {"outcomes", "runs", "neighbour_pairs"}),
        (LEAST_FOR_JOINT, {"joint_totals", "same_place"}),
    ],
)
def test_a_check_is_named_from_the_size_on_at_which_its_law_holds(coups: int, named: set[str]) -> None:
    names = checks_for([Sizes(8, "shoe", None, coups)])
    assert {f"{name}_8_decks" for name in named} <= set(names)
    if coups < LEAST_COUPS:
        assert names == ("structural_zeros_8_decks",)


def test_fresh_shuffles_have_no_neighbours() -> None:
    names = checks_for([Sizes(8, "coup", None, 10**6)])
    assert not [name for name in names if name.startswith(("neighbour", "serial"))]
    assert all(name.endswith("_8_decks_fresh") for name in names)


# --- live returns ------------------------------------------------------------------------------


@pytest.mark.parametrize("house", ["np_punto_banco", "chance", "vip", "doppelganger"])
def test_the_mean_gain_of_a_stake_is_its_edge(house: str) -> None:
    """By the lines of the pay table, and by the exact law of what is settled."""
    rules, law = HOUSES[house].rules, showings(HOUSES[house].rules.decks)
    terms = HOUSES[house].terms
    for bet in terms.bets:
        for stake in (1, 25, 1000, 12_345):
            mean = mean_gain(rules.decks, bet, stake, terms)
            assert mean == -edge_at(law, bet, stake, terms) * stake
            laws = net_law(law, bet, stake, terms)
            assert mean == Fraction(sum(net * ways for net, ways in laws.items()), sum(laws.values()))


def test_a_live_return_is_what_came_back_of_what_was_staked() -> None:
    """Three coups with bets on one name: by hand, with the interval of independent coups."""
    terms = HOUSES["np_punto_banco"].terms
    player = terms.bet("player")
    live = LiveBets()
    live.add_coup(player, Counter({500: 2}), net=1000, commission=0, decks=8, terms=terms)
    live.add_coup(player, Counter({500: 1, 300: 1}), net=-800, commission=0, decks=8, terms=terms)
    live.add_coup(player, Counter({200: 1}), net=200, commission=0, decks=8, terms=terms)
    (line,) = live_returns(live, 8, terms)
    assert (line["bets"], line["staked_minor"], line["returned_minor"]) == (5, "2000", "2400")
    assert line["return_decimal"] == "1.2"
    law = net_law(showings(8), player, 1, terms)
    total = sum(law.values())
    mean = sum(net * ways for net, ways in law.items()) / total
    variance = sum(net**2 * ways for net, ways in law.items()) / total - mean**2
    width = NormalDist().inv_cdf(1 - 0.01 / 2) * sqrt((1000**2 + 800**2 + 200**2) * variance) / 2000
    assert float(line["low"]) == pytest.approx(1.2 - width, rel=1e-8)
    assert float(line["high"]) == pytest.approx(1.2 + width, rel=1e-8)
    assert Fraction(line["exact"]) == 1 + 2000 * mean_gain(8, player, 1, terms) / 2000
    assert line["inside"] is (abs(1.2 - float(Fraction(line["exact"]))) <= width)


def test_of_bets_that_nobody_laid_there_is_no_line() -> None:
    terms = HOUSES["np_punto_banco"].terms
    assert live_returns(LiveBets(), 8, terms) == []


# --- faults ------------------------------------------------------------------------------------


def faults(count: int, check: str = "coups") -> list[Fault]:
    return [Fault(check, f"wrong {n}", f"shoe-{n}", n, 10 * n, unverified=n % 7 == 3) for n in range(count)]


@pytest.mark.parametrize("cut", [0, 1, 19, 20, 21, 30, 50])
def test_what_is_found_in_pieces_is_what_is_found_at_once(cut: int) -> None:
    """As an audit is that was killed in between: kept as canonical JSON, and read back."""
    whole, one, other = Looked(), Looked(), Looked()
    for number, fault in enumerate(faults(50)):
        whole.add(fault)
        (one if number < cut else other).add(fault)
    whole.at["coups"], one.at["coups"], other.at["coups"] = 50, cut, 50 - cut
    again = Looked()
    for piece in (one, other):
        again.merge(Looked.read(parse_object(print_canonical(piece.to_json()))))
    assert again.print_checks() == whole.print_checks()
    assert (again.failed, again.wanting) == (("coups",), ("coups",))
    assert len(again.quoted["coups"]) == SHOWN


def test_every_check_of_records_is_listed_looked_at_or_not() -> None:
    assert [each["name"] for each in Looked().print_checks()] == list(RECORD_CHECKS)


def test_a_fault_of_a_check_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="check: expected one of head, "):
        Looked().add(Fault("cards", "wrong"))


def test_details_are_ascii() -> None:
    assert in_ascii("coups 1…K − § 5 · it’s é\n") == "coups 1...K - section  5 * it's ??"


# --- the plan ----------------------------------------------------------------------------------


def stratum(coups: int = 16, **further: Any) -> Stratum:
    terms = HOUSES["np_punto_banco"].terms
    fields: dict[str, Any] = {"decks": 1, "shuffle": "shoe", "terms": print_terms(terms), "tables": 1, "shoes": 2}
    return Stratum(**{**fields, "coups": coups, **further})


def plan(*strata: Stratum, **further: Any) -> Plan:
    fields: dict[str, Any] = {
        "log": "fairshoe.example/log",
        "size": 57,
        "root": bytes(32),
        "vkeys": ("key+1",),
        "retired": (),
        "pinned": Held(57, bytes(32)),
        "cosigned": Held(40, bytes(range(32)), ("witness+2",)),
        "table": "s",
        "since": None,
        "until": "2026-01-31T12:00:00.000000Z",
        "shoes": 2,
        "receipts": (bytes(32),),
        "strata": strata,
    }
    return make_plan(**{**fields, **further})


def test_a_plan_prints_and_reads_the_same() -> None:
    made = plan(stratum(), stratum(10**5, shuffle="coup", terms=None))
    assert parse_plan(made.to_bytes()) == made
    assert parse_plan(made.to_bytes()).to_bytes() == made.to_bytes()


@pytest.mark.parametrize("checks", [(), ("structural_zeros_1_decks", "outcomes_1_decks"), ("outcomes_1_decks",)])
def test_checks_cannot_be_chosen(checks: tuple[str, ...]) -> None:
    with pytest.raises(InputError, match="checks: expected the checks that the sizes allow"):
        replace(plan(stratum()), checks=checks)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "1/20"},
        {"correction": "none"},
        {"form": "fairshoe/audit-plan/2"},
        {"size": -1},
        {"shoes": "2"},
        {"root": "00"},
        {"since": "yesterday"},
        {"strata": [{"decks": 1}]},
        {"receipts": ["00"]},
        {"seed": "00"},
    ],
)
def test_a_wrong_plan_is_refused(wrong: Mapping[str, Any]) -> None:
    printed = {**parse_object(plan(stratum()).to_bytes()), **wrong}
    with pytest.raises(InputError):
        parse_plan(print_canonical(printed))


def test_a_plan_that_lacks_a_field_is_refused() -> None:
    for name in parse_object(plan(stratum()).to_bytes()):
        printed = {key: value for key, value in parse_object(plan(stratum()).to_bytes()).items() if key != name}
        with pytest.raises(InputError):
            parse_plan(print_canonical(printed))


# --- verdicts ----------------------------------------------------------------------------------


def found(*wrong: Fault, counts: Counts | None = None) -> Findings:
    looked = Looked()
    for fault in wrong:
        looked.add(fault)
    shoes = seen_shoes.deal(1, 2, JUDGED, seed=18)
    return find(plan(stratum()), looked, Ended(), [counts or counted(shoes)])


def test_the_verdict_is_over_records_and_statistics() -> None:
    unverified = Fault("bundles", "evidence is wanting", unverified=True)
    wrong = Fault("coups", "another total")
    assert found().verdict == "pass"
    assert found(unverified).verdict == "not_judged"
    assert found(wrong).verdict == "fail"
    assert (found(wrong, unverified).verdict, found(wrong, unverified).failed) == ("fail", ("coups",))
    assert found(counts=Counts()).verdict == "not_judged"
    assert found(wrong, counts=Counts()).verdict == "fail"


def test_a_rejected_statistic_fails_by_itself() -> None:
    counts = counted([[Seen("dealer", "none", 4, 0, 0)]])  # type: ignore[arg-type]
    assert (found(counts=counts).verdict, found(counts=counts).failed) == ("fail", ("structural_zeros_1_decks",))


def test_counts_of_other_strata_are_refused() -> None:
    with pytest.raises(InputError, match="counts: expected counts of 1 strata"):
        find(plan(stratum()), Looked(), Ended(), [Counts(), Counts()])
