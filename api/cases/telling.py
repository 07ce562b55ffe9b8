"""What a player is told of a win: one sentence with the amounts, beside the settlement that it comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from api.cases.settling import Settled


@dataclass(frozen=True, slots=True)
class Paid:
    """What a settled bet brought its seat, in minor units: won or lost, and what went to the purse with it."""

    bet: str
    result: str
    net_minor: int
    returned_minor: int


@dataclass(frozen=True, slots=True)
class Told:
    """A message to a seat that won something on a coup."""

    seat: str
    client: str
    message: str


def tell_seats(number: int, settlement: Iterable[Settled]) -> tuple[Told, ...]:
    """Tell every seat that won a bet on a coup what it won, in the order of acceptance of their first bets."""
    paid: dict[tuple[str, str], list[Paid]] = defaultdict(list)
    for each in settlement:
        settled = each.settlement
        paid[each.seat, each.client].append(Paid(settled.bet, settled.result, settled.net_minor, each.returned_minor))
    told = ((seat, client, tell_win(number, bets)) for (seat, client), bets in paid.items())
    return tuple(Told(seat, client, message) for seat, client, message in told if message is not None)


def tell_win(number: int, bets: Sequence[Paid]) -> str | None:
    """Say what a seat's bets on a coup won and what went to its purse; None where none of them won."""
    won = [each for each in bets if each.result == "won"]
    if not won:
        return None
    whole, credited = sum(each.net_minor for each in won), sum(each.returned_minor for each in bets)
    single = ", ".join(f"{each.bet} {each.net_minor}" for each in won)
    return f"You won {whole} on coup {number} ({single}); {credited} went to your purse, all in minor units."
