"""Programs of the system that these tests need: Chromium, and poppler's."""

from __future__ import annotations

import shutil


def program(name: str) -> str:
    found = shutil.which(name)
    assert found is not None, f"{name} is not installed: apt-get install chromium poppler-utils"
    return found
