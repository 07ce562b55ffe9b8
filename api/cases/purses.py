"""Purses and banks: what seats and tables own, in whole minor units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.tables import terms_at
from api.db.tables import BankRow, BetRow, CredentialRow, PurseRow, ShoeRow, TableRow
from api.refusals import FORBIDDEN, NO_BETS, Refusal, no_such
from api.writing import Writing
from shoe.errors import ImpossibleError


@dataclass(frozen=True, slots=True)
class Purse:
    """A seat's money: what it may stake, what it has staked on the next coup, and what the house lent it.

    `preserve` says whether its bets are laid again after every coup.
    """

    seat: str
    table: str
    balance_minor: int
    staked_minor: int
    owed_minor: int
    preserve: bool


def purse_at(table: TableRow, purse_minor: int | None) -> int | None:
    """Say what a new seat's purse begins with: what is asked, else what the house gives; None where nothing is bet.

    Raises Refusal for a purse at a table that takes no bets.
    """
    terms = terms_at(table)
    if terms is not None:
        return (terms.money.purse_minor or 0) if purse_minor is None else purse_minor
    if purse_minor is not None:
        raise Refusal(NO_BETS, f"The rules of table {table.id!r} say nothing of bets: its seats have no purse.")
    return None


def open_purse(writing: Writing, seat: CredentialRow, balance_minor: int) -> None:
    """Give a new seat its purse."""
    # The purse refers to the seat, and the session orders rows by relationships alone.
    writing.session.flush()
    writing.insert(PurseRow(seat_id=seat.id, balance_minor=balance_minor, preserve=0, owed_minor=0))


def read_purse(session: Session, seat_id: str, by: Principal) -> Purse:
    """Show a seat's purse to itself, and to whoever is no seat; raises Refusal for others, and where there is none."""
    if by.seat not in (None, seat_id):
        raise Refusal(FORBIDDEN, f"The purse is another seat's than {by.seat}.")
    seat, purse = session.get(CredentialRow, seat_id), session.get(PurseRow, seat_id)
    if seat is None or seat.table_id is None or purse is None:
        raise no_such("seat with a purse", seat_id)
    staked, preserve = staked_minor(session, seat_id), bool(purse.preserve)
    return Purse(seat_id, seat.table_id, purse.balance_minor, staked, purse.owed_minor, preserve)


def purse_of_own(session: Session, seat_id: str, by: Principal) -> tuple[CredentialRow, PurseRow]:
    """Find a seat with its purse for itself; raises Refusal for anybody else, and where there is none."""
    seat, purse = session.get(CredentialRow, seat_id), session.get(PurseRow, seat_id)
    if seat is None or purse is None:
        raise no_such("seat with a purse", seat_id)
    if by.seat != seat_id:
        raise Refusal(FORBIDDEN, f"The seat {seat_id} is another than {by.seat}.")
    return seat, purse


def staked_minor(session: Session, seat_id: str) -> int:
    """Add up what a seat has on the table, which its purse does not hold."""
    # A seat is at one table, which has one live shoe; only that one's next coup has bets that are laid.
    shoes = select(ShoeRow.id).join(CredentialRow, CredentialRow.table_id == ShoeRow.table_id)
    live = shoes.where(CredentialRow.id == seat_id, ShoeRow.state == "sealed")
    laid = select(func.coalesce(func.sum(BetRow.stake_minor), 0)).where(
        BetRow.shoe_id.in_(live), BetRow.seat_id == seat_id, BetRow.state == "laid"
    )
    return int(session.scalar(laid) or 0)


def credit(purse: PurseRow, amount_minor: int) -> None:
    """Put into a purse what comes back from the table; it pays what the purse owes first."""
    repaid = min(purse.owed_minor, amount_minor)
    purse.owed_minor -= repaid
    purse.balance_minor += amount_minor - repaid


def find_purse(session: Session, seat_id: str) -> PurseRow:
    """Find the purse of a seat that may bet; raises ImpossibleError where it has none."""
    return purses_of(session, [seat_id])[seat_id]


def purses_of(session: Session, seats: Iterable[str]) -> dict[str, PurseRow]:
    """Find the purses of seats that bet, by seat; raises ImpossibleError where one has none."""
    wanted = set(seats)
    with session.no_autoflush:
        found = {row.seat_id: row for row in session.scalars(select(PurseRow).where(PurseRow.seat_id.in_(wanted)))}
    if found.keys() != wanted:
        raise ImpossibleError(f"seats without a purse: {', '.join(sorted(wanted - found.keys()))}")
    return found


def find_bank(session: Session, table_id: str) -> BankRow | None:
    """Find a table's bank; None where it can't be broken."""
    with session.no_autoflush:
        return session.get(BankRow, table_id)
