"""A database at schema 0001, filled by the code of its time, as tests/golden/schema-0001.sql holds it; either kind."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import MetaData, inspect

from api.db.migrate import upgrade
from api.db.sessions import Store, open_store
from api.db.tables import Base
from api.db.triggers import complaints
from api.log import read_head
from api.pin import Pin
from tests.api.installation import NOON, Chance

SCRIPT = (Path(__file__).parents[1] / "golden" / "schema-0001.sql").read_text()
TABLES = ["tables", "books", "shoes", "contributions", "coups"]
TABLES += ["leaves", "log_nodes", "log_head", "checkpoints", "signing_keys"]
"""Every table of the schema, each behind those that it refers to."""

AFTERWARDS = NOON + timedelta(minutes=1)
"""A minute after it was begun, and most of one after its last record; within every deadline."""

Rows = dict[str, list[dict[str, Any]]]


def old_rows() -> Rows:
    """Every row by table and column, as SQLite gives them."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.row_factory = sqlite3.Row
        connection.executescript(SCRIPT)
        return {
            name: [dict(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY rowid")] for name in TABLES
        }


def pin_as_it_stands(folder: Path, store: Store) -> None:
    """Pin the head in the database, as `fairshoe log check --resume` does: that old code had no pin."""
    with store.reading() as session:
        head = read_head(session)
        Pin(folder / "checkpoint.pinned").keep(head.size, head.checkpoint)


def make_old(folder: Path, database_url: str | None) -> Store:
    """Make the old installation in a new folder, the key of its vault included, its database closed: SQLite's as its
    own code left it, PostgreSQL's at the same schema with the same rows."""
    folder.mkdir(mode=0o700)
    (folder / "vault.key").write_bytes(Chance()(32))
    (folder / "vault.key").chmod(0o600)
    if database_url is None:
        path = folder / "fairshoe.sqlite3"
        with closing(sqlite3.connect(path)) as connection:
            connection.executescript(SCRIPT)
        return open_store(str(path))
    store = open_store(database_url)
    upgrade(store, "0001")
    with store.founding() as session:
        found = MetaData()
        found.reflect(session.connection())
        for name, rows in old_rows().items():
            session.execute(found.tables[name].insert(), rows)
    return store


def rows_now(store: Store) -> Rows:
    """Every row of the old tables as the database has them now, in the old columns, sorted."""
    with store.reading() as session:
        found = MetaData()
        found.reflect(session.connection())
        return {
            name: sorted(
                (
                    {column: row[column] for column in old[0]}
                    for row in session.execute(found.tables[name].select()).mappings()
                ),
                key=repr,
            )
            for name, old in old_rows().items()
        }


def tables_now(store: Store) -> set[str]:
    """The tables that are there."""
    with store.engine.connect() as connection:
        return set(inspect(connection).get_table_names())


def require_declared(store: Store) -> None:
    """Fail unless columns, guards and the names of all checks are those that the code declares."""
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert complaints(connection) == []
        for name, table in Base.metadata.tables.items():
            checks = {check["name"] for check in inspect(connection).get_check_constraints(name)}
            assert checks == {str(each.name) for each in table.constraints if each.name and "ck_" in each.name}, name
