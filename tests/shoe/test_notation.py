"""Bytes of protocol §1, against FIPS 180-4's published digests and written-out bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from shoe.errors import InputError
from shoe.proof.notation import sha256, tag, u8, u32, u64


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        (b"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (b"a" * 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
    ],
)
def test_sha256_gives_the_digests_published_with_fips_180(data: bytes, digest: str) -> None:
    assert sha256(data).hex() == digest


@pytest.mark.parametrize(
    ("write", "number", "written"),
    [
        (u8, 0, "00"),
        (u8, 255, "ff"),
        (u32, 1, "00000001"),
        (u32, 2**32 - 1, "ffffffff"),
        (u64, 0x0102030405060708, "0102030405060708"),
        (u64, 2**64 - 1, "ffffffffffffffff"),
    ],
)
def test_integers_are_written_big_endian(write: Callable[[int], bytes], number: int, written: str) -> None:
    assert write(number).hex() == written


@pytest.mark.parametrize(
    ("write", "number", "place"),
    [(u8, -1, "U8"), (u8, 256, "U8"), (u32, 2**32, "U32"), (u32, -1, "U32"), (u64, 2**64, "U64"), (u64, -1, "U64")],
)
def test_integers_out_of_range_are_refused(write: Callable[[int], bytes], number: int, place: str) -> None:
    with pytest.raises(InputError, match=rf"^{place}: expected an integer 0…2\^"):
        write(number)


def test_a_tag_ends_in_zero() -> None:
    assert tag("fairshoe/1/seed") == b"fairshoe/1/seed\x00"


@pytest.mark.parametrize("text", ["séance", "fairshoe\0", "\0"])
def test_a_tag_of_other_characters_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^tag: expected ASCII without 0x00"):
        tag(text)
