"""Exporting all records of a stretch of time as one archive that anyone can check (`shoe.proof.span`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.db.tables import CheckpointRow, LeafRow, LogNodeRow, SigningKeyRow
from api.log import read_head, read_records
from api.refusals import no_such
from shoe.errors import InputError, expected
from shoe.proof.merkle import Node
from shoe.proof.note import parse_vkey
from shoe.proof.records import parse_record
from shoe.proof.span import Span, SpanHeader, check_span, choose_span, print_span, span_hashes

_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Planned:
    """A span as it will be exported: what its archive says of itself, and the signed checkpoint that it ends in."""

    header: SpanHeader
    checkpoint: str


def plan_span(session: Session, since: str | None, until: str | None, size: int | None = None) -> Planned:
    """Find all records of since ≤ time < until; None stands for the log's beginning or end.

    Under the checkpoint over `size` records, the newest without. Reads O(log size) rows. Raises Refusal where no
    checkpoint of that size was signed, and InputError where `since` is after `until`.
    """
    if since is not None and until is not None and since > until:
        raise InputError(expected(f"a time not before {since}", until, "to"))
    if size is None:
        size = read_head(session).size
    checkpoint = session.get(CheckpointRow, size)
    if checkpoint is None:
        raise no_such("signed checkpoint over records in number", str(size))
    first, count = choose_span(lambda index: _time_of(session, index), size, since, until)
    left, right = span_hashes(lambda nodes: _hashes_of(session, nodes), first, count, size)
    return Planned(SpanHeader(first, count, since, until, left, right), checkpoint.text)


def print_archive(session: Session, planned: Planned) -> Iterator[bytes]:
    """Print a span's archive in pieces, from the same snapshot that it was planned in and in flat memory."""
    header = planned.header
    return print_span(header, _records(session, header.first, header.count), planned.checkpoint)


def prove_span(session: Session, planned: Planned, file: BinaryIO | None = None) -> Span:
    """Check a span's archive under the log's keys in one reading, and write it into a file where there is one.

    Who keeps the file keeps it only where this returns. Raises ProofError where the database's log doesn't prove its
    head.
    """
    vkeys = map(parse_vkey, session.scalars(select(SigningKeyRow.vkey)))
    return check_span(_written(file, print_archive(session, planned)), vkeys)


def export_span(
    session: Session, file: BinaryIO, since: str | None, until: str | None, size: int | None = None
) -> Span:
    """Write the archive of all records of since ≤ time < until into a file; None stands for the log's beginning or end.

    It ends in the checkpoint over `size` records, the newest without; the same span under the same checkpoint is the
    same bytes again. Reads O(log size) rows beside the span's own, in flat memory, and checks what it writes. Raises
    what `plan_span` and `prove_span` raise.
    """
    return prove_span(session, plan_span(session, since, until, size), file)


def _written(file: BinaryIO | None, pieces: Iterator[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        if file is not None:
            file.write(piece)
        yield from piece.splitlines(keepends=True)


def _time_of(session: Session, index: int) -> str:
    return parse_record(read_records(session, [index])[index]).time


def _hashes_of(session: Session, nodes: Sequence[Node]) -> list[bytes]:
    query = select(LogNodeRow.position, LogNodeRow.hash)
    rows = session.execute(query.where(LogNodeRow.position.in_([node.position for node in nodes])))
    found = {position: stored for position, stored in rows}  # noqa: C416  # a row is no pair to the type checker
    return [found[node.position] for node in nodes]


def _records(session: Session, first: int, count: int) -> Iterator[bytes]:
    query = select(LeafRow.record).where(LeafRow.log_index >= first, LeafRow.log_index < first + count)
    with session.scalars(query.order_by(LeafRow.log_index), execution_options={"yield_per": _AT_ONCE}) as found:
        yield from found
