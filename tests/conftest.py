"""No test works on the installation that the environment of whoever runs it names."""

from __future__ import annotations

import os

import pytest

from api.settings import without_settings


def pytest_configure(config: pytest.Config) -> None:
    for name in os.environ.keys() - without_settings(os.environ).keys():
        del os.environ[name]
