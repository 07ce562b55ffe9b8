"""The pinned checkpoint: the log in the database must be it, grown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy.orm import Session

from api.db.tables import LogHeadRow
from api.integrity.tree import missing_nodes, read_nodes
from api.pin import Pin, read_pinned
from shoe.errors import NoteError, ProofError, expected
from shoe.proof.merkle import frontier_nodes, root_of_frontier
from shoe.proof.note import VerifierKey, check_note

MISSING: Final = (
    "missing, so that nothing outside of the database says how far the log had come; "
    "where that is as it should be, fairshoe log check --resume pins the log as it stands"
)


class Held(NamedTuple):
    """What the pin's file held at a moment: a text, nothing (None), or what can't be read, and why."""

    path: Path
    text: str | None
    fault: str | None = None


def look_at(pin: Pin) -> Held:
    """Read the pin's file; to be done before the database is read, for a log that grows is pinned after."""
    try:
        return Held(pin.path, pin.read())
    except OSError as error:
        return Held(pin.path, None, f"{pin.path}: {error.strerror}")
    except UnicodeDecodeError as error:
        return Held(
            pin.path, None, f"{pin.path}: {expected('UTF-8', error.object[error.start], f'byte {error.start}')}"
        )


def pin_complaints(
    session: Session, head: LogHeadRow, held: Held, origin: str, known: Sequence[VerifierKey]
) -> Iterator[str]:
    """Say where the log does not begin with the leaves of the pinned checkpoint, or nobody can say whether it does.

    A log of its first record alone may have none yet. Reads O(log size) nodes.
    """
    if held.text is None:
        missing = f"{held.path}: {MISSING}" if head.size > 1 else None
        yield from filter(None, [held.fault or missing])
        return
    try:
        pinned = read_pinned(held.text)
        if pinned.origin != origin:
            yield expected(f"a checkpoint of {origin}", pinned.origin, str(held.path))
            return
        check_note(held.text, known)
    except (NoteError, ProofError) as error:
        yield f"{held.path}: {error}"
        return
    if pinned.size > head.size:
        yield behind(held.path, pinned.size, head.size)
        return
    nodes = frontier_nodes(pinned.size)
    stored = read_nodes(session, nodes)
    lacking = list(missing_nodes(nodes, stored))
    yield from lacking
    if not lacking:
        found = root_of_frontier(tuple(stored[node.position] for node in nodes), pinned.size)
        if found != pinned.root:
            where = f"{held.path}: root of the log's first {pinned.size} leaves"
            yield expected(f"{pinned.root.hex()}, as it was signed", found.hex(), where)


def behind(path: Path, pinned: int, size: int) -> str:
    """Say that the database is older than what was signed last."""
    return f"{expected(f'a log of {pinned} leaves or more', size, str(path))}: the database was set back"
