"""Checks of card types at positions: over S shoes, of whose N positions the first m are seen."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
import numpy.typing as npt

from audit.checks.goodness import gamma_tail
from audit.checks.result import CheckResult, LineItem
from shoe.errors import InputError, expected

Ints = npt.NDArray[np.int64]


def count_types(cards: npt.NDArray[np.integer], type_of: Sequence[int]) -> Ints:
    """Count the types of the cards at each position: int64[m, R], from cards[S, m] and the type 0 … R−1 of each card.

    Counts add up over blocks. Raises InputError for a card that has no type.
    """
    if cards.size and not 0 <= int(cards.min()) <= int(cards.max()) < len(type_of):
        raise InputError(expected(f"cards 0…{len(type_of) - 1}", [int(cards.min()), int(cards.max())], "cards"))
    kinds, seen = max(type_of) + 1, cards.shape[1]
    cells = np.asarray(type_of, dtype=np.int64)[cards] + kinds * np.arange(seen)
    return np.bincount(cells.ravel(), minlength=kinds * seen).reshape(seen, kinds)


def types_by_position(counts: Ints, composition: Sequence[int]) -> CheckResult:
    """Test whether all positions have the same types: Q(N−1)/N ~ χ²((m−1)(R−1)), Q around the pooled counts.

    `counts` is int64[m, R]; `composition` the cards of each type in one shoe, N in all. Types that never came are
    left out. The factor undoes the dependence of the positions of one shoe. Raises InputError like `pooled_types`, and
    for fewer than two positions.
    """
    shoes, size = _shoes(counts, composition), sum(composition)
    if len(counts) < 2:
        raise InputError(expected("2 or more positions", len(counts), "counts"))
    came = counts.sum(axis=0) > 0
    seen = counts[:, came]
    means = seen.sum(axis=0) / len(counts)
    statistic = float(((seen - means) ** 2 / means).sum()) * (size - 1) / size
    dof = (len(counts) - 1) * (int(came.sum()) - 1)
    deviations = (counts - shoes * np.array(composition) / size) / np.sqrt(_variances(shoes, composition))
    position, kind = divmod(int(np.abs(deviations).argmax()), len(composition))
    mean = Fraction(shoes * composition[kind], size)
    line = LineItem(
        f"type {kind} at position {position}", int(counts[position, kind]), mean, float(deviations[position, kind])
    )
    return CheckResult(
        name="types_by_position",
        null="every type of card comes at every position equally often (n: cards)",
        statistic=statistic,
        distribution="chi-square",
        dof=dof,
        n=shoes * len(counts),
        p=gamma_tail(statistic, dof, 2 * dof),
        effect=sqrt(statistic / (shoes * len(counts))),
        effect_name="w = sqrt(statistic / n)",
        items=(line,),
    )


def pooled_types(counts: Ints, composition: Sequence[int]) -> CheckResult:
    """Test the types of all seen cards together: Pearson's Q, times (N−1)/(N−m), ~ χ²(R−1).

    Of whole shoes (m = N) all counts are certain, and a deviation fails by itself. Raises InputError for counts of no
    shoes, of another number of types, of more positions than the shoe has, or that differ in sum.
    """
    shoes, size, seen = _shoes(counts, composition), sum(composition), len(counts)
    observed = counts.sum(axis=0)
    means = [Fraction(shoes * seen * cards, size) for cards in composition]
    above = [int(count) - mean for count, mean in zip(observed, means, strict=True)]
    q = sum((d * d / mean for d, mean in zip(above, means, strict=True)), Fraction(0))
    left = size - seen
    statistic = float(q * (size - 1) / left) if left else float(q)
    dof = len(composition) - 1 if left else 0
    errors = np.sqrt(_variances(shoes, composition) * seen * left / (size - 1)).tolist()
    return CheckResult(
        name="pooled_types",
        null="the cards seen have the types of the full shoe (n: cards)",
        statistic=statistic,
        distribution="chi-square" if left else "0 for certain",
        dof=dof,
        n=shoes * seen,
        p=gamma_tail(statistic, dof, 2 * dof) if left else float(q == 0),
        effect=sqrt(float(q) / (shoes * seen)),
        effect_name="w = sqrt(Q / n)",
        items=tuple(
            LineItem(f"type {kind}", int(count), mean, float(d) / error if error else 0.0)
            for kind, (count, mean, d, error) in enumerate(zip(observed, means, above, errors, strict=True))
        ),
    )


def _variances(shoes: int, composition: Sequence[int]) -> npt.NDArray[np.float64]:
    shares = np.array(composition) / sum(composition)
    return shoes * shares * (1 - shares)


def _shoes(counts: Ints, composition: Sequence[int]) -> int:
    if len(composition) < 2 or min(composition) < 1:
        raise InputError(expected("2 or more types, each of 1 or more cards", list(composition), "composition"))
    if counts.ndim != 2 or counts.shape[1] != len(composition):
        raise InputError(expected(f"counts of {len(composition)} types", counts.shape, "counts"))
    if not 1 <= len(counts) <= sum(composition):
        raise InputError(expected(f"1 to {sum(composition)} positions", len(counts), "counts"))
    sums = counts.sum(axis=1)
    if (sums != sums[0]).any() or sums[0] < 1:
        raise InputError(expected("as many cards, 1 or more, at each position", sums.tolist(), "counts"))
    return int(sums[0])
