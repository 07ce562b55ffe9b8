"""The keystream and bounded draws against protocol §5's definition, and the draws' exactness by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import InputError
from shoe.proof.stream import MAX_BOUND, WORD_SPAN, below, keystream, words
from tests.reference import stream_reference as reference

KEY = bytes(range(32))
HANDS = (0, 1, 255, 256, 2**32 - 1, 2**32, 2**63, 2**64 - 1)
BOUNDS = (*range(2, 417), 511, 512, 513, 831, 832, 1000, 4096, 4097, 65_535, 65_536, 65_537)
LARGE_BOUNDS = (99_991, 2**17, 10**6 + 3, 2**20 + 1, 3 * 2**19, 2**21 - 1, 2**21)


def test_the_reference_cipher_gives_the_example_of_fips_197() -> None:
    """FIPS 197 appendix C.3."""
    cipher = reference.block_cipher(KEY, bytes.fromhex("00112233445566778899aabbccddeeff"))
    assert cipher.hex() == "8ea2b7ca516745bfeafc49904b496089"


# --- keystream and words -----------------------------------------------------------------------


@pytest.mark.parametrize("hand", HANDS)
@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 32, 1000, 2048, 2049])
def test_the_keystream_is_the_cipher_of_counter_blocks(hand: int, count: int) -> None:
    assert keystream(KEY, hand, count) == reference.keystream(KEY, hand, count)


@settings(max_examples=50)
@given(st.binary(min_size=32, max_size=32), st.integers(0, 2**64 - 1), st.integers(0, 200))
def test_every_keystream_is_the_reference_s(key: bytes, hand: int, count: int) -> None:
    assert keystream(key, hand, count) == reference.keystream(key, hand, count)


@pytest.mark.parametrize("hand", HANDS)
def test_only_the_right_half_of_the_block_counts(hand: int) -> None:
    """70,000 blocks deciphered: past two carries of the counter's bytes the left half is still the hand."""
    blocks = reference.block_decipher(KEY, keystream(KEY, hand, 16 * 70_000))
    assert all(blocks[16 * t : 16 * t + 16] == reference.counter_block(hand, t) for t in range(70_000))


@pytest.mark.parametrize("hand", HANDS)
def test_words_are_read_little_endian_without_a_seam(hand: int) -> None:
    """2,000 words: past three of the pieces in which the stream is made."""
    assert list(islice(words(KEY, hand), 2000)) == reference.words(KEY, hand, 2000)


def test_the_first_byte_of_a_word_is_its_least() -> None:
    first = keystream(KEY, 0, 4)
    assert next(words(KEY, 0)) == first[0] + first[1] * 256 + first[2] * 65_536 + first[3] * 16_777_216


def test_hands_and_keys_have_streams_of_their_own() -> None:
    starts = {keystream(key, hand, 16) for key in (KEY, bytes(32)) for hand in (*HANDS, 2)}
    assert len(starts) == 2 * (len(HANDS) + 1)


@pytest.mark.parametrize("hand", [-1, 2**64])
def test_a_hand_that_no_counter_holds_is_refused(hand: int) -> None:
    with pytest.raises(InputError, match=r"^U64: expected an integer 0…2\^64−1, got "):
        keystream(KEY, hand, 16)
    with pytest.raises(InputError, match=r"^U64: expected an integer 0…2\^64−1, got "):
        next(words(KEY, hand))


@pytest.mark.parametrize("size", [0, 16, 24, 31, 33, 64])
def test_a_key_of_another_length_is_refused(size: int) -> None:
    """A key of 16 or 24 bytes must not fall back to a smaller AES."""
    with pytest.raises(ValueError, match="key size"):
        keystream(bytes(size), 0, 16)


# --- below is exact ----------------------------------------------------------------------------


@pytest.mark.parametrize("width", range(1, 9))
def test_the_definition_is_exact_for_small_words(width: int) -> None:
    """Every word of `width` bits tried with every bound: each result as often, 2^w mod n words rejected."""
    for bound in range(2, 2**width + 1):
        results, rejected = reference.accepted(bound, width)
        assert results == dict.fromkeys(range(bound), 2**width // bound)
        assert len(rejected) == 2**width % bound


@pytest.mark.parametrize("width", range(2, 9))
def test_the_definition_rejects_only_the_first_word_of_a_result(width: int) -> None:
    """What lets the 32-bit proof below look at two words a result instead of at 2^32."""
    for bound in range(2, 2**width + 1):
        firsts = {reference.first_word_of(result, bound, width) for result in range(bound)}
        assert set(reference.accepted(bound, width)[1]) <= firsts


def drawn(word: int, bound: int) -> int | None:
    """What `below` makes of one word; None where it rejects it and asks for another."""
    try:
        return below(iter([word]), bound)
    except StopIteration:
        return None


def words_for(result: int, bound: int) -> int:
    """How many words draw `result`, seen at both ends of its interval."""
    first, beyond = (reference.first_word_of(each, bound) for each in (result, result + 1))
    assert drawn(beyond - 1, bound) == result
    if drawn(first, bound) is None:
        assert drawn(first + 1, bound) == result
        return beyond - first - 1
    assert drawn(first, bound) == result
    return beyond - first


@pytest.mark.parametrize("bound", BOUNDS)
def test_every_result_is_drawn_by_as_many_words(bound: int) -> None:
    """The whole of 2^32 words: ⌊2^32/n⌋ for each result."""
    results = range(bound) if bound < 1000 else (*range(0, bound, bound // 500), bound - 1)
    assert {words_for(result, bound) for result in results} == {WORD_SPAN // bound}


@pytest.mark.parametrize("bound", LARGE_BOUNDS)
def test_every_result_of_a_large_bound_is_drawn_by_as_many_words(bound: int) -> None:
    results = {*range(50), *range(0, bound, bound // 300), *range(bound - 50, bound)}
    assert {words_for(result, bound) for result in results} == {WORD_SPAN // bound}


@pytest.mark.parametrize("bound", [bound for bound in BOUNDS if bound < 1000])
def test_as_many_words_are_rejected_as_do_not_divide(bound: int) -> None:
    firsts = [reference.first_word_of(result, bound) for result in range(bound)]
    rejected = [word for word in firsts if drawn(word, bound) is None]
    assert len(rejected) == WORD_SPAN % bound
    assert rejected == [word for word in firsts if word * bound % WORD_SPAN < WORD_SPAN % bound]


@settings(max_examples=300)
@given(st.integers(2, MAX_BOUND), st.lists(st.integers(0, WORD_SPAN - 1), min_size=8, max_size=8))
def test_any_words_draw_what_the_definition_draws(bound: int, source: list[int]) -> None:
    never_rejected = WORD_SPAN - 1
    ours, theirs = iter([*source, never_rejected]), iter([*source, never_rejected])
    assert below(ours, bound) == reference.below(theirs, bound)
    assert list(ours) == list(theirs)


def test_a_rejected_word_is_passed_over_and_the_next_one_used() -> None:
    rejected = reference.first_word_of(0, 416)  # word 0: 0 mod 2^32 < 2^32 mod 416
    source: Iterator[int] = iter([rejected, rejected, 2**31 + 1, 7])
    assert below(source, 416) == 208
    assert next(source) == 7


@pytest.mark.parametrize("bound", [2, 4, 64, 2**20, 2**21])
def test_a_power_of_two_rejects_no_word(bound: int) -> None:
    assert [drawn(word, bound) for word in (0, 1, WORD_SPAN // bound, WORD_SPAN - 1)] == [0, 0, 1, bound - 1]


def test_the_largest_product_is_a_plain_number_in_javascript() -> None:
    assert (WORD_SPAN - 1) * MAX_BOUND < 2**53


@pytest.mark.parametrize("bound", [-(2**21), -1, 0, 1, 2**21 + 1, 2**32, 2**53])
def test_a_bound_out_of_range_is_refused_before_a_word_is_taken(bound: int) -> None:
    source = iter([5])
    with pytest.raises(InputError, match=rf"^below: expected a bound 2…2\^21, got {bound}$"):
        below(source, bound)
    assert next(source) == 5
