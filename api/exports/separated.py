"""CSV by RFC 4180: a header, then a line a record, each ended by CR and LF; UTF-8 without a byte order mark.

A spreadsheet takes a cell for a formula that begins with one of ``= + - @``, a tab or a return. Numbers, times and
records (which begin with a brace) can't; a word that does has an apostrophe put before it, and stands unaltered in the
record beside it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Final

from api.exports.rows import Row

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class _Line:
    """A file for `csv.writer` that holds the line just written."""

    text = ""

    def write(self, text: str) -> int:
        self.text = text
        return len(text)


def print_separated(rows: Iterable[Row]) -> Iterator[bytes]:
    """Print rows as CSV, a line a piece; a cell without value is empty."""
    line = _Line()
    writer = csv.writer(line, lineterminator="\r\n")
    writer.writerow(Row._fields)
    yield line.text.encode()
    for row in rows:
        writer.writerow([_inert(cell) if isinstance(cell, str) else cell for cell in row])
        yield line.text.encode()


def _inert(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell
