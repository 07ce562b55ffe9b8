"""Millions of coups dealt with numpy's own shuffle, as numbers; by any drawing chart. Imports nothing of ours.

A coup is a *code*: 300 × rule class + 30 × player total + 3 × banker total + cards used − 4, the class named by what
was done. Two-card totals and the next two cards index one table of 10,000 codes.
"""

from __future__ import annotations

from functools import cache

import numpy as np

POINTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0], dtype=np.int8)
NATURALS = ("player_natural", "banker_natural", "both_natural")
DREW = [f"{group}_{does}" for group in ("stood", "t23", "t45", "t67", "t8", "t0_9a") for does in ("draws", "stands")]
RULES = (*NATURALS, *DREW)
GROUPS = (5, 5, 1, 1, 2, 2, 3, 3, 4, 5, 0)  # by the third card 0…9; last: player stood
JOINT = 300
CODES = JOINT * len(RULES)
PLAYER_DRAWS = (True,) * 6 + (False,) * 2
UP_TO = (
    3,
    3,
    4,
    4,
    5,
    5,
    6,
    6,
    2,
    3,
    5,
)  # the banker's highest drawing total by the third card 0…9; last: player stood
BANKER_DRAWS = tuple(tuple(total <= up_to for up_to in UP_TO) for total in range(8))
SPARE = 12  # cards without meaning behind the shoe, so that ended shoes may be looked at

Chart = tuple[tuple[bool, ...], tuple[tuple[bool, ...], ...]]
CHART: Chart = (PLAYER_DRAWS, BANKER_DRAWS)


def shuffled(generator: np.random.Generator, decks: int, shoes: int) -> np.ndarray:
    """Point values of `shoes` shuffled shoes, with spare cards behind each."""
    cards = np.zeros((shoes, 52 * decks + SPARE), dtype=np.int8)
    cards[:, : 52 * decks] = generator.permuted(np.tile(POINTS, (shoes, 4 * decks)), axis=1)
    return cards


def judged(cards: np.ndarray, coups: int, chart: Chart = CHART) -> np.ndarray:
    """Codes of coups 1…K of every shoe, shoes × K."""
    codes = np.empty((len(cards), coups), dtype=np.int16)
    flat, position = cards.ravel(), np.arange(len(cards)) * cards.shape[1]
    for coup in range(coups):
        codes[:, coup], used = _next(flat, position, chart)
        position += used
    return codes


def whole(cards: np.ndarray, cut: int) -> np.ndarray:
    """Codes of all coups of every shoe, the one that draws the cut card last: shoes × most coups, −1 behind the end."""
    size = cards.shape[1] - SPARE
    flat, start = cards.ravel(), np.arange(len(cards)) * cards.shape[1]
    position, columns = start.copy(), []
    while (open_shoes := position - start <= size - cut).any():
        codes, used = _next(flat, np.minimum(position, start + size), CHART)
        columns.append(np.where(open_shoes, codes, -1).astype(np.int16))
        position += np.where(open_shoes, used, 0)
    return np.array(columns).T


def outcomes(codes: np.ndarray) -> np.ndarray:
    """0 player, 1 banker, 2 tie, for each code."""
    player, banker = np.divmod(np.arange(CODES) % JOINT // 3, 10)
    table = np.where(player > banker, 0, np.where(banker > player, 1, 2)).astype(np.int8)
    return table[codes]


def _next(flat: np.ndarray, position: np.ndarray, chart: Chart) -> tuple[np.ndarray, np.ndarray]:
    codes, used = table(chart)
    p1, b1, p2, b2, x, y = (flat[position + place].astype(np.int32) for place in range(6))
    index = (((p1 + p2) % 10 * 10 + (b1 + b2) % 10) * 10 + x) * 10 + y
    return codes[index], used[index]


@cache
def table(chart: Chart) -> tuple[np.ndarray, np.ndarray]:
    """Codes and cards used of all 10,000 starts of a coup."""
    player_draws, banker_draws = chart
    codes = np.empty(10_000, dtype=np.int16)
    for index in range(10_000):
        player, banker, x, y = (index // unit % 10 for unit in (1000, 100, 10, 1))
        left, rule = [x, y], 2 if min(player, banker) >= 8 else int(player < 8)
        if player < 8 and banker < 8:
            third = 10
            if player_draws[player]:
                third = left.pop(0)
                player = (player + third) % 10
            draws = banker_draws[banker][third]
            rule = 3 + 2 * GROUPS[third] + (not draws)
            if draws:
                banker = (banker + left.pop(0)) % 10
        codes[index] = JOINT * rule + 30 * player + 3 * banker + 2 - len(left)
    return codes, codes.astype(np.int64) % 3 + 4
