"""Many shoes dealt at once with numpy's own shuffle; imports nothing of ours.

The dealer names a coup's rule class by what it *did*, so that an engine with a fault in its chart is seen as such.
"""

from __future__ import annotations

import numpy as np

POINTS = np.minimum(np.arange(13) + 1, 10) % 10
UP_TO = (3, 3, 4, 4, 5, 5, 6, 6, 2, 3)
GROUPS = ("t0_9a", "t0_9a", "t23", "t23", "t45", "t45", "t67", "t67", "t8", "t0_9a")

Coup = tuple[str, str, int, int, int]  # outcome, rule class, cards used, player's total, banker's total


def deal(decks: int, shoes: int, coups: int, seed: int, banker_up_to: tuple[int, ...] = UP_TO) -> list[list[Coup]]:
    """Deal the first `coups` coups of each of `shoes` shoes.

    `banker_up_to` is the highest total on which the banker draws, by the player's third card.
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    cards = generator.permuted(np.tile(POINTS, (shoes, 4 * decks)), axis=1)
    dealt: list[list[Coup]] = [[] for _ in range(shoes)]
    position = np.zeros(shoes, dtype=np.int64)
    for _ in range(coups):
        columns = np.minimum(position + np.arange(6)[:, None], 52 * decks - 1)
        rows, position = _coups(cards[np.arange(shoes), columns], position, np.array(banker_up_to))
        for shoe, coup in zip(dealt, rows, strict=True):
            shoe.append(coup)
    return dealt


def _coups(values: np.ndarray, position: np.ndarray, up_to: np.ndarray) -> tuple[list[Coup], np.ndarray]:
    player, banker = (values[0] + values[2]) % 10, (values[1] + values[3]) % 10
    third = values[4]
    natural = np.maximum(player, banker) >= 8
    drew = ~natural & (player <= 5)
    banker_drew = ~natural & np.where(drew, banker <= up_to[third], banker <= 5)
    used = 4 + drew + banker_drew
    last = np.where(drew, values[5], third)
    totals = (player + third * drew) % 10, (banker + last * banker_drew) % 10
    rules = [
        _rule(*row) for row in zip(player.tolist(), banker.tolist(), third.tolist(), drew, banker_drew, strict=True)
    ]
    winner = np.sign(totals[0] - totals[1]).tolist()
    outcomes = [{1: "player", -1: "banker", 0: "tie"}[sign] for sign in winner]
    rows = zip(outcomes, rules, used.tolist(), totals[0].tolist(), totals[1].tolist(), strict=True)
    return list(rows), position + used


def _rule(player: int, banker: int, third: int, drew: bool, banker_drew: bool) -> str:
    if player >= 8 or banker >= 8:
        if player >= 8 and banker >= 8:
            return "both_natural"
        return "player_natural" if player >= 8 else "banker_natural"
    group = GROUPS[third] if drew else "stood"
    return f"{group}_draws" if banker_drew else f"{group}_stands"
