"""The embedded database: one file, its write-ahead log, and writers that queue instead of failing.

SQLite's deferred BEGIN lets a reader that turns writer fail at once, whatever the time-out: so a writer begins with
BEGIN IMMEDIATE. The driver's own BEGIN is switched off, or it would come too late.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import OperationalError
from typing import Final

from sqlalchemy import URL, Connection, Engine, create_engine, event

from api.durable import turn

BUSY_TIMEOUT_MS: Final = 30_000
_SWITCH_PAUSE_S: Final = 0.01
_PRAGMAS: Final = (
    f"busy_timeout={BUSY_TIMEOUT_MS}",
    "synchronous=FULL",  # NORMAL can lose a commit whose checkpoint was given out: a fork
    "foreign_keys=ON",
    "recursive_triggers=ON",  # or INSERT OR REPLACE would delete past the log's triggers
)
_WRITES: Final = "fairshoe_writes"


def open_engine(path: str) -> Engine:
    """Open a database in a file, which is made where there is none."""
    engine = create_engine(URL.create("sqlite", database=path), hide_parameters=True)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def for_writers(engine: Engine) -> Engine:
    """Give the same engine for transactions that write."""
    return engine.execution_options(**{_WRITES: True})


def turn_beside(path: str) -> Callable[[], AbstractContextManager[None]]:
    """Let writers of all processes queue at a lock file beside the database.

    SQLite alone would let them sleep and try again, up to a tenth of a second each time, with no order among them.
    """
    return partial(turn, Path(path))


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
