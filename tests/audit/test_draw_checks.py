"""Knuth's tests of draws: published probabilities, calibration on numpy's draws, and draws that went wrong."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from math import perm, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, chisquare, kstest

from audit.checks import draws as checks
from audit.checks.draws import DRAW_CHECKS, stirling
from audit.checks.result import CheckResult
from audit.draw_counts import LEVELS, STEPS, DrawCounts, Draws, count_draws
from shoe.errors import InputError

REPLICATIONS = 300


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def fair(size: int, shoes: int, seed: int) -> Draws:
    bounds = np.arange(size, 1, -1)
    return Draws(generator(seed).integers(0, bounds, (shoes, size - 1)), bounds)


@pytest.fixture(scope="module")
def audits() -> list[DrawCounts]:
    """300 audits of 400 shoes of one deck."""
    return [count_draws(fair(52, 400, seed)) for seed in range(REPLICATIONS)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("check", DRAW_CHECKS, ids=lambda check: check.__name__)
def test_p_of_fair_draws_is_uniform(
    check: Callable[[DrawCounts, int], CheckResult], step: int, audits: list[DrawCounts]
) -> None:
    results = [check(counts, step) for counts in audits]
    p = [result.p for result in results]
    assert kstest(p, "uniform").pvalue > 0.001
    for level in (0.05, 0.01):
        assert sum(q <= level for q in p) <= binom.isf(0.001, REPLICATIONS, level)
    assert {result.name for result in results} == {check.__name__ + ("" if step == 1 else f"_every_{step}")}


def test_eight_decks_pass_and_print() -> None:
    counts = count_draws(fair(416, 400, 1))
    for check in DRAW_CHECKS:
        for step in STEPS:
            result = check(counts, step)
            assert result.p > 1e-3, result.name
            texts = (result.null, result.distribution, *(item.label for item in result.items))
            assert all(" " <= letter <= "~" for text in texts for letter in text)


# Class probabilities.


def test_stirling_numbers_are_knuths() -> None:
    """TAOCP vol. 1, table 1.2.6-2: the rows of 5 and 6."""
    assert [stirling(5, k) for k in range(6)] == [0, 1, 15, 25, 10, 1]
    assert [stirling(6, k) for k in range(7)] == [0, 1, 31, 90, 65, 15, 1]
    assert (stirling(0, 0), stirling(3, 4), stirling(3, -1)) == (1, 0, 0)


def test_poker_hands_of_digits_as_published() -> None:
    """RAND, A Million Random Digits (1955): of 5 digits .3024 are all different, .5040 hold one pair, .1080 two,
    .0720 three, .0090 a full house, .0045 four and .0001 five of a kind."""
    by_different = {5: "0.3024", 4: "0.5040", 3: "0.1800", 2: "0.0135", 1: "0.0001"}
    for r, published in by_different.items():
        assert Fraction(perm(10, r) * stirling(5, r), 10**5) == Fraction(published)


def test_classes_add_up_to_one() -> None:
    for classes in (checks._GAPS, checks._HANDS, checks._COLLECTIONS, checks._PERMUTATIONS, checks._MAXIMA):
        assert sum(classes) == 1


def test_coupons_take_their_harmonic_mean() -> None:
    """8·(1 + 1/2 + … + 1/8) = 21.74 draws; the tail beyond 64 holds the rest."""
    mean = sum(r * p for r, p in enumerate(checks._COLLECTIONS[:-1]))
    harmonic = LEVELS * sum(Fraction(1, k) for k in range(1, LEVELS + 1))
    assert float(mean + 64 * checks._COLLECTIONS[-1]) == pytest.approx(float(harmonic), abs=0.02)
    assert float(checks._COLLECTIONS[8]) == pytest.approx(40320 / 8**8)


# Two roads.


def test_poker_is_the_textbook_chi_square(audits: list[DrawCounts]) -> None:
    seen = audits[0].steps[0].hands
    n = int(seen.sum())
    expected = np.array([float(p) * n for p in checks._HANDS])
    pooled = [seen[:3].sum(), *seen[3:]] if expected[1] < 5 else list(seen[1:])
    reference = [expected[:3].sum(), *expected[3:]] if expected[1] < 5 else list(expected[1:])
    result = checks.draw_poker(audits[0])
    assert result.statistic == pytest.approx(chisquare(pooled, reference).statistic, rel=1e-9)
    assert result.n == n


def test_equidistribution_is_the_sum_of_textbook_chi_squares(audits: list[DrawCounts]) -> None:
    counts, start, each = audits[0], 0, []
    for bound in range(52, 1, -1):
        each.append(chisquare(counts.cells[start : start + bound]).statistic)
        start += bound
    for step in STEPS:
        assert checks.draw_equidistribution(counts, step).statistic == pytest.approx(sum(each[::step]), rel=1e-9)


def test_kolmogorov_smirnov_is_near_the_textbook_one() -> None:
    """On a grid D is less, by what the enlargement gives back on average: p within .02 of that of the numbers."""
    gaps = []
    for seed in range(40):
        chosen = fair(52, 400, seed)
        numbers = chosen.numbers()
        textbook = kstest((numbers + generator(seed).random(len(numbers))) / 4096, "uniform")
        gaps.append(checks.draw_kolmogorov_smirnov(count_draws(chosen)).p - textbook.pvalue)
    assert abs(np.mean(gaps)) < 0.01
    assert np.abs(gaps).max() < 0.03


def test_moments_of_the_sums_are_exact() -> None:
    """All 6·5·4·3·2 runs of draws of a shoe of six: mean 0, and the variances of the checks."""
    bounds = np.arange(6, 1, -1)
    values = np.array(list(np.ndindex(*bounds)))
    w = 2 * values - (bounds - 1)
    total, products = w.sum(axis=1), (w[:, 1:] * w[:, :-1]).sum(axis=1)
    assert total.sum() == products.sum() == 0
    assert Fraction(int((total**2).sum()), 720) == Fraction(sum(b * b - 1 for b in range(2, 7)), 3)
    spread = [b * b - 1 for b in range(6, 1, -1)]
    pairs = sum(a * b for a, b in pairwise(spread))
    assert Fraction(int((products**2).sum()), 720) == Fraction(pairs, 9)


# Draws that went wrong.


def off_by_one(size: int, shoes: int) -> Draws:
    """A card never stays where it is."""
    bounds = np.arange(size, 1, -1)
    return Draws(generator(1).integers(1, bounds, (shoes, size - 1)), bounds)


def modulo_16_bits(size: int, shoes: int) -> Draws:
    bounds = np.arange(size, 1, -1)
    return Draws(generator(2).integers(0, 2**16, (shoes, size - 1)) % bounds, bounds)


def twice_each_word(size: int, shoes: int) -> Draws:
    """Every word serves two draws."""
    bounds = np.arange(size, 1, -1)
    words = np.repeat(generator(3).integers(0, 2**32, (shoes, size // 2), dtype=np.uint64), 2, axis=1)[:, : size - 1]
    return Draws((words * bounds.astype(np.uint64) >> np.uint64(32)).astype(np.int64), bounds)


def evenly_spread(size: int, shoes: int) -> Draws:
    """A quasi-random sequence, multiples of the golden ratio: each number even, any few together too even."""
    bounds = np.arange(size, 1, -1)
    fractions = np.arange(shoes * (size - 1)) * 0.6180339887498949 % 1
    return Draws((fractions.reshape(shoes, -1) * bounds).astype(np.int64), bounds)


def low_words(size: int, shoes: int) -> Draws:
    """Words are the mean of a word and of nothing now and then: one in fifty is halved."""
    bounds = np.arange(size, 1, -1)
    u = generator(4).random((shoes, size - 1))
    u = np.where(generator(5).random(u.shape) < 0.02, u / 2, u)
    return Draws((u * bounds).astype(np.int64), bounds)


CAUGHT = [
    ("draw_equidistribution", off_by_one, 52, 100),
    ("draw_mean", modulo_16_bits, 832, 20_000),
    ("draw_kolmogorov_smirnov", low_words, 416, 1000),
    ("draw_gaps", off_by_one, 52, 300),
    ("draw_poker", twice_each_word, 52, 100),
    ("draw_coupons", twice_each_word, 52, 100),
    ("draw_permutations", evenly_spread, 52, 100),
    ("draw_maxima", low_words, 416, 1000),
    ("draw_serial_correlation", twice_each_word, 52, 100),
]


def test_every_check_has_a_fault_to_catch() -> None:
    assert [name for name, *_ in CAUGHT] == [check.__name__ for check in DRAW_CHECKS]


@pytest.mark.parametrize(("name", "fault", "size", "shoes"), CAUGHT, ids=[name for name, *_ in CAUGHT])
def test_draws_that_went_wrong_are_caught(name: str, fault: Any, size: int, shoes: int) -> None:
    check = getattr(checks, name)
    counts = [count_draws(Draws(part, chosen.bounds)) for chosen in [fault(size, shoes)] for part in _blocks(chosen)]
    total = counts[0]
    for more in counts[1:]:
        total = total + more
    assert check(total).p < 1e-4
    assert check(count_draws(fair(size, min(shoes, 1000), 1))).p > 0.001


def _blocks(draws: Draws) -> list[np.ndarray]:
    return np.array_split(draws.values, max(1, len(draws.values) // 1000))


def test_every_second_draw_shows_what_comes_back_after_two() -> None:
    """A word used again two draws later: neighbours are unrelated, every second draw is not."""
    bounds = np.arange(416, 1, -1)
    words = generator(6).random((200, 415))
    words[:, 2::4], words[:, 3::4] = (
        words[:, :-1:4][:, : words[:, 2::4].shape[1]],
        words[:, 1::4][:, : words[:, 3::4].shape[1]],
    )
    counts = count_draws(Draws((words * bounds).astype(np.int64), bounds))
    assert checks.draw_serial_correlation(counts).p > 0.001
    assert checks.draw_serial_correlation(counts, 2).p < 1e-100


def test_need_of_modulo_on_16_bits_is_as_reckoned() -> None:
    """The mean of w moves by −b²f(1−f)/2¹⁶, f = 2¹⁶ mod b over b: the check's deviation is that over its error."""
    bounds = range(832, 1, -1)
    shift = sum(-(2**16 % b) * (b - 2**16 % b) / 2**16 for b in bounds)
    deviation = shift * sqrt(20_000) / sqrt(sum(b * b - 1 for b in bounds) / 3)
    seen = count_draws(modulo_16_bits(832, 1000)).steps[0].total / 1000
    error = sqrt(sum(b * b - 1 for b in bounds) / 3 / 1000)
    assert abs(seen - shift) < 4 * error
    assert deviation == pytest.approx(-8.57, abs=0.01)


# Refusals.


@pytest.mark.parametrize("check", DRAW_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("step", [0, 3, -1])
def test_other_steps_are_refused(check: Any, step: int, audits: list[DrawCounts]) -> None:
    with pytest.raises(InputError, match=rf"^step: expected a step of \(1, 2, 5\), got {step}$"):
        check(audits[0], step)


@pytest.mark.parametrize("check", DRAW_CHECKS, ids=lambda check: check.__name__)
def test_no_shoes_are_refused(check: Any) -> None:
    with pytest.raises(InputError, match=r"^draws: expected 1 or more shoes, got 0$"):
        check(count_draws(fair(52, 0, 1)))


def test_too_few_draws_for_a_group_are_refused() -> None:
    counts = count_draws(fair(6, 3, 1))
    with pytest.raises(InputError, match=r"^draw_poker: expected 1 or more trials, got 0$"):
        checks.draw_poker(counts)
    with pytest.raises(InputError, match=r"^draw_kolmogorov_smirnov: expected 1 or more numbers, got 0$"):
        checks.draw_kolmogorov_smirnov(counts)
    with pytest.raises(InputError, match=r"^draw_serial_correlation: expected 1 or more pairs of draws a shoe, got 0$"):
        checks.draw_serial_correlation(count_draws(fair(2, 3, 1)))
