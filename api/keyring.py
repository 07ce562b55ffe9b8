"""The keys that sign the log: those that the database says are active, opened from the vault as they change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.db.tables import SigningKeyRow
from api.settings import SetupError
from api.vault import Vault, of_signing_key
from shoe.errors import expected
from shoe.proof.note import SignerKey, VerifierKey, parse_vkey

ACTIVE: Final = "active"


@dataclass(slots=True)
class Keyring:
    """The log's signing keys, held open until the database names others; shows none of them."""

    vault: Vault
    _held: tuple[SignerKey, ...] = field(default=(), repr=False)

    def signers(self, session: Session) -> tuple[SignerKey, ...]:
        """Give the active keys in the order in which the log added them; reads their names, and seeds when they change.

        Raises SetupError where the vault does not open a key, or it is not the one that its name says.
        """
        vkeys = active_vkeys(session)
        held = self._held
        if tuple(key.vkey for key in held) != vkeys:
            self._held = held = tuple(self._open(session, vkey) for vkey in vkeys)
        return held

    def new_row(self, origin: str, seed: bytes, log_index: int) -> SigningKeyRow:
        """Put down a new active key of a log, from its seed (32 bytes), which the log adds at an index."""
        vkey = str(SignerKey.from_seed(origin, seed).vkey)
        sealed = self.vault.seal(seed, of_signing_key(vkey))
        return SigningKeyRow(vkey=vkey, sealed_seed=sealed, status=ACTIVE, log_index=log_index)

    def _open(self, session: Session, vkey: VerifierKey) -> SignerKey:
        row = session.get_one(SigningKeyRow, str(vkey))
        key = SignerKey.from_seed(vkey.name, self.vault.open(row.sealed_seed, of_signing_key(row.vkey)))
        if key.vkey != vkey:
            raise SetupError(expected(f"the key of {vkey}", key.vkey, "signing key in the vault"))
        return key


def active_vkeys(session: Session) -> tuple[VerifierKey, ...]:
    """List the verifier keys under which heads are signed, in the order in which the log added them."""
    query = select(SigningKeyRow.vkey).where(SigningKeyRow.status == ACTIVE).order_by(SigningKeyRow.log_index)
    return tuple(map(parse_vkey, session.scalars(query)))
