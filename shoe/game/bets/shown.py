"""What a coup shows: all of it that any bet is decided by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from typing import Final, Literal, NamedTuple

from shoe.errors import InputError, expected
from shoe.game.cards import POINTS, card_name
from shoe.game.tableau import Coup, Outcome, outcome_of, play_coup

Pair = Literal["none", "mixed", "coloured", "pure"]
PAIRS: Final[tuple[Pair, ...]] = ("none", "mixed", "coloured", "pure")
"""Classes of a hand's first two cards, so named by the DoppelGanger house: no pair; a pair of both colours; of one
colour and two suits; of one suit."""

_RED: Final = "dh"
_NATURAL_FROM: Final = 8


class Shown(NamedTuple):
    """A coup as bets see it: final totals 0…9, cards of each side (2 or 3), class of each side's first two cards."""

    player_total: int
    banker_total: int
    player_cards: int
    banker_cards: int
    player_pair: Pair
    banker_pair: Pair

    @property
    def outcome(self) -> Outcome:
        """Name the winner, or tie."""
        return outcome_of(self.player_total, self.banker_total)

    @property
    def player_natural(self) -> bool:
        """Whether the player has 8 or 9 on two cards."""
        return self.player_cards == 2 and self.player_total >= _NATURAL_FROM

    @property
    def banker_natural(self) -> bool:
        """Whether the banker has 8 or 9 on two cards."""
        return self.banker_cards == 2 and self.banker_total >= _NATURAL_FROM


def shown_by(coup: Coup) -> Shown:
    """Read off a dealt coup what it shows."""
    return Shown(
        coup.player_total,
        coup.banker_total,
        len(coup.player_cards),
        len(coup.banker_cards),
        pair_of(coup.player_cards),
        pair_of(coup.banker_cards),
    )


def pair_of(cards: Sequence[int]) -> Pair:
    """Class the first two cards of a hand; a third card neither makes nor breaks a pair.

    Raises InputError for fewer than two cards, CardError for a number that is no card.
    """
    if len(cards) < 2:
        raise InputError(expected("a hand of two or three cards", len(cards), "pair_of"))
    one, other = card_name(cards[0]), card_name(cards[1])
    if one[0] != other[0]:
        return "none"
    if one == other:
        return "pure"
    return "coloured" if (one[1] in _RED) == (other[1] in _RED) else "mixed"


@cache
def reachable(decks: int) -> frozenset[Shown]:
    """List everything that a coup from a shoe of so many decks can show, whatever its odds.

    A pair's two points add up to an even total, and a pure pair needs a second deck.
    """
    ten = _card(0)
    pairs: tuple[tuple[Pair, ...], tuple[Pair, ...]] = (PAIRS if decks > 1 else PAIRS[:-1], ("none",))
    shown = set()
    for player, banker, third, last in product(range(10), repeat=4):
        coup = play_coup([_card(player), _card(banker), ten, ten, _card(third), _card(last)])
        totals = coup.player_total, coup.banker_total, len(coup.player_cards), len(coup.banker_cards)
        shown |= {Shown(*totals, *both) for both in product(pairs[player % 2], pairs[banker % 2])}
    return frozenset(shown)


def _card(points: int) -> int:
    return POINTS.index(points)
