"""The bounded draws behind shuffled shoes, and what the checks of them count; counts add up over blocks.

Within a block the draws are one sequence, shoe after shoe; nothing is counted across blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from math import isqrt, prod
from typing import Final

import numpy as np
import numpy.typing as npt

from shoe.errors import InputError, expected

Ints = npt.NDArray[np.int64]

STEPS: Final = (1, 2, 5)
"""Every draw of a shoe, every 2nd, every 5th, beginning with the first."""

BINS: Final = 4096
LEVELS: Final = 8
FINE_LEVELS: Final = 16
HAND: Final = 5
LONGEST_GAP: Final = 40
LONGEST_COLLECTION: Final = 64
PERMUTED: Final = 4
MAXIMUM_OF: Final = 5
_RESOLUTION: Final = 2**24


@dataclass(frozen=True, slots=True)
class Draws:
    """Bounded draws of S shoes: `values` int64[S, m], column i uniform on 0 … bounds[i]−1; `bounds` int64[m]."""

    values: Ints
    bounds: Ints

    def every(self, step: int) -> Draws:
        """Keep the first draw of each shoe and every `step`-th after it."""
        return Draws(self.values[:, ::step], self.bounds[::step])

    def levels(self, count: int) -> Ints:
        """List the draws as independent levels, each exactly uniform on 0 … count−1, shoe after shoe.

        A draw v below b becomes the level ⌊v / ⌊b/count⌋⌋; where count does not divide b, draws in the rest b mod count
        are passed over, as are draws with b < count.
        """
        wide = self.bounds >= count
        each = self.bounds[wide] // count
        level: Ints = (self.values[:, wide] // each).ravel()
        return np.extract(level < count, level)

    def numbers(self) -> Ints:
        """List ⌊4096·U⌋ of numbers U uniform on [0, 1) to within 2⁻²⁴, each from some successive draws of one shoe.

        A draw v₁ below b₁, a draw v₂ below b₂ … make (v₁ + (v₂ + …)/b₂)/b₁, uniform on the multiples of 1/(b₁b₂…).
        """
        columns = [self._number(start, stop) for start, stop in self._groups()]
        return np.stack(columns, axis=1).ravel() if columns else np.zeros(0, np.int64)

    def _groups(self) -> Iterator[tuple[int, int]]:
        start, span = 0, 1
        for column, bound in enumerate(self.bounds.tolist(), start=1):
            span *= bound
            if span >= _RESOLUTION:
                yield start, column
                start, span = column, 1

    def _number(self, start: int, stop: int) -> Ints:
        digits = np.zeros(len(self.values), np.int64)
        for column in range(start, stop):
            digits = digits * self.bounds[column] + self.values[:, column]
        numbers: Ints = digits * BINS // prod(self.bounds[start:stop].tolist())
        return numbers


def draws_of(orders: npt.NDArray[np.uint16]) -> Draws:
    """Find the draws j−i by which forward Fisher–Yates makes these orders (uint16[S, n]) from 0 … n−1.

    Every order has exactly one such run of draws, so these are uniform if and only if the orders are. Costs n
    steps over S shoes. Raises InputError for orders of fewer than two cards. Source: protocol §6.
    """
    shoes, size = orders.shape
    if size < 2:
        raise InputError(expected("orders of 2 or more cards", size, "orders"))
    cards = np.tile(np.arange(size, dtype=np.uint16), (shoes, 1))
    places = cards.copy()
    values = np.empty((shoes, size - 1), np.int64)
    each = np.arange(shoes)
    for i in range(size - 1):
        j = places[each, orders[:, i]]
        values[:, i] = j.astype(np.int64) - i
        cards[each, j] = moved = cards[:, i]
        places[each, moved] = j
    return Draws(values, np.arange(size, 1, -1, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class StepCounts:
    """What is counted on the draws at one step: int64 arrays and sums that `audit.checks.draws` explains."""

    numbers: Ints
    gaps: Ints
    hands: Ints
    collections: Ints
    permutations: Ints
    maxima: Ints
    total: int
    products: int

    def __add__(self, other: StepCounts) -> StepCounts:
        return StepCounts(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True, slots=True)
class DrawCounts:
    """What is counted on the draws of `shoes` shoes of `size` cards; ``a + b`` counts both.

    `cells` is how often each value came at each draw: size values of the first, size−1 of the second … 2 of the last.
    `steps` has one entry for each of `STEPS`.
    """

    size: int
    shoes: int
    cells: Ints
    steps: tuple[StepCounts, ...]

    def __add__(self, other: DrawCounts) -> DrawCounts:
        if self.size != other.size:
            raise InputError(expected(f"counts of shoes of {self.size} cards", other.size, "draws"))
        steps = tuple(a + b for a, b in zip(self.steps, other.steps, strict=True))
        return DrawCounts(self.size, self.shoes + other.shoes, self.cells + other.cells, steps)


def count_draws(draws: Draws) -> DrawCounts:
    """Count one block of shoes; cost and memory grow with its draws only."""
    size = int(draws.bounds[0])
    starts = np.concatenate([[0], np.cumsum(draws.bounds)[:-1]])
    cells = np.bincount((draws.values + starts).ravel(), minlength=int(draws.bounds.sum()))
    return DrawCounts(size, len(draws.values), cells, tuple(count_step(draws, step) for step in STEPS))


def count_step(draws: Draws, step: int) -> StepCounts:
    """Count what the checks ask of every `step`-th draw."""
    chosen = draws.every(step)
    levels, fine = chosen.levels(LEVELS), chosen.levels(FINE_LEVELS)
    return StepCounts(
        numbers=np.bincount(chosen.numbers(), minlength=BINS),
        gaps=gap_counts(levels),
        hands=hand_counts(levels),
        collections=collection_counts(levels),
        permutations=permutation_counts(fine),
        maxima=maximum_counts(fine),
        total=int(_centred(chosen).sum()),
        products=neighbour_products(chosen),
    )


def gap_counts(levels: Ints) -> Ints:
    """Count the gaps before each level 0, by length 0, 1 … `LONGEST_GAP` or more.

    The number of gaps counted follows from the length of the sequence alone, and is so low that as many are missing
    with probability 10⁻⁹: a tail that is broken off would favour short gaps. Source: Knuth, TAOCP vol. 2, §3.3.2 C.
    """
    marks = np.flatnonzero(levels == 0)
    gaps = np.diff(marks, prepend=-1) - 1
    n, p = len(levels), Fraction(1, LEVELS)
    return np.bincount(np.minimum(gaps[: _surely(n * p, n * p * (1 - p))], LONGEST_GAP), minlength=LONGEST_GAP + 1)


def hand_counts(levels: Ints) -> Ints:
    """Count hands of `HAND` successive levels by how many differ, 0 … `HAND`. Source: TAOCP vol. 2, §3.3.2 D."""
    hands = np.sort(_tuples(levels, HAND), axis=1)
    return np.bincount(1 + (np.diff(hands, axis=1) != 0).sum(axis=1), minlength=HAND + 1)


def collection_counts(levels: Ints) -> Ints:
    """Count how many levels in turn it took to have all of them, 0 … `LONGEST_COLLECTION` or more.

    As many as surely come are counted, as in `gap_counts`. Source: TAOCP vol. 2, §3.3.2 E.
    """
    n = len(levels)
    ends = _complete_from(levels).tolist()
    chances = [Fraction(missing, LEVELS) for missing in range(1, LEVELS + 1)]
    mean = sum((1 / p for p in chances), Fraction(0))
    variance = sum(((1 - p) / (p * p) for p in chances), Fraction(0))
    lengths, start = [], 0
    for _ in range(_surely(n / mean, n * variance / mean**3)):
        if start >= n or ends[start] >= n:
            break
        lengths.append(min(ends[start] + 1 - start, LONGEST_COLLECTION))
        start = ends[start] + 1
    return np.bincount(np.array(lengths, np.int64), minlength=LONGEST_COLLECTION + 1)


def permutation_counts(levels: Ints) -> Ints:
    """Count groups of `PERMUTED` different successive levels by their order, numbered by inversions left to right.

    Groups with a tie are passed over; the orders of the others are equally likely. Source: TAOCP vol. 2, §3.3.2 P.
    """
    groups = _tuples(levels, PERMUTED)
    number = np.zeros(len(groups), np.int64)
    tied = np.zeros(len(groups), np.bool_)
    for i in range(PERMUTED):
        later = groups[:, i + 1 :]
        number = number * (PERMUTED - i) + (later < groups[:, i : i + 1]).sum(axis=1)
        tied |= (later == groups[:, i : i + 1]).any(axis=1)
    return np.bincount(number[~tied], minlength=prod(range(1, PERMUTED + 1)))


def maximum_counts(levels: Ints) -> Ints:
    """Count groups of `MAXIMUM_OF` successive levels by the highest. Source: TAOCP vol. 2, §3.3.2 T."""
    return np.bincount(_tuples(levels, MAXIMUM_OF).max(axis=1), minlength=FINE_LEVELS)


def neighbour_products(draws: Draws) -> int:
    """Add up wᵢ·wᵢ₊₁ over neighbouring draws of each shoe, w = 2v − (b−1) being centred at 0."""
    centred = _centred(draws)
    return int((centred[:, :-1] * centred[:, 1:]).sum())


def _centred(draws: Draws) -> Ints:
    return 2 * draws.values - (draws.bounds - 1)


def _tuples(levels: Ints, length: int) -> Ints:
    return levels[: len(levels) // length * length].reshape(-1, length)


def _complete_from(levels: Ints) -> Ints:
    """Find for every place the first place by which all levels have come since; the length where they never do."""
    n = len(levels)
    last = np.zeros(n, np.int64)
    for level in range(LEVELS):
        following = np.where(levels == level, np.arange(n), n)
        last = np.maximum(last, np.minimum.accumulate(following[::-1])[::-1])
    return last


def _surely(mean: Fraction, variance: Fraction) -> int:
    """Take six standard deviations off a mean: so many come but for one time in a billion."""
    return max(0, int(mean) - isqrt(int(36 * variance)) - 1)
