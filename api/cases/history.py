"""Reading the log: checkpoints, entries, and the proofs between them (protocol §9)."""

from __future__ import annotations

from sqlalchemy.orm import Session

from api.log import prove_all, prove_extension, read_head, read_records
from api.refusals import no_such
from shoe.errors import InputError, expected


def read_entry(session: Session, index: int) -> bytes:
    """Read the record at an index of the log; raises Refusal where the log doesn't go so far."""
    found = read_records(session, [index])
    if index not in found:
        raise no_such("entry of the log at index", str(index))
    return found[index]


def show_inclusion(session: Session, index: int, size: int | None) -> tuple[int, tuple[bytes, ...]]:
    """Give the size, the head's without one, and the audit path of a leaf in the tree of that size."""
    size = _size(session, size, "size")
    return size, prove_all(session, [index], size)[0]


def show_consistency(session: Session, old: int, new: int | None) -> tuple[int, tuple[bytes, ...]]:
    """Give the new size, the head's without one, and the consistency path to it from the old size."""
    new = _size(session, new, "new")
    return new, prove_extension(session, old, new)


def _size(session: Session, size: int | None, name: str) -> int:
    head = read_head(session).size
    if size is not None and not 1 <= size <= head:
        raise InputError(expected(f"a size 1…{head}", size, name))
    return head if size is None else size
