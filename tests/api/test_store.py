"""Sessions, migrations and triggers, on real files."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Inspector, inspect, text
from sqlalchemy.exc import IntegrityError, OperationalError

import api
from api.db import migrate
from api.db.sessions import Store, open_store
from api.db.tables import Base, LogHeadRow
from api.settings import SetupError
from api.writing import Finish, Writing
from tests.api.installation import NOON, Installation


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = open_store(str(tmp_path / "empty.sqlite3"))
    yield store
    store.engine.dispose()


def schema(store: Store) -> list[tuple[str, str]]:
    with store.engine.connect() as connection:
        return [(name, sql) for name, sql in connection.execute(text("SELECT name, sql FROM sqlite_schema"))]


# --- migrations --------------------------------------------------------------------------------


def test_the_newest_schema_is_the_one_the_code_declares(store: Store) -> None:
    migrate.upgrade(store)
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_constraints_that_the_comparison_passes_over_are_declared_alike(store: Store) -> None:
    """Alembic compares neither checks nor foreign keys' names: hold a database made from the metadata beside."""
    migrate.upgrade(store)
    made = open_store(str(Path(store.name).with_name("made.sqlite3")))
    with made.writers.begin() as connection:
        Base.metadata.create_all(connection)
    here, there = inspect(store.engine), inspect(made.engine)
    for table in Base.metadata.tables:
        for what in ("get_check_constraints", "get_foreign_keys", "get_unique_constraints", "get_indexes"):
            assert described(here, what, table) == described(there, what, table)
        assert here.get_pk_constraint(table) == there.get_pk_constraint(table)
    made.engine.dispose()


def described(found: Inspector, what: str, table: str) -> list[list[str]]:
    """Constraints as text, the conditions of partial indexes included."""
    constraints = [{**each.pop("dialect_options", {}), **each} for each in getattr(found, what)(table)]
    return sorted(sorted(f"{key}: {value}" for key, value in each.items()) for each in constraints)


def test_a_second_upgrade_changes_nothing(store: Store) -> None:
    migrate.upgrade(store)
    before = schema(store)
    migrate.upgrade(store)
    assert schema(store) == before


def test_two_first_starts_at_once_both_succeed(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from api.settings import Settings; from api.world import real_world;"
        "from api.wiring import open_service; service = open_service(Settings(Path(sys.argv[1])), real_world());"
        "print(service.log.origin); service.store.engine.dispose()"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(tmp_path / "house")]
    starts = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    said = [start.communicate() for start in starts]
    assert [error for _, error in said] == ["", "", ""]
    assert len({origin for origin, _ in said}) == 1


def test_only_integers_text_and_bytes_are_stored(store: Store) -> None:
    migrate.upgrade(store)
    found = inspect(store.engine)
    kinds = {str(column["type"]) for table in Base.metadata.tables for column in found.get_columns(table)}
    assert kinds == {"BIGINT", "TEXT", "BLOB"}


def test_migrations_beside_the_package_go_before_those_of_the_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "api"
    (package / "migrations").mkdir(parents=True)
    monkeypatch.setattr(api, "__file__", str(package / "__init__.py"))
    with pytest.raises(SetupError, match="the installation is incomplete"):
        migrate.script_location()
    (package / "migrations" / "env.py").touch()
    assert migrate.script_location() == package / "migrations"


def test_a_folder_with_a_percent_sign_is_no_trouble(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "100%(here)s.sqlite3"))
    migrate.upgrade(store)
    assert "leaves" in inspect(store.engine).get_table_names()
    store.engine.dispose()


# --- sessions ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pragma", "value"),
    [("journal_mode", "wal"), ("synchronous", 2), ("foreign_keys", 1), ("recursive_triggers", 1)],
)
def test_every_connection_is_set_so(store: Store, pragma: str, value: object) -> None:
    with store.reading() as session, store.reading() as other:
        assert [each.scalar(text(f"PRAGMA {pragma}")) for each in (session, other)] == [value, value]


def other_writer_waits(house: Installation) -> bool:
    """Whether a writer of another process would have to wait now."""
    if house.database_url is None:
        with closing(sqlite3.connect(house.folder / "fairshoe.sqlite3", timeout=0)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return True
            return False
    with house.service.store.engine.connect() as connection:
        try:
            connection.execute(text("SELECT 1 FROM log_head FOR UPDATE NOWAIT"))
        except OperationalError:
            return True
        return False


def test_a_writer_holds_the_log_from_its_first_moment(house: Installation) -> None:
    """BEGIN IMMEDIATE, or the head locked FOR UPDATE: before this transaction has written anything."""
    assert not other_writer_waits(house)
    assert house.service.write(lambda writing: lambda _: other_writer_waits(house))


def test_a_writer_looks_at_the_clock_once_its_turn_has_come(house: Installation) -> None:
    """Or a step that waited for others would be dated before its deadline, and be after it."""
    held: list[bool] = []
    started: list[bool] = []

    def clock() -> datetime:
        if started:
            held.append(other_writer_waits(house))
        return NOON

    house.stop()
    house.clock = clock  # type: ignore[assignment]
    house.start()
    started.append(True)
    time = house.service.write(lambda writing: lambda _: writing.time)
    assert (time, held) == ("2026-01-31T12:00:00.000000Z", [True])


def test_a_reader_sees_one_moment_and_holds_nobody_up(house: Installation) -> None:
    with house.service.reading() as session:
        before = session.get_one(LogHeadRow, 1).size
        house.table()
        session.expire_all()
        assert session.get_one(LogHeadRow, 1).size == before == 1
    with house.service.reading() as session:
        assert session.get_one(LogHeadRow, 1).size == 2


def test_a_transaction_that_fails_leaves_nothing(house: Installation) -> None:
    house.table()
    before = house.checkpoint()

    def step(writing: Writing) -> Finish[None]:
        writing.session.execute(text("UPDATE books SET next_index = 3"))
        raise RuntimeError

    with pytest.raises(RuntimeError):
        house.service.write(step)
    assert house.checkpoint() == before
    assert house.get("/tables/t/books")["books"][0]["next_index"] == 0


def test_an_error_of_the_database_shows_no_parameter(house: Installation) -> None:
    with pytest.raises(IntegrityError) as caught, house.service.store.writing() as session:
        session.execute(text("INSERT INTO checkpoints VALUES (1, :text)"), {"text": "a player's seed"})
    assert "a player's seed" not in str(caught.value)
