"""SP 800-22 §2.7 and §2.8: how often given patterns occur."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from audit.checks.bits.evidence import Bits, Classes, Score, Squares, require_bits, split_blocks, window_codes

WIDTH: Final = 9
BLOCKS: Final = 8
OVERLAPPING_BLOCK: Final = 1032
MOST: Final = 5


def non_overlapping(bits: Bits, width: int = WIDTH, blocks: int = BLOCKS) -> tuple[Score, ...]:
    """Test how often each pattern that can't overlap itself occurs in each block: 148 p-values of width 9.

    Per pattern Σ(W − μ)²/σ² ~ χ²(blocks). Source: SP 800-22 §2.7; its σ² has the block's bits where it should have
    its windows, a share (width − 1)/bits too much.
    """
    n = require_bits(bits, blocks * width, "non_overlapping")
    counts = pattern_counts(bits, width, blocks)
    size = n // blocks
    p = 2.0**-width
    mean, variance = (size - width + 1) * p, size * p * (1 - (2 * width - 1) * p)
    return tuple(
        Score.of(f"{pattern:0{width}b}", Squares.of(float(((counts[:, pattern] - mean) ** 2).sum() / variance), blocks))
        for pattern in aperiodic_patterns(width)
    )


def pattern_counts(bits: Bits, width: int, blocks: int) -> npt.NDArray[np.int64]:
    """Count every pattern of `width` bits in every block, as an array (blocks, 2^width).

    Patterns without overlap with themselves need no skipping: no two of their places overlap.
    """
    rows = split_blocks(bits, bits.size // blocks)[:blocks]
    return np.stack([np.bincount(codes, minlength=1 << width) for codes in window_codes(rows, width)])


@cache
def aperiodic_patterns(width: int) -> tuple[int, ...]:
    """List the patterns of `width` bits of which no end is also a beginning, in rising order."""
    return tuple(
        pattern
        for pattern in range(1 << width)
        if not any(pattern >> shift == pattern & ((1 << (width - shift)) - 1) for shift in range(1, width))
    )


def overlapping(bits: Bits) -> tuple[Score, ...]:
    """Test how often nine ones in a row occur in each block of 1,032 bits, overlaps counted. Source: SP 800-22 §2.8."""
    require_bits(bits, OVERLAPPING_BLOCK, "overlapping")
    counts = overlapping_counts(bits, OVERLAPPING_BLOCK, WIDTH)
    return (Score.of("classes", Classes(counts, overlapping_law(OVERLAPPING_BLOCK, WIDTH))),)


def overlapping_counts(bits: Bits, size: int, width: int) -> tuple[int, ...]:
    """Count blocks by how many of their windows are all ones: 0, 1, … 4, 5 or more."""
    ones = np.pad(np.cumsum(split_blocks(bits, size), axis=1, dtype=np.int32), ((0, 0), (1, 0)))
    hits = np.count_nonzero(ones[:, width:] - ones[:, :-width] == width, axis=1)
    return tuple(np.bincount(np.minimum(hits, MOST), minlength=MOST + 1).tolist())


@cache
def overlapping_law(size: int, width: int) -> tuple[float, ...]:
    """Compute each class's probability exactly: a chain over the ones at the end and the windows found, in integers.

    NIST took e^-1-based values of a limit law in the examples and in appendix B, then those of Hamano and Kaneko,
    IEICE Trans. Fundamentals E90-A (2007), which this reproduces.
    """
    states = [[0] * (MOST + 1) for _ in range(width + 1)]
    states[0][0] = 1
    for _ in range(size):
        after_zero = [sum(column) for column in zip(*states, strict=True)]
        last, full = states[width - 1], states[width]
        found = [0, *(a + b for a, b in zip(last, full, strict=True))]
        found[MOST] += found.pop()
        states = [after_zero, *states[: width - 1], found]
    totals = [sum(column) for column in zip(*states, strict=True)]
    return tuple(total / (1 << size) for total in totals)
