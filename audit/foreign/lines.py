"""Numbered lines of a stream of bytes, in constant memory: any newline, and every line that is no text told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from shoe.errors import InputError, expected

MAX_LINE: Final = 2**16
"""Bytes of a line; what is longer is no coup and no shoe, and is skipped as it streams by."""

_BOM: Final = b"\xef\xbb\xbf"
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_QUOTED: Final = 60


class BadLine(NamedTuple):
    """A line that could not be read: its number from 1, the kind of fault, what was expected, its beginning."""

    line: int
    kind: str
    expected: str
    found: str


Report = Callable[[BadLine], None]


@dataclass(slots=True)
class LineReader:
    """Reads the lines of one stream; afterwards `lines`, `newlines`, `bom` and `unfinished` say what it was like."""

    report: Report
    lines: int = 0
    bom: bool = False
    newlines: set[str] = field(default_factory=set)
    unfinished: bool = False

    def read(self, chunks: Iterable[bytes]) -> Iterator[tuple[int, str]]:
        """Give each line with its number, without its newline; faulty ones go to `report` instead.

        LF, CRLF and CR end a line. Raises InputError for UTF-16, where nothing can be told apart.
        """
        for block in self._blocks(chunks):
            yield from self._lines(block)

    def _blocks(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Cut the stream behind newlines; a piece too long for a line is cut short, its rest thrown away."""
        pending, skipping, begun = b"", False, False
        for chunk in chunks:
            found, begun = (chunk, True) if begun else (self._beginning(chunk), bool(chunk))
            data = pending + found
            # A final CR may be the first half of CRLF.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
            whole, pending = data[:cut], data[cut:]
            if skipping and cut:
                first = min(place for place in (whole.find(b"\n"), whole.find(b"\r")) if place >= 0)
                whole, skipping = whole[first:].removeprefix(b"\r").removeprefix(b"\n"), False
            if whole:
                yield whole
            if skipping:
                pending = pending[-1:]
            elif len(pending) > MAX_LINE:
                yield pending[: MAX_LINE + 1] + b"\n"
                pending, skipping = pending[-1:], True
        if pending and not skipping:
            self.unfinished = not pending.endswith(b"\r")
            yield pending

    def _beginning(self, chunk: bytes) -> bytes:
        if chunk.startswith(_UTF16):
            raise InputError(expected("UTF-8", "UTF-16", "byte 0"))
        self.bom = chunk.startswith(_BOM)
        return chunk.removeprefix(_BOM)

    def _lines(self, block: bytes) -> Iterator[tuple[int, str]]:
        if b"\r" in block:
            self.newlines |= {"CRLF"} if b"\r\n" in block else set()
            block = block.replace(b"\r\n", b"\n")
            if b"\r" in block:
                self.newlines.add("CR")
                block = block.replace(b"\r", b"\n")
        elif b"\n" in block:
            self.newlines.add("LF")
        pieces = block.removesuffix(b"\n").split(b"\n")
        start, self.lines = self.lines + 1, self.lines + len(pieces)
        if b"\0" not in block and max(map(len, pieces)) <= MAX_LINE:
            try:
                yield from enumerate(block.decode().removesuffix("\n").split("\n"), start)
            except UnicodeDecodeError:
                pass
            else:
                return
        for number, piece in enumerate(pieces, start):
            bad = fault_of(number, piece)
            if bad is None:
                yield number, piece.decode()
            else:
                self.report(bad)


def fault_of(number: int, piece: bytes) -> BadLine | None:
    """Say why a line is no text that can be read, or None."""
    if len(piece) > MAX_LINE:
        return BadLine(number, "too_long", f"at most {MAX_LINE} bytes in a line", quote(piece))
    if b"\0" in piece:
        return BadLine(number, "nul", f"no NUL (there is one at byte {piece.index(0)})", quote(piece))
    try:
        piece.decode()
    except UnicodeDecodeError as error:
        return BadLine(number, "not_utf8", f"UTF-8 (byte {error.start} is 0x{piece[error.start]:02x})", quote(piece))
    return None


def quote(text: bytes | str) -> str:
    """Print the beginning of a line, with what can't be printed escaped."""
    shown = text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown[: _QUOTED + 1])
    return shown if len(shown) <= _QUOTED else shown[: _QUOTED - 1] + "…"
