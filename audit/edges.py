"""The house's edge on each main bet: exact fractions, printed in percent without ever being a float."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from audit.exact import Exact
from shoe.errors import InputError, expected


@dataclass(frozen=True, slots=True)
class MainBet:
    """A bet on the coup's outcome: the net gain of one unit staked, −1 where lost and 0 where returned."""

    name: str
    on_player: Fraction
    on_banker: Fraction
    on_tie: Fraction


_LOST: Final = Fraction(-1)
_PUSH: Final = Fraction(0)

PLAYER: Final = MainBet("player 1:1", on_player=Fraction(1), on_banker=_LOST, on_tie=_PUSH)
BANKER: Final = MainBet("banker 19:20", on_player=_LOST, on_banker=Fraction(19, 20), on_tie=_PUSH)
TIE: Final = MainBet("tie 8:1", on_player=_LOST, on_banker=_LOST, on_tie=Fraction(8))
MAIN_BETS: Final = (PLAYER, BANKER, TIE)
"""The three bets of punto banco as most houses pay them."""


def edge(odds: Exact, bet: MainBet) -> Fraction:
    """Compute the house's expected gain per unit staked on the first coup of a full shoe.

    A tie that returns the stake counts as a unit staked, as published edges have it.
    """
    counts = odds.outcomes()
    net = bet.on_player * counts["player"] + bet.on_banker * counts["banker"] + bet.on_tie * counts["tie"]
    return -net / odds.total


def percent(fraction: Fraction, places: int = 12) -> str:
    """Print a fraction in percent, without the sign %, to 0 or more decimal places.

    Rounded exactly, a half away from zero; never through a float. Raises InputError for a negative `places`.
    """
    if places < 0:
        raise InputError(expected("0 or more decimal places", places, "places"))
    scaled = abs(fraction) * 100 * 10**places
    units = int(scaled + Fraction(1, 2))
    sign = "-" if fraction < 0 and units else ""
    whole, decimals = divmod(units, 10**places)
    return f"{sign}{whole}.{decimals:0{places}}" if places else f"{sign}{whole}"
