"""A bet line of a log, settled anew: what the three main bets of most houses pay."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final, NamedTuple

from audit.foreign.notation import parse_outcome
from shoe.errors import InputError, expected
from shoe.game.tableau import Outcome

PAYS: Final[dict[Outcome, Fraction]] = {"player": Fraction(1), "banker": Fraction(19, 20), "tie": Fraction(8)}
"""What a unit wins: player 1:1, banker 1:1 less 5 %, tie 8:1. Player and banker are given back on a tie."""

_MOST_DIGITS: Final = 40


class Settled(NamedTuple):
    """A bet as logged: what it was on, its stake, and what came of it.

    `net` is what the bettor gained or lost; `paid` what the bettor was given, the stake included. Either may be None.
    """

    bet: Outcome
    stake: Decimal
    paid: Decimal | None
    net: Decimal | None


def parse_settled(bet: str, stake: str, paid: str, net: str) -> Settled | None:
    """Read a bet line's fields; None where all are empty, for a coup without a bet.

    Raises InputError for a bet that is none of the three, for a stake of nothing, and for what is no decimal number.
    """
    if not any((bet, stake, paid, net)):
        return None
    if not (bet and stake and (paid or net)):
        raise InputError(expected("bet, stake, and paid or net", (bet, stake, paid, net)))
    if _amount(stake) <= 0:
        raise InputError(expected("a stake above 0", stake))
    return Settled(parse_outcome(bet), _amount(stake), _amount(paid) if paid else None, _amount(net) if net else None)


def _amount(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or len(text) > _MOST_DIGITS or abs(amount.adjusted()) > _MOST_DIGITS:
        raise InputError(expected("an amount such as 9.50", text))
    return amount


def gain(bet: Outcome, stake: Decimal, outcome: Outcome) -> Fraction:
    """Compute what a bet gains, exactly: negative where it is lost, 0 where it is given back."""
    if bet == outcome:
        return Fraction(stake) * PAYS[bet]
    return Fraction(0) if outcome == "tie" else -Fraction(stake)


def settlement_fault(settled: Settled, outcome: Outcome) -> tuple[str, str, str] | None:
    """Compare a bet line with the outcome: the column that is wrong, what was expected and found; None if all is right.

    An amount may be rounded, either way, at the last digit that is printed: houses round commissions in many ways.
    """
    exact = gain(settled.bet, settled.stake, outcome)
    due = {"net": exact, "paid": exact + Fraction(settled.stake)}
    for column, found in (("net", settled.net), ("paid", settled.paid)):
        if found is not None and not _rounds_to(due[column], found):
            words = f"{float(due[column]):.12g} for {settled.stake} on {settled.bet} at {outcome}"
            return column, words, str(found)
    return None


def _rounds_to(exact: Fraction, found: Decimal) -> bool:
    exponent = found.as_tuple().exponent
    last = Fraction(10) ** min(int(exponent), 0)
    return abs(exact - Fraction(found)) < last
