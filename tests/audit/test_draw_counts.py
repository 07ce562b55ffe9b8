"""Draws read off orders, levels exactly even, and counts by slow definitions after Knuth."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product
from math import prod

import numpy as np
import pytest

from audit import draw_counts
from audit.draw_counts import BINS, FINE_LEVELS, LEVELS, STEPS, Draws, count_draws, draws_of
from shoe.errors import InputError
from tests.reference import shuffle_reference


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def draws(size: int, shoes: int, seed: int) -> Draws:
    bounds = np.arange(size, 1, -1)
    return Draws(generator(seed).integers(0, bounds, (shoes, size - 1)), bounds)


def test_draws_are_those_that_give_the_order_by_the_reference() -> None:
    orders = generator(1).permuted(np.tile(np.arange(52, dtype=np.uint16), (20, 1)), axis=1)
    found = draws_of(orders)
    for values, order in zip(found.values.tolist(), orders.tolist(), strict=True):
        expected = shuffle_reference.draws_that_give(range(52), order)
        assert list(zip(values, found.bounds.tolist(), strict=True)) == expected


def test_every_order_has_draws_of_its_own() -> None:
    """All 720 orders of six cards give all 6·5·4·3·2 runs of draws."""
    found = draws_of(np.array(list(permutations(range(6))), dtype=np.uint16))
    assert set(map(tuple, found.values.tolist())) == set(product(*(range(bound) for bound in (6, 5, 4, 3, 2))))


def test_draws_and_shuffle_are_inverse() -> None:
    values = draws(416, 3, 2).values
    for run in values.tolist():
        order = shuffle_reference.shuffle(range(416), lambda bound, run=run: run[416 - bound])
        assert draws_of(np.array([order], dtype=np.uint16)).values[0].tolist() == run


@pytest.mark.parametrize("step", STEPS)
def test_steps_begin_with_the_first_draw(step: int) -> None:
    chosen = draws(52, 2, 1).every(step)
    assert chosen.bounds.tolist() == list(range(52, 1, -step))
    assert chosen.values.tolist() == [row[::step] for row in draws(52, 2, 1).values.tolist()]


@pytest.mark.parametrize("levels", [LEVELS, FINE_LEVELS, 3])
@pytest.mark.parametrize("bound", [2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 52, 416])
def test_every_level_has_as_many_values_as_any_other(bound: int, levels: int) -> None:
    found = Draws(np.arange(bound)[:, None], np.array([bound])).levels(levels)
    assert (
        sorted(Counter(found.tolist()).items())
        == [(level, bound // levels) for level in range(levels)][: len(set(found.tolist()))]
    )
    assert len(found) == bound - bound % levels if bound >= levels else len(found) == 0
    assert found.tolist() == sorted(found.tolist())


def test_levels_come_shoe_after_shoe() -> None:
    """Bounds 10, 9, 8: from 8 levels a value each; 8 and 9 of 10, and 8 of 9, are passed over."""
    values = np.array([[9, 0, 7], [3, 8, 0], [7, 7, 1]])
    assert Draws(values, np.array([10, 9, 8])).levels(8).tolist() == [0, 7, 3, 0, 7, 7, 1]


def test_numbers_are_even_to_within_one_over_their_span() -> None:
    """Every run of four draws below 70, 65, 64, 63: bins differ by a share of 2⁻²⁴ at most."""
    bounds = np.array([70, 65, 64, 63])
    span = prod(bounds.tolist())
    places = np.arange(span)
    values = np.empty((span, 4), np.int64)
    for column in (3, 2, 1, 0):
        values[:, column], places = places % bounds[column], places // bounds[column]
    counts = np.bincount(Draws(values, bounds).numbers(), minlength=BINS)
    assert len(counts) == BINS
    assert counts.max() - counts.min() <= 1


def test_numbers_are_the_mixed_fractions_that_they_are_said_to_be() -> None:
    chosen = draws(52, 30, 5)
    found = chosen.numbers().reshape(30, -1)
    for row, numbers in zip(chosen.values.tolist(), found.tolist(), strict=True):
        u, span, expected = Fraction(0), 1, []
        for value, bound in zip(row, range(52, 1, -1), strict=True):
            span *= bound
            u += Fraction(value, span)
            if span >= 2**24:
                expected.append(int(u * BINS))
                u, span = Fraction(0), 1
        assert numbers == expected


def test_draws_with_too_small_a_span_make_no_numbers() -> None:
    assert draws(8, 3, 1).numbers().tolist() == []  # 8! is less than 2²⁴


# Counts, by the words of TAOCP vol. 2, §3.3.2.


def test_gaps_by_hand() -> None:
    """Before the first 0 two others, then none, then three: as far as surely complete."""
    levels = [1, 7, 0, 0, 5, 5, 5, 0] * 100
    found = draw_counts.gap_counts(np.array(levels))
    counted = int(found.sum())
    expected = Counter(([2, 0, 3] * 200)[:counted])
    assert 30 < counted < 300
    assert {length: n for length, n in enumerate(found.tolist()) if n} == expected


def test_gaps_and_collections_by_their_words() -> None:
    levels = generator(3).integers(0, LEVELS, 20_000)
    gaps, waited = [], 0
    for level in levels.tolist():
        if level == 0:
            gaps.append(min(waited, draw_counts.LONGEST_GAP))
            waited = 0
        else:
            waited += 1
    lengths, met, length = [], set[int](), 0
    for level in levels.tolist():
        met.add(level)
        length += 1
        if len(met) == LEVELS:
            lengths.append(min(length, draw_counts.LONGEST_COLLECTION))
            met, length = set(), 0
    for complete, found in (
        (gaps, draw_counts.gap_counts(levels)),
        (lengths, draw_counts.collection_counts(levels)),
    ):
        counted = int(found.sum())
        assert 0.8 * len(complete) < counted <= len(complete)
        assert {k: n for k, n in enumerate(found.tolist()) if n} == Counter(complete[:counted])


def test_a_sequence_without_what_is_looked_for_counts_nothing() -> None:
    assert draw_counts.gap_counts(np.full(5000, 3)).sum() == 0
    assert draw_counts.collection_counts(np.full(5000, 3)).sum() == 0
    for count in (draw_counts.gap_counts, draw_counts.collection_counts, draw_counts.hand_counts):
        assert count(np.zeros(0, np.int64)).sum() == 0


def test_hands_orders_and_maxima_by_their_words() -> None:
    levels = generator(4).integers(0, FINE_LEVELS, 9_999)
    fives = [levels[i : i + 5].tolist() for i in range(0, 9_995, 5)]
    fours = [levels[i : i + 4].tolist() for i in range(0, 9_996, 4)]
    assert draw_counts.hand_counts(levels).tolist() == [sum(len(set(five)) == r for five in fives) for r in range(6)]
    assert draw_counts.maximum_counts(levels).tolist() == [
        sum(max(five) == top for five in fives) for top in range(FINE_LEVELS)
    ]
    seen = Counter(tuple(sorted(range(4), key=four.__getitem__)) for four in fours if len(set(four)) == 4)
    found = draw_counts.permutation_counts(levels)
    assert sorted(found.tolist()) == sorted(seen.values())
    assert len(found) == len(seen) == 24


def test_each_order_of_four_has_a_number_of_its_own() -> None:
    numbers = [draw_counts.permutation_counts(np.array(order)).tolist() for order in permutations(range(4))]
    assert [number.index(1) for number in numbers] == list(range(24))


def test_sums_of_centred_draws_by_their_words() -> None:
    chosen = draws(52, 40, 6)
    w = [
        [2 * value - (bound - 1) for value, bound in zip(row, range(52, 1, -1), strict=True)]
        for row in chosen.values.tolist()
    ]
    counts = count_draws(chosen)
    for counted, step in zip(counts.steps, STEPS, strict=True):
        rows = [row[::step] for row in w]
        assert counted.total == sum(map(sum, rows))
        assert counted.products == sum(a * b for row in rows for a, b in pairwise(row))


def test_cells_count_every_value_of_every_draw() -> None:
    chosen = draws(6, 500, 7)
    cells = count_draws(chosen).cells.tolist()
    expected = [
        int((chosen.values[:, column] == value).sum())
        for column, bound in enumerate((6, 5, 4, 3, 2))
        for value in range(bound)
    ]
    assert cells == expected


def test_counts_of_blocks_add_up_in_any_order() -> None:
    a, b, c = (count_draws(draws(52, shoes, shoes)) for shoes in (30, 50, 7))
    one, other = a + b + c, c + (b + a)
    assert one.shoes == other.shoes == 87
    assert np.array_equal(one.cells, other.cells)
    for left, right in zip(one.steps, other.steps, strict=True):
        for name in ("numbers", "gaps", "hands", "collections", "permutations", "maxima"):
            assert np.array_equal(getattr(left, name), getattr(right, name))
        assert (left.total, left.products) == (right.total, right.products)


def test_counts_of_different_shoes_do_not_add_up() -> None:
    with pytest.raises(InputError, match=r"^draws: expected counts of shoes of 52 cards, got 104$"):
        count_draws(draws(52, 1, 1)) + count_draws(draws(104, 1, 1))


def test_an_order_of_one_card_has_no_draws() -> None:
    with pytest.raises(InputError, match=r"^orders: expected orders of 2 or more cards, got 1$"):
        draws_of(np.zeros((3, 1), dtype=np.uint16))
