"""Checks of the cards that shoes show, drawn without replacement: pooled, shoe by shoe, and place by place."""

from __future__ import annotations

from fractions import Fraction
from math import inf, perm, sqrt

from audit.checks.goodness import gamma_tail
from audit.checks.positions import types_by_position
from audit.checks.result import CheckResult, LineItem
from audit.foreign.counts import FIRST_CARDS, Types
from shoe.game.cards import DECK

LEAST_SHOES = 100
"""Shoes from which on types are judged by place."""


def card_counts(types: Types, decks: int) -> CheckResult:
    """Test the types of all cards seen: Q = Σ d²/p over Σ n(N−n)/(N−1) ~ χ²(R−1), n of N cards of each shoe seen.

    That is the covariance of counts drawn without replacement, added up over shoes. Where whole shoes were seen the
    counts are certain, and a deviation fails by itself.
    """
    size, full = DECK * decks, types.level.shoe(decks)
    means = [Fraction(types.cards * cards, size) for cards in full]
    above = [int(count) - mean for count, mean in zip(types.counts, means, strict=True)]
    spread = Fraction(types.unseen_pairs, size - 1)
    total = sum((d * d * size / cards for d, cards in zip(above, full, strict=True)), Fraction(0))
    statistic = float(total / spread) if spread else (inf if total else 0.0)
    dof = len(full) - 1
    errors = [sqrt(spread * cards * (size - cards) / size**2) for cards in full]
    return CheckResult(
        name="card_counts",
        null=f"the cards seen are those of shoes of {decks} decks, by {types.level.name} (n: cards)",
        statistic=statistic,
        distribution="chi-square",
        dof=dof,
        n=types.cards,
        p=gamma_tail(statistic, dof, 2 * dof),
        effect=sqrt(float(total) / types.cards) if types.cards else 0.0,
        effect_name="sqrt of the sum of squares of d/sqrt(p), over n",
        items=tuple(
            LineItem(label, int(count), mean, float(d) / error if error else 0.0)
            for label, count, mean, d, error in zip(
                types.level.labels, types.counts.tolist(), means, above, errors, strict=True
            )
        ),
    )


def shoe_spread(types: Types, decks: int) -> CheckResult:
    """Test how unevenly single shoes' cards are spread over the types: the sum of Pearson's Q, times (N−1)/(N−n) each.

    Each has mean R−1 and the exact variance of draws without replacement; their sum is taken for a gamma law. A shoe
    that was seen whole has no spread and is left out. An endless shoe is spread far more than a real one.
    """
    total, variance, shoes = _standardised(types, decks)
    statistic, mean = float(total), (len(types.level.labels) - 1) * shoes
    deviation = (statistic - mean) / sqrt(variance) if variance else 0.0
    return CheckResult(
        name="shoe_spread",
        null=f"each shoe's cards are drawn from {decks} decks without being put back, by {types.level.name} (n: shoes)",
        statistic=statistic,
        distribution=f"gamma with mean {mean} and variance {variance:.6g}",
        dof=None,
        n=shoes,
        p=gamma_tail(statistic, mean, variance) if shoes else 1.0,
        effect=statistic / mean - 1 if mean else 0.0,
        effect_name="excess over the mean, as a share of it",
        items=(LineItem("sum over shoes, rounded", round(statistic), Fraction(mean), deviation),),
    )


def by_place(types: Types, decks: int) -> CheckResult:
    """Test whether the first cards of shoes have the same types at every place (`positions.types_by_position`)."""
    return types_by_position(types.first[:FIRST_CARDS], types.level.shoe(decks))


def _standardised(types: Types, decks: int) -> tuple[Fraction, float, int]:
    """Compute the sum of all shoes' Q(N−1)/(N−n), its variance, and how many shoes are in it."""
    full = types.level.shoe(decks)
    size, statistic, variance, shoes = sum(full), Fraction(0), 0.0, 0
    for cards, count in types.lengths.items():
        if cards < size:
            q = Fraction(size * types.squares[cards], cards * max(full)) - cards * count
            statistic += q * Fraction(size - 1, size - cards)
            variance += count * spread_variance(full, cards)
            shoes += count
    return statistic, variance, shoes


def spread_variance(full: list[int], cards: int) -> float:
    """Compute the variance of Q(N−1)/(N−n), Q being Pearson's statistic of `cards` drawn from a shoe, exactly.

    From the factorial moments E[c₍ᵢ₎ d₍ⱼ₎] = n₍ᵢ₊ⱼ₎ m₍ᵢ₎ k₍ⱼ₎ / N₍ᵢ₊ⱼ₎ of draws without replacement.
    """
    size = sum(full)
    kinds = {count: full.count(count) for count in full}
    mean = sum((Fraction(of, m) * _moment(size, cards, m, _SQUARE) for m, of in kinds.items()), Fraction(0))
    square = Fraction(0)
    for m, of in kinds.items():
        square += Fraction(of, m * m) * _moment(size, cards, m, _FOURTH)
        for k, other in kinds.items():
            pairs = of * (other - (m == k))
            square += Fraction(pairs, m * k) * _cross(size, cards, m, k)
    scale = Fraction(size * (size - 1), cards * (size - cards))
    return float(scale**2 * (square - mean**2))


_SQUARE = {1: 1, 2: 1}
_FOURTH = {1: 1, 2: 7, 3: 6, 4: 1}
"""c² and c⁴ in falling factorials."""


def _moment(size: int, cards: int, m: int, powers: dict[int, int]) -> Fraction:
    return sum((Fraction(of * perm(cards, i) * perm(m, i), perm(size, i)) for i, of in powers.items()), Fraction(0))


def _cross(size: int, cards: int, m: int, k: int) -> Fraction:
    return sum(
        (
            Fraction(a * b * perm(cards, i + j) * perm(m, i) * perm(k, j), perm(size, i + j))
            for i, a in _SQUARE.items()
            for j, b in _SQUARE.items()
        ),
        Fraction(0),
    )
