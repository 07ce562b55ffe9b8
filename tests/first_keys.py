"""The first API key of the installation that a server on a port of this machine serves."""

from __future__ import annotations

import time
import uuid
from pathlib import Path

START_S = 60
_FOLDERS: dict[int, Path] = {}


def serves(port: int, folder: Path) -> None:
    """Put down whose installation is behind a port."""
    _FOLDERS[port] = folder


def key_at(port: int) -> str:
    """The first key of the installation behind a port, which its server may be about to make."""
    path, latest = _FOLDERS[port] / "operator.key", time.monotonic() + START_S
    while not path.exists():
        assert time.monotonic() < latest, f"{path} was not made"
        time.sleep(0.02)
    return path.read_text().strip()


def signed(port: int) -> dict[str, str]:
    """The headers of a new request by the holder of the first key."""
    return {
        "Authorization": f"Bearer {key_at(port)}",
        "Content-Type": "application/json",
        "Idempotency-Key": str(uuid.uuid4()),
    }
