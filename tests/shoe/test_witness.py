"""Requests to witnesses and their answers: the specification's examples, a real log's cosignatures, what is refused.

`tests/vectors/witness.json` and `notes.json` say where they come from.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import NoteError, SignatureError
from shoe.proof.checkpoint import Checkpoint, cosign, print_checkpoint
from shoe.proof.note import COSIGNATURE, Note, Signature, SignerKey, parse_note, parse_vkey, print_note, sign_note
from shoe.proof.witness import (
    MAX_PATH,
    REFUSALS,
    AddCheckpoint,
    Cosigned,
    Refused,
    Stale,
    check_cosigned,
    parse_add_checkpoint,
    parse_answer,
    parse_lines,
    print_add_checkpoint,
    print_answer,
    print_lines,
)

VECTORS = Path(__file__).parents[1] / "vectors"
COSIGNED: dict[str, Any] = json.loads((VECTORS / "notes.json").read_text("utf-8"))["cosigned"]
EXAMPLES: dict[str, list[str]] = json.loads((VECTORS / "witness.json").read_text("utf-8"))
REQUEST = "".join(f"{line}\n" for line in EXAMPLES["request"])
ANSWER = "".join(f"{line}\n" for line in EXAMPLES["answer"])

LOG = SignerKey.from_seed("log.example/shoes", bytes(range(32)))
WITNESS = SignerKey.from_seed("witness.example/w1", bytes(range(1, 33)), COSIGNATURE)
STRANGER = SignerKey.from_seed("witness.example/w2", bytes(range(2, 34)), COSIGNATURE)
NOTE = sign_note(print_checkpoint(Checkpoint("log.example/shoes", 7, bytes(range(32)))), [LOG])
HASH = bytes(32)
TIME = 1_679_315_147


def lines_under(text: str) -> tuple[Signature, ...]:
    """The signature lines of a note."""
    return parse_note(text).signatures


# --- requests ----------------------------------------------------------------------------------


def test_the_request_of_the_specification() -> None:
    request = parse_add_checkpoint(REQUEST)
    assert (request.old, len(request.path)) == (20852014, 4)
    # base64 of the first hash, by the shell: base64 -d | xxd
    assert request.path[0].hex().startswith("3e544d0abc07a6a846aeea6e7b42fb83")
    assert request.checkpoint.startswith("example.com/behind-the-sofa\n20852163\n")
    assert print_add_checkpoint(request) == REQUEST


def test_a_first_request_has_no_path() -> None:
    assert parse_add_checkpoint(f"old 0\n\n{NOTE}") == AddCheckpoint(0, (), NOTE)


@given(st.integers(0, 7), st.lists(st.binary(min_size=32, max_size=32), max_size=MAX_PATH).map(tuple))
def test_every_request_is_read_as_it_was_printed(old: int, path: tuple[bytes, ...]) -> None:
    request = AddCheckpoint(old, path, NOTE)
    assert parse_add_checkpoint(print_add_checkpoint(request)) == request


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("old 20852014\n", "", "a line 'old SIZE'"),
        ("old 20852014\n", "old\n", "a line 'old SIZE'"),
        ("old 20852014\n", "Old 20852014\n", "a line 'old SIZE'"),
        ("old 20852014\n", "\n", "a line 'old SIZE'"),
        ("old 20852014\n", "old 020852014\n", "without a leading zero"),
        ("old 20852014\n", "old +20852014\n", "without a leading zero"),
        ("old 20852014\n", "old  20852014\n", "without a leading zero"),
        ("old 20852014\n", "old 20852014 \n", "without a leading zero"),
        ("old 20852014\n", "old -1\n", "without a leading zero"),
        ("old 20852014\n", "old ２０\n", "without a leading zero"),
        ("old 20852014\n", "old 9223372036854775808\n", r"0…2\^63−1"),
        ("old 20852014\n", "old 20852164\n", "at most 20852163, the checkpoint's"),
        ("Kj/0=\n", "Kj/0\n", "base64"),
        ("Kj/0=\n", "Kj/1=\n", "canonical base64"),
        ("Kj/0=\n", "Kj/0= \n", "base64"),
        ("\nPlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n", "\nAAAA\n", "32 bytes"),
        ("Kj/0=\n\n", "Kj/0=\n", "base64"),
        ("Kj/0=\n\n", "Kj/0=\n\n\n", "checkpoint size: expected decimal digits"),
        ("\n20852163\n", "\n20852163\n\n", "checkpoint root: expected 32 bytes"),
        ("20852163", "020852163", "without a leading zero"),
        ("\n\n— example", "\n— example", "base64|blank line"),
        ("— example.com/behind-the-sofa Az", "- example.com/behind-the-sofa Az", "— name base64"),
        ("old 20852014\n", "old 20852014\r\n", "no control character"),
        ("AYQ8=\n", "AYQ8=", "base64|— name|newline"),
    ],
)
def test_a_request_of_another_form_is_refused(old: str, new: str, said: str) -> None:
    assert REQUEST.count(old) == 1
    with pytest.raises(NoteError, match=said):
        parse_add_checkpoint(REQUEST.replace(old, new))


@pytest.mark.parametrize("text", ["", "\n", "old 0\n", "old 0\n\n", REQUEST[:-1], REQUEST[:200]])
def test_a_request_that_is_cut_off_is_refused(text: str) -> None:
    with pytest.raises(NoteError):
        parse_add_checkpoint(text)


@pytest.mark.parametrize(
    ("old", "path", "checkpoint", "said"),
    [
        (-1, (), NOTE, "add-checkpoint: old size: expected a number"),
        (8, (), NOTE, "add-checkpoint: old size: expected at most 7"),
        (1, (HASH,) * 64, NOTE, "add-checkpoint: path: expected at most 63 hashes, got 64"),
        (1, (HASH, bytes(31)), NOTE, "add-checkpoint: path: expected 32 bytes"),
        (1, (HASH, bytes(33)), NOTE, "add-checkpoint: path: expected 32 bytes"),
        (1, (), NOTE[:40], "newline|blank line"),
        (1, (), sign_note("a text\n", [LOG]), "origin, size and root"),
    ],
)
def test_no_such_request_can_be_made(old: int, path: tuple[bytes, ...], checkpoint: str, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        AddCheckpoint(old, path, checkpoint)


# --- answers -----------------------------------------------------------------------------------


def test_the_answer_of_the_specification() -> None:
    answer = parse_answer(200, ANSWER)
    assert isinstance(answer, Cosigned)
    assert [line.name for line in answer.signatures] == ["witness.example/w1"] * 2 + ["witness.example/w2"]
    # 4 bytes of key id, 8 of time, 64 of signature (C2SP tlog-cosignature).
    assert {len(line.key_id + line.signature) for line in answer.signatures} == {76}
    assert print_answer(answer) == (200, ANSWER)


@pytest.mark.parametrize("size", [0, 1, 20852014, 2**63 - 1])
def test_the_size_that_a_witness_holds(size: int) -> None:
    assert parse_answer(409, f"{size}\n") == Stale(size)
    assert print_answer(Stale(size)) == (409, f"{size}\n")


@pytest.mark.parametrize("status", [400, 403, 404, 422])
def test_a_refusal_is_its_status(status: int) -> None:
    assert parse_answer(status, "whatever it says\n") == Refused(status)
    assert print_answer(Refused(status)) == (status, "")
    assert REFUSALS[status]


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (409, "20852014", "a size and a newline"),
        (409, "", "a size and a newline"),
        (409, "\n", "decimal digits"),
        (409, "020\n", "without a leading zero"),
        (409, "20\n\n", "decimal digits"),
        (409, " 20\n", "decimal digits"),
        (409, "20\r\n", "decimal digits"),
        (409, "0x20\n", "decimal digits"),
        (409, "9223372036854775808\n", r"0…2\^63−1"),
        (200, "", "— name base64"),
        (200, "\n", "— name|without an empty one"),
        (200, ANSWER[:-1], "final newline"),
        (200, ANSWER + "\n", "without an empty one|— name"),
        (200, f"\n{ANSWER}", "without an empty one"),
        (200, ANSWER.replace("\n", "\n\n", 1), "without an empty one"),
        (200, ANSWER.replace("—", "-", 1), "— name base64"),
        (200, ANSWER.replace("CMp+", "CMp", 1), "base64"),
        (200, ANSWER.splitlines()[0] * 101 + "\n", "base64|name"),
        (200, (ANSWER.splitlines()[0] + "\n") * 101, "1 to 100 signatures"),
        (200, "— w AAAA\n", "a key id of 4 bytes"),
        (200, "— w AAAAAA==\n", "a key id of 4 bytes and a signature"),
        (200, "<html></html>\n", "— name base64"),
        (201, ANSWER, "status 200"),
        (301, "", "status 200"),
        (500, "", "status 200"),
        (0, "", "status 200"),
    ],
)
def test_an_answer_of_another_form_is_refused(status: int, text: str, said: str) -> None:
    with pytest.raises(NoteError, match=said):
        parse_answer(status, text)


def test_no_answer_has_no_lines() -> None:
    with pytest.raises(NoteError, match="1 to 100"):
        Cosigned(())


@given(
    st.lists(
        st.builds(
            Signature,
            st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1),
            st.binary(min_size=4, max_size=4),
            st.binary(min_size=1, max_size=80),
        ),
        min_size=1,
        max_size=5,
    ).map(tuple)
)
def test_lines_are_read_as_they_were_printed(lines: tuple[Signature, ...]) -> None:
    assert parse_lines(print_lines(lines)) == lines
    assert print_note(Note("text\n", lines)) == f"text\n\n{print_lines(lines)}"


# --- what an answer proves ---------------------------------------------------------------------


@pytest.mark.parametrize("vkey", COSIGNED["witnesses"])
def test_a_real_logs_witnesses_have_cosigned_its_checkpoint(vkey: str) -> None:
    text = "".join(f"{line}\n" for line in COSIGNED["note"])
    line, stated = check_cosigned(text, lines_under(text), parse_vkey(vkey))
    assert (line.name, stated.name) == (parse_vkey(vkey).name,) * 2
    # The line's own bytes 4…11; all four were made in one second.
    assert stated.timestamp_s == int.from_bytes(line.signature[:8], "big") == 0x6A122120
    assert print_lines([line]).strip() in COSIGNED["note"]


def test_lines_of_others_are_passed_over() -> None:
    text = cosign(cosign(NOTE, STRANGER, TIME), WITNESS, TIME + 1)
    line, stated = check_cosigned(NOTE, lines_under(text), WITNESS.vkey)
    assert line == lines_under(text)[2]
    assert stated == (WITNESS.vkey.name, TIME + 1)


def test_of_several_lines_by_one_witness_the_first_counts() -> None:
    text = cosign(cosign(NOTE, WITNESS, TIME), WITNESS, TIME + 1)
    assert check_cosigned(NOTE, lines_under(text), WITNESS.vkey)[1].timestamp_s == TIME


def changed(line: Signature, **changes: Any) -> tuple[Signature, ...]:
    return (line._replace(**changes),)


def test_what_is_no_cosignature_of_this_checkpoint_is_refused() -> None:
    (_, good) = lines_under(cosign(NOTE, WITNESS, TIME))
    other = sign_note(print_checkpoint(Checkpoint("log.example/shoes", 7, bytes(32))), [LOG])
    smaller = sign_note(print_checkpoint(Checkpoint("log.example/shoes", 6, bytes(range(32)))), [LOG])
    renamed = sign_note(print_checkpoint(Checkpoint("log.example/others", 7, bytes(range(32)))), [LOG])
    extended = sign_note(print_checkpoint(Checkpoint("log.example/shoes", 7, bytes(range(32)), ("more",))), [LOG])
    wrong = {
        "of another root": lines_under(cosign(other, WITNESS, TIME))[1:],
        "of another size": lines_under(cosign(smaller, WITNESS, TIME))[1:],
        "of another log": lines_under(cosign(renamed, WITNESS, TIME))[1:],
        "of an extended text": lines_under(cosign(extended, WITNESS, TIME))[1:],
        "by a stranger": lines_under(cosign(NOTE, STRANGER, TIME))[1:],
        "by the log alone": lines_under(NOTE),
        "none": (),
        "another time": changed(good, signature=(TIME + 1).to_bytes(8, "big") + good.signature[8:]),
        "a flipped bit": changed(good, signature=good.signature[:-1] + bytes([good.signature[-1] ^ 1])),
        "cut short": changed(good, signature=good.signature[:-1]),
        "without a time": changed(good, signature=good.signature[8:]),
        "a time over 2^63": changed(good, signature=b"\xff" + good.signature[1:]),
        "under another name": changed(good, name="witness.example/w9"),
        "under another key": changed(good, key_id=b"1234"),
        "the first of two bad": (*changed(good, signature=good.signature[:-1] + b"\0"), good),
    }
    for name, lines in wrong.items():
        with pytest.raises(SignatureError):
            pytest.fail(f"{name}: {check_cosigned(NOTE, lines, WITNESS.vkey)}")


def test_a_log_is_no_witness() -> None:
    with pytest.raises(NoteError, match="a witness's"):
        check_cosigned(NOTE, lines_under(NOTE), LOG.vkey)
