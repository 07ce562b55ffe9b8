"""No test works on the installation that the environment names; and what each test makes anew is made cheaply."""

from __future__ import annotations

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
