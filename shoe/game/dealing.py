"""A shoe in play: burn, coups in order, the cut card and the end (protocol §6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shoe.errors import ImpossibleError, InputError, expected
from shoe.game.cards import POINTS
from shoe.game.rules import Rules
from shoe.game.tableau import Coup, play_coup


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a shoe has come.

    `number` is the next coup's number, `position` its first card; `cut_drawn` says that an earlier coup drew the cut
    card, `ended` that no further coup may be dealt.
    """

    number: int
    position: int
    cut_drawn: bool = False
    ended: bool = False


@dataclass(frozen=True, slots=True)
class DealtCoup:
    """A coup and where it was dealt: its number, the shuffle it came from, its first card's position."""

    number: int
    hand: int
    start: int
    coup: Coup


def burned_cards(rules: Rules, first_card: int) -> int:
    """Count the cards burned before coup 0: none, or the shown first card and as many as its points.

    An ace counts 1, T J Q K count ten, so 2…11. Source: protocol §6.
    """
    return 0 if rules.burn == "none" else 1 + (POINTS[first_card] or 10)


def begin(rules: Rules, first_card: int) -> Progress:
    """Stand at the start of a sealed shoe whose card at position 0 is `first_card` (0…51)."""
    return Progress(number=0, position=burned_cards(rules, first_card))


def advance(rules: Rules, cut_position: int | None, progress: Progress, used: int) -> Progress:
    """Go past a coup of `used` cards.

    `cut_position` is the position that the cut card lies in front of: needed where the shoe is shuffled once. Raises
    InputError where the shoe has already ended. Source: protocol §6.
    """
    if progress.ended:
        raise InputError(f"coup {progress.number}: the shoe ended with coup {progress.number - 1}")
    number = progress.number + 1
    if rules.shuffle == "coup":
        return Progress(number=number, position=0, ended=number == rules.coups)
    if cut_position is None:
        raise InputError(expected("the cut card's position", None, "advance"))
    position = progress.position + used
    draws_cut = not progress.cut_drawn and position > cut_position
    last = progress.cut_drawn or (draws_cut and (rules.last_coup == "drawn_in" or progress.position == cut_position))
    return Progress(number, position, cut_drawn=progress.cut_drawn or draws_cut, ended=last)


def deal_shoe(rules: Rules, cards: Sequence[int], cut_position: int) -> Iterator[DealtCoup]:
    """Deal every coup of a shoe that is shuffled once; `cards` are all its cards in order.

    Source: protocol §6.
    """
    if rules.shuffle != "shoe" or len(cards) != rules.size:
        raise InputError(expected(f"the {rules.size} cards of a shoe shuffled once", len(cards), "deal_shoe"))
    progress = begin(rules, cards[0])
    while not progress.ended:
        dealt = next_coup(progress, cards)
        yield dealt
        progress = advance(rules, cut_position, progress, len(dealt.coup.cards))


def next_coup(progress: Progress, cards: Sequence[int], hand: int = 0) -> DealtCoup:
    """Deal the coup that a shoe's progress points at, from the cards of shuffle `hand`.

    Raises ImpossibleError should the cards run out, which legal rules exclude.
    """
    try:
        coup = play_coup(cards[progress.position : progress.position + 6])
    except InputError:
        raise ImpossibleError(f"coup {progress.number}: the cards ran out at {progress.position}") from None
    return DealtCoup(progress.number, hand, progress.position, coup)
