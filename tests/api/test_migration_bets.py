"""Migration 0005 over data: a filled database of schema 0004 gets banks and purses, and bets work on it.

What must be there afterwards follows from the rules that are written into the old database here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from api.access import make_token, token_digest, token_prefix
from api.db import migrate
from api.db.sessions import Store
from shoe.game.houses import house as preset
from tests.api.conftest import NewDatabase
from tests.api.installation import Chance
from tests.api.old_schema import make_old, require_declared, rows_now, tables_now

NEW = {"purses", "banks", "bets", "passes"}
TOKENS = {name: make_token("seat", Chance(900 + n)) for n, name in enumerate(("bank-1", "bank-2", "none", "silent"))}
NO_MONEY = preset("chance").rules.to_json()
BANK = preset("np_punto_banco").rules.to_json()
SILENT = {key: NO_MONEY[key] for key in ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")}
TABLES = {"bank": BANK, "none": NO_MONEY, "silent": SILENT, "odd": {**SILENT, "money": "plenty"}}
SEATS = {"bank-1": "bank", "bank-2": "bank", "none": "none", "silent": "silent"}


@pytest.fixture
def url(new_database: NewDatabase) -> str | None:
    return new_database()


@pytest.fixture
def before(tmp_path: Path, url: str | None) -> Iterator[Store]:
    """A database at schema 0004: shoes of the code of 0001, and tables with and without money, and their seats."""
    store = make_old(tmp_path / "house", url)
    migrate.upgrade(store, "0004")
    with store.founding() as session:
        for name, rules in TABLES.items():
            row = {"id": name, "rules": json.dumps(rules), "decks": 8, "shuffle": "shoe", "created": "x"}
            session.execute(
                text(
                    "INSERT INTO tables (id, rules, decks, shuffle, created)"
                    " VALUES (:id, :rules, :decks, :shuffle, :created)"
                ),
                row,
            )
        for name, table in SEATS.items():
            token = TOKENS[name]
            session.execute(
                text(
                    "INSERT INTO credentials (id, kind, prefix, digest, roles, name, table_id, made_by, created)"
                    " VALUES (:id, 'seat', :prefix, :digest, 'player', '', :table, '', 'x')"
                ),
                {"id": name, "prefix": token_prefix(token), "digest": token_digest(token), "table": table},
            )
    yield store
    store.engine.dispose()


def rows_of(store: Store, query: str) -> dict[Any, Any]:
    with store.reading() as session:
        return {row[0]: row[1] for row in session.execute(text(query))}


def test_the_four_tables_come_and_nothing_else_changes(before: Store) -> None:
    rows, names = rows_now(before), tables_now(before)
    assert migrate.upgrade(before, "0005") == ("0004", "0005")
    assert (rows_now(before), tables_now(before)) == (rows, names | NEW)


def test_every_bank_and_every_seat_at_a_table_with_money_has_what_its_rules_say(before: Store) -> None:
    """The house with a bank of 10,000 gives purses of 1,000 units; the other gives none; the rest have no money."""
    migrate.upgrade(before, "0005")
    assert rows_of(before, "SELECT table_id, balance_minor FROM banks") == {"bank": 1_000_000}
    purses = rows_of(before, "SELECT seat_id, balance_minor FROM purses")
    assert purses == {"bank-1": 100_000, "bank-2": 100_000, "none": 0}


def test_the_tables_are_those_that_the_code_declares(before: Store) -> None:
    migrate.upgrade(before)
    require_declared(before)
