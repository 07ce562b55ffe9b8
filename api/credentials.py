"""Credentials as the store has them: found by their token, and looked at once more in the transaction of a write."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import Principal, token_digest
from api.db.sessions import Store
from api.db.tables import CredentialRow
from api.refusals import UNAUTHENTICATED, Refusal
from api.world import print_time

_MOST: Final = 10_000


def is_good(row: CredentialRow, time: str) -> bool:
    """Say whether a credential is neither revoked nor expired at a time, a record's."""
    return row.revoked is None and (row.expires is None or time < row.expires)


def principal_of(row: CredentialRow) -> Principal:
    """Give who a credential shows."""
    kind = "seat" if row.kind == "seat" else "key"
    return Principal(row.id, frozenset(row.roles.split()), kind, row.table_id)  # type: ignore[arg-type]  # as checked when it was made


class Credentials:
    """The credentials of one write transaction's callers: what was good when a request came may be revoked since."""

    def __init__(self, session: Session, ids: Iterable[str], time: str) -> None:
        """Read them: one query."""
        wanted = {each for each in ids if each}
        rows = session.scalars(select(CredentialRow).where(CredentialRow.id.in_(wanted))) if wanted else ()
        self._good = {row.id for row in rows if is_good(row, time)} | {""}

    def require(self, credential: str) -> None:
        """Raise Refusal for a credential that is good no more."""
        if credential not in self._good:
            raise _not_good()


@dataclass(slots=True)
class Known:
    """The credentials that this process has seen to be good, so that a write need not read them twice.

    Who reads is looked up anew each time; who writes is looked at again in the transaction.
    """

    store: Store
    _found: dict[bytes, Principal] = field(default_factory=dict, init=False, repr=False)

    def find(self, token: str, now: datetime, *, writes: bool) -> Principal:
        """Find who a token shows; raises Refusal for one that is unknown, revoked or expired."""
        digest = token_digest(token)
        if writes and (known := self._found.get(digest)) is not None:
            return known
        with self.store.reading() as session:
            # The index compares digests of what came, and no secret: where it stops tells nothing of a token.
            row = session.scalar(select(CredentialRow).where(CredentialRow.digest == digest))
            if row is None or not is_good(row, print_time(now)):
                self._found.pop(digest, None)
                raise _not_good()
            principal = principal_of(row)
        if len(self._found) >= _MOST:
            self._found.clear()
        self._found[digest] = principal
        return principal

    def forget(self, token: str) -> None:
        """Look a token up anew when it comes next: it was refused."""
        self._found.pop(token_digest(token), None)


def _not_good() -> Refusal:
    return Refusal(UNAUTHENTICATED, "The credential is unknown, revoked or expired.")
