"""A table's terms: its bets and all that holds for a stake, as typed values; `shoe.game.bets.record` reads and prints.

They stand in a table's rules beside the keys of protocol §6, so that whoever replays a coup needs nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from shoe.errors import BetError, RulesError, expected
from shoe.game.bets.wagers import Bet

Rounding = Literal["half_up", "up", "down"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a single stake may be, in minor units; `below` says whether a lower one is raised or refused.

    `max_minor` is None where the table has no greatest stake.
    """

    min_minor: int
    max_minor: int | None
    below: Literal["raise", "refuse"]


@dataclass(frozen=True, slots=True)
class Money:
    """How money is counted: minor units, their rounding, and what a bettor and the bank start with.

    `rounding` is that of the commission, and of whatever the house keeps of a fraction. `least_commission_minor` is
    due on every win that pays a commission. `bank_minor` is None where the bank can't be broken, `purse_minor` where
    the house gives no purse.
    """

    minor_per_unit: int
    rounding: Rounding
    least_commission_minor: int
    default_stake_minor: int
    purse_minor: int | None
    bank_minor: int | None


@dataclass(frozen=True, slots=True)
class OwnLimit:
    """That a player may lower the greatest stake for herself: how confirmed, how often, where it holds.

    The week turns on `day` at 00:00 in `zone`, daylight saving observed.
    """

    confirmed_by: Literal["pin"]
    once_a: Literal["week"]
    day: Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    zone: str
    holds_for: Literal["all_tables", "table"]


@dataclass(frozen=True, slots=True)
class Pace:
    """When a coup is dealt, and what waits for the next.

    `deal` is ``asked`` where the player's Deal deals, ``all_chosen`` where everyone must have chosen Deal or Pass;
    `decide_s` seconds without either sit a player out, None waits. Who joins in mid-coup, and a stake or setting that
    is changed during a coup, counts from the next. `rebet` offers the last bets again, `preserve` keeps them laid,
    `loop` plays many coups unattended, without limits on losses.
    """

    deal: Literal["asked", "all_chosen"]
    decide_s: int | None
    rebet: bool
    preserve: bool
    loop: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """All that a table says of bets.

    `combine` allows one bet on the outcome per coup, or any of them together; `side_bets` may stand alone or need a
    bet on the outcome. `chips_minor` rise, each a multiple of the first; None takes any whole stake. `on_tie` tells
    what becomes of a stake that a tie neither wins nor loses: it goes back, stays for the next coup, or stays unless it
    is taken back.
    """

    bets: tuple[Bet, ...]
    combine: Literal["one", "any"]
    side_bets: Literal["alone", "with_main"]
    limits: Limits
    own_limit: OwnLimit | None
    chips_minor: tuple[int, ...] | None
    money: Money
    on_tie: Literal["returned", "stays", "may_stay"]
    pace: Pace

    def __post_init__(self) -> None:
        """Refuse what doesn't fit together."""
        names = [bet.name for bet in self.bets]
        if not names or len(set(names)) < len(names):
            raise RulesError(expected("one or more bets of different names", names, "rules.bets"))
        limits, chips, default = self.limits, self.chips_minor, self.money.default_stake_minor
        if limits.max_minor is not None and limits.max_minor < limits.min_minor:
            what = f"null or at least min_minor, {limits.min_minor}"
            raise RulesError(expected(what, limits.max_minor, "rules.limits.max_minor"))
        if chips is not None:
            self._check_chips(chips)
        if not limits.min_minor <= default <= (limits.max_minor or default):
            raise RulesError(expected("a stake within the limits", default, "rules.money.default_stake_minor"))

    def _check_chips(self, chips: tuple[int, ...]) -> None:
        if not chips or any(b <= a or b % chips[0] for a, b in pairwise(chips)):
            raise RulesError(expected("rising chips, each a multiple of the first", list(chips), "rules.chips_minor"))
        given = {"limits.min_minor": self.limits.min_minor, "limits.max_minor": self.limits.max_minor}
        for key, amount in {**given, "money.default_stake_minor": self.money.default_stake_minor}.items():
            if amount is not None and amount % chips[0]:
                raise RulesError(expected(f"a multiple of the least chip, {chips[0]}", amount, f"rules.{key}"))

    def bet(self, name: str) -> Bet:
        """Find a bet of this table; raises BetError naming those there are."""
        for bet in self.bets:
            if bet.name == name:
                return bet
        raise BetError(expected("one of this table's bets, " + ", ".join(bet.name for bet in self.bets), name, "bet"))
