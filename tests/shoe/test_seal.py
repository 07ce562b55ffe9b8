"""Transcript, seal and keys against hand-printed bytes and HKDF written from RFC 5869 (protocol §4)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from shoe.errors import CanonicalError, InputError, RecordError, RulesError
from shoe.game.rules import parse_rules
from shoe.proof.openings import commit_deck, deal_deck
from shoe.proof.records import OpenEntropy, Seed
from shoe.proof.seal import (
    BeaconPin,
    BeaconRound,
    ClientSeed,
    Keys,
    Transcript,
    derive_keys,
    parse_transcript,
    seal_transcript,
)
from tests.reference import hkdf_reference

CLIENT_SEED = "17.c0ffee86c5b2220787f1cc7252d1f399"
RULES: dict[str, Any] = {
    "burn": "none", "coups": None, "cut": {"from": 7, "to": 7}, "decks": 8, "entropy": "two_phase",
    "game": "punto_banco", "last_coup": "drawn_in", "shuffle": "shoe",
}  # fmt: skip
TRANSCRIPT: dict[str, Any] = {
    "protocol": "fairshoe/1", "log": "fairshoe.example/log", "shoe": "shoe-1", "table": 'table "1"', "rules": RULES,
    "book": {"root": "0b" * 32, "size": 4}, "index": 3, "commitment": "0c" * 32,
    "client_seeds": [{"client": "guest-0", "seed": CLIENT_SEED}, {"client": "guest-1", "seed": "x"}], "beacon": None,
}  # fmt: skip
PRINTED = (
    '{"beacon":null,"book":{"root":"' + "0b" * 32 + '","size":4},"client_seeds":[{"client":"guest-0","seed":"'
    '17.c0ffee86c5b2220787f1cc7252d1f399"},{"client":"guest-1","seed":"x"}],"commitment":"' + "0c" * 32 + '",'
    '"index":3,"log":"fairshoe.example/log","protocol":"fairshoe/1","rules":{"burn":"none","coups":null,"cut":'
    '{"from":7,"to":7},"decks":8,"entropy":"two_phase","game":"punto_banco","last_coup":"drawn_in","shuffle":"shoe"},'
    '"shoe":"shoe-1","table":"table \\"1\\""}'
)
ROUND = {"chain": "0d" * 32, "round": 1000, "randomness": "0e" * 32, "signature": "8f" * 48}


def canonical(value: dict[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def transcript(**changes: Any) -> Transcript:
    return parse_transcript(canonical(TRANSCRIPT | changes))


# --- transcript and seal -----------------------------------------------------------------------


def test_the_transcript_is_printed_as_by_hand() -> None:
    assert transcript().to_bytes().decode() == PRINTED


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"client_seeds": []},
        {"client_seeds": [{"client": f"c{n}", "seed": "s" * 128} for n in range(64)]},
        {"beacon": ROUND},
        {"rules": RULES | {"limits": {"max": [1, None, True, "x"], "min": -5}}},
        {"rules": RULES | {"shuffle": "coup", "cut": None, "coups": 2**20}},
    ],
)
def test_a_transcript_prints_back_to_the_same_bytes(changes: dict[str, Any]) -> None:
    data = canonical(TRANSCRIPT | changes)
    assert parse_transcript(data).to_bytes() == data


def test_the_seal_is_the_tagged_hash_of_the_transcript() -> None:
    assert seal_transcript(transcript()) == hashlib.sha256(b"fairshoe/1/seal\x00" + PRINTED.encode()).digest()


CHANGED: dict[str, Any] = {
    "log": "fairshoe.example/other",
    "shoe": "shoe-2",
    "table": "table 1",
    "rules": RULES | {"further": 1},
    "book": {"root": "0b" * 32, "size": 5},
    "index": 2,
    "commitment": "0d" * 32,
    "client_seeds": TRANSCRIPT["client_seeds"][::-1],
    "beacon": ROUND,
}


def test_every_key_but_the_protocol_s_name_can_change() -> None:
    assert set(CHANGED) == set(TRANSCRIPT) - {"protocol"}


@pytest.mark.parametrize("key", CHANGED)
def test_a_change_of_any_key_changes_the_seal(key: str) -> None:
    assert seal_transcript(transcript(**{key: CHANGED[key]})) != seal_transcript(transcript())


BAD: list[tuple[str, Any, type[InputError], str]] = [
    ("protocol", "fairshoe/2", RecordError, "protocol: expected fairshoe/1"),
    ("log", "fairshoe example", RecordError, "log: expected a log's origin"),
    ("log", "a+b", RecordError, "log: expected a log's origin"),
    ("shoe", "", RecordError, "shoe: expected 1–128 characters"),
    ("table", "t" * 129, RecordError, "table: expected 1–128 characters"),
    ("rules", RULES | {"decks": 17}, RulesError, "rules.decks: expected an integer 1…16"),
    ("rules", None, RulesError, "rules: expected an object"),
    ("book", "0b" * 32, RecordError, "book: expected an object"),
    ("book", {"root": "0B" * 32, "size": 4}, RecordError, "book.root: expected 64 characters of lower-case hex"),
    ("book", {"root": "0b" * 32, "size": 0}, RecordError, "book.size: expected an integer 1…1048576"),
    ("book", {"root": "0b" * 32}, RecordError, "book: expected the key size"),
    ("index", -1, RecordError, "index: expected an integer 0…"),
    ("index", True, RecordError, "index: expected an integer 0…"),
    ("commitment", "0c" * 31, RecordError, "commitment: expected 64 characters"),
    ("client_seeds", {}, RecordError, "client_seeds: expected a list of 0…64 items"),
    ("client_seeds", [{"client": "c", "seed": "s"}] * 65, RecordError, "client_seeds: expected a list of 0…64 items"),
    ("client_seeds", [{"client": "C", "seed": "s"}], RecordError, "client_seeds[0].client: expected 1–36 characters"),
    ("client_seeds", [{"client": "c", "seed": ""}], RecordError, "client_seeds[0].seed: seed: expected 1–128"),
    ("client_seeds", [{"client": "c"}], RecordError, "client_seeds[0]: expected the key seed"),
    ("beacon", ROUND | {"round": 0}, RecordError, "beacon.round: expected an integer 1…"),
    ("beacon", ROUND | {"signature": "8f" * 96}, RecordError, "beacon.signature: expected 96 characters"),
    ("beacon", {"chain": "0d" * 32, "round": 1}, RecordError, "beacon: expected the key randomness"),
    ("beacon", False, RecordError, "beacon: expected an object"),
    ("further", 1, RecordError, "the document: expected only the keys"),
]


@pytest.mark.parametrize(
    ("key", "value", "error", "message"), BAD, ids=[f"{key}-{n}" for n, (key, *_) in enumerate(BAD)]
)
def test_another_transcript_is_refused(key: str, value: Any, error: type[InputError], message: str) -> None:
    with pytest.raises(error) as refused:
        transcript(**{key: value})
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("key", TRANSCRIPT)
def test_a_transcript_without_one_key_is_refused(key: str) -> None:
    rest = {name: value for name, value in TRANSCRIPT.items() if name != key}
    with pytest.raises(RecordError, match=f"^the document: expected the key {key}, got 'no such key'$"):
        parse_transcript(canonical(rest))


def test_a_transcript_with_a_space_is_refused() -> None:
    with pytest.raises(CanonicalError, match=r"^byte 10: expected the canonical form, here b'n', got b' '$"):
        parse_transcript(PRINTED.replace(":", ": ", 1).encode())


def test_a_round_that_came_names_the_pin_it_answers() -> None:
    came = BeaconRound(b"\x0d" * 32, 1000, bytes(32), bytes(48))
    assert came.pin == BeaconPin(b"\x0d" * 32, 1000)


# --- keys --------------------------------------------------------------------------------------


def test_the_reference_gives_test_case_1_of_rfc_5869() -> None:
    """RFC 5869 appendix A.1."""
    salt, info = bytes(range(13)), bytes(range(0xF0, 0xFA))
    prk = hkdf_reference.extract(salt, b"\x0b" * 22)
    assert prk.hex() == "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"
    assert hkdf_reference.expand(prk, info, 42).hex() == (
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
    )


@pytest.mark.parametrize("label", ["a", "b", "c"])
def test_the_keys_are_hkdf_s_under_their_labels(label: str) -> None:
    seed, seal = hashlib.sha256(b"seed" + label.encode()).digest(), hashlib.sha256(b"seal" + label.encode()).digest()
    keys = derive_keys(seed, seal)
    assert keys.shuffle_key == hkdf_reference.hkdf(seed, seal, b"fairshoe/1/shuffle", 32)
    assert keys.salt_key == hkdf_reference.hkdf(seed, seal, b"fairshoe/1/salt", 32)


def test_seed_and_seal_are_not_interchangeable() -> None:
    one, other = bytes(32), bytes(range(32))
    given = [derive_keys(one, other), derive_keys(other, one), derive_keys(one, one)]
    assert len({key for keys in given for key in (keys.shuffle_key, keys.salt_key)}) == 6


# --- what is secret stays out of sight ---------------------------------------------------------


def test_keys_are_not_shown() -> None:
    assert repr(Keys(b"\xc0\xff\xee" * 11, b"\xfa\xce" * 16)) == "Keys()"


def test_a_client_s_seed_is_not_shown() -> None:
    assert CLIENT_SEED not in repr(ClientSeed("guest-0", CLIENT_SEED))
    assert CLIENT_SEED not in repr(transcript())
    chained = {
        "log": "l",
        "time": "t",
        "shoe": "s",
        "seq": 0,
        "previous": bytes(32),
        "position": 0,
        "seed": CLIENT_SEED,
    }
    assert CLIENT_SEED not in repr(Seed(**chained))
    assert CLIENT_SEED not in repr(OpenEntropy(**chained, client="guest-0"))


def test_a_deck_is_not_shown() -> None:
    """Neither cards nor salts nor the place of the cut card."""
    deck = deal_deck(derive_keys(bytes(32), bytes(32)), parse_rules(RULES))
    assert repr(deck) == "Deck(hand=0)"
    assert repr(commit_deck([0, 1], bytes(32), 5, 45)) == "Deck(hand=5)"


@pytest.mark.parametrize(
    "seed", [CLIENT_SEED + " ", CLIENT_SEED + "é", CLIENT_SEED * 5, [CLIENT_SEED], {"seed": CLIENT_SEED}]
)
def test_no_refusal_of_a_transcript_shows_a_seed(seed: Any) -> None:
    data = json.dumps(
        TRANSCRIPT | {"client_seeds": [{"client": "guest-0", "seed": seed}]}, sort_keys=True, separators=(",", ":")
    )
    with pytest.raises(InputError) as refused:
        parse_transcript(data.encode())
    assert "c0ffee" not in str(refused.value)
