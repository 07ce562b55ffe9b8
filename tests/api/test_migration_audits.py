"""Migration 0007 over data: everything stays, and the tables of monitors and audits come, empty, with their checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from api.db import migrate
from api.db.sessions import Store
from tests.api.conftest import NewDatabase
from tests.api.old_schema import make_old, require_declared, rows_now, tables_now

NEW = ("monitors", "monitor_points", "audits", "audit_documents")
AUDIT = "INSERT INTO audits (id, made_by, created, state, done, verdict, ended) VALUES ('a', '', 'x', {})"


@pytest.fixture
def before(tmp_path: Path, new_database: NewDatabase) -> Iterator[Store]:
    """A database at schema 0006 with the shoes of the code of 0001."""
    store = make_old(tmp_path / "house", new_database())
    migrate.upgrade(store, "0006")
    yield store
    store.engine.dispose()


def test_the_four_tables_come_and_nothing_else_changes(before: Store) -> None:
    rows, names = rows_now(before), tables_now(before)
    assert migrate.upgrade(before, "0007") == ("0006", "0007")
    assert (rows_now(before), tables_now(before)) == (rows, names | set(NEW))
    with before.reading() as session:
        assert [session.scalar(text(f"SELECT COUNT(*) FROM {name}")) for name in NEW] == [0, 0, 0, 0]


def test_the_database_is_the_one_that_the_code_declares(before: Store) -> None:
    migrate.upgrade(before)
    require_declared(before)


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
