"""Frequency checks: calibrated on real shuffles, sharp on broken engines, and strict about what they are given."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import chi2, chisquare, kstest, ncx2

from audit.checks.outcomes import (
    cards_used,
    merged_rule_use,
    outcomes,
    rule_lines,
    rule_use,
    structural_zeros,
)
from audit.checks.result import CheckResult, LineItem
from audit.covariance import class_covariance_matrix, rule_covariance
from audit.exact import exact_odds
from audit.tally import Seen, Tally, add_up, tally_fresh_shuffles, tally_shoe
from shoe.errors import InputError, RulesError
from shoe.game.tableau import MERGED_RULES, OUTCOMES, RULES
from tests.audit import seen_shoes
from tests.reference import vector_dealer

CHECKS = (structural_zeros, outcomes, rule_use, merged_rule_use, cards_used)
DOFS = {outcomes: 2, rule_use: 14, merged_rule_use: 13, cards_used: 2}

SIX_NEVER_DRAWS = tuple(min(up_to, 5) for up_to in vector_dealer.UP_TO)
THREE_DRAWS_ON_EIGHT = (3, 3, 4, 4, 5, 5, 6, 6, 3, 3)
THREE_STANDS_ON_ZERO = (2, 3, 4, 4, 5, 5, 6, 6, 2, 3)


@pytest.fixture(scope="module")
def eight_decks() -> list[list[Seen]]:
    """The first 69 coups of 400 shoes; a shoe of 8 decks, cut 7, always has so many."""
    return seen_shoes.deal(8, 400, 69, seed=20)


# Calibration: real shuffles by numpy's generator.


@pytest.mark.parametrize("check", CHECKS)
def test_honest_shoes_pass(check: Any, eight_decks: list[list[Seen]]) -> None:
    result = check(seen_shoes.tally(eight_decks, 69), 8)
    assert result.n == 400 * 69
    assert 0.005 < result.p <= 1
    assert result.name == check.__name__
    assert result.dof == DOFS.get(check)


@pytest.mark.parametrize(
    ("decks", "judged", "shoes"),
    [(8, 69, 16), *(pytest.param(*other, marks=pytest.mark.slow) for other in [(6, 51, 20), (1, 8, 120)])],
)
def test_statistics_of_many_audits_follow_their_chi_square(decks: int, judged: int, shoes: int) -> None:
    """200 audits: the mean within four standard errors √(2·dof/200) of dof, the p uniform by Kolmogorov–Smirnov."""
    dealt = seen_shoes.deal(decks, 200 * shoes, judged, seed=decks)
    audits = [seen_shoes.tally(dealt[start : start + shoes], judged) for start in range(0, len(dealt), shoes)]
    for check, dof in DOFS.items():
        results = [check(audit, decks) for audit in audits]
        mean = float(np.mean([result.statistic for result in results]))
        assert abs(mean - dof) < 4 * sqrt(2 * dof / 200), check
        assert kstest([result.p for result in results], "uniform").pvalue > 0.001, check


def test_shoes_of_different_lengths_add_up_their_covariances() -> None:
    """Open shoes seen to coups 1…m: V is the sum over shoes, here against the spread of 1,500 audits."""
    lengths = (8, 3, 5, 1)
    dealt = seen_shoes.deal(1, 1500 * len(lengths), 8, seed=77)
    audits = [
        add_up(tally_shoe(shoe, m) for shoe, m in zip(dealt[start : start + 4], lengths, strict=True))
        for start in range(0, len(dealt), 4)
    ]
    assert {audit.pairs for audit in audits} == {8 * 7 + 3 * 2 + 5 * 4}
    counts = np.array([[item.observed for item in rule_lines(audit, 1)] for audit in audits])
    exact = sum(class_covariance_matrix(1, m) for m in lengths)
    spread = np.cov(counts.T)
    standard_errors = np.sqrt((np.outer(np.diag(exact), np.diag(exact)) + exact**2) / 1500)
    assert np.abs((spread - exact) / standard_errors).max() < 4.5
    assert rule_covariance(1).of_counts(audits[0].n, audits[0].pairs) == pytest.approx(exact, rel=1e-12)


# Two roads to the statistics.


def test_outcomes_are_the_textbook_chi_square(eight_decks: list[list[Seen]]) -> None:
    tally = seen_shoes.tally(eight_decks, 69)
    odds = exact_odds(8)
    observed = Counter(coup.outcome for shoe in eight_decks for coup in shoe)
    expected = {name: tally.n * float(p) for name, p in odds.probabilities(odds.outcomes()).items()}
    textbook = chisquare([observed[name] for name in OUTCOMES], list(expected.values()))
    result = outcomes(tally, 8)
    assert result.statistic == pytest.approx(textbook.statistic, rel=1e-9)
    assert result.p == pytest.approx(textbook.pvalue, rel=1e-9)


def test_rule_use_of_fresh_shuffles_is_the_textbook_chi_square(eight_decks: list[list[Seen]]) -> None:
    """Coups of different shoes are independent, and d′V⁻d is Pearson's statistic."""
    tally = tally_fresh_shuffles([shoe[0] for shoe in eight_decks])
    p = [float(q) for q in rule_covariance(8).p]
    observed = [sum(shoe[0].rule == rule for shoe in eight_decks) for rule in RULES]
    textbook = chisquare(observed, [400 * q for q in p])
    assert rule_use(tally, 8).statistic == pytest.approx(textbook.statistic, rel=1e-9)


def test_rule_use_is_the_quadratic_form_of_the_whole_matrix(eight_decks: list[list[Seen]]) -> None:
    """Leaving one class out, as the check does, or taking the Moore–Penrose inverse is the same."""
    tally = seen_shoes.tally(eight_decks, 69)
    items = rule_lines(tally, 8)
    d = np.array([float(item.observed - item.expected) for item in items])
    inverse = np.linalg.pinv(400 * class_covariance_matrix(8, 69), rcond=1e-10)
    result = rule_use(tally, 8)
    assert result.statistic == pytest.approx(d @ inverse @ d, rel=1e-8)
    assert result.p == pytest.approx(chi2.sf(result.statistic, 14), rel=1e-9)
    assert result.effect == sqrt(result.statistic / result.n)


def test_plain_chi_square_would_be_too_mild_for_rules() -> None:
    """Why V is needed: at 8 decks and K = 69 the mean of Pearson's statistic is 13.56, not 14."""
    law = rule_covariance(8)
    mean = 14 + 68 * sum(law.s12[a][a] / law.p[a] for a in range(15))
    assert float(mean) == pytest.approx(13.5624, abs=5e-5)


def test_every_rule_has_its_count_exact_expectation_and_deviation(eight_decks: list[list[Seen]]) -> None:
    tally = seen_shoes.tally(eight_decks, 69)
    v = 400 * class_covariance_matrix(8, 69)
    odds = exact_odds(8)
    items = rule_use(tally, 8).items
    assert tuple(item.label for item in items) == RULES
    assert items == rule_lines(tally, 8)
    for place, item in enumerate(items):
        assert item.observed == sum(coup.rule == item.label for shoe in eight_decks for coup in shoe)
        assert item.expected == Fraction(odds.rules()[item.label] * tally.n, odds.total)
        above = item.observed - float(item.expected)
        assert item.deviation == pytest.approx(above / sqrt(v[place, place]), rel=1e-9)
        assert abs(item.deviation) < 4


def test_merged_lines_add_the_one_sided_naturals_up(eight_decks: list[list[Seen]]) -> None:
    tally = seen_shoes.tally(eight_decks, 69)
    lines, merged = rule_lines(tally, 8), rule_lines(tally, 8, merged=True)
    assert tuple(item.label for item in merged) == MERGED_RULES
    assert merged[0].observed == lines[0].observed + lines[1].observed
    assert merged[0].expected == lines[0].expected + lines[1].expected
    assert merged[1:] == lines[2:]
    assert merged == merged_rule_use(tally, 8).items


def test_lines_of_a_table_that_has_dealt_nothing_are_zeros() -> None:
    assert rule_lines(Tally(), 6) == tuple(LineItem(rule, 0, Fraction(0), 0.0) for rule in RULES)


# Broken engines are caught.


def broken(banker_up_to: tuple[int, ...], shoes: int) -> Tally:
    return seen_shoes.tally(seen_shoes.deal(8, shoes, 69, seed=3, banker_up_to=banker_up_to), 69)


@pytest.mark.parametrize(
    ("fault", "shoes"),
    [(SIX_NEVER_DRAWS, 120), (THREE_DRAWS_ON_EIGHT, 500), (THREE_STANDS_ON_ZERO, 200)],
    ids=["banker never draws on 6", "banker 3 draws against an 8", "banker 3 stands against a 0"],
)
def test_a_fault_in_the_chart_shows_in_rule_use(fault: tuple[int, ...], shoes: int) -> None:
    tally = broken(fault, shoes)
    assert rule_use(tally, 8).p < 1e-6
    assert merged_rule_use(tally, 8).p < 1e-6


@pytest.mark.parametrize("fault", [SIX_NEVER_DRAWS, THREE_STANDS_ON_ZERO])
def test_a_banker_who_stands_wrongly_makes_impossible_coups(fault: tuple[int, ...]) -> None:
    tally = broken(fault, 10)
    result = structural_zeros(tally, 8)
    assert result.p == 0
    assert result.statistic == sum(item.observed for item in result.items) > 0
    assert result.effect == result.statistic / tally.n


def test_a_banker_who_draws_wrongly_may_leave_only_possible_coups() -> None:
    """METHODS.md: from 3 as from 0–2 a third card makes any total, so nothing that is kept of a coup shows it."""
    assert structural_zeros(broken(THREE_DRAWS_ON_EIGHT, 100), 8).p == 1


def test_outcomes_alone_do_not_see_a_banker_who_never_draws_on_six() -> None:
    """METHODS.md: they need some 80 million coups for it."""
    assert outcomes(broken(SIX_NEVER_DRAWS, 120), 8).p > 0.01


def test_cards_used_see_a_banker_who_stands_on_three() -> None:
    assert cards_used(broken(THREE_STANDS_ON_ZERO, 200), 8).p < 1e-3


def test_one_impossible_coup_among_many_fails_by_itself(eight_decks: list[list[Seen]]) -> None:
    impossible = Seen("banker", "t67_stands", 5, 3, 6)  # the banker has 6 only by standing on it
    tally = seen_shoes.tally(eight_decks, 69) + tally_shoe([impossible], 69)
    result = structural_zeros(tally, 8)
    assert (result.p, result.p_text, result.statistic) == (0.0, "<1e-300", 1.0)
    assert result.items == (LineItem("banker 3:6, 5 cards, t67_stands", 1, Fraction(0), inf),)
    assert rule_use(tally, 8).p > 0.001


@pytest.mark.parametrize(
    "impossible",
    [
        Seen("player", "both_natural", 4, 8, 9),  # the wrong winner
        Seen("tie", "both_natural", 4, 7, 7),  # no natural
        Seen("tie", "player_natural", 4, 8, 8),
        Seen("banker", "stood_draws", 6, 6, 9),  # a card too many
        Seen("player", "stood_stands", 4, 7, 10),
        Seen("player", "stood_stands", 4, 8, 7),
        Seen("banker", "t23_stands", 5, 0, 4),
        Seen("banker", "one_sided_natural", 4, 1, 9),  # not a name of the 15
    ],
)
def test_impossible_coups_are_found(impossible: Seen) -> None:
    assert structural_zeros(tally_shoe([impossible], 69), 8).p == 0


def test_a_class_without_probability_fails_the_frequency_checks(eight_decks: list[list[Seen]]) -> None:
    odd = Seen("nobody", "redeal", 7, 0, 0)  # type: ignore[arg-type]
    tally = seen_shoes.tally(eight_decks, 69) + tally_shoe([odd], 69)
    for check in (outcomes, rule_use, merged_rule_use, cards_used):
        result = check(tally, 8)
        assert (result.p, result.statistic, result.effect) == (0.0, inf, inf)
        assert result.items[-1].deviation == inf
        assert result.to_json()["p"] == "<1e-300"


def test_the_wrong_number_of_decks_is_seen_in_ten_million_coups() -> None:
    """Counts exactly as one deck has them, to the coup, from fresh shuffles."""
    odds, coups = exact_odds(1), Counter[Seen]()
    for cell, count in odds.cells.items():
        kind = Seen(cell.outcome, cell.rule, cell.cards, cell.player_total, cell.banker_total)
        coups[kind] += round(Fraction(count * 10**7, odds.total))
    tally = Tally(coups=coups, lengths=Counter({1: coups.total()}))
    for check in (outcomes, rule_use, merged_rule_use, cards_used):
        assert check(tally, 1).p > 0.999
        assert check(tally, 8).p < 1e-12


# Inputs that are refused.


@pytest.mark.parametrize("check", CHECKS)
def test_a_tally_of_nothing_is_refused(check: Any) -> None:
    with pytest.raises(InputError, match=r"^tally: expected 1 or more judged coups, got 0$"):
        check(Tally(), 8)


@pytest.mark.parametrize("check", CHECKS)
def test_more_judged_coups_than_a_shoe_can_promise_are_refused(check: Any) -> None:
    """Six cards a coup: 52 cards are sure to hold 8 coups, and no more."""
    coup = Seen("tie", "both_natural", 4, 8, 8)
    assert check(tally_shoe([coup] * 8, 8), 1).n == 8
    with pytest.raises(InputError, match=r"^tally.lengths: expected at most 8 judged coups a shoe, got 9$"):
        check(tally_shoe([coup] * 9, 9), 1)


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("decks", [0, 17])
def test_a_shoe_of_no_or_too_many_decks_is_refused(check: Any, decks: int) -> None:
    with pytest.raises((RulesError, InputError), match=r"decks|tally.lengths"):
        check(tally_shoe([Seen("tie", "both_natural", 4, 8, 8)], 1), decks)


# METHODS.md's sample sizes, from published counts of the cells that a fault moves.


def coups_needed(moved: int, source: str, target: str) -> float:
    """Coups for power .9 at level .01 where `moved` deals of 8 decks go from one class to the other; K = 69."""
    shift = moved / exact_odds(8).total
    d = np.zeros(15)
    d[RULES.index(source)], d[RULES.index(target)] = -shift, shift
    per_coup = class_covariance_matrix(8, 69) / 69
    noncentrality = d[:-1] @ np.linalg.solve(per_coup[:-1, :-1], d[:-1])
    level = chi2.isf(0.01, 14)
    return float(brentq(lambda needed: ncx2.sf(level, 14, needed) - 0.9, 1, 200) / noncentrality)


def test_sample_sizes_of_the_methods_are_those_of_the_noncentral_chi_square() -> None:
    vectors = Path(__file__).parents[1] / "vectors" / "exact_8decks.json"
    published = json.loads(vectors.read_text())["banker_total_classes"]
    sixes, threes = published["drew:banker_6_draws"], published["drew:banker_3_stands"]
    assert coups_needed(sixes, "t67_draws", "t67_stands") == pytest.approx(2950, rel=0.01)
    assert coups_needed(threes, "t8_stands", "t8_draws") == pytest.approx(13700, rel=0.01)


def test_results_are_frozen(eight_decks: list[list[Seen]]) -> None:
    result: CheckResult = outcomes(seen_shoes.tally(eight_decks, 69), 8)
    with pytest.raises(AttributeError):
        result.p = 1.0  # type: ignore[misc]
