"""What the files of an installation need: one process at a time to change them, and names that survive a crash."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def turn(path: Path) -> Iterator[None]:
    """Be the only one, among all processes and threads, to change what `path` names; who dies leaves the turn.

    The turn is a lock on a file of its own beside it, which is made where there is none and stays.
    """
    file = os.open(path.with_name(f"{path.name}.turn"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def force(path: Path) -> None:
    """Force a file's bytes, or a folder's names, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
