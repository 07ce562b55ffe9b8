"""A seat's own limit, and money into its purse and out of it."""

from __future__ import annotations

from collections.abc import Iterator

from api.client.calls import Calls, part
from api.client.fields import Fields
from api.client.results import Move, OwnLimit


class Purses(Calls):
    """The calls at ``/v1/seats/ID/limit`` and ``/v1/seats/ID/purse/moves``."""

    def limit(self, seat: str) -> OwnLimit:
        """Show what a seat may stake on a bet at most, and whether its player may lower that now."""
        return _limit(self._get(f"/v1/seats/{part(seat)}/limit"))

    def lower_limit(self, seat: str, maximum_minor: int, pin: str) -> OwnLimit:
        """Lower the greatest stake of the seat's player, who confirms it by her PIN; the first is hers from then on."""
        return _limit(self._post(f"/v1/seats/{part(seat)}/limit", {"maximum_minor": maximum_minor, "pin": pin}))

    def move_money(self, seat: str, amount_minor: int, note: str = "") -> Move:
        """Put money into a seat's purse from outside, or take it out where the amount is below 0."""
        return _move(self._post(f"/v1/seats/{part(seat)}/purse/moves", {"amount_minor": amount_minor, "note": note}))

    def moves(self, seat: str) -> Iterator[Move]:
        """List what came into a seat's purse from outside and left it, oldest first."""
        return self._pages(f"/v1/seats/{part(seat)}/purse/moves", "moves", _move)


def _limit(answer: Fields) -> OwnLimit:
    return OwnLimit(
        seat=answer.text("seat"),
        table=answer.text("table"),
        table_maximum_minor=answer.maybe("table_maximum_minor", answer.number),
        own_maximum_minor=answer.maybe("own_maximum_minor", answer.number),
        maximum_minor=answer.maybe("maximum_minor", answer.number),
        why_not=answer.maybe("why_not", answer.text),
        turns=answer.maybe("turns", answer.text),
    )


def _move(answer: Fields) -> Move:
    return Move(
        id=answer.text("id"),
        seat=answer.text("seat"),
        amount_minor=answer.number("amount_minor"),
        balance_minor=answer.number("balance_minor"),
        time=answer.text("time"),
        made_by=answer.text("made_by"),
        note=answer.text("note"),
    )
