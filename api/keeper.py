"""The keeper: what the service does by itself, with nobody asking.

Every second it voids what is overdue, pins the log's head, takes the monitors past what was dealt, goes on with audits
that were asked for, sends what webhooks wait for, and lets the auditor go on, which rests a minute after each round;
every minute it asks witnesses to cosign the head, every hour it forgets old answers, counts and deliveries. Each has a
thread of its own, so that a slow witness holds up no deadline, and what fails is said on standard error, once, and
tried again. Several keepers may be at work at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Thread
from typing import TYPE_CHECKING, Final

from sqlalchemy import func, select

from api.beside import describe
from api.cases.audits import has_unfinished
from api.cases.deadlines import void_overdue
from api.cases.monitoring import watch_coups
from api.cases.witnessing import cosign_head
from api.claims import KEPT_S, forget_claims
from api.db.tables import ClaimRow
from api.durable import force
from api.integrity.auditor import Auditor
from api.journal import say
from api.keyring import active_vkeys
from api.log import read_head
from api.quotas import forget_quotas
from api.service import Service
from api.webhooks.delivering import deliver_due, forget_delivered
from api.webhooks.sender import Sender
from api.witness import Witness, WitnessClient
from api.world import World, print_time, seconds_after
from api.writing import Finish, Writing
from shoe.errors import ProofError
from shoe.proof.note import check_note

if TYPE_CHECKING:
    from api.audits.running import Audits

NAME: Final = "fairshoe keeper"
TICK_S: Final = 1.0
AUDIT_REST_S: Final = 60
WATCH_S: Final = 0.5
FORGET_EVERY_S: Final = 3600
FORGET_AT_ONCE_S: Final = 60
"""Answers of so many seconds are forgotten in one transaction: writers come in between."""

LESS_URGENT: Final = 10
"""What the keeper adds to its niceness."""


@dataclass(slots=True)
class Chore:
    """One of the keeper's tasks: every how many seconds it is due, when it was begun last, what was said of it last."""

    name: str
    every_s: float
    work: Callable[[], object]
    begun: datetime | None = None
    said: str | None = None

    def due(self, now: datetime) -> bool:
        """Say whether it is due; a clock that was set back delays nothing."""
        return self.begun is None or not 0 <= (now - self.begun).total_seconds() < self.every_s


@dataclass(slots=True)
class Keeper:
    """What one installation's keeper does; `say` takes a line for its operator."""

    service: Service
    witnesses: Iterable[Witness] = ()
    witness_every_s: float = 60
    say: Callable[[str], None] = say
    sender: Sender = field(default_factory=Sender)
    _clients: list[WitnessClient] = field(init=False, repr=False)
    _chores: list[Chore] = field(init=False, repr=False)
    _seen: str | None = field(init=False, default=None, repr=False)
    _forced: str | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Put down what there is to do."""
        self._clients = [WitnessClient(witness) for witness in self.witnesses]
        self._chores = [
            Chore("deadlines", TICK_S, lambda: void_overdue(self.service)),
            Chore("pin", TICK_S, self._pin),
            _audit(self.service),
            Chore("answers kept", FORGET_EVERY_S, lambda: forget_old_answers(self.service)),
            Chore("quotas", FORGET_EVERY_S, self._forget_quotas),
            Chore("monitors", TICK_S, self._watch),
            _own_audits(self.service),
            Chore("webhooks", TICK_S, lambda: deliver_due(self.service, self.sender)),
            Chore("webhooks delivered", FORGET_EVERY_S, lambda: forget_delivered(self.service)),
            *[Chore("witnesses", self.witness_every_s, partial(self._witness, client)) for client in self._clients],
        ]

    def tick(self) -> None:
        """Do everything that is due, one after another."""
        for chore in self._chores:
            self._do(chore)

    def run(self, goes_on: Callable[[], bool]) -> None:
        """Do everything as it comes due, each task in a thread of its own, while `goes_on` says so.

        To be run in a process of its own, which must end when this returns: the threads are not waited for.
        """
        os.nice(LESS_URGENT)
        for chore in self._chores:
            Thread(target=self._repeat, args=(chore, goes_on), name=chore.name, daemon=True).start()
        while goes_on():
            time.sleep(TICK_S)

    def close(self) -> None:
        """Close the connections to witnesses."""
        for client in self._clients:
            client.close()

    def _repeat(self, chore: Chore, goes_on: Callable[[], bool]) -> None:
        while goes_on():
            self._do(chore)
            time.sleep(TICK_S)

    def _do(self, chore: Chore) -> None:
        now = self.service.world.now()
        if not chore.due(now):
            return
        chore.begun = now
        try:
            chore.work()
            chore.said = None
        except Exception as error:  # noqa: BLE001  # one task's failure, whatever it is, must not stop the others
            line = f"{NAME}: {chore.name}: {describe(error)}"
            # The same again every second would bury what else there is.
            if line != chore.said:
                self.say(line)
            chore.said = line

    def _forget_quotas(self) -> None:
        if not self.service.permit.reasons():
            self.service.write(_forget_quotas(self.service.world))

    def _pin(self) -> None:
        """Pin the head, and force the pin to the disk once the log stands still."""
        if self.service.permit.reasons():
            return
        with self.service.reading() as session:
            head = read_head(session)
            size, checkpoint = head.size, head.checkpoint
            # What is pinned can't be unpinned: a head that somebody else put there must not get so far.
            check_note(checkpoint, active_vkeys(session))
        pinned = self.service.permit.pinned
        pinned.keep(size, checkpoint)
        stands_still, self._seen = checkpoint == self._seen, checkpoint
        if stands_still and checkpoint != self._forced:
            force(pinned.path)
            force(pinned.path.parent)
            self._forced = checkpoint

    def _watch(self) -> None:
        """Go past the coups that were dealt since, for a while at a time, and say each alarm."""
        latest = time.monotonic() + WATCH_S
        while not self.service.permit.reasons() and time.monotonic() < latest:
            watched = watch_coups(self.service)
            for told in watched.alarms:
                self.say(
                    f"{NAME}: monitors: table {told.table}: {told.monitor}: evidence {told.evidence} has reached "
                    f"{told.threshold}; record {told.index} of the log says so"
                )
            if not watched.coups:
                return

    def _witness(self, client: WitnessClient) -> None:
        if not self.service.permit.reasons():
            cosign_head(self.service, client)


def _audit(service: Service) -> Chore:
    """Recompute the log step by step; when a round has ended, rest."""
    auditor, rounds = Auditor(service, service.permit.halt), 0

    def audit() -> None:
        nonlocal rounds
        progress = auditor.step()
        ended, rounds = progress.rounds > rounds, progress.rounds
        chore.every_s = AUDIT_REST_S if ended else TICK_S
        if progress.complaints:
            raise ProofError(f"nothing is signed any more: {' '.join(progress.complaints)}")

    chore = Chore("audit", TICK_S, audit)
    return chore


def _own_audits(service: Service) -> Chore:
    """Run the audits that were asked for; while there is one, again as soon as the thread has rested."""
    audits: Audits | None = None

    def work() -> None:
        nonlocal audits
        if audits is None:
            with service.reading() as session:
                if not has_unfinished(session):
                    return
            # The laws and what computes them take a second to load: who audits nothing does without.
            from api.audits.running import Audits  # noqa: PLC0415

            audits = Audits(service)
        chore.every_s = 0 if audits.turn() else TICK_S

    chore = Chore("audits", TICK_S, work)
    return chore


def forget_old_answers(service: Service) -> int:
    """Forget the answers that were kept for long enough, a minute's in one transaction; give their number."""
    before, forgotten = seconds_after(print_time(service.world.now()), -KEPT_S), 0
    while (oldest := _oldest_answer(service)) is not None and oldest < before:
        forgotten += service.write(_forget(min(before, seconds_after(oldest, FORGET_AT_ONCE_S))))
    return forgotten


def _forget_quotas(world: World) -> Callable[[Writing], Finish[int]]:
    def step(writing: Writing) -> Finish[int]:
        forgotten = forget_quotas(writing.session, world.now())
        return lambda _: forgotten

    return step


def _oldest_answer(service: Service) -> str | None:
    with service.reading() as session:
        return session.scalar(select(func.min(ClaimRow.time)))


def _forget(before: str) -> Callable[[Writing], Finish[int]]:
    def step(writing: Writing) -> Finish[int]:
        forgotten = forget_claims(writing.session, before)
        return lambda _: forgotten

    return step
