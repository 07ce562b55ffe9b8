"""What a seat holds of its bets: every line with its salt, and once they are closed its path (protocol §8, §10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import Principal, require_table
from api.cases.betting import line_of
from api.cases.standing import find_shoe
from api.cases.telling import Paid, tell_win
from api.db.tables import BetRow, CoupRow, ShoeRow
from shoe.proof.bundle import HeldLine
from shoe.proof.merkle import Tree

CLOSED = ("won", "lost", "pushed")


@dataclass(frozen=True, slots=True)
class Held:
    """A bet of a seat; its place under the root and its path once the bets were closed with it among them."""

    row: BetRow
    line: bytes
    index: int | None
    path: tuple[bytes, ...] | None


@dataclass(frozen=True, slots=True)
class CoupHeld:
    """A seat's bets on one coup; `bets_index` is where the log holds the record that closed them, None before.

    `message` says what it won, None where no bet of it did.
    """

    number: int
    bets_index: int | None
    bets: tuple[Held, ...]

    @property
    def message(self) -> str | None:
        """What the seat is told of its win on the coup."""
        rows = [held.row for held in self.bets if held.row.state in CLOSED]
        paid = [Paid(row.bet, row.state, row.net_minor or 0, row.returned_minor or 0) for row in rows]
        return tell_win(self.number, paid)


def list_own_bets(session: Session, shoe_id: str, by: Principal, after: int, limit: int) -> list[CoupHeld]:
    """List a seat's bets by coup, from the first over number `after`; raises Refusal at another table than its own."""
    shoe = find_shoe(session, shoe_id)
    require_table(by, shoe.table_id)
    query = select(BetRow.number).where(BetRow.shoe_id == shoe.id, BetRow.seat_id == by.seat, BetRow.number > after)
    numbers = session.scalars(query.distinct().order_by(BetRow.number).limit(limit)).all()
    if by.seat is None or not numbers:
        return []
    indices = _closings(session, shoe, numbers)
    found = defaultdict(list)
    for held in _hold(session, shoe, by.seat, numbers):
        found[held.row.number].append(held)
    return [CoupHeld(number, indices.get(number), tuple(found[number])) for number in numbers]


def held_lines(session: Session, shoe: ShoeRow, seat: str) -> tuple[HeldLine, ...] | None:
    """List the lines that a bundle shows to their holder, in order; None where no bets of the seat were closed."""
    query = select(BetRow.number).where(BetRow.shoe_id == shoe.id, BetRow.seat_id == seat, BetRow.state.in_(CLOSED))
    numbers = session.scalars(query.distinct()).all()
    held = _hold(session, shoe, seat, numbers)
    lines = [
        HeldLine(each.line, each.index, each.path) for each in held if each.index is not None and each.path is not None
    ]
    return tuple(lines) or None


def _closings(session: Session, shoe: ShoeRow, numbers: Iterable[int]) -> dict[int, int]:
    """Find the log index of each coup's bets: the record right before the coup's."""
    query = select(CoupRow.number, CoupRow.log_index).where(
        CoupRow.shoe_id == shoe.id, CoupRow.number.in_(numbers), CoupRow.log_index.is_not(None)
    )
    closed = session.scalars(
        select(BetRow.number).where(BetRow.shoe_id == shoe.id, BetRow.number.in_(numbers), BetRow.state.in_(CLOSED))
    )
    bet_on = set(closed)
    return {number: index - 1 for number, index in session.execute(query) if index is not None and number in bet_on}


def _hold(session: Session, shoe: ShoeRow, seat: str, numbers: Sequence[int]) -> list[Held]:
    """Give a seat's bets on some coups in order, each path made of all lines of its coup."""
    query = select(BetRow).where(BetRow.shoe_id == shoe.id, BetRow.number.in_(numbers))
    by_coup = defaultdict(list)
    for row in session.scalars(query.order_by(BetRow.number, BetRow.position)):
        by_coup[row.number].append(row)
    return [held for rows in by_coup.values() for held in _hold_coup(rows, seat)]


def _hold_coup(rows: Sequence[BetRow], seat: str) -> list[Held]:
    closed = [row for row in rows if row.state in CLOSED]
    tree = Tree.of(line_of(row).to_bytes() for row in closed)
    places = {row.position: index for index, row in enumerate(closed)}
    held = []
    for row in rows:
        if row.seat_id == seat:
            index = places.get(row.position)
            path = None if index is None else tree.inclusion(index)
            held.append(Held(row, line_of(row).to_bytes(), index, path))
    return held
