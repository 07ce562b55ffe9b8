"""Settling a bet: what a coup pays on a stake, in whole minor units, rounded as the table's terms say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from shoe.errors import BetError, expected
from shoe.game.bets.shown import Shown, shown_by
from shoe.game.bets.terms import Money, Rounding, Terms
from shoe.game.bets.wagers import Bet, Pay
from shoe.game.tableau import Coup

MAX_STAKE_MINOR: Final = 2**40
"""The greatest stake that is settled: the greatest pay of a table times this stays below 2^53."""

_BASIS_POINTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a coup makes of one stake, all in minor units.

    `net_minor` is what the purse gains or loses in the end, `commission_minor` the house's part of the win, taken off
    already. `returned_minor` goes back to the purse now, `left_minor` is the stake that lies on the table for the next
    coup: together they are the stake and the net. `event` names the line of the pay table, None where the stake is
    lost; `movable` says that what is left may be taken back instead.
    """

    bet: str
    stake_minor: int
    event: str | None
    result: Literal["won", "lost", "pushed"]
    net_minor: int
    commission_minor: int = 0
    left_minor: int = 0
    movable: bool = False

    @property
    def returned_minor(self) -> int:
        """Count what goes back to the purse with this coup."""
        return self.stake_minor + self.net_minor - self.left_minor


def settle(bet: Bet, stake_minor: int, coup: Coup, terms: Terms) -> Settlement:
    """Settle a bet on a dealt coup; see `settle_shown`."""
    return settle_shown(bet, stake_minor, shown_by(coup), terms)


def settle_shown(bet: Bet, stake_minor: int, shown: Shown, terms: Terms) -> Settlement:
    """Settle a bet on what a coup shows.

    Raises BetError unless 1 ≤ `stake_minor` ≤ `MAX_STAKE_MINOR`.
    """
    check_whole_stake(stake_minor, bet.name)
    pay = bet.pay_on(shown)
    if pay is None:
        return Settlement(bet.name, stake_minor, None, "lost", -stake_minor)
    if pay.gain == 0:
        stays = not bet.side and shown.outcome == "tie" and terms.on_tie != "returned"
        left, movable = (stake_minor if stays else 0), stays and terms.on_tie == "may_stay"
        return Settlement(bet.name, stake_minor, pay.event, "pushed", 0, left_minor=left, movable=movable)
    winnings = _winnings(pay, stake_minor, terms.money.rounding)
    commission = _commission(bet, winnings, terms.money)
    return Settlement(bet.name, stake_minor, pay.event, "won", winnings - commission, commission)


def check_whole_stake(stake_minor: object, bet: str) -> int:
    """Give back a stake in minor units; raises BetError unless it is a whole number within bounds."""
    if type(stake_minor) is not int or not 1 <= stake_minor <= MAX_STAKE_MINOR:
        raise BetError(expected(f"a stake of 1…{MAX_STAKE_MINOR} minor units", stake_minor, bet))
    return stake_minor


def _winnings(pay: Pay, stake_minor: int, rounding: Rounding) -> int:
    """Round a win so that what the house keeps of a fraction is rounded as a commission is.

    19:20 and 1:1 less 5 % so give the same; a half goes to the house wherever half of a commission does.
    """
    whole = -(-pay.gain // pay.per)
    kept = rounded(stake_minor * (whole * pay.per - pay.gain), pay.per, rounding)
    return stake_minor * whole - kept


def _commission(bet: Bet, winnings: int, money: Money) -> int:
    """Take the house's part of a win, at least the least commission and never more than the win."""
    if not bet.commission_bp:
        return 0
    part = rounded(winnings * bet.commission_bp, _BASIS_POINTS, money.rounding)
    return min(winnings, max(part, money.least_commission_minor))


def rounded(numerator: int, denominator: int, rounding: Rounding) -> int:
    """Round the fraction numerator/denominator ≥ 0 to a whole number: a half up, or all up, or all down."""
    if rounding == "half_up":
        return (2 * numerator + denominator) // (2 * denominator)
    return -(-numerator // denominator) if rounding == "up" else numerator // denominator
