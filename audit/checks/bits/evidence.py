"""What a test of bits finds in one sequence, in a form that adds up over sequences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import erfc, sqrt
from typing import Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from shoe.errors import InputError, expected

Bits: TypeAlias = npt.NDArray[np.uint8]
"""A sequence of bits, one to an element, each 0 or 1."""


class Evidence(Protocol):
    """Counts or sums of one sequence or of many; sums are exact, so their order does not matter."""

    @property
    def statistic(self) -> float:
        """The statistic whose law under the null is known."""
        ...

    @property
    def p(self) -> float:
        """The probability, if the bits are random, of a statistic at least as far out."""
        ...

    def plus(self, other: Self) -> Self:
        """Add what another sequence of the same length showed."""
        ...


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far a sum lies above its mean, and its variance; about normal."""

    above: Fraction
    variance: Fraction

    @classmethod
    def of(cls, above: float | Fraction, variance: float | Fraction) -> Deviation:
        """Take floats at the value they have, so that sums of them are exact."""
        return cls(Fraction(above), Fraction(variance))

    @property
    def statistic(self) -> float:
        """Standard errors above the mean; 0 where nothing can vary."""
        return float(self.above) / sqrt(self.variance) if self.variance else 0.0

    @property
    def p(self) -> float:
        """Both tails of the normal law."""
        return erfc(abs(self.statistic) / sqrt(2))

    def plus(self, other: Deviation) -> Deviation:
        """Add both means' distances and both variances."""
        return Deviation(self.above + other.above, self.variance + other.variance)


@dataclass(frozen=True, slots=True)
class Squares:
    """A sum of about χ² distributed parts, and its degrees of freedom."""

    total: Fraction
    dof: int

    @classmethod
    def of(cls, total: float, dof: int) -> Squares:
        """Take a float at the value it has, so that sums of them are exact."""
        return cls(Fraction(total), dof)

    @property
    def statistic(self) -> float:
        """The sum."""
        return float(self.total)

    @property
    def p(self) -> float:
        """The upper tail of χ²."""
        return float(chdtrc(self.dof, self.statistic))

    def plus(self, other: Squares) -> Squares:
        """Add the sums and the degrees of freedom."""
        return Squares(self.total + other.total, self.dof + other.dof)


@dataclass(frozen=True, slots=True)
class Classes:
    """How many blocks fell into each class, and each class's probability."""

    counts: tuple[int, ...]
    law: tuple[float, ...]

    @property
    def statistic(self) -> float:
        """Pearson's χ² over the classes."""
        return pearson(self.counts, self.law)

    @property
    def p(self) -> float:
        """The upper tail of χ² with one degree of freedom less than there are classes."""
        return float(chdtrc(len(self.law) - 1, self.statistic))

    def plus(self, other: Classes) -> Classes:
        """Add the counts; raises InputError where the classes' law is another."""
        if other.law != self.law:
            raise InputError(expected("sequences of one length", "classes of two laws", "bits"))
        return Classes(tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)), self.law)


@dataclass(frozen=True, slots=True)
class Score:
    """One p-value of a test on one sequence; `evidence` is None where sequences don't add up."""

    label: str
    statistic: float
    p: float
    evidence: Evidence | None

    @classmethod
    def of(cls, label: str, evidence: Evidence) -> Score:
        """Judge a sequence by evidence that adds up."""
        return cls(label, evidence.statistic, evidence.p, evidence)


def pearson(counts: Sequence[int], law: Sequence[float]) -> float:
    """Compute Pearson's χ² of counts against the probabilities of their classes."""
    n = sum(counts)
    return sum((count - n * p) ** 2 / (n * p) for count, p in zip(counts, law, strict=True))


def unpack_bits(data: bytes, count: int | None = None) -> Bits:
    """Spread bytes into their first `count` bits (all without `count`), each byte's highest bit first.

    Raises InputError where the bytes hold fewer.
    """
    if count is not None and not 0 <= count <= 8 * len(data):
        raise InputError(expected(f"{count} bits", 8 * len(data), "unpack_bits"))
    return np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=count)


def require_bits(bits: Bits, least: int, test: str) -> int:
    """Give the length of `bits`; raises InputError below `least`, or where an element is neither 0 nor 1."""
    if bits.ndim != 1 or bits.dtype != np.uint8:
        raise InputError(expected("a row of uint8", f"{bits.ndim} dimensions of {bits.dtype}", test))
    if bits.size < least:
        raise InputError(expected(f"{least} or more bits", bits.size, test))
    if bits.max() > 1:
        raise InputError(expected("bits 0 and 1", int(bits.max()), test))
    return bits.size


def split_blocks(bits: Bits, size: int) -> Bits:
    """Lay the bits out in rows of `size`; what is left over at the end is left out."""
    blocks = bits.size // size
    return bits[: blocks * size].reshape(blocks, size)


def window_codes(rows: Bits, width: int) -> npt.NDArray[np.uint32]:
    """Read every window of `width` ≤ 32 neighbouring bits of every row as a number, first bit highest."""
    windows = rows.shape[-1] - width + 1
    codes = np.zeros((*rows.shape[:-1], windows), dtype=np.uint32)
    for at in range(width):
        codes <<= np.uint32(1)
        codes |= rows[..., at : at + windows]
    return codes
