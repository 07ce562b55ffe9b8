"""Protocol §5 as its definition stands: counter blocks through the bare block cipher, draws with words of any width.

Imports nothing of the project. The bounded draw is written for w-bit words, so that small widths can be enumerated
whole; with w = 32 it is the protocol's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes


def block_cipher(key: bytes, block: bytes) -> bytes:
    """AES-256 of one block of 16 bytes (FIPS 197)."""
    encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305 - one block, as AES is defined
    return encryptor.update(block) + encryptor.finalize()


def block_decipher(key: bytes, blocks: bytes) -> bytes:
    """The inverse of the block cipher, for a run of blocks."""
    decryptor = Cipher(algorithms.AES256(key), modes.ECB()).decryptor()  # noqa: S305 - as above
    return decryptor.update(blocks) + decryptor.finalize()


def counter_block(hand: int, number: int) -> bytes:
    """Counter block `number` of shuffle `hand`: the left half stays, the right half counts."""
    return hand.to_bytes(8, "big") + number.to_bytes(8, "big")


def keystream(key: bytes, hand: int, count: int) -> bytes:
    """The first `count` bytes of the stream of shuffle `hand`."""
    blocks = (count + 15) // 16
    return b"".join(block_cipher(key, counter_block(hand, number)) for number in range(blocks))[:count]


def words(key: bytes, hand: int, count: int) -> list[int]:
    """The first `count` words of four bytes, least significant byte first."""
    stream = keystream(key, hand, 4 * count)
    return [sum(stream[4 * at + byte] << (8 * byte) for byte in range(4)) for at in range(count)]


def below(source: Iterator[int], bound: int, width: int = 32) -> int:
    """Repeat m = word · n until m mod 2^w ≥ 2^w mod n; the result is m div 2^w."""
    while True:
        m = next(source) * bound
        if m & ((1 << width) - 1) >= (1 << width) % bound:
            return m >> width


def accepted(bound: int, width: int) -> tuple[Counter[int], list[int]]:
    """Try every w-bit word once: how many give each result, and the words that are rejected."""
    results: Counter[int] = Counter()
    rejected = []
    for word in range(1 << width):
        try:
            results[below(iter([word]), bound, width)] += 1
        except StopIteration:
            rejected.append(word)
    return results, rejected


def first_word_of(result: int, bound: int, width: int = 32) -> int:
    """The least word whose product with the bound lies in the interval of `result`: the only one to be rejected."""
    return -(-(result << width) // bound)


def words_that_draw(results: Iterable[tuple[int, int]]) -> list[int]:
    """A word for each (result, bound) that draws that result without rejection."""
    return [first_word_of(result, bound) + 1 for result, bound in results]
