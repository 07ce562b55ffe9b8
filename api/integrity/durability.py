"""Whether the database keeps what it says it has kept: settings that a server or another hand may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

from shoe.errors import expected

POSTGRESQL: Final = {
    "fsync": ("on",),
    "full_page_writes": ("on",),
    "synchronous_commit": ("on", "remote_apply"),
    "session_replication_role": ("origin",),  # as a replica's, a session fires no trigger
    "zero_damaged_pages": ("off",),
}
SQLITE: Final = {"synchronous": (2, 3), "journal_mode": ("wal",), "recursive_triggers": (1,), "foreign_keys": (1,)}


def durability_complaints(connection: Connection) -> Iterator[str]:
    """Say which setting is not as it must be for what is committed to last and for every trigger to fire."""
    if connection.dialect.name == "postgresql":
        for name, good in POSTGRESQL.items():
            found = connection.exec_driver_sql(f"SHOW {name}").scalar()
            if found not in good:
                yield expected(" or ".join(good), found, f"PostgreSQL's setting {name}")
        return
    for name, right in SQLITE.items():
        held = connection.exec_driver_sql(f"PRAGMA {name}").scalar()
        if held not in right:
            yield expected(" or ".join(map(str, right)), held, f"SQLite's pragma {name}")


def damage(connection: Connection) -> Iterator[str]:
    """Say what SQLite finds damaged in its file: pages, and indices that are not those of their tables; up to 20.

    Reads the whole file. PostgreSQL has no such check of its own; there this finds nothing.
    """
    if connection.dialect.name == "sqlite":
        for (found,) in connection.exec_driver_sql("PRAGMA integrity_check(20)"):
            if found != "ok":
                yield f"database file: {found}"
