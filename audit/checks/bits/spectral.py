"""SP 800-22 §2.6: peaks in the discrete Fourier transform."""

from __future__ import annotations

from math import log, sqrt
from typing import Final

import numpy as np
from scipy.fft import rfft

from audit.checks.bits.evidence import Bits, Deviation, Score, require_bits

ABOVE: Final = 0.05
"""The share of frequencies whose modulus exceeds the threshold."""


def spectral(bits: Bits) -> tuple[Score, ...]:
    """Test how many frequencies stay below the modulus that 5 % of them exceed. Source: SP 800-22 §2.6.

    Each |F|²/n is about exponential, but their sum is fixed (Parseval), so the count's variance is below that of
    independent frequencies: n/2 · (q(1−q) − (q ln q)²) = n(.95)(.05)/3.790 with q = .05, where NIST has /4.
    Source: Iwasaki, "Deriving the variance of the discrete Fourier transform test", IEEE Trans. Inf. Theory 66 (2020).
    """
    n = require_bits(bits, 2, "spectral")
    return (Score.of("peaks", Deviation.of(peaks_below(bits) - (1 - ABOVE) * n / 2, peak_variance(n))),)


def peaks_below(bits: Bits) -> int:
    """Count the frequencies 0 … ⌊n/2⌋ − 1 with a modulus below √(n ln 20)."""
    moduli = np.abs(rfft(2.0 * bits - 1.0)[: bits.size // 2])
    return int(np.count_nonzero(moduli < sqrt(-log(ABOVE) * bits.size)))


def peak_variance(n: int) -> float:
    """Compute the variance of `peaks_below` of n random bits."""
    return n / 2 * (ABOVE * (1 - ABOVE) - (ABOVE * log(ABOVE)) ** 2)
