"""How often a caller may write in a minute, counted in the database, so that all processes count together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from threading import Lock
from typing import Final

from sqlalchemy import delete, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from api.db.tables import QuotaRow
from api.refusals import RATE_LIMITED, Refusal

WINDOW_S: Final = 60
KEPT_MINUTES: Final = 2


@dataclass(slots=True)
class Caller:
    """Who asks for a write, how many a minute are allowed (0 for any number), and what is left after this one.

    `credential` is the id of the credential to be looked at once more, in the transaction; empty for anyone at all.
    """

    id: str
    limit: int = 0
    credential: str = ""
    left: int | None = field(default=None, init=False)


def minute_of(now: datetime) -> int:
    """Number the minute that a moment is in, from the epoch."""
    return int(now.timestamp()) // WINDOW_S


def seconds_left(now: datetime) -> int:
    """Count the seconds until the next minute begins, 1…60."""
    return WINDOW_S - int(now.timestamp()) % WINDOW_S


def refuse(limit: int, now: datetime, what: str) -> Refusal:
    """Refuse what goes beyond a limit, until the next minute."""
    wait_s = seconds_left(now)
    return Refusal(RATE_LIMITED, f"{limit} {what} a minute are allowed; the next one in {wait_s} s.", wait_s)


class Quotas:
    """The counts of one write transaction."""

    def __init__(self, session: Session, callers: Iterable[Caller], now: datetime) -> None:
        """Read what the callers have asked for in this minute: one query."""
        self._session, self._now, self._minute = session, now, minute_of(now)
        ids = {caller.id for caller in callers if caller.limit}
        query = select(QuotaRow.caller, QuotaRow.writes).where(
            QuotaRow.caller.in_(ids), QuotaRow.minute == self._minute
        )
        self._counts = {row.caller: row.writes for row in session.execute(query)} if ids else {}
        self._counted: set[str] = set()

    def count(self, caller: Caller) -> None:
        """Count a write; raises Refusal where the caller has no more of them in this minute."""
        if not caller.limit:
            return
        before = self._counts.get(caller.id, 0)
        caller.left = max(0, caller.limit - before - 1)
        if before >= caller.limit:
            raise refuse(caller.limit, self._now, "writes")
        self._counts[caller.id] = before + 1
        self._counted.add(caller.id)

    def flush(self) -> None:
        """Write the counts: one statement."""
        if not self._counted:
            return
        rows = [
            {"caller": caller, "minute": self._minute, "writes": self._counts[caller]}
            for caller in sorted(self._counted)
        ]
        dialect = sqlite if self._session.get_bind().dialect.name == "sqlite" else postgresql
        statement = dialect.insert(QuotaRow)
        changed = {"minute": statement.excluded.minute, "writes": statement.excluded.writes}
        self._session.execute(statement.on_conflict_do_update(index_elements=["caller"], set_=changed), rows)


def forget_quotas(session: Session, now: datetime) -> int:
    """Forget the counts of minutes that are over; give their number."""
    over = delete(QuotaRow).where(QuotaRow.minute < minute_of(now) - KEPT_MINUTES)
    return len(session.scalars(over.returning(QuotaRow.caller)).all())


@dataclass(slots=True)
class Window:
    """Counts of this process alone, by caller, in one minute: for reads, and for callers known to have no writes left.

    At most `most` callers are told apart; those beyond share a count, so that no flood of names fills the memory.
    """

    most: int = 100_000
    _minute: int = field(default=-1, init=False)
    _counts: dict[str, int] = field(default_factory=dict, init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def count(self, caller: str, now: datetime) -> int:
        """Count one, and give how many it makes in this minute."""
        with self._lock:
            counts = self._at(now)
            known = caller if caller in counts or len(counts) < self.most else ""
            counts[known] = counts.get(known, 0) + 1
            return counts[known]

    def mark(self, caller: str, now: datetime) -> None:
        """Put a caller down for the rest of this minute."""
        self.count(caller, now)

    def marked(self, caller: str, now: datetime) -> bool:
        """Say whether a caller is put down for this minute."""
        with self._lock:
            return caller in self._at(now)

    def _at(self, now: datetime) -> dict[str, int]:
        if (minute := minute_of(now)) != self._minute:
            self._minute, self._counts = minute, {}
        return self._counts
