"""One write transaction of several jobs: each step in turn, then one checkpoint over all, then each job's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from api.claims import Claim, Claims
from api.commits import Job
from api.credentials import Credentials
from api.db.sessions import OutcomeUnknown, Store
from api.db.tables import LogHeadRow, ShoeRow
from api.log import Entry, Log, lock_head
from api.permit import Permit
from api.quotas import Quotas
from api.webhooks.events import queue_events
from api.world import World, read_time
from api.writing import Finish, Writing
from shoe.errors import FairshoeError

_FAILS_ALL: Final = (OutcomeUnknown, OperationalError, OSError)
"""What fails every job of a transaction alike: trying each alone would only ask the same database again."""


@dataclass(slots=True)
class _Taken:
    """A step that is done: its jobs (several with one claim), its records' place, what makes the result of them."""

    jobs: list[Job[Any]]
    start: int
    stop: int
    finish: Finish[Any]

    @property
    def claim(self) -> Claim | None:
        return self.jobs[0].claim


@dataclass(slots=True)
class _Transaction:
    """Jobs in one transaction that holds the log's head, and what becomes of each once it is durable.

    `shoes` are held, not looked at: a session forgets the rows that nobody holds, and would read them again.
    """

    session: Session
    log: Log
    world: World
    head: LogHeadRow
    time: str
    claims: Claims
    credentials: Credentials
    quotas: Quotas
    shoes: Sequence[ShoeRow]
    entries: list[Entry] = field(default_factory=list)
    taken: list[_Taken] = field(default_factory=list)
    results: list[tuple[Job[Any], object]] = field(default_factory=list)
    refused: list[tuple[Job[Any], Exception]] = field(default_factory=list)

    def take(self, job: Job[Any]) -> None:
        """Run a job's step, or find its first answer; a step that refuses and has changed nothing is out of the way.

        Raises what a step raises that failed in any other way: the transaction must not be committed.
        """
        writing = Writing(self.session, self.log.origin, self.time, self.head.size + len(self.entries))
        try:
            if job.caller is not None:
                self.credentials.require(job.caller.credential)
                self.quotas.count(job.caller)
            if job.claim is not None and self._answered(job, job.claim):
                return
            finish = job.step(writing)
        except FairshoeError as error:
            if writing.touched:
                raise
            self.refused.append((job, error))
            return
        start = len(self.entries)
        self.entries += writing.entries
        self.taken.append(_Taken([job], start, len(self.entries), finish))

    def _answered(self, job: Job[Any], claim: Claim) -> bool:
        kept = self.claims.kept(claim)
        if kept is not None:
            self.results.append((job, kept))
            return True
        twin = next((taken for taken in self.taken if taken.claim == claim), None)
        if twin is not None:
            twin.jobs.append(job)
        return twin is not None

    def close(self) -> None:
        """Append the records under one checkpoint, make every result, and keep those that were claimed."""
        start = self.head.size
        receipts = self.log.append(self.session, self.head, self.entries) if self.entries else ()
        queue_events(self.session, self.world, self.entries, start, self.time)
        for taken in self.taken:
            result = taken.finish(receipts[taken.start : taken.stop])
            if taken.claim is not None:
                self.claims.keep(taken.claim, result, self.time)
            self.results += [(job, result) for job in taken.jobs]
        self.claims.flush()
        self.quotas.flush()

    def settle(self) -> None:
        """Tell every job what became of it; only once all this is durable."""
        for job, result in self.results:
            job.succeed(result)
        for job, error in self.refused:
            job.fail(error)


@dataclass(frozen=True, slots=True)
class Writer:
    """Runs jobs in transactions of the store, each under one checkpoint of the log."""

    store: Store
    log: Log
    world: World
    permit: Permit

    def run(self, jobs: Sequence[Job[Any]]) -> None:
        """Settle every job: in one transaction where it can be, else each in one of its own.

        No job succeeds before its transaction is durable, and its checkpoint pinned.
        """
        try:
            self._together(jobs)
        except _FAILS_ALL as error:
            for job in jobs:
                job.fail(error)
        except Exception as error:  # noqa: BLE001  # a step's own failure, to be raised where it was submitted
            if len(jobs) == 1:
                jobs[0].fail(error)
                return
            for job in jobs:
                self.run([job])

    def _together(self, jobs: Sequence[Job[Any]]) -> None:
        self.permit.require()
        with self.store.writing() as session:
            head, time = lock_head(session, self.world)
            callers = [job.caller for job in jobs if job.caller is not None]
            transaction = _Transaction(
                session=session,
                log=self.log,
                world=self.world,
                head=head,
                time=time,
                claims=Claims(session, [job.claim for job in jobs if job.claim is not None]),
                credentials=Credentials(session, (caller.credential for caller in callers), time),
                quotas=Quotas(session, callers, read_time(time)),
                shoes=_shoes_of(session, jobs),
            )
            for job in jobs:
                transaction.take(job)
            transaction.close()
        self.permit.pin(head.size, head.checkpoint)
        transaction.settle()


def _shoes_of(session: Session, jobs: Sequence[Job[Any]]) -> Sequence[ShoeRow]:
    """Read the shoes that jobs work on: one query for all of them."""
    wanted = {job.shoe for job in jobs if job.shoe is not None}
    return session.scalars(select(ShoeRow).where(ShoeRow.id.in_(wanted))).all() if wanted else ()
