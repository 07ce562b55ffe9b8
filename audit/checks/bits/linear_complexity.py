"""SP 800-22 §2.10: how long a shift register must be to make each block."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import floor
from typing import Final

import numpy as np
import numpy.typing as npt

from audit.checks.bits.evidence import Bits, Classes, Score, require_bits, split_blocks

BLOCK: Final = 500
_OUTER: Final = 3
_WORD: Final = 64


def linear_complexity(bits: Bits, size: int = BLOCK) -> tuple[Score, ...]:
    """Test the linear complexity of blocks of `size` bits, in seven classes. Source: SP 800-22 §2.10."""
    require_bits(bits, size, "linear_complexity")
    counts = complexity_counts(bits, size)
    return (Score.of("classes", Classes(counts, complexity_law(size))),)


def complexity_counts(bits: Bits, size: int) -> tuple[int, ...]:
    """Count blocks by the class of their linear complexity."""
    lengths = np.bincount(complexities(split_blocks(bits, size)), minlength=size + 1)
    counts = [0] * (2 * _OUTER + 1)
    for length in np.flatnonzero(lengths).tolist():
        counts[complexity_class(size, length)] += int(lengths[length])
    return tuple(counts)


def complexity_class(size: int, length: int) -> int:
    """Give the class 0…6 of a complexity: T ≤ −2.5, one for each unit between, T > 2.5 (§2.10.4).

    T = (−1)^M (L − μ) + 2/9 with the exact mean μ.
    """
    sign = -1 if size % 2 else 1
    above = sign * (length - complexity_mean(size)) + Fraction(2, 9)
    return max(0, min(2 * _OUTER, -floor(-(above + _OUTER - Fraction(1, 2)))))


def complexity_mean(size: int) -> Fraction:
    """Compute the mean complexity of `size` random bits. Source: Rueppel (1986), as in SP 800-22 §3.10."""
    odd = size % 2
    return Fraction(size, 2) + Fraction(8 + 2 * odd, 36) - (Fraction(size, 3) + Fraction(2, 9)) / (1 << size)


@cache
def complexity_law(size: int) -> tuple[float, ...]:
    """Compute each class's probability from the number of sequences of each complexity, in integers.

    Of n bits there are 2^min(2L − 1, 2(n − L)) of complexity L ≥ 1, and one of 0 (Rueppel). NIST prints .01047 and
    .02078 for the outermost classes, which are 1/96 and 1/48 but for 2^-M.
    """
    orders = [0] * (2 * _OUTER + 1)
    for length in range(size + 1):
        count = 1 << min(2 * length - 1, 2 * (size - length)) if length else 1
        orders[complexity_class(size, length)] += count
    return tuple(count / (1 << size) for count in orders)


def complexities(blocks: Bits) -> npt.NDArray[np.int64]:
    """Compute the linear complexity of each row by Berlekamp and Massey's algorithm, all rows side by side.

    Polynomials and the bits seen, latest first, lie in words of 64 bits. Source: Massey, IEEE Trans. Inf. Theory 15
    (1969).
    """
    number, size = blocks.shape
    columns = np.ascontiguousarray(blocks.T).astype(np.uint64)
    words = size // _WORD + 1
    seen, register, before = (np.zeros((words, number), dtype=np.uint64) for _ in range(3))
    register[0] = before[0] = 1
    lengths = np.zeros(number, dtype=np.int64)
    for at in range(size):
        used = at // _WORD + 1
        _shift(seen[:used])
        seen[0] |= columns[at]
        _shift(before[: min(used + 1, words)])
        folded = np.bitwise_xor.reduce(register[:used] & seen[:used], axis=0)
        wrong = (np.bitwise_count(folded) & 1).astype(bool)
        grows = wrong & (2 * lengths <= at)
        kept = register[:, grows]
        register ^= np.where(wrong, before, np.uint64(0))
        before[:, grows] = kept
        lengths[grows] = at + 1 - lengths[grows]
    return lengths


def _shift(words: npt.NDArray[np.uint64]) -> None:
    """Multiply by two in place, each column one number with its lowest word first."""
    carry = words[:-1] >> np.uint64(_WORD - 1)
    words <<= np.uint64(1)
    words[1:] |= carry
