"""Secrets at rest: AES-256-GCM under one key in a file, each bound to what it belongs to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.settings import SetupError
from shoe.errors import expected
from shoe.proof.canonical import print_canonical

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_OTHERS: Final = 0o077


@dataclass(frozen=True, slots=True)
class Vault:
    """Encrypts and decrypts secrets; its key (32 bytes) is not shown by repr."""

    key: bytes = field(repr=False)
    random_bytes: Callable[[int], bytes] = field(repr=False)

    def seal(self, secret: bytes, belongs_to: bytes) -> bytes:
        """Encrypt a secret for one place: a fresh nonce of 12 bytes, then ciphertext and tag."""
        nonce = self.random_bytes(NONCE_BYTES)
        return nonce + AESGCM(self.key).encrypt(nonce, secret, belongs_to)

    def open(self, sealed: bytes, belongs_to: bytes) -> bytes:
        """Decrypt what `seal` made for the same place; SetupError for another place, another key or other bytes."""
        try:
            return AESGCM(self.key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], belongs_to)
        except (InvalidTag, ValueError):
            raise SetupError("the vault's key does not open a secret of this database: is it another's?") from None


def of_book(table: str, root: bytes) -> bytes:
    """Say where a book's master belongs: to this table and book."""
    return print_canonical({"secret": "master", "table": table, "book": root.hex()})


def of_signing_key(vkey: str) -> bytes:
    """Say where a signing key's seed belongs: to this verifier key, name included."""
    return print_canonical({"secret": "signing key", "vkey": vkey})


def open_vault(path: Path, random_bytes: Callable[[int], bytes]) -> Vault:
    """Open the vault whose key is in a file, which the first start makes: mode 0600, in a folder of mode 0700.

    Raises SetupError where others may read the folder or the file, or the file holds no key.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(path.parent, "700")
    if not path.exists():
        _make_key(path, random_bytes(KEY_BYTES), random_bytes)
    _require_private(path, "600")
    key = path.read_bytes()
    if len(key) != KEY_BYTES:
        raise SetupError(expected(f"a key of {KEY_BYTES} bytes", f"{len(key)} bytes", str(path)))
    return Vault(key, random_bytes)


def _make_key(path: Path, key: bytes, random_bytes: Callable[[int], bytes]) -> None:
    """Put a key under its name whole and for good, or leave the one that another process put there first."""
    draft = path.with_name(f"{path.name}.{random_bytes(8).hex()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(key)
            stream.flush()
            os.fsync(file)
        path.hardlink_to(draft)
    except FileExistsError:
        return
    finally:
        draft.unlink()
    # A database whose key is lost is lost too: the name must survive a crash before anything is sealed.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _require_private(path: Path, mode: str) -> None:
    if path.stat().st_mode & _OTHERS:
        raise SetupError(f"{path}: others on this machine may read it; run: chmod {mode} {path}")
