"""Server seeds, the book and players' seeds against the standard library's HMAC and SHA-256 (protocol §3, §4)."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import FairshoeError, InputError, ProofError, SeedError
from shoe.proof.seeds import (
    MAX_BOOK,
    check_book_entry,
    check_seed,
    check_server_seed,
    commit_seed,
    commit_server_seed,
    parse_seed,
    seed_book,
    server_seed,
)
from tests.reference import merkle_reference

MASTER = bytes(range(32))
SEED = "17.001186c5b2220787f1cc7252d1f399a6"


def seed_by_definition(index: int) -> bytes:
    return hmac.new(MASTER, b"fairshoe/1/seed\x00" + index.to_bytes(8, "big"), hashlib.sha256).digest()


def commitment_by_definition(index: int) -> bytes:
    return hashlib.sha256(b"fairshoe/1/commit\x00" + seed_by_definition(index)).digest()


# --- server seeds ------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, 1, 2, 255, 256, 2**20 - 1, 2**53, 2**64 - 1])
def test_a_server_seed_is_the_hmac_of_its_index(index: int) -> None:
    assert server_seed(MASTER, index) == seed_by_definition(index)


@pytest.mark.parametrize("index", [0, 1, 255, 2**20 - 1])
def test_a_commitment_is_the_tagged_hash_of_the_seed(index: int) -> None:
    assert commit_server_seed(server_seed(MASTER, index)) == commitment_by_definition(index)


def test_seeds_of_other_indices_and_masters_differ() -> None:
    seeds = {server_seed(master, index) for master in (MASTER, MASTER[::-1]) for index in range(50)}
    assert len(seeds) == 100


@pytest.mark.parametrize("size", [0, 16, 31, 33, 64])
def test_a_master_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(SeedError, match=rf"^master: expected 32 bytes, got '{size} bytes'$"):
        server_seed(b"\xaa" * size, 0)


@pytest.mark.parametrize("index", [-1, 2**64])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(InputError, match=r"^U64: expected an integer 0…2\^64−1"):
        server_seed(MASTER, index)


@pytest.mark.parametrize("size", [0, 31, 33, 64])
def test_a_server_seed_of_another_length_is_refused(size: int) -> None:
    with pytest.raises(SeedError, match=rf"^server seed: expected 32 bytes, got '{size} bytes'$"):
        commit_server_seed(b"\xaa" * size)


def test_the_seed_that_opens_a_commitment_is_given_back() -> None:
    seed = server_seed(MASTER, 3)
    assert check_server_seed(seed, commitment_by_definition(3)) == seed


@pytest.mark.parametrize("bit", [0, 1, 7, 8, 100, 255])
def test_no_other_seed_opens_a_commitment(bit: int) -> None:
    seed = bytearray(server_seed(MASTER, 3))
    seed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(ProofError, match=r"^the server seed does not open the commitment$"):
        check_server_seed(bytes(seed), commitment_by_definition(3))


@pytest.mark.parametrize("commitment", [b"", commitment_by_definition(3)[:-1], commitment_by_definition(3) + b"\0"])
def test_a_commitment_of_another_length_is_never_opened(commitment: bytes) -> None:
    with pytest.raises(ProofError, match="does not open"):
        check_server_seed(server_seed(MASTER, 3), commitment)


# --- the book ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 7, 8, 9, 33])
def test_a_book_is_the_tree_of_its_commitments(size: int) -> None:
    leaves = [commitment_by_definition(index) for index in range(size)]
    book = seed_book(MASTER, size)
    assert book.size == size
    assert book.root == merkle_reference.mth(leaves)
    assert [list(book.inclusion(at)) for at in range(size)] == [merkle_reference.path(at, leaves) for at in range(size)]


@pytest.mark.parametrize("size", [-1, 0, MAX_BOOK + 1])
def test_a_book_of_another_size_is_refused(size: int) -> None:
    with pytest.raises(SeedError, match=rf"^book: expected a size 1…1048576, got {size}$"):
        seed_book(MASTER, size)


def test_each_entry_of_a_book_checks_at_its_index_and_no_other() -> None:
    book = seed_book(MASTER, 7)
    for at in range(7):
        check_book_entry(commitment_by_definition(at), at, 7, book.inclusion(at), book.root)
        for other in {*range(7)} - {at}:
            with pytest.raises(ProofError):
                check_book_entry(commitment_by_definition(at), other, 7, book.inclusion(at), book.root)


@pytest.mark.parametrize(
    ("changes"),
    [
        {"commitment": commitment_by_definition(4)},
        {"commitment": server_seed(MASTER, 3)},  # the seed itself in place of its commitment
        {"index": 7},
        {"index": 2**53},
        {"size": 4},  # not every size: a path binds no size of its own, which is why `book` records name it
        {"path": ()},
        {"path": seed_book(MASTER, 7).inclusion(2)},
        {"book_root": seed_book(MASTER, 6).root},
        {"book_root": seed_book(MASTER[::-1], 7).root},
    ],
    ids=lambda changes: f"{next(iter(changes))}-changed",
)
def test_another_entry_does_not_stand_in_the_book(changes: dict) -> None:
    book = seed_book(MASTER, 7)
    entry = {"commitment": commitment_by_definition(3), "index": 3, "size": 7, "path": book.inclusion(3)}
    with pytest.raises(ProofError):
        check_book_entry(**(entry | {"book_root": book.root} | changes))


# --- players' seeds ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", ["0", SEED, "a" * 128, "A-Z.a_z:0", "...", "-", "NULL", "0" * 32])
def test_a_player_s_seed_is_taken_as_given(seed: str) -> None:
    assert parse_seed(seed) == seed
    assert commit_seed(seed) == hashlib.sha256(b"fairshoe/1/entropy\x00" + seed.encode()).digest()
    assert check_seed(seed, commit_seed(seed)) == seed


@given(st.from_regex(r"[0-9A-Za-z._:-]{1,128}", fullmatch=True))
def test_every_seed_of_the_form_is_committed_to_by_its_tagged_hash(seed: str) -> None:
    assert commit_seed(seed) == hashlib.sha256(b"fairshoe/1/entropy\x00" + seed.encode("ascii")).digest()


BAD_SEEDS = [
    "",
    "a" * 129,
    " secret",
    "secret ",
    "secret\n",
    "\nsecret",
    "secret\0",
    "sec ret",
    "secret+",
    "secret/",
    "secret=",
    "secret,",
    '"secret"',
    "sécret",
    "ſecret",  # a long s folds to s
    "secret２",  # a full-width digit
    "secret٢",  # an Arabic digit
    "secret\u2028",
    "secret\ud800",
    b"secret",
    None,
    7,
    ["secret"],
]


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=ascii)
@pytest.mark.parametrize("take", [parse_seed, commit_seed, lambda seed: check_seed(seed, bytes(32))])
def test_a_seed_of_another_form_is_refused_without_being_shown(take, seed: object) -> None:
    with pytest.raises(SeedError, match=r"^seed: expected 1–128 characters") as refused:
        take(seed)
    assert "ecret" not in str(refused.value)


@pytest.mark.parametrize("seed", [SEED + "0", SEED[:-1], SEED.upper(), "x"])
def test_another_seed_does_not_open_a_commitment_and_is_not_shown(seed: str) -> None:
    with pytest.raises(ProofError, match=r"^the seed does not open its commitment$") as refused:
        check_seed(seed, commit_seed(SEED))
    assert seed not in str(refused.value).split()


def test_a_seed_s_commitment_is_no_server_seed_s() -> None:
    """Tags keep the two kinds of commitment apart, whatever the bytes behind them."""
    text = "a" * 32
    assert commit_seed(text) != commit_server_seed(text.encode())


def test_no_message_shows_a_master_or_server_seed() -> None:
    secret = bytes.fromhex("c0ffee") * 11
    for refuse in (
        lambda: server_seed(secret, 0),
        lambda: commit_server_seed(secret),
        lambda: check_server_seed(secret[:32], bytes(32)),
    ):
        with pytest.raises(FairshoeError) as refused:
            refuse()
        assert "c0ffee" not in str(refused.value)
        assert repr(secret[:3])[2:-1] not in str(refused.value)
