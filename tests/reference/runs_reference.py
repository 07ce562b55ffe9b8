"""Runs of two kinds by writing out every order; imports nothing of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, groupby, product


def orders(banker: int, player: int) -> Iterator[str]:
    """Every order of so many B and P."""
    for places in combinations(range(banker + player), banker):
        yield "".join("B" if place in places else "P" for place in range(banker + player))


def total_runs(sequences: list[tuple[int, int]]) -> Counter[int]:
    """How many of all orders of all sequences together have how many runs in total."""
    return Counter(
        sum(len(list(groupby(order))) for order in together)
        for together in product(*(orders(banker, player) for banker, player in sequences))
    )


def two_sided(counts: Counter[int], observed: int) -> Fraction:
    """Twice the smaller of both tails, each with the observed number in it, but at most 1."""
    low = sum(count for runs, count in counts.items() if runs <= observed)
    high = sum(count for runs, count in counts.items() if runs >= observed)
    return min(Fraction(1), Fraction(2 * min(low, high), counts.total()))
