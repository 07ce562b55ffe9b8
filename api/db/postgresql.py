"""PostgreSQL by psycopg: durable commits whatever the server's default, readers in one snapshot.

READ COMMITTED loses updates unless writers queue at one row: they lock the log's head FOR UPDATE first of all.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event

from api.settings import SetupError
from shoe.errors import expected

if TYPE_CHECKING:
    from psycopg import Connection as PostgresConnection

LOCK_TIMEOUT_MS: Final = 30_000
POOL_SIZE: Final = 16
_SCHEMES: Final = ("postgres", "postgresql", "postgresql+psycopg")
_FOUNDING: Final = 0x66616972_73686F65
"""The advisory lock of all that found or migrate: "fairshoe" in ASCII."""

_SETTINGS: Final = (
    "synchronous_commit TO on",  # off, or local beside a standby, can lose a commit whose checkpoint was given out
    f"lock_timeout TO {LOCK_TIMEOUT_MS}",
)


def open_engine(url: URL) -> Engine:
    """Open a database by its URL; connects when first used.

    Raises SetupError for a scheme of another database, and where the driver is not installed.
    """
    if url.drivername not in _SCHEMES:
        raise SetupError(expected("a URL postgresql://…", f"{url.drivername}://…", "DATABASE_URL"))
    if find_spec("psycopg") is None:
        raise SetupError("PostgreSQL's driver is not installed; run: pip install 'fairshoe[postgres]'")
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        hide_parameters=True,
        pool_pre_ping=True,  # a server that was started again costs no request
        pool_size=POOL_SIZE,
        connect_args={"connect_timeout": 10},
    )
    event.listen(engine, "connect", _prepare)
    return engine


def for_readers(engine: Engine) -> Engine:
    """Give the same engine for transactions that only read: everything they see is of one moment."""
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def no_turn() -> AbstractContextManager[None]:
    """Wait for nobody: the lock on the log's head is the queue of writers."""
    return nullcontext()


def wait_to_found(connection: Connection) -> None:
    """Be alone among all that found or migrate, until the transaction ends."""
    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_FOUNDING})")


def _prepare(connection: PostgresConnection[object], _: object) -> None:
    connection.autocommit = True
    for setting in _SETTINGS:
        connection.execute(f"SET {setting}".encode())
    connection.autocommit = False
