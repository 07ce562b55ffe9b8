"""Whole logs: the kind of each told from its content, its lines read, its shoes taken into the book."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, Literal, get_args

from audit.foreign.book import ShoeBook
from audit.foreign.bundles import FAILED, MAX_BYTES, coups_of, read_bundle
from audit.foreign.lines import BadLine, LineReader, Report, quote
from audit.foreign.notation import parse_cards
from audit.foreign.strings import coups_in, is_outcomes, outcomes_in
from audit.foreign.tables import BARE, Layout, bare_layout, layout_of, read_table
from audit.foreign.violations import Violation
from shoe.errors import InputError, expected
from shoe.game.tableau import MAX_CARDS
from shoe.proof.verify import Evidence

Kind = Literal["csv", "cards", "outcomes", "bundle"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_BOM: Final = b"\xef\xbb\xbf"
_WORDS: Final = "a header with shoe, player, banker, outcome; cards; or outcomes B P T"

Lines = Iterator[tuple[int, str]]


@dataclass(slots=True)
class LogFile:
    """What one log was like: its kind, its lines, and those that could not be read; `remarks` say what was unusual."""

    name: str
    keep: int
    kind: Kind | None = None
    lines: int = 0
    shoes: int = 0
    coups: int = 0
    empty_lines: int = 0
    comments: int = 0
    remarks: list[str] = field(default_factory=list)
    bad: Counter[str] = field(default_factory=Counter)
    bad_examples: list[BadLine] = field(default_factory=list)
    verdict: str | None = None

    def report(self, bad: BadLine) -> None:
        """Count a line that could not be read; the first `keep` of each kind are kept."""
        self.bad[bad.kind] += 1
        if self.bad[bad.kind] <= self.keep:
            self.bad_examples.append(bad)

    def to_json(self) -> dict[str, Any]:
        """List everything under its name."""
        return {
            "file": self.name,
            "kind": self.kind,
            "lines": self.lines,
            "shoes": self.shoes,
            "coups": self.coups,
            "empty_lines": self.empty_lines,
            "comments": self.comments,
            "remarks": self.remarks,
            "bad_lines": {
                "count": self.bad.total(),
                "kinds": dict(sorted(self.bad.items())),
                "examples": [each._asdict() for each in self.bad_examples],
            },
            **({"verdict": self.verdict} if self.verdict else {}),
        }


def read_log(
    name: str, chunks: Iterable[bytes], book: ShoeBook, evidence: Evidence, *, keep: int, kind: Kind | None = None
) -> LogFile:
    """Read one log to its end, in memory that does not grow with it, whatever it holds.

    `chunks` are its bytes in pieces of any size; `kind` is told from the first line that is not empty, if not given;
    `keep` bounds the examples kept of each fault. Raises nothing for what the log holds: that is in what it returns, in
    the book's ledger and in its counts.
    """
    log = LogFile(name, keep, kind)
    shoes, coups = book.counts.shoes, book.counts.coups
    book.begin(name)
    stream = iter(chunks)
    first = next((chunk for chunk in stream if chunk), b"")
    stream = chain([first], stream)
    if kind == "bundle" or (kind is None and first.removeprefix(_BOM).lstrip().startswith(b"{")):
        log.kind = "bundle"
        _read_bundle(log, stream, book, evidence)
    else:
        _read_lines(log, stream, book)
    book.end()
    log.shoes, log.coups = book.counts.shoes - shoes, book.counts.coups - coups
    return log


def _read_bundle(log: LogFile, chunks: Iterable[bytes], book: ShoeBook, evidence: Evidence) -> None:
    text = bytearray()
    for chunk in chunks:
        text += chunk
        if len(text) > MAX_BYTES:
            log.report(BadLine(1, "too_long", f"a bundle of at most {MAX_BYTES} bytes", quote(bytes(text[:80]))))
            return
    log.lines = text.count(b"\n") + (not text.endswith(b"\n"))
    audited = read_bundle(bytes(text), evidence)
    log.verdict = audited.verdict
    if audited.verdict in FAILED:
        book.ledger.add(
            Violation("bundle", audited.verdict, log.name, audited.shoe, None, 1, "a bundle that verifies", audited.why)
        )
    elif audited.verdict != "verified":
        log.remarks.append(f"the verifier says {audited.verdict}: {audited.why}")
    if audited.rules is None:
        return
    if audited.rules.decks != book.decks:
        log.report(
            BadLine(1, "decks", f"a shoe of {book.decks} decks", f"{audited.rules.decks} decks in {audited.shoe}")
        )
        return
    shoe = None
    for coup in coups_of(audited):
        if shoe not in (None, coup.shoe):
            book.end(audited.judged)
        shoe = coup.shoe
        book.take(coup)
    book.end(audited.judged)
    if not audited.judged:
        log.remarks.append("its coups are not in the checks: the shoe was given up, or is in play")


def _read_lines(log: LogFile, chunks: Iterable[bytes], book: ShoeBook) -> None:
    reader = LineReader(_reporter(log, book))
    try:
        _read_text(log, _told(log, reader.read(chunks)), book)
    except InputError as error:
        log.report(BadLine(1, "not_utf8", str(error).removeprefix("byte 0: expected "), ""))
    log.lines = reader.lines
    log.remarks += ["begins with a byte order mark"] if reader.bom else []
    odd = sorted(reader.newlines - {"LF"})
    log.remarks += [f"lines end with {' and '.join(sorted(reader.newlines))}"] if odd else []
    log.remarks += ["the last line has no newline: it may be cut short"] if reader.unfinished else []


def _reporter(log: LogFile, book: ShoeBook) -> Report:
    """Count bad lines, and let the book know that a coup may be missing."""

    def report(bad: BadLine) -> None:
        log.report(bad)
        book.gap()

    return report


def _told(log: LogFile, lines: Lines) -> Lines:
    """Pass on what may hold something; count the rest."""
    for number, line in lines:
        if not line or line.isspace():
            log.empty_lines += 1
        elif line.startswith("#"):
            log.comments += 1
        else:
            yield number, line


def _read_text(log: LogFile, lines: Lines, book: ShoeBook) -> None:
    for number, line in lines:
        layout = _recognise(log, line)
        if layout is not None:
            _read_csv(log, layout, lines, (number, line), book)
            return
        if log.kind in ("cards", "outcomes"):
            _read_strings(log, chain([(number, line)], lines), book)
            return
        log.report(BadLine(number, "unrecognised", _WORDS, quote(line)))


def _recognise(log: LogFile, line: str) -> Layout | None:
    """Tell the kind of a log by a line, where it was not given; also the layout, of a CSV."""
    if log.kind in ("cards", "outcomes"):
        return None
    layout = layout_of(line) or bare_layout(line)
    if log.kind is None:
        log.kind = "outcomes" if is_outcomes(line) else "csv" if layout else "cards" if _is_cards(line) else None
    return layout if log.kind == "csv" else None


def _is_cards(line: str) -> bool:
    try:
        return bool(parse_cards(line))
    except InputError:
        return False


def _read_csv(log: LogFile, layout: Layout, lines: Lines, first: tuple[int, str], book: ShoeBook) -> None:
    if layout.separator != ",":
        log.remarks.append(f"columns stand between {'tabs' if layout.separator == chr(9) else 'semicolons'}")
    if bare_layout(first[1]) is not None:
        log.remarks.append(f"has no header: columns taken for {', '.join(BARE)}")
        lines = chain([first], lines)
    elif missing := layout.lacking():
        log.report(BadLine(first[0], "header", f"columns {', '.join(missing)}", quote(first[1])))
        for number, line in lines:
            log.report(BadLine(number, "header_lacks_columns", "a header that says what the columns are", quote(line)))
        return
    for coup in read_table(layout, lines, _reporter(log, book)):
        book.take(coup)


def _read_strings(log: LogFile, lines: Lines, book: ShoeBook) -> None:
    """Read a shoe a line."""
    for shoe, (number, line) in enumerate(lines, 1):
        try:
            if log.kind == "outcomes":
                for coup in outcomes_in(number, str(shoe), line):
                    book.take(coup)
                book.end()
            else:
                _read_cards(number, str(shoe), line, book)
        except InputError as error:
            sort = "bad_card" if log.kind == "cards" else "bad_value"
            log.report(BadLine(number, sort, str(error).replace("expected ", "", 1), quote(line)))


def _read_cards(number: int, shoe: str, line: str, book: ShoeBook) -> None:
    codes = parse_cards(line)
    for coup in coups_in(number, shoe, codes):
        book.take(coup)
    if not book.undealt(codes):
        raise InputError(expected("cards enough for one coup", len(codes)))
    # From n cards ⌊n/6⌋ coups can always be dealt, so that whether they are does not hang on the cards.
    book.end(len(codes) // MAX_CARDS)
