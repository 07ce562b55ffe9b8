"""Statistics of whole orders, uint16[S, n]: physical cards 0 … n−1 in the order dealt; counts add up over blocks.

Each statistic is a sum over cards that costs O(S·n·log n) or, where the shoes' sizes make it the faster way, O(S·n·√n)
(increasing subsequences) and O(S·n²) (inversions, products of positions), in memory of a few times the orders.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from shoe.errors import InputError, expected
from shoe.game.cards import DECK

Ints = npt.NDArray[np.int64]
Orders = npt.NDArray[np.uint16]

RANKS: Final = 13


@dataclass(frozen=True, slots=True)
class ShuffleCounts:
    """What is counted on the orders of `shoes` shoes of `size` cards; ``a + b`` counts both.

    `table` is n × n: how often card c came at position i. `products` is n × n: Σ wᵢwⱼ of the cards at positions i
    and j, w = 2c − (n−1). `lengths` counts shoes by their longest increasing subsequence, `ascents` and `falls` the
    maximal stretches of neighbours kept in fresh or in reversed order, by their neighbours. The others are sums.
    """

    size: int
    shoes: int
    table: Ints
    products: Ints
    lengths: Ints
    ascents: Ints
    falls: Ints
    fixed_points: int
    cycles: int
    descents: int
    rising_sequences: int
    inversions: int
    neighbours_kept: int
    same_rank: int

    def __add__(self, other: ShuffleCounts) -> ShuffleCounts:
        if self.size != other.size:
            raise InputError(expected(f"counts of shoes of {self.size} cards", other.size, "shuffles"))
        sums = (getattr(self, each.name) + getattr(other, each.name) for each in fields(self)[1:])
        return ShuffleCounts(self.size, *sums)


def count_shuffles(orders: Orders) -> ShuffleCounts:
    """Count one block of orders.

    Raises InputError for anything but orders uint16[S, n] of 2 or more cards, each a permutation of 0 … n−1.
    """
    inverse = inverse_of(orders)
    shoes, size = orders.shape
    forwards, backwards = stretches(orders, 1), stretches(orders, -1)
    return ShuffleCounts(
        size=size,
        shoes=shoes,
        table=_table(orders),
        products=_products(orders),
        lengths=np.bincount(longest_increasing(orders), minlength=size + 1),
        ascents=forwards,
        falls=backwards,
        fixed_points=int((orders == np.arange(size)).sum()),
        cycles=int(cycles(orders).sum()),
        descents=int(descents(orders).sum()),
        rising_sequences=int(descents(inverse).sum()) + shoes,
        inversions=int(inversions(orders).sum()),
        neighbours_kept=int((forwards * np.arange(size)).sum()),
        same_rank=int(same_rank(orders).sum()),
    )


def inverse_of(orders: Orders) -> Orders:
    """Find the position of every card. Raises InputError unless each row is a permutation of 0 … n−1, n ≥ 2."""
    shoes, size = orders.shape
    if size < 2:
        raise InputError(expected("orders of 2 or more cards", size, "orders"))
    if orders.size and int(orders.max()) >= size:
        raise InputError(expected(f"cards 0…{size - 1}", int(orders.max()), "orders"))
    inverse = np.full((shoes, size), size, dtype=np.uint16)
    np.put_along_axis(inverse, orders.astype(np.intp), np.arange(size, dtype=np.uint16)[None, :], axis=1)
    if (inverse == size).any():
        shoe = int((inverse == size).any(axis=1).argmax())
        raise InputError(expected("every card once", "a card twice", f"orders, shoe {shoe}"))
    return inverse


def descents(orders: Orders) -> Ints:
    """Count, shoe by shoe, the cards followed by a lower one."""
    return _true_by_shoe(orders[:, 1:] < orders[:, :-1])


def same_rank(orders: Orders) -> Ints:
    """Count, shoe by shoe, the neighbours of equal rank."""
    ranks = orders % DECK % RANKS
    return _true_by_shoe(ranks[:, 1:] == ranks[:, :-1])


def inversions(orders: Orders) -> Ints:
    """Count, shoe by shoe, the pairs of cards of which the higher comes first."""
    total = np.zeros(len(orders), np.int64)
    for i in range(orders.shape[1] - 1):
        total += _true_by_shoe(orders[:, i + 1 :] < orders[:, i : i + 1])
    return total


def cycles(orders: Orders) -> Ints:
    """Count the cycles of each order, taken as the permutation that puts card orders[i] at position i.

    Doubling the steps log₂ n times finds the lowest card of each one's cycle; a cycle has one that is its own lowest.
    """
    size = orders.shape[1]
    jump = orders.astype(np.intp)
    lowest = np.minimum(jump, np.arange(size))
    for _ in range(size.bit_length()):
        lowest = np.minimum(lowest, np.take_along_axis(lowest, jump, axis=1))
        jump = np.take_along_axis(jump, jump, axis=1)
    return _true_by_shoe(lowest == np.arange(size))


def longest_increasing(orders: Orders) -> Ints:
    """Find the length of each order's longest increasing subsequence by patience sorting, all shoes at once.

    Source: Knuth, TAOCP vol. 3, §5.1.4; Aldous and Diaconis, Bulletin of the AMS 36 (1999).
    """
    shoes, size = orders.shape
    none = np.iinfo(np.uint16).max
    tops = np.full((shoes, 4), none, dtype=np.uint16)
    each = np.arange(shoes)
    for i in range(size):
        card = orders[:, i]
        pile = _true_by_shoe(tops < card[:, None])
        if pile.max(initial=0) == tops.shape[1]:
            tops = np.concatenate([tops, np.full((shoes, 8), none, dtype=np.uint16)], axis=1)
        tops[each, pile] = card
    return _true_by_shoe(tops != none)


def stretches(orders: Orders, direction: int) -> Ints:
    """Count maximal stretches of neighbours that differ by `direction` (1 or −1), by neighbours: 0 … n−1.

    Entry 0 stays 0: no stretch is empty.
    """
    shoes, size = orders.shape
    kept = np.zeros((shoes, size + 1), np.bool_)
    signed = orders.astype(np.int32)
    kept[:, 1:size] = np.diff(signed, axis=1) == direction
    edges = np.flatnonzero(np.diff(kept.ravel()))
    return np.bincount(edges[1::2] - edges[::2], minlength=size)


def _true_by_shoe(holds: npt.NDArray[np.bool_]) -> Ints:
    return np.asarray(np.count_nonzero(holds, axis=1), dtype=np.int64)


def _table(orders: Orders) -> Ints:
    size = orders.shape[1]
    cells = orders.astype(np.int64) + size * np.arange(size)
    return np.bincount(cells.ravel(), minlength=size * size).reshape(size, size)


def _products(orders: Orders) -> Ints:
    """Sum wᵢwⱼ by doubles: whole numbers below 2⁵³ for up to 10¹⁰ shoes of a block, so exact in any order."""
    centred = 2 * orders.astype(np.float64) - (orders.shape[1] - 1)
    return np.asarray(centred.T @ centred, dtype=np.int64)
