"""Keystream by the batch against the scalar stream, the block cipher's definition, and the worked vectors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from audit.keystream import Stream, keystream
from shoe.errors import InputError
from shoe.proof.stream import keystream as scalar_keystream
from tests.audit.scalar_block import key
from tests.reference import stream_reference

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "protocol.json").read_text())
KEY = key("keystream")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"h{vector['hand']}")
def test_the_vectors_words(vector: dict) -> None:
    count = vector["words_used_by_shuffle"] + 1
    row = keystream(bytes.fromhex(vector["shuffle_key"]), vector["hand"], 1, count)[0]
    assert row[:8].tobytes().hex() == vector["keystream_first_32"]
    assert row[-1] == vector["next_word_after_shuffle"]


@pytest.mark.parametrize("first", [0, 1, 255, 256, 2**32 - 2, 2**63 - 1, 2**64 - 5])
def test_every_shuffle_has_the_stream_of_the_definition(first: int) -> None:
    table = keystream(KEY, first, 5, 415)
    assert table.shape == (5, 415)
    for row, hand in zip(table, range(first, first + 5), strict=True):
        assert row.tobytes() == stream_reference.keystream(KEY, hand, 4 * 415)
        assert row.tobytes() == scalar_keystream(KEY, hand, 4 * 415)


@pytest.mark.parametrize("words", [1, 3, 4, 5, 6])
def test_words_need_not_fill_their_blocks(words: int) -> None:
    assert keystream(KEY, 9, 2, words).tolist() == [stream_reference.words(KEY, hand, words) for hand in (9, 10)]


def test_a_stream_gives_any_shoes_in_any_order_from_buffers_used_again() -> None:
    stream = Stream(KEY, 4, 8)
    for shoes in ([3, 1, 2**40, 3], [7, 0]):
        stream.fill(np.array(shoes, np.uint64))
        assert stream.words[: len(shoes)].tolist() == [stream_reference.words(KEY, shoe, 8) for shoe in shoes]


def test_many_keys_give_the_first_shuffle_of_each() -> None:
    keys = [key(number) for number in range(5)]
    stream = Stream(keys, 3, 52)
    stream.fill(np.array([4, 0, 2], np.uint64))
    assert stream.words.tolist() == [stream_reference.words(keys[shoe], 0, 52) for shoe in (4, 0, 2)]


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_other_keys_are_refused(length: int) -> None:
    with pytest.raises(InputError, match=f"keys: expected a shuffle key of 32 bytes, got '{length} bytes'"):
        keystream(bytes(length), 0, 1, 1)


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (-1, 2), (2**64, 1), (2**64 - 1, 2)])
def test_shuffles_beyond_64_bits_are_refused(first: int, count: int) -> None:
    with pytest.raises(InputError, match="shoes: expected shoes within 0…18446744073709551615"):
        keystream(KEY, first, count, 1)


@pytest.mark.parametrize(("count", "words"), [(0, 1), (1, 0), (-1, 4)])
def test_nothing_is_refused(count: int, words: int) -> None:
    with pytest.raises(InputError, match="keystream: expected 1 or more shuffles and words"):
        keystream(KEY, 0, count, words)
