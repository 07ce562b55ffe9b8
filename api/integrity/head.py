"""The head's row and the checkpoint in it, held against the tree that they stand for (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.db.tables import CheckpointRow, LeafRow, LogHeadRow
from api.integrity.keys import signature_complaints
from shoe.errors import expected
from shoe.proof.checkpoint import Checkpoint
from shoe.proof.merkle import Frontier, root_of_frontier
from shoe.proof.note import VerifierKey


def size_complaints(session: Session, head: LogHeadRow) -> Iterator[str]:
    """Say where the head does not count the leaves: one look at the last of them."""
    leaves = (session.scalar(select(func.max(LeafRow.log_index))) or 0) + 1
    if head.size != leaves:
        yield expected(f"{leaves}, the number of leaves", head.size, "log_head: size")


def tree_complaints(head: LogHeadRow, frontier: Frontier) -> Iterator[str]:
    """Say where the head is not that of the tree whose frontier is given."""
    stored = b"".join(frontier)
    if head.frontier != stored:
        place = next((at for at, pair in enumerate(zip(head.frontier, stored, strict=False)) if pair[0] != pair[1]), 0)
        got = f"another at byte {place}" if len(head.frontier) == len(stored) else f"{len(head.frontier)} bytes"
        yield expected(f"the {len(frontier)} hashes of the nodes, {len(stored)} bytes", got, "log_head: frontier")
    root = root_of_frontier(frontier, head.size)
    if head.root != root:
        yield expected(root.hex(), head.root.hex(), "log_head: root")


def checkpoint_complaints(
    session: Session, head: LogHeadRow, wanted: Checkpoint, due: Iterable[VerifierKey], known: Iterable[VerifierKey]
) -> Iterator[str]:
    """Say where the head's checkpoint is not the one kept, or not signed over the tree by those who had to."""
    kept = session.scalar(select(CheckpointRow.text).where(CheckpointRow.size == head.size))
    if kept != head.checkpoint:
        yield expected("the checkpoint in log_head", kept, f"checkpoints: row of size {head.size}")
    yield from signature_complaints(head.checkpoint, wanted, due, known)


def size_before(session: Session, size: int) -> int:
    """Give the size of the checkpoint before the one over `size` leaves, 0 for the first."""
    return session.scalar(select(func.max(CheckpointRow.size)).where(CheckpointRow.size < size)) or 0
