"""No test works on the installation that the environment names; and time is left to the tests."""

from __future__ import annotations

import gc
import os
import sys

import pytest

from api.settings import without_settings
from tests.api.postgres import memory_folder


def pytest_configure(config: pytest.Config) -> None:
    for name in os.environ.keys() - without_settings(os.environ).keys():
        del os.environ[name]
    # Every process that a test starts would compile the packages anew.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if folder := memory_folder():
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(folder))


def pytest_collection_finish() -> None:
    """Thousands of tests and all modules live to the end: looking for garbage among them took a fifth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(700, 20, 50)
