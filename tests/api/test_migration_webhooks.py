"""The way to schema 0004 from the one before it, filled by the old code's rows: all stays, and webhooks work after."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from api.db import migrate
from api.db.sessions import Store
from api.webhooks.delivering import deliver_due
from tests.api.conftest import NewDatabase
from tests.api.installation import Chance, Clock, Found
from tests.api.old_schema import AFTERWARDS, make_old, pin_as_it_stands, require_declared, rows_now, tables_now
from tests.api.webhook_house import LOOPBACK, deliveries, hooked, opened, table_at
from tests.api.webhook_receiver import receiving

NEW = {"webhooks", "deliveries"}


@pytest.fixture
def url(new_database: NewDatabase) -> str | None:
    return new_database()


@pytest.fixture
def before(tmp_path: Path, url: str | None) -> Iterator[Store]:
    """A database at schema 0003, filled by the code of schema 0001."""
    store = make_old(tmp_path / "house", url)
    migrate.upgrade(store, "0003")
    yield store
    store.engine.dispose()


def test_the_two_tables_come_and_nothing_else_changes(before: Store) -> None:
    rows, names = rows_now(before), tables_now(before)
    assert migrate.upgrade(before, "0004") == ("0003", "0004")
    assert (rows_now(before), tables_now(before)) == (rows, names | NEW)


def test_the_tables_are_those_that_the_code_declares(before: Store) -> None:
    migrate.upgrade(before)
    require_declared(before)


def test_webhooks_work_on_what_was_migrated(before: Store, found: Found, url: str | None, tmp_path: Path) -> None:
    migrate.upgrade(before)
    pin_as_it_stands(tmp_path / "house", before)
    service = found(database_url=url, clock=Clock(AFTERWARDS), chance=Chance(1000)).service
    with receiving() as receiver:
        hooked(service, receiver.url)
        opened(service, table_at(service, "new"))
        assert deliver_due(service, LOOPBACK) == 1
        assert receiver.ids == [row.id for row in deliveries(service)]
