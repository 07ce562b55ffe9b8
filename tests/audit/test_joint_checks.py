"""Joint totals, naturals and returns: covariance by two roads, calibration, faults, refusals."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2, kstest, norm

from audit.checks.joint import NATURALS, joint_totals, naturals, naturals_of
from audit.checks.outcomes import outcomes, rule_use
from audit.checks.returns import LEVEL, largest_tail, returns
from audit.covariance import covariance_by, joint_covariance, joints, kinds, two_coup_covariance
from audit.edges import MAIN_BETS, MainBet, edge
from audit.exact import exact_odds
from audit.tally import Seen, Tally, tally_fresh_shuffles
from shoe.errors import InputError
from shoe.game.tableau import OUTCOMES
from tests.audit import dealt_codes
from tests.reference import bulk_dealer, tableau_reference

CHECKS = (joint_totals, naturals, returns)

SMALL = (6, 0, 0, 4, 0, 0, 3, 0, 0, 0)


# The covariance of 198 labels.


def test_there_are_198_labels_and_each_says_its_cards() -> None:
    assert len(joints().labels) == 198
    assert joints().cards == tuple(cards for _, _, cards in joints().labels)
    assert kinds().cards == tuple(cards for _, _, cards in kinds().labels)


@pytest.mark.parametrize("decks", [8, 1])
def test_joint_law_is_that_of_the_exact_odds_and_its_rows_add_up(decks: int) -> None:
    law, odds = joint_covariance(decks), exact_odds(decks)
    assert dict(zip(law.labels, law.p, strict=True)) == odds.probabilities(odds.joint_cells())
    assert law.s12 == tuple(zip(*law.s12, strict=True))
    assert {sum(row) for row in law.s12} == {Fraction(0)}


def test_both_partitions_have_the_same_covariance_of_what_they_share() -> None:
    """Outcome and cards used can be told from either, and were counted apart."""
    key = [(outcome, cards) for outcome in OUTCOMES for cards in (4, 5, 6)]

    def outcome_and_cards(joint: tuple[int, int, int]) -> tuple[str, int]:
        player, banker, cards = joint
        return (OUTCOMES[0] if player > banker else OUTCOMES[1] if banker > player else OUTCOMES[2]), cards

    by_joint = joint_covariance(8).merged(outcome_and_cards, key)
    by_kind = two_coup_covariance(8).merged(lambda kind: (str(kind[1]), kind[2]), key)
    assert by_joint == by_kind


def test_joint_covariance_of_a_small_shoe_is_that_of_all_its_orders() -> None:
    law = covariance_by(joints(), SMALL)
    both: Counter[Any] = Counter()
    cards = [value for value, count in enumerate(SMALL) for _ in range(count)]
    for two, p in _prefixes(tuple(Counter(cards).items())).items():
        first = tableau_reference.coup(two[:6])
        second = tableau_reference.coup(two[first[0] : first[0] + 6])
        both[(first[1], first[2], first[0]), (second[1], second[2], second[0])] += p
    assert sum(both.values()) == 1
    for a, row in zip(law.labels, law.s12, strict=True):
        for b, covariance in zip(law.labels, row, strict=True):
            assert covariance == both[a, b] - law.p[law.labels.index(a)] * law.p[law.labels.index(b)]


def _prefixes(shoe: tuple[tuple[int, int], ...], length: int = 12) -> dict[tuple[int, ...], Fraction]:
    """Every first twelve values of a shoe, with its probability."""
    found = {(): Fraction(1)}
    for _ in range(length):
        longer: dict[tuple[int, ...], Fraction] = {}
        for values, p in found.items():
            left = {value: count - values.count(value) for value, count in shoe}
            total = sum(left.values())
            longer |= {(*values, value): p * Fraction(count, total) for value, count in left.items() if count}
        found = longer
    return found


def test_spread_of_many_audits_is_that_of_the_matrix() -> None:
    """3,000 shoes of one deck: the counts of coups 1…8, label by label, within 5 standard errors."""
    law = joint_covariance(1)
    codes = dealt_codes.deal(1, 3000, 8, seed=1) % bulk_dealer.JOINT
    places = [30 * player + 3 * banker + cards - 4 for player, banker, cards in law.labels]
    counts = (codes[:, :, None] == np.array(places)).sum(axis=1)
    exact = law.of_counts(8, 56)
    errors = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / 3000)
    frequent = np.array(law.p, dtype=float) > 0.01
    assert np.abs(((np.cov(counts.T) - exact) / errors)[np.ix_(frequent, frequent)]).max() < 5


# Calibration.


@pytest.fixture(scope="module")
def audits() -> list[Tally]:
    """200 audits of 110 shoes of eight decks, coups 1…69: 7,590 coups each."""
    return [dealt_codes.tally(dealt_codes.deal(8, 110, 69, seed)) for seed in range(200)]


@pytest.mark.parametrize(("check", "dof"), [(joint_totals, 197), (naturals, 8), (returns, None)])
def test_p_of_honest_shoes_is_uniform(check: Any, dof: int | None, audits: list[Tally]) -> None:
    results = [check(audit, 8) for audit in audits]
    p = [result.p for result in results]
    assert {(result.name, result.dof, result.n) for result in results} == {(check.__name__, dof, 110 * 69)}
    assert kstest(p, "uniform").pvalue > 0.001
    for level in (0.05, 0.01):
        assert sum(q <= level for q in p) <= binom.isf(0.001, 200, level)


def test_plain_chi_square_of_joint_totals_would_be_too_mild() -> None:
    """The audit's design: it rejects .0481 at .05. Its mean is 197 and the trace of 68·S₁₂/p, −1.6."""
    law = joint_covariance(8)
    mean = 197 + 68 * sum(law.s12[a][a] / law.p[a] for a in range(198))
    lowered = 197 - float(mean)
    assert 0.3 < lowered < 3
    level = chi2.isf(0.05, 197)
    assert chi2.sf(level * 197 / float(mean), 197) == pytest.approx(0.0481, abs=0.002)


def test_joint_statistic_is_the_quadratic_form_of_the_whole_matrix(audits: list[Tally]) -> None:
    result = joint_totals(audits[0], 8)
    d = np.array([float(item.observed - item.expected) for item in result.items])
    inverse = np.linalg.pinv(joint_covariance(8).of_counts(110 * 69, 110 * 69 * 68), rcond=1e-10)
    assert result.statistic == pytest.approx(d @ inverse @ d, rel=1e-8)
    assert result.items[0].label == "0:0, 6 cards"
    assert len(result.items) == 198


def test_naturals_are_told_apart_by_cards() -> None:
    assert [naturals_of(joint) for joint in ((8, 9, 4), (9, 0, 4), (6, 7, 4), (9, 8, 5), (8, 8, 6))] == [
        (8, 9),
        (9, 0),
        (0, 0),
        (0, 0),
        (0, 0),
    ]
    assert len(NATURALS) == 9


# Faults, with the samples that the design names for p = 1e-6 doubled.

THREE_DRAWS_ON_EIGHT = (3, 8, True)
SIX_NEVER_DRAWS = (6, 6, False), (6, 7, False)
THREE_STANDS_ON_ZERO = (3, 0, False)


def chart(*flips: tuple[int, int, bool]) -> bulk_dealer.Chart:
    """The chart with some of the banker's cells changed: own total, third card, whether to draw."""
    player, banker = bulk_dealer.CHART
    rows = [list(row) for row in banker]
    for total, third, draws in flips:
        rows[total][third] = draws
    return player, tuple(map(tuple, rows))


@pytest.mark.parametrize(
    ("flips", "coups"),
    [((THREE_DRAWS_ON_EIGHT,), 36_000), (SIX_NEVER_DRAWS, 54_000), ((THREE_STANDS_ON_ZERO,), 2_700)],
    ids=["3 draws against an 8", "6 never draws", "3 stands against a 0"],
)
def test_faults_show_in_the_samples_of_the_design(flips: Any, coups: int) -> None:
    shoes = 2 * coups // 69
    result = joint_totals(dealt_codes.tally(dealt_codes.deal(8, shoes, 69, 4, chart(*flips))), 8)
    assert result.p < 1e-6


def test_joint_totals_see_what_rule_classes_cannot() -> None:
    """In one of ten coups of six cards that end 6:7 the banker's last card is read as one less: 6:6, a tie."""
    tally = dealt_codes.tally(dealt_codes.deal(8, 5000, 69, 5))
    coups: Counter[Seen] = Counter()
    for coup, count in tally.coups.items():
        misread = count // 10 if (coup.cards, coup.player_total, coup.banker_total) == (6, 6, 7) else 0
        coups[coup] += count - misread
        coups[coup._replace(outcome="tie", banker_total=6)] += misread
    faulty = Tally(coups=coups, lengths=tally.lengths)
    assert rule_use(faulty, 8) == rule_use(tally, 8)
    assert outcomes(faulty, 8).p > 0.01
    assert joint_totals(faulty, 8).p < 1e-6
    assert joint_totals(tally, 8).p > 0.01


def test_naturals_of_a_deck_without_nines_are_missed() -> None:
    """Eight decks of which one has its nines replaced by tens."""
    generator = np.random.Generator(np.random.PCG64(6))
    points = np.array([*np.tile(bulk_dealer.POINTS, 32)], dtype=np.int8)
    points[np.flatnonzero(points == 9)[:4]] = 0
    cards = np.zeros((4000, 416 + bulk_dealer.SPARE), dtype=np.int8)
    cards[:, :416] = generator.permuted(np.tile(points, (4000, 1)), axis=1)
    tally = dealt_codes.tally(bulk_dealer.judged(cards, 69))
    assert naturals(tally, 8).p < 1e-6
    assert rule_use(tally, 8).p < 0.01


def test_an_impossible_triple_fails_by_itself(audits: list[Tally]) -> None:
    """Four cards and 7:5: the banker had to draw."""
    odd = tally_fresh_shuffles([Seen("player", "stood_stands", 4, 7, 5)])
    result = joint_totals(audits[0] + odd, 8)
    assert (result.p, result.statistic, result.items[-1].label) == (0.0, inf, "7:5, 4 cards")
    assert naturals(audits[0] + odd, 8).p > 0.001  # which only asks for naturals


# Returns.


def test_returns_are_one_less_the_edge_within_their_intervals(audits: list[Tally]) -> None:
    held = 0
    for audit in audits:
        result = returns(audit, 8)
        assert [interval.label for interval in result.intervals] == [bet.name for bet in MAIN_BETS]
        for bet, interval in zip(MAIN_BETS, result.intervals, strict=True):
            assert interval.exact == 1 - edge(exact_odds(8), bet)
        held += all(float(i.low) <= float(i.exact) <= float(i.high) for i in result.intervals)
    assert held >= binom.ppf(0.001, 200, 0.99)


def test_interval_of_independent_coups_is_the_textbook_one() -> None:
    codes = dealt_codes.deal(8, 500, 1, 9)
    tally = dealt_codes.tally(codes)
    winners = np.bincount(bulk_dealer.outcomes(codes.ravel().astype(np.int64)), minlength=3)
    back = np.array([0, 1.95, 1])
    p = np.array(two_coup_covariance(8).merged(lambda kind: kind[1], OUTCOMES).p, dtype=float)
    spread = sqrt((back**2 @ p - (back @ p) ** 2) / 500)
    interval = returns(tally, 8).intervals[1]
    assert float(interval.estimate) == pytest.approx(winners @ back / 500)
    reach = norm.isf(0.01 / 3 / 2) * spread
    assert (interval.low, interval.high) == (
        pytest.approx(winners @ back / 500 - reach),
        pytest.approx(winners @ back / 500 + reach),
    )
    assert interval.level == LEVEL == Fraction(99, 100)


def test_returns_are_counted_in_whole_units(audits: list[Tally]) -> None:
    result = returns(audits[0], 8)
    n = audits[0].n
    seen = Counter(dict.fromkeys(OUTCOMES, 0))
    for coup, count in audits[0].coups.items():
        seen[coup.outcome] += count
    assert [item.observed for item in result.items] == [
        2 * seen["player"] + seen["tie"],
        39 * seen["banker"] + 20 * seen["tie"],
        9 * seen["tie"],
    ]
    assert result.items[1].label == "banker 19:20: returned, in stakes / 20"
    assert result.items[1].expected == 20 * n * (1 - edge(exact_odds(8), MAIN_BETS[1]))
    assert result.statistic == max(abs(item.deviation) for item in result.items)


def test_a_bet_that_pays_too_much_is_caught() -> None:
    """Every eleventh tie turned into a player's win."""
    tally = dealt_codes.tally(dealt_codes.deal(8, 1000, 69, 10))
    coups: Counter[Seen] = Counter()
    for coup, count in tally.coups.items():
        turned = count // 11 if coup.outcome == "tie" else 0
        coups[coup] += count - turned
        coups[coup._replace(outcome="player")] += turned
    result = returns(Tally(coups=coups, lengths=tally.lengths), 8)
    assert result.p < 1e-6
    tie = result.intervals[2]
    assert tie.high < float(tie.exact)


def test_a_winner_without_name_fails_by_itself(audits: list[Tally]) -> None:
    odd = tally_fresh_shuffles([Seen("nobody", "redeal", 7, 0, 0)])  # type: ignore[arg-type]
    assert returns(audits[0] + odd, 8).p == 0.0


def test_one_bet_needs_no_correction(audits: list[Tally]) -> None:
    bet = MainBet("player 1:1", Fraction(1), Fraction(-1), Fraction(0))
    result = returns(audits[0], 8, (bet,))
    assert result.p == pytest.approx(2 * norm.sf(result.statistic))


def test_largest_of_many_deviations_has_its_exact_tail() -> None:
    """One: the normal tails. Two that are independent: 1 − (1 − p)². One said twice: as if once. Three: simulated."""
    one, two = np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])
    for t in (0.5, 2.0, 5.0, 12.0):
        p = 2 * norm.sf(t)
        assert largest_tail(t, one) == pytest.approx(p, rel=1e-6)
        assert largest_tail(t, np.array([[2.0, 1.0], [-4.0, -2.0]])) == pytest.approx(p, rel=1e-6)
        assert largest_tail(t, two) == pytest.approx(p * (2 - p), rel=1e-5)
    three = np.array([[1.0, 0.2], [-0.9, 0.4], [0.1, 1.0]])
    plane = np.random.Generator(np.random.PCG64(3)).standard_normal((400_000, 2))
    scores = np.abs(plane @ (three / np.linalg.norm(three, axis=1, keepdims=True)).T).max(axis=1)
    for t in (1.0, 2.0, 2.5):
        assert largest_tail(t, three) == pytest.approx((scores >= t).mean(), rel=0.03)
    assert (largest_tail(0.0, three), largest_tail(inf, three)) == (1.0, 0.0)


def test_intervals_print_without_floats(audits: list[Tally]) -> None:
    printed = returns(audits[0], 8).to_json()["intervals"]
    assert len(printed) == 3
    assert set(printed[0]) == {"label", "estimate", "low", "high", "exact", "exact_decimal", "level"}
    assert all(isinstance(value, str) for interval in printed for value in interval.values())
    assert printed[0]["level"] == "99/100"


# Refusals.


@pytest.mark.parametrize("check", CHECKS)
def test_a_tally_of_nothing_is_refused(check: Any) -> None:
    with pytest.raises(InputError, match=r"^tally: expected 1 or more judged coups, got 0$"):
        check(Tally(), 8)


@pytest.mark.parametrize("check", CHECKS)
def test_more_judged_coups_than_a_shoe_can_promise_are_refused(check: Any) -> None:
    tally = Tally(Counter({Seen("tie", "both_natural", 4, 8, 8): 9}), Counter({9: 1}))
    with pytest.raises(InputError, match=r"^tally.lengths: expected at most 8 judged coups a shoe, got 9$"):
        check(tally, 1)


def test_no_bets_are_refused(audits: list[Tally]) -> None:
    with pytest.raises(InputError, match=r"^bets: expected 1 or more bets, got 0$"):
        returns(audits[0], 8, ())


def test_a_shoe_too_small_for_two_coups_is_refused() -> None:
    with pytest.raises(InputError, match=r"^full: expected 12 or more cards for two coups, got 11$"):
        covariance_by(joints(), (2, 1, 1, 1, 1, 1, 1, 1, 1, 1))
