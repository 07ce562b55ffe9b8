"""What a use case works with: the store, the log, the vault, the world; and one write transaction in progress."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from api.db.sessions import Store
from api.db.tables import ShoeRow
from api.log import Log, lock_head, make_receipts
from api.vault import Vault
from api.world import World
from shoe.proof.beacon import CheckSignature
from shoe.proof.records import Record, ShoeRecord, record_hash
from shoe.proof.tlog import Receipt


@dataclass(slots=True)
class Writing:
    """One write transaction: its session, its time (a record's), and the records that it adds to the log.

    The records enter the log together, when the case calls `enter`: one checkpoint covers them all.
    """

    session: Session
    log: Log
    time: str
    next_index: int
    _records: list[Record] = field(default_factory=list)

    def add(self, record: Record) -> int:
        """Put a record down as the next of the log; give its index."""
        self._records.append(record)
        self.next_index += 1
        return self.next_index - 1

    def add_to(self, shoe: ShoeRow, record: ShoeRecord) -> int:
        """Put a record down as the next of the log and of a shoe's chain; give its index."""
        index = self.add(record)
        shoe.next_seq, shoe.last_hash, shoe.last_index = record.seq + 1, record_hash(record.to_bytes()), index
        return index

    def stamp(self) -> dict[str, Any]:
        """The fields that every record of this transaction has (protocol §8)."""
        return {"log": self.log.origin, "time": self.time}

    def link(self, shoe: ShoeRow) -> dict[str, Any]:
        """The fields that the next record of a shoe has (protocol §8)."""
        return {**self.stamp(), "shoe": shoe.id, "seq": shoe.next_seq, "previous": shoe.last_hash}

    def enter(self) -> tuple[Receipt, ...]:
        """Append what was put down to the log; give a receipt for each record, good once the transaction is durable."""
        indices = self.log.append(self.session, self._records)
        self._records.clear()
        self.session.flush()
        return make_receipts(self.session, indices)


@dataclass(frozen=True, slots=True)
class Service:
    """An open installation: all that the use cases need, and nothing of HTTP."""

    store: Store
    log: Log
    vault: Vault
    world: World
    check_signature: CheckSignature | None

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read one snapshot."""
        with self.store.reading() as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Write one transaction, holding the log's head from its first statement on."""
        with self.store.writing() as session:
            head, time = lock_head(session, self.world)
            yield Writing(session, self.log, time, head.size)
