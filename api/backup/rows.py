"""Rows as lines: a JSON list of the columns' values, without white space; bytes as lower-case hex."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from api.backup.archive import BackupError
from api.backup.manifest import Column
from api.settings import SetupError
from shoe.errors import expected

_TYPES: Final[dict[str, type]] = {"integer": int, "text": str, "bytes": bytes}
_INTEGER_END: Final = 2**63
_ENCODE: Final[Callable[[object], str]] = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def print_row(columns: Sequence[Column], row: Sequence[object]) -> bytes:
    """Print a row, with a newline; raises SetupError for a value that its column can't hold."""
    for column, value in zip(columns, row, strict=True):
        if value is not None and type(value) is not _TYPES[column.kind]:
            raise SetupError(f"column {column.name}: expected {column.kind}, got {type(value).__name__}")
    return _ENCODE([value.hex() if isinstance(value, bytes) else value for value in row]).encode("ascii") + b"\n"


def parse_row(columns: Sequence[Column], line: bytes, where: str) -> dict[str, Any]:
    """Read a row as values by column; the inverse of `print_row`.

    Raises BackupError, which does not show the values, for a line that does not print back to the same bytes.
    """
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise BackupError(f"{where}: expected a JSON list, got something else") from None
    if not isinstance(values, list) or len(values) != len(columns):
        raise BackupError(f"{where}: expected a list of {len(columns)} values, got another")
    row = [_read(column, value, where) for column, value in zip(columns, values, strict=True)]
    if print_row(columns, row) != line:
        raise BackupError(f"{where}: expected the row as it was printed, got another form of it")
    return {column.name: value for column, value in zip(columns, row, strict=True)}


def _read(column: Column, value: object, where: str) -> int | str | bytes | None:
    if value is None:
        return None
    if column.kind == "integer" and type(value) is int and -_INTEGER_END <= value < _INTEGER_END:
        return value
    if isinstance(value, str):
        if column.kind == "text" and _storable(value):
            return value
        if column.kind == "bytes":
            return _read_hex(column, value, where)
    raise BackupError(expected(column.kind, type(value).__name__, f"{where}, {column.name}"))


def _read_hex(column: Column, value: str, where: str) -> bytes:
    try:
        return bytes.fromhex(value)
    except ValueError:
        raise BackupError(f"{where}, {column.name}: expected bytes in hex, got other text") from None


def _storable(text: str) -> bool:
    """Say whether both databases can hold a text: no NUL, no half of a surrogate pair."""
    return "\0" not in text and (text.isascii() or text.encode("utf-8", "ignore").decode() == text)
