"""Fixtures for the service's tests: installations of their own for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.installation import Installation


@pytest.fixture
def found(tmp_path: Path) -> Iterator[Callable[..., Installation]]:
    """Founds installations, each in a new folder by its name, and closes them at the end."""
    installations: list[Installation] = []

    def make(name: str = "house", **settings: Any) -> Installation:
        installations.append(Installation(tmp_path / name, **settings))
        return installations[-1]

    yield make
    for installation in installations:
        installation.stop()


@pytest.fixture
def house(found: Callable[..., Installation]) -> Installation:
    return found()
