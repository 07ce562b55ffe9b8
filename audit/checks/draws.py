"""Checks of the bounded draws by which shoes were shuffled: Knuth, TAOCP vol. 2, §3.3.2.

Levels are exactly uniform (`Draws.levels`), so that all class probabilities are exact. Each check looks at every
draw of a shoe, or at every 2nd or 5th (`step`), and is named for it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import factorial, inf, perm, sqrt
from typing import Final

import numpy as np
from scipy.special import kolmogorov

from audit.checks.goodness import Classes, chi_square, gamma_tail, normal, require_some
from audit.checks.result import CheckResult, LineItem
from audit.draw_counts import (
    BINS,
    FINE_LEVELS,
    HAND,
    LEVELS,
    LONGEST_COLLECTION,
    LONGEST_GAP,
    MAXIMUM_OF,
    PERMUTED,
    STEPS,
    DrawCounts,
    Ints,
    StepCounts,
)
from shoe.errors import InputError, expected

_GRID: Final = 0.5826
"""−ζ(1/2)/√(2π): how much of the largest value of a random path a grid of unit steps misses."""


def draw_equidistribution(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test every value of every draw: the sum over draws of Pearson's χ², each on bound − 1 degrees of freedom.

    Expected counts may be small: the reference is the gamma law of the exact mean and variance, which for χ² of k
    equal classes in n trials are k − 1 and 2(k − 1)(n − 1)/n. Raises InputError for no shoes or an unknown step.
    """
    _step(counts, step)
    bounds = np.arange(counts.size, 1, -1)
    starts = np.concatenate([[0], np.cumsum(bounds)[:-1]])
    squares = np.add.reduceat(counts.cells.astype(np.float64) ** 2, starts)
    each = (squares * bounds / counts.shoes - counts.shoes)[::step]
    dof = int((bounds - 1)[::step].sum())
    statistic = float(each.sum())
    n = counts.shoes * len(each)
    worst = int(np.argmax((each - (bounds - 1)[::step]) / np.sqrt(2 * (bounds - 1)[::step])))
    return CheckResult(
        name=_name("draw_equidistribution", step),
        null="every draw takes each value below its bound equally often (n: draws)",
        statistic=statistic,
        distribution="chi-square, as a gamma law with the exact variance",
        dof=dof,
        n=n,
        p=gamma_tail(statistic, dof, 2 * dof * (counts.shoes - 1) / counts.shoes),
        effect=sqrt(statistic / n),
        effect_name="w = sqrt(statistic / n)",
        items=(_extreme(counts, worst * step, int(starts[worst * step])),),
    )


def draw_mean(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test Σ w over all draws, w = 2v − (b−1), by the normal law: mean 0 and variance Σ (b²−1)/3, exactly.

    This is what scaling by a remainder or a rounded product moves first. Raises InputError for no shoes or an
    unknown step.
    """
    seen = _step(counts, step)
    bounds = range(counts.size, 1, -step)
    return normal(
        _name("draw_mean", step),
        "draws are neither too low nor too high (n: draws)",
        what="sum of centred draws",
        total=seen.total,
        mean=Fraction(0),
        variance=Fraction(counts.shoes * sum(b * b - 1 for b in bounds), 3),
        n=counts.shoes * len(bounds),
    )


def draw_kolmogorov_smirnov(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test numbers made of some successive draws against the uniform law on [0, 1), by Kolmogorov and Smirnov.

    The largest distance is taken over 4,095 equally spaced places and enlarged by what such a grid misses on
    average, .5826/√4096 of a standard error (Chernoff 1965); p by the asymptotic law with Stephens' correction for
    n. Raises InputError where no shoe has draws for a number, or for an unknown step.
    """
    seen = _step(counts, step).numbers
    name, n = _name("draw_kolmogorov_smirnov", step), int(seen.sum())
    require_some(n, "numbers", name)
    above = np.cumsum(seen)[:-1] / n - np.arange(1, BINS) / BINS
    place = int(np.abs(above).argmax())
    distance = float(abs(above[place]))
    scaled = (sqrt(n) + 0.12 + 0.11 / sqrt(n)) * distance + _GRID / sqrt(BINS)
    fraction = Fraction(place + 1, BINS)
    observed = int(np.cumsum(seen)[place])
    error = sqrt(n * fraction * (1 - fraction))
    return CheckResult(
        name=name,
        null="numbers read off successive draws are uniform on 0 to 1 (n: numbers)",
        statistic=distance,
        distribution="Kolmogorov, on a grid",
        dof=None,
        n=n,
        p=float(kolmogorov(scaled)),
        effect=distance,
        effect_name="largest distance of the two distributions",
        items=(LineItem(f"below {fraction}", observed, n * fraction, float(above[place]) * n / error),),
    )


def draw_gaps(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test how many levels lie between successive levels 0 of 8: length r has probability (1/8)(7/8)ʳ.

    Raises InputError where there are too few draws for a gap, or for an unknown step.
    """
    return _classes("draw_gaps", "gaps between lowest eighths are geometric", step, _step(counts, step).gaps, _GAPS)


def draw_poker(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test how many of 5 successive levels of 8 differ: r with probability 8!/(8−r)!·S(5, r)/8⁵.

    S is Stirling's number of the second kind. Raises InputError like `draw_gaps`.
    """
    null = "five successive eighths differ as often as independent ones"
    return _classes("draw_poker", null, step, _step(counts, step).hands, _HANDS)


def draw_coupons(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test how many levels of 8 it takes to have all: r with probability 8!/8ʳ·S(r−1, 7).

    Raises InputError like `draw_gaps`.
    """
    null = "all eighths have come after as many draws as with independent ones"
    return _classes("draw_coupons", null, step, _step(counts, step).collections, _COLLECTIONS)


def draw_permutations(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test that 4 different successive levels of 16 come in each of their 24 orders equally often.

    Raises InputError like `draw_gaps`.
    """
    null = "four different successive sixteenths come in every order equally often"
    return _classes("draw_permutations", null, step, _step(counts, step).permutations, _PERMUTATIONS)


def draw_maxima(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test the highest of 5 successive levels of 16: at most k with probability ((k+1)/16)⁵.

    Raises InputError like `draw_gaps`.
    """
    null = "the highest of five successive sixteenths is as high as of independent ones"
    return _classes("draw_maxima", null, step, _step(counts, step).maxima, _MAXIMA)


def draw_serial_correlation(counts: DrawCounts, step: int = 1) -> CheckResult:
    """Test Σ wᵢwᵢ₊₁ over neighbouring draws of a shoe, w = 2v − (b−1), by the normal law.

    Under the null the products are uncorrelated, each of mean 0 and variance (bᵢ²−1)(bᵢ₊₁²−1)/9, exactly. Raises
    InputError for no shoes, shoes without neighbours, or an unknown step.
    """
    seen = _step(counts, step)
    spread = [b * b - 1 for b in range(counts.size, 1, -step)]
    pairs = len(spread) - 1
    require_some(pairs, "pairs of draws a shoe", _name("draw_serial_correlation", step))
    variance = Fraction(counts.shoes * sum(a * b for a, b in pairwise(spread)), 9)
    return normal(
        _name("draw_serial_correlation", step),
        "neighbouring draws of a shoe are uncorrelated (n: pairs of draws)",
        what="sum of products of centred draws",
        total=seen.products,
        mean=Fraction(0),
        variance=variance,
        n=counts.shoes * pairs,
    )


DRAW_CHECKS: Final = (
    draw_equidistribution,
    draw_mean,
    draw_kolmogorov_smirnov,
    draw_gaps,
    draw_poker,
    draw_coupons,
    draw_permutations,
    draw_maxima,
    draw_serial_correlation,
)
"""The nine checks, each to be made at every one of `STEPS`."""


def stirling(n: int, k: int) -> int:
    """Compute Stirling's number of the second kind: ways to part n things into k sets that are not empty."""
    row = [1]
    for _ in range(n):
        row = [0, *(j * row[j] + row[j - 1] for j in range(1, len(row))), 1]
    return row[k] if 0 <= k < len(row) else 0


def _gap_classes() -> tuple[Fraction, ...]:
    p = Fraction(1, LEVELS)
    return (*(p * (1 - p) ** r for r in range(LONGEST_GAP)), (1 - p) ** LONGEST_GAP)


def _hand_classes() -> tuple[Fraction, ...]:
    return tuple(Fraction(perm(LEVELS, r) * stirling(HAND, r), LEVELS**HAND) for r in range(HAND + 1))


def _collection_classes() -> tuple[Fraction, ...]:
    ways = [Fraction(factorial(LEVELS) * stirling(r - 1, LEVELS - 1), LEVELS**r) for r in range(1, LONGEST_COLLECTION)]
    return (Fraction(0), *ways, 1 - sum(ways, Fraction(0)))


def _maximum_classes() -> tuple[Fraction, ...]:
    at_most = [Fraction(k, FINE_LEVELS) ** MAXIMUM_OF for k in range(FINE_LEVELS + 1)]
    return tuple(after - before for before, after in pairwise(at_most))


_GAPS: Final = _gap_classes()
_HANDS: Final = _hand_classes()
_COLLECTIONS: Final = _collection_classes()
_PERMUTATIONS: Final = (Fraction(1, factorial(PERMUTED)),) * factorial(PERMUTED)
_MAXIMA: Final = _maximum_classes()


def _classes(name: str, null: str, step: int, seen: Ints, p: tuple[Fraction, ...]) -> CheckResult:
    labels = [*map(str, range(len(p)))]
    return chi_square(_name(name, step), f"{null} (n: groups of draws)", Classes(labels, seen.tolist(), p))


def _name(name: str, step: int) -> str:
    return name if step == 1 else f"{name}_every_{step}"


def _step(counts: DrawCounts, step: int) -> StepCounts:
    if step not in STEPS:
        raise InputError(expected(f"a step of {STEPS}", step, "step"))
    require_some(counts.shoes, "shoes", "draws")
    return counts.steps[STEPS.index(step)]


def _extreme(counts: DrawCounts, draw: int, start: int) -> LineItem:
    """Show the value that is farthest out at one draw."""
    bound = counts.size - draw
    seen = counts.cells[start : start + bound]
    mean = Fraction(counts.shoes, bound)
    value = int(np.abs(seen - float(mean)).argmax())
    deviation = float(seen[value] - mean) / sqrt(mean * (1 - Fraction(1, bound))) if bound > 1 else inf
    return LineItem(f"draw {draw + 1}: value {value} below {bound}", int(seen[value]), mean, deviation)
