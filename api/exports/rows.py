"""The rows of the tabular exports: one a record of the span, without the witnesses at the archive's ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.cases.exporting import Planned
from api.db.tables import LeafRow, ShoeRow

_AT_ONCE: Final = 1000


class Row(NamedTuple):
    """One record: where it lies in the log, what it says of itself, and its canonical bytes as text.

    `table` is the record's own, or that of its shoe; `shoe` and `seq` are None outside of a shoe.
    """

    log_index: int
    time: str
    type: str
    table: str | None
    shoe: str | None
    seq: int | None
    record: str


def read_rows(session: Session, planned: Planned) -> Iterator[Row]:
    """Read a span's rows in the order of the log; all but a shoe's table is read from the records' bytes."""
    header = planned.header
    query = (
        select(LeafRow.log_index, LeafRow.record, ShoeRow.table_id)
        .outerjoin(ShoeRow, ShoeRow.id == LeafRow.shoe)
        .where(LeafRow.log_index >= header.first, LeafRow.log_index < header.first + header.count)
        .order_by(LeafRow.log_index)
    )
    with session.execute(query, execution_options={"yield_per": _AT_ONCE}) as found:
        for index, data, table in found:
            row = _row(index, data, table)
            if (header.since or "") <= row.time and (header.until is None or row.time < header.until):
                yield row


def _row(index: int, data: bytes, table_of_shoe: str | None) -> Row:
    value: dict[str, Any] = json.loads(data)
    table = value.get("table", table_of_shoe)
    return Row(index, value["time"], value["type"], table, value.get("shoe"), value.get("seq"), data.decode())
