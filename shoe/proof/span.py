"""Span archives: a log's records of one stretch of time as one text, checked offline and in a stream (protocol §8, §9).

The text is a canonical JSON header, the records as stored on a line each, an empty line, and a signed checkpoint:

    {"count":4,"first":7,"format":"fairshoe-span/1","from":TIME,"left":[HASH…],"right":[HASH…],"to":TIME}
    {…}    record 7, the last before `from`; left out where the log begins later
    {…}    record 8
    {…}    record 9
    {…}    record 10, the first at `to` or behind it; left out where the log ends before
                                                                       (the empty line)
    origin, size, root, signatures

`left` and `right` are the hashes of the perfect subtrees that cover the log before and behind the span, so that the
checkpoint's root follows from the text alone: no record can be changed, moved, left out or put in. Times never decrease
along the log; the records at the two ends therefore show that nothing between `from` and `to` is missing. Null stands
for the log's own beginning or end. A span has one text under one checkpoint.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypedDict

from shoe.errors import BundleError, ImpossibleError, InputError, NoteError, ProofError, RecordError, expected
from shoe.proof.canonical import Json, parse_object, print_canonical
from shoe.proof.checkpoint import Checkpoint, check_checkpoint
from shoe.proof.forms import HASH, INDEX, NAME, ORIGIN, TIME, list_of, one_of, or_null, read_fields
from shoe.proof.merkle import Node, ReadHashes, leaf_hash, node_hash, root_of_frontier
from shoe.proof.note import MAX_NOTE_BYTES, VerifierKey
from shoe.proof.records import CLASSES, parse_record
from shoe.proof.seal import PROTOCOL

FORMAT: Final = "fairshoe-span/1"

_TYPES: Final = [cls.type for cls in CLASSES]
_HASHES: Final = list_of(HASH, 0, 128)
_Header = TypedDict(
    "_Header",
    {
        "format": Annotated[str, one_of(FORMAT)],
        "first": Annotated[int, INDEX],
        "count": Annotated[int, INDEX],
        "from": Annotated[str | None, or_null(TIME)],
        "to": Annotated[str | None, or_null(TIME)],
        "left": Annotated[tuple[bytes, ...], _HASHES],
        "right": Annotated[tuple[bytes, ...], _HASHES],
    },
)


@dataclass(frozen=True, slots=True)
class SpanHeader:
    """What an archive says of itself: `count` records from log index `first`, which hold all of since ≤ time < until.

    `since` and `until` are records' times or None, written `from` and `to`; `left` and `right` are as `span_hashes`
    gives them. Raises BundleError where `since` is after `until`, is None but `first` isn't 0, or `left` is not as many
    hashes as cover `first` leaves.
    """

    first: int
    count: int
    since: str | None
    until: str | None
    left: tuple[bytes, ...]
    right: tuple[bytes, ...]

    def __post_init__(self) -> None:
        if self.since is None and self.first != 0:
            raise BundleError(expected("0, where from is null", self.first, "span header: first"))
        if self.since is not None and self.until is not None and self.since > self.until:
            raise BundleError(expected(f"a time not before {self.since}", self.until, "span header: to"))
        if len(self.left) != self.first.bit_count():
            wanted = f"{self.first.bit_count()} hashes before record {self.first}"
            raise BundleError(expected(wanted, len(self.left), "span header: left"))


@dataclass(frozen=True, slots=True)
class Span:
    """An archive that was checked: its header, the checkpoint it ends in, and the records of the time asked for.

    `inside` counts the records with since ≤ time < until, without those that stand at the ends as witnesses;
    `first_time` and `last_time` are the times of the first and last of them, None where there is none.
    """

    header: SpanHeader
    checkpoint: Checkpoint
    inside: int
    first_time: str | None
    last_time: str | None


def choose_span(time_of: Callable[[int], str], size: int, since: str | None, until: str | None) -> tuple[int, int]:
    """Find which records an archive of since ≤ time < until has in a log of `size` ≥ 0 records: (first, count).

    `time_of` gives the time of a record by its index and is called O(log size) times.
    """
    first = 0 if since is None else max(bisect_left(range(size), since, key=time_of) - 1, 0)
    stop = size if until is None else min(bisect_left(range(size), until, key=time_of) + 1, size)
    return first, stop - first


def span_hashes(read: ReadHashes, first: int, count: int, size: int) -> tuple[tuple[bytes, ...], tuple[bytes, ...]]:
    """Read the hashes before and behind the leaves first … first+count−1 of the tree of `size` leaves: (left, right).

    Each is the hash of the largest perfect subtree that fits, from left to right. One read of O(log size) nodes.
    Raises InputError unless 0 ≤ first ≤ first+count ≤ size.
    """
    if not 0 <= first <= first + count <= size:
        raise InputError(expected(f"0 ≤ first ≤ first+count ≤ {size}", (first, count), "span"))
    left, right = _perfect_nodes(0, first), _perfect_nodes(first + count, size)
    hashes = tuple(read(left + right))
    if len(hashes) != len(left) + len(right):
        raise ImpossibleError(expected(f"{len(left) + len(right)} hashes", len(hashes), "node store"))
    return hashes[: len(left)], hashes[len(left) :]


def root_from_span(
    first: int, left: Sequence[bytes], leaves: Iterable[bytes], right: Sequence[bytes], size: int
) -> bytes:
    """Compute the root of the tree of `size` leaves from a span's leaf hashes and those that `span_hashes` gives.

    O(log size) memory. Raises ProofError where the leaves don't fit into the tree, or `left` or `right` has another
    number of hashes than first, the leaves and size ask for.
    """
    if len(left) != first.bit_count():
        raise ProofError(expected(f"{first.bit_count()} hashes before record {first}", len(left), "span"))
    edge = _Edge(first, left)
    for leaf in leaves:
        edge.append(0, leaf)
    return edge.complete(right, size)


def print_span(header: SpanHeader, records: Iterable[bytes], checkpoint: str) -> Iterator[bytes]:
    """Print an archive in pieces, one for each line and the signed checkpoint's text as the last.

    Raises InputError, after what it has given, for a record with a newline and where the records are not as many as
    the header says. Whether all belongs together is for `check_span` to say.
    """
    yield _print_header(header) + b"\n"
    count = 0
    for record in records:
        if b"\n" in record:
            raise InputError(expected("a record of one line", record, f"span: record {header.first + count}"))
        yield record + b"\n"
        count += 1
    if count != header.count:
        raise InputError(expected(f"{header.count} records", count, "span"))
    yield b"\n"
    yield checkpoint.encode()


def check_span(
    lines: Iterable[bytes],
    vkeys: Iterable[VerifierKey],
    origin: str | None = None,
    take: Callable[[int, bytes], None] | None = None,
) -> Span:
    """Check an archive, given line by line with newlines as a binary file gives them; keep O(log size) of it.

    The keys, and the origin as in `check_checkpoint`, are the caller's. `take` gets index and bytes of every record of
    the time asked for, before anything is proved: what it makes of them counts once this has returned.

    Raises, with the line: BundleError for another shape; CanonicalError, RecordError or RulesError for a record or
    header of the wrong form; NoteError and SignatureError as `check_checkpoint`; ProofError for a record of another
    log, a time before that of the record before it, ends that don't show the span to be whole, and for a text that
    doesn't lead to the checkpoint's root. Source: protocol §8, §9.
    """
    reader = _Lines(lines)
    header = _parse_header(*reader.line("a header"))
    walk, edge = _Walk(header, origin), _Edge(header.first, header.left)
    for index in range(header.first, header.first + header.count):
        where, data = reader.line(f"record {index}")
        if walk.enter(f"{where}, record {index}", index, data) and take is not None:
            take(index, data)
        edge.append(0, leaf_hash(data))
    where, data = reader.line("an empty line")
    if data:
        raise BundleError(expected(f"an empty line behind {header.count} records", data, where))
    checkpoint = check_checkpoint(reader.rest(), vkeys, origin)
    reached = edge.complete(header.right, checkpoint.size)
    if reached != checkpoint.root:
        raise ProofError(expected(checkpoint.root.hex(), reached.hex(), f"root of {checkpoint.size} records"))
    walk.leave(checkpoint)
    return Span(header, checkpoint, walk.inside, walk.first_time, walk.last_time)


class _Edge:
    """The right edge of a tree that grows by perfect subtrees: the hashes of those in it, O(log size)."""

    def __init__(self, size: int, hashes: Sequence[bytes]) -> None:
        self.size = size
        self._hashes = list(hashes)

    def append(self, level: int, found: bytes) -> None:
        """Add the next 2^level leaves by their hash; the size is a multiple of 2^level."""
        size = self.size
        self.size += 1 << level
        while size >> level & 1:
            found = node_hash(self._hashes.pop(), found)
            level += 1
        self._hashes.append(found)

    def complete(self, right: Sequence[bytes], size: int) -> bytes:
        """Add what is behind up to `size` leaves and give the root; ProofError for another number of hashes."""
        if self.size > size:
            raise ProofError(expected(f"at most {size} records, as in the checkpoint", self.size, "end of the span"))
        nodes = _perfect_nodes(self.size, size)
        if len(right) != len(nodes):
            wanted = f"{len(nodes)} hashes behind record {self.size - 1} of {size}"
            raise ProofError(expected(wanted, len(right), "right"))
        for node, found in zip(nodes, right, strict=True):
            self.append(node.level, found)
        return root_of_frontier(tuple(self._hashes), size)


class _Walk:
    """The records of a span, met one after the other: one log, times that never decrease, nothing missing."""

    def __init__(self, header: SpanHeader, origin: str | None) -> None:
        self.header = header
        self.log = origin
        self.time: str | None = None
        self.inside = 0
        self.first_time: str | None = None
        self.last_time: str | None = None

    def enter(self, where: str, index: int, data: bytes) -> bool:
        """Take in the next record; tell whether it is one of the time asked for, or a witness at one of the ends."""
        if not data:
            raise BundleError(expected("a record", "an empty line", where))
        log, time = _read_record(where, data)
        self.log = self.log or log
        if log != self.log:
            raise ProofError(expected(f"a record of {self.log}", log, f"{where}: log"))
        if self.time is not None and time < self.time:
            raise ProofError(expected(f"a time not before the last record's, {self.time}", time, f"{where}: time"))
        self.time = time
        return self._place(f"{where}: time", index, time)

    def leave(self, checkpoint: Checkpoint) -> None:
        """Check what only the checkpoint tells: the log's name, and that the last record is followed by no other."""
        if self.log not in (None, checkpoint.origin):
            raise ProofError(expected(f"the checkpoint of {self.log}", checkpoint.origin, "checkpoint origin"))
        stop = self.header.first + self.header.count
        if stop < checkpoint.size and not self._behind(self.time):
            wanted = f"record {checkpoint.size - 1}, the log's last" if self.header.until is None else self.header.until
            raise ProofError(expected(f"a last record at {wanted}", (stop - 1, self.time), "end of the span"))

    def _place(self, where: str, index: int, time: str) -> bool:
        header = self.header
        before = header.since is not None and time < header.since
        if before and index > header.first:
            raise ProofError(expected(f"{header.since} or later behind the first record", time, where))
        if not before and index == header.first > 0:
            raise ProofError(expected(f"a first record before {header.since}", time, where))
        behind = self._behind(time)
        if behind and index < header.first + header.count - 1:
            raise ProofError(expected(f"a time before {header.until} in all but the last record", time, where))
        if before or behind:
            return False
        self.inside += 1
        self.first_time, self.last_time = self.first_time or time, time
        return True

    def _behind(self, time: str | None) -> bool:
        return time is not None and self.header.until is not None and time >= self.header.until


class _Lines:
    """An archive's lines, each named by its number from 1."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = enumerate(lines, start=1)

    def line(self, what: str) -> tuple[str, bytes]:
        """Give the next line's name and its bytes without the newline; BundleError where there is none."""
        number, line = next(self._lines, (0, b""))
        if not line:
            raise BundleError(expected(what, "the end of the text", "span"))
        if not line.endswith(b"\n"):
            raise BundleError(expected(f"{what} and a newline", line[-40:], f"line {number}"))
        return f"line {number}", line[:-1]

    def rest(self) -> str:
        """Give all that is left, up to the length of a note; NoteError for more, or bytes that aren't UTF-8."""
        text = bytearray()
        for number, line in self._lines:
            text += line
            if len(text) > MAX_NOTE_BYTES:
                raise NoteError(expected(f"a checkpoint of at most {MAX_NOTE_BYTES} bytes", "more", f"line {number}"))
        try:
            return text.decode()
        except UnicodeDecodeError as error:
            raise NoteError(expected("UTF-8", error.object[error.start], "checkpoint")) from None


def _print_header(header: SpanHeader) -> bytes:
    fields: dict[str, Json] = {
        "format": FORMAT,
        "first": header.first,
        "count": header.count,
        "from": header.since,
        "to": header.until,
        "left": [found.hex() for found in header.left],
        "right": [found.hex() for found in header.right],
    }
    return print_canonical(fields)


def _parse_header(where: str, data: bytes) -> SpanHeader:
    try:
        fields = read_fields(_Header, parse_object(data))
    except InputError as error:
        raise type(error)(f"{where}, span header: {error}") from None
    del fields["format"]
    return SpanHeader(since=fields.pop("from"), until=fields.pop("to"), **fields)


def _read_record(where: str, data: bytes) -> tuple[str, str]:
    try:
        return _log_and_time(data)
    except InputError as error:
        raise type(error)(f"{where}: {error}") from None


def _log_and_time(data: bytes) -> tuple[str, str]:
    try:
        record = parse_record(data)
    except RecordError:
        # Outside of a shoe a record of unknown type is passed over: only what every record has must be right.
        value = parse_object(data)
        kind = value.get("type")
        if value.get("protocol") != PROTOCOL or kind in _TYPES or "shoe" in value:
            raise
        NAME.read(kind, ("type",))
        return ORIGIN.read(value.get("log"), ("log",)), TIME.read(value.get("time"), ("time",))
    return record.log, record.time


def _perfect_nodes(start: int, stop: int) -> list[Node]:
    """Cut the leaves start … stop−1 into perfect subtrees, each the largest that fits, left to right."""
    nodes = []
    while start < stop:
        level = (stop - start).bit_length() - 1
        if start > 0:
            level = min(level, (start & -start).bit_length() - 1)
        nodes.append(Node(level, start >> level))
        start += 1 << level
    return nodes
