"""Receipts: a record with C2SP's tlog-proof that it is in a log, to be checked offline (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shoe.errors import NoteError, expected
from shoe.proof.checkpoint import Checkpoint, check_checkpoint, parse_checkpoint
from shoe.proof.merkle import HASH_BYTES, check_inclusion, leaf_hash
from shoe.proof.note import (
    VerifierKey,
    check_number,
    check_text,
    decode_base64,
    encode_base64,
    parse_decimal,
    parse_note,
)

HEADER: Final = "c2sp.org/tlog-proof@v1"
MAX_PATH: Final = 63
"""Hashes in the longest path: a log has fewer than 2^63 leaves."""

_INDEX: Final = "index "
_EXTRA: Final = "extra "


@dataclass(frozen=True, slots=True)
class TlogProof:
    """What shows a record to be in a log: its index, the path of 32-byte hashes, the signed checkpoint's text.

    `extra` is for applications and proves nothing; None where there is none. Nothing is checked but the form:
    raises NoteError for an index outside 0…2^63−1, over 63 hashes, one that isn't 32 bytes long, empty extra
    bytes, or a text that isn't a signed checkpoint.
    """

    index: int
    path: tuple[bytes, ...]
    checkpoint: str
    extra: bytes | None = None

    def __post_init__(self) -> None:
        check_number(self.index, "tlog-proof index")
        if len(self.path) > MAX_PATH:
            raise NoteError(expected(f"at most {MAX_PATH} hashes", len(self.path), "tlog-proof path"))
        for found in self.path:
            if len(found) != HASH_BYTES:
                raise NoteError(expected("32 bytes", found, "tlog-proof path"))
        if self.extra == b"":
            raise NoteError(expected("extra bytes, or no line for them", self.extra, "tlog-proof extra"))
        parse_checkpoint(parse_note(self.checkpoint).text)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A record's bytes and the proof that they are in a log.

    A record is one line of UTF-8 without its newline, as canonical JSON is; NoteError for any other bytes.
    """

    record: bytes
    proof: TlogProof

    def __post_init__(self) -> None:
        if not self.record or b"\n" in self.record:
            raise NoteError(expected("one line that isn't empty", self.record, "receipt record"))
        try:
            check_text(self.record.decode() + "\n", "receipt record")
        except UnicodeDecodeError:
            raise NoteError(expected("UTF-8", self.record, "receipt record")) from None


def parse_tlog_proof(text: str) -> TlogProof:
    """Read a tlog-proof; the inverse of `print_tlog_proof`. Nothing is proved yet.

    Raises NoteError for another header, a line that is missing or out of order, numbers and base64 that don't
    print back the same, and as `TlogProof` does. Source: C2SP tlog-proof.
    """
    head, blank, checkpoint = check_text(text, "tlog-proof").partition("\n\n")
    if not blank:
        raise NoteError(expected("a blank line before the checkpoint", text[-40:], "tlog-proof"))
    header, *lines = head.split("\n")
    if header != HEADER:
        raise NoteError(expected(HEADER, header, "tlog-proof header"))
    extra = None
    if lines and lines[0].startswith(_EXTRA):
        extra = decode_base64(lines.pop(0).removeprefix(_EXTRA), "tlog-proof extra")
    if not lines or not lines[0].startswith(_INDEX):
        raise NoteError(expected("a line 'index N'", lines[:1], "tlog-proof"))
    index = parse_decimal(lines.pop(0).removeprefix(_INDEX), "tlog-proof index")
    path = tuple(decode_base64(line, "tlog-proof path") for line in lines)
    return TlogProof(index, path, checkpoint, extra)


def print_tlog_proof(proof: TlogProof) -> str:
    """Print a tlog-proof: header, extra if any, index, path, a blank line and the checkpoint as it is.

    Raises NoteError where it is over 1,000,000 bytes.
    """
    lines = [HEADER]
    if proof.extra is not None:
        lines.append(_EXTRA + encode_base64(proof.extra))
    lines += [f"{_INDEX}{proof.index}", *map(encode_base64, proof.path), "", proof.checkpoint]
    return check_text("\n".join(lines), "tlog-proof")


def check_tlog_proof(
    record: bytes, text: str, vkeys: Iterable[VerifierKey], origin: str | None = None
) -> tuple[int, Checkpoint]:
    """Check that a record's bytes are in a log; give the index and the checkpoint that cover it.

    The keys, and the origin as in `check_checkpoint`, are the caller's: a proof is only hashes. Raises
    NoteError for a text of the wrong form, SignatureError as `check_note`, and ProofError where the path
    doesn't lead from this record to the checkpoint's root or the origin is another. Source: protocol §9,
    C2SP tlog-proof.
    """
    return _check(record, parse_tlog_proof(text), vkeys, origin)


def parse_receipt(text: str) -> Receipt:
    """Read a receipt, a record on one line and its tlog-proof; the inverse of `print_receipt`.

    Raises NoteError as `Receipt` and `parse_tlog_proof` do. That the record is canonical JSON is for its own
    parser to say, after the check.
    """
    record, _, proof = check_text(text, "receipt").partition("\n")
    return Receipt(record.encode(), parse_tlog_proof(proof))


def print_receipt(receipt: Receipt) -> str:
    """Print a receipt, the record, a newline, the tlog-proof; NoteError where it is over 1,000,000 bytes."""
    return check_text(f"{receipt.record.decode()}\n{print_tlog_proof(receipt.proof)}", "receipt")


def check_receipt(receipt: Receipt, vkeys: Iterable[VerifierKey], origin: str | None = None) -> tuple[int, Checkpoint]:
    """Check that a receipt's record is in the log, as `check_tlog_proof` does."""
    return _check(receipt.record, receipt.proof, vkeys, origin)


def _check(record: bytes, proof: TlogProof, vkeys: Iterable[VerifierKey], origin: str | None) -> tuple[int, Checkpoint]:
    checkpoint = check_checkpoint(proof.checkpoint, vkeys, origin)
    check_inclusion(leaf_hash(record), proof.index, checkpoint.size, proof.path, checkpoint.root)
    return proof.index, checkpoint
