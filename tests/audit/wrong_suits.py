"""Engines whose cards have other faces than they should, dealt with numpy; for shoes without a burned card.

With right faces the counts of judged coups equal the kernel's, pairs included: a slow tally on the same orders.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from audit.block import Block
from audit.cells import CELLS, coup_table
from audit.engine import KERNEL, Engine
from audit.keystream import Keys
from shoe.game.bets.shown import PAIRS
from shoe.game.cards import POINTS, card_name
from shoe.game.rules import Rules
from tests.reference.bets_reference import twins

NAMES = [card_name(card) for card in range(52)]
CLASSES = np.array([[PAIRS.index(twins([a, b]) or "none") for b in NAMES] for a in NAMES])  # type: ignore[arg-type]


def right(decks: int) -> np.ndarray:
    """The face, 0…51, of each physical card."""
    return np.arange(52 * decks) % 52


def hearts_printed_as_spades(decks: int, of_decks: int) -> np.ndarray:
    """The same, but that in the first so many decks every heart is a spade."""
    faces = right(decks)
    wrong = {NAMES.index(f"{rank}h"): NAMES.index(f"{rank}s") for rank in "A23456789TJQK"}
    for card in range(52 * of_decks):
        faces[card] = wrong.get(int(faces[card]), faces[card])
    return faces


def engine(faces: np.ndarray) -> Engine:
    return KERNEL._replace(deal_block=partial(deal_block, faces))


def deal_block(faces: np.ndarray, rules: Rules, keys: Keys, first: int, count: int) -> Block:
    """The kernel's own block, but for the pairs, which are read off the faces."""
    orders = faces[KERNEL.orders(rules, keys, range(first, first + count))]
    block = KERNEL.deal_block(rules, keys, first, count)
    found = pair_cells(orders, rules.judged_coups)
    assert found.reshape(len(CELLS), -1).sum(axis=1).tolist() == block.judged_cells.tolist()
    return Block(**{name: getattr(block, name) for name in Block.__dataclass_fields__ if name != "pair_cells"},
                 pair_cells=found)  # fmt: skip


def pair_cells(orders: np.ndarray, judged: int, *, shoe_by_shoe: bool = False) -> np.ndarray:
    """Judged coups of shoes by cell and both hands' pairs, counted, or the place of each: shoes × K."""
    points, shoes = np.array(POINTS)[orders], np.arange(len(orders))
    at, columns = np.zeros(len(orders), np.int64), []
    for _ in range(judged):
        p = [points[shoes, at + place] for place in range(6)]
        cell, used, _ = coup_table()[((p[0] + p[2]) % 10 * 10 + (p[1] + p[3]) % 10) * 100 + p[4] * 10 + p[5]].T
        card = [orders[shoes, at + place] for place in range(4)]
        both = 4 * CLASSES[card[0], card[2]] + CLASSES[card[1], card[3]]
        columns.append(16 * cell + both)
        at += used
    places = np.array(columns).T
    return places if shoe_by_shoe else np.bincount(places.ravel(), minlength=16 * len(CELLS))
