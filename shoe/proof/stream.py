"""The keystream and bounded draws from it (protocol §5)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from shoe.errors import InputError, expected
from shoe.proof.notation import u64

KEY_BYTES: Final = 32
WORD_SPAN: Final = 2**32
MAX_BOUND: Final = 2**21
_CHUNK: Final = 2048
_ZEROS: Final = bytes(_CHUNK)
_WORDS: Final = struct.Struct(f"<{_CHUNK // 4}I")


def keystream(key: bytes, hand: int, count: int) -> bytes:
    """Give the first `count` bytes of AES-256-CTR under `key` (32 bytes), first block U64(hand) ‖ U64(0).

    Source: protocol §5; §7 uses the same stream for salts.
    """
    encryptor = Cipher(algorithms.AES256(key), modes.CTR(u64(hand) + u64(0))).encryptor()
    return encryptor.update(bytes(count))


def words(key: bytes, hand: int) -> Iterator[int]:
    """Yield the keystream of shuffle `hand` as unsigned 32-bit little-endian words, without end.

    Source: protocol §5.
    """
    encryptor = Cipher(algorithms.AES256(key), modes.CTR(u64(hand) + u64(0))).encryptor()
    while True:
        yield from _WORDS.unpack(encryptor.update(_ZEROS))


def below(source: Iterator[int], bound: int) -> int:
    """Draw a number 0…bound−1, each equally likely, from a source of 32-bit words.

    Takes one word, and one more for each rejection. Raises InputError unless 2 ≤ bound ≤ 2^21.
    Source: protocol §5; Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29 (2019), algorithm 5.
    """
    if not 2 <= bound <= MAX_BOUND:
        raise InputError(expected("a bound 2…2^21", bound, "below"))
    threshold = WORD_SPAN % bound
    while True:
        product = next(source) * bound
        if product % WORD_SPAN >= threshold:
            return product // WORD_SPAN
