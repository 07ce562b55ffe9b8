"""Audits of the service's own records: where each stands, and what there is to read of it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.regulator import OpenedScope
from api.answers.terms import Cursor, Hash, LogIndex, Moment, Uuid, count
from api.payloads import MAX_PAGE, Payload

AuditState = Annotated[
    Literal["queued", "running", "done", "failed"],
    Field(description="Whether it waits, runs, has come to its end, or could not; the last two are for good."),
]
AuditVerdict = Annotated[
    Literal["pass", "fail", "not_judged"] | None,
    Field(description="What it found; not_judged where nothing was to judge or evidence is wanting; null before."),
]
Document = Annotated[str, Field(max_length=64, description="A document, by the name of its file.")]


class AuditLine(Payload):
    """An audit in a list."""

    id: Uuid
    created: Annotated[Moment, Field(description="When it was asked for.")]
    scope: Annotated[OpenedScope, Field(description="Which shoes it is of: those that had ended when it was planned.")]
    state: AuditState
    done: Annotated[int, count("Shoes that are looked at.")]
    total: Annotated[int | None, Field(ge=0, description="Shoes to look at; null before it is planned.")]
    verdict: AuditVerdict
    ended: Annotated[Moment | None, Field(description="When it ended; null before.")]


class AuditShown(AuditLine):
    """An audit: the shoes it is of, how far it is, and what came of it."""

    error: Annotated[str | None, Field(description="Why it could not come to its end, if it could not.")]
    report_index: Annotated[LogIndex | None, Field(description="Where the log holds its `report`; null before.")]
    plan_hash: Annotated[Hash | None, Field(description="The SHA-256 of its plan.json; null before it is planned.")]
    findings_hash: Annotated[Hash | None, Field(description="The SHA-256 of its findings.json; null before the end.")]
    documents: Annotated[list[Document], Field(max_length=16, description="What there is to read of it by now.")]


class AuditPage(Payload):
    """A page of audits, oldest first."""

    audits: Annotated[list[AuditLine], Field(max_length=MAX_PAGE, description="The audits of this page.")]
    next: Cursor
