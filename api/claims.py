"""Idempotency keys: the first answer to each is kept with its effect, and given to whoever repeats the request."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from api.db.tables import ClaimRow
from api.refusals import KEY_REUSED, Refusal
from shoe.errors import InputError, expected
from shoe.proof.notation import sha256

KEPT_S: Final = 7 * 24 * 60 * 60
"""How long an answer is kept at least, in seconds."""

_KEY: Final = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered: HTTP status, and the body's bytes."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """A request's Idempotency-Key, and the SHA-256 of what it asks for: the same key may not ask for anything else."""

    key: str
    digest: bytes


def claim_of(key: str, asked: bytes) -> Claim:
    """Claim a key for a request; raises InputError unless it is 1–255 printable ASCII characters without space."""
    if not _KEY.fullmatch(key):
        raise InputError(expected("1–255 printable ASCII characters, no space", key[:80], "Idempotency-Key"))
    return Claim(key, sha256(asked))


class Claims:
    """The claims of one write transaction: those that the store holds, and those that it gets now."""

    def __init__(self, session: Session, claims: Iterable[Claim]) -> None:
        """Read what is kept of the claims given: one query."""
        self._session = session
        self._new: list[dict[str, object]] = []
        keys = {claim.key for claim in claims}
        query = select(ClaimRow.key, ClaimRow.digest, ClaimRow.status, ClaimRow.answer).where(ClaimRow.key.in_(keys))
        rows = session.execute(query) if keys else ()
        self._kept = {key: (digest, Answer(status, body)) for key, digest, status, body in rows}

    def kept(self, claim: Claim) -> Answer | None:
        """Give the first answer to a claim, None where there is none yet; raises Refusal where it asked for else."""
        digest, answer = self._kept.get(claim.key, (claim.digest, None))
        if not hmac.compare_digest(digest, claim.digest):
            raise Refusal(KEY_REUSED, f"The key {claim.key!r} was used for another request.")
        return answer

    def keep(self, claim: Claim, answer: Answer, time: str) -> None:
        """Keep the first answer to a claim, with the transaction."""
        self._kept[claim.key] = claim.digest, answer
        row = {"key": claim.key, "digest": claim.digest, "time": time, "status": answer.status, "answer": answer.body}
        self._new.append(row)

    def flush(self) -> None:
        """Write what is to be kept: one statement."""
        if self._new:
            self._session.execute(insert(ClaimRow), self._new)


def forget_claims(session: Session, before: str) -> int:
    """Forget the answers given before a time, a record's; give their number."""
    return len(session.scalars(delete(ClaimRow).where(ClaimRow.time < before).returning(ClaimRow.key)).all())
