"""The drand quicknet beacon's BLS signature (protocol §4), by py-ecc from the extra ``beacon``.

Scheme ``bls-unchained-g1-rfc9380``: the message is H(U64(round)), hashed to G1 by RFC 9380; the signature is a
point of G1, the public key one of G2. py-ecc is imported only once a signature is to be checked.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final, cast

from shoe.errors import ProofError, expected
from shoe.proof.beacon import CheckSignature
from shoe.proof.notation import sha256, u64

if TYPE_CHECKING:
    from py_ecc.bls.typing import G1Compressed, G1Uncompressed, G2Compressed, G2Uncompressed

PUBLIC_KEY: Final = bytes.fromhex(
    "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451"
    "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
)
"""The public key of quicknet, compressed (96 bytes). Source: drand's chain information for quicknet."""

SIGNATURE_BYTES: Final = 48
_SUITE: Final = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"


def signature_checker() -> CheckSignature | None:
    """Give `check_quicknet_signature`, or None where py-ecc is not installed; imports nothing."""
    return None if find_spec("py_ecc") is None else check_quicknet_signature


@contextmanager
def recursion_limit_kept() -> Iterator[None]:
    """Undo what an import inside does to the interpreter's recursion limit.

    py-ecc raises it to 100,000: CPython 3.11 then overflows its stack on deeply nested JSON instead of refusing it,
    and one request could end the server.
    """
    limit = sys.getrecursionlimit()
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


def check_quicknet_signature(round_number: int, signature: bytes) -> None:
    """Check that quicknet signed a round: `signature` is a compressed point of G1 (48 bytes).

    Raises ProofError for another length, a point that is at infinity, off the curve, off the subgroup of prime
    order or not in its one canonical form, and for a signature that is not this round's; InputError for a round
    outside 0…2^64−1. Takes about a fifth of a second. Source: protocol §4, RFC 9380, drand's scheme.
    """
    with recursion_limit_kept():
        from py_ecc.bls.hash_to_curve import hash_to_G1  # noqa: PLC0415
        from py_ecc.fields import optimized_bls12_381_FQ12 as FQ12  # noqa: PLC0415
        from py_ecc.optimized_bls12_381.optimized_curve import G2, neg  # noqa: PLC0415
        from py_ecc.optimized_bls12_381.optimized_pairing import final_exponentiate, pairing  # noqa: PLC0415

    message = sha256(u64(round_number))
    where = f"beacon signature of round {round_number}"
    point = _read_point(signature, where)
    hashed = hash_to_G1(message, _SUITE, hashlib.sha256)  # type: ignore[arg-type]  # py-ecc names the wrong type
    # e(H, key) · e(signature, −G2) = 1 takes one final exponentiation, where comparing two pairings takes two.
    by_key = pairing(_public_key(), hashed, final_exponentiate=False)
    by_generator = pairing(neg(G2), point, final_exponentiate=False)
    if final_exponentiate(by_key * by_generator) != FQ12.one():
        raise ProofError(expected("quicknet's signature of this round", signature.hex(), where))


def _read_point(signature: bytes, where: str) -> G1Uncompressed:
    from py_ecc.bls.g2_primitives import subgroup_check  # noqa: PLC0415
    from py_ecc.bls.point_compression import compress_G1, decompress_G1  # noqa: PLC0415
    from py_ecc.optimized_bls12_381.optimized_curve import is_inf  # noqa: PLC0415

    if len(signature) != SIGNATURE_BYTES:
        raise ProofError(expected(f"{SIGNATURE_BYTES} bytes", f"{len(signature)} bytes", where))
    compressed = cast("G1Compressed", int.from_bytes(signature, "big"))
    try:
        point = decompress_G1(compressed)
    except ValueError:
        raise ProofError(expected("a compressed point of the curve", signature.hex(), where)) from None
    if compress_G1(point) != compressed:
        raise ProofError(expected("the canonical form of its point", signature.hex(), where))
    if is_inf(point):
        raise ProofError(expected("a point other than infinity", signature.hex(), where))
    if not subgroup_check(point):
        raise ProofError(expected("a point of the subgroup of prime order", signature.hex(), where))
    return point


@cache
def _public_key() -> G2Uncompressed:
    from py_ecc.bls.point_compression import decompress_G2  # noqa: PLC0415

    halves = PUBLIC_KEY[:SIGNATURE_BYTES], PUBLIC_KEY[SIGNATURE_BYTES:]
    return decompress_G2(cast("G2Compressed", tuple(int.from_bytes(half, "big") for half in halves)))
