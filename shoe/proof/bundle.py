"""The bundle: one shoe's records with every path a verifier needs (protocol §10)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from shoe.errors import BundleError, CanonicalError, RecordError, expected
from shoe.proof.canonical import Path, load_json, place
from shoe.proof.forms import (
    HASH,
    INDEX,
    Form,
    Schema,
    integer,
    list_of,
    one_of,
    or_null,
    part,
    read_fields,
    schema_of,
    write_fields,
)

FORMAT: Final = "fairshoe-bundle/1"
MAX_RECORDS: Final = 2**22


def _read_bytes(value: Any, path: Path) -> bytes:
    if not isinstance(value, str):
        raise RecordError(expected("a string of exact bytes", value, place(path)))
    return value.encode("utf-8", "surrogatepass")


def _read_text(value: Any, path: Path) -> str:
    if not isinstance(value, str):
        raise RecordError(expected("a string", value, place(path)))
    return value


BYTES: Final = Form(_read_bytes, bytes.decode, {"type": "string"})
TEXT: Final = Form(_read_text, lambda value: value, {"type": "string"})
PATH: Final = list_of(HASH, 0, 64)


@dataclass(frozen=True, slots=True)
class Placed:
    """A record of another place in the log: its bytes, log index, and audit path."""

    record: Annotated[bytes, BYTES]
    index: Annotated[int, INDEX]
    path: Annotated[tuple[bytes, ...], PATH]


@dataclass(frozen=True, slots=True)
class Earlier:
    """An older checkpoint of the same log, and the consistency path from it to the bundle's."""

    checkpoint: Annotated[str, TEXT]
    path: Annotated[tuple[bytes, ...], list_of(HASH, 0, 128)]


@dataclass(frozen=True, slots=True)
class OpeningPaths:
    """Audit paths of opened cards: of the burned card, and of each coup's cards in dealing order."""

    burn: Annotated[tuple[bytes, ...] | None, or_null(PATH)]
    coups: Annotated[tuple[tuple[tuple[bytes, ...], ...], ...], list_of(list_of(PATH, 0, 6), 0, MAX_RECORDS)]


@dataclass(frozen=True, slots=True)
class HeldLine:
    """One bet line of the bundle's holder: its bytes, its place among the coup's lines, and its path."""

    line: Annotated[bytes, BYTES]
    index: Annotated[int, INDEX]
    path: Annotated[tuple[bytes, ...], PATH]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """All that proves one shoe, from one log; every key is needed and every value counts."""

    format: Annotated[str, one_of(FORMAT)] = FORMAT
    records: Annotated[tuple[bytes, ...], list_of(BYTES, 1, MAX_RECORDS)]
    log_indices: Annotated[tuple[int, ...], list_of(integer(0, 2**53 - 1), 1, MAX_RECORDS)]
    inclusion: Annotated[tuple[tuple[bytes, ...], ...], list_of(PATH, 1, MAX_RECORDS)]
    checkpoint: Annotated[str, TEXT]
    book_record: Annotated[Placed | None, or_null(part(Placed))]
    previous_shoe: Annotated[Placed | None, or_null(part(Placed))]
    book_proof: Annotated[tuple[bytes, ...], PATH]
    openings: Annotated[OpeningPaths, part(OpeningPaths)]
    earlier: Annotated[Earlier | None, or_null(part(Earlier))]
    bets: Annotated[tuple[HeldLine, ...] | None, or_null(list_of(part(HeldLine), 1, MAX_RECORDS))]


def parse_bundle(source: str | bytes | Mapping[str, Any]) -> Bundle:
    """Read a bundle from ordinary JSON text, or from an object already read.

    Raises BundleError, naming the place, for anything but exactly the keys and forms of protocol §10, and where
    `records`, `log_indices` and `inclusion` differ in length.
    """
    try:
        value = source if isinstance(source, Mapping) else load_json(source)
        bundle = Bundle(**read_fields(Bundle, value))
    except (RecordError, CanonicalError) as error:
        raise BundleError(f"bundle: {error}") from None
    for key in ("log_indices", "inclusion"):
        if len(getattr(bundle, key)) != len(bundle.records):
            got = f"{len(getattr(bundle, key))}"
            raise BundleError(expected(f"{len(bundle.records)} items, one a record", got, f"bundle: {key}"))
    return bundle


def print_bundle(bundle: Bundle) -> str:
    """Print a bundle as JSON text, a key a line; the inverse of `parse_bundle`."""
    return json.dumps(write_fields(bundle), indent=1) + "\n"


def bundle_schema() -> Schema:
    """Describe a bundle as JSON Schema."""
    return schema_of(Bundle)
