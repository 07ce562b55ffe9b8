"""Running the audits that were asked for: claimed by one process at a time, kept as they go on, ended once.

An audit is leased: whoever has it renews the lease with every piece that is kept, and loses it by being away for longer
than it lasts. The next one goes on behind what was kept. What is found in the end, the state `done` and the `report`
record in the log are one transaction.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from api.audits.planning import make_audit_plan
from api.audits.work import Work
from api.beside import describe
from api.cases.audits import UNFINISHED, receipts_of
from api.cases.regulating import Opened
from api.db.sessions import OutcomeUnknown
from api.db.tables import AuditDocumentRow, AuditRow
from api.provenance import made_by
from api.refusals import Refusal
from api.service import Service
from api.world import print_time, seconds_after
from api.writing import Finish, Step, Writing
from audit.records.findings import Findings
from audit.records.plan import MOST_BYTES, Plan, parse_plan
from audit.records.wrong import Looked
from audit.report.page import print_page
from audit.report.recorded import build_recorded, read_recorded
from shoe.errors import FairshoeError
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.records import Report

LEASE_S: Final = 120
KEEP_EVERY_S: Final = 5.0
BUSY_S: Final = 3.0
"""How long a turn of work lasts, a step of less than a third of a second at least; then the keeper's thread rests."""

KIND: Final = "audit"
PLAN: Final = "plan.json"
FINDINGS: Final = "findings.json"
REPORT: Final = "report.html"
_PROGRESS: Final = "progress-"
_AGAIN: Final = (DBAPIError, OutcomeUnknown, OSError, Refusal)
"""What is not an audit's own fault: it is tried again."""


class NotOurs(FairshoeError):
    """The lease on an audit ran out, and somebody else has it, or it has ended."""


@dataclass(slots=True)
class Running:
    """An audit that is ours until `until`: its work, and what of it is kept."""

    id: str
    until: str
    work: Work
    kept: int
    kept_at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Audits:
    """What one keeper does about audits: at most one at a time, a turn of some seconds whenever it is asked to."""

    service: Service
    busy_s: float = BUSY_S
    _running: Running | None = field(default=None, repr=False)

    def turn(self) -> bool:
        """Go on with the audit in hand, or the oldest that waits; say whether there was any.

        An audit that fails by its own fault ends as `failed`. Raises what the database raises, to be tried again, and
        does nothing while nothing may be signed.
        """
        if self.service.permit.reasons():
            self._running = None
            return False
        running = self._running or self._claim()
        if running is None:
            return False
        try:
            self._go_on(running)
        except NotOurs:
            self._running = None
        except _AGAIN:
            # The place may be half taken; what was kept is where it begins again.
            self._running = None
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, it must not be tried again for ever
            self._running = None
            self._fail(running.id, running.until, describe(error))
        return True

    def _go_on(self, running: Running) -> None:
        latest = time.monotonic() + self.busy_s
        while not running.work.ended:
            with self.service.reading() as session:
                running.work.step(session)
            if time.monotonic() - running.kept_at >= KEEP_EVERY_S:
                self._keep(running)
            if time.monotonic() >= latest:
                break
        if running.work.ended:
            self._keep(running)
            findings = running.work.find()
            self.service.write(finish_audit(running.id, running.until, findings))
            self._running = None

    # --- leases ----------------------------------------------------------------------------------

    def _claim(self) -> Running | None:
        """Take the oldest audit that is nobody's, and take up its work."""
        now = print_time(self.service.world.now())
        free = (AuditRow.state == "queued") | ((AuditRow.state == "running") & (AuditRow.claimed_until <= now))
        query = select(AuditRow).where(AuditRow.state.in_(UNFINISHED), free).order_by(AuditRow.id).limit(1)
        with self.service.reading() as session:
            if session.scalars(query).one_or_none() is None:
                return None
        with self.service.store.writing() as session:
            row = session.scalars(query.with_for_update(skip_locked=True)).one_or_none()
            if row is None:
                return None
            row.state, row.claimed_until = "running", seconds_after(now, LEASE_S)
            audit, until = row.id, row.claimed_until
        try:
            self._running = self._take_up(audit, until)
        except _AGAIN:
            raise
        except Exception as error:  # noqa: BLE001  # as below
            self._fail(audit, until, describe(error))
        return self._running

    def _take_up(self, audit: str, until: str) -> Running:
        """Plan an audit, unless it is planned, and go on where what is kept of it ends."""
        pinned = self.service.permit.pinned.read()
        with self.service.reading() as session:
            row = session.get_one(AuditRow, audit)
            kept = session.get(AuditDocumentRow, (audit, PLAN))
            scope = Opened(row.table_id, row.since, row.until)
            receipts = receipts_of(session, audit)
            plan = make_audit_plan(session, scope, pinned, receipts) if kept is None else parse_plan(kept.content)
            done, looked = row.done, _looked(session, audit)
        if kept is None:
            self._keep_plan(audit, until, plan)
        return Running(audit, until, Work(plan, self.service.check_signature, receipts, done, looked), done)

    def _keep_plan(self, audit: str, until: str, plan: Plan) -> None:
        with self.service.store.writing() as session:
            row = _ours(session, audit, until)
            row.total = plan.shoes
            session.add(AuditDocumentRow(audit_id=audit, name=PLAN, content=plan.to_bytes()))

    def _keep(self, running: Running) -> None:
        """Keep what was found since the last time, and renew the lease."""
        work, until = running.work, seconds_after(print_time(self.service.world.now()), LEASE_S)
        with self.service.store.writing() as session:
            row = _ours(session, running.id, running.until)
            row.done, row.claimed_until = work.done, until
            if work.done > running.kept:
                content = print_canonical(work.take_fresh().to_json(), MOST_BYTES)
                name = f"{_PROGRESS}{work.done:016d}"
                session.add(AuditDocumentRow(audit_id=running.id, name=name, content=content))
        running.until, running.kept, running.kept_at = until, work.done, time.monotonic()

    def _fail(self, audit: str, until: str, error: str) -> None:
        now = print_time(self.service.world.now())
        with suppress(NotOurs), self.service.store.writing() as session:
            row = _ours(session, audit, until)
            row.state, row.error, row.ended, row.claimed_until = "failed", error, now, None


def finish_audit(audit: str, until: str, findings: Findings) -> Step[int]:
    """End an audit: log the hashes of plan and findings, keep the findings and a page that shows them, set the verdict.

    Gives the log index. Raises NotOurs where the lease is another's.
    """
    content = findings.to_bytes()
    page = print_page(build_recorded(read_recorded(content), made_by({FINDINGS: content})).document)

    def step(writing: Writing) -> Finish[int]:
        row = _ours(writing.session, audit, until)
        record = Report(kind=KIND, plan_hash=findings.plan.hash, findings_hash=findings.hash, **writing.stamp())
        index = writing.add(record)
        writing.insert(AuditDocumentRow(audit_id=audit, name=FINDINGS, content=content))
        writing.insert(AuditDocumentRow(audit_id=audit, name=REPORT, content=page))
        row.state, row.verdict, row.report_index = "done", findings.verdict, index
        row.done, row.ended, row.claimed_until = findings.plan.shoes, writing.time, None
        return lambda _: index

    return step


def _ours(session: Session, audit: str, until: str) -> AuditRow:
    query = select(AuditRow).where(AuditRow.id == audit, AuditRow.state == "running", AuditRow.claimed_until == until)
    row = session.scalars(query.with_for_update()).one_or_none()
    if row is None:
        raise NotOurs(f"the audit {audit} is another's by now, or has ended")
    return row


def _looked(session: Session, audit: str) -> Looked:
    """Put together what is kept of an audit's findings so far."""
    query = select(AuditDocumentRow.content).where(
        AuditDocumentRow.audit_id == audit, AuditDocumentRow.name.startswith(_PROGRESS)
    )
    looked = Looked()
    for content in session.scalars(query.order_by(AuditDocumentRow.name)):
        looked.merge(Looked.read(parse_object(content, MOST_BYTES)))
    return looked
