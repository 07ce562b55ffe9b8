"""Two coups in a row by walking through every order of a small shoe, card by card; imports nothing of ours.

A shoe is a tuple of the number of cards of each point value 0…9. All results are exact fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from tests.reference import tableau_reference

Kind = tuple[str, str, int]  # rule class, outcome, cards used


def orders(left: list[int], cards: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Every run of `cards` point values from what is left, with the number of ways physical cards make it."""
    if cards == 0:
        yield (), 1
        return
    for value, held in enumerate(left):
        if held:
            left[value] -= 1
            for rest, ways in orders(left, cards - 1):
                yield (value, *rest), held * ways
            left[value] += 1


def first_two(shoe: tuple[int, ...]) -> dict[tuple[Kind, Kind], Fraction]:
    """P(first coup is of the one kind and the second of the other), by all orders of twelve cards."""
    ways_of: Counter[tuple[Kind, Kind]] = Counter()
    for values, ways in orders(list(shoe), 12):
        first = kind(values[:6])
        second = kind(values[first[2] : first[2] + 6])
        ways_of[first, second] += ways
    return {pair: Fraction(ways, ways_of.total()) for pair, ways in ways_of.items()}


def kind(values: tuple[int, ...]) -> Kind:
    """The kind of coup that six point values begin with."""
    used, _, _, outcome, rule = tableau_reference.coup(values)
    return rule, outcome, used


def both_stand_twice(decks: int, first: set[int], second: set[int]) -> Fraction:
    """P(both hands of coup 1 have two-card totals in `first`, and both hands of coup 2 in `second`).

    Only for totals 6…9 that let neither side draw, so that the second coup starts at the fifth card. Hand by
    hand: the first hands from a full shoe, each later one from what the earlier have left.
    """
    left = [16 * decks] + [4 * decks] * 9
    ways, size = _hands(left, [first, first, second, second]), 52 * decks
    for drawn in range(8):
        ways = ways / (size - drawn)
    return ways


def _hands(left: list[int], totals: list[set[int]]) -> Fraction:
    if not totals:
        return Fraction(1)
    ways = Fraction(0)
    for one, other in product(range(10), repeat=2):
        if (one + other) % 10 in totals[0]:
            held = left[one] * (left[other] - (one == other))
            if held:
                left[one] -= 1
                left[other] -= 1
                ways += held * _hands(left, totals[1:])
                left[one] += 1
                left[other] += 1
    return ways
