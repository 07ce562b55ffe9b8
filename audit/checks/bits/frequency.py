"""SP 800-22 §2.1–2.4 and §2.13: how many ones, in how long runs, and how far the walk of them strays."""

from __future__ import annotations

from functools import cache
from math import ceil, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from audit.checks.bits.evidence import Bits, Classes, Deviation, Score, Squares, require_bits, split_blocks

LONGEST_RUN_BLOCKS: Final = ((750_000, 10_000, 10, 16), (6_272, 128, 4, 9), (128, 8, 1, 4))
"""From how many bits on: the block's bits, and the longest runs that the lowest and highest class hold (§2.4.2)."""
_FAR: Final = 10
"""Standard errors beyond which the normal law has nothing left that a double could show beside 1."""


def frequency(bits: Bits) -> tuple[Score, ...]:
    """Test that ones are as many as zeros: their difference over √n is about normal. Source: SP 800-22 §2.1."""
    n = require_bits(bits, 1, "frequency")
    return (Score.of("ones", Deviation.of(2 * _ones(bits) - n, n)),)


def block_frequency(bits: Bits, size: int = 128) -> tuple[Score, ...]:
    """Test that ones are as many as zeros in each block: 4M Σ(π − ½)² ~ χ²(blocks). Source: SP 800-22 §2.2.

    Its variance is a share 1/M below that of χ².
    """
    require_bits(bits, size, "block_frequency")
    blocks = split_blocks(bits, size)
    excess = 2 * blocks.sum(axis=1, dtype=np.int64) - size
    return (Score.of("blocks", Squares.of(int((excess**2).sum()) / size, len(blocks))),)


def runs(bits: Bits) -> tuple[Score, ...]:
    """Test the number of runs, given how many ones there are. Source: SP 800-22 §2.3.

    NIST calls p nothing where ones differ from n/2 by 2√n or more, which befalls 1 good sequence of 16,000; given
    the ones the law needs no such rule, so there is none here. Without both kinds there is one order, and p is 1.
    """
    n = require_bits(bits, 2, "runs")
    share = _ones(bits) / n
    number = 1 + int(np.count_nonzero(bits[1:] != bits[:-1]))
    half = share * (1 - share)
    above = number - 2 * n * half if half else 0.0
    return (Score.of("runs", Deviation.of(above, 4 * n * half * half)),)


def longest_run(bits: Bits) -> tuple[Score, ...]:
    """Test the longest run of ones in each block, by classes. Source: SP 800-22 §2.4 and §3.4.

    Raises InputError below 128 bits.
    """
    n = require_bits(bits, 128, "longest_run")
    size, low, high = next(rest for least, *rest in LONGEST_RUN_BLOCKS if n >= least)
    return (Score.of("classes", Classes(longest_run_counts(bits, size, low, high), longest_run_law(size, low, high))),)


def longest_run_counts(bits: Bits, size: int, low: int, high: int) -> tuple[int, ...]:
    """Count blocks by their longest run of ones: `low` or less, each length between, `high` or more."""
    blocks = split_blocks(bits, size)
    ones = np.cumsum(blocks, axis=1, dtype=np.int32)
    before = np.maximum.accumulate(np.where(blocks == 0, ones, 0), axis=1)
    longest = np.clip((ones - before).max(axis=1), low, high)
    return tuple(np.bincount(longest - low, minlength=high - low + 1).tolist())


@cache
def longest_run_law(size: int, low: int, high: int) -> tuple[float, ...]:
    """Compute each class's probability, from whole numbers of blocks. Source: the recurrence of SP 800-22 §3.4."""
    at_most = [_orders_without_run(size, longest + 1) for longest in range(low, high)]
    steps = zip([0, *at_most], [*at_most, 1 << size], strict=True)
    return tuple((upper - lower) / (1 << size) for lower, upper in steps)


def cumulative_sums(bits: Bits) -> tuple[Score, ...]:
    """Test how far the walk of ±1 strays from its start, forwards and backwards. Source: SP 800-22 §2.13."""
    n = require_bits(bits, 1, "cumulative_sums")
    steps = walk(bits)
    forward = int(np.abs(steps).max())
    backward = int(np.abs(steps[-1] - np.concatenate(([0], steps[:-1]))).max())
    return tuple(
        Score(label, z / sqrt(n), excursion_p(z, n), None)
        for label, z in (("forward", forward), ("backward", backward))
    )


def excursion_p(reach: int, n: int) -> float:
    """Compute the probability that a walk of n steps strays `reach` ≥ 1 or further to either side.

    By reflection, each step a normal one: 1 − Σ (−1)^k (Φ((2k + 1)u) − Φ((2k − 1)u)) over all whole k, u = reach/√n.
    SP 800-22 §2.13.4 ends the sum at limits that it does not say how to round; only for few bits does it matter.
    """
    unit = reach / sqrt(n)
    last = ceil(_FAR / unit)
    k = np.arange(-last, last + 1)
    terms = np.where(k % 2, -1.0, 1.0) * (ndtr((2 * k + 1) * unit) - ndtr((2 * k - 1) * unit))
    return float(min(1.0, max(0.0, 1 - terms.sum())))


def walk(bits: Bits) -> npt.NDArray[np.int64]:
    """Sum up the bits as steps: 1 up, 0 down; one place to every bit."""
    return np.cumsum(2 * bits.astype(np.int64) - 1)


def _ones(bits: Bits) -> int:
    return int(np.count_nonzero(bits))


def _orders_without_run(size: int, run: int) -> int:
    """Count sequences of `size` bits without `run` ones in a row: all, less those that end in the first such run."""
    counts = [1 << length for length in range(run)]
    for length in range(run, size + 1):
        lost = counts[length - run - 1] if length > run else 1
        counts.append(2 * counts[-1] - lost)
    return counts[size]
