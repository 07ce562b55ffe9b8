"""How two different coups of one shoe hang together: the exact covariance S₁₂ of their classes.

Coups 1…K of a shoe are exchangeable, so one matrix serves every pair of them. It follows from two coups
that are dealt from a full shoe *each*, and so independent, by inclusion and exclusion over the physical
cards they share. For a point value with m cards in the shoe, to draw u for one coup and w for the other,
none twice:

    m(m−1)…(m−u−w+1) = m(m−1)…(m−u+1) · m(m−1)…(m−w+1) · Σⱼ (−1)ʲ C(u,j) C(w,j) / C(m,j).

So with X(j, a) the sum over coups of class a, weighted by their deals, of the ways to mark the point
values j among their cards, the deals in which the first coup is of class a and the second of class b
number

    Σⱼ (−1)^|j| X(j, a) X(j, b) / Πᵥ C(mᵥ, jᵥ).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import comb, lcm, perm, prod
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from audit.exact import draws, multiplicities, patterns
from shoe.errors import InputError, expected
from shoe.game.tableau import MAX_CARDS, OUTCOMES, RULES, Outcome

Label = TypeVar("Label", bound=Hashable)
Merged = TypeVar("Merged", bound=Hashable)
Kind = tuple[str, Outcome, int]  # rule class, outcome, cards used
Values = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TwoCoupCovariance(Generic[Label]):
    """The law of one coup's label, and the covariance of the labels of two different coups of a shoe.

    `p` has the R probabilities; `s12` is R × R: P(one coup is a and another is b) − p[a]·p[b]. All are
    exact.
    """

    labels: tuple[Label, ...]
    p: tuple[Fraction, ...]
    s12: tuple[tuple[Fraction, ...], ...]

    def merged(self, key: Callable[[Label], Merged], order: Sequence[Merged]) -> TwoCoupCovariance[Merged]:
        """Add labels up by `key`, listed in `order`, which names every value the key can take."""
        places = {merged: place for place, merged in enumerate(order)}
        rows = [places[key(label)] for label in self.labels]
        p = [Fraction(0)] * len(order)
        s12 = [[Fraction(0)] * len(order) for _ in order]
        for a, probability in zip(rows, self.p, strict=True):
            p[a] += probability
        for a, row in zip(rows, self.s12, strict=True):
            for b, covariance in zip(rows, row, strict=True):
                s12[a][b] += covariance
        return TwoCoupCovariance(tuple(order), tuple(p), tuple(map(tuple, s12)))

    def of_counts(self, coups: int, pairs: int) -> npt.NDArray[np.float64]:
        """Compute V, R × R: the covariance of the labels' counts over `coups` coups of independent shoes.

        `pairs` counts the ordered pairs of different coups of one shoe: Σ m(m−1) over shoes of m coups.
        V = coups·(diag p − pp′) + pairs·S₁₂, exact until the last step to floats.
        """
        exact = [
            [coups * p * ((a == b) - q) + pairs * self.s12[a][b] for b, q in enumerate(self.p)]
            for a, p in enumerate(self.p)
        ]
        return np.array(exact, dtype=np.float64)


@cache
def two_coup_covariance(decks: int) -> TwoCoupCovariance[Kind]:
    """Compute the covariance for a full shoe, by (rule class, outcome, cards used), in about a second.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return covariance_from(multiplicities(decks))


@cache
def rule_covariance(decks: int) -> TwoCoupCovariance[str]:
    """Compute the covariance of the 15 rule classes, in the order of `RULES`.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return two_coup_covariance(decks).merged(lambda label: label[0], RULES)


def class_covariance_matrix(decks: int, coups_per_shoe: int) -> npt.NDArray[np.float64]:
    """Compute V, 15 × 15, of the class counts in one shoe's coups 1…K: K·(diag p − pp′ + (K−1)·S₁₂).

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return rule_covariance(decks).of_counts(coups_per_shoe, coups_per_shoe * (coups_per_shoe - 1))


def covariance_from(full: Sequence[int]) -> TwoCoupCovariance[Kind]:
    """Compute the covariance for any shoe, given as the number of its cards of each point value 0…9.

    Raises InputError for fewer than the 12 cards that two coups may take.
    """
    if sum(full) < 2 * MAX_CARDS:
        raise InputError(expected("12 or more cards for two coups", sum(full), "full"))
    size = sum(full)
    marked = _marked(full)
    deals = [perm(size, cards) for _, _, cards in _LABELS]
    p = [Fraction(int(count), total) for count, total in zip(marked[()], deals, strict=True)]
    pairs, denominator = _pairs(full, marked)
    together = {cards: denominator * perm(size, cards) for cards in range(8, 13)}
    s12 = tuple(
        tuple(Fraction(int(pairs[a, b]), together[one[2] + other[2]]) - p[a] * p[b] for b, other in enumerate(_LABELS))
        for a, one in enumerate(_LABELS)
    )
    return TwoCoupCovariance(_LABELS, tuple(p), s12)


def _labels() -> tuple[Kind, ...]:
    seen = {(cell.rule, cell.outcome, cell.cards) for _, _, cell in patterns()}
    return tuple(sorted(seen, key=lambda label: (RULES.index(label[0]), OUTCOMES.index(label[1]))))


_LABELS: Final = _labels()


@cache
def _orderings() -> Mapping[Values, npt.NDArray[np.int64]]:
    """Count, for every multiset of 4 to 6 point values, its orderings that are one coup of each label."""
    places = {label: place for place, label in enumerate(_LABELS)}
    orderings: dict[Values, npt.NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(_LABELS), np.int64))
    for values, orders, cell in patterns():
        orderings[tuple(sorted(values))][places[cell.rule, cell.outcome, cell.cards]] += orders
    return orderings


def _marked(full: Sequence[int]) -> Mapping[Values, npt.NDArray[np.int64]]:
    """Compute X(j, ·) for every multiset j of point values that a coup from this shoe can hold.

    64 bits are enough: X < 832·831·830·829·828·827 deals of 16 decks times C(6, 3) markings < 2⁶³.
    """
    marked: dict[Values, npt.NDArray[np.int64]] = defaultdict(lambda: np.zeros(len(_LABELS), np.int64))
    for values, orders in _orderings().items():
        deals = orders * draws(full, values)
        if deals.any():
            for size in range(len(values) + 1):
                for chosen in combinations(values, size):
                    marked[chosen] += deals
    return marked


def _pairs(full: Sequence[int], marked: Mapping[Values, npt.NDArray[np.int64]]) -> tuple[npt.NDArray[np.object_], int]:
    """Count the deals of every pair of labels, as whole numbers over one common denominator."""
    same: dict[int, list[npt.NDArray[np.int64]]] = defaultdict(list)
    for chosen, counts in marked.items():
        ways = prod(comb(full[value], chosen.count(value)) for value in set(chosen))
        same[(-1) ** len(chosen) * ways].append(counts)
    denominator = lcm(*same)
    pairs = np.zeros((len(_LABELS), len(_LABELS)), dtype=np.object_)
    for ways, counts_of in same.items():
        rows = np.array(counts_of).astype(np.object_)  # Python's whole numbers: a product needs 128 bits
        pairs += rows.T @ rows * (denominator // ways)
    return pairs, denominator
