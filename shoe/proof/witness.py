"""What a log asks of its witnesses, and what they answer: `add-checkpoint` of C2SP tlog-witness (protocol §9).

A request is an old size, the consistency path from it, an empty line, and the checkpoint as the log signed it:

    old 20852014
    PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
    (further hashes)

    example.com/behind-the-sofa
    (size, root, signatures)

A witness answers 200 with its cosignature lines, 409 with the size that it has cosigned last, or refuses. Nothing is
sent here: who carries these texts is somebody else's concern.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from shoe.errors import NoteError, SignatureError, expected
from shoe.proof.checkpoint import Cosignature, cosignatures, parse_checkpoint
from shoe.proof.merkle import HASH_BYTES
from shoe.proof.note import (
    Note,
    Signature,
    VerifierKey,
    check_number,
    check_text,
    decode_base64,
    encode_base64,
    parse_decimal,
    parse_note,
    print_note,
)

MAX_PATH: Final = 63
"""Consistency hashes in one request, at most."""

SIZE_TYPE: Final = "text/x.tlog.size"
"""Media type of a 409's body."""

REFUSALS: Final = {
    400: "the request is malformed, or its old size is over the checkpoint's",
    403: "no signature under the checkpoint is by a key that it knows of this log",
    404: "it does not know this log's origin",
    422: "the consistency path does not lead from what it cosigned to this checkpoint",
}
"""What each status means with which a witness refuses for good."""

_OLD: Final = "old "
_WHERE: Final = "add-checkpoint"
_ABOVE: Final = "-\n"
"""Any text: signature lines are read and printed as those of a note under it."""


@dataclass(frozen=True, slots=True)
class AddCheckpoint:
    """A request to cosign a checkpoint, signed by its log: the size it grows from, and the consistency path from there.

    Nothing is checked but the form: raises NoteError for an old size that isn't 0…the checkpoint's, over 63 hashes, one
    that isn't 32 bytes long, and a text that isn't a signed checkpoint.
    """

    old: int
    path: tuple[bytes, ...]
    checkpoint: str

    def __post_init__(self) -> None:
        check_number(self.old, f"{_WHERE}: old size")
        if len(self.path) > MAX_PATH:
            raise NoteError(expected(f"at most {MAX_PATH} hashes", len(self.path), f"{_WHERE}: path"))
        for found in self.path:
            if len(found) != HASH_BYTES:
                raise NoteError(expected("32 bytes", found, f"{_WHERE}: path"))
        size = parse_checkpoint(parse_note(self.checkpoint).text).size
        if self.old > size:
            raise NoteError(expected(f"at most {size}, the checkpoint's", self.old, f"{_WHERE}: old size"))


@dataclass(frozen=True, slots=True)
class Cosigned:
    """Status 200: signature lines, at least one, none of them checked (see `check_cosigned`)."""

    signatures: tuple[Signature, ...]

    def __post_init__(self) -> None:
        Note(_ABOVE, self.signatures)


@dataclass(frozen=True, slots=True)
class Stale:
    """Status 409: the size 0…2^63−1 that the witness cosigned last; the consistency path has to begin there."""

    size: int

    def __post_init__(self) -> None:
        check_number(self.size, "size that the witness cosigned last")


@dataclass(frozen=True, slots=True)
class Refused:
    """A status of `REFUSALS`; NoteError for any other."""

    status: int

    def __post_init__(self) -> None:
        if self.status not in REFUSALS:
            raise NoteError(expected("status 200, 400, 403, 404, 409 or 422", self.status, _WHERE))


Answer = Cosigned | Stale | Refused


def parse_add_checkpoint(text: str) -> AddCheckpoint:
    """Read a request; the inverse of `print_add_checkpoint`. Neither signature nor path is checked.

    Raises NoteError as `AddCheckpoint` does, for a line that is missing or out of order, and for numbers and base64
    that don't print back the same. Source: C2SP tlog-witness.
    """
    head, blank, checkpoint = check_text(text, _WHERE).partition("\n\n")
    if not blank:
        raise NoteError(expected("an empty line before the checkpoint", text[-40:], _WHERE))
    old, *path = head.split("\n")
    if not old.startswith(_OLD):
        raise NoteError(expected("a line 'old SIZE'", old, _WHERE))
    size = parse_decimal(old.removeprefix(_OLD), f"{_WHERE}: old size")
    return AddCheckpoint(size, tuple(decode_base64(line, f"{_WHERE}: path") for line in path), checkpoint)


def print_add_checkpoint(request: AddCheckpoint) -> str:
    """Print a request: old size, path, an empty line, and the checkpoint as it is."""
    lines = [f"{_OLD}{request.old}", *map(encode_base64, request.path), "", request.checkpoint]
    return check_text("\n".join(lines), _WHERE)


def parse_answer(status: int, text: str) -> Answer:
    """Read a witness's answer: HTTP status and body. What a refusal says beside its status has no form, and is dropped.

    Raises NoteError for another status, for lines that are no signature lines, and for a size that doesn't print back.
    """
    if status == 200:
        return Cosigned(parse_lines(text))
    if status == 409:
        if not text.endswith("\n"):
            raise NoteError(expected("a size and a newline", text[-40:], f"{_WHERE}: 409"))
        return Stale(parse_decimal(text.removesuffix("\n"), f"{_WHERE}: 409"))
    return Refused(status)


def print_answer(answer: Answer) -> tuple[int, str]:
    """Print an answer's status and body; the inverse of `parse_answer`, a refusal's body being empty."""
    match answer:
        case Cosigned():
            return 200, print_lines(answer.signatures)
        case Stale():
            return 409, f"{answer.size}\n"
        case Refused():
            return answer.status, ""


def parse_lines(text: str) -> tuple[Signature, ...]:
    """Read signature lines, 1 to 100, each ending in a newline; NoteError for any other text. None is checked."""
    note = parse_note(f"{_ABOVE}\n{text}")
    if note.text != _ABOVE:
        raise NoteError(expected("signature lines without an empty one", text, "signature lines"))
    return note.signatures


def print_lines(signatures: Iterable[Signature]) -> str:
    """Print signature lines; the inverse of `parse_lines`, and what stands under a note's empty line."""
    return print_note(Note(_ABOVE, tuple(signatures))).removeprefix(f"{_ABOVE}\n")


def check_cosigned(
    checkpoint: str, signatures: Iterable[Signature], witness: VerifierKey
) -> tuple[Signature, Cosignature]:
    """Check that a witness has cosigned a checkpoint, this and no other; give its line and what that states.

    `checkpoint` is the text as the log signed it, `signatures` are lines of whatever origin: those of other keys are
    passed over, and of several by this witness the first counts. Raises NoteError for a log's key, and SignatureError
    where the first is bad or there is none. Source: C2SP tlog-cosignature.
    """
    text, lines = parse_note(checkpoint).text, tuple(signatures)
    for line in lines:
        if (line.name, line.key_id) == (witness.name, witness.key_id):
            (stated,) = cosignatures(print_note(Note(text, (line,))), [witness])
            return line, stated
    raise SignatureError(expected(f"a cosignature by {witness}", [line.name for line in lines], "cosignatures"))
