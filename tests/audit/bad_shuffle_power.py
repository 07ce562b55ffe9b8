"""The sample of shoes at which a bad shuffle is caught: by the battery's own checks, beside what theory asks for.

A table is caught where Holm's rule at .01 rejects any of the m checks of a full certification, so where the smallest
p is at most .01/m. Eight decks throughout, all shoes by numpy's PCG64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import ceil, log1p, sqrt
from typing import Final

import numpy as np
from scipy.stats import norm

from audit.battery import BATTERY, PATHS, judge_all
from audit.checks.shuffles import correlation_spread, duplicate_shoes
from audit.counts import PathCounts, RunCounts
from audit.draw_counts import count_draws, draws_of
from audit.power import needed_noncentrality
from audit.shuffle_counts import count_shuffles
from tests.audit.plans import EIGHT_DECKS
from tests.reference import bad_shuffles

N: Final = 416
CHECKS: Final = len(PATHS) * len(BATTERY)
"""The m of a full certification: 72 checks on each of two paths."""

LEVEL: Final = 0.01 / CHECKS
POWER: Final = 0.9
Z: Final = float(norm.isf(LEVEL / 2))
Z_POWER: Final = float(norm.isf(1 - POWER))
WORD: Final = 2**16
LEAST_SAMPLE: Final = 100
ORDERS: Final = 10**300
"""Fewer than 416!, and as good: what matters of the number of orders is that it is above 2^64."""

Shuffle = Callable[[np.random.Generator, int, int], np.ndarray]

SAMPLED: Final = tuple(
    f"batch_{name}" for name, check in BATTERY.items() if check.part == "sampled" and name != "worst_position"
)
"""Every check of sampled orders and draws but the one that a plan names from 2,080 shoes on only."""


def generator_of(*seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def fair(generator: np.random.Generator, n: int, shoes: int) -> np.ndarray:
    return generator.permuted(np.tile(np.arange(n, dtype=np.uint16), (shoes, 1)), axis=1)


# --- what theory asks for -------------------------------------------------------------------------


def normal_need(shift: float, ratio: float) -> int:
    """Shoes after which a sum that moves by `shift` standard deviations a shoe, with `ratio` of them, is rejected."""
    return ceil(((Z + Z_POWER * ratio) / abs(shift)) ** 2)


def certain_need(shift: float) -> int:
    """The same of a sum that does not vary at all."""
    return normal_need(shift, 0)


def riffle_need() -> int:
    """Two rising sequences at most, where (n+1)/2 are expected with variance (n+1)/12."""
    return certain_need(((N + 1) / 2 - 2) / sqrt((N + 1) / 12))


def single_cycle_need() -> int:
    """One cycle, where Hₙ are expected with variance Hₙ − Hₙ⁽²⁾."""
    mean = sum(1 / k for k in range(1, N + 1))
    return certain_need((mean - 1) / sqrt(mean - sum(1 / k**2 for k in range(1, N + 1))))


def small_seed_need(power: float, bits: int = 32) -> int:
    """Shoes of which two have the same seed with this probability: S(S−1)/2·2⁻³² = −ln(1−power)."""
    return ceil(0.5 + sqrt(0.25 - 2 * 2**bits * log1p(-power)))


@cache
def modulo_shift() -> tuple[float, float]:
    """By how much Σ w, w = 2v − (b−1), moves a shoe in standard deviations, and the ratio of these: exact.

    2¹⁶ mod b of the values below b come of one word more than the others.
    """
    mean = square = sound = 0.0
    for b in range(2, N + 1):
        each, more = divmod(WORD, b)
        w = 2 * np.arange(b) - (b - 1)
        p = (each + (np.arange(b) < more)) / WORD
        mean += float(p @ w)
        square += float(p @ w**2 - (p @ w) ** 2)
        sound += (b * b - 1) / 3
    return mean / sqrt(sound), sqrt(square / sound)


@cache
def swap_shift(shoes: int = 20_000) -> tuple[float, float]:
    """The same of swapping with any card, measured on shoes of their own."""
    generator = generator_of(77)
    blocks = (bad_shuffles.swap_with_any_card(generator, N, 1_000) for _ in range(shoes // 1_000))
    sums = np.concatenate([_centred_sums(block) for block in blocks])
    sound = sqrt(sum((b * b - 1) / 3 for b in range(2, N + 1)))
    return float(sums.mean()) / sound, float(sums.std()) / sound


def _centred_sums(orders: np.ndarray) -> np.ndarray:
    draws = draws_of(orders)
    return (2 * draws.values - (draws.bounds - 1)).sum(axis=1)


@cache
def interplay_need(shoes: int = 20_000) -> tuple[float, int]:
    """Noncentrality a shoe of the 15 correlations of rotated digests, measured on shoes of their own, and the need."""
    generator = generator_of(78)
    blocks = (bad_shuffles.rotated_digest(generator, N, 1_000) for _ in range(shoes // 1_000))
    first = np.concatenate([block[:, :6] for block in blocks])
    above = np.corrcoef(first.T.astype(float)) + 1 / (N - 1)
    each = float((above[np.triu_indices(6, 1)] ** 2).sum() / float(correlation_spread(N)))
    return each, ceil(needed_noncentrality(15, LEVEL, POWER) / each) + 1


# --- measured -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Power:
    """Tables caught of so many, by shoes a table."""

    tables: int
    caught: dict[int, int]

    def need(self) -> int:
        """The fewest shoes tried from which on nine tables of ten or more were caught."""
        below = [shoes for shoes, count in self.caught.items() if count < POWER * self.tables]
        return min(shoes for shoes in self.caught if shoes > max(below, default=0))


def order_power(shuffle: Shuffle, checks: tuple[str, ...], sizes: tuple[int, ...], tables: int) -> Power:
    """How many tables these checks of sampled orders catch."""
    return Power(tables, {shoes: _caught(shuffle, checks, shoes, tables) for shoes in sizes})


def _caught(shuffle: Shuffle, checks: tuple[str, ...], shoes: int, tables: int) -> int:
    generator = generator_of(79, shoes)
    return sum(smallest_p(shuffle(generator, N, shoes), checks) <= LEVEL for _ in range(tables))


def smallest_p(orders: np.ndarray, checks: tuple[str, ...]) -> float:
    """The smallest p of these checks."""
    drawn = any(name.startswith("batch_draw_") for name in checks)
    counts = PathCounts(shuffles=count_shuffles(orders), draws=count_draws(draws_of(orders)) if drawn else None)
    return min(result.p for result in judge_all(checks, RunCounts(batch=counts), EIGHT_DECKS))


def modulo_power(sizes: tuple[int, ...], tables: int) -> Power:
    """Tables that `draw_mean` catches, from the draws themselves: 16-bit words modulo the bound."""
    bounds = np.arange(N, 1, -1, dtype=np.uint16)
    sound = sum((b * b - 1) / 3 for b in range(2, N + 1))
    rejected = np.zeros(len(sizes), np.int64)
    generator = generator_of(80)
    for _ in range(tables):
        total = np.cumsum(np.concatenate(list(_modulo_sums(generator, bounds, sizes[-1]))))[np.array(sizes) - 1]
        rejected += np.abs(total) / np.sqrt(np.array(sizes) * sound) >= Z
    return Power(tables, dict(zip(sizes, rejected.tolist(), strict=True)))


def _modulo_sums(generator: np.random.Generator, bounds: np.ndarray, shoes: int) -> Iterator[np.ndarray]:
    middle = int((bounds.astype(np.int64) - 1).sum())
    for first in range(0, shoes, 2_000):
        words = generator.integers(0, WORD, (min(2_000, shoes - first), len(bounds)), dtype=np.uint16)
        yield 2 * (words % bounds).sum(axis=1, dtype=np.int64) - middle


def small_seed_power(sizes: tuple[int, ...], tables: int) -> Power:
    """Tables that `duplicate_shoes` catches; shoes are told apart by their seeds, of which they are a function."""
    generator = generator_of(81)
    caught = np.zeros(len(sizes), np.int64)
    for _ in range(tables):
        seeds = generator.integers(0, 2**32, sizes[-1], dtype=np.uint64)
        caught += [duplicate_shoes(seeds[:shoes], ORDERS).p <= LEVEL for shoes in sizes]
    return Power(tables, dict(zip(sizes, caught.tolist(), strict=True)))
