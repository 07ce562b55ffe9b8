"""Engines that deal whole shoes with numpy in any order of the first four cards; for 52·n cards, a fixed cut, no burn.

With the right order, player, banker, player, banker, the engine equals the kernel in all but the hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from audit.block import Block
from audit.cells import CELLS, coup_table
from audit.engine import KERNEL, Engine
from audit.keystream import Keys
from shoe.game.cards import POINTS
from shoe.game.rules import Rules

RIGHT, PLAYER_FIRST = (0, 1, 2, 3), (0, 2, 1, 3)
TIE, BANKER = 2, 1


def engine(order: Sequence[int]) -> Engine:
    """The kernel's shuffle, dealt so that card `order[i]` of a coup goes where card i belongs."""
    return KERNEL._replace(deal_block=partial(deal_block, tuple(order)))


def deal_block(order: tuple[int, ...], rules: Rules, keys: Keys, first: int, count: int) -> Block:
    ids = KERNEL.orders(rules, keys, range(first, first + count))
    points = np.zeros((count, rules.size + 6), np.int64)
    points[:, : rules.size] = np.array(POINTS)[ids % 52]
    cells, outcomes, coups = _deal(points, order, rules)
    judged = outcomes[:, : rules.judged_coups]
    pairs = 3 * judged[:, :-1] + judged[:, 1:]
    across = 3 * judged[0 : count // 2 * 2 : 2] + judged[1::2]
    wins = np.zeros((rules.judged_coups + 1,) * 2, np.int64)
    np.add.at(wins, ((judged == BANKER).sum(axis=1), (judged == 0).sum(axis=1)), 1)
    return Block(
        shoes=count,
        judged_cells=np.bincount(cells[:, : rules.judged_coups].ravel(), minlength=len(CELLS)),
        all_cells=np.bincount(cells[cells >= 0], minlength=len(CELLS)),
        coups_per_shoe=np.bincount(coups, minlength=rules.size // 4 + 3),
        wins=wins,
        runs=sum(_runs(row) for row in judged),
        pairs=np.bincount(pairs.ravel(), minlength=9),
        first=np.bincount(judged[:, 0], minlength=3),
        last=np.bincount(judged[:, -1], minlength=3),
        same_place=np.bincount(across.ravel(), minlength=9),
        order_hashes=np.arange(first, first + count, dtype=np.uint64),
    )


def _deal(points: np.ndarray, order: tuple[int, ...], rules: Rules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cells and outcomes, shoes × most coups, −1 behind the end, and each shoe's number of coups."""
    assert rules.cut is not None
    cut, shoes = rules.size - rules.cut.lowest, np.arange(len(points))
    at, columns = np.zeros(len(points), np.int64), []
    while (going := at <= cut).any():
        card = [points[shoes, np.minimum(at + place, rules.size)] for place in (*order, 4, 5)]
        index = ((card[0] + card[2]) % 10 * 10 + (card[1] + card[3]) % 10) * 100 + card[4] * 10 + card[5]
        cell, used, outcome = coup_table()[index].T
        columns.append(np.where(going, (cell, outcome), -1))
        at += np.where(going, used, 0)
    cells, outcomes = np.array(columns).transpose(1, 2, 0)
    return cells, outcomes, (cells >= 0).sum(axis=1)


def _runs(row: np.ndarray) -> int:
    winners = row[row != TIE]
    return int((winners[1:] != winners[:-1]).sum()) + bool(len(winners))
