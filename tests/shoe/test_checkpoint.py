"""Checkpoints and cosignatures: heads of public logs with their witnesses, and what is refused.

`tests/vectors/notes.json` says where each published checkpoint comes from.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import NoteError, ProofError, SignatureError
from shoe.proof.checkpoint import (
    Checkpoint,
    Cosignature,
    check_checkpoint,
    cosign,
    cosignatures,
    parse_checkpoint,
    print_checkpoint,
)
from shoe.proof.note import COSIGNATURE, Note, Signature, SignerKey, parse_note, parse_vkey, print_note, sign_note

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "notes.json").read_text("utf-8"))
COSIGNED: dict[str, Any] = VECTORS["cosigned"]

ORIGIN = "log.example/shoes"
LOG = SignerKey.from_seed(ORIGIN, bytes(range(32)))
WITNESS = SignerKey.from_seed("witness.example/w1", bytes(range(1, 33)), COSIGNATURE)
STRANGER = SignerKey.from_seed("witness.example/w2", bytes(range(2, 34)), COSIGNATURE)
TEXT = print_checkpoint(Checkpoint(ORIGIN, 7, bytes(range(32))))
ROOT = TEXT.split("\n")[2]
NOTE = sign_note(TEXT, [LOG])
TIME = 1_679_315_147

LINES = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), min_size=1)
CHECKPOINTS = st.builds(
    Checkpoint,
    LINES,
    st.integers(0, 2**63 - 1),
    st.binary(min_size=32, max_size=32),
    st.lists(LINES, max_size=3).map(tuple),
)


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# --- checkpoints -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["checkpoints"], ids=lambda case: case["name"])
def test_published_heads_of_the_go_checksum_database(case: dict[str, Any]) -> None:
    text, key = joined(case["note"]), parse_vkey(case["vkey"])
    head = check_checkpoint(text, [key], case["origin"])
    assert head == Checkpoint(case["origin"], case["size"], base64.b64decode(case["root"]))
    assert text.startswith(print_checkpoint(head) + "\n")
    with pytest.raises(SignatureError, match=f"^signature of {key.name}"):
        check_checkpoint(text.replace(str(case["size"]), str(case["size"] + 1)), [key], case["origin"])


def test_the_go_checksum_database_is_not_named_like_its_key() -> None:
    case = VECTORS["checkpoints"][0]
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'sum.golang.org', got 'go.sum database tree'"):
        check_checkpoint(joined(case["note"]), [parse_vkey(case["vkey"])])


def test_a_checkpoint_of_our_own_log_is_named_like_its_key() -> None:
    assert check_checkpoint(NOTE, [LOG.vkey]) == Checkpoint(ORIGIN, 7, bytes(range(32)))
    assert check_checkpoint(NOTE, [LOG.vkey], ORIGIN).size == 7


def test_another_origin_is_refused() -> None:
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'other.example', got 'log.example/shoes'"):
        check_checkpoint(NOTE, [LOG.vkey], "other.example")
    sandbox = sign_note(TEXT.replace(ORIGIN, ORIGIN + "/sandbox"), [LOG])
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'log.example/shoes', got '.*/sandbox'"):
        check_checkpoint(sandbox, [LOG.vkey])


def test_a_key_that_did_not_sign_lends_no_origin() -> None:
    other = SignerKey.from_seed("other.example", bytes(32))
    text = sign_note(TEXT, [other])
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'other.example', got 'log.example/shoes'"):
        check_checkpoint(text, [LOG.vkey, other.vkey])


def test_heads_carry_both_lines_while_a_key_changes() -> None:
    successor = SignerKey.from_seed(ORIGIN, bytes(32))
    text = sign_note(TEXT, [LOG, successor])
    for known in ([LOG.vkey], [successor.vkey], [successor.vkey, LOG.vkey]):
        assert check_checkpoint(text, known).size == 7


def test_extension_lines_are_kept_and_passed_over() -> None:
    extended = Checkpoint(ORIGIN, 7, bytes(range(32)), ("note", "— no signature"))
    text = sign_note(print_checkpoint(extended), [LOG])
    assert check_checkpoint(text, [LOG.vkey]) == extended


@given(CHECKPOINTS)
@settings(deadline=None)
def test_a_checkpoint_prints_and_reads_back(checkpoint: Checkpoint) -> None:
    text = print_checkpoint(checkpoint)
    assert parse_checkpoint(text) == checkpoint
    assert print_checkpoint(parse_checkpoint(text)) == text


MALFORMED: dict[str, tuple[str, str]] = {
    "empty": ("", "checkpoint: expected a final newline"),
    "no final newline": (TEXT[:-1], "checkpoint: expected a final newline"),
    "CRLF": (TEXT.replace("\n", "\r\n"), "checkpoint: character 17: expected no control character"),
    "two lines": (f"{ORIGIN}\n7\n", "checkpoint: expected origin, size and root"),
    "empty origin": (f"\n7\n{ROOT}\n", "checkpoint: expected one line that isn't empty"),
    "blank line": (f"{TEXT}\n", "checkpoint: expected one line that isn't empty"),
    "blank line before an extension": (f"{TEXT}\nextension\n", "checkpoint: expected one line that isn't empty"),
    "U+2028 for a newline": (f"{ORIGIN}\u20287\n{ROOT}\n", "checkpoint: expected origin, size and root"),
    "tab before the size": (f"{ORIGIN}\n\t7\n{ROOT}\n", "checkpoint: character 18: expected no control character"),
    **{
        f"size {size!r}": (f"{ORIGIN}\n{size}\n{ROOT}\n", "checkpoint size: expected decimal digits without")
        for size in ("", " 7", "7 ", "07", "00", "+7", "-7", "1_000", "7.0", "1e3", "0x7", "٧", "1٧", "７", "9" * 20)
    },
    "size 2^63": (f"{ORIGIN}\n{2**63}\n{ROOT}\n", "checkpoint size: expected a number 0…"),
    "root of 31 bytes": (
        f"{ORIGIN}\n7\n{base64.b64encode(bytes(31)).decode()}\n",
        "checkpoint root: expected 32 bytes",
    ),
    "root of 33 bytes": (
        f"{ORIGIN}\n7\n{base64.b64encode(bytes(33)).decode()}\n",
        "checkpoint root: expected 32 bytes",
    ),
    "root in hex": (f"{ORIGIN}\n7\n{bytes(32).hex()}\n", "checkpoint root: expected 32 bytes"),
    "root without padding": (f"{ORIGIN}\n7\n{ROOT[:-1]}\n", "checkpoint root: expected base64"),
    "root with a space": (f"{ORIGIN}\n7\n{ROOT} \n", "checkpoint root: expected base64"),
    "root URL-safe": (f"{ORIGIN}\n7\n{'_' * 43}=\n", "checkpoint root: expected"),
    "non-canonical root bits": (f"{ORIGIN}\n7\n{ROOT[:-2]}9=\n", "checkpoint root: expected canonical base64"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_text_that_is_no_checkpoint_is_refused(name: str) -> None:
    text, says = MALFORMED[name]
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_checkpoint(text)


@pytest.mark.parametrize("name", ["two lines", "size '07'", "root of 31 bytes"])
def test_a_signed_text_that_is_no_checkpoint_is_refused(name: str) -> None:
    text, says = MALFORMED[name]
    signed = sign_note(text, [LOG])
    with pytest.raises(NoteError, match=f"^{says}"):
        check_checkpoint(signed, [LOG.vkey])
    with pytest.raises(NoteError, match=f"^{says}"):
        cosign(signed, WITNESS, TIME)
    with pytest.raises(NoteError, match=f"^{says}"):
        cosignatures(signed, [WITNESS.vkey])


@pytest.mark.parametrize(
    ("origin", "size", "root", "extensions", "says"),
    [
        ("", 1, bytes(32), (), "checkpoint: expected one line"),
        ("a\nb", 1, bytes(32), (), "checkpoint: expected one line"),
        ("a\tb", 1, bytes(32), (), "checkpoint: character 1"),
        ("a", -1, bytes(32), (), "checkpoint size: expected a number 0…"),
        ("a", 2**63, bytes(32), (), "checkpoint size: expected a number 0…"),
        ("a", 1, bytes(31), (), "checkpoint root: expected 32 bytes"),
        ("a", 1, bytes(32), ("",), "checkpoint: expected one line"),
        ("a", 1, bytes(32), ("b\n",), "checkpoint: expected one line"),
    ],
)
def test_a_checkpoint_that_would_not_read_back_is_refused(
    origin: str, size: int, root: bytes, extensions: tuple[str, ...], says: str
) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        Checkpoint(origin, size, root, extensions)


# --- cosignatures ----------------------------------------------------------------------------


def test_a_public_log_with_four_public_witnesses() -> None:
    text, keys = joined(COSIGNED["note"]), [parse_vkey(vkey) for vkey in COSIGNED["witnesses"]]
    assert check_checkpoint(text, [parse_vkey(COSIGNED["vkey"])]).size == 1432088532
    assert cosignatures(text, keys) == [Cosignature(key.name, 1779573024) for key in keys]
    assert cosignatures(text, [keys[2]]) == [Cosignature("remora.n621.de", 1779573024)]


@pytest.mark.parametrize("vkey", COSIGNED["witnesses"])
def test_a_public_cosignature_covers_the_whole_text(vkey: str) -> None:
    text, key = joined(COSIGNED["note"]), parse_vkey(vkey)
    with pytest.raises(SignatureError, match=f"^signature of {key.name}"):
        cosignatures(text.replace("1432088532", "1432088533"), [key])


def test_the_example_of_the_specification_has_the_form_it_says() -> None:
    case = VECTORS["form_only"]
    text = joined(case["note"])
    made = parse_note(text).signatures[1]
    assert print_note(parse_note(text)) == text
    assert (made.name, made.key_id.hex(), len(made.signature)) == ("witness.example.com/w1", "8d66cf3f", 72)
    assert int.from_bytes(made.signature[:8], "big") == case["timestamp_s"]


def test_a_cosignature_signs_the_bytes_of_the_specification() -> None:
    made = parse_note(cosign(NOTE, WITNESS, TIME)).signatures[1]
    message = f"cosignature/v1\ntime 1679315147\n{ORIGIN}\n7\n{ROOT}\n".encode()
    assert made.signature[:8].hex() == f"{TIME:016x}"
    Ed25519PublicKey.from_public_bytes(WITNESS.vkey.public_key).verify(made.signature[8:], message)


def test_a_cosignature_is_added_under_the_log_s_own() -> None:
    text = cosign(cosign(NOTE, WITNESS, TIME), STRANGER, 0)
    assert text.startswith(NOTE)
    assert check_checkpoint(text, [LOG.vkey]).size == 7
    both = [Cosignature("witness.example/w1", TIME), Cosignature("witness.example/w2", 0)]
    assert cosignatures(text, [STRANGER.vkey, WITNESS.vkey]) == both
    assert cosignatures(text, [WITNESS.vkey]) == both[:1]


def test_without_a_known_witness_there_are_no_cosignatures() -> None:
    assert cosignatures(NOTE, [WITNESS.vkey]) == []
    assert cosignatures(cosign(NOTE, STRANGER, TIME), [WITNESS.vkey]) == []
    assert cosignatures(cosign(NOTE, WITNESS, TIME), []) == []


@given(st.integers(0, 2**63 - 1))
@settings(deadline=None, max_examples=30)
def test_any_time_is_given_back(timestamp_s: int) -> None:
    assert cosignatures(cosign(NOTE, WITNESS, timestamp_s), [WITNESS.vkey]) == [
        Cosignature("witness.example/w1", timestamp_s)
    ]


MADE = parse_note(cosign(NOTE, WITNESS, TIME)).signatures[1].signature
LATE = 2**63
BAD_COSIGNATURES: dict[str, bytes] = {
    **{f"byte {at} changed": MADE[:at] + bytes([MADE[at] ^ 1]) + MADE[at + 1 :] for at in range(1, 72)},
    "time moved by a second": (TIME + 1).to_bytes(8, "big") + MADE[8:],
    "over the text alone": MADE[:8] + WITNESS.sign(TEXT.encode()),
    "over another checkpoint": parse_note(cosign(sign_note(TEXT.replace("7", "8"), [LOG]), WITNESS, TIME))
    .signatures[1]
    .signature,
}


@pytest.mark.parametrize("name", BAD_COSIGNATURES)
def test_a_bad_cosignature_of_a_known_witness_is_refused(name: str) -> None:
    line = Signature(WITNESS.vkey.name, WITNESS.vkey.key_id, BAD_COSIGNATURES[name])
    text = print_note(Note(TEXT, (*parse_note(NOTE).signatures, line)))
    with pytest.raises(SignatureError, match=r"^signature of witness\.example/w1\+.*: expected a good signature"):
        cosignatures(text, [WITNESS.vkey])
    assert cosignatures(text, [STRANGER.vkey]) == []
    assert check_checkpoint(text, [LOG.vkey]).size == 7


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(MADE[8:], id="no time"),
        pytest.param(MADE[:-1], id="one byte short"),
        pytest.param(MADE + b"\0", id="one byte long"),
        pytest.param(
            LATE.to_bytes(8, "big") + WITNESS.sign(f"cosignature/v1\ntime {LATE}\n{TEXT}".encode()), id="time 2^63"
        ),
    ],
)
def test_a_known_witness_s_line_of_another_form_is_refused(made: bytes) -> None:
    line = Signature(WITNESS.vkey.name, WITNESS.vkey.key_id, made)
    with pytest.raises(SignatureError, match=r"^cosignature of witness\.example/w1: expected a time below 2\^63"):
        cosignatures(print_note(Note(TEXT, (line,))), [WITNESS.vkey])


def test_keys_of_the_other_type_are_refused() -> None:
    text = cosign(NOTE, WITNESS, TIME)
    with pytest.raises(NoteError, match=r"^key: expected a witness's \(0x04\) key, got 'log.example/shoes\+"):
        cosignatures(text, [LOG.vkey])
    with pytest.raises(NoteError, match=r"^key: expected a witness's \(0x04\) key, got 'log.example/shoes\+"):
        cosign(NOTE, LOG, TIME)
    with pytest.raises(NoteError, match=r"^key: expected a log's \(0x01\) key, got 'witness.example/w1\+"):
        check_checkpoint(text, [WITNESS.vkey], ORIGIN)


@pytest.mark.parametrize("timestamp_s", [-1, 2**63])
def test_a_time_out_of_range_is_not_signed(timestamp_s: int) -> None:
    with pytest.raises(NoteError, match=r"^cosignature time: expected a number 0…2\^63−1"):
        cosign(NOTE, WITNESS, timestamp_s)


def test_a_full_note_takes_no_further_cosignature() -> None:
    with pytest.raises(NoteError, match=r"^note: expected 1 to 100 signatures, got 101"):
        cosign(sign_note(TEXT, [LOG] * 100), WITNESS, TIME)


@pytest.mark.parametrize("text", [TEXT, "", NOTE[:-1]])
def test_only_a_signed_checkpoint_is_cosigned(text: str) -> None:
    with pytest.raises(NoteError, match=r"^note: expected"):
        cosign(text, WITNESS, TIME)
