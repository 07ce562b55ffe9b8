"""Keystream of many shuffles at a time, word for word that of protocol §5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from shoe.errors import InputError, expected
from shoe.proof.stream import KEY_BYTES

Keys = bytes | Sequence[bytes]
"""One key, of which shoe s is shuffle h = s; or a key for each shoe, of which shoe s is shuffle h = 0 of key s."""

SHOE_SPAN: Final = 2**64
_BLOCK: Final = 16
_BLOCK_WORDS: Final = 4


def key_and_hand(keys: Keys, shoe: int) -> tuple[bytes, int]:
    """Say which shuffle shoe number `shoe` is: its key and its h."""
    return (keys, shoe) if isinstance(keys, bytes) else (keys[shoe], 0)


def check_shoes(keys: Keys, first: int, last: int) -> None:
    """Raise InputError unless `keys` are of 32 bytes and have the shoes `first` to `last`."""
    span = SHOE_SPAN if isinstance(keys, bytes) else len(keys)
    if not 0 <= first <= last < span:
        raise InputError(expected(f"shoes within 0…{span - 1}", f"{first}…{last}", "shoes"))
    for key in [keys] if isinstance(keys, bytes) else keys[first : last + 1]:
        if len(key) != KEY_BYTES:
            raise InputError(expected("a shuffle key of 32 bytes", f"{len(key)} bytes", "keys"))


class Stream:
    """The keystream of batches of up to `rows` shoes, `words` words of each, in buffers that every batch uses again.

    AES in counter mode is AES of the counter blocks, each by itself, so a batch under one key is one call of AES-ECB.
    The blocks are laid out once; a batch only writes its shuffles' numbers into them. Source: protocol §5; NIST
    SP 800-38A §6.5.
    """

    def __init__(self, keys: Keys, rows: int, words: int) -> None:
        """Lay out the counter blocks of `words` words, rounded up to whole blocks of four."""
        self._keys = keys
        self._encryptor = _encryptor(keys) if isinstance(keys, bytes) else None
        blocks = -(-words // _BLOCK_WORDS)
        self._row = blocks * _BLOCK
        self._counters = np.zeros((rows, blocks, 2), dtype=">u8")
        self._counters[:, :, 1] = np.arange(blocks)
        self._asked = self._counters.data.cast("B")
        self._given = memoryview(bytearray(rows * self._row + _BLOCK))  # update_into wants room for one block more
        self.words: npt.NDArray[np.uint32] = np.frombuffer(self._given[:-_BLOCK], dtype="<u4").reshape(rows, -1)
        """The last batch, one shoe a row: uint32[rows, words rounded up to a multiple of 4]."""

    def fill(self, shoes: npt.NDArray[np.uint64]) -> None:
        """Write the keystream of these shoes, at most `rows` of them, into the first rows of `words`."""
        if self._encryptor is not None:
            self._counters[: len(shoes), :, 0] = shoes[:, np.newaxis]
            self._encryptor.update_into(self._asked[: len(shoes) * self._row], self._given)
            return
        for row, shoe in enumerate(shoes.tolist()):
            cipher = _encryptor(key_and_hand(self._keys, shoe)[0])
            cipher.update_into(self._asked[: self._row], self._given[row * self._row :])


def keystream(key: bytes, first_hand: int, count: int, words: int) -> npt.NDArray[np.uint32]:
    """Give the first `words` words of shuffles `first_hand`, `first_hand` + 1 and so on: uint32[count, words].

    Raises InputError unless the key has 32 bytes and every h is below 2^64. Source: protocol §5.
    """
    if count < 1 or words < 1:
        raise InputError(expected("1 or more shuffles and words", (count, words), "keystream"))
    check_shoes(key, first_hand, first_hand + count - 1)
    stream = Stream(key, count, words)
    stream.fill(np.uint64(first_hand) + np.arange(count, dtype=np.uint64))
    return stream.words[:, :words]


def _encryptor(key: bytes) -> CipherContext:
    return Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305  blocks of a counter never repeat
