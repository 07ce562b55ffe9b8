"""A shoe's cards as far as a log shows them: by suit and rank, by rank, or by points; what no shoe can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.foreign.notation import CODE_POINTS, CODES, FIRST_POINT, FIRST_RANK
from shoe.game.cards import DECK, NAMES, RANKS

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Level:
    """How exactly cards are known: the types told apart, and how many of each are in one deck.

    `types[code]` is a code's type, −1 for a code that is known less exactly. `k` successive cards are so many that they
    come twice by chance hardly ever: 2⁻⁸⁸ or less for one pair of places.
    """

    name: str
    labels: tuple[str, ...]
    in_deck: tuple[int, ...]
    types: Ints
    k: int

    @property
    def weights(self) -> Ints:
        """Weigh each type by the largest number of a type in a deck over its own: whole numbers."""
        return np.array([max(self.in_deck) // count for count in self.in_deck], dtype=np.int64)

    def shoe(self, decks: int) -> list[int]:
        """Count the cards of each type in a shoe."""
        return [decks * count for count in self.in_deck]


def _level(name: str, labels: Sequence[str], types: list[int], k: int) -> Level:
    in_deck = np.bincount(types[:DECK], minlength=len(labels)).tolist()
    table = np.array(types, dtype=np.int64)
    table.flags.writeable = False
    return Level(name, tuple(labels), tuple(in_deck), table, k)


_RANK_OF: Final = [*[card % len(RANKS) for card in range(DECK)], *range(len(RANKS)), *[-1] * 10]

CARDS: Final = _level("card", NAMES, [*range(DECK), *[-1] * (CODES - DECK)], 16)
RANKS_ALONE: Final = _level("rank", RANKS, _RANK_OF, 24)
POINTS_ALONE: Final = _level("point", "0123456789", list(CODE_POINTS), 32)
LEVELS: Final = (CARDS, RANKS_ALONE, POINTS_ALONE)
"""From the most exact to the least."""


def level_of(codes: Ints) -> Level:
    """Find the most exact level at which all these cards are known."""
    top = int(codes.max(initial=0))
    return CARDS if top < FIRST_RANK else RANKS_ALONE if top < FIRST_POINT else POINTS_ALONE


class Excess(NamedTuple):
    """What no shoe can hold: the place from 0 of the card that shows it, what was expected and what was found."""

    sort: str
    place: int
    expected: str
    found: str


def excesses(types: Ints, level: Level, decks: int) -> list[Excess]:
    """Find what a shoe's cards show that its decks don't hold: a type too often, more cards than there are.

    Each names the card at which it first shows; `found` says how often the type came in all, of the type of which the
    surplus shows first.
    """
    found = []
    limits = np.array(level.shoe(decks), dtype=np.int64)
    counts = np.bincount(types, minlength=len(limits))
    over = np.flatnonzero(counts > limits)
    if len(over):
        shown = {int(np.flatnonzero(types == kind)[limits[kind]]): int(kind) for kind in over}
        place, kind = min(shown.items())
        words = f"at most {limits[kind]} times {level.name} {level.labels[kind]} in {decks} decks"
        more = f", and {len(over) - 1} more too often" if len(over) > 1 else ""
        found.append(Excess(f"{level.name}_too_often", place, words, f"{counts[kind]}{more}"))
    if len(types) > DECK * decks:
        words = f"at most {DECK * decks} cards in {decks} decks"
        found.append(Excess("too_many_cards", DECK * decks, words, str(len(types))))
    return found
