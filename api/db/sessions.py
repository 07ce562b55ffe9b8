"""Sessions over either database: readers see one snapshot, writers come one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Engine, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.orm import Session

from api.db import postgresql, sqlite
from api.settings import SetupError
from shoe.errors import FairshoeError

_OUT_OF_REACH: Final = {5, 6, 8, 10, 13, 14}
"""SQLite's busy, locked, read only, input/output error, full, can't open: the file is at fault, not the statement."""


class OutcomeUnknown(FairshoeError):
    """The database failed while it committed: what was written may be stored, or not."""


Turn = Callable[[], AbstractContextManager[None]]
"""Waits until no other process of this installation writes, as far as the database itself doesn't see to that."""


@dataclass(frozen=True, slots=True)
class Store:
    """The database, to be read in snapshots and written in turns."""

    engine: Engine
    readers: Engine
    writers: Engine
    turn: Turn

    @property
    def dialect(self) -> str:
        """Which database it is: ``sqlite`` or ``postgresql``."""
        return self.engine.dialect.name

    @property
    def name(self) -> str:
        """What to call the database in a message: its file, or its address without the password."""
        url = self.engine.url
        return str(url.database) if self.dialect == "sqlite" else shown(url.render_as_string(hide_password=False))

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Read in one transaction: everything seen is of one moment."""
        with Session(self.readers) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Write in one transaction: durable once the block is left, undone where it raises.

        Alone among writers on SQLite; on PostgreSQL once the log's head is locked. Raises OutcomeUnknown where the
        commit itself fails.
        """
        with self.turn(), Session(self.writers, expire_on_commit=False) as session:
            yield session
            session.flush()
            try:
                session.commit()
            except DBAPIError as error:
                # The transaction may be open still, and hold the database: its connection must not be used again.
                session.invalidate()
                raise OutcomeUnknown(f"the commit failed: {type(error.orig).__name__}") from error

    @contextmanager
    def founding(self) -> Iterator[Session]:
        """Write in one transaction, alone among all that found or migrate, before there is a head to lock."""
        with self.writing() as session:
            if self.dialect == "postgresql":
                postgresql.wait_to_found(session.connection())
            yield session


def out_of_reach(error: DBAPIError) -> bool:
    """Say whether an error tells of a database that can't be worked with now, rather than of a wrong statement."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        return code & 0xFF in _OUT_OF_REACH
    return error.connection_invalidated or isinstance(error, OperationalError)


def shown(address: str) -> str:
    """Give a database's address as a message may show it: without the password."""
    return make_url(address).render_as_string(hide_password=True) if "://" in address else address


def open_store(address: str) -> Store:
    """Open a database by its address: a file's path, made where there is none, or a URL of PostgreSQL.

    Parameters never appear in an error's text: some are players' seeds and encrypted secrets. Raises SetupError for
    an address of neither kind, and where PostgreSQL's driver is not installed.
    """
    if "://" not in address:
        engine = sqlite.open_engine(address)
        return Store(engine, engine, sqlite.for_writers(engine), sqlite.turn_beside(address))
    try:
        engine = postgresql.open_engine(make_url(address))
    except (ArgumentError, ValueError):
        raise SetupError("DATABASE_URL: expected a URL such as postgresql://user@host/name, got another form") from None
    return Store(engine, postgresql.for_readers(engine), engine, postgresql.no_turn)
