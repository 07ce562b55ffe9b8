"""The beacon's signature: published rounds of drand quicknet, and everything that only looks like one.

Rounds 1 and 2 are the first that drand serves for chain 52db9ba7…; round 657413 is in tests/vectors/protocol.json.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from api.beacon import (
    PUBLIC_KEY,
    _public_key,
    check_quicknet_signature,
    recursion_limit_kept,
    signature_checker,
)
from shoe.errors import InputError, ProofError

with recursion_limit_kept():
    from py_ecc.bls.g2_primitives import subgroup_check
    from py_ecc.bls.point_compression import compress_G1, compress_G2, decompress_G1
    from py_ecc.optimized_bls12_381 import FQ, add, field_modulus, is_on_curve

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "protocol.json").read_text())
BEACON = json.loads(VECTORS[2]["transcript"])["beacon"]
ROUND, SIGNATURE = BEACON["round"], bytes.fromhex(BEACON["signature"])
ROUND_1 = bytes.fromhex(
    "b55e7cb2d5c613ee0b2e28d6750aabbb78c39dcc96bd9d38c2c2e12198df95571de8e8e402a0cc48871c7089a2b3af4b"
)
ROUND_2 = bytes.fromhex(
    "b6b6a585449b66eb12e875b64fcbab3799861a00e4dbf092d99e969a5eac57dd3f798acf61e705fe4f093db926626807"
)
INFINITY = bytes([0xC0]) + bytes(47)


def flipped(signature: bytes, byte: int, bit: int) -> bytes:
    changed = bytearray(signature)
    changed[byte] ^= 1 << bit
    return bytes(changed)


def on_curve(x: int) -> bool:
    """Euler's criterion for x³ + 4, the right side of G1's curve."""
    return pow(x**3 + 4, (field_modulus - 1) // 2, field_modulus) == 1


def compressed(x: int) -> bytes:
    return ((1 << 383) | x).to_bytes(48, "big")


SMALL_X = next(x for x in range(1, 50) if on_curve(x))
NO_X = next(x for x in range(1, 50) if not on_curve(x))


@pytest.mark.parametrize(("number", "signature"), [(1, ROUND_1), (2, ROUND_2), (ROUND, SIGNATURE)])
def test_a_published_round_is_good(number: int, signature: bytes) -> None:
    check_quicknet_signature(number, signature)


def test_the_key_is_a_canonical_point_of_the_subgroup() -> None:
    first, second = compress_G2(_public_key())
    assert first.to_bytes(48, "big") + second.to_bytes(48, "big") == PUBLIC_KEY
    assert subgroup_check(_public_key())


NOT_THIS_ROUNDS = {
    "previous_round": (ROUND - 1, SIGNATURE),
    "next_round": (ROUND + 1, SIGNATURE),
    "round_zero": (0, SIGNATURE),
    "round_2_for_1": (1, ROUND_2),
    "negated_point": (ROUND, flipped(SIGNATURE, 0, 5)),
    "another_point_of_the_subgroup": (
        ROUND,
        compress_G1(add(decompress_G1(int.from_bytes(SIGNATURE)), decompress_G1(int.from_bytes(ROUND_1)))).to_bytes(
            48, "big"
        ),
    ),
}


@pytest.mark.parametrize(("number", "signature"), NOT_THIS_ROUNDS.values(), ids=NOT_THIS_ROUNDS)
def test_another_rounds_signature_is_refused(number: int, signature: bytes) -> None:
    with pytest.raises(ProofError, match=f"beacon signature of round {number}: expected quicknet's signature"):
        check_quicknet_signature(number, signature)


NO_POINTS = {
    "compression_flag_missing": (flipped(SIGNATURE, 0, 7), "a compressed point of the curve"),
    "infinity_flag_on_a_point": (flipped(SIGNATURE, 0, 6), "a compressed point of the curve"),
    "x_is_no_abscissa": (compressed(NO_X), "a compressed point of the curve"),
    "x_is_p": (compressed(field_modulus), "a compressed point of the curve"),
    "x_is_p_more_than_an_abscissa": (compressed(field_modulus + SMALL_X), "a compressed point of the curve"),
    "x_is_greatest": (compressed(2**381 - 1), "a compressed point of the curve"),
    "infinity": (INFINITY, "a point other than infinity"),
    "infinity_with_sign": (flipped(INFINITY, 0, 5), "a compressed point of the curve"),
    "infinity_with_x": (flipped(INFINITY, 47, 0), "a compressed point of the curve"),
    "zeros": (bytes(48), "a compressed point of the curve"),
    "off_the_subgroup": (compressed(SMALL_X), "a point of the subgroup"),
    "empty": (b"", "48 bytes, got '0 bytes'"),
    "short": (SIGNATURE[:-1], "48 bytes, got '47 bytes'"),
    "long": (SIGNATURE + b"\0", "48 bytes, got '49 bytes'"),
    "doubled": (SIGNATURE * 2, "48 bytes, got '96 bytes'"),
}


@pytest.mark.parametrize(("signature", "wanted"), NO_POINTS.values(), ids=NO_POINTS)
def test_what_is_no_signature_is_refused(signature: bytes, wanted: str) -> None:
    with pytest.raises(ProofError, match=f"beacon signature of round {ROUND}: expected {wanted}"):
        check_quicknet_signature(ROUND, signature)


@pytest.mark.parametrize("byte", [1, 23, 47])
def test_a_flipped_bit_is_refused(byte: int) -> None:
    with pytest.raises(ProofError, match=f"beacon signature of round {ROUND}: expected"):
        check_quicknet_signature(ROUND, flipped(SIGNATURE, byte, 0))


def test_a_point_of_order_three_added_does_not_pass() -> None:
    """The pairing cannot see it: without a check of the subgroup one round would have three signatures."""
    order_3 = (FQ(0), FQ(2), FQ(1))
    assert is_on_curve(order_3, FQ(4))
    for summand in (order_3, (FQ(0), FQ(-2), FQ(1))):
        point = add(decompress_G1(int.from_bytes(SIGNATURE, "big")), summand)
        with pytest.raises(ProofError, match="a point of the subgroup of prime order"):
            check_quicknet_signature(ROUND, compress_G1(point).to_bytes(48, "big"))


@pytest.mark.parametrize("number", [-1, 2**64])
def test_a_number_that_no_round_has_is_refused(number: int) -> None:
    with pytest.raises(InputError, match="U64: expected an integer"):
        check_quicknet_signature(number, SIGNATURE)


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_without_py_ecc_there_is_no_checker() -> None:
    absent = "import sys; sys.modules['py_ecc'] = None; from api.beacon import signature_checker as s; print(s())"
    assert python(absent) == "None\n"
    assert signature_checker() is check_quicknet_signature


def test_asking_for_the_checker_loads_no_py_ecc() -> None:
    ask = "import sys; from api.beacon import signature_checker as s; s(); print('py_ecc' in sys.modules)"
    assert python(ask) == "False\n"


def test_a_check_leaves_the_recursion_limit_alone() -> None:
    """py-ecc raises it when imported; deeply nested JSON would then overflow the stack of CPython 3.11."""
    check = f"check_quicknet_signature({ROUND}, bytes.fromhex('{SIGNATURE.hex()}'))"
    limits = "print(sys.getrecursionlimit())"
    nested = "import json\ntry: json.loads('[' * 200_000)\nexcept RecursionError: print('refused')"
    imports = "import sys; from api.beacon import check_quicknet_signature"
    before, after, answer = python(f"{imports}; {limits}; {check}; {limits}\n{nested}").split()
    assert (before, answer) == (after, "refused")
