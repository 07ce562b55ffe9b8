"""The whole log recomputed from its records' bytes: every node, checkpoint, cosignature, chain and column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.beside import describe
from api.db.sessions import out_of_reach
from api.db.tables import CheckpointRow, CosignatureRow, LogHeadRow, SigningKeyRow
from api.integrity.complaints import MOST, Complaints
from api.integrity.head import checkpoint_complaints, size_complaints, tree_complaints
from api.integrity.keys import signature_complaints
from api.integrity.leaves import LeafCheck
from api.integrity.tree import Slice, TreeCheck, read_slice
from api.log import HEAD
from shoe.errors import NoteError, ProofError, expected
from shoe.proof.checkpoint import Checkpoint, cosignatures
from shoe.proof.merkle import EMPTY_ROOT
from shoe.proof.note import parse_vkey

Show = Callable[[int, int], None]
"""Is told how many leaves are done, of how many."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a recomputation found: the log's size and root from its bytes, what it checked, and every complaint.

    `complaints` are the first of them, `omitted` is the number of the others.
    """

    size: int
    root: bytes
    checkpoints: int
    cosignatures: int
    complaints: tuple[str, ...]
    omitted: int


class Recomputation:
    """Goes through the log once, a slice at a time; each slice may be read in a transaction of its own.

    What lies below the head never changes, so that a log that grows meanwhile is no trouble. Memory holds one slice,
    the frontier, the keys, and a hash for each table and live shoe.
    """

    def __init__(self, origin: str, complaints: Complaints) -> None:
        self._origin, self._complaints = origin, complaints
        self._tree, self._leaves = TreeCheck(complaints), LeafCheck(complaints, origin)
        self._before = 0
        self.size, self.root, self.checkpoints, self.cosignatures = 0, EMPTY_ROOT, 0, 0

    @property
    def place(self) -> int:
        """How many leaves are done."""
        return self._tree.place

    def step(self, session: Session) -> bool:
        """Check the next slice; say whether that was the last, with the head checked as well."""
        try:
            return self._step(session)
        except (TypeError, AttributeError, ValueError, DBAPIError) as error:
            # SQLite keeps text where numbers or bytes belong, if it is told to; and a file may be damaged.
            if isinstance(error, DBAPIError) and out_of_reach(error):
                raise
            self._complaints.add(f"what is stored of the leaves from {self.place} on: {describe(error)}")
            return True

    def _step(self, session: Session) -> bool:
        head = session.get(LogHeadRow, HEAD)
        if head is None:
            self._complaints.add(expected("one row", None, "log_head"))
            return True
        self.size = head.size
        part = read_slice(session, self.place, head.size)
        if not part.leaves:
            self._complaints.add(expected(f"{head.size} leaves", part.start, "leaves"))
            return True
        self._tree.take(part)
        for leaf in part.leaves:
            self._leaves.take(leaf)
        self._check_checkpoints(session, part)
        if part.stop < head.size:
            return False
        self._finish(session, head)
        return True

    def report(self) -> Report:
        """Say what was found so far."""
        listed = tuple(self._complaints.listed)
        return Report(self.size, self.root, self.checkpoints, self.cosignatures, listed, self._complaints.omitted)

    def _check_checkpoints(self, session: Session, part: Slice) -> None:
        kept = select(CheckpointRow.size, CheckpointRow.text).order_by(CheckpointRow.size)
        texts = {size: text for size, text in session.execute(kept.where(_within(CheckpointRow.size, part)))}  # noqa: C416
        for size, text in texts.items():
            wanted = Checkpoint(self._origin, size, self._tree.root(size))
            due, known = self._leaves.keys.due(self._before, size), self._leaves.keys.known(size)
            for wrong in signature_complaints(text, wanted, due, known):
                self._complaints.add(wrong)
            self._before, self.checkpoints = size, self.checkpoints + 1
        rows = select(CosignatureRow).where(_within(CosignatureRow.size, part))
        for row in session.scalars(rows.order_by(CosignatureRow.size, CosignatureRow.vkey)):
            self._check_cosignature(row, texts.get(row.size))

    def _check_cosignature(self, row: CosignatureRow, checkpoint: str | None) -> None:
        where = f"cosignature of {row.vkey} under the checkpoint over {row.size} leaves"
        self.cosignatures += 1
        try:
            line = row.line.removesuffix("\n") + "\n"
            made = cosignatures(f"{checkpoint or ''}{line}", [parse_vkey(row.vkey)])
        except (NoteError, ProofError) as error:
            self._complaints.add(f"{where}: {error}")
            return
        self._complaints.differ([row.time_s], [each.timestamp_s for each in made], f"{where}: time")

    def _finish(self, session: Session, head: LogHeadRow) -> None:
        self.root = self._tree.root(head.size)
        self._tree.finish(session, head.size)
        keys = self._leaves.keys
        wanted = Checkpoint(self._origin, head.size, self.root)
        found = [
            *size_complaints(session, head),
            *tree_complaints(head, self._tree.frontier(head.size)),
            *checkpoint_complaints(session, head, wanted, (), keys.known(head.size)),
            *keys.differences(session.scalars(select(SigningKeyRow))),
        ]
        self._complaints.differ(self._leaves.time, head.time, "log_head: time")
        outside = select(CheckpointRow.size).where(or_(CheckpointRow.size < 1, CheckpointRow.size > head.size))
        for size in session.scalars(outside.order_by(CheckpointRow.size).limit(MOST + 1)):
            found.append(expected(f"none of a log of {head.size} leaves", size, "checkpoints: size"))
        for wrong in found:
            self._complaints.add(wrong)


def recompute(session: Session, origin: str, show: Show | None = None) -> Report:
    """Recompute the whole log that a session sees, and compare all that is stored of it.

    Takes time in proportion to leaves and checkpoints, memory in proportion to neither. `origin` is the log's name.
    """
    work = Recomputation(origin, Complaints())
    while not work.step(session):
        session.expunge_all()
        if show is not None:
            show(work.place, work.size)
    return work.report()


def _within(size: InstrumentedAttribute[int], part: Slice) -> ColumnElement[bool]:
    return size.between(part.start + 1, part.stop)
