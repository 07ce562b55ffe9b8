"""What a coup made of its bets, as an outside wallet is told of it: read from the bets, which no longer change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from api.db.tables import BetRow, CredentialRow
from shoe.proof.canonical import Json

MOST_TOLD: Final = 2**15
"""Bets of one coup that an event lists; how many it leaves out stands beside them."""

MAX_SETTLED_BYTES: Final = 2**24
"""So many bets at 450 bytes each, and what stands around them."""

Place = tuple[str, int]
"""A coup: its shoe, and its number in it."""


def settlements_of(session: Session, places: Collection[Place]) -> Mapping[Place, Mapping[str, Json]]:
    """Print what became of the bets of coups that are dealt, in the order of acceptance; one query."""
    query = select(BetRow, CredentialRow.player).join(CredentialRow, CredentialRow.id == BetRow.seat_id)
    of_coups = tuple_(BetRow.shoe_id, BetRow.number).in_(places)
    found: defaultdict[Place, list[Json]] = defaultdict(list)
    settled = query.where(of_coups, BetRow.net_minor.is_not(None)).order_by(BetRow.position)
    for row, player in session.execute(settled) if places else ():
        found[row.shoe_id, row.number].append(_print(row, player))
    return {place: _page(found[place]) for place in places}


def _page(bets: Sequence[Json]) -> Mapping[str, Json]:
    told = bets[:MOST_TOLD]
    return {"bets": told, "left_out": len(bets) - len(told)}


def _print(row: BetRow, player: str | None) -> Json:
    net, returned = row.net_minor or 0, row.returned_minor or 0
    return {
        "seat": row.seat_id,
        "player": player,
        "client": row.client,
        "bet": row.bet,
        "stake": row.stake_minor,
        "carried": bool(row.carried),
        "result": row.state,
        "net_minor": net,
        "commission_minor": row.commission_minor,
        "returned_minor": returned,
        "left_minor": row.stake_minor + net - returned,
    }
