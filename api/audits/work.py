"""An audit under way: the log first, then every shoe, then the statistics; a step at a time, to be taken up again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy.orm import Session

from api.audits.counting import Counting
from api.audits.log_check import check_books, check_head, check_openings
from api.audits.planning import planned_shoes
from api.audits.receipt_check import check_receipts
from api.audits.shoe_check import check_shoe
from audit.records.findings import Findings, find
from audit.records.plan import Plan
from audit.records.wrong import Looked
from shoe.errors import ImpossibleError
from shoe.proof.beacon import CheckSignature
from shoe.proof.tlog import Receipt


class Work:
    """The audit of a plan: what it found so far, and where it goes on.

    Everything but the shoes is looked at in less than a second for a million coups, and begun anew by who takes the
    work up; of shoes `done` says how many are looked at, `looked` what was found, in the order they were opened.
    """

    def __init__(
        self,
        plan: Plan,
        check_signature: CheckSignature | None,
        receipts: Sequence[Receipt] = (),
        done: int = 0,
        looked: Looked | None = None,
    ) -> None:
        """Begin a plan's audit, or go on behind `done` shoes, in which `looked` was found.

        `receipts` are those that the plan was made with.
        """
        self.plan, self.done = plan, done
        self._looked, self._fresh = looked or Looked(), Looked()
        self._check_signature = check_signature
        self._after: int | None = None if done else -1
        self._log_steps: list[Callable[[Session], Looked]] = [
            lambda session: check_head(session, plan),
            lambda session: check_openings(session, plan),
            lambda session: check_receipts(session, plan, receipts),
            self._check_books,
        ]
        self._books: list[dict[str, Any]] = []
        self._counting = Counting.begin(plan)
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether all is looked at and counted."""
        return self._ended

    def step(self, session: Session) -> None:
        """Go on for a fraction of a second; raises DBAPIError where the database can't be read."""
        if self._log_steps:
            found = self._log_steps[0](session)
            del self._log_steps[0]
            # Who takes the work up again has this from before.
            if self.done == 0:
                self._add(found)
        elif self.done < self.plan.shoes and self._check_next(session):
            return
        else:
            self._ended = self._counting.step(session)

    def take_fresh(self) -> Looked:
        """Give what was found since this was asked for last, to be kept."""
        fresh, self._fresh = self._fresh, Looked()
        return fresh

    def find(self) -> Findings:
        """Judge all of it; takes some seconds the first time in a process. Raises ImpossibleError before the end."""
        if not self._ended:
            raise ImpossibleError(f"an audit is judged at its end, not after {self.done} of {self.plan.shoes} shoes")
        ended = self._counting.ended
        ended.books = self._books
        return find(self.plan, self._looked, ended, self._counting.counts)

    def _check_books(self, session: Session) -> Looked:
        looked, self._books = check_books(session, self.plan)
        return looked

    def _check_next(self, session: Session) -> bool:
        """Look at the next shoe; say whether there was one."""
        query = planned_shoes(self.plan, -1 if self._after is None else self._after).limit(1)
        if self._after is None:
            query = query.offset(self.done)
        shoe = session.scalars(query).one_or_none()
        if shoe is None:
            return False
        self._after = shoe.open_index
        self._add(check_shoe(session, shoe, self.plan, self._check_signature))
        self.done += 1
        return True

    def _add(self, found: Looked) -> None:
        self._looked.merge(found)
        self._fresh.merge(found)
