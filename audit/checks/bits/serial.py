"""SP 800-22 §2.11 and §2.12: how often every pattern occurs, overlaps and the way round the end included."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import log
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc, xlogy

from audit.checks.bits.evidence import Bits, Score, require_bits, window_codes
from shoe.errors import InputError, expected

WIDEST_SERIAL: Final = 16
WIDEST_ENTROPY: Final = 10


class PatternStatistic(Enum):
    """What is made of the counts of all patterns of m bits."""

    FIRST = "first difference"
    SECOND = "second difference"
    ENTROPY = "approximate entropy"


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """How often each pattern of m bits occurs in cyclic sequences: 2^m counts, and what is tested of them."""

    counts: npt.NDArray[np.int64]
    tested: PatternStatistic

    @property
    def statistic(self) -> float:
        """∇ψ²ₘ, ∇²ψ²ₘ, or 2n(ln 2 − ApEn(m − 1))."""
        shorter = shorten(self.counts)
        if self.tested is PatternStatistic.ENTROPY:
            n = float(self.counts.sum())
            return 2 * (n * log(2) - float(xlogy(shorter, shorter).sum() - xlogy(self.counts, self.counts).sum()))
        first = psi_square(self.counts) - psi_square(shorter)
        if self.tested is PatternStatistic.FIRST:
            return first
        return first - psi_square(shorter) + psi_square(shorten(shorter))

    @property
    def dof(self) -> int:
        """Degrees of freedom: half of the patterns, a quarter for the second difference."""
        return self.counts.size // (4 if self.tested is PatternStatistic.SECOND else 2)

    @property
    def p(self) -> float:
        """The upper tail of χ²."""
        return float(chdtrc(self.dof, self.statistic))

    def plus(self, other: Patterns) -> Patterns:
        """Add the counts; raises InputError for patterns of another length."""
        if other.counts.size != self.counts.size:
            raise InputError(expected(f"{self.counts.size} patterns", other.counts.size, "bits"))
        return Patterns(self.counts + other.counts, self.tested)


def serial(bits: Bits, width: int | None = None) -> tuple[Score, ...]:
    """Test that all patterns of m and of m − 1 bits are as many: ∇ψ² and ∇²ψ². Source: SP 800-22 §2.11.

    m is `width`, or the greatest m ≤ 16 below ⌊log₂ n⌋ − 2.
    """
    n = require_bits(bits, 64 if width is None else width, "serial")
    m = min(WIDEST_SERIAL, n.bit_length() - 4) if width is None else width
    counts = cyclic_counts(bits, m)
    return tuple(
        Score.of(how.value, Patterns(counts, how)) for how in (PatternStatistic.FIRST, PatternStatistic.SECOND)
    )


def approximate_entropy(bits: Bits, width: int | None = None) -> tuple[Score, ...]:
    """Test how much a bit depends on the m before it: 2n(ln 2 − ApEn(m)) ~ χ²(2^m). Source: SP 800-22 §2.12.

    m is `width`, or the greatest m ≤ 10 below ⌊log₂ n⌋ − 8. NIST allows up to ⌊log₂ n⌋ − 6, where the mean of this
    statistic exceeds 2^m by 2^(2m−1)/n: an eighth of a standard error at 100,000 bits.
    """
    n = require_bits(bits, 1024 if width is None else width + 1, "approximate_entropy")
    m = min(WIDEST_ENTROPY, n.bit_length() - 10) if width is None else width
    return (Score.of("entropy", Patterns(cyclic_counts(bits, m + 1), PatternStatistic.ENTROPY)),)


def cyclic_counts(bits: Bits, width: int) -> npt.NDArray[np.int64]:
    """Count every pattern of `width` bits, the sequence closed to a ring."""
    ring = np.concatenate((bits, bits[: width - 1]))
    return np.bincount(window_codes(ring, width), minlength=1 << width)


def shorten(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Count the patterns of one bit less in the same rings: drop the last bit."""
    return counts[::2] + counts[1::2]


def psi_square(counts: npt.NDArray[np.int64]) -> float:
    """Compute ψ² = 2^m/n Σν² − n, exactly until the division; 0 for patterns of no bit."""
    n = int(counts.sum())
    return (counts.size * int(counts @ counts) - n * n) / n
