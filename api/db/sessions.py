"""Sessions: readers see one snapshot, writers come one after another; the only SQLite-specific code.

SQLite's deferred BEGIN lets a reader that turns writer fail at once, whatever the time-out: so a writer begins with
BEGIN IMMEDIATE. The driver's own BEGIN is switched off, or it would come too late.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import OperationalError
from typing import Final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.orm import Session

BUSY_TIMEOUT_MS: Final = 30_000
_SWITCH_PAUSE_S: Final = 0.01
_PRAGMAS: Final = (
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "synchronous=FULL",  # NORMAL can lose a commit whose checkpoint was given out: a fork
    "foreign_keys=ON",
    "recursive_triggers=ON",  # or INSERT OR REPLACE would delete past the log's triggers
)
_WRITES: Final = "fairshoe_writes"


@dataclass(frozen=True, slots=True)
class Store:
    """The database, to be read in snapshots and written in turns."""

    engine: Engine

    @property
    def writers(self) -> Engine:
        """The same engine for transactions that write."""
        return self.engine.execution_options(**{_WRITES: True})

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read in one transaction: everything seen is of one moment."""
        with Session(self.engine) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Write in one transaction, alone: durable once the block is left, undone where it raises."""
        with Session(self.writers, expire_on_commit=False) as session, session.begin():
            yield session


def open_store(database: Path) -> Store:
    """Open the embedded database in a file, which is made where there is none.

    Parameters never appear in an error's text: some are players' seeds and encrypted secrets.
    """
    engine = create_engine(URL.create("sqlite", database=str(database)), hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return Store(engine)


def _prepare(connection: SQLiteConnection, _: object) -> None:
    connection.isolation_level = None
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}").close()
    _switch_to_wal(connection)


def _switch_to_wal(connection: SQLiteConnection) -> None:
    """Switch the file to its write-ahead log; first starts at once may all want to, and here SQLite does not wait."""
    latest = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL").close()
            return
        except OperationalError:
            if time.monotonic() > latest:
                raise
            time.sleep(_SWITCH_PAUSE_S)


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITES, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
