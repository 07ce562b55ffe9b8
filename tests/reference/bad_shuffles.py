"""Shuffles as they should not be, many shoes at once; each returns orders, shoes × n, of the ids 0…n−1.

Imports nothing of ours.
"""

from __future__ import annotations

import hashlib

import numpy as np

Orders = np.ndarray


def modulo_16_bits(generator: np.random.Generator, n: int, shoes: int) -> Orders:
    """Fisher and Yates with each draw a 16-bit word modulo the bound: small results come up too often."""
    return _swapped(n, shoes, lambda at: at + generator.integers(0, 2**16, shoes) % (n - at))


def swap_with_any_card(generator: np.random.Generator, n: int, shoes: int) -> Orders:
    """Every card changes places with any card: nⁿ equal chances can't be spread evenly over n! orders."""
    return _swapped(n, shoes, lambda at: generator.integers(0, n, shoes))


def off_by_one(generator: np.random.Generator, n: int, shoes: int) -> Orders:
    """A card never stays where it is (Sattolo): only orders of one single cycle come up."""
    return _swapped(n, shoes, lambda at: generator.integers(min(at + 1, n - 1), n, shoes))


def rotated_digest(generator: np.random.Generator, n: int, shoes: int) -> Orders:
    """Sort the cards by one SHA-512 digest, rotated by one bit more for each card: neighbours' keys hang together."""
    seeds = generator.bytes(32 * shoes)
    digests = b"".join(hashlib.sha512(seeds[32 * shoe :][:32]).digest() for shoe in range(shoes))
    bits = np.unpackbits(np.frombuffer(digests, dtype=np.uint8)).reshape(shoes, 512)
    key, keys = np.zeros(shoes, dtype=np.uint64), np.empty((shoes, n), dtype=np.uint64)
    for step in range(64 + n):
        if step >= 64:
            keys[:, step - 64] = key
        key = key << np.uint64(1) | bits[:, step % 512]
    return keys.argsort(axis=1, kind="stable").astype(np.uint16)


def small_seed(generator: np.random.Generator, n: int, shoes: int, bits: int = 32) -> Orders:
    """Sort by keys that follow, by splitmix64, from a seed of a few bits: the same shoe comes up again."""
    seeds = generator.integers(0, 2**bits, shoes, dtype=np.uint64)
    state = seeds[:, None] * np.uint64(2**16) + np.arange(n, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        state = (state ^ state >> np.uint64(shift)) * np.uint64(factor)
    return state.argsort(axis=1, kind="stable").astype(np.uint16)


def one_riffle(generator: np.random.Generator, n: int, shoes: int) -> Orders:
    """Cut and interleave once (Gilbert, Shannon, Reeds): at most two rising sequences."""
    from_right = generator.integers(0, 2, (shoes, n), dtype=np.int64)
    left_size = n - from_right.sum(axis=1, keepdims=True)
    left, right = np.cumsum(1 - from_right, axis=1) - 1, np.cumsum(from_right, axis=1) - 1 + left_size
    return np.where(from_right == 1, right, left).astype(np.uint16)


def _swapped(n: int, shoes: int, partner: object) -> Orders:
    orders = np.tile(np.arange(n, dtype=np.uint16), (shoes, 1))
    each = np.arange(shoes)
    for at in range(n):
        with_card = partner(at)  # type: ignore[operator]
        orders[:, at], orders[each, with_card] = orders[each, with_card], orders[:, at].copy()
    return orders
