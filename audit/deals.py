"""All coups of any shoe at once, by any drawing chart: for faults, and for shoes of which cards are gone.

A coup is decided by four numbers: the two-card totals of player and banker and the points of the next two cards.
So one array of ordered six-card deals, 10 × 10 × 10 × 10, holds the law of the next coup of a shoe, whatever chart
it is then dealt by. `audit.exact` comes to the same numbers without arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from audit.exact import VALUES, Cell
from shoe.errors import InputError, expected
from shoe.game.cards import DECK, MAX_DECKS
from shoe.game.tableau import MAX_CARDS, OUTCOMES, RULES, Outcome, banker_draws, player_draws, rule_of

Key = TypeVar("Key", bound=Hashable)
Law = Mapping[Key, Fraction]
Deals = npt.NDArray[np.int64]

STOOD: Final = 10
"""The column of a chart for a player who stood."""

_TOTALS: Final = range(8)


@dataclass(frozen=True, slots=True)
class Chart:
    """When each side draws: `player[total]` and `banker[total][third]`, totals 0…7, third 0…9 or `STOOD`."""

    player: tuple[bool, ...]
    banker: tuple[tuple[bool, ...], ...]

    def with_player_flipped(self, total: int) -> Chart:
        """Let the player do the opposite on one total."""
        return replace(self, player=tuple(draws != (t == total) for t, draws in enumerate(self.player)))

    def with_banker_flipped(self, total: int, third: int) -> Chart:
        """Let the banker do the opposite in one cell; `third` may be `STOOD`."""
        banker = tuple(
            tuple(draws != ((t, x) == (total, third)) for x, draws in enumerate(row))
            for t, row in enumerate(self.banker)
        )
        return replace(self, banker=banker)


CHART: Final = Chart(
    player=tuple(player_draws(total) for total in _TOTALS),
    banker=tuple((*(banker_draws(t, third) for third in VALUES), banker_draws(t, None)) for t in _TOTALS),
)
"""The chart of punto banco, read off the tableau (protocol §6)."""


def deal_counts(unseen: Sequence[int]) -> Deals:
    """Count the ordered six-card deals by player total, banker total, fifth and sixth card: 10 × 10 × 10 × 10.

    `unseen` has the number of cards of each point value 0…9 among which the coup's cards are equally likely; they
    are drawn without replacement. Takes about 7 ms. 64 bits hold the deals of 16 decks. Raises InputError for other
    than ten counts, a negative one, fewer than six cards or more than 16 decks.
    """
    counts = _checked(unseen)
    deals = _ORDERS.copy()
    for place, card in enumerate(_DEALT):
        left = counts[card]
        for earlier in _DEALT[:place]:
            left = left - (card == earlier)
        deals *= np.maximum(left, 0)
    return _by_totals(deals)


def endless_deal_counts(weights: Sequence[int]) -> Deals:
    """Count like `deal_counts` with every card put back: a shoe without end, values in the ratio of `weights`.

    Raises InputError like `deal_counts`.
    """
    counts = _checked(weights)
    deals = _ORDERS.copy()
    for card in _DEALT:
        deals *= counts[card]
    return _by_totals(deals)


def cell_law(deals: Deals, chart: Chart = CHART) -> dict[Cell, Fraction]:
    """Compute the exact probability of every cell that can occur when these deals are played by `chart`.

    A rule class is named by what was done: a banker who wrongly draws counts as one who drew.
    """
    cells, places = _cells_of(chart)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, places, deals)
    total = int(deals.sum())
    return {cell: Fraction(count, total) for cell, count in zip(cells, counts.tolist(), strict=True) if count}


def merged(law: Law[Cell], key: Callable[[Cell], Key]) -> dict[Key, Fraction]:
    """Add up a law's cells by `key`."""
    sums: dict[Key, Fraction] = {}
    for cell, p in law.items():
        sums[key(cell)] = sums.get(key(cell), Fraction(0)) + p
    return sums


def next_outcome(unseen: Sequence[int]) -> dict[Outcome, Fraction]:
    """Compute the exact probabilities of the next coup's outcome, given how many cards of each value are unseen.

    Cards that were burned face down are unseen, and so are those behind the cut card: given what was seen, every
    order of the unseen cards is equally likely. Takes about 7 ms. Raises InputError like `deal_counts`.
    """
    return outcome_law(deal_counts(unseen))


def outcome_law(deals: Deals) -> dict[Outcome, Fraction]:
    """Compute the exact probability of each outcome when these deals are played by the tableau."""
    return _law(deals, OUTCOMES, _OUTCOMES)


def rule_law(deals: Deals) -> dict[str, Fraction]:
    """Compute the exact probability of each of the 15 rule classes when these deals are played by the tableau."""
    return _law(deals, RULES, _RULES)


def _law(deals: Deals, labels: Sequence[Key], places: npt.NDArray[np.intp]) -> dict[Key, Fraction]:
    counts = np.zeros(len(labels), dtype=np.int64)
    np.add.at(counts, places, deals)
    total = int(deals.sum())
    return {label: Fraction(count, total) for label, count in zip(labels, counts.tolist(), strict=True)}


def _checked(counts: Sequence[int]) -> Deals:
    if len(counts) != len(VALUES) or min(counts) < 0:
        raise InputError(expected("ten counts of 0 or more cards", tuple(counts), "unseen"))
    if not MAX_CARDS <= sum(counts) <= DECK * MAX_DECKS:
        raise InputError(expected(f"{MAX_CARDS} to {DECK * MAX_DECKS} cards", sum(counts), "unseen"))
    return np.array(counts, dtype=np.int64)


# Two cards of one side, order left out: 55 pairs. Axes of the arrays below: player's pair, banker's, fifth, sixth card.
_LOW, _HIGH = np.triu_indices(len(VALUES))
_PAIR: Final = (_LOW + _HIGH) % 10
_DEALT: Final = (
    _LOW[:, None, None, None],
    _HIGH[:, None, None, None],
    _LOW[:, None, None],
    _HIGH[:, None, None],
    np.arange(10)[:, None],
    np.arange(10),
)
_PAIR_ORDERS: Final = np.where(_LOW == _HIGH, 1, 2)
_ORDERS: Final = np.ones((55, 55, 10, 10), np.int64) * (_PAIR_ORDERS[:, None] * _PAIR_ORDERS)[:, :, None, None]


def _by_totals(deals: Deals) -> Deals:
    by_totals = np.zeros((10, 10, 10, 10), dtype=np.int64)
    np.add.at(by_totals, (_PAIR[:, None], _PAIR), deals)
    return by_totals


@cache
def _cells_of(chart: Chart) -> tuple[tuple[Cell, ...], npt.NDArray[np.intp]]:
    """List the cells that `chart` can end in, and the place in that list of each of the 10,000 beginnings."""
    ends = [_play(chart, *start) for start in np.ndindex(10, 10, 10, 10)]
    cells = tuple(sorted(set(ends)))
    numbers = {cell: number for number, cell in enumerate(cells)}
    return cells, np.array([numbers[end] for end in ends], dtype=np.intp).reshape(10, 10, 10, 10)


def _play(chart: Chart, player: int, banker: int, fifth: int, sixth: int) -> Cell:
    if max(player, banker) not in _TOTALS:
        return Cell(rule_of(player, banker, None), 2, 2, player, banker)
    third = fifth if chart.player[player] else STOOD
    player_cards, last = (2, fifth) if third == STOOD else (3, sixth)
    if third != STOOD:
        player = (player + fifth) % 10
    draws = chart.banker[banker][third]
    group = rule_of(0, 0, None if third == STOOD else third).removesuffix("_draws")
    total = (banker + last) % 10 if draws else banker
    return Cell(f"{group}_{'draws' if draws else 'stands'}", player_cards, 2 + draws, player, total)


_OUTCOMES: Final = np.array([OUTCOMES.index(cell.outcome) for cell in _cells_of(CHART)[0]])[_cells_of(CHART)[1]]
_RULES: Final = np.array([RULES.index(cell.rule) for cell in _cells_of(CHART)[0]])[_cells_of(CHART)[1]]
