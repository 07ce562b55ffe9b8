"""Statistics of orders: every order of a few cards, published triangles of numbers, and slow definitions."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields
from fractions import Fraction
from itertools import pairwise, permutations
from math import factorial

import numpy as np
import pytest

from audit import shuffle_counts
from audit.checks.shuffles import same_rank_law
from audit.shuffle_counts import ShuffleCounts, count_shuffles, inverse_of, stretches
from shoe.errors import InputError
from tests.reference import permutations_reference as slow


def every_order(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))), dtype=np.uint16)


def shuffled(size: int, shoes: int, seed: int = 1) -> np.ndarray:
    generator = np.random.Generator(np.random.PCG64(seed))
    return generator.permuted(np.tile(np.arange(size, dtype=np.uint16), (shoes, 1)), axis=1)


def rising(orders: np.ndarray) -> np.ndarray:
    return shuffle_counts.descents(inverse_of(orders)) + 1


def kept(orders: np.ndarray) -> np.ndarray:
    return np.array([int((stretches(order[None], 1) * np.arange(len(order))).sum()) for order in orders])


def fixed(orders: np.ndarray) -> np.ndarray:
    return np.array([count_shuffles(order[None]).fixed_points for order in orders])


# For six cards, as Knuth prints them: Eulerian numbers (TAOCP vol. 3, table 5.1.3-1), Stirling numbers of the first
# kind (vol. 1, table 1.2.6-2), inversions (vol. 3, table 5.1.1-1); rencontres numbers (OEIS A008290).
PUBLISHED = {
    "descents": (shuffle_counts.descents, [1, 57, 302, 302, 57, 1]),
    "rising sequences": (rising, [0, 1, 57, 302, 302, 57, 1]),
    "cycles": (shuffle_counts.cycles, [0, 120, 274, 225, 85, 15, 1]),
    "inversions": (shuffle_counts.inversions, [1, 5, 14, 29, 49, 71, 90, 101, 101, 90, 71, 49, 29, 14, 5, 1]),
    "fixed points": (fixed, [265, 264, 135, 40, 15, 0, 1]),
}


@pytest.mark.parametrize(("statistic", "triangle"), PUBLISHED.values(), ids=PUBLISHED.keys())
def test_all_orders_of_six_cards_count_as_published(statistic: object, triangle: list[int]) -> None:
    values = statistic(every_order(6))
    assert np.bincount(values).tolist() == triangle


def harmonic(n: int, power: int = 1) -> Fraction:
    return sum((Fraction(1, k**power) for k in range(1, n + 1)), Fraction(0))


# Means and variances that the checks state, as functions of n.
MOMENTS = {
    "fixed points": (fixed, lambda n: Fraction(1), lambda n: Fraction(1)),
    "cycles": (shuffle_counts.cycles, harmonic, lambda n: harmonic(n) - harmonic(n, 2)),
    "descents": (shuffle_counts.descents, lambda n: Fraction(n - 1, 2), lambda n: Fraction(n + 1, 12)),
    "rising sequences": (rising, lambda n: Fraction(n + 1, 2), lambda n: Fraction(n + 1, 12)),
    "inversions": (
        shuffle_counts.inversions,
        lambda n: Fraction(n * (n - 1), 4),
        lambda n: Fraction(n * (n - 1) * (2 * n + 5), 72),
    ),
    "neighbours kept": (kept, lambda n: Fraction(n - 1, n), lambda n: Fraction(n * n - n - 1, n * n)),
}


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("n", [2, 4, 5, 6])
def test_moments_are_those_of_all_orders(name: str, n: int) -> None:
    statistic, mean, variance = MOMENTS[name]
    values = [int(value) for value in statistic(every_order(n))]
    average = Fraction(sum(values), factorial(n))
    assert average == mean(n)
    assert Fraction(sum(v * v for v in values), factorial(n)) - average**2 == variance(n)


def test_stretches_of_all_orders_have_the_stated_mean() -> None:
    """Eᵣ = (n−r)(n−r)!/n!: stretches of r or more neighbours begin Eᵣ − Eᵣ₊₁ times an order on average."""
    n = 7
    for direction in (1, -1):
        found = stretches(every_order(n), direction)
        for r in range(1, n):
            mean = Fraction((n - r) * factorial(n - r) - (n - r - 1) * factorial(n - r - 1), factorial(n))
            assert Fraction(int(found[r:].sum()), factorial(n)) == mean


def test_same_rank_moments_as_published_and_by_simulation() -> None:
    mean, variance = same_rank_law(8)
    assert mean == 31
    assert round(float(variance), 3) == 28.684
    values = shuffle_counts.same_rank(shuffled(52, 40_000))
    mean, variance = same_rank_law(1)
    assert abs(values.mean() - float(mean)) < 4 * np.sqrt(float(variance) / 40_000)
    assert abs(values.var() / float(variance) - 1) < 4 * np.sqrt(2.5 / 40_000)


@pytest.mark.parametrize(("size", "shoes"), [(2, 4), (7, 50), (52, 40), (104, 10)])
def test_counts_are_sums_of_slow_definitions(size: int, shoes: int) -> None:
    orders = shuffled(size, shoes)
    rows = orders.tolist()
    counts = count_shuffles(orders)
    assert (counts.size, counts.shoes) == (size, shoes)
    for name in ("fixed_points", "cycles", "descents", "rising_sequences", "inversions", "neighbours_kept"):
        assert getattr(counts, name) == sum(getattr(slow, name)(row) for row in rows), name
    lengths = Counter(slow.longest_increasing(row) for row in rows)
    assert {k: n for k, n in enumerate(counts.lengths.tolist()) if n} == lengths
    for found, direction in ((counts.ascents, 1), (counts.falls, -1)):
        expected = Counter(length for row in rows for length in slow.stretches(row, direction))
        assert {k: n for k, n in enumerate(found.tolist()) if n} == expected
    weights = [[2 * card - (size - 1) for card in row] for row in rows]
    for i, j in ((0, 1), (size - 1, 0), (1, 1)):
        assert counts.products[i, j] == sum(row[i] * row[j] for row in weights)
    assert counts.table[1].tolist() == [sum(row[1] == card for row in rows) for card in range(size)]
    ranks = [[card % 13 for card in row] for row in rows]
    assert counts.same_rank == sum(a == b for row in ranks for a, b in pairwise(row))


def test_the_fresh_shoe_is_one_stretch() -> None:
    fresh = np.arange(52, dtype=np.uint16)[None]
    counts = count_shuffles(fresh)
    assert (counts.cycles, counts.fixed_points, counts.rising_sequences, counts.inversions) == (52, 52, 1, 0)
    assert np.flatnonzero(counts.ascents).tolist() == [51]
    assert counts.falls.sum() == 0
    reversed_shoe = count_shuffles(fresh[:, ::-1])
    assert np.flatnonzero(reversed_shoe.falls).tolist() == [51]
    assert (reversed_shoe.inversions, reversed_shoe.rising_sequences) == (52 * 51 // 2, 52)


def test_counts_add_up_in_any_split() -> None:
    orders = shuffled(52, 90)
    whole = count_shuffles(orders)
    parts = [count_shuffles(orders[start:stop]) for start, stop in ((50, 90), (0, 1), (1, 50))]
    together = parts[0] + parts[1] + parts[2]
    other = parts[2] + (parts[1] + parts[0])
    for each in fields(ShuffleCounts):
        for counts in (together, other):
            assert np.array_equal(getattr(counts, each.name), getattr(whole, each.name)), each.name


def test_counts_of_different_shoes_do_not_add_up() -> None:
    with pytest.raises(InputError, match=r"^shuffles: expected counts of shoes of 52 cards, got 104$"):
        count_shuffles(shuffled(52, 1)) + count_shuffles(shuffled(104, 1))


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([[0]], r"^orders: expected orders of 2 or more cards, got 1$"),
        ([[0, 1, 3]], r"^orders: expected cards 0…2, got 3$"),
        ([[2, 1, 0], [0, 1, 1]], r"^orders, shoe 1: expected every card once, got 'a card twice'$"),
    ],
)
def test_what_is_no_order_is_refused(orders: list[list[int]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        count_shuffles(np.array(orders, dtype=np.uint16))
