"""tlog-proofs and receipts: real proofs of the Go checksum database, our own, and what is refused.

`tests/vectors/tlog.json` says where each published proof comes from.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import NoteError, ProofError, SignatureError
from shoe.proof.checkpoint import Checkpoint, check_checkpoint, print_checkpoint
from shoe.proof.merkle import EMPTY_ROOT, Tree, check_consistency, leaf_hash
from shoe.proof.note import SignerKey, decode_base64, encode_base64, parse_vkey, sign_note
from shoe.proof.tlog import (
    HEADER,
    Receipt,
    TlogProof,
    check_receipt,
    check_tlog_proof,
    parse_receipt,
    parse_tlog_proof,
    print_receipt,
    print_tlog_proof,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "tlog.json").read_text("utf-8"))
GO_KEY, GO_ORIGIN = parse_vkey(VECTORS["vkey"]), VECTORS["origin"]

ORIGIN = "log.example/shoes"
LOG = SignerKey.from_seed(ORIGIN, bytes(range(32)))
RECORDS = [b'{"seq":%d}' % seq for seq in range(11)]
TREE = Tree.of(RECORDS)
HEAD = sign_note(print_checkpoint(Checkpoint(ORIGIN, TREE.size, TREE.root)), [LOG])
PROOF = TlogProof(4, TREE.inclusion(4), HEAD)
TEXT = print_tlog_proof(PROOF)
RECEIPT = Receipt(RECORDS[4], PROOF)

HASHES = st.binary(min_size=32, max_size=32)
PROOFS = st.builds(
    TlogProof,
    st.integers(0, 2**63 - 1),
    st.lists(HASHES, max_size=63).map(tuple),
    st.just(HEAD),
    st.none() | st.binary(min_size=1),
)
RECORD_LINES = st.text(st.characters(min_codepoint=0x20, exclude_categories=["Cs"]), min_size=1).map(str.encode)


def joined(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


# --- published -------------------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["proofs"], ids=lambda case: case["name"])
def test_real_proofs_of_the_go_checksum_database(case: dict[str, Any]) -> None:
    record, text = joined(case["record"]).encode(), joined(case["proof"])
    assert leaf_hash(record).hex() == case["leaf_hash"]
    index, checkpoint = check_tlog_proof(record, text, [GO_KEY], GO_ORIGIN)
    assert (index, checkpoint.size) == (case["index"], case["size"])
    assert print_tlog_proof(parse_tlog_proof(text)) == text


@pytest.mark.parametrize("case", VECTORS["proofs"], ids=lambda case: case["name"])
def test_real_proofs_with_anything_changed_are_refused(case: dict[str, Any]) -> None:
    record, text, index = joined(case["record"]).encode(), joined(case["proof"]), case["index"]
    proof = parse_tlog_proof(text)
    with pytest.raises(ProofError, match=rf"^inclusion of leaf {index} in {case['size']}: root"):
        check_tlog_proof(record[:-1], text, [GO_KEY], GO_ORIGIN)
    for at in range(len(proof.path)):
        path = (*proof.path[:at], EMPTY_ROOT, *proof.path[at + 1 :])
        with pytest.raises(ProofError, match=rf"^inclusion of leaf {index} in {case['size']}: root"):
            check_tlog_proof(record, print_tlog_proof(replace(proof, path=path)), [GO_KEY], GO_ORIGIN)
    with pytest.raises(ProofError, match=rf"^inclusion of leaf {index ^ 1} in {case['size']}: root"):
        check_tlog_proof(record, print_tlog_proof(replace(proof, index=index ^ 1)), [GO_KEY], GO_ORIGIN)
    with pytest.raises(SignatureError, match=r"^signature of sum.golang.org"):
        check_tlog_proof(record, text.replace(f"\n{case['size']}\n", f"\n{case['size'] + 1}\n"), [GO_KEY], GO_ORIGIN)
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'sum.golang.org'"):
        check_tlog_proof(record, text, [GO_KEY])


def test_a_real_consistency_path_between_two_signed_heads() -> None:
    case = VECTORS["consistency"]
    older, newer = (check_checkpoint(joined(case[age]), [GO_KEY], GO_ORIGIN) for age in ("older", "newer"))
    path = [decode_base64(line, "path") for line in case["path"]]
    assert (older.size, newer.size) == (63512409, 66321505)
    check_consistency(older.size, older.root, newer.size, newer.root, path)
    for at in range(len(path)):
        with pytest.raises(ProofError, match=r"^consistency of 63512409 with 66321505: (old|new) root"):
            check_consistency(older.size, older.root, newer.size, newer.root, [*path[:at], EMPTY_ROOT, *path[at + 1 :]])


# --- our own ---------------------------------------------------------------------------------


def test_every_record_of_a_log_is_proved_in_it() -> None:
    for index, record in enumerate(RECORDS):
        receipt = Receipt(record, TlogProof(index, TREE.inclusion(index), HEAD))
        assert check_receipt(receipt, [LOG.vkey]) == (index, Checkpoint(ORIGIN, 11, TREE.root))
        assert check_receipt(parse_receipt(print_receipt(receipt)), [LOG.vkey], ORIGIN)[0] == index


def test_a_log_of_one_record_needs_no_path() -> None:
    head = sign_note(print_checkpoint(Checkpoint(ORIGIN, 1, Tree.of(RECORDS[:1]).root)), [LOG])
    text = print_tlog_proof(TlogProof(0, (), head))
    assert text == f"{HEADER}\nindex 0\n\n{head}"
    assert check_tlog_proof(RECORDS[0], text, [LOG.vkey]) == (0, Checkpoint(ORIGIN, 1, leaf_hash(RECORDS[0])))


def test_the_text_of_a_proof_and_of_a_receipt() -> None:
    path = joined([encode_base64(found) for found in TREE.inclusion(4)])
    assert f"c2sp.org/tlog-proof@v1\nindex 4\n{path}\n{HEAD}" == TEXT
    assert print_receipt(RECEIPT) == '{"seq":4}\n' + TEXT
    assert print_tlog_proof(replace(PROOF, extra=b"at")) == TEXT.replace("index", "extra YXQ=\nindex")


@given(PROOFS)
@settings(deadline=None)
def test_a_proof_prints_and_reads_back(proof: TlogProof) -> None:
    text = print_tlog_proof(proof)
    assert parse_tlog_proof(text) == proof
    assert print_tlog_proof(parse_tlog_proof(text)) == text


@given(st.builds(Receipt, RECORD_LINES, PROOFS))
@settings(deadline=None)
def test_a_receipt_prints_and_reads_back(receipt: Receipt) -> None:
    text = print_receipt(receipt)
    assert parse_receipt(text) == receipt
    assert print_receipt(parse_receipt(text)) == text


def test_extra_bytes_prove_nothing_and_harm_nothing() -> None:
    assert check_receipt(replace(RECEIPT, proof=replace(PROOF, extra=b"anything")), [LOG.vkey])[0] == 4


SMALLER = sign_note(print_checkpoint(Checkpoint(ORIGIN, 10, Tree.of(RECORDS[:10]).root)), [LOG])
FORGED = sign_note(print_checkpoint(Checkpoint(ORIGIN, 11, TREE.root)), [SignerKey.from_seed(ORIGIN, bytes(32))])
FALSE: dict[str, tuple[Receipt, type[ProofError], str]] = {
    "another record": (replace(RECEIPT, record=RECORDS[5]), ProofError, "inclusion of leaf 4 in 11: root"),
    "a record with a space": (replace(RECEIPT, record=b'{"seq": 4}'), ProofError, "inclusion of leaf 4 in 11: root"),
    "another index": (Receipt(RECORDS[4], replace(PROOF, index=5)), ProofError, "inclusion of leaf 5 in 11: root"),
    "an index outside": (
        Receipt(RECORDS[4], replace(PROOF, index=11)),
        ProofError,
        "inclusion of leaf 11 in 11: expected a leaf index below 11",
    ),
    "a hash dropped": (
        Receipt(RECORDS[4], replace(PROOF, path=PROOF.path[1:])),
        ProofError,
        "inclusion of leaf 4 in 11: expected a path of 4 hashes, got 3",
    ),
    "a hash added": (
        Receipt(RECORDS[4], replace(PROOF, path=(*PROOF.path, EMPTY_ROOT))),
        ProofError,
        "inclusion of leaf 4 in 11: expected a path of 4 hashes, got 5",
    ),
    "the path turned round": (
        Receipt(RECORDS[4], replace(PROOF, path=PROOF.path[::-1])),
        ProofError,
        "inclusion of leaf 4 in 11: root",
    ),
    "an older head": (
        Receipt(RECORDS[4], replace(PROOF, checkpoint=SMALLER)),
        ProofError,
        "inclusion of leaf 4 in 10: root",
    ),
    "a node for a record": (
        Receipt(TREE.levels[1][0].hex().encode(), TlogProof(0, PROOF.path[1:], HEAD)),
        ProofError,
        "inclusion of leaf 0 in 11: expected a path of 4 hashes",
    ),
    "a head by nobody known": (
        Receipt(RECORDS[4], replace(PROOF, checkpoint=FORGED)),
        SignatureError,
        "note: expected a signature of",
    ),
    "a head changed after signing": (
        Receipt(RECORDS[4], replace(PROOF, checkpoint=HEAD.replace("\n11\n", "\n12\n"))),
        SignatureError,
        "signature of log.example/shoes",
    ),
}


@pytest.mark.parametrize("name", FALSE)
def test_a_receipt_that_proves_nothing_is_refused(name: str) -> None:
    receipt, error, says = FALSE[name]
    with pytest.raises(error, match=f"^{says}"):
        check_receipt(receipt, [LOG.vkey])
    with pytest.raises(error, match=f"^{says}"):
        check_tlog_proof(receipt.record, print_tlog_proof(receipt.proof), [LOG.vkey])


def test_another_origin_than_asked_for_is_refused() -> None:
    with pytest.raises(ProofError, match=r"^checkpoint origin: expected 'log.example/other', got 'log.example/shoes'"):
        check_receipt(RECEIPT, [LOG.vkey], "log.example/other")


# --- form ------------------------------------------------------------------------------------

FIRST = encode_base64(PROOF.path[0])
MALFORMED: dict[str, tuple[str, str]] = {
    "empty": ("", "tlog-proof: expected a final newline"),
    "header alone": (HEADER + "\n", "tlog-proof: expected a blank line before the checkpoint"),
    "another version": (TEXT.replace("@v1", "@v2"), f"tlog-proof header: expected {HEADER}"),
    "space after the header": (TEXT.replace("@v1", "@v1 "), f"tlog-proof header: expected {HEADER}"),
    "CRLF": (TEXT.replace("\n", "\r\n"), "tlog-proof: character 22: expected no control character"),
    "no final newline": (TEXT[:-1], "tlog-proof: expected a final newline"),
    "no index": (TEXT.replace("index 4\n", ""), "tlog-proof: expected a line 'index N'"),
    "nothing after the header": (f"{HEADER}\n\n{HEAD}", r"tlog-proof: expected a line 'index N', got \[\]"),
    "two spaces before the index": (TEXT.replace("index ", "index  "), "tlog-proof index: expected decimal digits"),
    "tab before the index": (TEXT.replace("index ", "index\t"), "tlog-proof: character 28"),
    **{
        f"index {index!r}": (TEXT.replace("index 4", f"index {index}"), "tlog-proof index: expected decimal digits")
        for index in ("", "04", "+4", "-5", "1_000", "notanumber", "٤", "4 ")
    },
    "index 2^63": (TEXT.replace("index 4", f"index {2**63}"), "tlog-proof index: expected a number 0…"),
    "index twice": (TEXT.replace("index 4", "index 4\nindex 4"), "tlog-proof path: expected base64"),
    "extra after the index": (TEXT.replace("index 4", "index 4\nextra YXQ="), "tlog-proof path: expected base64"),
    "extra twice": (TEXT.replace("index", "extra YXQ=\nextra YXQ=\nindex"), "tlog-proof: expected a line 'index N'"),
    "extra that isn't base64": (
        TEXT.replace("index", "extra !!notbase64!!\nindex"),
        "tlog-proof extra: expected base64",
    ),
    "extra with non-canonical bits": (
        TEXT.replace("index", "extra YXR=\nindex"),
        "tlog-proof extra: expected canonical",
    ),
    "extra of no bytes": (TEXT.replace("index", "extra \nindex"), "tlog-proof extra: expected extra bytes, or no line"),
    "hash that isn't base64": (TEXT.replace(FIRST, "!!notbase64!!"), "tlog-proof path: expected base64"),
    "hash of 64 bytes": (TEXT.replace(FIRST, encode_base64(bytes(64))), "tlog-proof path: expected 32 bytes"),
    "hash of 31 bytes": (TEXT.replace(FIRST, encode_base64(bytes(31))), "tlog-proof path: expected 32 bytes"),
    "hash in hex": (TEXT.replace(FIRST, PROOF.path[0].hex()), "tlog-proof path: expected 32 bytes"),
    "hash with a space": (TEXT.replace(FIRST, FIRST + " "), "tlog-proof path: expected base64"),
    "64 hashes": (TEXT.replace(FIRST, "\n".join([FIRST] * 61)), "tlog-proof path: expected at most 63 hashes, got 64"),
    "two blank lines": (TEXT.replace("\n\nlog", "\n\n\nlog"), "checkpoint size: expected decimal digits"),
    "no blank line": (TEXT.replace("\n\nlog", "\nlog"), "tlog-proof path: expected base64"),
    "checkpoint without signature": (
        TEXT[: TEXT.index("\n— ")] + "\n",
        "signature line: expected — name base64",
    ),
    "checkpoint that is no checkpoint": (
        f"{HEADER}\nindex 0\n\n{sign_note('x' + chr(10), [LOG])}",
        "checkpoint: expected",
    ),
    "checkpoint size with a leading zero": (TEXT.replace("\n11\n", "\n011\n"), "checkpoint size: expected decimal"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_text_that_is_no_tlog_proof_is_refused(name: str) -> None:
    text, says = MALFORMED[name]
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_tlog_proof(text)
    with pytest.raises(NoteError, match=f"^{says}"):
        check_tlog_proof(RECORDS[4], text, [LOG.vkey])


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"index": -1}, "tlog-proof index: expected a number 0…"),
        ({"index": 2**63}, "tlog-proof index: expected a number 0…"),
        ({"path": (EMPTY_ROOT,) * 64}, "tlog-proof path: expected at most 63 hashes, got 64"),
        ({"path": (b"short",)}, "tlog-proof path: expected 32 bytes, got b'short'"),
        ({"extra": b""}, "tlog-proof extra: expected extra bytes, or no line"),
        ({"checkpoint": ""}, "note: expected a final newline"),
        ({"checkpoint": HEAD + "more\n"}, "signature line: expected — name base64, got 'more'"),
    ],
)
def test_a_proof_that_would_not_read_back_is_refused(changed: dict[str, Any], says: str) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        replace(PROOF, **changed)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "receipt: expected a final newline"),
        ('{"seq":4}\n', "tlog-proof: expected a final newline"),
        ("\n" + TEXT, "receipt record: expected one line that isn't empty"),
        (TEXT, "tlog-proof header: expected"),
        ('{"seq":4}\n\n' + TEXT, "tlog-proof header: expected"),
        ('{"seq":4}\r\n' + TEXT, "receipt: character 9: expected no control character"),
        ('{"seq":4}\u2028' + TEXT, "tlog-proof header: expected"),
        ('{"seq":4}\n' + TEXT[:-1], "receipt: expected a final newline"),
    ],
)
def test_a_text_that_is_no_receipt_is_refused(text: str, says: str) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        parse_receipt(text)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (b"", "receipt record: expected one line that isn't empty"),
        (b"{}\n", "receipt record: expected one line that isn't empty"),
        (b"{\n}", "receipt record: expected one line that isn't empty"),
        (b"\xff", "receipt record: expected UTF-8"),
        (b"{}\r", "receipt record: character 2: expected no control character but newline"),
        (b"\0", "receipt record: character 0: expected no control character but newline"),
    ],
)
def test_a_record_that_is_not_one_line_has_no_receipt(record: bytes, says: str) -> None:
    with pytest.raises(NoteError, match=f"^{says}"):
        Receipt(record, PROOF)


def test_what_is_too_long_to_read_back_is_not_printed() -> None:
    longest = replace(PROOF, extra=bytes(749_000))
    assert parse_tlog_proof(print_tlog_proof(longest)) == longest
    with pytest.raises(NoteError, match=r"^tlog-proof: expected at most 1000000 bytes"):
        print_tlog_proof(replace(PROOF, extra=bytes(750_000)))
    with pytest.raises(NoteError, match=r"^receipt: expected at most 1000000 bytes"):
        print_receipt(Receipt(b"x" * 65_535, longest))
