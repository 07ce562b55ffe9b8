"""RFC 6962 §2.1 to §2.1.2 as the RFC states them, recursive and slow, and the verifiers of RFC 9162.

Imports nothing of the project, so that its trees can be held against this.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence


def mth(leaves: Sequence[bytes]) -> bytes:
    """MTH(D[n]): the Merkle tree hash of the leaves' bytes."""
    if not leaves:
        return hashlib.sha256().digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = largest_power_of_two_below(len(leaves))
    return hashlib.sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PATH(m, D[n]): the audit path of the (m+1)th leaf."""
    if len(leaves) == 1:
        return []
    k = largest_power_of_two_below(len(leaves))
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def proof(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    """PROOF(m, D[n]) for 0 < m ≤ n: the consistency path from the first m leaves."""
    return subproof(m, leaves, True)


def subproof(m: int, leaves: Sequence[bytes], b: bool) -> list[bytes]:
    """SUBPROOF(m, D[n], b): b says whether the m leaves are a whole subtree of the old tree that began at 0."""
    if m == len(leaves):
        return [] if b else [mth(leaves)]
    k = largest_power_of_two_below(len(leaves))
    if m <= k:
        return [*subproof(m, leaves[:k], b), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]


def largest_power_of_two_below(n: int) -> int:
    """Give the k of the RFC: a power of two with k < n ≤ 2k, for n > 1."""
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def climb_inclusion(index: int, size: int, leaf_hash: bytes, path: Sequence[bytes]) -> bytes | None:
    """RFC 9162 §2.1.3.2, which never splits a tree: the root reached, None where the path has another length."""
    fn, sn, r = index, size - 1, leaf_hash
    for p in path:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            r = hashlib.sha256(b"\x01" + p + r).digest()
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            r = hashlib.sha256(b"\x01" + r + p).digest()
        fn, sn = fn >> 1, sn >> 1
    return r if sn == 0 else None


def climb_consistency(first: int, second: int, path: Sequence[bytes]) -> tuple[bytes, bytes] | None:
    """RFC 9162 §2.1.4.2 for 0 < first < second: both roots reached, None where the path has another length.

    Where first is a power of two the caller puts the first root before the path, as the RFC's step 2 does.
    """
    fn, sn = first - 1, second - 1
    while fn & 1:
        fn, sn = fn >> 1, sn >> 1
    fr = sr = path[0]
    for c in path[1:]:
        if sn == 0:
            return None
        if fn & 1 or fn == sn:
            fr = hashlib.sha256(b"\x01" + c + fr).digest()
            sr = hashlib.sha256(b"\x01" + c + sr).digest()
            while not fn & 1 and fn:
                fn, sn = fn >> 1, sn >> 1
        else:
            sr = hashlib.sha256(b"\x01" + sr + c).digest()
        fn, sn = fn >> 1, sn >> 1
    return (fr, sr) if sn == 0 else None
