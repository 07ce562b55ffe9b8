"""SP 800-22 §2.5: the rank of matrices of bits."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

from audit.checks.bits.evidence import Bits, Classes, Score, require_bits, split_blocks

SIDE: Final = 32


def rank(bits: Bits, side: int = SIDE) -> tuple[Score, ...]:
    """Test how many square matrices of `side` ≤ 32 rows have full rank, one less, and less. Source: SP 800-22 §2.5."""
    require_bits(bits, side * side, "rank")
    return (Score.of("classes", Classes(rank_counts(bits, side), rank_law(side))),)


def rank_counts(bits: Bits, side: int = SIDE) -> tuple[int, int, int]:
    """Count the matrices, filled row by row, of rank `side`, `side` − 1 and less."""
    ranks = matrix_ranks(split_blocks(bits, side * side).reshape(-1, side, side))
    full, less = int(np.count_nonzero(ranks == side)), int(np.count_nonzero(ranks == side - 1))
    return full, less, ranks.size - full - less


def matrix_ranks(matrices: Bits) -> npt.NDArray[np.int64]:
    """Compute the rank over GF(2) of matrices (count, rows, at most 32 columns)."""
    weights = np.uint32(1) << np.arange(matrices.shape[2], dtype=np.uint32)
    rows = np.ascontiguousarray((matrices * weights).sum(axis=2, dtype=np.uint32).T)
    for at in range(len(rows) - 1):
        pivot = rows[at]
        lowest = pivot & (~pivot + np.uint32(1))
        rows[at + 1 :] ^= np.where(rows[at + 1 :] & lowest, pivot, np.uint32(0))
    return np.asarray((rows != 0).sum(axis=0), dtype=np.int64)


@cache
def rank_law(side: int) -> tuple[float, float, float]:
    """Compute the probabilities of rank `side`, `side` − 1 and less, exactly; NIST rounds them to four digits."""
    full, less = rank_probability(side, side), rank_probability(side, side - 1)
    return float(full), float(less), float(1 - full - less)


def rank_probability(side: int, rank: int) -> Fraction:
    """Compute the probability that a random square matrix over GF(2) has this rank. Source: SP 800-22 §3.5."""
    two = Fraction(2)
    factors = ((1 - two ** (i - side)) ** 2 / (1 - two ** (i - rank)) for i in range(rank))
    return two ** (rank * (2 * side - rank) - side * side) * prod(factors, start=Fraction(1))
