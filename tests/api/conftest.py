"""Fixtures for the service's tests: installations of their own for each, on both databases."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from werkzeug.routing import Rule

from api.db.migrate import upgrade
from api.db.sessions import open_store
from tests.api.audited import Audited
from tests.api.installation import Installation
from tests.api.postgres import postgres
from tests.api.tampering import Originals

__all__ = [
    "audited",
    "audited_house",
    "database",
    "found",
    "house",
    "logged",
    "new_database",
    "newest_schema",
    "originals",
    "postgres",
]

NewDatabase = Callable[..., str | None]

_compile_builder: Callable[..., Callable[..., tuple[str, str]]] = Rule._compile_builder
_builders: dict[object, Callable[..., tuple[str, str]]] = {}


def _compiled_once(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
    key = rule.rule, rule.subdomain, rule.host, tuple((rule.defaults or {}).items()), append_unknown
    if key not in _builders:
        _builders[key] = _compile_builder(rule, append_unknown)
    return _builders[key]


# What werkzeug compiles for every route of every application, so that addresses may be built from it, took a third of
# the time in which a test's installation starts; it is the same for equal rules.
Rule._compile_builder = _compiled_once  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def newest_schema(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Callable[[str], str]:
    """An empty database of the newest schema of each kind, made once by the migrations: its file, or its URL.

    Most tests found their installation on a copy; how a schema comes to be is for the tests of migrations.
    """

    @cache
    def make(kind: str) -> str:
        if kind == "sqlite":
            address = str(tmp_path_factory.mktemp("migrated") / "fairshoe.sqlite3")
        else:
            address = request.getfixturevalue("postgres").create_database()
        store = open_store(address)
        upgrade(store)
        store.engine.dispose()
        return address

    return make


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Which database a test runs on: every test of the store runs on both."""
    return str(request.param)


@pytest.fixture
def new_database(database: str, request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """Makes databases, and gives each one's URL; None for the embedded one in the installation's folder."""
    if database == "sqlite":
        yield lambda template=None: None
        return
    server, made = request.getfixturevalue("postgres"), []

    def make(template: str | None = None) -> str:
        made.append(server.create_database(template))
        return str(made[-1])

    yield make
    for url in made:
        server.drop_database(url)


@pytest.fixture
def found(
    tmp_path: Path, new_database: NewDatabase, database: str, newest_schema: Callable[[str], str]
) -> Iterator[Callable[..., Installation]]:
    """Founds installations, each in a new folder by its name, and closes them at the end."""
    installations: list[Installation] = []

    def make(name: str = "house", **settings: Any) -> Installation:
        if "database_url" not in settings:
            settings["database_url"] = new_database(newest_schema(database))
            if database == "sqlite" and not (tmp_path / name).exists():
                (tmp_path / name).mkdir(mode=0o700, parents=True)
                shutil.copy(newest_schema(database), tmp_path / name / "fairshoe.sqlite3")
        installations.append(Installation(tmp_path / name, **settings))
        return installations[-1]

    yield make
    for installation in installations:
        installation.stop()


@pytest.fixture
def house(found: Callable[..., Installation]) -> Installation:
    return found()


@pytest.fixture(scope="session")
def originals(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Originals:
    """A small log on each database, made once, to be copied."""
    return Originals(tmp_path_factory.mktemp("originals"), lambda: request.getfixturevalue("postgres"))


@pytest.fixture
def logged(originals: Originals, database: str, tmp_path: Path) -> Iterator[Installation]:
    """A running copy of the small log, to be tampered with."""
    with originals.copy(database, tmp_path / "house") as house:
        yield house


@pytest.fixture(scope="session")
def audited(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Audited:
    """A store with something of everything that an audit looks at, made once on each database, to be copied."""
    return Audited(tmp_path_factory.mktemp("audited"), lambda: request.getfixturevalue("postgres"))


@pytest.fixture
def audited_house(audited: Audited, database: str, tmp_path: Path) -> Iterator[Installation]:
    """A running copy of that store."""
    with audited.copy(database, tmp_path / "house") as house:
        yield house


ON_POSTGRESQL_WITH_THE_LONG_PROOFS = {
    "test_backup_damage.py",
    "test_bets_presets.py",
    "test_bundle_route.py",
    "test_cli_accounts.py",
    "test_cli_book.py",
    "test_cli_keys.py",
    "test_cli_log.py",
    "test_cli_statistics.py",
    "test_cli_webhooks.py",
    "test_client_transport.py",
    "test_export.py",
    "test_graceful.py",
    "test_integrity.py",
    "test_keys.py",
    "test_limits.py",
    "test_many_at_once.py",
    "test_matrix.py",
    "test_metrics.py",
    "test_payouts.py",
    "test_refusals.py",
    "test_regulator.py",
    "test_requests.py",
    "test_rollback_attacks.py",
    "test_rotation.py",
    "test_sandbox.py",
    "test_secrets.py",
    "test_secrets_at_rest.py",
    "test_statistics.py",
    "test_tiles.py",
    "test_verify_route.py",
    "test_webhooks_cases.py",
    "test_webhooks_delivering.py",
    "test_webhooks_events.py",
    "test_webhooks_routes.py",
    "test_witnessing.py",
}
"""What these look at is decided before the database is asked, or takes many services: they run on SQLite each time, and
on PostgreSQL by make test-slow; the store's own tests run on both each time."""

REPEATED_ON_POSTGRESQL_WITH_THE_LONG_PROOFS = {
    "test_accounts.py::test_a_key_that_cannot_be_is_refused",
    "test_accounts.py::test_two_first_starts_at_once_make_one_key",
    "test_bets.py::test_a_malformed_bet_is_refused",
    "test_bets.py::test_a_wrong_bet_is_refused_by_what_is_wrong",
    "test_deadlines.py::test_a_shoe_is_void_once_its_next_step_is_past",
    "test_idempotency.py::test_a_key_of_any_printable_form_is_taken",
    "test_quotas.py::test_ones_flood_leaves_the_others_unharmed",
    "test_quotas.py::test_what_is_refused_counts_too",
    "test_whole_shoes.py::test_a_beacon_shoe_with_a_real_round",
    "test_whole_shoes.py::test_a_sealed_shoe_is_given_up_after_a_new_start_too",
    "test_whole_shoes.py::test_a_shoe_of_the_house_alone",
    "test_whole_shoes.py::test_a_shoe_whose_deadline_passed_is_void_for_that_reason",
    "test_whole_shoes.py::test_the_cards_are_the_shuffle_of_the_published_seed_and_the_coups_the_tableaus",
    "test_whole_shoes.py::test_the_operator_may_void_at_any_step",
}
"""Of files whose others run on both each time, the tests that take the same statements through many cases."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        name = item.path.name, f"{item.path.name}::{getattr(item, 'originalname', None)}"
        repeated = ON_POSTGRESQL_WITH_THE_LONG_PROOFS | REPEATED_ON_POSTGRESQL_WITH_THE_LONG_PROOFS
        if not repeated.isdisjoint(name) and parameters.get("database") == "postgresql":
            item.add_marker(pytest.mark.slow)
