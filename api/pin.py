"""The pinned checkpoint: the newest head that was signed, in a file outside of the database.

A database that is set back to an older state, by whatever way, is then behind its pin.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from api.durable import turn
from shoe.proof.checkpoint import Checkpoint, parse_checkpoint
from shoe.proof.note import parse_note

SYNC_EVERY_S: Final = 1.0
"""How often the file is forced to the disk: a crash of the machine, not of the service, may lose what came since."""


@dataclass(slots=True)
class Pin:
    """The newest checkpoint, kept in a file; several processes may keep it at once, and the largest stays."""

    path: Path
    _synced: float = field(default=float("-inf"), repr=False)

    def read(self) -> str | None:
        """Read the pinned checkpoint's text, None where none is pinned yet."""
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def keep(self, size: int, checkpoint: str) -> None:
        """Pin a signed checkpoint over `size` leaves, unless one as large is pinned.

        Raises OSError where the file can't be written, and NoteError where it holds something else.
        """
        with turn(self.path):
            held = self.read()
            if held is None or read_pinned(held).size < size:
                self._replace(checkpoint)

    def _replace(self, checkpoint: str) -> None:
        draft = self.path.with_name(f"{self.path.name}.draft")
        with draft.open("w", encoding="utf-8") as file:
            file.write(checkpoint)
            file.flush()
            if time.monotonic() - self._synced >= SYNC_EVERY_S:
                os.fsync(file.fileno())
                self._synced = time.monotonic()
        draft.replace(self.path)


def read_pinned(text: str) -> Checkpoint:
    """Read a pinned checkpoint, without checking who signed it; raises NoteError where it is none."""
    return parse_checkpoint(parse_note(text).text)
