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
from functools import cache, cached_property
from itertools import combinations
from math import comb, lcm, perm, prod
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from audit.exact import Cell, draws, multiplicities, patterns
from shoe.errors import InputError, expected
from shoe.game.tableau import MAX_CARDS, OUTCOMES, RULES, Outcome

Label = TypeVar("Label", bound=Hashable)
Merged = TypeVar("Merged", bound=Hashable)
Kind = tuple[str, Outcome, int]  # rule class, outcome, cards used
Joint = tuple[int, int, int]  # player total, banker total, cards used
Values = tuple[int, ...]
Marked = Mapping[Values, npt.NDArray[np.int64]]


@dataclass(frozen=True)
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
        V = coups·(diag p − pp′) + pairs·S₁₂, of which each entry is good to a few units of a double's last place.
        """
        single, double = self._floats
        return coups * single + pairs * double

    def quadratic(self, above: npt.NDArray[np.float64], coups: int, pairs: int) -> float:
        """Compute d′V⁻d for counts that lie `above` (R) their expectations and by so much add up to nothing.

        With the eigenvectors u and eigenvalues λ of S₁₂/√(pp′) it is Σ (u·d/√p)²/(coups + pairs·λ): these are found
        once for any number of counts. Every p has to be positive.
        """
        roots, values, vectors = self._spectrum
        return float(((above / roots @ vectors) ** 2 / (coups + pairs * values)).sum())

    @cached_property
    def _spectrum(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        roots = np.sqrt(np.array(self.p, dtype=np.float64))
        values, vectors = np.linalg.eigh(self._floats[1] / np.outer(roots, roots))
        return roots, values, vectors

    @cached_property
    def _floats(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        single = [[p * ((a == b) - q) for b, q in enumerate(self.p)] for a, p in enumerate(self.p)]
        return np.array(single, dtype=np.float64), np.array(self.s12, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Partition(Generic[Label]):
    """A way to sort coups: the label of each cell, all labels in order, and the cards that a coup of each takes."""

    key: Callable[[Cell], Label]
    labels: tuple[Label, ...]
    cards: tuple[int, ...]


@cache
def two_coup_covariance(decks: int) -> TwoCoupCovariance[Kind]:
    """Compute the covariance for a full shoe, by (rule class, outcome, cards used), in about a second.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return covariance_by(kinds(), multiplicities(decks))


@cache
def joint_covariance(decks: int) -> TwoCoupCovariance[Joint]:
    """Compute the covariance by (player total, banker total, cards used), 198 labels, in a few seconds.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return covariance_by(joints(), multiplicities(decks))


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
    """Compute the covariance by `kinds` for any shoe, given as the number of its cards of each point value 0…9.

    Raises InputError for fewer than the 12 cards that two coups may take.
    """
    return covariance_by(kinds(), full)


def covariance_by(partition: Partition[Label], full: Sequence[int]) -> TwoCoupCovariance[Label]:
    """Compute the covariance of a partition's labels for any shoe; `full` and errors as in `covariance_from`."""
    size = sum(full)
    if size < 2 * MAX_CARDS:
        raise InputError(expected("12 or more cards for two coups", size, "full"))
    marked = _marked(full, partition)
    deals = [perm(size, cards) for cards in partition.cards]
    ones = [int(count) for count in marked[()]]
    pairs, denominator = _pairs(full, marked)
    s12 = [[Fraction(0)] * len(ones) for _ in ones]
    for a, one in enumerate(ones):
        for b in range(a + 1):
            together = denominator * perm(size, partition.cards[a] + partition.cards[b])
            apart = deals[a] * deals[b]
            s12[a][b] = s12[b][a] = Fraction(int(pairs[a, b]) * apart - one * ones[b] * together, together * apart)
    p = tuple(Fraction(one, total) for one, total in zip(ones, deals, strict=True))
    return TwoCoupCovariance(partition.labels, p, tuple(map(tuple, s12)))


@cache
def kinds() -> Partition[Kind]:
    """Sort coups by rule class, outcome and cards used."""
    return _partition(_kind, lambda kind: kind[2], lambda kind: (RULES.index(kind[0]), OUTCOMES.index(kind[1])))


@cache
def joints() -> Partition[Joint]:
    """Sort coups by both totals and cards used: 198 labels."""
    return _partition(_joint, lambda joint: joint[2], lambda joint: joint)


def _partition(
    key: Callable[[Cell], Label], cards: Callable[[Label], int], order: Callable[[Label], object]
) -> Partition[Label]:
    labels = tuple(sorted({key(cell) for _, _, cell in patterns()}, key=order))  # type: ignore[arg-type]
    return Partition(key, labels, tuple(map(cards, labels)))


def _kind(cell: Cell) -> Kind:
    return cell.rule, cell.outcome, cell.cards


def _joint(cell: Cell) -> Joint:
    return cell.player_total, cell.banker_total, cell.cards


def _marked(full: Sequence[int], partition: Partition[Label]) -> Marked:
    """Compute X(j, ·) for every multiset j of point values that a coup from this shoe can hold.

    64 bits are enough: X < 832·831·830·829·828·827 deals of 16 decks times C(6, 3) markings < 2⁶³.
    """
    places = {label: place for place, label in enumerate(partition.labels)}
    zeros = np.zeros(len(places), np.int64)
    deals: dict[Values, npt.NDArray[np.int64]] = defaultdict(zeros.copy)
    for values, orders, cell in patterns():
        deals[tuple(sorted(values))][places[partition.key(cell)]] += orders * draws(full, values)
    marked: dict[Values, npt.NDArray[np.int64]] = defaultdict(zeros.copy)
    for values, counts in deals.items():
        if counts.any():
            for size in range(len(values) + 1):
                for chosen in combinations(values, size):
                    marked[chosen] += counts
    return marked


def _pairs(full: Sequence[int], marked: Marked) -> tuple[npt.NDArray[np.object_], int]:
    """Count the deals of every pair of labels, as whole numbers over one common denominator."""
    same: dict[int, list[npt.NDArray[np.int64]]] = defaultdict(list)
    for chosen, counts in marked.items():
        ways = prod(comb(full[value], chosen.count(value)) for value in set(chosen))
        same[(-1) ** len(chosen) * ways].append(counts)
    denominator = lcm(*same)
    width = len(marked[()])
    pairs = np.zeros((width, width), dtype=np.object_)
    for ways, rows in same.items():
        for start in range(0, len(rows), _EXACT_ROWS):
            pairs += _gram(np.array(rows[start : start + _EXACT_ROWS])) * (denominator // ways)
    return pairs, denominator


_LIMB: Final = 21
_EXACT_ROWS: Final = 2048


def _gram(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.object_]:
    """Compute rows′·rows for whole numbers 0…2⁶³−1, exactly, by doubles.

    In three limbs of 21 bits every sum over at most 2,048 rows of products of limbs is below 2⁵³.
    """
    limbs = [((rows >> (_LIMB * place)) & (2**_LIMB - 1)).astype(np.float64) for place in range(3)]
    total = np.zeros((rows.shape[1],) * 2, dtype=np.object_)
    for place in range(5):
        same = [(limbs[a].T @ limbs[place - a]).astype(np.int64) for a in range(3) if 0 <= place - a < 3]
        total += np.sum(same, axis=0).astype(np.object_) << (_LIMB * place)
    return total
