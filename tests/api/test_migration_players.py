"""Migration 0006 over data: what a database of schema 0005 holds stays, and its seats and passes say what they meant.

What must be there afterwards is what the old rows said: nobody had a name, a pass was a pass, nothing was owed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from api.access import make_token, token_digest, token_prefix
from api.db import migrate
from api.db.sessions import Store
from shoe.game.houses import house as preset
from tests.api.conftest import NewDatabase
from tests.api.installation import Chance
from tests.api.old_schema import make_old, require_declared, rows_now

TOKEN = make_token("seat", Chance(77))
OLD = (
    "INSERT INTO tables (id, rules, decks, shuffle, created) VALUES ('bets', :rules, 8, 'shoe', 'x')",
    "INSERT INTO credentials (id, kind, prefix, digest, roles, name, table_id, made_by, created)"
    " VALUES ('seat', 'seat', :prefix, :digest, 'player', '', 'bets', '', 'x')",
    "INSERT INTO purses (seat_id, balance_minor) VALUES ('seat', 700)",
    "INSERT INTO passes (shoe_id, number, seat_id, client, time, state)"
    " SELECT MIN(id), 3, 'seat', 'seat-0', 'x', 'withdrawn' FROM shoes",
)
"""A table that takes bets, a seat with money, a pass that was taken back: as code of schema 0005 wrote them."""

FILLED = ("tables", "credentials", "purses", "passes")


@pytest.fixture
def before(tmp_path: Path, new_database: NewDatabase) -> Iterator[Store]:
    store = make_old(tmp_path / "house", new_database())
    migrate.upgrade(store, "0005")
    values = {
        "rules": json.dumps(preset("vip").rules.to_json()),
        "prefix": token_prefix(TOKEN),
        "digest": token_digest(TOKEN),
    }
    with store.founding() as session:
        for statement in OLD:
            used = {name: value for name, value in values.items() if f":{name}" in statement}
            session.execute(text(statement), used)
    yield store
    store.engine.dispose()


def contents(store: Store) -> dict[str, list[dict[str, Any]]]:
    with store.reading() as session:
        return {
            name: [dict(row) for row in session.execute(text(f"SELECT * FROM {name}")).mappings()] for name in FILLED
        }


def refused(store: Store, statement: str) -> None:
    with pytest.raises(IntegrityError), store.founding() as session:
        session.execute(text(statement))


def test_every_row_stays_and_the_new_columns_say_what_held(before: Store) -> None:
    rows, filled = rows_now(before), contents(before)
    assert migrate.upgrade(before, "0006") == ("0005", "0006")
    assert rows_now(before) == rows
    new = {
        "tables": {},
        "credentials": {"player": None},
        "purses": {"preserve": 0, "owed_minor": 0},
        "passes": {"choice": "pass"},
    }
    assert contents(before) == {name: [{**row, **new[name]} for row in filled[name]] for name in FILLED}


def test_the_database_is_the_one_that_the_code_declares(before: Store) -> None:
    migrate.upgrade(before)
    require_declared(before)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE purses SET preserve = 2",
        "UPDATE purses SET owed_minor = -1",
        "UPDATE passes SET choice = 'double'",
        "INSERT INTO own_limits (holder, table_id, maximum_minor, wrong) VALUES ('ann', '', 0, 0)",
        "INSERT INTO purse_moves (id, seat_id, amount_minor, balance_minor, time, made_by, note)"
        " VALUES ('m', 'seat', 0, 700, 'x', '', '')",
        "INSERT INTO purse_moves (id, seat_id, amount_minor, balance_minor, time, made_by, note)"
        " VALUES ('m', 'seat', -701, -1, 'x', '', '')",
        "INSERT INTO purse_moves (id, seat_id, amount_minor, balance_minor, time, made_by, note)"
        " VALUES ('m', 'nobody', 1, 701, 'x', '', '')",
    ],
)
def test_what_cannot_be_is_kept_out(before: Store, statement: str) -> None:
    migrate.upgrade(before, "0006")
    refused(before, statement)
