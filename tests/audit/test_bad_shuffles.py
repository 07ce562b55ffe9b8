"""The bad shuffles are as bad as their names say: they deal permutations, and with exactly the flaw meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from tests.reference import bad_shuffles

SHUFFLES = [
    bad_shuffles.modulo_16_bits,
    bad_shuffles.swap_with_any_card,
    bad_shuffles.off_by_one,
    bad_shuffles.rotated_digest,
    bad_shuffles.small_seed,
    bad_shuffles.one_riffle,
]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("n", [1, 2, 52, 416])
def test_every_order_has_every_card_once(shuffle: Callable[..., np.ndarray], n: int) -> None:
    orders = shuffle(generator(1), n, 30)
    assert orders.shape == (30, n)
    assert (np.sort(orders, axis=1) == np.arange(n)).all()


def test_swapping_with_any_card_has_the_27_chances_of_three_cards() -> None:
    """4, 5, 5, 5, 4 and 4 of 27: Atwood, "The danger of naïveté" (2007)."""
    orders = bad_shuffles.swap_with_any_card(generator(2), 3, 54_000)
    seen = Counter(map(tuple, orders.tolist()))
    chances = {(0, 1, 2): 4, (0, 2, 1): 5, (1, 0, 2): 5, (1, 2, 0): 5, (2, 0, 1): 4, (2, 1, 0): 4}
    for order, of_27 in chances.items():
        assert abs(seen[order] - 2000 * of_27) < 4 * np.sqrt(2000 * of_27)
    assert min(seen[order] for order, of_27 in chances.items() if of_27 == 5) > max(
        seen[order] for order, of_27 in chances.items() if of_27 == 4
    )


def test_off_by_one_deals_single_cycles_alone() -> None:
    orders = bad_shuffles.off_by_one(generator(3), 5, 2000)
    assert len(set(map(tuple, orders.tolist()))) == 24  # 4! cycles of five cards
    for order in orders.tolist():
        place, steps = order[0], 1
        while place:
            place, steps = order[place], steps + 1
        assert steps == 5


def test_modulo_favours_small_results() -> None:
    """2¹⁶ = 2·30,000 + 5,536: the first 5,536 cards have 3 chances of 65,536 to come first, the others 2."""
    shoes = 400
    low = int((bad_shuffles.modulo_16_bits(generator(4), 30_000, shoes)[:, 0] < 5536).sum())
    for p, is_its in ((5536 * 3 / 2**16, True), (5536 / 30_000, False)):
        assert (abs(low - shoes * p) < 3 * np.sqrt(shoes * p * (1 - p))) == is_its


def test_rotated_digests_tie_neighbours_together() -> None:
    """The next card's key is twice this one's, modulo 1: three in a row rise a quarter of the time, not a sixth."""
    places = bad_shuffles.rotated_digest(generator(5), 416, 400).argsort(axis=1)
    a, b, c = places[:, :-2].ravel(), places[:, 1:-1].ravel(), places[:, 2:].ravel()
    shares = [np.mean(order) for order in ((a < b) & (b < c), (a > b) & (b > c))]
    assert all(abs(share - 1 / 4) < 0.01 for share in shares)  # 1/6 each in a fair shuffle


def test_small_seeds_repeat_shoes() -> None:
    orders = bad_shuffles.small_seed(generator(6), 416, 2000, bits=8)
    assert len(set(map(tuple, orders.tolist()))) == 256
    assert len(set(map(tuple, bad_shuffles.small_seed(generator(6), 416, 2000).tolist()))) == 2000


def test_one_riffle_leaves_two_rising_sequences() -> None:
    places = bad_shuffles.one_riffle(generator(7), 52, 500).argsort(axis=1)
    rising = 1 + (np.diff(places, axis=1) < 0).sum(axis=1)
    assert set(rising.tolist()) <= {1, 2}
    fair = generator(7).permuted(np.tile(np.arange(52), (500, 1)), axis=1).argsort(axis=1)
    assert (1 + (np.diff(fair, axis=1) < 0).sum(axis=1)).min() > 10
