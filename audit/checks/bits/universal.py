"""SP 800-22 §2.9: Maurer's universal test, with the exact variance."""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve

from audit.checks.bits.evidence import Bits, Deviation, Score, require_bits, split_blocks, window_codes
from shoe.errors import InputError, expected

NARROWEST: Final = 6
WIDEST: Final = 16
_REACH: Final = 40
"""Distances up to this many times the number of patterns count: what lies beyond has probability e^-40."""


def universal(bits: Bits) -> tuple[Score, ...]:
    """Test the mean log₂ distance between a block and the last one like it. Source: SP 800-22 §2.9.

    Raises InputError below 387,840 bits.
    """
    n = require_bits(bits, block_bits_need(NARROWEST), "universal")
    width = max(width for width in range(NARROWEST, WIDEST + 1) if n >= block_bits_need(width))
    start = 10 << width
    total, tested = log_distances(bits, width, start)
    mean, _, error = universal_law(width, tested)
    return (Score.of("distances", Deviation.of(total - tested * mean, (tested * error) ** 2)),)


def block_bits_need(width: int) -> int:
    """Compute the bits that blocks of `width` bits need: 10·2^width to start with, 1,000·2^width to test."""
    return 1010 * width << width


def log_distances(bits: Bits, width: int, start: int) -> tuple[float, int]:
    """Add log₂ of each block's distance from the last like it, over the blocks after the first `start`.

    Gives the sum and the number of these blocks; a block that is the first of its kind counts its own place.
    """
    rows = split_blocks(bits, width)
    if len(rows) <= start:
        raise InputError(expected(f"more than {start} blocks", len(rows), "universal"))
    codes = window_codes(rows, width)[:, 0]
    order = np.argsort(codes, kind="stable")
    distances = np.empty(len(codes), dtype=np.int64)
    same = codes[order[1:]] == codes[order[:-1]]
    distances[order[0]] = order[0] + 1
    distances[order[1:]] = np.where(same, order[1:] - order[:-1], order[1:] + 1)
    return float(np.log2(distances[start:]).sum()), len(codes) - start


@cache
def universal_law(width: int, tested: int) -> tuple[float, float, float]:
    """Compute the mean and variance of one log₂ distance, and the standard error of the mean of `tested` of them.

    NIST's error is σ/√K times c = 0.7 − 0.8/L + (4 + 32/L) K^(−3/L)/15, a guess; at a million bits it is 2.3 % too
    small. Here the covariance of distances k blocks apart is exact, as derived in Coron and Naccache, "An accurate
    evaluation of Maurer's universal test", SAC 1998.
    """
    p = 2.0**-width
    far = _REACH << width
    logs = np.log2(np.arange(1, 2 * far + 1))
    law = p * np.power(1 - p, np.arange(2 * far))
    mean = float(logs @ law)
    variance = float((logs - mean) ** 2 @ law)
    lags = np.arange(1, far)
    weights = np.maximum(0.0, 1 - lags / tested)
    covariance = float(weights @ (_mean_products(width, logs, law, mean) - mean * mean))
    return mean, variance, sqrt((variance + 2 * covariance) / tested)


def _mean_products(
    width: int, logs: npt.NDArray[np.float64], law: npt.NDArray[np.float64], mean: float
) -> npt.NDArray[np.float64]:
    """Compute E[log i · log j], i a block's distance and j that of the block k later, for lags k = 1, 2 and so on.

    Where j ≤ k, j tells nothing of i. Else the later block's last like it is neither the earlier block nor one
    like it; it lies nearer than the earlier one's (j < k + i) or further (j > k + i), never at the same place.
    """
    p, far = 2.0**-width, _REACH << width
    seldom = (1 - p) ** np.arange(2 * far)
    # later[d] = Σ over i > d of log i · p (1 − p)^(i − d − 1)
    later = np.append(np.cumsum((logs * law)[::-1])[::-1], 0.0)[: 2 * far] / seldom
    both = p * (1 - 2 * p) ** np.arange(far)
    nearer = _correlate(logs[1:], both * later[1 : far + 1])
    further = _correlate(later[2:], both * logs[:far])
    within = np.cumsum(logs * law)[: far - 1]
    return mean * within + seldom[1:far] * (nearer[: far - 1] + further[: far - 1])


def _correlate(long: npt.NDArray[np.float64], short: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Compute Σ over d of long[k + d] · short[d], for every k at which all of `short` is covered."""
    return np.asarray(fftconvolve(long, short[::-1], mode="valid"), dtype=np.float64)
