"""Migration 0003 over data: a filled database of schema 0002 gets accounts, and what players had begun goes on.

What must be there afterwards is what the database held before, read with SQL of its own; the two-phase shoe and its
seeds are those of tests/golden/schema-0001.sql.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, Table, inspect, select, text

from api.access import parse_key, token_digest
from api.db import migrate
from api.db.sessions import Store
from api.db.tables import CredentialRow
from api.db.triggers import complaints
from api.settings import Settings
from tests.api.conftest import NewDatabase
from tests.api.installation import Chance, Clock, Found, Installation, problem_of
from tests.api.old_schema import AFTERWARDS, make_old, old_rows, pin_as_it_stands
from tests.campaign.load import DEADLINES

NEWEST = migrate.newest_revision()
ADDED = {"tables": {"guests"}, "contributions": {"seat_id"}}
"""Columns that 0003 puts into tables that there were."""

CLAIMS = [
    {"key": f"key-{n}", "digest": bytes([n]) * 32, "time": f"2026-01-31T12:00:0{n}.000000Z", "status": 201,
     "answer": b'{"n":%d}' % n}
    for n in range(3)
]  # fmt: skip
COSIGNATURES = [
    {"size": 1, "vkey": f"witness-{n}.example+0000000{n}+BAAA", "time_s": 1_769_860_800 + n, "line": f"— line {n}"}
    for n in range(2)
]
SHOE = next(row for row in old_rows()["shoes"] if row["table_id"] == "two-phase")


@pytest.fixture
def url(new_database: NewDatabase) -> str | None:
    return new_database()


def rows_of(store: Store) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, but for Alembic's own, without what 0003 adds to it."""
    with store.reading() as session:
        found = MetaData()
        found.reflect(session.connection())
        return {
            name: sorted(
                (
                    {column: value for column, value in row.items() if column not in ADDED.get(name, ())}
                    for row in session.execute(table.select()).mappings()
                ),
                key=repr,
            )
            for name, table in found.tables.items()
            if name != "alembic_version"
        }


@pytest.fixture
def before(tmp_path: Path, url: str | None) -> Iterator[Store]:
    """A database at schema 0002: what the code of 0001 left in it, and what only 0002 has."""
    store = make_old(tmp_path / "house", url)
    migrate.upgrade(store, "0002")
    with store.founding() as session:
        found = MetaData()
        found.reflect(session.connection())
        session.execute(found.tables["claims"].insert(), CLAIMS)
        session.execute(found.tables["cosignatures"].insert(), COSIGNATURES)
    yield store
    store.engine.dispose()


@pytest.fixture
def goes_on(before: Store, found: Found, url: str | None, tmp_path: Path) -> Installation:
    """Today's service over it, which migrates when it starts."""
    pin_as_it_stands(tmp_path / "house", before)
    return found(database_url=url, clock=Clock(AFTERWARDS), chance=Chance(1000))


def take_seat(house: Installation, table: str = "two-phase") -> str:
    return str(house.post(f"/tables/{table}/seats")["token"])


def open_seed(house: Installation, seat: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {seat}"}
    return house.client.post(f"/v1/shoes/{SHOE['id']}/seeds", json=body, headers=headers)


# --- rows --------------------------------------------------------------------------------------


def test_what_there_was_is_there_and_what_is_new_is_empty(before: Store) -> None:
    held = rows_of(before)
    assert (len(held["claims"]), len(held["cosignatures"])) == (3, 2)
    assert [row["seed"] for row in held["contributions"] if row["shoe_id"] == SHOE["id"]].count(None) == 1
    assert migrate.upgrade(before) == ("0002", NEWEST)
    now = rows_of(before)
    assert {name: now[name] for name in held} == held
    assert [name for name in now.keys() - held.keys() if now[name]] == []
    assert now.keys() >= {"credentials", "quotas"}


def test_no_table_that_there_was_is_open_to_guests_and_no_contribution_is_a_seats(before: Store) -> None:
    migrate.upgrade(before)
    with before.reading() as session:
        assert set(session.scalars(text("SELECT guests FROM tables"))) == {0}
        assert set(session.scalars(text("SELECT seat_id FROM contributions"))) == {None}


def test_the_triggers_and_the_guards_of_a_credential_are_there(before: Store) -> None:
    migrate.upgrade(before)
    with before.engine.connect() as connection:
        assert complaints(connection) == []
        assert {index["name"] for index in inspect(connection).get_indexes("contributions")} >= {"one_a_seat"}
        table = Table("credentials", MetaData(), autoload_with=connection)
        seat = {"id": "x", "kind": "seat", "prefix": "fst_", "digest": b"d", "roles": "player", "name": "",
                "made_by": "", "created": "t"}  # fmt: skip
        for wrong in ({**seat, "kind": "else"}, seat, {**seat, "kind": "key", "table_id": "t"}):
            with pytest.raises(Exception, match=r"(?i)check"):
                connection.execute(table.insert(), wrong)
            connection.rollback()
        connection.execute(table.insert(), {**seat, "kind": "key"})
        with pytest.raises(Exception, match=r"(?i)unique"):
            connection.execute(table.insert(), {**seat, "id": "y", "kind": "key"})


# --- the first key -----------------------------------------------------------------------------


def test_the_first_start_afterwards_makes_the_first_key(goes_on: Installation) -> None:
    path = Settings(goes_on.folder).operator_key
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with goes_on.service.reading() as session:
        (row,) = session.scalars(select(CredentialRow))
    assert row.digest == token_digest(parse_key(path.read_text().strip()))
    assert goes_on.get("/me")["roles"] == ["client", "operator", "regulator"]


def test_an_answer_that_was_kept_is_kept_on_and_given_to_nobody_else(goes_on: Installation) -> None:
    """Since accounts a claim is its caller's: what was asked by nobody in particular is nobody's."""
    answer = goes_on.client.post("/v1/tables", json={"preset": "np_punto_banco"}, headers={"Idempotency-Key": "key-0"})
    assert answer.status_code == 201
    with goes_on.service.reading() as session:
        kept = session.execute(text("SELECT key, answer FROM claims WHERE key LIKE 'key-%' ORDER BY key")).all()
    assert [(key, bytes(data)) for key, data in kept] == [(row["key"], row["answer"]) for row in CLAIMS]


# --- seeds from before there were seats --------------------------------------------------------


@pytest.mark.parametrize("author", [{"position": 1}, {"client": "second"}, {"client": None}])
def test_any_seat_of_the_table_opens_a_seed_from_before_there_were_seats(
    goes_on: Installation, author: dict[str, Any]
) -> None:
    (row,) = (each for each in old_rows()["contributions"] if (each["shoe_id"], each["position"]) == (SHOE["id"], 1))
    body = {name: row["client"] if name == "client" else value for name, value in author.items()}
    assert open_seed(goes_on, take_seat(goes_on), {**body, "seed": "second-seed"}).status_code == 201
    goes_on.post(f"/shoes/{SHOE['id']}/seal")
    goes_on.deal_out(SHOE["id"])
    assert goes_on.verify(SHOE["id"]).verdict == "verified"


def test_it_must_be_named_and_be_of_the_seats_own_table(goes_on: Installation) -> None:
    before = goes_on.checkpoint()
    seat = take_seat(goes_on)
    problem_of(open_seed(goes_on, seat, {"seed": "second-seed"}), "not-found", 404)
    problem_of(open_seed(goes_on, take_seat(goes_on, "t"), {"position": 1, "seed": "second-seed"}), "forbidden", 403)
    problem_of(open_seed(goes_on, seat, {"position": 1, "seed": "another"}), "proof-failed", 422)
    problem_of(open_seed(goes_on, seat, {"position": 0, "seed": "another"}), "seed-opened", 409)
    assert goes_on.checkpoint() == before


def test_nobody_sits_out_for_a_seed_that_no_seat_withheld(goes_on: Installation) -> None:
    seat = take_seat(goes_on)
    goes_on.clock.forward(24 * 60 * 60)
    goes_on.post(f"/shoes/{SHOE['id']}/void", {"reason": "seed_missing"})
    if not [book for book in goes_on.get("/tables/two-phase/books")["books"] if book["next_index"] < book["size"]]:
        goes_on.post("/tables/two-phase/books", {"size": 1})
    shoe = goes_on.post("/tables/two-phase/shoes", DEADLINES)["shoe"]
    headers = {"Authorization": f"Bearer {seat}"}
    body = {"seed_commitment": "ab" * 32}
    assert goes_on.client.post(f"/v1/shoes/{shoe}/entropy", json=body, headers=headers).status_code == 201
