"""Fixtures for campaigns: an installation's place on each database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.api.postgres import Postgres
from tests.campaign.serving import Place


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Where an installation may be founded; a PostgreSQL of its own, for it may be killed."""
    if request.param == "sqlite":
        yield Place(tmp_path / "house")
        return
    with Postgres() as postgres:
        yield Place(tmp_path / "house", postgres)
