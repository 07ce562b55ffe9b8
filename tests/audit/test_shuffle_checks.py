"""Checks of whole orders: calibrated on numpy's shuffles, each sharp on a shuffle that went wrong as it looks for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, factorial, inf, perm, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chi2, kstest, poisson

from audit.checks import shuffles
from audit.checks.goodness import equal_classes_tail, gamma_tail, sidak
from audit.checks.result import CheckResult
from audit.checks.shuffles import SHUFFLE_CHECKS, duplicate_shoes
from audit.shuffle_counts import ShuffleCounts, count_shuffles
from shoe.errors import InputError
from tests.reference import bad_shuffles

# Statistics with few values, whose p is held from below only.
DISCRETE = ("fixed_points", "neighbours_kept", "fresh_order")
REPLICATIONS = 300


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def fair(size: int, shoes: int, seed: int) -> np.ndarray:
    return generator(seed).permuted(np.tile(np.arange(size, dtype=np.uint16), (shoes, 1)), axis=1)


@pytest.fixture(scope="module")
def audits() -> list[ShuffleCounts]:
    """300 audits of 400 shoes of one deck."""
    return [count_shuffles(fair(52, 400, seed)) for seed in range(REPLICATIONS)]


@pytest.mark.parametrize("check", SHUFFLE_CHECKS, ids=lambda check: check.__name__)
def test_p_of_fair_shuffles_is_uniform(check: Callable[[ShuffleCounts], CheckResult], audits: list[Any]) -> None:
    """Kolmogorov–Smirnov, from above only where p has few values; rejections at .05 and .01 within their binomial."""
    results = [check(counts) for counts in audits]
    p = [result.p for result in results]
    discrete = results[0].name in DISCRETE
    assert kstest(p, "uniform", alternative="greater" if discrete else "two-sided").pvalue > 0.001
    for level in (0.05, 0.01):
        assert sum(q <= level for q in p) <= binom.isf(0.001, REPLICATIONS, level)
    assert {result.name for result in results} == {check.__name__}


def test_statistics_of_tables_have_their_exact_moments(audits: list[ShuffleCounts]) -> None:
    """Mean (n−1)², variance 2(n−1)²(S−1)/S: within four standard errors over the audits."""
    values = np.array([shuffles.card_positions(counts).statistic for counts in audits])
    variance = 2 * 51**2 * 399 / 400
    assert abs(values.mean() - 51**2) < 4 * sqrt(variance / REPLICATIONS)
    assert abs(values.var() / variance - 1) < 4 * sqrt(2 / REPLICATIONS)


def test_eight_decks_pass() -> None:
    counts = count_shuffles(fair(416, 500, seed=8))
    results = [check(counts) for check in SHUFFLE_CHECKS]
    assert min(result.p for result in results) > 0.001
    for result in results:
        printed = result.to_json()
        assert all(" " <= letter <= "~" for text in (printed["null"], printed["distribution"]) for letter in text)
        assert all(abs(item.observed) < 2**53 for item in result.items)


# Each check on a fault that it is made for: check, shuffle, cards, shoes.
CAUGHT = [
    ("card_positions", bad_shuffles.swap_with_any_card, 52, 2000),
    ("worst_position", bad_shuffles.one_riffle, 52, 200),
    ("interplay", bad_shuffles.rotated_digest, 416, 200),
    ("worst_pair", bad_shuffles.rotated_digest, 416, 200),
    ("fixed_points", bad_shuffles.off_by_one, 416, 50),
    ("cycles", bad_shuffles.off_by_one, 416, 50),
    ("descents", bad_shuffles.one_riffle, 416, 10),
    ("rising_sequences", bad_shuffles.one_riffle, 416, 10),
    ("inversions", bad_shuffles.swap_with_any_card, 416, 200),
    ("neighbours_kept", bad_shuffles.one_riffle, 416, 10),
    ("same_rank_neighbours", bad_shuffles.one_riffle, 416, 50),
    ("longest_increasing", bad_shuffles.swap_with_any_card, 416, 500),
    ("fresh_order", bad_shuffles.one_riffle, 416, 10),
]


def test_every_check_has_a_fault_to_catch() -> None:
    assert [name for name, *_ in CAUGHT] == [check.__name__ for check in SHUFFLE_CHECKS]


@pytest.mark.parametrize(("name", "shuffle", "size", "shoes"), CAUGHT, ids=[name for name, *_ in CAUGHT])
def test_a_shuffle_that_went_wrong_is_caught(name: str, shuffle: Any, size: int, shoes: int) -> None:
    counts = count_shuffles(shuffle(generator(5), size, shoes))
    result: CheckResult = getattr(shuffles, name)(counts)
    assert result.p < 1e-6
    fair_result: CheckResult = getattr(shuffles, name)(count_shuffles(fair(size, shoes, 5)))
    assert fair_result.p > 0.001


def test_a_pack_that_was_not_shuffled_at_all_has_the_least_p() -> None:
    counts = count_shuffles(fair(416, 500, 3)) + count_shuffles(np.arange(416, dtype=np.uint16)[None])
    result = shuffles.fresh_order(counts)
    assert (result.statistic, result.effect, result.p_text) == (415.0, 1.0, "<1e-300")


def test_fifty_cards_in_fresh_order_are_seen_among_ten_thousand_shoes() -> None:
    orders = fair(52, 10_000, 4)
    rest = np.setdiff1d(orders[77], np.arange(8))
    orders[77] = np.concatenate([rest[:20], np.arange(8), rest[20:]])
    assert shuffles.fresh_order(count_shuffles(orders)).p < 1e-6


# Two roads to statistics and p.


def test_fixed_points_use_both_tails_of_poisson() -> None:
    counts = count_shuffles(fair(52, 400, 1))
    result = shuffles.fixed_points(counts)
    tails = poisson.cdf(counts.fixed_points, 400), poisson.sf(counts.fixed_points - 1, 400)
    assert result.p == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)


def test_poisson_is_the_law_of_fixed_points_to_many_digits() -> None:
    """Rencontres numbers C(n, k)·D(n−k) of 52 cards over 52!: the law of one shoe, beside e⁻¹/k!."""
    subfactorials = [1, 0]
    for n in range(2, 53):
        subfactorials.append((n - 1) * (subfactorials[-1] + subfactorials[-2]))
    for k in range(12):
        exact = Fraction(comb(52, k) * subfactorials[52 - k], factorial(52))
        assert float(exact) == pytest.approx(poisson.pmf(k, 1), rel=1e-12)


def test_interplay_is_made_of_textbook_correlations() -> None:
    orders = fair(104, 300, 2)
    r = np.corrcoef(orders[:, :6].T.astype(float))
    expected = sum(
        (r[a, b] + 1 / 103) ** 2 * 299 / float(shuffles.correlation_spread(104))
        for a in range(6)
        for b in range(a + 1, 6)
    )
    result = shuffles.interplay(count_shuffles(orders))
    assert result.statistic == pytest.approx(expected, rel=1e-9)
    assert result.p == pytest.approx(chi2.sf(expected, 15), rel=1e-9)


def test_worst_pair_is_the_largest_textbook_correlation() -> None:
    orders = fair(52, 300, 2)
    r = (np.corrcoef(orders.T.astype(float)) + 1 / 51) / sqrt(shuffles.correlation_spread(52))
    np.fill_diagonal(r, 0)
    assert shuffles.worst_pair(count_shuffles(orders)).effect == pytest.approx(np.abs(r).max(), rel=1e-9)


def test_correlations_have_the_stated_mean_and_variance() -> None:
    """−1/(n−1) and v/(S−1), v = .983 for one deck: all pairs of positions in 40 samples of 400 shoes."""
    samples = np.array([np.corrcoef(fair(52, 400, seed).T.astype(float)) for seed in range(40)])
    r = samples[:, *np.triu_indices(52, 1)]
    assert abs(r.mean() + 1 / 51) < 1e-5
    v = float(shuffles.correlation_spread(52))
    assert v == pytest.approx(0.983, abs=5e-4)
    assert float(shuffles.correlation_spread(416)) == pytest.approx(0.998, abs=5e-4)
    assert r.var() * 399 == pytest.approx(v, abs=4 * sqrt(2 / r.size))
    assert abs(r.var() * 399 - 1) > 2 * sqrt(2 / r.size)  # independent positions would have 1


@pytest.mark.parametrize(("k", "n"), [(52, 300), (6, 40)])
def test_tail_of_equal_classes_has_three_right_moments(k: int, n: int) -> None:
    """Against 200,000 multinomial samples, far out, where the gamma law of two moments is too low."""
    counts = generator(k).multinomial(n, [1 / k] * k, size=200_000)
    statistics = ((counts - n / k) ** 2).sum(axis=1) * k / n
    for level in (0.05, 0.01, 0.001):
        place = float(np.quantile(statistics, 1 - level))
        assert equal_classes_tail(place, k, n) == pytest.approx(level, rel=0.15)
    assert equal_classes_tail(10.0, 52, 2) == 1.0


@pytest.mark.parametrize("shoes", range(1, 7))
def test_few_shoes_leave_one_length_to_judge_and_no_verdict(shoes: int) -> None:
    """Below ten expected in all, every length is pooled into one class, which has the whole law: no more than 1."""
    result = shuffles.longest_increasing(count_shuffles(fair(416, shoes, 6)))
    assert (result.dof, result.p) == (0, 1.0)
    assert [item.expected for item in result.items] == [shoes]


def test_gamma_tail_is_chi_square_where_the_variance_is() -> None:
    assert gamma_tail(30.0, 20, 40) == pytest.approx(chi2.sf(30, 20), rel=1e-12)
    assert (gamma_tail(1.0, 3, 0), gamma_tail(inf, 3, 6)) == (1.0, 0.0)


def test_sidak_of_one_is_itself_and_of_many_is_a_complement() -> None:
    assert sidak(0.25, 1) == pytest.approx(0.25)
    assert sidak(0.01, 3) == pytest.approx(1 - 0.99**3)
    assert sidak(1e-20, 1000) == pytest.approx(1e-17)
    assert sidak(1.0, 5) == 1.0


# Duplicate shoes.


def test_no_two_shoes_alike_have_p_one() -> None:
    result = duplicate_shoes(generator(1).integers(0, 2**64, 100_000, dtype=np.uint64), factorial(416))
    assert (result.p, result.statistic, result.n) == (1.0, 0.0, 100_000)


def test_a_32_bit_seed_is_betrayed_by_its_first_repeated_shoe() -> None:
    """Half of all runs of 77,164 shoes have one: 1 − Π(1 − i/2³²) ≈ ½; here 300,000 shoes, with ten."""
    orders_of_seeds = generator(2).integers(0, 2**32, 300_000, dtype=np.uint64)
    result = duplicate_shoes(orders_of_seeds * np.uint64(0x9E3779B97F4A7C15), factorial(416))
    assert result.statistic == 300_000 - len(np.unique(orders_of_seeds)) > 3
    assert result.p < 1e-20
    assert 1 - np.exp(np.log1p(-np.arange(77_164) / 2**32).sum()) == pytest.approx(0.5, abs=1e-5)


def test_one_repeated_shoe_among_a_million_is_enough() -> None:
    hashes = np.arange(1_000_000, dtype=np.uint64)
    hashes[-1] = 17
    result = duplicate_shoes(hashes, factorial(416))
    assert result.p == pytest.approx(1e6 * (1e6 - 1) / 2 / 2**64, rel=1e-6)
    assert result.items[0].expected == comb(10**6, 2) * (Fraction(1, 2**64) + Fraction(1, factorial(416)))


def test_triples_count_as_three_pairs() -> None:
    assert duplicate_shoes(np.array([5, 5, 5, 7], dtype=np.uint64), factorial(52)).statistic == 3


def test_six_cards_of_a_shuffle_for_one_coup_repeat_by_chance() -> None:
    """One deck: 52·51·50·49·48·47 orders have a hash each, and a million coups have 34 pairs alike on average."""
    orders = perm(52, 6)
    p = [duplicate_shoes(generator(seed).integers(0, orders, 10**6, dtype=np.uint64), orders).p for seed in range(20)]
    assert kstest(p, "uniform").pvalue > 0.001
    mean = duplicate_shoes(np.arange(10**6, dtype=np.uint64), orders).items[0].expected
    assert float(mean) == pytest.approx(10**6 * (10**6 - 1) / 2 / orders)


# Refusals.


def nothing(size: int = 52) -> ShuffleCounts:
    return count_shuffles(np.zeros((0, size), dtype=np.uint16))


@pytest.mark.parametrize("check", SHUFFLE_CHECKS, ids=lambda check: check.__name__)
def test_no_shoes_are_refused(check: Callable[[ShuffleCounts], CheckResult]) -> None:
    with pytest.raises(InputError, match=r"^shuffles: expected [123] or more shoes, got 0$"):
        check(nothing())


def test_no_hashes_are_refused() -> None:
    with pytest.raises(InputError, match=r"^duplicate_shoes: expected 1 or more hashes, got 0$"):
        duplicate_shoes(np.zeros(0, dtype=np.uint64), factorial(52))


def test_sizes_that_a_check_makes_no_sense_of_are_refused() -> None:
    with pytest.raises(InputError, match=r"^interplay: expected 6 or more cards, got 5$"):
        shuffles.interplay(count_shuffles(fair(5, 10, 1)))
    with pytest.raises(InputError, match=r"^same_rank_neighbours: expected shoes of whole decks, got 51$"):
        shuffles.same_rank_neighbours(count_shuffles(fair(51, 10, 1)))


@pytest.mark.parametrize(
    ("name", "least"), [("card_positions", 2), ("worst_position", 2), ("interplay", 3), ("worst_pair", 3)]
)
def test_too_few_shoes_for_a_spread_are_refused(name: str, least: int) -> None:
    with pytest.raises(InputError, match=rf"^shuffles: expected {least} or more shoes, got {least - 1}$"):
        getattr(shuffles, name)(count_shuffles(fair(52, least - 1, 1)))
