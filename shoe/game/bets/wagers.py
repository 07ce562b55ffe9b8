"""Wagers as frozen values: what each pays, and on which event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

from shoe.game.bets.events import EVENTS
from shoe.game.bets.shown import Shown


class Pay(NamedTuple):
    """One line of a pay table: on `event` a stake of `per` wins `gain`; a gain of 0 gives the stake back."""

    event: str
    gain: int
    per: int = 1


@dataclass(frozen=True, slots=True)
class Bet:
    """A bet: its pay table, read from the top; where no line's event happens, the stake is lost.

    `commission_bp` is the house's part of every win, in hundredths of a percent; `side` tells side bets from those on
    the outcome.
    """

    name: str
    pays: tuple[Pay, ...]
    commission_bp: int = 0
    side: bool = False

    def pay_on(self, shown: Shown) -> Pay | None:
        """Find the line that a coup is paid by, or None where the stake is lost."""
        return next((pay for pay in self.pays if EVENTS[pay.event].holds(shown)), None)


def _side(name: str, *pays: Pay) -> Bet:
    return Bet(name, pays, side=True)


def _dragon_bonus(hand: str) -> Bet:
    margins = ((9, 30), (8, 10), (7, 6), (6, 4), (5, 2), (4, 1))
    by_margin = (Pay(f"{hand}_by_{margin}", gain) for margin, gain in margins)
    return _side(f"{hand}_dragon_bonus", Pay(f"{hand}_natural_wins", 1), Pay("natural_tie", 0), *by_margin)


def doppelganger(hand: str, pure: int, coloured: int, mixed: int) -> Bet:
    """Make the DoppelGanger bet on the first two cards of `hand`, ``player`` or ``banker``, that pays so much to 1."""
    pays = (Pay(f"{hand}_pure", pure), Pay(f"{hand}_coloured", coloured), Pay(f"{hand}_mixed", mixed))
    return _side(f"{hand}_doppelganger", *pays)


_PUSH: Final = Pay("tie", 0)

PLAYER: Final = Bet("player", (Pay("player", 1), _PUSH))
BANKER: Final = Bet("banker", (Pay("banker", 1), _PUSH), commission_bp=500)
BANKER_19_20: Final = Bet("banker", (Pay("banker", 19, 20), _PUSH))
BANKER_EVEN: Final = Bet("banker", (Pay("banker", 1), _PUSH))
TIE: Final = Bet("tie", (Pay("tie", 8),))

MAIN: Final = (PLAYER, BANKER, TIE)
"""The three bets of punto banco as most houses pay them."""

DOPPELGANGERS: Final = tuple(doppelganger(hand, 25, 12, 6) for hand in ("player", "banker"))

_OTHERS: Final = (
    _side("player_pair", Pay("player_pair", 11)),
    _side("banker_pair", Pay("banker_pair", 11)),
    _side("either_pair", Pay("either_pair", 5)),
    _side("perfect_pair", Pay("either_pure", 25)),
    _side("perfect_pair_25_250", Pay("both_pure", 250), Pay("either_pure", 25)),
    Bet("ez_banker", (Pay("banker_three_card_7", 0), Pay("banker", 1), _PUSH)),
    _side("dragon_7", Pay("banker_three_card_7", 40)),
    _side("panda_8", Pay("player_three_card_8", 25)),
    Bet("no_commission_banker", (Pay("banker_6", 1, 2), Pay("banker", 1), _PUSH)),
    _side("super_6", Pay("banker_6", 12)),
    _side("lucky_6", Pay("banker_two_card_6", 12), Pay("banker_three_card_6", 20)),
    _dragon_bonus("player"),
    _dragon_bonus("banker"),
    _side("big", Pay("five_or_six_cards", 27, 50)),
    _side("small", Pay("four_cards", 3, 2)),
    _side("player_natural", Pay("player_natural", 4)),
    _side("banker_natural", Pay("banker_natural", 4)),
    Bet("tie_9", (Pay("tie", 9),)),
    *DOPPELGANGERS,
)

CATALOGUE: Final[Mapping[str, Bet]] = MappingProxyType({bet.name: bet for bet in (*MAIN, *_OTHERS)})
"""Every bet that a table can take ready made, by name; a table may pay any of them otherwise, or make its own."""
