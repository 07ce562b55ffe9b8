"""Signed notes and their keys: published notes to the byte, and many texts that are not notes.

`tests/vectors/notes.json` says where each published note comes from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import NoteError, SignatureError
from shoe.proof.note import (
    COSIGNATURE,
    ED25519,
    Note,
    Signature,
    SignerKey,
    VerifierKey,
    check_note,
    check_number,
    decode_base64,
    encode_base64,
    parse_decimal,
    parse_note,
    parse_vkey,
    print_note,
    sign_note,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "notes.json").read_text("utf-8"))
GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493  # RFC 8032 §5.1

LOG = SignerKey.from_seed("log.example/shoes", bytes(range(32)))
OTHER = SignerKey.from_seed("other.example", bytes(32))
TEXT = "one\n\ntwo\n"
NOTE = sign_note(TEXT, [LOG])
LINE = NOTE.removeprefix(TEXT + "\n")
VKEY = str(LOG.vkey)
LOG_NAME, LOG_ID = LOG.vkey.name, LOG.vkey.key_id.hex()

NAMES = st.text(min_size=1, max_size=20).filter(
    lambda name: "+" not in name and not any(c.isspace() or c < " " or "\ud800" <= c <= "\udfff" for c in name)
)
PLAIN = st.characters(min_codepoint=0x20, exclude_categories=["Cs"]) | st.just("\n")
TEXTS = st.text(PLAIN).map(lambda text: text + "\n")
LINES = st.builds(Signature, NAMES, st.binary(min_size=4, max_size=4), st.binary(min_size=1, max_size=80))
NOTES = st.builds(Note, TEXTS, st.lists(LINES, min_size=1, max_size=5).map(tuple))


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def case_name(case: dict[str, Any]) -> str:
    return str(case["name"])


# --- published -------------------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["notes"], ids=case_name)
def test_published_notes_are_signed_by_their_published_keys(case: dict[str, Any]) -> None:
    text, keys = joined(case["note"]), tuple(map(parse_vkey, case["vkeys"]))
    note, signers = check_note(text, keys)
    assert signers == keys
    assert print_note(note) == text
    assert text.startswith(note.text + "\n— ")


@pytest.mark.parametrize("case", VECTORS["signers"], ids=case_name)
def test_published_seeds_give_the_published_keys(case: dict[str, Any]) -> None:
    assert str(SignerKey.from_seed(case["name"], bytes.fromhex(case["seed"])).vkey) == case["vkey"]


def test_signing_gives_the_published_note_to_the_byte() -> None:
    signers = [SignerKey.from_seed(case["name"], bytes.fromhex(case["seed"])) for case in VECTORS["signers"]]
    published = joined(VECTORS["notes"][2]["note"])
    assert sign_note(parse_note(published).text, signers) == published


def test_a_key_signs_as_rfc_8032_test_2() -> None:
    key = SignerKey.from_seed("x", bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb"))
    assert key.vkey.public_key.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    assert key.sign(b"\x72").hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )


@pytest.mark.parametrize(
    ("vkey", "says"),
    [
        # golang.org/x/mod sumdb/note, note_test.go: a longer key and an unknown type, ids adjusted to them.
        ("PeterNeumann+cc469956+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TWBADKEY==", "verifier key: expected"),
        ("PeterNeumann+173116ae+ZRpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", "key: expected signature type 1 or 4"),
        # transparency-dev/formats, note/note_cosigv1_test.go.
        ("bananas.sigstore.dev+12344556", r"verifier key: expected name\+id\+key"),
        ("rekor.sigstore.dev+12345678+THIS_IS_NOT_BASE64!", "verifier key: expected base64"),
        ("rekor.sigstore.dev+12345678+AwEB", "key: expected signature type 1 or 4, got 3"),
    ],
)
def test_verifier_keys_that_others_refuse(vkey: str, says: str) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_vkey(vkey)


# --- keys ------------------------------------------------------------------------------------


def test_every_part_of_a_verifier_key_counts() -> None:
    for start in range(len(VKEY)):
        for end in range(start + 1, len(VKEY) + 1):
            if VKEY[start:end] != VKEY:
                with pytest.raises(NoteError, match="key"):
                    parse_vkey(VKEY[start:end])
    for at, character in enumerate(VKEY):
        with pytest.raises(NoteError, match="key"):
            parse_vkey(VKEY[:at] + chr(ord(character) + 1) + VKEY[at + 1 :])


CHANGED_KEYS: dict[str, tuple[str, str]] = {
    "trailing newline": (VKEY + "\n", "verifier key: expected base64"),
    "leading space": (" " + VKEY, "key name: expected a name without spaces and plus"),
    "upper-case id": (VKEY.replace(LOG_ID, LOG_ID.upper()), f"verifier key {LOG_NAME}: expected key id {LOG_ID}"),
    "id of another key": (
        VKEY.replace(LOG_ID, OTHER.vkey.key_id.hex()),
        f"verifier key {LOG_NAME}: expected key id {LOG_ID}",
    ),
    "name of another key": (VKEY.replace(LOG_NAME, "other.example"), "verifier key other.example: expected key id"),
    "minus for plus": (VKEY.replace("+", "-"), r"verifier key: expected name\+id\+key"),
    "no key": (f"{LOG_NAME}+{LOG_ID}+", "key: expected signature type 1 or 4, got 0"),
    "type alone": (f"{LOG_NAME}+{LOG_ID}+AQ==", "key: expected a public key of 32 bytes, got b''"),
    "non-canonical base64 bits": (f"{LOG_NAME}+{LOG_ID}+AR==", "verifier key: expected canonical base64"),
}


@pytest.mark.parametrize("name", CHANGED_KEYS)
def test_a_changed_verifier_key_is_refused(name: str) -> None:
    text, says = CHANGED_KEYS[name]
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_vkey(text)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        *((name, "expected a name without spaces and plus") for name in ("", "a+b", "a b", "a\nb", "a\x85b")),
        *((name, "expected a name without spaces and plus") for name in ("a\u00a0b", "a\u2028b", "a\u3000b")),
        ("a\tb", "character 1: expected no control character"),
        ("a\x01b", "character 1: expected no control character"),
        ("a\ud800", "character 1: expected UTF-8"),
    ],
)
def test_a_name_with_a_space_or_plus_is_refused(name: str, says: str) -> None:
    with pytest.raises(NoteError, match=f"^key name: {says}"):
        VerifierKey(name, ED25519, bytes(32))
    with pytest.raises(NoteError, match=f"^key name: {says}"):
        Note("x\n", (Signature(name, bytes(4), b"s"),))


@given(NAMES, st.sampled_from([ED25519, COSIGNATURE]), st.binary(min_size=32, max_size=32))
@settings(deadline=None)
def test_a_verifier_key_prints_and_reads_back(name: str, algorithm: int, public_key: bytes) -> None:
    key = VerifierKey(name, algorithm, public_key)
    assert parse_vkey(str(key)) == key
    assert str(parse_vkey(str(key))) == str(key)


def test_types_of_one_key_have_different_ids() -> None:
    witness = SignerKey.from_seed(LOG_NAME, bytes(range(32)), COSIGNATURE)
    assert witness.vkey.public_key == LOG.vkey.public_key
    assert witness.vkey.key_id != LOG.vkey.key_id


def test_a_signing_key_does_not_show_its_seed() -> None:
    seed = b"\x5a" * 32
    shown = repr(SignerKey.from_seed("log.example", seed))
    assert "private" not in shown.lower()
    assert not any(secret in shown for secret in (seed.hex(), repr(seed), encode_base64(seed)))


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33)])
def test_a_seed_of_another_length_is_refused_and_not_shown(seed: bytes) -> None:
    with pytest.raises(NoteError, match=f"^signing key: expected a seed of 32 bytes, got '{len(seed)} bytes'$"):
        SignerKey.from_seed("log.example", seed)


# --- form ------------------------------------------------------------------------------------


@given(NOTES)
@settings(deadline=None)
def test_a_note_prints_and_reads_back(note: Note) -> None:
    text = print_note(note)
    assert parse_note(text) == note
    assert print_note(parse_note(text)) == text


def test_the_last_blank_line_ends_the_text() -> None:
    assert parse_note(NOTE).text == TEXT
    assert parse_note(sign_note("\n", [LOG])).text == "\n"
    assert parse_note(sign_note("ends blank\n\n\n", [LOG])).text == "ends blank\n\n\n"


MALFORMED: dict[str, tuple[str, str]] = {
    "empty": ("", "note: expected a final newline"),
    "CRLF": (NOTE.replace("\n", "\r\n"), r"note: character 3: .*got '\\r'"),
    "no final newline": (NOTE[:-1], "note: expected a final newline"),
    "two final newlines": (NOTE + "\n", "signature line: expected — name base64, got ''"),
    "tab in the text": (NOTE.replace("one", "o\te"), r"note: character 1: .*got '\\t'"),
    "NUL in the text": (NOTE.replace("one", "o\0e"), r"note: character 1: .*got '\\x00'"),
    "vertical tab": (NOTE.replace("one", "o\x0be"), r"note: character 1: .*got '\\x0b'"),
    "U+001F": (NOTE.replace("one", "o\x1fe"), r"note: character 1: .*got '\\x1f'"),
    "escape in a name": (NOTE.replace("— log", "— \x1blog"), "note: character 12: "),
    "lone surrogate": (NOTE.replace("one", "\ud800"), "note: character 0: expected UTF-8"),
    "no blank line": ("one\n" + LINE, "note: expected a blank line before the signatures"),
    "no signature": (TEXT, "signature line: expected — name base64, got 'two'"),
    "text only": ("one\n", "note: expected a blank line before the signatures"),
    "line after the signatures": (NOTE + "three\n", "signature line: expected — name base64, got 'three'"),
    "en dash": (NOTE.replace("—", "–"), "signature line: expected — name base64"),
    "hyphen": (NOTE.replace("—", "-"), "signature line: expected — name base64"),
    "no space after the dash": (NOTE.replace("— ", "—"), "signature line: expected — name base64"),
    "no-break space after the dash": (NOTE.replace("— ", "—\u00a0"), "signature line: expected — name base64"),
    "space before the dash": (NOTE.replace("— ", " — "), "signature line: expected — name base64"),
    "no name": (NOTE.replace(LOG_NAME, ""), "key name: expected a name without spaces and plus, got ''"),
    "space in the name": (NOTE.replace("log.", "log "), "signature line: expected base64"),
    "U+2028 in the name": (NOTE.replace("log.", "log\u2028"), "key name: expected a name without spaces"),
    "plus in the name": (NOTE.replace("log.", "log+"), "key name: expected a name without spaces and plus"),
    "no signature after the name": (f"x\n\n— {LOG_NAME}\n", "signature line: expected — name base64"),
    "empty signature": (f"x\n\n— {LOG_NAME} \n", "signature line: expected a key id of 4 bytes"),
    "key id alone": (f"x\n\n— {LOG_NAME} AAAAAA==\n", "signature line: expected a key id of 4 bytes"),
    "trailing space": (NOTE[:-1] + " \n", "signature line: expected base64"),
    "URL-safe base64": ("x\n\n— x ____-A==\n", "signature line: expected"),
    "base64 without padding": ("x\n\n— x AAAAAAAAAAA\n", "signature line: expected"),
    "non-canonical base64 bits": ("x\n\n— x AAAAAAAAAAB=\n", "signature line: expected canonical base64"),
    "base64 after its padding": ("x\n\n— x AAAAAAA=AAAA\n", "signature line: expected"),
    "full-width digits in base64": ("x\n\n— x AAAAAAA\uff11\n", "signature line: expected base64"),
    "101 signatures": (TEXT + "\n" + LINE * 101, "note: expected 1 to 100 signatures, got 101"),
    "over a million bytes": ("é" * 500_000 + "\n\n" + LINE, "note: expected at most 1000000 bytes"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_text_that_is_no_note_is_refused(name: str) -> None:
    text, says = MALFORMED[name]
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_note(text)
    with pytest.raises(NoteError, match=f"^{says}"):
        check_note(text, [LOG.vkey])


def test_u2028_does_not_end_a_line_of_the_text() -> None:
    text = sign_note("one\u2028\u2028two\x85three\n", [LOG])
    assert check_note(text, [LOG.vkey])[0].text == "one\u2028\u2028two\x85three\n"


@pytest.mark.parametrize(
    ("text", "signers", "says"),
    [
        ("", [LOG], "note text: expected a final newline"),
        ("one", [LOG], "note text: expected a final newline"),
        ("o\rne\n", [LOG], "note text: character 1"),
        ("\udfff\n", [LOG], "note text: character 0: expected UTF-8"),
        ("one\n", [], "note: expected 1 to 100 signatures, got 0"),
        ("one\n", [LOG] * 101, "note: expected 1 to 100 signatures, got 101"),
        ("x" * 999_950 + "\n", [LOG], "note: expected at most 1000000 bytes"),
        ("one\n", [SignerKey.from_seed("w", bytes(32), COSIGNATURE)], r"key: expected a log's \(0x01\) key"),
    ],
)
def test_what_would_not_read_back_is_not_signed(text: str, signers: list[SignerKey], says: str) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        sign_note(text, signers)


@pytest.mark.parametrize(
    "text", ["", "00", "007", "1_000", "+7", "-0", "-7", " 7", "7\n", "7.0", "1e3", "0x7", "٧", "1٧", "７", "²"]
)
def test_other_ways_to_write_a_number_are_refused(text: str) -> None:
    with pytest.raises(NoteError, match=r"^size: expected decimal digits without a leading zero"):
        parse_decimal(text, "size")


@pytest.mark.parametrize("number", [2**63, 10**19 - 1, -1])
def test_numbers_out_of_range_are_refused(number: int) -> None:
    with pytest.raises(NoteError, match=r"^size: expected a number 0…2\^63−1"):
        check_number(number, "size")


@given(st.integers(0, 2**63 - 1))
def test_a_number_prints_and_reads_back(number: int) -> None:
    assert parse_decimal(str(number), "size") == number


@given(st.binary(max_size=40), st.text("ABCDwxyz0189+/=\n", max_size=12))
def test_base64_has_one_text_for_each_run_of_bytes(data: bytes, text: str) -> None:
    assert decode_base64(encode_base64(data), "x") == data
    try:
        decoded = decode_base64(text, "x")
    except NoteError:
        return
    assert encode_base64(decoded) == text


# --- signatures ------------------------------------------------------------------------------


def noted(*made: bytes) -> str:
    """The text with lines that claim to be the log's."""
    return print_note(Note(TEXT, tuple(Signature(LOG_NAME, LOG.vkey.key_id, signature) for signature in made)))


def plus_group_order(made: bytes) -> bytes:
    """A second S for the same signature, which RFC 8032 §5.1.7 has verifiers refuse."""
    return made[:32] + (int.from_bytes(made[32:], "little") + GROUP_ORDER).to_bytes(32, "little")


MADE = parse_note(NOTE).signatures[0].signature
BAD_SIGNATURES: dict[str, bytes] = {
    **{f"byte {at} changed": MADE[:at] + bytes([MADE[at] ^ 1]) + MADE[at + 1 :] for at in range(64)},
    "S + L": plus_group_order(MADE),
    "last byte dropped": MADE[:-1],
    "byte added": MADE + b"\0",
    "R and S exchanged": MADE[32:] + MADE[:32],
    "zeros": bytes(64),
    "by another key": OTHER.sign(TEXT.encode()),
    "of the text without its newline": LOG.sign(TEXT.encode()[:-1]),
    "of the whole note": LOG.sign(NOTE.encode()),
}


@pytest.mark.parametrize("name", BAD_SIGNATURES)
def test_a_bad_signature_of_a_known_key_is_refused(name: str) -> None:
    with pytest.raises(SignatureError, match=f"^signature of {LOG_NAME}.*: expected a good signature"):
        check_note(noted(BAD_SIGNATURES[name]), [LOG.vkey])


def test_a_changed_text_is_refused() -> None:
    with pytest.raises(SignatureError, match=f"^signature of {LOG_NAME}"):
        check_note(NOTE.replace("two", "twO"), [LOG.vkey])


def test_signatures_of_unknown_keys_are_passed_over() -> None:
    both = sign_note(TEXT, [OTHER, LOG])
    assert check_note(both, [LOG.vkey]) == (parse_note(both), (LOG.vkey,))
    unreadable = print_note(
        Note(TEXT, (Signature("pq.example", b"\xff" * 4, bytes(5000)), *parse_note(NOTE).signatures))
    )
    assert check_note(unreadable, [LOG.vkey])[1] == (LOG.vkey,)


def test_a_known_name_with_another_id_is_another_key() -> None:
    old, new = LOG, SignerKey.from_seed(LOG_NAME, bytes(32))
    rotating = sign_note(TEXT, [old, new])
    assert check_note(rotating, [old.vkey])[1] == (old.vkey,)
    assert check_note(rotating, [new.vkey])[1] == (new.vkey,)
    assert check_note(rotating, [new.vkey, old.vkey])[1] == (old.vkey, new.vkey)


def test_one_bad_signature_spoils_a_note_with_good_ones() -> None:
    for lines in ((MADE, plus_group_order(MADE)), (bytes(64), MADE)):
        with pytest.raises(SignatureError, match=f"^signature of {LOG_NAME}"):
            check_note(noted(*lines), [LOG.vkey])
    assert check_note(noted(MADE, MADE), [LOG.vkey])[1] == (LOG.vkey,)


@pytest.mark.parametrize("vkeys", [[], [OTHER.vkey], [VerifierKey(LOG_NAME, ED25519, OTHER.vkey.public_key)]])
def test_a_note_without_a_known_signature_is_refused(vkeys: list[VerifierKey]) -> None:
    with pytest.raises(SignatureError, match=r"^note: expected a signature of .*, got \['log.example/shoes'\]"):
        check_note(NOTE, vkeys)


def test_a_key_that_is_no_point_verifies_nothing() -> None:
    key = VerifierKey("x", ED25519, b"\x02" + bytes(31))
    text = print_note(Note(TEXT, (Signature("x", key.key_id, bytes(64)),)))
    with pytest.raises(SignatureError, match=r"^signature of x\+"):
        check_note(text, [key])


def test_a_witness_key_does_not_speak_for_a_log() -> None:
    witness = SignerKey.from_seed("w", bytes(32), COSIGNATURE)
    forged = print_note(Note(TEXT, (Signature("w", witness.vkey.key_id, witness.sign(TEXT.encode())),)))
    with pytest.raises(NoteError, match=r"^key: expected a log's \(0x01\) key, got 'w\+"):
        check_note(forged, [witness.vkey])
