"""Fixtures for the service's tests: installations of their own for each, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.installation import Installation
from tests.api.postgres import postgres
from tests.api.tampering import Originals

__all__ = ["database", "found", "house", "logged", "new_database", "originals", "postgres"]

NewDatabase = Callable[[], str | None]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """Which database a test runs on: every test of the store runs on both."""
    return str(request.param)


@pytest.fixture
def new_database(database: str, request: pytest.FixtureRequest) -> Iterator[NewDatabase]:
    """Makes databases, and gives each one's URL; None for the embedded one in the installation's folder."""
    if database == "sqlite":
        yield lambda: None
        return
    server, made = request.getfixturevalue("postgres"), []

    def make() -> str:
        made.append(server.create_database())
        return str(made[-1])

    yield make
    for url in made:
        server.drop_database(url)


@pytest.fixture
def found(tmp_path: Path, new_database: NewDatabase) -> Iterator[Callable[..., Installation]]:
    """Founds installations, each in a new folder by its name, and closes them at the end."""
    installations: list[Installation] = []

    def make(name: str = "house", **settings: Any) -> Installation:
        settings.setdefault("database_url", new_database())
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


NOT_OF_THE_STORE = {
    "test_refusals.py",
    "test_requests.py",
    "test_verify_route.py",
    "test_cli_accounts.py",
    "test_cli_book.py",
    "test_cli_keys.py",
    "test_cli_log.py",
    "test_client_transport.py",
    "test_matrix.py",
    "test_metrics.py",
    "test_sandbox.py",
    "test_webhooks_routes.py",
}
"""What these look at is decided before the database is asked, or proved elsewhere for both, as commands' use cases are:
on PostgreSQL they run with the long proofs."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = getattr(getattr(item, "callspec", None), "params", {})
        if item.path.name in NOT_OF_THE_STORE and parameters.get("database") == "postgresql":
            item.add_marker(pytest.mark.slow)
