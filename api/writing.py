"""One step of a write transaction: what a use case works with, and the records that it adds to the log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from api.db.tables import Base, ShoeRow
from api.log import Entry
from shoe.proof.records import Record, ShoeRecord, record_hash
from shoe.proof.tlog import Receipt


@dataclass(slots=True)
class Writing:
    """One step in a write transaction: the session, its time (a record's), and the records that it adds to the log.

    Several steps share a transaction. A step refuses, where it refuses, before it asks for `stamp` or `link` and
    changes a row: then the others go on without it; after that, its failure undoes the whole transaction.
    """

    session: Session
    origin: str
    time: str
    next_index: int
    touched: bool = False
    entries: list[Entry] = field(default_factory=list)

    def stamp(self) -> dict[str, Any]:
        """The fields that every record of this transaction has (protocol §8)."""
        self.touched = True
        return {"log": self.origin, "time": self.time}

    def link(self, shoe: ShoeRow) -> dict[str, Any]:
        """The fields that the next record of a shoe has (protocol §8)."""
        return {**self.stamp(), "shoe": shoe.id, "seq": shoe.next_seq, "previous": shoe.last_hash}

    def add(self, record: Record) -> int:
        """Put a record down as the next of the log; give its index."""
        return self._add(record, record.to_bytes())

    def add_to(self, shoe: ShoeRow, record: ShoeRecord) -> int:
        """Put a record down as the next of the log and of a shoe's chain; give its index."""
        data = record.to_bytes()
        index = self._add(record, data)
        shoe.next_seq, shoe.last_hash, shoe.last_index = record.seq + 1, record_hash(data), index
        return index

    def insert(self, row: Base) -> None:
        """Put a new row down."""
        self.touched = True
        self.session.add(row)

    def _add(self, record: Record, data: bytes) -> int:
        self.touched = True
        self.entries.append(Entry(record, data))
        self.next_index += 1
        return self.next_index - 1


T_co = TypeVar("T_co", covariant=True)

Finish = Callable[[tuple[Receipt, ...]], T_co]
"""Makes a step's result from the receipts of the records that it put down, once the checkpoint over them is made."""

Step = Callable[[Writing], Finish[T_co]]
"""A use case inside of its transaction; may run again where the transaction it shared is undone."""
