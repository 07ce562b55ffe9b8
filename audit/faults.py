"""The catalogue of faults: what an engine can get wrong, as the exact law of the coups that it then deals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from audit.deals import CHART, STOOD, Chart, cell_law, deal_counts, endless_deal_counts
from audit.exact import VALUES, Cell, multiplicities

_ENDLESS: Final = (4, *[1] * 9)


@dataclass(frozen=True, slots=True)
class Fault:
    """One way to deal wrongly: a flipped cell of the chart, or cards that are not those of the shoe.

    `cards` counts the shoe's cards by point value; where `endless`, only their ratios matter, for every card is put
    back.
    """

    name: str
    words: str
    cards: tuple[int, ...]
    chart: Chart = CHART
    endless: bool = False

    def law(self) -> dict[Cell, Fraction]:
        """Compute the exact law of the first coup, and so of every coup 1…K, in some 20 ms.

        Cells that no right coup ends in have rule classes named by what was done.
        """
        return cell_law((endless_deal_counts if self.endless else deal_counts)(self.cards), self.chart)


def honest_law(decks: int) -> dict[Cell, Fraction]:
    """Compute the law without a fault, in the form of `Fault.law`. Raises RulesError unless 1 ≤ decks ≤ 16."""
    return cell_law(deal_counts(multiplicities(decks)))


def catalogue(decks: int) -> tuple[Fault, ...]:
    """List every fault for a table of 1 to 16 decks: 8 player cells, 88 banker cells, and 12 wrong shoes.

    Raises RulesError for any other number of decks.
    """
    return (*player_flips(decks), *banker_flips(decks), *wrong_shoes(decks))


def player_flips(decks: int) -> tuple[Fault, ...]:
    """List the faults of a player who does the opposite on one two-card total 0…7."""
    full = multiplicities(decks)
    return tuple(
        Fault(
            f"player_{total}_{'stands' if draws else 'draws'}",
            f"the player {'stands' if draws else 'draws'} on {total}",
            full,
            CHART.with_player_flipped(total),
        )
        for total, draws in enumerate(CHART.player)
    )


def banker_flips(decks: int) -> tuple[Fault, ...]:
    """List the faults of a banker who does the opposite in one of the 88 cells of the tableau."""
    full = multiplicities(decks)
    return tuple(
        _banker_flip(full, total, third, draws)
        for total, row in enumerate(CHART.banker)
        for third, draws in enumerate(row)
    )


def banker_six_never_draws(decks: int) -> Fault:
    """Build the double flip of a banker who stands on 6 against a 6 and a 7 too."""
    chart = CHART.with_banker_flipped(6, 6).with_banker_flipped(6, 7)
    return Fault("banker_6_never_draws", "the banker never draws on 6", multiplicities(decks), chart)


def wrong_shoes(decks: int) -> tuple[Fault, ...]:
    """List the shoes that are not `decks` full decks: without end, two decks fewer (or one more), one card missing."""
    full = multiplicities(decks)
    other = decks - 2 if decks > 2 else decks + 1
    missing = (
        Fault(
            f"one_{value}_missing",
            f"one card of {value} points is missing",
            tuple(count - (v == value) for v, count in enumerate(full)),
        )
        for value in VALUES
    )
    return (
        Fault("endless_shoe", "every card is put back before the next is drawn", _ENDLESS, endless=True),
        Fault(f"{other}_decks", f"{other} decks instead of {decks}", multiplicities(other)),
        *missing,
    )


def _banker_flip(full: tuple[int, ...], total: int, third: int, draws: bool) -> Fault:
    does = "stands" if draws else "draws"
    against, words = ("stood", "a player who stood") if third == STOOD else (str(third), f"a third card of {third}")
    return Fault(
        f"banker_{total}_{does}_against_{against}",
        f"the banker {does} on {total} against {words}",
        full,
        CHART.with_banker_flipped(total, third),
    )
