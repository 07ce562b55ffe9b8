"""Migrations over data: a database that the code of schema 0001 made and filled, brought to the newest, on both kinds.

What must be there afterwards is read from the old code's own rows (tests/golden/schema-0001.sql); the log's root comes
from RFC 6962's definition in tests/reference.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import inspect, select, text

import api
from api.db import migrate
from api.db.sessions import Store
from api.db.tables import Base, SigningKeyRow
from api.db.triggers import complaints
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import parse_vkey
from tests.api.conftest import NewDatabase
from tests.api.installation import ORIGIN, Chance, Clock, Found, Installation
from tests.api.old_schema import AFTERWARDS, TABLES, make_old, old_rows, pin_as_it_stands, rows_now
from tests.reference import merkle_reference

NEWEST = migrate.newest_revision()


@pytest.fixture
def url(new_database: NewDatabase) -> str | None:
    return new_database()


@pytest.fixture
def old(tmp_path: Path, url: str | None) -> Iterator[Store]:
    store = make_old(tmp_path / "house", url)
    yield store
    store.engine.dispose()


@pytest.fixture
def migrated(old: Store) -> Store:
    assert migrate.upgrade(old) == ("0001", NEWEST)
    return old


@pytest.fixture
def goes_on(migrated: Store, found: Found, url: str | None, tmp_path: Path) -> Installation:
    """Today's service on the migrated database, within its deadlines; its draws are new ones."""
    pin_as_it_stands(tmp_path / "house", migrated)
    return found(database_url=url, clock=Clock(AFTERWARDS), chance=Chance(1000))


def live_shoes() -> dict[str, dict[str, Any]]:
    """The shoes that the old code left in play, by table."""
    return {row["table_id"]: row for row in old_rows()["shoes"] if row["state"] in ("open", "locked", "sealed")}


# --- what was there is there -------------------------------------------------------------------


def test_the_old_database_is_one_worth_the_name() -> None:
    """Ended, void and live shoes in every mode that needs no network, and each table filled."""
    rows = old_rows()
    assert [name for name in TABLES if not rows[name]] == []
    assert sorted(row["state"] for row in rows["shoes"]) == ["locked", "revealed", "sealed", "sealed", "void"]
    assert {row["type"] for row in rows["leaves"]} >= {"key", "book", "open", "entropy", "lock", "seed", "seal", "coup"}
    assert {row["type"] for row in rows["leaves"]} >= {"reveal", "void"}


def test_every_row_is_still_there_and_none_more(migrated: Store) -> None:
    wanted = {name: sorted(rows, key=repr) for name, rows in old_rows().items()}
    assert rows_now(migrated) == wanted


def test_the_tables_are_those_that_the_code_declares(migrated: Store) -> None:
    with migrated.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_the_triggers_are_there(migrated: Store) -> None:
    with migrated.engine.connect() as connection:
        assert complaints(connection) == []


def test_the_log_leads_to_the_root_that_its_key_signed(migrated: Store) -> None:
    rows = rows_now(migrated)
    records = [row["record"] for row in sorted(rows["leaves"], key=lambda row: row["log_index"])]
    (head,), (key,) = rows["log_head"], rows["signing_keys"]
    signed = check_checkpoint(head["checkpoint"], [parse_vkey(key["vkey"])], ORIGIN)
    assert (signed.size, signed.root) == (len(records), merkle_reference.mth(records))


def test_the_signing_key_is_active_from_the_logs_first_record_on(migrated: Store) -> None:
    with migrated.reading() as session:
        (key,) = session.scalars(select(SigningKeyRow))
    assert (key.status, key.log_index) == ("active", 0)


def test_a_second_upgrade_changes_nothing(migrated: Store) -> None:
    before = rows_now(migrated)
    assert migrate.upgrade(migrated) == (NEWEST, NEWEST)
    assert rows_now(migrated) == before


# --- what was in play goes on ------------------------------------------------------------------


def test_a_sealed_shoe_goes_on_to_its_end_and_its_bundle_verifies(goes_on: Installation) -> None:
    shoe = live_shoes()["t"]["id"]
    assert goes_on.post(f"/shoes/{shoe}/coups")["number"] == 3
    goes_on.deal_out(shoe)
    assert goes_on.verify(shoe).verdict == "verified"


def test_a_shoe_that_is_shuffled_for_each_coup_goes_on_too(goes_on: Installation) -> None:
    shoe = live_shoes()["every-coup"]["id"]
    assert [answer["number"] for answer in goes_on.deal_out(shoe)] == [1, 2, 3, 4]
    assert goes_on.verify(shoe).verdict == "verified"


def test_a_shoe_that_waits_for_a_seed_takes_it(goes_on: Installation) -> None:
    shoe = live_shoes()["two-phase"]["id"]
    goes_on.post(f"/shoes/{shoe}/seeds", {"position": 1, "seed": "second-seed"})
    goes_on.post(f"/shoes/{shoe}/seal")
    goes_on.deal_out(shoe)
    assert goes_on.verify(shoe).verdict == "verified"


@pytest.mark.parametrize(("state", "verdict"), [("revealed", "verified"), ("void", "void")])
def test_a_shoe_that_had_ended_verifies_as_before(goes_on: Installation, state: str, verdict: str) -> None:
    (shoe,) = (row["id"] for row in old_rows()["shoes"] if row["state"] == state)
    assert goes_on.verify(shoe).verdict == verdict


def test_the_next_shoe_has_the_next_seed_of_the_old_book(goes_on: Installation) -> None:
    goes_on.deal_out(live_shoes()["t"]["id"])
    (book,) = (row for row in old_rows()["books"] if row["table_id"] == "t")
    shoe = goes_on.sealed()
    assert goes_on.get(f"/shoes/{shoe}")["seed_index"] == book["next_index"]
    goes_on.deal_out(shoe)
    assert goes_on.verify(shoe).verdict == "verified"


# --- two at once, and one that fails -----------------------------------------------------------

START = """
import sys
from api.db.migrate import upgrade
from api.db.sessions import open_store
print("ready", flush=True)
sys.stdin.readline()
store = open_store(sys.argv[1])
print(*upgrade(store))
store.engine.dispose()
"""


def test_servers_that_start_at_once_migrate_once(old: Store, tmp_path: Path, url: str | None) -> None:
    address = url or str(tmp_path / "house" / "fairshoe.sqlite3")
    command = [sys.executable, "-W", "error", "-c", START, address]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    starts = [subprocess.Popen(command, text=True, **pipes) for _ in range(3)]
    for start in starts:
        assert start.stdout is not None
        assert start.stdout.readline() == "ready\n"
    for start in starts:
        assert start.stdin is not None
        start.stdin.write("go\n")
        start.stdin.flush()
    said = [start.communicate() for start in starts]
    assert [error for _, error in said] == ["", "", ""]
    assert sorted(line for line, _ in said) == [f"0001 {NEWEST}\n", f"{NEWEST} {NEWEST}\n", f"{NEWEST} {NEWEST}\n"]
    assert rows_now(old) == {name: sorted(rows, key=repr) for name, rows in old_rows().items()}


FAILING = '''"""A migration that fails when it has done much."""

from alembic import op

revision = "9999"
down_revision = "{newest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("CREATE TABLE further (id BIGINT)")
    op.execute("DELETE FROM coups")
    op.execute("UPDATE log_head SET size = 0")
    op.execute("DROP TABLE contributions")
    op.execute("INSERT INTO coups (shoe_id) VALUES (NULL)")
'''


@pytest.fixture
def failing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The migrations as they are installed, and one more."""
    package = tmp_path / "site" / "api"
    shutil.copytree(migrate.script_location(), package / "migrations")
    (package / "migrations" / "versions" / "9999_failing.py").write_text(FAILING.format(newest=NEWEST))
    monkeypatch.setattr(api, "__file__", str(package / "__init__.py"))


def stored(store: Store) -> tuple[Any, ...]:
    with store.engine.connect() as connection:
        schema = MigrationContext.configure(connection).get_current_revision()
        return schema, sorted(inspect(connection).get_table_names()), rows_now(store)


def must_fail(store: Store) -> None:
    before = stored(store)
    with pytest.raises(Exception, match=r"(?i)null"):
        migrate.upgrade(store)
    assert stored(store) == before


@pytest.mark.usefixtures("failing")
def test_a_migration_that_fails_on_the_way_leaves_the_old_database_as_it_was(old: Store) -> None:
    """All of the way is one transaction: the migrations that had succeeded before are undone too."""
    must_fail(old)


def test_a_migration_that_fails_leaves_the_triggers_too(migrated: Store, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("failing")
    must_fail(migrated)
    with migrated.engine.connect() as connection:
        assert complaints(connection) == []


@pytest.mark.usefixtures("failing")
def test_what_failed_once_succeeds_once_it_is_mended(old: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    must_fail(old)
    monkeypatch.undo()
    assert migrate.upgrade(old) == ("0001", NEWEST)
    assert rows_now(old)["leaves"] == sorted(old_rows()["leaves"], key=repr)


def test_an_old_trigger_that_is_gone_is_no_trouble(old: Store) -> None:
    with old.writers.begin() as connection:
        migrate.triggers.remove(connection)
    migrate.upgrade(old)
    with old.engine.connect() as connection:
        assert complaints(connection) == []
        assert connection.scalar(text("SELECT COUNT(*) FROM leaves")) == len(old_rows()["leaves"])
