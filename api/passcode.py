"""A player's PIN: kept as a slow hash with a salt of its own, compared in constant time, never printed."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from threading import Lock
from typing import Final

from cryptography.exceptions import InvalidKey
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from shoe.errors import ImpossibleError, InputError, expected

SALT_BYTES: Final = 16
_HASH_BYTES: Final = 32
_COST: Final = 2**15
_BLOCKS: Final = 8
_LANES: Final = 1
_ONE_AT_A_TIME: Final = Lock()
"""Held while one is hashed: as many at once as a server has threads would take 32 MB each."""

_PIN: Final = re.compile(r"[0-9]{4,12}")
_KEPT: Final = re.compile(r"scrypt\$15\$8\$1\$([0-9A-Za-z_-]{22})\$([0-9A-Za-z_-]{43})")


def hash_pin(pin: str, random_bytes: Callable[[int], bytes]) -> str:
    """Hash a PIN of 4 to 12 digits by scrypt (N = 2^15, r = 8, p = 1), as text; takes 32 MB and some 60 ms.

    Raises InputError for another, without showing it. Source: RFC 7914.
    """
    _check_form(pin)
    salt = random_bytes(SALT_BYTES)
    with _ONE_AT_A_TIME:
        hashed = _scrypt(salt).derive(pin.encode())
    return f"scrypt$15${_BLOCKS}${_LANES}${_print(salt)}${_print(hashed)}"


def same_pin(pin: str, kept: str) -> bool:
    """Say whether a PIN is the one that was hashed, in a time that does not depend on it.

    Raises InputError for what can't be a PIN, without showing it, ImpossibleError for a text that `hash_pin` never
    gave.
    """
    _check_form(pin)
    found = _KEPT.fullmatch(kept)
    if found is None:
        raise ImpossibleError(expected("a hash that was kept", f"{len(kept)} characters", "pin"))
    try:
        with _ONE_AT_A_TIME:
            _scrypt(_parse(found[1])).verify(pin.encode(), _parse(found[2]))
    except InvalidKey:
        return False
    return True


def _check_form(pin: str) -> None:
    if not _PIN.fullmatch(pin):
        raise InputError(f"pin: expected 4 to 12 digits 0-9, got {len(pin)} characters")


def _scrypt(salt: bytes) -> Scrypt:
    return Scrypt(salt=salt, length=_HASH_BYTES, n=_COST, r=_BLOCKS, p=_LANES)


def _print(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _parse(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
