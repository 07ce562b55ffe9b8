"""Reading shoes: summaries, where they stand, their records, coups and roads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.cases.bundles import coup_paths
from api.cases.standing import count_contributions, find_shoe, rules_at
from api.db.tables import CoupRow, LeafRow, ShoeRow
from api.log import make_receipts, read_records
from api.refusals import no_such
from api.service import Service
from shoe.game.roads import Roads, draw_roads
from shoe.proof.tlog import Receipt

_LETTERS: Final = {"player": "P", "banker": "B", "tie": "T"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A coup's record with all that checks it: receipt, and its cards' audit paths in dealing order."""

    receipt: Receipt
    paths: tuple[tuple[bytes, ...], ...]


def read_summary(session: Session, shoe_id: str) -> tuple[ShoeRow, int]:
    """Give a shoe and the number of its contributions; raises Refusal where there is none, as all of this does."""
    shoe = find_shoe(session, shoe_id)
    return shoe, count_contributions(session, shoe)


def read_last_record(session: Session, shoe: ShoeRow) -> bytes:
    """Read the last record of a shoe."""
    return read_records(session, [shoe.last_index])[shoe.last_index]


def list_records(session: Session, shoe: ShoeRow, after: int, limit: int) -> list[LeafRow]:
    """List a shoe's leaves in the order of its chain, from the first over seq `after`."""
    query = select(LeafRow).where(LeafRow.shoe == shoe.id, LeafRow.seq > after)
    return list(session.scalars(query.order_by(LeafRow.seq).limit(limit)))


def list_coups(session: Session, shoe: ShoeRow, after: int, limit: int) -> list[tuple[CoupRow, bytes]]:
    """List a shoe's dealt coups with their records, from the first over number `after`."""
    query = (
        select(CoupRow, LeafRow.record)
        .join(LeafRow, LeafRow.log_index == CoupRow.log_index)
        .where(CoupRow.shoe_id == shoe.id, CoupRow.number > after)
    )
    return [(row, record) for row, record in session.execute(query.order_by(CoupRow.number).limit(limit))]


def read_coup(service: Service, session: Session, shoe_id: str, number: int) -> Shown:
    """Show one dealt coup; raises Refusal where it wasn't dealt."""
    shoe = find_shoe(session, shoe_id)
    row = session.get(CoupRow, (shoe.id, number))
    if row is None or row.log_index is None:
        raise no_such("coup in this shoe of number", str(number))
    receipt = make_receipts(session, [row.log_index])[0]
    return Shown(receipt, coup_paths(service, session, shoe, rules_at(shoe), [receipt.record])[0])


def read_roads(session: Session, shoe_id: str) -> tuple[str, Roads]:
    """Draw the roads of a shoe's dealt coups; give its outcomes as letters B, P, T too."""
    shoe = find_shoe(session, shoe_id)
    letters = "".join(_LETTERS[outcome] for outcome in _outcomes(session, shoe))
    return letters, draw_roads(letters)


def _outcomes(session: Session, shoe: ShoeRow) -> Sequence[str]:
    query = select(CoupRow.outcome).where(CoupRow.shoe_id == shoe.id, CoupRow.log_index.is_not(None))
    return session.scalars(query.order_by(CoupRow.number)).all()
