"""The auditor: recomputes the whole log in small steps beside the running service, again and again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final, NamedTuple

from sqlalchemy.exc import DBAPIError

from api.integrity.complaints import Complaints
from api.integrity.halt import halt
from api.integrity.recompute import Recomputation
from api.integrity.start import WHILE_RUNNING, check_start
from api.integrity.tree import WIDTH
from api.service import Service
from api.world import print_time

STEP_LEAVES: Final = 16 * WIDTH
STEP_S: Final = 0.3
"""A step ends after so many leaves or seconds, whichever comes first; it checks one slice at least."""


class Progress(NamedTuple):
    """Where the auditor stands: leaves done of this round's, rounds done, and the complaints of the one just ended."""

    done: int
    size: int
    rounds: int
    complaints: tuple[str, ...]


class Auditor:
    """One installation's auditor: holds its place and what it needs to go on in memory, a slice's worth at most."""

    def __init__(self, service: Service, halting: Path) -> None:
        """Audit a service's log; `halting` is the file that stops all signing."""
        self._service, self._halting = service, halting
        self._rounds = 0
        self._begin()

    def step(self) -> Progress:
        """Go on for a bounded time; at the head the next step begins anew, with what a start looks at first.

        The first complaint stops all signing at once, and ends the round. Raises OSError where that can't be done, and
        DBAPIError where the database can't be read: the round begins anew then, for its place may be half taken.
        """
        try:
            return self._step()
        except DBAPIError:
            self._begin()
            raise

    def _step(self) -> Progress:
        latest, first = time.monotonic() + STEP_S, self._work.place
        for fault in () if first else self._find_faults():
            self._complaints.add(fault)
        ended, goes_on = False, not self._complaints.listed
        while goes_on:
            with self._service.reading() as session:
                ended = self._work.step(session)
            goes_on = not ended and time.monotonic() < latest and self._work.place - first < STEP_LEAVES
        ended = ended or bool(self._complaints.listed)
        report = self._work.report()
        if report.complaints:
            halt(self._halting, print_time(self._service.world.now()), report.complaints[0])
        done = Progress(self._work.place, report.size, self._rounds + ended, report.complaints)
        if ended:
            self._rounds += 1
            self._begin()
        return done

    def _find_faults(self) -> tuple[str, ...]:
        service = self._service
        return check_start(service.store, service.log, service.world, service.permit.pinned, WHILE_RUNNING).faults

    def _begin(self) -> None:
        self._complaints = Complaints()
        self._work = Recomputation(self._service.log.origin, self._complaints)
