"""Moves: money that comes into a purse from outside, or leaves it; what bets do to a purse is told by the bets."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.purses import read_purse
from api.db.tables import CredentialRow, PurseMoveRow, PurseRow
from api.payloads import MAX_PURSE
from api.refusals import CREDENTIAL_REVOKED, PURSE_FULL, PURSE_OVERDRAWN, Refusal, no_such
from api.world import World, make_id
from api.writing import Finish, Step, Writing


def move_money(world: World, by: Principal, seat_id: str, amount_minor: int, note: str = "") -> Step[PurseMoveRow]:
    """Put money into a seat's purse from outside, or take it out where `amount_minor`, which is not 0, is below.

    What the house lent is not to be taken out, nor is what lies on the table. Raises Refusal where no seat of this id
    has a purse, where the purse does not hold so much or would hold more than it can, and for money into the purse of a
    seat that is revoked.
    """

    def step(writing: Writing) -> Finish[PurseMoveRow]:
        session = writing.session
        seat, purse = session.get(CredentialRow, seat_id), session.get(PurseRow, seat_id)
        if seat is None or purse is None:
            raise no_such("seat with a purse", seat_id)
        _require_room(seat, purse, amount_minor)
        purse.balance_minor += amount_minor
        row = PurseMoveRow(
            id=make_id(world),
            seat_id=seat_id,
            amount_minor=amount_minor,
            balance_minor=purse.balance_minor,
            time=writing.time,
            made_by=by.id,
            note=note,
        )
        writing.insert(row)
        return lambda _: row

    return step


def list_moves(session: Session, seat_id: str, by: Principal, after: str | None, limit: int) -> list[PurseMoveRow]:
    """List a seat's moves by id, which is by age to the millisecond, from the first after a cursor.

    Raises Refusal for other seats, and where no seat of this id has a purse.
    """
    read_purse(session, seat_id, by)
    query = select(PurseMoveRow).where(PurseMoveRow.seat_id == seat_id, PurseMoveRow.id > (after or ""))
    return list(session.scalars(query.order_by(PurseMoveRow.id).limit(limit)))


def _require_room(seat: CredentialRow, purse: PurseRow, amount_minor: int) -> None:
    free = purse.balance_minor - purse.owed_minor
    if amount_minor < 0 and free + amount_minor < 0:
        raise Refusal(PURSE_OVERDRAWN, f"Of the purse {max(free, 0)} may be taken out, {-amount_minor} was asked for.")
    if amount_minor > 0 and purse.balance_minor + amount_minor > MAX_PURSE:
        raise Refusal(
            PURSE_FULL, f"The purse holds {purse.balance_minor}, and with {amount_minor} more than {MAX_PURSE}."
        )
    if amount_minor > 0 and seat.revoked is not None:
        raise Refusal(CREDENTIAL_REVOKED, f"The seat {seat.id} was revoked at {seat.revoked}.")
