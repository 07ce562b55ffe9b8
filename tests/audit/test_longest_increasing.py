"""The exact law of the longest increasing subsequence: all orders, all Young tableaux, published counts, simulation."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import accumulate, permutations
from math import comb, factorial

import numpy as np
import pytest
from scipy.stats import chisquare

from audit.longest_increasing import longest_increasing_law
from audit.shuffle_counts import longest_increasing
from shoe.errors import InputError
from tests.reference import permutations_reference as slow

# Orders of n = 1, 2 … cards without an increasing subsequence of more than 3, and of more than 4
# (OEIS A005802, A047889).
AT_MOST_3 = (1, 2, 6, 23, 103, 513, 2761, 15767, 94359, 586590)
AT_MOST_4 = (1, 2, 6, 24, 119, 694, 4582, 33324, 261808)

# Lengths summed over all orders of n = 1, 2 … cards (OEIS A003316).
SUMS = (1, 3, 12, 58, 335, 2261, 17465, 152020, 1473057, 15730705)


@pytest.mark.parametrize("n", range(1, 8))
def test_law_is_that_of_all_orders(n: int) -> None:
    counted = Counter(slow.longest_increasing(order) for order in permutations(range(n)))
    law = longest_increasing_law(n)
    assert len(law) == n + 1
    for k, p in enumerate(law):
        assert p == pytest.approx(counted[k] / factorial(n), abs=1e-15)


@pytest.mark.parametrize("n", range(1, 11))
def test_counts_and_sums_are_those_published(n: int) -> None:
    law = longest_increasing_law(n)
    at_most = [p * factorial(n) for p in accumulate(law)]
    assert at_most[min(2, n)] == pytest.approx(comb(2 * n, n) // (n + 1), rel=1e-13)  # Catalan: Knuth, vol. 3, §5.1.4
    assert at_most[min(3, n)] == pytest.approx(AT_MOST_3[n - 1], rel=1e-13)
    if n <= len(AT_MOST_4):
        assert at_most[min(4, n)] == pytest.approx(AT_MOST_4[n - 1], rel=1e-13)
    assert sum(k * p for k, p in enumerate(law)) * factorial(n) == pytest.approx(SUMS[n - 1], rel=1e-13)


def test_law_of_thirty_cards_is_that_of_all_pairs_of_young_tableaux() -> None:
    """Robinson and Schensted: orders with a longest subsequence of k are pairs of tableaux of a shape k wide."""
    exact: Counter[int] = Counter()
    for shape in slow.partitions(30):
        exact[shape[0]] += slow.tableaux(shape) ** 2
    assert exact.total() == factorial(30)
    for k, p in enumerate(longest_increasing_law(30)):
        assert p == pytest.approx(float(Fraction(exact[k], factorial(30))), abs=1e-15)


@pytest.mark.parametrize(("n", "orders"), [(52, 40_000), (416, 4_000)])
def test_law_of_a_shoe_is_that_of_shuffles_by_another_generator(n: int, orders: int) -> None:
    generator = np.random.Generator(np.random.PCG64(n))
    shuffled = generator.permuted(np.tile(np.arange(n, dtype=np.uint16), (orders, 1)), axis=1)
    lengths = np.bincount(longest_increasing(shuffled), minlength=n + 1)
    expected = orders * np.array(longest_increasing_law(n))
    usual = expected >= 5
    seen = [*lengths[usual], lengths[~usual].sum()]
    assert chisquare(seen, [*expected[usual], orders - expected[usual].sum()]).pvalue > 0.001


def test_mean_approaches_its_asymptotic_from_below() -> None:
    """2√n − 1.7711 n^(1/6) and a term that vanishes (Baik, Deift and Johansson 1999); why that law is not used."""
    law = longest_increasing_law(416)
    assert sum(law) == pytest.approx(1, abs=1e-13)
    mean = sum(k * p for k, p in enumerate(law))
    asymptotic = 2 * 416**0.5 - 1.7711 * 416 ** (1 / 6)
    assert 0.3 < mean - asymptotic < 0.7


@pytest.mark.parametrize("n", [0, -1, 833])
def test_sizes_beyond_sixteen_decks_are_refused(n: int) -> None:
    with pytest.raises(InputError, match=r"^n: expected 1 to 832 cards, got"):
        longest_increasing_law(n)
