"""Events: made from the records as they are logged, put down for each webhook in the same transaction.

What an event says is never stored: it is made from the record in the log whenever it is sent, the same bytes each time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import Row, insert, select
from sqlalchemy.orm import Session

from api.db.tables import DeliveryRow, LeafRow, ShoeRow, WebhookRow
from api.log import Entry
from api.webhooks.settlements import MAX_SETTLED_BYTES, Place, settlements_of
from api.world import World, make_id
from shoe.errors import ImpossibleError
from shoe.proof.canonical import Json, print_canonical
from shoe.proof.records import Alarm, Bets, Coup, Lock, Open, Record, Reveal, Seal, ShoeRecord, Void, parse_record

EVENTS: Final[Mapping[str, str]] = {
    Open.type: "shoe.opened",
    Lock.type: "shoe.locked",
    Seal.type: "shoe.sealed",
    Bets.type: "coup.settled",
    Coup.type: "coup.dealt",
    Reveal.type: "shoe.revealed",
    Void.type: "shoe.voided",
    Alarm.type: "monitor.alarmed",
}
"""The type of event that a record makes, by the record's type; the others make none.

Bets are closed in the transaction that deals and settles their coup: the record of the one tells of the other.
"""

EVENT_TYPES: Final = tuple(sorted(EVENTS.values()))
TEST: Final = "webhook.test"
"""The type of the event that only tests a webhook."""

ACTIVE: Final = "active"
MAX_EVENT_BYTES: Final = 2**18
"""A record of 65,535 bytes as a text in JSON, whatever it holds, and what stands around it."""


def queue_events(session: Session, world: World, entries: Sequence[Entry], first_index: int, time: str) -> None:
    """Put down the events of records that were appended from `first_index` on, for each webhook that asked for them.

    Part of the write transaction that logs the records: an event is there just where its record is. Costs one query of
    few rows while nobody asked for any, and none for records that make no event.
    """
    happened = [
        (index, entry.record) for index, entry in enumerate(entries, first_index) if entry.record.type in EVENTS
    ]
    webhooks = _active(session) if happened else ()
    if not webhooks:
        return
    narrow = any(webhook.table_id is not None for webhook in webhooks)
    tables = _tables_of(session, happened) if narrow else {}
    queued = [
        new_delivery(world, webhook.id, EVENTS[record.type], index, time)
        for index, record in happened
        for webhook in webhooks
        if EVENTS[record.type] in webhook.events.split(" ") and webhook.table_id in (None, tables.get(index))
    ]
    if queued:
        session.execute(insert(DeliveryRow), queued)


def new_delivery(world: World, webhook: str, event: str, log_index: int | None, time: str) -> dict[str, object]:
    """Give a delivery's row as it is at first: due at once, its id a new one."""
    return {
        "id": make_id(world),
        "webhook_id": webhook,
        "type": event,
        "log_index": log_index,
        "queued": time,
        "due": time,
        "attempts": 0,
        "state": "pending",
    }


def print_events(session: Session, deliveries: Sequence[DeliveryRow]) -> list[bytes]:
    """Print what deliveries say, as Standard Webhooks has it: ``type``, ``timestamp``, ``data``; 2 queries at most."""
    indices = [delivery.log_index for delivery in deliveries if delivery.log_index is not None]
    query = select(LeafRow.log_index, LeafRow.record, ShoeRow.table_id).outerjoin(ShoeRow, ShoeRow.id == LeafRow.shoe)
    rows = session.execute(query.where(LeafRow.log_index.in_(indices))).all()
    records = {index: (parse_record(data), data, table) for index, data, table in rows}
    closed = {(each.shoe, each.number) for each, *_ in records.values() if isinstance(each, Bets)}
    settled = settlements_of(session, closed)
    told = {index: _data(index, *found, settled) for index, found in records.items()}
    return [_print(delivery, told) for delivery in deliveries]


def _print(delivery: DeliveryRow, told: Mapping[int, tuple[str, Mapping[str, Json]]]) -> bytes:
    said: Mapping[str, Json]
    if delivery.log_index is None:
        timestamp, said = delivery.queued, {"webhook": delivery.webhook_id}
    else:
        timestamp, said = told[delivery.log_index]
    most = MAX_SETTLED_BYTES if delivery.type == EVENTS[Bets.type] else MAX_EVENT_BYTES
    return print_canonical({"type": delivery.type, "timestamp": timestamp, "data": said}, most)


def _data(
    index: int, record: Record, data: bytes, table: str | None, settled: Mapping[Place, Mapping[str, Json]]
) -> tuple[str, Mapping[str, Json]]:
    if isinstance(record, Alarm):
        return record.time, {"table": record.table, "index": index, "record": data.decode()}
    if not isinstance(record, ShoeRecord):
        raise ImpossibleError(f"record {index} makes no event")
    said: dict[str, Json] = {
        "table": table,
        "shoe": record.shoe,
        "seq": record.seq,
        "index": index,
        "record": data.decode(),
    }
    if isinstance(record, Bets):
        said |= {"number": record.number, **settled[record.shoe, record.number]}
    return record.time, said


def _active(session: Session) -> Sequence[Row[str, str, str | None]]:
    query = select(WebhookRow.id, WebhookRow.events, WebhookRow.table_id).where(WebhookRow.state == ACTIVE)
    return session.execute(query.order_by(WebhookRow.id)).all()


def _tables_of(session: Session, happened: Sequence[tuple[int, Record]]) -> dict[int, str]:
    """Find the table that each record is of, by its index."""
    tables = {index: record.table for index, record in happened if isinstance(record, Alarm)}
    shoes = {index: record.shoe for index, record in happened if isinstance(record, ShoeRecord)}
    if shoes:
        rows = session.execute(select(ShoeRow.id, ShoeRow.table_id).where(ShoeRow.id.in_(set(shoes.values()))))
        of_shoe = {shoe: table for shoe, table in rows}  # noqa: C416  # a row is no pair to the type checker
        tables |= {index: of_shoe[shoe] for index, shoe in shoes.items()}
    return tables
