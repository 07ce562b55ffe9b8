"""The first binary digits of π, e, √2 and √3 by integer arithmetic, the integer part included; imports nothing of ours.

These are the sequences that NIST's appendix B judges: 11.00100100…, 10.10110111…, 1.01101010…, 1.10111011….
"""

from __future__ import annotations

from functools import cache
from math import isqrt

GUARD = 64


@cache
def digits(name: str, count: int) -> bytes:
    """The first `count` binary digits of a constant as bytes 0 and 1."""
    whole = {"pi": pi, "e": e, "sqrt2": lambda n: root(2, n), "sqrt3": lambda n: root(3, n)}[name](count + GUARD)
    return bytes(f"{whole:b}"[:count].translate({48: 0, 49: 1}), "latin-1")


def root(number: int, bits: int) -> int:
    """⌊2^bits · √number⌋."""
    return isqrt(number << (2 * bits))


def e(bits: int) -> int:
    """⌊2^bits · e⌋ but for the last digits: Σ 1/k! by binary splitting."""
    terms = 2
    while terms * (terms.bit_length() - 2) < bits:
        terms *= 2
    p, q = _split_e(0, terms)
    return (p << bits) // q


def _split_e(a: int, b: int) -> tuple[int, int]:
    """P/Q with P/Q = Σ over a < k ≤ b of a!/k!; the term 1/0! is added where a = 0."""
    if b - a == 1:
        return (2 if a == 0 else 1), b
    m = (a + b) // 2
    p1, q1 = _split_e(a, m)
    p2, q2 = _split_e(m, b)
    return p1 * q2 + p2, q1 * q2


def pi(bits: int) -> int:
    """⌊2^bits · π⌋ but for the last digits: the series of D. and G. Chudnovsky by binary splitting."""
    q, t = _split_pi(0, bits // 47 + 2)[1:]
    return isqrt(10005 << (2 * bits)) * 426880 * q // t


def _split_pi(a: int, b: int) -> tuple[int, int, int]:
    if b - a == 1:
        p = (6 * a - 5) * (2 * a - 1) * (6 * a - 1) if a else 1
        q = a**3 * (640320**3 // 24) if a else 1
        t = p * (13591409 + 545140134 * a)
        return p, q, -t if a % 2 else t
    m = (a + b) // 2
    p1, q1, t1 = _split_pi(a, m)
    p2, q2, t2 = _split_pi(m, b)
    return p1 * p2, q1 * q2, q2 * t1 + p1 * t2
