"""The halt file: it stops all processes of an installation from signing, and says since when and why."""

from __future__ import annotations

import os
from pathlib import Path
from threading import get_ident

from api.durable import force


def halt(path: Path, time: str, reason: str) -> bool:
    """Stop all signing, at a time (a record's) and for a reason; say whether that is new.

    The file appears whole or not at all, and durably; who stops first is the one whose reason stays. Raises OSError
    where the file can't be made.
    """
    draft = path.with_name(f"{path.name}.{os.getpid()}-{get_ident()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write(f"Since {time} nothing is signed: {reason}\n")
            stream.flush()
            os.fsync(file)
        path.hardlink_to(draft)
    except FileExistsError:
        return False
    finally:
        draft.unlink(missing_ok=True)
    force(path.parent)
    return True


def resume(path: Path) -> bool:
    """Let signing go on; say whether it had been stopped."""
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    force(path.parent)
    return True
