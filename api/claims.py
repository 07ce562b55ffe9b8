"""Idempotency keys: the first answer to each is kept with its effect, and given to whoever repeats the request."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import delete, insert, select
from sqlalchemy.orm import Session

from api.db.tables import ClaimRow
from api.refusals import KEY_REUSED, Refusal
from shoe.errors import ImpossibleError, InputError, expected
from shoe.proof.notation import sha256

KEPT_S: Final = 7 * 24 * 60 * 60
"""How long an answer is kept at least, in seconds."""

GUESSABLE: Final = 32
"""Below so many characters a guest's Idempotency-Key might be guessed, and with it the token that it was answered."""

_KEY: Final = re.compile(r"[!-~]{1,255}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered: HTTP status, and the body's bytes."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class Claim:
    """A caller's Idempotency-Key, as a digest of both, and a digest of what it asks for, which may not change.

    `sealing` is the key that the answer is encrypted under where a secret is asked for or shown: it comes from what the
    caller holds and the service does not keep, so that the database alone opens none. The digest is made under another
    such key then, or whoever has the database would find a PIN by trying all there are.
    """

    key: str
    digest: bytes
    sealing: bytes | None = field(default=None, repr=False)

    def seal(self, body: bytes, time: str) -> bytes:
        """Give an answer's bytes as they are kept, at a time, a record's, at which this claim keeps no other."""
        return body if self.sealing is None else AESGCM(self.sealing).encrypt(_nonce(time), body, self.digest)

    def open(self, kept: bytes, time: str) -> bytes:
        """Give an answer's bytes from those kept at a time; raises ImpossibleError for others than `seal` gave."""
        if self.sealing is None:
            return kept
        try:
            return AESGCM(self.sealing).decrypt(_nonce(time), kept, self.digest)
        except InvalidTag:
            raise ImpossibleError("a kept answer does not open under its own claim") from None


def claim_of(key: str, asked: bytes, *, caller: str = "", token: str | None = None, secret: bool = False) -> Claim:
    """Claim a key for a caller's request, `secret` where the answer is shown once, or the body is nobody else's.

    Raises InputError unless the key is 1–255 printable ASCII characters without space, and for one of a guest, who has
    nothing else that is secret, that somebody might guess.
    """
    if secret and token is None and len(key) < GUESSABLE:
        raise InputError(
            expected(f"{GUESSABLE} random characters or more, a UUID say", f"{len(key)}", "Idempotency-Key")
        )
    if not _KEY.fullmatch(key):
        raise InputError(expected("1–255 printable ASCII characters, no space", key[:80], "Idempotency-Key"))
    name = sha256(f"{caller}\0{key}".encode()).hex()
    if not secret:
        return Claim(name, sha256(asked))
    held = f"{token or ''}\0{key}".encode()
    digest = hmac.digest(_derive(held, b"fairshoe claim digest"), asked, "sha256")
    return Claim(name, digest, _derive(held, b"fairshoe claim"))


def _derive(held: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=purpose).derive(held)


def _nonce(time: str) -> bytes:
    return sha256(time.encode())[:12]


class Claims:
    """The claims of one write transaction: those that the store holds, and those that it gets now."""

    def __init__(self, session: Session, claims: Iterable[Claim]) -> None:
        """Read what is kept of the claims given: one query."""
        self._session = session
        self._new: list[dict[str, object]] = []
        keys = {claim.key for claim in claims}
        query = select(ClaimRow.key, ClaimRow.digest, ClaimRow.time, ClaimRow.status, ClaimRow.answer)
        rows = session.execute(query.where(ClaimRow.key.in_(keys))) if keys else ()
        self._kept = {key: (digest, time, Answer(status, body)) for key, digest, time, status, body in rows}

    def kept(self, claim: Claim) -> Answer | None:
        """Give the first answer to a claim, None where there is none yet; raises Refusal where it asked for else."""
        found = self._kept.get(claim.key)
        if found is None:
            return None
        digest, time, answer = found
        if not hmac.compare_digest(digest, claim.digest):
            raise Refusal(KEY_REUSED, "The Idempotency-Key of this request was used for another one.")
        return Answer(answer.status, claim.open(answer.body, time))

    def keep(self, claim: Claim, answer: Answer, time: str) -> None:
        """Keep the first answer to a claim, with the transaction."""
        kept = Answer(answer.status, claim.seal(answer.body, time))
        self._kept[claim.key] = claim.digest, time, kept
        row = {"key": claim.key, "digest": claim.digest, "time": time, "status": kept.status, "answer": kept.body}
        self._new.append(row)

    def flush(self) -> None:
        """Write what is to be kept: one statement."""
        if self._new:
            self._session.execute(insert(ClaimRow), self._new)


def forget_claims(session: Session, before: str) -> int:
    """Forget the answers given before a time, a record's; give their number."""
    return len(session.scalars(delete(ClaimRow).where(ClaimRow.time < before).returning(ClaimRow.key)).all())
