"""The fixed order of the base cells, and how a coup goes on from its two-card totals."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Final

import numpy as np
import numpy.typing as npt

from audit.exact import Cell
from shoe.game.bets.shown import PAIRS, pair_of
from shoe.game.cards import DECK, POINTS
from shoe.game.tableau import OUTCOMES, Coup, play_coup

_TEN: Final = POINTS.index(0)


def cell_of(coup: Coup) -> Cell:
    """Name the base cell that a dealt coup falls in."""
    return Cell(coup.rule, len(coup.player_cards), len(coup.banker_cards), coup.player_total, coup.banker_total)


def _continued(entry: int) -> Coup:
    """Play the coup whose digits are the player's and the banker's two-card total and the next two cards' points."""
    player, banker, third, last = (POINTS.index(entry // 10**place % 10) for place in (3, 2, 1, 0))
    return play_coup([player, banker, _TEN, _TEN, third, last])


_COUPS: Final = tuple(_continued(entry) for entry in range(10_000))

CELLS: Final[tuple[Cell, ...]] = tuple(sorted({cell_of(coup) for coup in _COUPS}))
"""Every cell that the tableau of protocol §6 can reach, sorted: 514, whatever the number of decks."""

CELL_INDEX: Final[dict[Cell, int]] = {cell: index for index, cell in enumerate(CELLS)}
"""The place of each cell in `CELLS`."""


@cache
def coup_table() -> npt.NDArray[np.int64]:
    """Build the table, int64[10000, 3], by which a coup is dealt at a glance.

    Row 1000·P + 100·B + 10·t + u is for two-card totals P and B of player and banker and points t, u of the next two
    cards, drawn or not: the cell's place in `CELLS`, the cards used, the outcome's place in `OUTCOMES`. Filled by the
    tableau itself (protocol §6). Not to be written to: every caller gets the same array.
    """
    table = np.array(
        [(CELL_INDEX[cell_of(coup)], len(coup.cards), OUTCOMES.index(coup.outcome)) for coup in _COUPS], dtype=np.int64
    )
    table.flags.writeable = False
    return table


@cache
def twin_table() -> npt.NDArray[np.uint8]:
    """Build the table, uint8[2704], of the place in `PAIRS` of the pair that cards make, at 52·one + other.

    Not to be written to: every caller gets the same array.
    """
    table = np.array([PAIRS.index(pair_of(both)) for both in product(range(DECK), repeat=2)], dtype=np.uint8)
    table.flags.writeable = False
    return table
