"""The clock of a table that deals once everyone has chosen: who is waited for, from when on, and until when."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.cases.tables import terms_at
from api.db.tables import CoupRow, CredentialRow, LeafRow, PassRow, ShoeRow
from api.refusals import BETTING_CLOSED, CHOICES_MISSING, JOINED_LATE, Refusal
from api.world import seconds_after
from shoe.game.bets.terms import Terms
from shoe.proof.records import Seal, parse_as


@dataclass(frozen=True, slots=True)
class Window:
    """When bets on a coup are taken: from `began` on, and before `closes`; times as records write them."""

    began: str
    closes: str


@dataclass(frozen=True, slots=True)
class Gathering:
    """Who is at a table for a shoe's next coup: seats neither revoked nor expired, oldest first.

    `window` is None where no time is kept, and where nobody is at the table.
    """

    seats: tuple[CredentialRow, ...]
    window: Window | None

    def is_late(self, seat: CredentialRow) -> bool:
        """Say whether a seat was made after the betting began: it is not waited for, and bets on the next coup only."""
        return self.window is not None and seat.created > self.window.began

    def is_closed(self, time: str) -> bool:
        """Say whether the time to bet is over."""
        return self.window is not None and time >= self.window.closes


def gather(session: Session, shoe: ShoeRow, terms: Terms, time: str) -> Gathering:
    """Find who is at a sealed shoe's table at a time, a record's, and the window of its next coup."""
    good = or_(CredentialRow.expires.is_(None), CredentialRow.expires > time)
    query = select(CredentialRow).where(
        CredentialRow.kind == "seat", CredentialRow.table_id == shoe.table_id, CredentialRow.revoked.is_(None), good
    )
    seats = tuple(session.scalars(query.order_by(CredentialRow.created, CredentialRow.id)))
    if not keeps_time(terms) or not seats:
        return Gathering(seats, None)
    began = max(_free_from(session, shoe, time), seats[0].created)
    return Gathering(seats, Window(began, seconds_after(began, terms.pace.decide_s or 0)))


def keeps_time(terms: Terms) -> bool:
    """Say whether a table gives its players so many seconds to choose."""
    return terms.pace.deal == "all_chosen" and terms.pace.decide_s is not None


def require_open(session: Session, shoe: ShoeRow, terms: Terms, seat: str, time: str) -> None:
    """Refuse a choice that comes when its coup's window is over, or by a seat that joined in mid-coup."""
    if not keeps_time(terms):
        return
    gathering = gather(session, shoe, terms, time)
    window = gathering.window
    if window is None:
        return
    if any(row.id == seat and gathering.is_late(row) for row in gathering.seats):
        began = f"The betting on coup {shoe.next_coup} began at {window.began}"
        raise Refusal(JOINED_LATE, f"{began}, before the seat {seat} was made.")
    if gathering.is_closed(time):
        raise Refusal(BETTING_CLOSED, f"The betting on coup {shoe.next_coup} closed at {window.closes}; it is {time}.")


def require_chosen(session: Session, shoe: ShoeRow, time: str) -> None:
    """Refuse to deal before everyone has chosen Deal or Pass, where the table waits for that, or its time is over."""
    terms = terms_at(shoe.table)
    if terms is None or terms.pace.deal != "all_chosen":
        return
    gathering = gather(session, shoe, terms, time)
    missing = missing_of(gathering, choices_on(session, shoe))
    if missing and not gathering.is_closed(time):
        until = f"until {gathering.window.closes}" if gathering.window else "for as long as that takes"
        raise Refusal(
            CHOICES_MISSING,
            f"Coup {shoe.next_coup} waits {until} for {len(missing)} of the seats at the table: {_named(missing)}.",
        )


def missing_of(gathering: Gathering, chosen: dict[str, PassRow]) -> list[str]:
    """List the seats that are waited for."""
    return [seat.id for seat in gathering.seats if seat.id not in chosen and not gathering.is_late(seat)]


def choices_on(session: Session, shoe: ShoeRow) -> dict[str, PassRow]:
    """Read which seats chose Deal or Pass for a shoe's next coup, and did not take it back."""
    query = select(PassRow).where(
        PassRow.shoe_id == shoe.id, PassRow.number == shoe.next_coup, PassRow.state == "stands"
    )
    return {row.seat_id: row for row in session.scalars(query)}


def _free_from(session: Session, shoe: ShoeRow, time: str) -> str:
    """Give the time from which a shoe's next coup can be bet on: the coup before was dealt, or the shoe was sealed."""
    if shoe.next_coup:
        return session.get_one(CoupRow, (shoe.id, shoe.next_coup - 1)).time
    query = select(LeafRow.record).where(LeafRow.shoe == shoe.id, LeafRow.type == Seal.type)
    record = session.scalars(query).one_or_none()
    # A shoe that is sealed in this very transaction has its record in the log at its end.
    return time if record is None else parse_as(Seal, record).time


def _named(seats: list[str], most: int = 10) -> str:
    further = f" and {len(seats) - most} more" if len(seats) > most else ""
    return ", ".join(seats[:most]) + further
