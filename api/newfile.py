"""Files that appear under their name whole and durable, or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from api.durable import force

PRIVATE = 0o600
PUBLIC = 0o644


@contextmanager
def new_file(path: Path, mode: int) -> Iterator[BinaryIO]:
    """Write a file that is not there yet, as a draft beside it that gets the name once all of it is on the disk.

    `mode` is as for open(2). Where the block raises, nothing stays. Raises FileExistsError where the file is there, or
    a draft of it: of another process, or of one that was killed.
    """
    _require_absent(path)
    draft = path.with_name(f"{path.name}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
        _require_absent(path)
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    # The name must survive a crash too, or what was said to be kept is gone.
    force(path.parent)


def replace_file(path: Path, content: bytes) -> None:
    """Put a whole file in the place of an older one, or where none is; readers see the one or the other.

    Raises OSError where that can't be.
    """
    beside = path.with_name(f"{path.name}.part")
    beside.write_bytes(content)
    beside.replace(path)


def _require_absent(path: Path) -> None:
    if os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
