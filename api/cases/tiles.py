"""Tiles and entry bundles of the log, read from its nodes and leaves (C2SP tlog-tiles, protocol §9)."""

from __future__ import annotations

from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.db.tables import LeafRow, LogNodeRow
from api.refusals import Refusal, no_such
from shoe.proof.tiles import EntryBundle, Tile, print_entries, print_hashes

_END: Final = 2**63
"""Keys in the database stay below; a log so long that it would reach them does not exist."""


def read_tile(session: Session, tile: Tile) -> bytes:
    """Read a tile's content, 32 bytes a hash: one query. Raises Refusal where the log has not all of its hashes."""
    positions = [node.position for node in tile.nodes]
    if positions[-1] >= _END:
        raise _missing(tile)
    query = select(LogNodeRow.hash).where(LogNodeRow.position.in_(positions)).order_by(LogNodeRow.position)
    hashes = session.scalars(query).all()
    if len(hashes) < tile.width:
        raise _missing(tile)
    return print_hashes(hashes)


def read_entries(session: Session, bundle: EntryBundle) -> bytes:
    """Read a bundle of entries: one query. Raises Refusal where the log has not all of its records."""
    first, last = bundle.records[0], bundle.records[-1]
    if last >= _END:
        raise _missing(bundle)
    query = select(LeafRow.record).where(LeafRow.log_index.between(first, last)).order_by(LeafRow.log_index)
    records = session.scalars(query).all()
    if len(records) < bundle.width:
        raise _missing(bundle)
    return print_entries(records)


def _missing(place: Tile | EntryBundle) -> Refusal:
    return no_such("tile of the log at", place.path)
