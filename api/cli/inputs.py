"""What the caller hands in: numbers, times, keys and files, each read strictly and refused in one line."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import click

from api.cli.output import BadInput
from shoe.errors import InputError, expected
from shoe.proof.note import COSIGNATURE, ED25519, VerifierKey, parse_vkey, require_type

Callback = Callable[[click.Context, click.Parameter, Any], Any]

STDIN: Final = "-"
_DIGITS: Final = re.compile(r"0|[1-9][0-9]{0,17}")
_HEX: Final = re.compile(r"[0-9a-f]{64}")


def read_by(parse: Callable[[str], Any]) -> Callback:
    """Make an option's callback: it parses the text given, or each of several, and refuses with the parser's words.

    An option not given stays None.
    """

    def read(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        try:
            if isinstance(value, tuple):
                return tuple(parse(text) for text in value)
            return None if value is None else parse(value)
        except InputError as error:
            raise click.BadParameter(str(error), ctx, param) from None

    return read


def whole(low: int, high: int) -> Callable[[str], int]:
    """Make a parser of ASCII digits that print back the same, `low` to `high`; it raises InputError."""

    def parse(text: str) -> int:
        if not _DIGITS.fullmatch(text) or not low <= int(text) <= high:
            raise InputError(expected(f"a whole number {low}…{high}", text))
        return int(text)

    return parse


def parse_secret(text: str) -> bytes:
    """Read 32 bytes of lower-case hex; the InputError for anything else does not show it."""
    if not _HEX.fullmatch(text):
        got = f"{len(text)} characters" if len(text) != 64 else "another among them"
        raise InputError(f"expected 64 characters 0-9 a-f, got {got}")
    return bytes.fromhex(text)


def parse_log_keys(text: str) -> tuple[VerifierKey, ...]:
    """Read a log's vkey, or each line of the file of that name; raises InputError for a witness's."""
    return _parse_keys(text, ED25519)


def parse_witness_keys(text: str) -> tuple[VerifierKey, ...]:
    """Read a witness's vkey, or each line of the file of that name; raises InputError for a log's."""
    return _parse_keys(text, COSIGNATURE)


def _parse_keys(text: str, algorithm: int) -> tuple[VerifierKey, ...]:
    lines = read_text(text).removesuffix("\n").split("\n") if os.path.isfile(text) else [text]
    try:
        keys = tuple(map(parse_vkey, lines))
        require_type(keys, algorithm)
    except InputError as error:
        raise InputError(f"{error}; give a vkey, or a file that holds one a line") from None
    return keys


def joined(keys: Iterable[tuple[VerifierKey, ...]]) -> tuple[VerifierKey, ...]:
    """Join the keys of a repeated option, each once."""
    return tuple(dict.fromkeys(key for several in keys for key in several))


def read_file(name: str) -> bytes:
    """Read a file's bytes, or standard input's for ``-``; raises BadInput where it can't be read."""
    if name == STDIN and not sys.stdin:
        raise BadInput("-: standard input is closed; name a file that can be read")
    try:
        return sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}; name a file that can be read, or - for standard input") from None


def read_text(name: str) -> str:
    """Read a file's UTF-8 as it stands, newlines included; raises BadInput as `read_file`, and for other bytes."""
    try:
        return read_file(name).decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{name}: {expected('UTF-8', error.object[error.start], f'byte {error.start}')}") from None
