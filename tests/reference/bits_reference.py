"""The statistics of SP 800-22 as their definitions stand, bit by bit over lists and text; imports nothing of ours."""

from __future__ import annotations

import cmath
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import log, pi, sqrt

Row = Sequence[int]


def blocks(bits: Row, size: int) -> list[Row]:
    return [bits[start : start + size] for start in range(0, len(bits) - size + 1, size)]


def runs(bits: Row) -> int:
    return 1 + sum(a != b for a, b in pairwise(bits))


def longest_run(block: Row) -> int:
    return max(map(len, "".join(map(str, block)).split("0")))


def windows(bits: Row, width: int) -> Iterator[str]:
    text = "".join(map(str, bits))
    return (text[at : at + width] for at in range(len(text) - width + 1))


def non_overlapping_count(block: Row, pattern: str) -> int:
    """After a find, the search goes on behind it (§2.7.4)."""
    return "".join(map(str, block)).count(pattern)


def cyclic_counts(bits: Row, width: int) -> Counter[str]:
    return Counter(windows([*bits, *bits[: width - 1]], width))


def psi_square(bits: Row, width: int) -> Fraction:
    n = len(bits)
    return (
        Fraction(2**width * sum(count**2 for count in cyclic_counts(bits, width).values()), n) - n
        if width
        else Fraction()
    )


def approximate_entropy(bits: Row, width: int) -> float:
    def phi(size: int) -> float:
        return sum(c / len(bits) * log(c / len(bits)) for c in cyclic_counts(bits, size).values())

    return phi(width) - phi(width + 1)


def peaks_below(bits: Row) -> int:
    """The transform by its definition, its first half against √(n ln 20)."""
    n = len(bits)
    turn = [cmath.exp(-2j * pi * k / n) for k in range(n)]
    moduli = [abs(sum((2 * bit - 1) * turn[j * k % n] for k, bit in enumerate(bits))) for j in range(n // 2)]
    return sum(modulus < sqrt(log(20) * n) for modulus in moduli)


def walk(bits: Row) -> list[int]:
    place, places = 0, []
    for bit in bits:
        place += 1 if bit else -1
        places.append(place)
    return places


def excursion_cycles(bits: Row) -> list[list[int]]:
    """The walk cut at every 0; a last part that does not end at 0 is closed (§2.14.4)."""
    cycles: list[list[int]] = [[]]
    for place in walk(bits):
        if place == 0:
            cycles.append([])
        else:
            cycles[-1].append(place)
    return cycles if cycles[-1] else cycles[:-1]


def visit_distribution(place: int, most: int) -> list[Fraction]:
    """Chances that a cycle visits `place` 0, 1, … `most` or more times, by gambler's ruin in fractions.

    A step from `place` away from 0 comes back to it for certain.
    """
    x = abs(place)
    ahead = [Fraction(at, x) for at in range(x + 1)]
    reach = Fraction(1, 2) * ahead[1]
    again = Fraction(1, 2) + Fraction(1, 2) * ahead[x - 1]
    exactly = [1 - reach, *(reach * again ** (k - 1) * (1 - again) for k in range(1, most))]
    return [*exactly, 1 - sum(exactly)]


def log_distances(bits: Row, width: int, start: int) -> tuple[float, int]:
    last: dict[tuple[int, ...], int] = {}
    total, tested = 0.0, 0
    for place, block in enumerate(blocks(bits, width), start=1):
        if place > start:
            total += log(place - last.get(tuple(block), 0)) / log(2)
            tested += 1
        last[tuple(block)] = place
    return total, tested


def rank(rows: Sequence[int]) -> int:
    """Of rows as whole numbers: the number of rows kept that are no sum of others."""
    basis: list[int] = []
    for row in rows:
        rest = row
        for kept in basis:
            rest = min(rest, rest ^ kept)
        if rest:
            basis.append(rest)
    return len(basis)


def rank_by_span(rows: Sequence[int]) -> int:
    """By definition: the sums of rows are 2^rank different ones."""
    sums = {0}
    for row in rows:
        sums |= {total ^ row for total in sums}
    return len(sums).bit_length() - 1


def linear_complexity(bits: Row) -> int:
    """Berlekamp and Massey's algorithm on lists of coefficients (Massey 1969)."""
    n = len(bits)
    c, b = [1] + [0] * n, [1] + [0] * n
    length, since = 0, 1
    for at in range(n):
        wrong = sum(c[j] & bits[at - j] for j in range(length + 1)) % 2
        if wrong:
            kept = list(c)
            for j in range(n + 1 - since):
                c[j + since] ^= b[j]
            if 2 * length <= at:
                length, b, since = at + 1 - length, kept, 0
        since += 1
    return length


def shortest_register(bits: Row) -> int:
    """By definition: the least L with taps so that every later bit is the sum of tapped ones among the L before."""
    n = len(bits)
    for length in range(n + 1):
        for taps in product((0, 1), repeat=length):
            if all(
                bits[at] == sum(tap & bits[at - 1 - j] for j, tap in enumerate(taps)) % 2 for at in range(length, n)
            ):
                return length
    return n
