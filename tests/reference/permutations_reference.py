"""Statistics of one order by their definitions, card by card, slowly; imports nothing of ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import factorial


def fixed_points(order: Sequence[int]) -> int:
    return sum(card == place for place, card in enumerate(order))


def cycles(order: Sequence[int]) -> int:
    """Follow every card home."""
    found, seen = 0, set[int]()
    for start in range(len(order)):
        if start not in seen:
            found += 1
            card = start
            while card not in seen:
                seen.add(card)
                card = order[card]
    return found


def descents(order: Sequence[int]) -> int:
    return sum(after < before for before, after in pairwise(order))


def rising_sequences(order: Sequence[int]) -> int:
    """Pick up 0, 1, 2 … from left to right; each time the deck has to be gone through again one more begins."""
    return 1 + sum(list(order).index(card + 1) < list(order).index(card) for card in range(len(order) - 1))


def inversions(order: Sequence[int]) -> int:
    return sum(order[i] > order[j] for i in range(len(order)) for j in range(i + 1, len(order)))


def neighbours_kept(order: Sequence[int]) -> int:
    return sum(after == before + 1 for before, after in pairwise(order))


def longest_increasing(order: Sequence[int]) -> int:
    """The best that ends at each card, by all cards before it."""
    best: list[int] = []
    for place, card in enumerate(order):
        best.append(1 + max((best[i] for i in range(place) if order[i] < card), default=0))
    return max(best)


def stretches(order: Sequence[int], step: int) -> list[int]:
    """Lengths, in neighbours, of maximal stretches in which each card is the one before plus `step`."""
    lengths, length = [], 0
    for before, after in pairwise(order):
        if after == before + step:
            length += 1
        else:
            lengths += [length] if length else []
            length = 0
    return lengths + ([length] if length else [])


def partitions(n: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """Ways to write n as a sum, the largest part first."""
    if n == 0:
        yield ()
    for part in range(min(n, largest or n), 0, -1):
        for rest in partitions(n - part, part):
            yield (part, *rest)


def tableaux(shape: tuple[int, ...]) -> int:
    """Standard Young tableaux of a shape, by the hook length formula of Frame, Robinson and Thrall."""
    columns = [sum(row > column for row in shape) for column in range(shape[0])]
    hooks = 1
    for i, row in enumerate(shape):
        for j in range(row):
            hooks *= row - j + columns[j] - i - 1
    return factorial(sum(shape)) // hooks
