"""The pinned checkpoint: the log in the database must be it, grown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session

from api.db.tables import LogHeadRow
from api.integrity.tree import missing_nodes, read_nodes
from api.pin import Pin, read_pinned
from shoe.errors import ProofError, expected
from shoe.proof.merkle import frontier_nodes, root_of_frontier
from shoe.proof.note import VerifierKey, check_note

MISSING = (
    "missing, so that nothing outside of the database says how far the log had come; "
    "where that is as it should be, fairshoe log check --resume pins the log as it stands"
)


def pin_complaints(
    session: Session, head: LogHeadRow, pin: Pin, origin: str, known: Sequence[VerifierKey]
) -> Iterator[str]:
    """Say where the log does not begin with the leaves of the pinned checkpoint, or nobody can say whether it does.

    A log of its first record alone may have none yet. Reads O(log size) nodes.
    """
    try:
        text = pin.read()
        if text is None:
            if head.size > 1:
                yield f"{pin.path}: {MISSING}"
            return
        pinned = read_pinned(text)
        if pinned.origin != origin:
            yield expected(f"a checkpoint of {origin}", pinned.origin, str(pin.path))
            return
        check_note(text, known)
    except (OSError, ValueError, ProofError) as error:
        yield f"{pin.path}: {error}"
        return
    if pinned.size > head.size:
        yield behind(pin, pinned.size, head.size)
        return
    nodes = frontier_nodes(pinned.size)
    stored = read_nodes(session, nodes)
    lacking = list(missing_nodes(nodes, stored))
    yield from lacking
    if not lacking:
        found = root_of_frontier(tuple(stored[node.position] for node in nodes), pinned.size)
        if found != pinned.root:
            where = f"{pin.path}: root of the log's first {pinned.size} leaves"
            yield expected(f"{pinned.root.hex()}, as it was signed", found.hex(), where)


def behind(pin: Pin, pinned: int, size: int) -> str:
    """Say that the database is older than what was signed last."""
    return f"{expected(f'a log of {pinned} leaves or more', size, str(pin.path))}: the database was set back"
