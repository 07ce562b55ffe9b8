"""No test works on the installation that the environment of whoever runs it names."""

from __future__ import annotations

import os

import pytest

from api.settings import without_settings

KEPT = ("FAIRSHOE_REGENERATE", "FAIRSHOE_CAMPAIGN_SEED")
"""What is said to the tests themselves."""


def pytest_configure(config: pytest.Config) -> None:
    for name in os.environ.keys() - without_settings(os.environ).keys() - set(KEPT):
        del os.environ[name]
