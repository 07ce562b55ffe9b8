"""Span archives: the arithmetic against RFC 6962 read slowly, the ends by definition, and every mutation refused."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import (
    BundleError,
    CanonicalError,
    ImpossibleError,
    InputError,
    NoteError,
    ProofError,
    RecordError,
    RulesError,
    SignatureError,
)
from shoe.proof.canonical import print_canonical
from shoe.proof.checkpoint import Checkpoint, cosign, print_checkpoint
from shoe.proof.merkle import EMPTY_ROOT, Node, Tree, leaf_hash, prove_inclusion, root_from_inclusion
from shoe.proof.note import COSIGNATURE, SignerKey, sign_note
from shoe.proof.span import Span, SpanHeader, check_span, choose_span, print_span, root_from_span, span_hashes
from shoe.proof.tiles import hash_reader, print_hashes
from tests.record_examples import EXAMPLES
from tests.reference import merkle_reference as reference

ORIGIN = "fairshoe.example/log"
LOG = SignerKey.from_seed(ORIGIN, bytes(range(32)))
STRANGER = SignerKey.from_seed(ORIGIN, bytes(range(1, 33)))
WITNESS = SignerKey.from_seed("witness.example/w1", bytes(range(2, 34)), COSIGNATURE)


def at(minute: int, microsecond: int = 0) -> str:
    return f"2026-01-31T09:{minute:02}:00.{microsecond:06}Z"


# A type that nobody knows stands outside of a shoe: it is passed over, but it is in the log.
UNKNOWN = {"protocol": "fairshoe/1", "type": "notice", "log": ORIGIN, "text": "closed on Monday"}
MINUTES = [0, 0, 1, 2, 2, 2, 3, 5, 5, 6, 8, 9]
TIMES = [at(minute) for minute in MINUTES]
KINDS = ["key", "book", "open", "lock", "seed", "alarm", None, "seal", "coup", "reveal", "void", "report"]
RECORDS = [
    print_canonical((UNKNOWN if kind is None else EXAMPLES[kind]) | {"time": time})
    for kind, time in zip(KINDS, TIMES, strict=True)
]
SIZE = len(RECORDS)
TREE = Tree.of(RECORDS)


def head(size: int, signer: SignerKey = LOG, records: Sequence[bytes] = RECORDS) -> str:
    tree = Tree.of(records[:size])
    return sign_note(print_checkpoint(Checkpoint(signer.vkey.name, size, tree.root)), [signer])


def archive(
    since: str | None,
    until: str | None,
    first: int,
    count: int,
    *,
    size: int = SIZE,
    records: Sequence[bytes] = RECORDS,
) -> list[bytes]:
    """The lines of an archive that says what it is told to say, with the log's true hashes and head."""
    hashes = span_hashes(Tree.of(records[:size]).read, first, count, size)
    header = SpanHeader(first, count, since, until, *hashes)
    text = b"".join(print_span(header, records[first : first + count], head(size, records=records)))
    return text.splitlines(keepends=True)


def checked(lines: Sequence[bytes]) -> Span:
    return check_span(lines, [LOG.vkey])


# --- the arithmetic --------------------------------------------------------------------------


def perfect_subtrees(start: int, stop: int) -> list[tuple[int, int]]:
    """Definition: of the spans i·2^l … (i+1)·2^l within start … stop, those that lie in no other one."""
    inside = [
        (i << level, (i + 1) << level)
        for level in range((stop + 1).bit_length())
        for i in range(stop + 1)
        if start <= i << level and (i + 1) << level <= stop
    ]
    return sorted(a for a in inside if not any(b != a and b[0] <= a[0] and a[1] <= b[1] for b in inside))


LARGEST = 20
DATA = [f"leaf {index}".encode() for index in range(LARGEST)]


@pytest.mark.parametrize("size", range(LARGEST + 1))
def test_every_span_of_every_tree_leads_to_its_root(size: int) -> None:
    tree, root = Tree.of(DATA[:size]), reference.mth(DATA[:size])
    for first in range(size + 1):
        for stop in range(first, size + 1):
            left, right = span_hashes(tree.read, first, stop - first, size)
            assert left == tuple(reference.mth(DATA[a:b]) for a, b in perfect_subtrees(0, first))
            assert right == tuple(reference.mth(DATA[a:b]) for a, b in perfect_subtrees(stop, size))
            assert root_from_span(first, left, map(leaf_hash, DATA[first:stop]), right, size) == root


@pytest.mark.parametrize(("first", "count"), [(0, 20), (0, 1), (7, 5), (8, 8), (12, 8), (19, 1), (9, 0)])
def test_any_alteration_of_the_hashes_of_a_span_leads_elsewhere(first: int, count: int) -> None:
    tree = Tree.of(DATA)
    left, right = span_hashes(tree.read, first, count, LARGEST)
    leaves = list(map(leaf_hash, DATA[first : first + count]))
    hashes = [*left, *leaves, *right]
    for position in range(len(hashes)):
        wrong = [*hashes[:position], EMPTY_ROOT, *hashes[position + 1 :]]
        parts = wrong[: len(left)], wrong[len(left) : len(left) + count], wrong[len(left) + count :]
        assert root_from_span(first, *parts, LARGEST) != tree.root
    for at_, (one, other) in enumerate(pairwise(leaves)):
        assert root_from_span(first, left, [*leaves[:at_], other, one, *leaves[at_ + 2 :]], right, LARGEST) != tree.root


def invented(nodes: Sequence[Node]) -> list[bytes]:
    """Hashes for trees too large to build."""
    return [node.position.to_bytes(32, "big") for node in nodes]


@given(size=st.integers(1, 2**62), data=st.data())
@settings(deadline=None)
def test_a_span_of_one_leaf_proves_what_its_audit_path_does_up_to_the_largest_log(
    size: int, data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, size - 1))
    left, right = span_hashes(invented, index, 1, size)
    leaf = leaf_hash(b"")
    path = prove_inclusion(invented, index, size)
    assert root_from_span(index, left, [leaf], right, size) == root_from_inclusion(leaf, index, size, path)
    assert len(left) + len(right) <= 3 * 63


def test_the_hashes_of_a_span_take_one_read() -> None:
    reads = []

    def read(nodes: Sequence[Node]) -> list[bytes]:
        reads.append(list(nodes))
        return TREE.read(nodes)

    span_hashes(read, 5, 2, SIZE)
    assert reads == [[Node(2, 0), Node(0, 4), Node(0, 7), Node(2, 2)]]


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, 13), (12, 1), (13, 0), (3, -1)])
def test_a_span_outside_the_log_has_no_hashes(first: int, count: int) -> None:
    with pytest.raises(InputError, match=r"^span: expected 0 ≤ first ≤ first\+count ≤ 12, got \("):
        span_hashes(TREE.read, first, count, SIZE)


def test_a_store_that_answers_with_too_few_hashes_is_our_fault() -> None:
    with pytest.raises(ImpossibleError, match=r"^node store: expected 4 hashes, got 3"):
        span_hashes(lambda nodes: TREE.read(nodes)[1:], 5, 2, SIZE)


@pytest.mark.parametrize(
    ("first", "left", "right", "size", "says"),
    [
        (5, 1, 2, 12, "span: expected 2 hashes before record 5, got 1"),
        (5, 3, 2, 12, "span: expected 2 hashes before record 5, got 3"),
        (5, 2, 1, 12, "right: expected 2 hashes behind record 6 of 12, got 1"),
        (5, 2, 3, 12, "right: expected 2 hashes behind record 6 of 12, got 3"),
        (5, 2, 1, 7, "right: expected 0 hashes behind record 6 of 7, got 1"),
        (5, 2, 0, 6, "end of the span: expected at most 6 records, as in the checkpoint, got 7"),
    ],
)
def test_another_number_of_hashes_proves_nothing(first: int, left: int, right: int, size: int, says: str) -> None:
    with pytest.raises(ProofError, match=f"^{says}"):
        root_from_span(first, [EMPTY_ROOT] * left, [EMPTY_ROOT] * 2, [EMPTY_ROOT] * right, size)


# --- whole archives --------------------------------------------------------------------------

BOUNDS = [None, *sorted({*TIMES, *(at(minute, 1) for minute in MINUTES), at(4), at(59), "2025-01-01T00:00:00.000000Z"})]


def by_definition(size: int, since: str | None, until: str | None) -> tuple[int, int]:
    """The record just before and the one just behind, where they exist, and all between."""
    before = [i for i in range(size) if since is not None and TIMES[i] < since]
    behind = [i for i in range(size) if until is not None and TIMES[i] >= until]
    first = before[-1] if before else 0
    return first, (behind[0] + 1 if behind else size) - first


@pytest.mark.parametrize("size", [0, 1, 2, 5, 12])
def test_every_archive_of_every_interval_is_whole(size: int) -> None:
    for since in BOUNDS:
        for until in BOUNDS:
            if since is not None and until is not None and since > until:
                continue
            first, count = choose_span(TIMES.__getitem__, size, since, until)
            assert (first, count) == by_definition(size, since, until)
            taken: list[tuple[int, bytes]] = []
            lines = archive(since, until, first, count, size=size)
            span = check_span(lines, [LOG.vkey], take=lambda index, data, to=taken: to.append((index, data)))
            inside = [i for i in range(size) if (since or "") <= TIMES[i] and (until is None or TIMES[i] < until)]
            assert taken == [(i, RECORDS[i]) for i in inside]
            assert span.inside == len(inside)
            assert (span.first_time, span.last_time) == (
                (TIMES[inside[0]], TIMES[inside[-1]]) if inside else (None,) * 2
            )
            assert span.checkpoint == Checkpoint(ORIGIN, size, Tree.of(RECORDS[:size]).root)
            assert (span.header.first, span.header.count) == (first, count)
            assert (span.header.since, span.header.until) == (since, until)


def test_the_times_of_few_records_are_asked_for() -> None:
    asked = []

    def time_of(index: int) -> str:
        asked.append(index)
        return at(index // 100_000)

    assert choose_span(time_of, 1_000_000, at(3), at(5)) == (299_999, 200_002)
    assert len(asked) <= 2 * 20


SINCE, UNTIL = at(1), at(6)
LINES = archive(SINCE, UNTIL, 1, 9)
TEXT = b"".join(LINES)


def test_the_text_of_an_archive() -> None:
    # The format as its module describes it, with hashes of the slow definition.
    left, right = reference.mth(RECORDS[:1]).hex(), reference.mth(RECORDS[10:]).hex()
    header = (
        f'{{"count":9,"first":1,"format":"fairshoe-span/1","from":"{SINCE}","left":["{left}"],"right":["{right}"],'
        f'"to":"{UNTIL}"}}\n'
    )
    lines = b"".join(record + b"\n" for record in RECORDS[1:10])
    assert header.encode() + lines + b"\n" + head(SIZE).encode() == TEXT


def test_an_archive_is_read_from_a_binary_file() -> None:
    span = check_span(io.BytesIO(TEXT), [LOG.vkey], ORIGIN)
    assert (span.inside, span.first_time, span.last_time) == (7, at(1), at(5))


def test_the_same_archive_comes_from_tiles_alone() -> None:
    tiles = hash_reader(lambda tile: print_hashes(TREE.read(tile.nodes)), SIZE)
    header = SpanHeader(1, 9, SINCE, UNTIL, *span_hashes(tiles, 1, 9, SIZE))
    assert b"".join(print_span(header, RECORDS[1:10], head(SIZE))) == TEXT


def test_a_checkpoint_is_carried_with_all_its_signatures() -> None:
    cosigned = cosign(head(SIZE), WITNESS, 1_769_851_800)
    header = SpanHeader(1, 9, SINCE, UNTIL, *span_hashes(TREE.read, 1, 9, SIZE))
    text = b"".join(print_span(header, RECORDS[1:10], cosigned))
    assert text.endswith(cosigned.encode())
    assert checked(text.splitlines(keepends=True)).inside == 7


def test_an_archive_is_written_and_checked_record_by_record() -> None:
    passed: list[int] = []
    header = SpanHeader(0, SIZE, None, None, *span_hashes(TREE.read, 0, SIZE, SIZE))

    def records() -> Iterator[bytes]:
        for index, record in enumerate(RECORDS):
            assert passed == list(range(index))  # all before have left the writer and passed the checker
            yield record

    lines = print_span(header, records(), head(SIZE))
    checkpoint_split = (line for piece in lines for line in piece.splitlines(keepends=True))
    check_span(checkpoint_split, [LOG.vkey], take=lambda index, _: passed.append(index))
    assert passed == list(range(SIZE))


def test_the_same_records_prove_every_interval_between_the_same_neighbours() -> None:
    # From and to are the caller's question: moved within the gap before record 2 and behind record 8, the answer is
    # the same, so the archive is as true as before.
    lines = archive(at(0, 1), at(5, 1), 1, 9)
    assert lines[1:] == LINES[1:]
    assert checked(lines).inside == 7


# --- mutations -------------------------------------------------------------------------------

Mutation = Callable[[list[bytes]], list[bytes]]


def header_with(**changed: Any) -> Mutation:
    def mutate(lines: list[bytes]) -> list[bytes]:
        header = json.loads(lines[0]) | {key.rstrip("_"): value for key, value in changed.items()}
        return [print_canonical({key: value for key, value in header.items() if value != "gone"}) + b"\n", *lines[1:]]

    return mutate


def replaced(line: int, old: bytes, new: bytes) -> Mutation:
    """Put one text for another in a line, counted from 1."""

    def mutate(lines: list[bytes]) -> list[bytes]:
        assert old in lines[line - 1]
        return [*lines[: line - 1], lines[line - 1].replace(old, new, 1), *lines[line:]]

    return mutate


def arranged(*order: int | bytes) -> Mutation:
    """Take the lines of these numbers, from 1, in this order, and new lines as given."""
    return lambda lines: [lines[place - 1] if isinstance(place, int) else place for place in order]


def both(one: Mutation, other: Mutation) -> Mutation:
    return lambda lines: other(one(lines))


def record_with(line: int, **changed: Any) -> Mutation:
    def mutate(lines: list[bytes]) -> list[bytes]:
        record = json.loads(lines[line - 1]) | changed
        return [*lines[: line - 1], print_canonical(record) + b"\n", *lines[line:]]

    return mutate


def flipped(text: str) -> str:
    return f"{int(text[0], 16) ^ 1:x}{text[1:]}"


HEADER = json.loads(LINES[0])
LEFT, RIGHT = HEADER["left"], HEADER["right"]
ROOT = f"root of 12 records: expected {TREE.root.hex()}, got "
ALL = range(1, len(LINES) + 1)
OTHER_LOG = "fairshoe.example/other"

MUTATIONS: dict[str, tuple[Mutation, type[Exception], str]] = {
    # records: line 2 is record 1, line 10 is record 9, line 11 is the empty line
    "record dropped": (
        arranged(*(n for n in ALL if n != 5)),
        ProofError,
        f"line 9, record 8: time: expected a time before {at(6)} in all but the last record, got '{at(6)}'",
    ),
    "record dropped and counted out": (
        both(arranged(*(n for n in ALL if n != 5)), header_with(count=8)),
        ProofError,
        "right: expected 2 hashes behind record 8 of 12, got 1",
    ),
    "first record dropped and counted out": (
        both(arranged(*(n for n in ALL if n != 2)), header_with(first=2, count=8)),
        ProofError,
        f"line 2, record 2: time: expected a first record before {at(1)}, got '{at(1)}'",
    ),
    "last record dropped and counted out": (
        both(arranged(*(n for n in ALL if n != 10)), header_with(count=8)),
        ProofError,
        "right: expected 2 hashes behind record 8 of 12, got 1",
    ),
    "records of different times exchanged": (
        arranged(1, 2, 4, 3, *range(5, 17)),
        ProofError,
        f"line 4, record 3: time: expected a time not before the last record's, {at(2)}, got '{at(1)}'",
    ),
    "records of equal times exchanged": (arranged(1, 2, 3, 5, 4, *range(6, 17)), ProofError, ROOT),
    "record doubled": (
        arranged(1, 2, 3, 4, 4, *range(5, 17)),
        BundleError,
        "line 11: expected an empty line behind 9 records, got b'",
    ),
    "record doubled and counted in": (
        both(arranged(1, 2, 3, 4, 4, *range(5, 17)), header_with(count=10)),
        ProofError,
        ROOT,
    ),
    "record put in another's place": (arranged(1, 2, 3, 4, 4, *range(6, 17)), ProofError, ROOT),
    "record put in": (
        arranged(*range(1, 11), LINES[9], *range(11, 17)),
        BundleError,
        "line 11: expected an empty line behind 9 records, got b'",
    ),
    "record emptied": (
        arranged(1, 2, 3, b"\n", *range(5, 17)),
        BundleError,
        "line 4, record 3: expected a record, got 'an empty line'",
    ),
    "record edited": (record_with(4, count=63), ProofError, ROOT),
    "record of unknown type edited": (record_with(7, text="closed"), ProofError, ROOT),
    "record's time edited": (record_with(4, time=at(1, 5)), ProofError, ROOT),
    "witness before edited": (record_with(2, size=5), ProofError, ROOT),
    "witness behind edited": (record_with(10, coups=81), ProofError, ROOT),
    "record not canonical": (
        replaced(4, b'"count":64', b'"count": 64'),
        CanonicalError,
        "line 4, record 3: byte 9: expected the canonical form",
    ),
    "record with a byte outside ASCII": (
        replaced(4, b"shoe-1", b"sho\xe9-1"),
        CanonicalError,
        "line 4, record 3: byte ",
    ),
    "record that is no object": (
        arranged(1, 2, 3, b"[]\n", *range(5, 17)),
        CanonicalError,
        "line 4, record 3: expected an object",
    ),
    "record with a carriage return": (
        replaced(4, b"}\n", b"}\r\n"),
        CanonicalError,
        "line 4, record 3: byte ",
    ),
    "record with a key of its own": (
        record_with(4, extra=1),
        RecordError,
        "line 4, record 3: the document: expected only the keys",
    ),
    "record outside of a shoe with a key of its own": (
        record_with(6, extra=1),
        RecordError,
        "line 6, record 5: the document: expected only the keys",
    ),
    "record of rules that can't be played": (
        record_with(3, rules=EXAMPLES["open"]["rules"] | {"decks": 99}),
        RulesError,
        "line 3, record 2: ",
    ),
    "record of another protocol": (
        record_with(7, protocol="fairshoe/2"),
        RecordError,
        "line 7, record 6: protocol: expected fairshoe/1, got 'fairshoe/2'",
    ),
    "record of unknown type in a shoe": (
        record_with(4, type="peek"),
        RecordError,
        "line 4, record 3: type: expected a known record type, got 'peek'",
    ),
    "record of no type": (record_with(7, type=None), RecordError, "line 7, record 6: type: expected 1–128 characters"),
    "record of unknown type, time of another form": (
        record_with(7, time="2026-01-31T09:03:00Z"),
        RecordError,
        "line 7, record 6: time: expected a time such as",
    ),
    "record of unknown type, without a log": (
        record_with(7, log=None),
        RecordError,
        "line 7, record 6: log: expected a log's origin",
    ),
    "record of another log": (
        record_with(4, log=OTHER_LOG),
        ProofError,
        f"line 4, record 3: log: expected a record of {ORIGIN}, got '{OTHER_LOG}'",
    ),
    "first record of another log": (
        record_with(2, log=OTHER_LOG),
        ProofError,
        f"line 3, record 2: log: expected a record of {OTHER_LOG}, got '{ORIGIN}'",
    ),
    # header
    "first moved on": (header_with(first=2), ProofError, ROOT),
    "first moved back": (header_with(first=0), BundleError, "span header: left: expected 0 hashes before record 0"),
    "first moved far on": (header_with(first=3), BundleError, "span header: left: expected 2 hashes before record 3"),
    "first moved behind the log": (
        header_with(first=2**52),
        ProofError,
        f"end of the span: expected at most 12 records, as in the checkpoint, got {2**52 + 9}",
    ),
    "first negative": (header_with(first=-1), RecordError, "line 1, span header: first: expected an integer 0…"),
    "count raised": (
        header_with(count=10),
        ProofError,
        f"line 10, record 9: time: expected a time before {at(6)} in all but the last record, got '{at(6)}'",
    ),
    "count raised, to the end": (
        header_with(count=10, to=None),
        BundleError,
        "line 11, record 10: expected a record, got 'an empty line'",
    ),
    "count lowered": (
        header_with(count=8),
        BundleError,
        "line 10: expected an empty line behind 8 records, got b'",
    ),
    "count 0": (header_with(count=0), BundleError, "line 2: expected an empty line behind 0 records, got b'"),
    "count true": (header_with(count=True), RecordError, "line 1, span header: count: expected an integer 0…"),
    "hash before changed": (header_with(left=[flipped(LEFT[0])]), ProofError, ROOT),
    "hash behind changed": (header_with(right=[flipped(RIGHT[0])]), ProofError, ROOT),
    "hashes exchanged": (header_with(left=RIGHT, right=LEFT), ProofError, ROOT),
    "hash before missing": (header_with(left=[]), BundleError, "span header: left: expected 1 hashes before record 1"),
    "hash before put in": (header_with(left=LEFT * 2), BundleError, "span header: left: expected 1 hashes"),
    "hash behind missing": (header_with(right=[]), ProofError, "right: expected 1 hashes behind record 9 of 12, got 0"),
    "hash behind put in": (
        header_with(right=RIGHT * 2),
        ProofError,
        "right: expected 1 hashes behind record 9 of 12, got 2",
    ),
    "hash short": (
        header_with(right=[RIGHT[0][2:]]),
        RecordError,
        "line 1, span header: right[0]: expected 64 characters of lower-case hex",
    ),
    "hash in capitals": (header_with(left=[LEFT[0].upper()]), RecordError, "line 1, span header: left[0]: expected 64"),
    "129 hashes": (header_with(right=RIGHT * 129), RecordError, "line 1, span header: right: expected a list of 0…128"),
    "from moved back": (
        header_with(from_=at(0)),
        ProofError,
        f"line 2, record 1: time: expected a first record before {at(0)}, got '{at(0)}'",
    ),
    "from moved on": (
        header_with(from_=at(1, 1)),
        ProofError,
        f"line 3, record 2: time: expected {at(1, 1)} or later behind the first record, got '{at(1)}'",
    ),
    "from the beginning": (header_with(from_=None), BundleError, "span header: first: expected 0, where from is null"),
    "to moved back": (
        header_with(to=at(5)),
        ProofError,
        f"line 8, record 7: time: expected a time before {at(5)} in all but the last record, got '{at(5)}'",
    ),
    "to moved on": (
        header_with(to=at(6, 1)),
        ProofError,
        f"end of the span: expected a last record at {at(6, 1)}, got (9, '{at(6)}')",
    ),
    "to the end": (
        header_with(to=None),
        ProofError,
        f"end of the span: expected a last record at record 11, the log's last, got (9, '{at(6)}')",
    ),
    "from behind to": (
        header_with(from_=at(7)),
        BundleError,
        f"span header: to: expected a time not before {at(7)}, got '{at(6)}'",
    ),
    "from of another form": (
        header_with(from_="2026-01-31"),
        RecordError,
        "line 1, span header: from: expected a time such as",
    ),
    "another format": (
        header_with(format="fairshoe-span/2"),
        RecordError,
        "line 1, span header: format: expected fairshoe-span/1, got 'fairshoe-span/2'",
    ),
    "key missing": (
        header_with(to="gone"),
        RecordError,
        "line 1, span header: the document: expected the key to, got 'no such key'",
    ),
    "key put in": (header_with(size=12), RecordError, "line 1, span header: the document: expected only the keys"),
    "header not canonical": (
        replaced(1, b'"count":9', b'"count":09'),
        CanonicalError,
        "line 1, span header: not JSON at character ",
    ),
    "header missing": (arranged(*ALL[1:]), RecordError, "line 1, span header: the document: expected the key count"),
    # checkpoint
    "empty line missing": (
        arranged(*(n for n in ALL if n != 11)),
        BundleError,
        f"line 11: expected an empty line behind 9 records, got b'{ORIGIN}'",
    ),
    "empty line doubled": (arranged(*range(1, 12), 11, *range(12, 17)), SignatureError, f"signature of {LOG.vkey}"),
    "origin changed": (replaced(12, b"/log", b"/lag"), SignatureError, f"signature of {LOG.vkey}"),
    "size raised": (replaced(13, b"12", b"13"), SignatureError, f"signature of {LOG.vkey}"),
    "size not canonical": (replaced(13, b"12", b"012"), SignatureError, f"signature of {LOG.vkey}"),
    "root changed": (arranged(*range(1, 14), 11, *range(15, 17)), SignatureError, f"signature of {LOG.vkey}"),
    "signature missing": (arranged(*range(1, 15)), NoteError, "note: expected a blank line before the signatures"),
    "signature not base64": (replaced(16, b"log ", b"log !"), NoteError, "signature line: expected base64"),
    "signature of a stranger": (
        arranged(*range(1, 12), *head(SIZE, STRANGER).encode().splitlines(keepends=True)),
        SignatureError,
        f"note: expected a signature of {LOG.vkey}",
    ),
    "checkpoint of a smaller log": (
        arranged(*range(1, 12), *head(10).encode().splitlines(keepends=True)),
        ProofError,
        "right: expected 0 hashes behind record 9 of 10, got 1",
    ),
    "checkpoint of a log that ends within": (
        arranged(*range(1, 12), *head(5).encode().splitlines(keepends=True)),
        ProofError,
        "end of the span: expected at most 5 records, as in the checkpoint, got 10",
    ),
    "checkpoint of another history": (
        arranged(*range(1, 12), *head(SIZE, records=RECORDS[::-1]).encode().splitlines(keepends=True)),
        ProofError,
        "root of 12 records: expected ",
    ),
    "line behind the checkpoint": (
        lambda lines: [*lines, b"more\n"],
        NoteError,
        "signature line: expected — name base64, got 'more'",
    ),
    "record behind the checkpoint": (
        lambda lines: [*lines, lines[9]],
        NoteError,
        "signature line: expected — name base64, got ",
    ),
    "empty line behind the checkpoint": (lambda lines: [*lines, b"\n"], NoteError, "signature line: expected — name"),
    "checkpoint without its last newline": (
        lambda lines: [*lines[:-1], lines[-1][:-1]],
        NoteError,
        "note: expected a final newline",
    ),
    "checkpoint not UTF-8": (lambda lines: [*lines, b"\xff\n"], NoteError, "checkpoint: expected UTF-8, got 255"),
    "endless checkpoint": (
        lambda lines: [*lines, *[b"x" * 99_999 + b"\n"] * 10, b"y\n"],
        NoteError,
        "line 26: expected a checkpoint of at most 1000000 bytes, got 'more'",
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_archive_is_refused_with_its_reason(name: str) -> None:
    mutate, error, says = MUTATIONS[name]
    checked(LINES)
    with pytest.raises(error, match="^" + re.escape(says)) as caught:
        checked(mutate(list(LINES)))
    assert caught.type is error


def test_an_archive_cut_off_anywhere_is_refused() -> None:
    for end in range(len(LINES)):
        with pytest.raises((BundleError, NoteError)):
            checked(LINES[:end])
        for cut in (1, len(LINES[end]) // 2, len(LINES[end]) - 1):
            with pytest.raises((BundleError, NoteError)):
                checked([*LINES[:end], LINES[end][:cut]])


@pytest.mark.parametrize(
    ("end", "says"),
    [
        (0, "span: expected a header, got 'the end of the text'"),
        (1, "span: expected record 1, got 'the end of the text'"),
        (6, "span: expected record 6, got 'the end of the text'"),
        (10, "span: expected an empty line, got 'the end of the text'"),
    ],
)
def test_where_an_archive_ends_too_early_is_said(end: int, says: str) -> None:
    with pytest.raises(BundleError, match=f"^{says}$"):
        checked(LINES[:end])
    with pytest.raises(BundleError, match=f"^line {end + 1}: expected .* and a newline, got b'"):
        checked([*LINES[:end], b"{"])


def test_no_flipped_bit_passes() -> None:
    for position in range(0, len(TEXT), 7):
        changed = bytearray(TEXT)
        changed[position] ^= 1 << position % 8
        with pytest.raises((InputError, ProofError)):
            checked(bytes(changed).splitlines(keepends=True))


# True records under a true head, but for an interval that they don't cover: only the ends tell.
INCOMPLETE = {
    "begins too late": (at(1), at(6), 2, 8, f"line 2, record 2: time: expected a first record before {at(1)}"),
    "begins too early": (at(2), at(6), 1, 9, f"line 3, record 2: time: expected {at(2)} or later behind the first"),
    "ends too early": (at(1), at(6), 1, 8, f"end of the span: expected a last record at {at(6)}, got (8, '{at(5)}')"),
    "ends too late": (at(1), at(6), 1, 10, f"line 10, record 9: time: expected a time before {at(6)} in all but"),
    "ends before the log": (at(1), None, 1, 10, "end of the span: expected a last record at record 11, the log's last"),
    "has nothing": (None, at(6), 0, 0, f"end of the span: expected a last record at {at(6)}, got (-1, None)"),
    "is behind it all": (at(2), at(2), 9, 3, f"line 2, record 9: time: expected a first record before {at(2)}"),
    "is before it all": (at(8), at(9), 0, 1, f"end of the span: expected a last record at {at(9)}, got (0, '{at(0)}')"),
}


@pytest.mark.parametrize("name", INCOMPLETE)
def test_true_records_that_are_not_the_whole_interval_are_refused(name: str) -> None:
    since, until, first, count, says = INCOMPLETE[name]
    with pytest.raises(ProofError, match="^" + re.escape(says)):
        checked(archive(since, until, first, count))


def test_a_log_whose_times_go_back_is_refused_though_its_head_is_signed() -> None:
    records = [RECORDS[at_] for at_ in (0, 1, 2, 6, 3, 4, 5)]
    with pytest.raises(ProofError, match=r"^line 6, record 4: time: expected a time not before the last record's"):
        checked(archive(None, None, 0, 7, size=7, records=records))


def test_the_log_is_the_callers_to_name() -> None:
    check_span(LINES, [LOG.vkey], ORIGIN)
    with pytest.raises(ProofError, match=f"^line 2, record 1: log: expected a record of {OTHER_LOG}, got '{ORIGIN}'"):
        check_span(LINES, [LOG.vkey], OTHER_LOG)
    with pytest.raises(SignatureError, match=r"^note: expected a signature of "):
        check_span(LINES, [STRANGER.vkey])
    with pytest.raises(SignatureError, match=r"^note: expected a signature of a known key"):
        check_span(LINES, [])


def test_records_of_one_log_under_the_head_of_another_are_refused() -> None:
    other = SignerKey.from_seed(OTHER_LOG, bytes(range(32)))
    lines = [*LINES[:11], *head(SIZE, other).encode().splitlines(keepends=True)]
    with pytest.raises(ProofError, match=f"^checkpoint origin: expected the checkpoint of {ORIGIN}, got '{OTHER_LOG}'"):
        check_span(lines, [other.vkey])


# --- writing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("records", "says"),
    [
        (RECORDS[1:9], "span: expected 9 records, got 8"),
        (RECORDS[1:11], "span: expected 9 records, got 10"),
        ([], "span: expected 9 records, got 0"),
        ([*RECORDS[1:4], b"{\n}"], "span: record 4: expected a record of one line, got b'{\\n}'"),
    ],
)
def test_records_that_are_not_what_the_header_says_are_not_written(records: list[bytes], says: str) -> None:
    header = SpanHeader(1, 9, SINCE, UNTIL, *span_hashes(TREE.read, 1, 9, SIZE))
    with pytest.raises(InputError, match="^" + re.escape(says)):
        list(print_span(header, records, head(SIZE)))


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"first": 3}, "span header: left: expected 2 hashes before record 3, got 1"),
        ({"left": ()}, "span header: left: expected 1 hashes before record 1, got 0"),
        ({"since": None}, "span header: first: expected 0, where from is null, got 1"),
        ({"since": at(7)}, f"span header: to: expected a time not before {at(7)}, got '{at(6)}'"),
    ],
)
def test_a_header_that_can_not_be_true_is_not_made(changed: dict[str, Any], says: str) -> None:
    fields = {"first": 1, "count": 9, "since": SINCE, "until": UNTIL, "left": (EMPTY_ROOT,), "right": (EMPTY_ROOT,)}
    SpanHeader(**fields)
    with pytest.raises(BundleError, match="^" + re.escape(says)):
        SpanHeader(**(fields | changed))
