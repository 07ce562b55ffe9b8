"""HKDF with SHA-256 as RFC 5869 §2.2 and §2.3 state it, over the standard library; imports nothing of the project."""

from __future__ import annotations

import hashlib
import hmac


def extract(salt: bytes, ikm: bytes) -> bytes:
    """PRK = HMAC-Hash(salt, IKM)."""
    return hmac.new(salt, ikm, hashlib.sha256).digest()


def expand(prk: bytes, info: bytes, length: int) -> bytes:
    """T(i) = HMAC-Hash(PRK, T(i−1) | info | i), joined and cut to `length` bytes."""
    okm, block, number = b"", b"", 0
    while len(okm) < length:
        number += 1
        block = hmac.new(prk, block + info + bytes([number]), hashlib.sha256).digest()
        okm += block
    return okm[:length]


def hkdf(ikm: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    """Both steps."""
    return expand(extract(salt, ikm), info, length)
