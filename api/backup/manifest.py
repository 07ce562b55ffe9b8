"""The manifest of a backup: of which log, at which schema, under which checkpoint; and what its members must be."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from api.backup.archive import BackupError
from shoe.errors import InputError, expected
from shoe.proof.canonical import load_json
from shoe.proof.checkpoint import Checkpoint, parse_checkpoint
from shoe.proof.forms import HASH, INDEX, ORIGIN, list_of, one_of, parsed, part, read_fields, text, write_fields
from shoe.proof.note import parse_note

FORMAT: Final = "fairshoe-backup/1"
MANIFEST: Final = "manifest.json"
MANIFEST_MOST_BYTES: Final = 2**20
KINDS: Final = ("integer", "text", "bytes")

_NAME: Final = text("[a-z][a-z0-9_]{0,62}", "a name [a-z][a-z0-9_]*")
_COLUMN: Final = re.compile(rf"[a-z][a-z0-9_]{{0,62}} ({'|'.join(KINDS)})")


class Column(NamedTuple):
    """A column: its name, and the kind of its values."""

    name: str
    kind: str


def _parse_column(value: Any, where: str) -> Column:
    if not isinstance(value, str) or not _COLUMN.fullmatch(value):
        raise BackupError(expected(f"a name and one of {', '.join(KINDS)}", value, where))
    return Column(*value.split(" "))


_COLUMNS: Final = list_of(parsed(_parse_column, " ".join, {"type": "string"}), 1, 1000)


@dataclass(frozen=True, slots=True)
class Member:
    """A table's member: its columns in order, the number of its rows, its size in bytes and its SHA-256."""

    table: Annotated[str, _NAME]
    columns: Annotated[tuple[Column, ...], _COLUMNS]
    rows: Annotated[int, INDEX]
    size: Annotated[int, INDEX]
    sha256: Annotated[bytes, HASH]

    @property
    def name(self) -> str:
        """The member's name in the archive."""
        return f"{self.table}.jsonl"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    `schema` is the revision whose tables these are; size and root are those of the signed checkpoint. Raises
    BackupError where they aren't and for two members of one table, NoteError where the checkpoint is none.
    """

    format: Annotated[str, one_of(FORMAT)]
    schema: Annotated[str, text("[0-9]{4}", "four digits")]
    log: Annotated[str, ORIGIN]
    size: Annotated[int, INDEX]
    root: Annotated[bytes, HASH]
    checkpoint: Annotated[str, text(r"(?s:.+)", "a signed checkpoint")]
    tables: Annotated[tuple[Member, ...], list_of(part(Member), 1, 1000)]

    def __post_init__(self) -> None:
        signed = read_signed(self.checkpoint)
        wanted, said = (signed.origin, signed.size, signed.root.hex()), (self.log, self.size, self.root.hex())
        if said != wanted:
            raise BackupError(expected(f"log, size and root of the checkpoint, {wanted}", said))
        if len({member.table for member in self.tables}) != len(self.tables):
            raise BackupError(expected("each table once", [member.table for member in self.tables]))

    @property
    def rows(self) -> int:
        """The number of rows in all tables."""
        return sum(member.rows for member in self.tables)


def read_signed(text: str) -> Checkpoint:
    """Read a signed checkpoint without checking who signed it; raises NoteError where it is none."""
    return parse_checkpoint(parse_note(text).text)


def print_manifest(manifest: Manifest) -> bytes:
    """Print a manifest as JSON, one item a line."""
    return json.dumps(write_fields(manifest), indent=1).encode("ascii") + b"\n"


def parse_manifest(data: bytes) -> Manifest:
    """Read a manifest; the inverse of `print_manifest`. Raises BackupError for bytes that don't print back the same."""
    try:
        manifest = Manifest(**read_fields(Manifest, load_json(data)))
    except InputError as error:
        raise BackupError(f"{MANIFEST}: {error}") from None
    if print_manifest(manifest) != data:
        raise BackupError(f"{MANIFEST}: expected it as it was printed, got other spaces or another order")
    return manifest
