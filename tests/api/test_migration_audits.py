"""Migration 0007 over data: everything stays, and the tables of monitors and audits come, empty, with their checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, text
from sqlalchemy.exc import IntegrityError

from api.db import migrate
from api.db.sessions import Store
from api.db.tables import Base
from api.db.triggers import complaints
from tests.api.conftest import NewDatabase
from tests.api.old_schema import make_old, rows_now

NEW = ("monitors", "monitor_points", "audits", "audit_documents")
AUDIT = "INSERT INTO audits (id, made_by, created, state, done, verdict, ended) VALUES ('a', '', 'x', {})"


@pytest.fixture
def before(tmp_path: Path, new_database: NewDatabase) -> Iterator[Store]:
    """A database at schema 0006 with the shoes of the code of 0001."""
    store = make_old(tmp_path / "house", new_database())
    migrate.upgrade(store, "0006")
    yield store
    store.engine.dispose()


def tables(store: Store) -> set[str]:
    with store.engine.connect() as connection:
        return set(inspect(connection).get_table_names())


def test_the_four_tables_come_and_nothing_else_changes(before: Store) -> None:
    rows, names = rows_now(before), tables(before)
    assert migrate.upgrade(before, "0007") == ("0006", "0007")
    assert (rows_now(before), tables(before)) == (rows, names | set(NEW))
    with before.reading() as session:
        assert [session.scalar(text(f"SELECT COUNT(*) FROM {name}")) for name in NEW] == [0, 0, 0, 0]


def test_the_database_is_the_one_that_the_code_declares(before: Store) -> None:
    migrate.upgrade(before)
    with before.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        assert complaints(connection) == []
        for name in NEW:
            checks = {check["name"] for check in inspect(connection).get_check_constraints(name)}
            declared = {
                str(each.name) for each in Base.metadata.tables[name].constraints if each.name and "ck_" in each.name
            }
            assert checks == declared


@pytest.mark.parametrize(
    "values",
    [
        "'asleep', 0, NULL, NULL",
        "'done', 0, 'perfect', 'y'",
        "'done', 0, NULL, 'y'",
        "'done', 0, 'pass', NULL",
        "'queued', 0, NULL, 'y'",
        "'failed', 0, 'fail', 'y'",
    ],
)
def test_an_audit_that_cannot_be_is_kept_out(before: Store, values: str) -> None:
    migrate.upgrade(before, "0007")
    with pytest.raises(IntegrityError), before.founding() as session:
        session.execute(text(AUDIT.format(values)))


def test_an_audit_of_each_state_is_let_in(before: Store) -> None:
    """So that what is kept out above is kept out for the reason meant."""
    migrate.upgrade(before, "0007")
    for n, values in enumerate(("'queued', 0, NULL, NULL", "'done', 0, 'fail', 'y'", "'failed', 0, NULL, 'y'")):
        with before.founding() as session:
            session.execute(text(AUDIT.format(values).replace("'a'", f"'{n}'")))
