"""Audits of the service's own records: asked for by a regulator, read by anyone."""

from __future__ import annotations

from typing import Any, Final

from flask import Response

from api.access import ANYONE, REGULATOR
from api.answers import AuditPage, AuditShown
from api.cases import audits
from api.cases.audits import DOCUMENTS, ask_audit, find_audit, list_audits, read_document
from api.cases.regulating import Opened
from api.db.tables import AuditRow
from api.payloads import NewAudit, PageQuery
from api.refusals import AUDITS_WAITING, NOT_FOUND
from api.routes.endpoint import Resource
from api.routes.exchange import answer, commit, keep, page, principal, service

_PRINT: Final = ("state", "done", "total", "verdict", "ended")
_PAGE_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
"""The page's own policy, in its head, lets in no other style than its own, by hash."""

blueprint = Resource("audits", "/v1/audits")


@blueprint.post(
    "",
    access=REGULATOR,
    body=NewAudit,
    answers={201: AuditShown},
    refuses=(NOT_FOUND, AUDITS_WAITING),
    claimed="may",
)
def create_audit(asked: NewAudit) -> Response:
    """Have the records of ended shoes audited: the log, every bundle and row, then the statistics.

    A process beside the server plans it, and runs one audit after another; a shoe of 8 decks takes it some 60 ms. What
    it finds is for anyone to read, and the log holds the hashes of plan and findings.
    """
    scope = Opened(asked.table, asked.from_, asked.to)
    return commit(ask_audit(service(), scope, asked.receipts, principal().id), _print_audit)


@blueprint.get("", access=ANYONE, query=PageQuery, answers={200: AuditPage})
def show_audits(asked: PageQuery) -> Response:
    """List the audits, oldest first."""
    with service().reading() as session:
        rows = list_audits(session, asked.after, asked.limit)
    return answer(page("audits", [_print_line(row) for row in rows], asked.limit, "id"))


@blueprint.get("/{audit_id}", access=ANYONE, answers={200: AuditShown})
def show_audit(audit_id: str) -> Response:
    """Show how far an audit is, and what came of it."""
    with service().reading() as session:
        shown = find_audit(session, audit_id)
    return answer(_print_audit(shown), immutable=shown.row.state in ("done", "failed"))


@blueprint.get(
    "/{audit_id}/{document}", access=ANYONE, answers={200: tuple(dict.fromkeys(DOCUMENTS.values()))}, kept=True
)
def show_document(audit_id: str, document: str) -> Response:
    """Give a document of an audit, byte for byte as it was kept; its plan is there before it looks at anything."""
    with service().reading() as session:
        content = read_document(session, audit_id, document)
    media = DOCUMENTS[document]
    response = Response(content, content_type=f"{media}; charset=utf-8" if media.startswith("text/") else media)
    if media == "text/html":
        response.headers["Content-Security-Policy"] = _PAGE_POLICY
    return keep(response)


def _print_line(row: AuditRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "created": row.created,
        "scope": {"table": row.table_id, "from": row.since, "to": row.until},
        **{name: getattr(row, name) for name in _PRINT},
    }


def _print_audit(shown: audits.AuditShown) -> dict[str, Any]:
    row = shown.row
    return {
        **_print_line(row),
        "error": row.error,
        "report_index": row.report_index,
        "plan_hash": shown.plan_hash and shown.plan_hash.hex(),
        "findings_hash": shown.findings_hash and shown.findings_hash.hex(),
        "documents": list(shown.documents),
    }
