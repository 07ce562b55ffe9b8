"""The forward Fisher–Yates shuffle and the cut as protocol §6 states them; imports nothing of the project.

A draw is a callable that gives a number 0…n−1; the shuffle is written over a list of any length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Draw = Callable[[int], int]


def shuffle(cards: Sequence[int], draw: Draw) -> list[int]:
    """For i = 0 … n−2: j = i + draw(n − i); exchange i and j."""
    order = list(cards)
    n = len(order)
    for i in range(n - 1):
        j = i + draw(n - i)
        at_i = order[i]
        order[i] = order[j]
        order[j] = at_i
    return order


def draws_that_give(cards: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, int]]:
    """The one run of (result, bound) by which the shuffle turns distinct `cards` into `wanted`."""
    order = list(cards)
    draws = []
    for i in range(len(order) - 1):
        j = order.index(wanted[i], i)
        draws.append((j - i, len(order) - i))
        order[j] = order[i]
    return draws


def shoe_and_cut(decks: int, cut_from: int, cut_to: int, draw: Draw) -> tuple[list[int], int]:
    """A shuffled shoe, then how many cards lie behind the cut card: no draw is spent where it is fixed."""
    cards = shuffle([card for _ in range(decks) for card in range(52)], draw)
    return cards, cut_from if cut_from == cut_to else cut_from + draw(cut_to - cut_from + 1)
