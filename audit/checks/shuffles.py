"""Checks of whole shuffles against the uniform law on all orders, on physical cards 0 … n−1."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, inf, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import pdtrc, stdtr

from audit.checks.goodness import (
    Classes,
    chi_square,
    equal_classes_tail,
    gamma_tail,
    normal,
    poisson,
    require_some,
    sidak,
)
from audit.checks.result import CheckResult, LineItem
from audit.longest_increasing import longest_increasing_law
from audit.shuffle_counts import RANKS, ShuffleCounts
from shoe.errors import InputError, expected
from shoe.game.cards import DECK
from shoe.game.tableau import MAX_CARDS

HASHES: Final = 2**64
_TRILLION: Final = 10**12


def card_positions(counts: ShuffleCounts) -> CheckResult:
    """Test how often each card came at each position: Q(n−1)/n with Q = Σ (O − S/n)²/(S/n), about χ²((n−1)²).

    The reference is the gamma law of the exact mean (n−1)² and variance 2(n−1)²(S−1)/S, for any S. Raises
    InputError for fewer than two shoes.
    """
    n, shoes = counts.size, _shoes(counts, 2)
    mean = shoes / n
    statistic = float(((counts.table - mean) ** 2).sum()) / mean * (n - 1) / n
    dof = (n - 1) ** 2
    return CheckResult(
        name="card_positions",
        null="every card comes at every position equally often (n: shoes)",
        statistic=statistic,
        distribution="chi-square, as a gamma law with the exact variance",
        dof=dof,
        n=shoes,
        p=gamma_tail(statistic, dof, 2 * dof * (shoes - 1) / shoes),
        effect=sqrt(statistic / shoes / n),
        effect_name="w = sqrt(statistic / cards)",
        items=(_extreme_cell(counts),),
    )


def worst_position(counts: ShuffleCounts) -> CheckResult:
    """Test the cards at each position by itself: the largest of n values of Pearson's χ²(n−1).

    p is corrected for the choice of the largest among n (Sidak). It is a rough guide below 5n shoes. Raises
    InputError for fewer than two shoes.
    """
    n, shoes = counts.size, _shoes(counts, 2)
    mean = shoes / n
    each = ((counts.table - mean) ** 2).sum(axis=1) / mean
    largest = int(each.argmax())
    p = sidak(equal_classes_tail(float(each[largest]), n, shoes), n)
    cells = counts.table[largest]
    card = int(np.abs(cells - mean).argmax())
    return CheckResult(
        name="worst_position",
        null="at each position every card comes equally often (n: shoes)",
        statistic=float(each[largest]),
        distribution=f"largest of {n} chi-squares",
        dof=n - 1,
        n=shoes,
        p=p,
        effect=sqrt(float(each[largest]) / shoes),
        effect_name="w = sqrt(statistic / n)",
        items=(_cell_line(counts, largest, card),),
    )


def interplay(counts: ShuffleCounts) -> CheckResult:
    """Test the 15 correlations between the first six positions: Σ (r + 1/(n−1))²(S−1)/v ~ χ²(15).

    Under the null each r, over the shoes, has mean −1/(n−1) and variance v/(S−1), v of `correlation_spread`. Raises
    InputError for fewer than three shoes or fewer than six cards.
    """
    if counts.size < MAX_CARDS:
        raise InputError(expected("6 or more cards", counts.size, "interplay"))
    shoes = _shoes(counts, 3)
    above = _excess(counts) * sqrt(shoes - 1)
    pairs = [(a, b) for a in range(MAX_CARDS) for b in range(a + 1, MAX_CARDS)]
    statistic = float(sum(above[pair] ** 2 for pair in pairs))
    worst = max(pairs, key=lambda pair: abs(above[pair]))
    return CheckResult(
        name="interplay",
        null="cards at two of the first six positions hang together only by being two different cards (n: shoes)",
        statistic=statistic,
        distribution="chi-square",
        dof=len(pairs),
        n=shoes,
        p=gamma_tail(statistic, len(pairs), 2 * len(pairs)),
        effect=float(max(abs(above[pair]) for pair in pairs)) / sqrt(shoes - 1),
        effect_name="largest excess of a correlation",
        items=(_pair_line(counts, *worst, float(above[worst])),),
    )


def worst_pair(counts: ShuffleCounts) -> CheckResult:
    """Test the correlation of every pair of positions: the largest of n(n−1)/2, by Student's law.

    p is corrected for the choice (Sidak). Raises InputError for fewer than three shoes.
    """
    n, shoes = counts.size, _shoes(counts, 3)
    above = _excess(counts)
    np.fill_diagonal(above, 0)
    a, b = divmod(int(np.abs(above).argmax()), n)
    r = min(abs(float(above[a, b])), 1.0)
    t = r * sqrt((shoes - 2) / (1 - r * r)) if r < 1 else inf
    return CheckResult(
        name="worst_pair",
        null="cards at any two positions hang together only by being two different cards (n: shoes)",
        statistic=t,
        distribution=f"largest of {comb(n, 2)} values of Student's t with {shoes - 2} degrees of freedom",
        dof=None,
        n=shoes,
        p=sidak(2 * float(stdtr(shoes - 2, -t)), comb(n, 2)),
        effect=r,
        effect_name="excess of the correlation",
        items=(_pair_line(counts, min(a, b), max(a, b), float(above[a, b]) * sqrt(shoes - 1)),),
    )


def fixed_points(counts: ShuffleCounts) -> CheckResult:
    """Test cards that keep their position: mean 1 and variance 1 a shoe, the sum by Poisson's law of mean S.

    The moments of a shoe's fixed points equal Poisson's up to the n-th. Raises InputError for no shoes.
    """
    return poisson(
        "fixed_points",
        "a shoe has one card at its old position on average (n: shoes)",
        what="cards at their old position",
        total=counts.fixed_points,
        mean=Fraction(_shoes(counts, 1)),
        n=counts.shoes,
    )


def neighbours_kept(counts: ShuffleCounts) -> CheckResult:
    """Test neighbours of the fresh order that stay so: mean (n−1)/n a shoe, the sum by Poisson's law.

    The variance is less than the mean by 1/n² only. Raises InputError for no shoes.
    """
    return poisson(
        "neighbours_kept",
        "a shoe keeps (n-1)/n pairs of neighbours of the fresh order on average (n: shoes)",
        what="neighbours kept",
        total=counts.neighbours_kept,
        mean=Fraction(_shoes(counts, 1) * (counts.size - 1), counts.size),
        n=counts.shoes,
    )


def cycles(counts: ShuffleCounts) -> CheckResult:
    """Test the cycles of the permutation: mean Hₙ, variance Hₙ − Hₙ⁽²⁾ a shoe.

    Raises InputError for no shoes. Source: Knuth, TAOCP vol. 1, §1.3.3.
    """
    harmonic = sum((Fraction(1, k) for k in range(1, counts.size + 1)), Fraction(0))
    squares = sum((Fraction(1, k * k) for k in range(1, counts.size + 1)), Fraction(0))
    return _sum("cycles", counts, counts.cycles, harmonic, harmonic - squares)


def descents(counts: ShuffleCounts) -> CheckResult:
    """Test the cards followed by a lower one: mean (n−1)/2, variance (n+1)/12 a shoe.

    Raises InputError for no shoes. Source: Knuth, TAOCP vol. 3, §5.1.3.
    """
    n = counts.size
    return _sum("descents", counts, counts.descents, Fraction(n - 1, 2), Fraction(n + 1, 12))


def rising_sequences(counts: ShuffleCounts) -> CheckResult:
    """Test the rising sequences, which riffles leave few of: mean (n+1)/2, variance (n+1)/12 a shoe.

    Raises InputError for no shoes. Source: Bayer and Diaconis, Annals of Applied Probability 2 (1992).
    """
    n, seen = counts.size, counts.rising_sequences
    return _sum("rising_sequences", counts, seen, Fraction(n + 1, 2), Fraction(n + 1, 12))


def inversions(counts: ShuffleCounts) -> CheckResult:
    """Test the pairs of cards out of fresh order: mean n(n−1)/4, variance n(n−1)(2n+5)/72 a shoe.

    Raises InputError for no shoes. Source: Knuth, TAOCP vol. 3, §5.1.1.
    """
    n = counts.size
    mean, variance = Fraction(n * (n - 1), 4), Fraction(n * (n - 1) * (2 * n + 5), 72)
    return _sum("inversions", counts, counts.inversions, mean, variance)


def same_rank_neighbours(counts: ShuffleCounts) -> CheckResult:
    """Test neighbours of equal rank: 31 a shoe of 416 cards on average, variance 28.684.

    Raises InputError for no shoes, and for sizes that are not whole decks.
    """
    if counts.size % DECK:
        raise InputError(expected("shoes of whole decks", counts.size, "same_rank_neighbours"))
    mean, variance = same_rank_law(counts.size // DECK)
    return _sum("same_rank_neighbours", counts, counts.same_rank, mean, variance)


def longest_increasing(counts: ShuffleCounts) -> CheckResult:
    """Test the longest increasing subsequence of each shoe by χ² against its exact law.

    Raises InputError for no shoes, or more than 832 cards. The first call for a size takes some seconds.
    """
    _shoes(counts, 1)
    shares = [round(p * _TRILLION) for p in longest_increasing_law(counts.size)]
    law = [Fraction(share, sum(shares)) for share in shares]
    possible = [length for length, p in enumerate(law) if p]
    shortest, longest = possible[0], possible[-1]
    # Lengths too rare to have a place in the law are counted with the rarest that has one.
    seen = counts.lengths[shortest : longest + 1].copy()
    seen[0] += counts.lengths[:shortest].sum()
    seen[-1] += counts.lengths[longest + 1 :].sum()
    labels = [str(length) for length in range(shortest, longest + 1)]
    null = "the longest increasing subsequence is as long as of a uniform order (n: shoes)"
    return chi_square("longest_increasing", null, Classes(labels, seen.tolist(), law[shortest : longest + 1]))


def fresh_order(counts: ShuffleCounts) -> CheckResult:
    """Look for packs that were not shuffled: the longest stretch of neighbours in fresh or in reversed order.

    Stretches of r or more neighbours number Eᵣ − Eᵣ₊₁ a shoe and direction, Eᵣ = (n−r)(n−r)!/n!; p is the
    probability of one or more of the longest length seen, were they independent. Raises InputError for no shoes.
    """
    n, shoes = counts.size, _shoes(counts, 1)
    seen = np.flatnonzero(counts.ascents + counts.falls)
    longest = int(seen[-1]) if len(seen) else 0
    mean = 2 * shoes * (_stretches(n, longest) - _stretches(n, longest + 1)) if longest else Fraction(shoes)
    observed = int((counts.ascents + counts.falls)[longest:].sum()) if longest else 0
    return CheckResult(
        name="fresh_order",
        null="no stretch of fresh or reversed order is longer than chance makes it (n: shoes)",
        statistic=float(longest),
        distribution="longest stretch, by Poisson's law of the number of such",
        dof=None,
        n=shoes,
        p=float(-np.expm1(-float(mean))) if longest else 1.0,
        effect=longest / (n - 1),
        effect_name="longest stretch, as a share of the shoe",
        items=(LineItem(f"stretches of {longest} or more", observed, mean, _deviation(observed, mean)),),
    )


def duplicate_shoes(hashes: npt.NDArray[np.uint64], orders: int) -> CheckResult:
    """Look for orders dealt twice, by their 64-bit hashes; pairs of equal hashes are counted.

    `orders` is the number of equally likely orders: n! of a shoe, n(n−1)…(n−5) of the six cards of a shuffle for one
    coup. Up to 2⁶⁴ of them have a hash each; more share one by chance. The number of equal pairs is all but Poisson,
    with mean C(S, 2)·(1/orders + 2⁻⁶⁴), the last term only where hashes are shared; p is the probability of as many
    or more. Raises InputError for no hashes.
    """
    shoes = len(hashes)
    require_some(shoes, "hashes", "duplicate_shoes")
    pairs = _equal_pairs(np.sort(hashes))
    mean = comb(shoes, 2) * (Fraction(1, orders) + (Fraction(1, HASHES) if orders > HASHES else 0))
    return CheckResult(
        name="duplicate_shoes",
        null="two shuffles give the same order by chance only (n: shuffles)",
        statistic=float(pairs),
        distribution=f"Poisson with mean {float(mean):.6g}",
        dof=None,
        n=shoes,
        p=float(pdtrc(pairs - 1, float(mean))) if pairs else 1.0,
        effect=pairs / shoes,
        effect_name="equal pairs a shuffle",
        items=(LineItem("pairs of equal shuffles", pairs, mean, _deviation(pairs, mean)),),
    )


def _equal_pairs(ordered: npt.NDArray[np.uint64]) -> int:
    """Count pairs of equal hashes by the runs they make, in no more memory than one mark a hash."""
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if not len(same):
        return 0
    breaks = np.flatnonzero(np.diff(same) > 1)
    lengths = np.diff(np.concatenate(([0], breaks + 1, [len(same)]))) + 1
    return int((lengths * (lengths - 1) // 2).sum())


SHUFFLE_CHECKS: Final[tuple[Callable[[ShuffleCounts], CheckResult], ...]] = (
    card_positions,
    worst_position,
    interplay,
    worst_pair,
    fixed_points,
    cycles,
    descents,
    rising_sequences,
    inversions,
    neighbours_kept,
    same_rank_neighbours,
    longest_increasing,
    fresh_order,
)
"""The checks that need nothing but the counts of whole decks."""


def same_rank_law(decks: int) -> tuple[Fraction, Fraction]:
    """Compute mean and variance of the neighbours of equal rank in a shoe: 4·decks cards of each of 13 ranks."""
    n, m = DECK * decks, DECK * decks // RANKS
    one = Fraction(m - 1, n - 1)
    three_cards = Fraction((m - 1) * (m - 2), (n - 1) * (n - 2))
    same = Fraction((m - 1) * (m - 2) * (m - 3), (n - 1) * (n - 2) * (n - 3))
    different = Fraction((m - 1) * (n - m) * (m - 1), (n - 1) * (n - 2) * (n - 3))
    mean = (n - 1) * one
    square = mean + 2 * (n - 2) * three_cards + (n - 2) * (n - 3) * (same + different)
    return mean, square - mean * mean


def correlation_spread(n: int) -> Fraction:
    """Compute v = (S−1)·Var r for large S, r the correlation over S shoes of the cards at two positions of n.

    Independent positions would have 1. Two different cards have less by .8/(n−1), as E z₁²z₂² = (n − μ₄)/(n−1) of
    their standard scores: .983 for one deck, .998 for eight. Source: Kendall and Stuart, The Advanced Theory of
    Statistics 1, chapter 10, the variance of a sample correlation to first order.
    """
    rho = Fraction(-1, n - 1)
    fourth = Fraction(3 * (3 * n * n - 7), 5 * (n * n - 1))
    squares = (n - fourth) / (n - 1)
    return squares + rho**2 * (fourth + squares) / 2 - 2 * rho * (rho * fourth)


def _stretches(n: int, r: int) -> Fraction:
    """Compute Eᵣ, the mean number of r successive neighbours all kept; overlapping ones count each."""
    return Fraction((n - r) * factorial(n - r), factorial(n)) if r < n else Fraction(0)


def _sum(name: str, counts: ShuffleCounts, total: int, mean: Fraction, variance: Fraction) -> CheckResult:
    shoes = _shoes(counts, 1)
    what = name.replace("_", " ")
    null = f"shoes have as many {what} as uniform orders (n: shoes)"
    return normal(name, null, what=what, total=total, mean=shoes * mean, variance=shoes * variance, n=shoes)


def _correlations(counts: ShuffleCounts) -> npt.NDArray[np.float64]:
    """Compute the sample correlations of the cards at all pairs of positions; 0 where a card never changes."""
    weights = 2 * np.arange(counts.size) - (counts.size - 1)
    sums = (counts.table @ weights).astype(np.float64)
    centred = counts.products - np.outer(sums, sums) / counts.shoes
    spread = np.sqrt(np.diag(centred))
    scale = np.outer(spread, spread)
    correlations: npt.NDArray[np.float64] = np.divide(centred, scale, out=np.zeros_like(centred), where=scale > 0)
    return correlations


def _excess(counts: ShuffleCounts) -> npt.NDArray[np.float64]:
    """Compute what correlations exceed their mean by, scaled to a variance of 1/(S−1)."""
    return (_correlations(counts) + 1 / (counts.size - 1)) / sqrt(correlation_spread(counts.size))


def _shoes(counts: ShuffleCounts, least: int) -> int:
    if counts.shoes < least:
        raise InputError(expected(f"{least} or more shoes", counts.shoes, "shuffles"))
    return counts.shoes


def _deviation(observed: int, mean: Fraction) -> float:
    rate = float(mean)  # 0 where 1/n! is below the smallest double
    return (observed - rate) / sqrt(rate) if rate else (inf if observed else 0.0)


def _extreme_cell(counts: ShuffleCounts) -> LineItem:
    position, card = divmod(int(np.abs(counts.table - counts.shoes / counts.size).argmax()), counts.size)
    return _cell_line(counts, position, card)


def _cell_line(counts: ShuffleCounts, position: int, card: int) -> LineItem:
    mean = Fraction(counts.shoes, counts.size)
    observed = int(counts.table[position, card])
    error = sqrt(mean * (1 - Fraction(1, counts.size)))
    return LineItem(f"card {card} at position {position}", observed, mean, float(observed - mean) / error)


def _pair_line(counts: ShuffleCounts, a: int, b: int, deviation: float) -> LineItem:
    """Show the sum of products of the cards at two positions; its mean is −S(n+1)/3."""
    mean = Fraction(-counts.shoes * (counts.size + 1), 3)
    return LineItem(f"positions {a} and {b}: sum of products", int(counts.products[a, b]), mean, deviation)
