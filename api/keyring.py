"""The keys that sign the log: those that the database says are active, opened from the vault as they change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.db.tables import SigningKeyRow
from api.settings import SetupError
from api.vault import Keys, Vault, of_signing_key
from shoe.errors import expected
from shoe.proof.note import SignerKey, VerifierKey, parse_vkey
from shoe.proof.records import Key

ACTIVE: Final = "active"

Stored = tuple[tuple[str, bytes], ...]
"""Keys as the database has them: each one's verifier key, and its seed as the vault has sealed it."""


@dataclass(slots=True)
class Keyring:
    """The log's signing keys, held open until the database names others or seals them anew; shows none of them."""

    vault: Vault
    _held: tuple[SignerKey, ...] = field(default=(), repr=False)
    _opened: tuple[Stored, Keys] = field(default=((), ()), repr=False)

    def signers(self, session: Session, logged: Iterable[Key] = ()) -> tuple[SignerKey, ...]:
        """Give the keys that sign the next head, in the order in which the log added them.

        They are those that were active before the `key` records that this head logs: a key is added under those before
        it, and a retired one still signs that it is (protocol §9). A compromised one signs nothing any more. Whether
        the session has written the records' rows yet, makes no difference.

        Opens seeds where the database or the vault has changed, under the vault's keys as they are now: so nothing is
        committed that was sealed under the key of another vault. Raises SetupError where the vault does not open a
        key, or it is not the one that its name says.
        """
        stored = _stored(session, logged)
        if (stored, self.vault.keys) != self._opened:
            keys = self.vault.refresh()
            self._held = tuple(self._open(vkey, sealed) for vkey, sealed in stored)
            self._opened = stored, keys
        return self._held

    def new_row(self, origin: str, seed: bytes, log_index: int) -> SigningKeyRow:
        """Put down a new active key of a log, from its seed (32 bytes), which the log adds at an index."""
        vkey = str(SignerKey.from_seed(origin, seed).vkey)
        sealed = self.vault.seal(seed, of_signing_key(vkey))
        return SigningKeyRow(vkey=vkey, sealed_seed=sealed, status=ACTIVE, log_index=log_index)

    def _open(self, vkey: str, sealed: bytes) -> SignerKey:
        key = SignerKey.from_seed(parse_vkey(vkey).name, self.vault.open_now(sealed, of_signing_key(vkey)))
        if str(key.vkey) != vkey:
            raise SetupError(expected(f"the key of {vkey}", str(key.vkey), "signing key in the vault"))
        return key


def active_vkeys(session: Session) -> tuple[VerifierKey, ...]:
    """List the verifier keys under which heads are signed, in the order in which the log added them."""
    return _vkeys(session, ACTIVE)


def retired_vkeys(session: Session) -> tuple[VerifierKey, ...]:
    """List the verifier keys that signed heads until they were retired; of a compromised one no signature counts."""
    return _vkeys(session, "retired")


def _vkeys(session: Session, status: str) -> tuple[VerifierKey, ...]:
    query = select(SigningKeyRow.vkey).where(SigningKeyRow.status == status).order_by(SigningKeyRow.log_index)
    return tuple(map(parse_vkey, session.scalars(query)))


def _stored(session: Session, logged: Iterable[Key]) -> Stored:
    by_status: dict[str, set[str]] = {"added": set(), "retired": set(), "compromised": set()}
    for record in logged:
        by_status[record.status].add(record.vkey)
    still = or_(SigningKeyRow.status == ACTIVE, SigningKeyRow.vkey.in_(by_status["retired"]))
    query = select(SigningKeyRow.vkey, SigningKeyRow.sealed_seed).where(still).order_by(SigningKeyRow.log_index)
    left_out = by_status["added"] | by_status["compromised"]
    return tuple((vkey, sealed) for vkey, sealed in session.execute(query) if vkey not in left_out)
