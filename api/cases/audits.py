"""Audits of the service's own records: asked for here, run by the process beside the server, read by anyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.cases.regulating import Opened
from api.cases.tables import find_table
from api.db.tables import AuditDocumentRow, AuditRow
from api.refusals import AUDITS_WAITING, Refusal, no_such
from api.service import Service
from api.world import make_id
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, NoteError, expected
from shoe.proof.notation import sha256
from shoe.proof.tlog import Receipt, parse_receipt

MOST_WAITING: Final = 100
"""So many audits may wait or run at once; they are run one after another."""

DOCUMENTS: Final = {
    "plan.json": "application/json",
    "findings.json": "application/json",
    "report.html": "text/html",
}
"""The documents of an audit that anyone may read, with their media types; each never changes."""

UNFINISHED: Final = ("queued", "running")
_RECEIPT: Final = "receipt-"


@dataclass(frozen=True, slots=True)
class AuditShown:
    """An audit, and what there is to read of it: documents by name, and the hashes of plan and findings (32 bytes)."""

    row: AuditRow
    documents: tuple[str, ...]
    plan_hash: bytes | None = None
    findings_hash: bytes | None = None


def ask_audit(service: Service, scope: Opened, receipts: Sequence[str], by: str) -> Step[AuditShown]:
    """Ask for an audit of the shoes of a scope, and of receipts.

    Raises Refusal for a table that isn't there, and where too many wait; InputError for a scope that ends before it
    begins, and for a text that is no receipt.
    """
    if scope.start is not None and scope.end is not None and scope.start >= scope.end:
        raise InputError(expected(f"a time after {scope.start}", scope.end, "to"))
    for place, text in enumerate(receipts):
        try:
            parse_receipt(text)
        except NoteError as error:
            raise InputError(f"receipts[{place}]: {error}") from None
    audit_id = make_id(service.world)

    def step(writing: Writing) -> Finish[AuditShown]:
        if scope.table is not None:
            find_table(writing.session, scope.table)
        waiting = select(func.count()).select_from(AuditRow).where(AuditRow.state.in_(UNFINISHED))
        if (writing.session.scalar(waiting) or 0) >= MOST_WAITING:
            raise Refusal(AUDITS_WAITING, f"{MOST_WAITING} audits wait already.")
        row = AuditRow(
            id=audit_id,
            made_by=by,
            created=writing.time,
            table_id=scope.table,
            since=scope.start,
            until=scope.end,
            state="queued",
            done=0,
        )
        writing.insert(row)
        writing.session.flush()
        for place, text in enumerate(receipts):
            name = f"{_RECEIPT}{place:04d}"
            writing.insert(AuditDocumentRow(audit_id=audit_id, name=name, content=text.encode()))
        return lambda _: AuditShown(row, ())

    return step


def find_audit(session: Session, audit_id: str) -> AuditShown:
    """Find an audit; raises Refusal where there is none."""
    row = session.get(AuditRow, audit_id)
    if row is None:
        raise no_such("audit", audit_id)
    query = select(AuditDocumentRow.name).where(
        AuditDocumentRow.audit_id == audit_id, AuditDocumentRow.name.in_(list(DOCUMENTS))
    )
    there = set(session.scalars(query))
    plan, findings = (_hash(session, audit_id, name) for name in ("plan.json", "findings.json"))
    return AuditShown(row, tuple(name for name in DOCUMENTS if name in there), plan, findings)


def has_unfinished(session: Session) -> bool:
    """Say whether an audit waits or is at work."""
    query = select(AuditRow.id).where(AuditRow.state.in_(UNFINISHED)).limit(1)
    return session.scalars(query).first() is not None


def list_audits(session: Session, after: str | None, limit: int) -> list[AuditRow]:
    """List audits by age, those behind the id `after`."""
    query = select(AuditRow).order_by(AuditRow.id).limit(limit)
    return list(session.scalars(query if after is None else query.where(AuditRow.id > after)))


def read_document(session: Session, audit_id: str, name: str) -> bytes:
    """Read a document of an audit; raises Refusal for no such audit, and where it has none of that name, or not yet."""
    audit = find_audit(session, audit_id)
    row = session.get(AuditDocumentRow, (audit_id, name)) if name in DOCUMENTS else None
    if row is None:
        raise no_such(f"document of the audit {audit_id}, which is {audit.row.state},", name)
    return row.content


def receipts_of(session: Session, audit_id: str) -> tuple[Receipt, ...]:
    """Read the receipts that were handed in with an audit, in the order in which they were."""
    handed_in = AuditDocumentRow.audit_id == audit_id, AuditDocumentRow.name.startswith(_RECEIPT)
    query = select(AuditDocumentRow.content).where(*handed_in).order_by(AuditDocumentRow.name)
    return tuple(parse_receipt(content.decode()) for content in session.scalars(query))


def _hash(session: Session, audit_id: str, name: str) -> bytes | None:
    row = session.get(AuditDocumentRow, (audit_id, name))
    return None if row is None else sha256(row.content)
