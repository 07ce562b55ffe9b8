"""Outcomes in pairs: calibrated on real shoes, exact moments by enumeration, and tables whose winners hang together."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from math import sqrt

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, kstest, norm

from audit.checks.neighbours import neighbour_pairs, same_place, serial_correlation
from audit.checks.result import CheckResult
from audit.checks.returns import outcome_law
from shoe.errors import InputError
from tests.audit import dealt_codes
from tests.reference import bulk_dealer


def winners(decks: int, shoes: int, coups: int, seed: int) -> np.ndarray:
    """0 player, 1 banker, 2 tie: shoes × coups."""
    return bulk_dealer.outcomes(dealt_codes.deal(decks, shoes, coups, seed).astype(np.int64)).astype(np.int64)


def paired(one: np.ndarray, other: np.ndarray) -> list[int]:
    return np.bincount((3 * one + other).ravel(), minlength=9).tolist()


def three_checks(seen: np.ndarray, decks: int) -> list[CheckResult]:
    pairs = paired(seen[:, :-1], seen[:, 1:])
    last = np.bincount(seen[:, -1], minlength=3).tolist()
    return [
        neighbour_pairs(pairs, last, decks),
        serial_correlation(pairs, decks),
        same_place(paired(seen[::2], seen[1::2])),
    ]


@pytest.fixture(scope="module", params=[(8, 40, 69), (1, 200, 8)], ids=["8 decks", "1 deck"])
def audits(request: pytest.FixtureRequest) -> list[list[CheckResult]]:
    decks, shoes, coups = request.param
    return [three_checks(winners(decks, shoes, coups, seed), decks) for seed in range(300)]


@pytest.mark.parametrize("place", range(3), ids=["neighbour_pairs", "serial_correlation", "same_place"])
def test_p_of_real_shoes_is_uniform(place: int, audits: list[list[CheckResult]]) -> None:
    results = [audit[place] for audit in audits]
    p = [result.p for result in results]
    assert kstest(p, "uniform").pvalue > 0.001
    for level in (0.05, 0.01):
        assert sum(q <= level for q in p) <= binom.isf(0.001, 300, level)
    dof = (6, None, 4)[place]
    assert {result.dof for result in results} == {dof}
    if dof:
        assert abs(np.mean([result.statistic for result in results]) - dof) < 4 * sqrt(2 * dof / 300)


def test_on_a_ring_the_statistic_is_goods() -> None:
    """ψ²₂ − ψ²₁ of a sequence closed to a ring, by its own definition; the covariance of a shoe put aside."""
    sequence = np.random.Generator(np.random.PCG64(2)).integers(0, 3, 4000)
    n, p = len(sequence), np.array(outcome_law(8).p, dtype=float)
    pairs = np.array(paired(sequence, np.roll(sequence, -1))).reshape(3, 3)
    singles = np.bincount(sequence, minlength=3)
    both = ((pairs - n * np.outer(p, p)) ** 2 / (n * np.outer(p, p))).sum()
    one = ((singles - n * p) ** 2 / (n * p)).sum()
    found = neighbour_pairs(pairs.ravel().tolist(), [0, 0, 0], 8)
    assert found.statistic == pytest.approx(both - one, rel=1e-4)


def test_moments_of_both_parts_over_all_sequences() -> None:
    """All 3⁵ sequences of five coups, weighed: interaction has mean 4, frequencies 2, and both are uncorrelated."""
    p = outcome_law(8).p
    means = [Fraction(0)] * 3
    for sequence in product(range(3), repeat=5):
        weight = Fraction(1)
        for outcome in sequence:
            weight *= p[outcome]
        pairs = [[Fraction(0)] * 3 for _ in range(3)]
        for a, b in pairwise(sequence):
            pairs[a][b] += 1
        rows = [sum(row) for row in pairs]
        columns = [sum(row[b] for row in pairs) for b in range(3)]
        cells = [
            [pairs[a][b] - rows[a] * p[b] - p[a] * columns[b] + 4 * p[a] * p[b] for b in range(3)] for a in range(3)
        ]
        together = sum(cells[a][b] ** 2 / (4 * p[a] * p[b]) for a in range(3) for b in range(3))
        above = [sequence.count(a) - 5 * p[a] for a in range(3)]
        means[0] += weight * together
        means[1] += weight * sum(d * d / (5 * q) for d, q in zip(above, p, strict=True))
        means[2] += weight * cells[0][1] * above[1]
    assert means == [4, 2, 0]


def test_serial_correlation_has_its_exact_mean_and_variance() -> None:
    """All 3⁴ sequences of four independent coups: mean 0, variance 3σ⁴."""
    p = outcome_law(8).p
    mean = p[0] - p[1]
    score = [1 - mean, -1 - mean, -mean]
    first = second = Fraction(0)
    for sequence in product(range(3), repeat=4):
        weight = p[sequence[0]] * p[sequence[1]] * p[sequence[2]] * p[sequence[3]]
        total = sum(score[a] * score[b] for a, b in pairwise(sequence))
        first += weight * total
        second += weight * total**2
    sigma = sum(s * s * q for s, q in zip(score, p, strict=True))
    assert first == 0
    assert second == 3 * sigma**2


def test_same_place_is_the_textbook_contingency_table() -> None:
    counts = [410, 450, 96, 470, 500, 99, 90, 101, 19]
    textbook = chi2_contingency(np.array(counts).reshape(3, 3), correction=False)
    result = same_place(counts)
    assert result.statistic == pytest.approx(textbook.statistic, rel=1e-9)
    assert result.p == pytest.approx(textbook.pvalue, rel=1e-9)
    assert sum(item.observed for item in result.items) == result.n == sum(counts)


def test_outcomes_that_never_came_take_their_degrees_of_freedom_along() -> None:
    assert same_place([10, 12, 0, 9, 11, 0, 0, 0, 0]).dof == 1
    alone = same_place([10, 0, 0, 0, 0, 0, 0, 0, 0])
    assert (alone.dof, alone.p) == (0, 1.0)


# Tables whose winners hang together.


def clinging(repeats: float) -> np.ndarray:
    """Each coup repeats the one before with this probability, else is dealt afresh."""
    generator = np.random.Generator(np.random.PCG64(8))
    p = np.array(outcome_law(8).p, dtype=float)
    fresh = generator.choice(3, (400, 69), p=p / p.sum())
    seen, again = fresh.copy(), generator.random(fresh.shape) < repeats
    for coup in range(1, 69):
        seen[:, coup] = np.where(again[:, coup], seen[:, coup - 1], fresh[:, coup])
    return seen


def test_winners_that_cling_are_caught() -> None:
    pairs, correlation, place = three_checks(clinging(0.05), 8)
    assert pairs.p < 1e-6
    assert correlation.p < 1e-6
    assert correlation.statistic > 0
    assert place.p > 0.001


def test_sample_of_the_methods_for_correlation() -> None:
    """Power .9 at .01 for correlation .01: ((2.576 + 1.282)/.01)² pairs."""
    assert ((norm.isf(0.005) + norm.isf(0.1)) / 0.01) ** 2 == pytest.approx(148_800, rel=0.001)


def test_a_shoe_dealt_twice_in_a_row_is_caught() -> None:
    seen = winners(8, 20, 69, 3)
    assert three_checks(np.repeat(seen, 2, axis=0), 8)[2].p < 1e-100


def test_frequencies_that_are_off_are_part_of_the_serial_statistic() -> None:
    """Independent coups of which the banker wins 50 %: in ψ² they show, in the correlation they do not."""
    seen = np.random.Generator(np.random.PCG64(9)).choice(3, (400, 69), p=[0.41, 0.5, 0.09])
    pairs, correlation, _ = three_checks(seen, 8)
    assert pairs.p < 1e-6
    assert correlation.p > 1e-4


# Refusals.


@pytest.mark.parametrize("counts", [[1] * 8, [1] * 10, []])
def test_other_numbers_of_counts_are_refused(counts: list[int]) -> None:
    message = rf"^pairs: expected 9 counts, got {len(counts)}$"
    with pytest.raises(InputError, match=message):
        neighbour_pairs(counts, [1, 1, 1], 8)
    with pytest.raises(InputError, match=message):
        serial_correlation(counts, 8)
    with pytest.raises(InputError, match=message):
        same_place(counts)


def test_ends_of_another_form_are_refused() -> None:
    with pytest.raises(InputError, match=r"^last: expected 3 counts, got 2$"):
        neighbour_pairs([1] * 9, [1, 1], 8)


def test_no_pairs_are_refused() -> None:
    for check in (lambda: neighbour_pairs([0] * 9, [5, 5, 1], 8), lambda: serial_correlation([0] * 9, 8)):
        with pytest.raises(InputError, match=r"^pairs: expected 1 or more pairs, got 0$"):
            check()
    with pytest.raises(InputError, match=r"^pairs: expected 1 or more pairs, got 0$"):
        same_place([0] * 9)
