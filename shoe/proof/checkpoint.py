"""Heads of a log and witnesses' cosignatures: C2SP tlog-checkpoint and tlog-cosignature (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, NamedTuple

from shoe.errors import NoteError, ProofError, SignatureError, expected
from shoe.proof.merkle import HASH_BYTES
from shoe.proof.notation import u64
from shoe.proof.note import (
    COSIGNATURE,
    NUMBER_END,
    SIGNATURE_BYTES,
    Note,
    Signature,
    SignerKey,
    VerifierKey,
    check_note,
    check_number,
    check_text,
    decode_base64,
    encode_base64,
    parse_decimal,
    parse_note,
    print_note,
    require_type,
    signatures_by,
)

_TIME_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a log: its origin, its size 0…2^63−1 in leaves and the root (32 bytes) of these.

    `extensions` are further lines, signed but without meaning here. Raises NoteError for a root of another
    length or size out of range, and for an empty line or one with a newline.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_number(self.size, "checkpoint size")
        if len(self.root) != HASH_BYTES:
            raise NoteError(expected("32 bytes", self.root, "checkpoint root"))
        for line in (self.origin, *self.extensions):
            if not line or "\n" in line:
                raise NoteError(expected("one line that isn't empty", line, "checkpoint"))
        check_text(print_checkpoint(self), "checkpoint")


class Cosignature(NamedTuple):
    """A witness's statement, checked: its name, and the time in POSIX seconds at which this was the log's head."""

    name: str
    timestamp_s: int


def parse_checkpoint(text: str) -> Checkpoint:
    """Read the text of a checkpoint, without signatures; the inverse of `print_checkpoint`.

    Raises NoteError for fewer than three lines, an empty line, a size with anything but the decimal digits
    that print it, or a root that isn't canonical base64 of 32 bytes. Source: C2SP tlog-checkpoint.
    """
    lines = check_text(text, "checkpoint")[:-1].split("\n")
    if len(lines) < 3:
        raise NoteError(expected("origin, size and root", lines, "checkpoint"))
    origin, size, root, *extensions = lines
    return Checkpoint(
        origin,
        parse_decimal(size, "checkpoint size"),
        decode_base64(root, "checkpoint root"),
        tuple(extensions),
    )


def print_checkpoint(checkpoint: Checkpoint) -> str:
    """Print the text that a log signs: origin, size, root and extensions, each on a line."""
    root = encode_base64(checkpoint.root)
    return "".join(f"{line}\n" for line in (checkpoint.origin, checkpoint.size, root, *checkpoint.extensions))


def check_checkpoint(text: str, vkeys: Iterable[VerifierKey], origin: str | None = None) -> Checkpoint:
    """Check a signed checkpoint against a log's keys, as `check_note` does, and against its origin.

    Where no origin is given it must be the name of a key that signed. Raises NoteError and SignatureError as
    `check_note`, NoteError as `parse_checkpoint`, and ProofError for another origin. Source: protocol §9.
    """
    note, signers = check_note(text, vkeys)
    checkpoint = parse_checkpoint(note.text)
    origins = [key.name for key in signers] if origin is None else [origin]
    if checkpoint.origin not in origins:
        raise ProofError(expected(" or ".join(map(repr, origins)), checkpoint.origin, "checkpoint origin"))
    return checkpoint


def cosign(text: str, signer: SignerKey, timestamp_s: int) -> str:
    """Add a witness's line to a signed checkpoint; the time is in POSIX seconds, 0…2^63−1.

    What the witness states is that this head is consistent with every one it saw before: the caller checks
    that. Raises NoteError for a text that isn't a signed checkpoint, a log's key, or a time out of range.
    """
    require_type([signer.vkey], COSIGNATURE)
    check_number(timestamp_s, "cosignature time")
    note = parse_note(text)
    parse_checkpoint(note.text)
    made = u64(timestamp_s) + signer.sign(_cosigned_message(timestamp_s, note))
    line = Signature(signer.vkey.name, signer.vkey.key_id, made)
    return print_note(Note(note.text, (*note.signatures, line)))


def cosignatures(text: str, vkeys: Iterable[VerifierKey]) -> list[Cosignature]:
    """Check the cosignatures under a checkpoint by the witnesses given, and list them in the note's order.

    Others' signatures, the log's own among them, are passed over: none by a known witness gives an empty
    list. A witness that cosigned twice is listed twice. Raises NoteError for a text that isn't a signed
    checkpoint or a log's key among those given, and SignatureError for a bad cosignature of a given key.
    Source: C2SP tlog-cosignature.
    """
    vkeys = tuple(vkeys)
    require_type(vkeys, COSIGNATURE)
    note = parse_note(text)
    parse_checkpoint(note.text)
    return [_check_cosignature(note, key, made) for key, made in signatures_by(note, vkeys)]


def _check_cosignature(note: Note, key: VerifierKey, made: bytes) -> Cosignature:
    timestamp_s = int.from_bytes(made[:_TIME_BYTES], "big")
    if len(made) != _TIME_BYTES + SIGNATURE_BYTES or timestamp_s >= NUMBER_END:
        raise SignatureError(expected("a time below 2^63 and 64 bytes", made.hex(), f"cosignature of {key.name}"))
    key.check(_cosigned_message(timestamp_s, note), made[_TIME_BYTES:])
    return Cosignature(key.name, timestamp_s)


def _cosigned_message(timestamp_s: int, note: Note) -> bytes:
    return f"cosignature/v1\ntime {timestamp_s}\n{note.text}".encode()
