"""Card types at positions: calibrated, exact by enumeration, sharp on packs that went wrong."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2_contingency, kstest

from audit.checks.positions import count_types, pooled_types, types_by_position
from shoe.errors import InputError
from shoe.game.cards import POINTS
from tests.reference import bad_shuffles

VALUES = [POINTS[card] for card in range(52)]
COMPOSITION = [16, 4, 4, 4, 4, 4, 4, 4, 4, 4]
TWO_KINDS = [0, 0, 0, 1, 1]


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def fair(size: int, shoes: int, seed: int) -> np.ndarray:
    return generator(seed).permuted(np.tile(np.arange(size, dtype=np.uint16), (shoes, 1)), axis=1)


@pytest.mark.parametrize("seen", [6, 20, 45])
@pytest.mark.parametrize("check", [types_by_position, pooled_types])
def test_p_of_fair_shuffles_is_uniform(check: Any, seen: int) -> None:
    """300 audits of 400 shoes of one deck, of which six, 20 or 45 positions are seen."""
    p = [check(count_types(fair(52, 400, seed)[:, :seen], VALUES), COMPOSITION).p for seed in range(300)]
    assert kstest(p, "uniform").pvalue > 0.001
    for level in (0.05, 0.01):
        assert sum(q <= level for q in p) <= binom.isf(0.001, 300, level)


def test_variance_of_pooled_counts_is_hypergeometric() -> None:
    """All 120 orders of three cards of one kind and two of the other: m·f(1−f)(N−m)/(N−1)."""
    orders = np.array(list(permutations(range(5))))
    kinds = np.array(TWO_KINDS)[orders]
    for seen in range(1, 5):
        counts = (kinds[:, :seen] == 0).sum(axis=1)
        f = Fraction(3, 5)
        variance = Fraction(int((counts**2).sum()), 120) - (seen * f) ** 2
        assert variance == seen * f * (1 - f) * Fraction(5 - seen, 4)


def test_variance_between_positions_is_enlarged_by_the_pack_being_finite() -> None:
    """All orders: the sum of squares around the pooled count has mean (m−1)·f(1−f)·N/(N−1) a kind and shoe."""
    orders = np.array(list(permutations(range(5))))
    at = (np.array(TWO_KINDS)[orders] == 0).astype(int)
    for seen in range(2, 6):
        rows = at[:, :seen]
        mean = rows.sum(axis=1, keepdims=True)
        spread = Fraction(int(((seen * rows - mean) ** 2).sum()), 120 * seen * seen)
        f = Fraction(3, 5)
        assert spread == (seen - 1) * f * (1 - f) * Fraction(5, 4)


def test_types_by_position_is_the_contingency_table_corrected() -> None:
    counts = count_types(fair(52, 500, 1)[:, :20], VALUES)
    textbook = chi2_contingency(counts, correction=False)
    result = types_by_position(counts, COMPOSITION)
    assert result.statistic == pytest.approx(textbook.statistic * 51 / 52, rel=1e-9)
    assert result.dof == textbook.dof == 19 * 9
    assert result.n == 500 * 20


def test_types_that_never_came_are_left_out() -> None:
    counts = count_types(np.array([[0, 1], [1, 0], [0, 0]]), [0, 1, 2])
    assert counts.tolist() == [[2, 1, 0], [2, 1, 0]]
    result = types_by_position(counts, [4, 4, 4])
    assert (result.statistic, result.dof, result.p) == (0.0, 1, 1.0)


def test_a_riffle_leaves_types_in_their_places() -> None:
    assert types_by_position(count_types(bad_shuffles.one_riffle(generator(1), 52, 100), VALUES), COMPOSITION).p < 1e-6


def test_a_missing_card_is_seen_in_the_pooled_types() -> None:
    """Decks of which every nine of hearts is a ten: 3 nines and 17 tens."""
    kinds = [0 if card == 47 else value for card, value in enumerate(VALUES)]
    counts = count_types(fair(52, 1000, 2)[:, :40], kinds)
    assert pooled_types(counts, COMPOSITION).p < 1e-6
    assert types_by_position(counts, COMPOSITION).p > 0.001
    assert pooled_types(counts, np.bincount(kinds).tolist()).p > 0.001


def test_whole_shoes_hold_every_card_for_certain() -> None:
    counts = count_types(fair(52, 30, 3), VALUES)
    result = pooled_types(counts, COMPOSITION)
    assert (result.p, result.statistic, result.distribution) == (1.0, 0.0, "0 for certain")
    counts[7, 2] -= 1
    counts[7, 3] += 1
    assert pooled_types(counts, COMPOSITION).p == 0.0


def test_counts_add_up() -> None:
    orders = fair(52, 90, 4)
    parts = count_types(orders[:30], VALUES) + count_types(orders[30:], VALUES)
    assert np.array_equal(parts, count_types(orders, VALUES))
    assert parts[0].sum() == 90


@pytest.mark.parametrize(
    ("counts", "composition", "message"),
    [
        ([[1, 2, 3]], [4, 4], r"^counts: expected counts of 2 types, got \(1, 3\)$"),
        ([[0, 0]], [4, 4], r"^counts: expected as many cards, 1 or more, at each position, got \[0\]$"),
        ([[1, 2], [2, 2]], [4, 4], r"^counts: expected as many cards, 1 or more, at each position, got \[3, 4\]$"),
        ([[1, 2]] * 9, [4, 4], r"^counts: expected 1 to 8 positions, got 9$"),
        ([[1]], [4], r"^composition: expected 2 or more types, each of 1 or more cards, got \[4\]$"),
        ([[1, 0]], [4, 0], r"^composition: expected 2 or more types, each of 1 or more cards, got \[4, 0\]$"),
    ],
)
@pytest.mark.parametrize("check", [types_by_position, pooled_types])
def test_counts_of_the_wrong_form_are_refused(check: Any, counts: Any, composition: list[int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check(np.array(counts), composition)


def test_one_position_cannot_be_compared() -> None:
    with pytest.raises(InputError, match=r"^counts: expected 2 or more positions, got 1$"):
        types_by_position(np.array([[1, 2]]), [4, 4])


def test_a_card_without_type_is_refused() -> None:
    with pytest.raises(InputError, match=r"^cards: expected cards 0…51, got \[0, 52\]$"):
        count_types(np.array([[0, 52]]), VALUES)
