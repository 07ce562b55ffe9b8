"""Secrets at rest: AES-256-GCM, each secret bound to what it belongs to, under keys from a file or from outside.

There may be several keys. New secrets are sealed under the first, and a secret opens under any, so that a rotation
(`api.cases.keys`) needs no pause: it adds a key, seals every secret anew, and drops the keys before only then.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.durable import force, turn
from api.settings import SetupError
from shoe.errors import expected
from shoe.proof.canonical import print_canonical

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
_OTHERS: Final = 0o077

Keys = tuple[bytes, ...]
"""Keys of 32 bytes, the current one first."""

RandomBytes = Callable[[int], bytes]


class KeySource(Protocol):
    """Where the vault's keys are kept."""

    def read(self) -> Keys:
        """Give the keys as they are now; raises SetupError where there are none that can be used."""

    def make(self, random_bytes: RandomBytes) -> None:
        """Make the first key, where this source keeps keys itself and has none."""


@dataclass(frozen=True, slots=True)
class GivenKeys:
    """Keys given from outside, for as long as this process lives; no file is made or read."""

    keys: Keys = field(repr=False)

    def read(self) -> Keys:
        """Give the keys."""
        return self.keys

    def make(self, random_bytes: RandomBytes) -> None:
        """Make none: whoever gives the keys keeps them too."""


@dataclass(frozen=True, slots=True)
class KeyFile:
    """Keys in a file, end to end: mode 0600, replaced whole and durably, or not at all."""

    path: Path

    def read(self) -> Keys:
        """Read the keys; raises SetupError for no file, one that others may read, or one that holds no whole keys."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            raise SetupError(f"{self.path}: the vault's key is not there; put it back from where you keep it") from None
        with file:
            _require_private(self.path, os.fstat(file.fileno()).st_mode, "600")
            held = file.read()
        if not held or len(held) % KEY_BYTES:
            raise SetupError(expected(f"keys of {KEY_BYTES} bytes", f"{len(held)} bytes", str(self.path)))
        return tuple(held[start : start + KEY_BYTES] for start in range(0, len(held), KEY_BYTES))

    def make(self, random_bytes: RandomBytes) -> None:
        """Make the first key, unless there is one; of starts at once the second waits until the first's is durable."""
        with self.turn():
            if not self.path.exists():
                self.replace([random_bytes(KEY_BYTES)])

    def replace(self, keys: Iterable[bytes]) -> None:
        """Put other keys into the file: durable once this returns. Only for who has the turn."""
        draft = self.path.with_name(f"{self.path.name}.draft")
        draft.unlink(missing_ok=True)  # what a process that was killed left behind
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(b"".join(keys))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self.path)
        force(self.path.parent)  # a database whose key is lost is lost too

    def turn(self) -> AbstractContextManager[None]:
        """Be the only one, among all processes, to change the file; who dies leaves the turn to the next."""
        return turn(self.path)


@dataclass(slots=True)
class Vault:
    """Seals and opens secrets; shows no key.

    `keys` are the source's as they were read last. Keys read before stay good for opening, for what a reader looks at
    may be older than a rotation.
    """

    source: KeySource = field(repr=False)
    random_bytes: RandomBytes = field(repr=False)
    keys: Keys = field(default=(), init=False, repr=False)
    _former: Keys = field(default=(), init=False, repr=False)
    _turn: Lock = field(default_factory=Lock, init=False, repr=False)

    def refresh(self) -> Keys:
        """Read the keys anew; raises SetupError as the source does."""
        with self._turn:
            read = self.source.read()
            if read != self.keys:
                self._former = tuple(dict.fromkeys((*self.keys, *self._former)))
                self.keys = read
            return read

    def make(self) -> None:
        """Make the first key at the first start, where the source keeps keys; then read."""
        self.source.make(self.random_bytes)
        self.refresh()

    def seal(self, secret: bytes, belongs_to: bytes) -> bytes:
        """Encrypt a secret for one place under the current key: a fresh nonce of 12 bytes, then ciphertext and tag.

        What is to be stored must be sealed inside of the write transaction that stores it, while the log's head is
        held: the key is read anew, so it is never one that a rotation has left behind. Raises SetupError where there
        is none.
        """
        key, nonce = self.refresh()[0], self.random_bytes(NONCE_BYTES)
        return nonce + AESGCM(key).encrypt(nonce, secret, belongs_to)

    def open(self, sealed: bytes, belongs_to: bytes) -> bytes:
        """Decrypt what `seal` made for the same place, under any key; reads the keys anew before it gives up.

        Raises SetupError for another place, another key or other bytes, and as the source does.
        """
        secret = _open(sealed, belongs_to, (*self.keys, *self._former))
        return self.open_now(sealed, belongs_to) if secret is None else secret

    def open_now(self, sealed: bytes, belongs_to: bytes) -> bytes:
        """Decrypt under the keys as they are now, and no former one; raises SetupError as `open` does."""
        secret = _open(sealed, belongs_to, self.refresh())
        if secret is None:
            raise SetupError("the vault's key does not open a secret of this database: is it another's?")
        return secret

    def is_current(self, sealed: bytes, belongs_to: bytes) -> bool:
        """Say whether a secret is sealed under the current key; reads the keys anew."""
        return _open(sealed, belongs_to, self.refresh()[:1]) is not None


def of_book(table: str, root: bytes) -> bytes:
    """Say where a book's master belongs: to this table and book."""
    return print_canonical({"secret": "master", "table": table, "book": root.hex()})


def of_signing_key(vkey: str) -> bytes:
    """Say where a signing key's seed belongs: to this verifier key, name included."""
    return print_canonical({"secret": "signing key", "vkey": vkey})


def make_private(folder: Path) -> None:
    """Make a folder of mode 0700 where there is none; raises SetupError where others may enter the one there is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _require_private(folder, folder.stat().st_mode, "700")


def open_vault(path: Path, given: Keys | None, random_bytes: RandomBytes) -> Vault:
    """Open the vault: under the keys given, else under those in a file, which the first start of a log makes.

    Raises SetupError where others may enter the file's folder, which is made where there is none, or may read the file,
    and where the file holds no key.
    """
    make_private(path.parent)
    vault = Vault(KeyFile(path) if given is None else GivenKeys(given), random_bytes)
    if given is not None or path.exists():
        vault.refresh()
    return vault


def _open(sealed: bytes, belongs_to: bytes, keys: Keys) -> bytes | None:
    for key in keys:
        try:
            return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], belongs_to)
        except (InvalidTag, ValueError):
            continue
    return None


def _require_private(path: Path, mode: int, wanted: str) -> None:
    if mode & _OTHERS:
        raise SetupError(f"{path}: others on this machine may read it; run: chmod {wanted} {path}")
