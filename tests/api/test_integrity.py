"""The log's self-check: all of it recomputed, the start's bounded look, the auditor's steps, the halt; no false alarm.

Right values come from `tests/reference/merkle_reference.py` (RFC 6962 §2.1 as it stands) and from keys that sign here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, select, text

from api.cases.keys import add_key, revoke_key
from api.db.sessions import Store
from api.db.tables import CheckpointRow, CosignatureRow, LeafRow, LogNodeRow
from api.integrity import auditor as auditing
from api.integrity import start
from api.integrity.auditor import Auditor
from api.integrity.complaints import Complaints
from api.integrity.durability import damage, durability_complaints
from api.integrity.halt import halt, resume
from api.integrity.leaves import LeafCheck
from api.integrity.recompute import Report, recompute
from api.integrity.start import check_start
from api.integrity.tree import WIDTH, Leaf, Slice, TreeCheck, node_at
from api.log import Entry, lock_head
from api.permit import Permit
from api.pin import Pin
from shoe.proof.checkpoint import cosign
from shoe.proof.merkle import Node
from shoe.proof.note import COSIGNATURE, SignerKey, parse_note, parse_vkey, signatures_by
from shoe.proof.records import Alarm, record_hash
from tests.api.installation import ON_POSTGRESQL, ON_SQLITE, ORIGIN, Installation
from tests.api.tampering import (
    SIZE,
    Originals,
    flipped,
    full_rights,
    head_of,
    node_of,
    past_triggers,
    pin_of,
    rebuild,
    record_of,
    restart,
    set_row,
)
from tests.reference import merkle_reference as reference

LARGE = 5 * WIDTH + 28
"""Five whole slices and a part: perfect subtrees of 4,096, 1,024, 16, 8 and 4 leaves."""

TIME = "2020-01-31T12:00:00.000000Z"


@pytest.fixture(scope="module")
def large_originals(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Originals:
    folder = tmp_path_factory.mktemp("large")
    return Originals(folder, lambda: request.getfixturevalue("postgres"), lambda house: grow(house, LARGE - SIZE))


@pytest.fixture
def large(large_originals: Originals, database: str, tmp_path: Path) -> Iterator[Installation]:
    with large_originals.copy(database, tmp_path / "house") as house:
        yield house


def grow(house: Installation, count: int, at_once: int = 700) -> None:
    """Log so many alarms, up to `at_once` under each checkpoint."""
    for first in range(0, count, at_once):
        with house.service.store.writing() as session:
            head, time = lock_head(session, house.service.world)
            numbers = range(first, min(first + at_once, count))
            records = [
                Alarm(log=ORIGIN, time=time, table=f"t{n}", monitor="m", evidence="1", threshold="2") for n in numbers
            ]
            house.service.log.append(session, head, [Entry(record, record.to_bytes()) for record in records])
        house.service.permit.pin(head.size, head.checkpoint)


def alarm(number: int, time: str) -> Alarm:
    return Alarm(log=ORIGIN, time=time, table=f"t{number}", monitor="m", evidence="1", threshold="2")


def recomputed(house: Installation) -> Report:
    with house.service.reading() as session:
        return recompute(session, ORIGIN)


def faults_of(house: Installation) -> tuple[str, ...]:
    service = house.service
    return check_start(service.store, service.log, service.world, service.permit.pinned).faults


# --- the tree, slice by slice ------------------------------------------------------------------

RECORDS = [b"leaf %d" % number for number in range(2 * WIDTH + 5)]


def reference_nodes(records: list[bytes]) -> dict[int, bytes]:
    """Every perfect subtree's hash by RFC 6962's MTH, at the position midway between its children's."""
    return {
        ((2 * index + 1) << level) - 1: reference.mth(records[index << level : (index + 1) << level])
        for level in range(len(records).bit_length())
        for index in range(len(records) >> level)
    }


def slices(records: list[bytes], nodes: dict[int, bytes]) -> Iterator[Slice]:
    """What `read_slice` would read."""
    for first in range(0, len(records), WIDTH):
        leaves = [
            Leaf(index, record, "", None, None) for index, record in enumerate(records[first : first + WIDTH], first)
        ]
        there = {at: found for at, found in nodes.items() if 2 * first - 1 <= at <= 2 * (first + WIDTH) - 2}
        yield Slice(first, first + len(leaves), leaves, there)


@pytest.mark.parametrize("size", [1, 2, 7, WIDTH - 1, WIDTH, WIDTH + 1, 2 * WIDTH - 1, 2 * WIDTH, 2 * WIDTH + 5])
def test_the_walk_comes_to_the_references_nodes_and_roots(size: int) -> None:
    complaints, records = Complaints(), RECORDS[:size]
    tree = TreeCheck(complaints)
    for part in slices(records, reference_nodes(records)):
        tree.take(part)
        for end in {part.start + 1, (part.start + part.stop) // 2 + 1, part.stop - 1, part.stop} - {part.start}:
            assert tree.root(end) == reference.mth(records[:end])
    assert (tree.place, complaints.listed) == (size, [])


def test_without_nodes_every_one_of_them_is_missing() -> None:
    complaints = Complaints(most=10_000)
    tree = TreeCheck(complaints)
    for part in slices(RECORDS, {}):
        tree.take(part)
    assert len(complaints.listed) == len(reference_nodes(RECORDS))
    assert all(complaint.endswith("got None.") for complaint in complaints.listed)


@pytest.mark.parametrize("level", range(12))
def test_a_position_names_its_node(level: int) -> None:
    for index in (0, 1, 2, 77):
        assert node_at(Node(level, index).position) == Node(level, index)


# --- the whole log, recomputed -----------------------------------------------------------------

FIRST_OF_LEVEL = [Node(level, 0).position for level in range(13)]
OTHERS = [Node(level, (LARGE >> level) - 1).position for level in range(12)]
EVERY_KIND = sorted({*FIRST_OF_LEVEL, *OTHERS, Node(10, 3).position, Node(11, 1).position, Node(4, 256).position})
"""Nodes of every level, first and last, in whole slices and in the part at the end, over one slice and over several."""


def test_a_log_that_is_as_it_was_written_passes(large: Installation) -> None:
    done: list[tuple[int, int]] = []
    with large.service.reading() as session:
        report = recompute(session, ORIGIN, lambda *progress: done.append(progress))
        records = list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))
        kept = len(session.scalars(select(CheckpointRow.size)).all())
    assert (report.size, report.root, report.checkpoints) == (LARGE, reference.mth(records), kept)
    assert (report.cosignatures, report.complaints, report.omitted) == (0, (), 0)
    assert done == [(min(WIDTH * number, LARGE), LARGE) for number in range(1, 6)]
    assert large.service.permit.faults == faults_of(large) == ()


def test_a_bit_flipped_in_any_kind_of_node_is_named_and_nothing_else(large: Installation) -> None:
    for position in EVERY_KIND:
        stored = node_of(large, position)
        set_row(large, LogNodeRow, position, hash=flipped(stored, position % 256))
        (complaint,) = recomputed(large).complaints
        level, index = node_at(position).level, node_at(position).index
        wanted = f"node at level {level}, index {index} (position {position}): expected {stored.hex()}, got "
        assert wanted in complaint
        set_row(large, LogNodeRow, position, hash=stored)
    assert recomputed(large).complaints == ()


def test_a_node_deleted_or_too_many_is_named(large: Installation) -> None:
    for position in (*EVERY_KIND[::4], 4095):
        stored = node_of(large, position)
        past_triggers(f"DELETE FROM log_nodes WHERE position = {position}")(large)
        (complaint,) = recomputed(large).complaints
        assert f"(position {position}): expected {stored.hex()}, got None" in complaint
        with full_rights(large) as connection:
            connection.execute(insert(LogNodeRow).values(position=position, hash=stored))
    # Not full yet: in the last slice, over it, over several, beyond it; and no node at all.
    for position in (
        2 * LARGE - 1,
        Node(5, 160).position,
        Node(10, 5).position,
        Node(11, 2).position,
        8191,
        99_999,
        -1,
    ):
        with full_rights(large) as connection:
            connection.execute(insert(LogNodeRow).values(position=position, hash=bytes(32)))
        (complaint,) = recomputed(large).complaints
        assert f"position {position}" in complaint
        assert "expected none, for the log does not fill it" in complaint
        past_triggers(f"DELETE FROM log_nodes WHERE position = {position}")(large)


def test_an_edit_is_found_where_the_nodes_made_anew_for_it_end(large: Installation) -> None:
    """Whoever puts the nodes right up to a level is found at the next."""
    index, other = 2_500, b'{"edited":true}'
    set_row(large, LeafRow, index, record=other)
    with large.service.reading() as session:
        records = list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))
    for level in range(13):
        above = Node(level, index >> level)
        named = [complaint for complaint in recomputed(large).complaints if "position" in complaint]
        assert len(named) == 1
        assert f"(position {above.position}): expected" in named[0]
        start_, stop = above.index << level, (above.index + 1) << level
        set_row(large, LogNodeRow, above.position, hash=reference.mth(records[start_:stop]))
    complaints = recomputed(large).complaints
    assert not any("position" in complaint for complaint in complaints)
    assert any("log_head: frontier: " in complaint for complaint in complaints)
    assert any(re.search(r"checkpoint over \d+ leaves: root: expected ", complaint) for complaint in complaints)


def test_a_forged_tree_is_dated_by_the_first_checkpoint_that_covers_it(logged: Installation) -> None:
    set_row(logged, LeafRow, 1, record=record_of(logged, 1).replace(b'"size":4', b'"size":5'))
    with full_rights(logged) as connection:
        rebuild(connection)
    sizes = [re.search(r"checkpoint over (\d+) leaves: root", each) for each in recomputed(logged).complaints]
    assert [int(found[1]) for found in sizes if found] == [2, 3, 4, 5, 6, 7, 8, 9, 11]


def test_the_first_twenty_complaints_are_kept_and_the_others_counted(logged: Installation) -> None:
    grow(logged, 60, at_once=1)
    past_triggers("UPDATE leaves SET type = 'nothing'")(logged)
    report = recomputed(logged)
    assert (len(report.complaints), report.omitted) == (20, SIZE + 60 - 20)


def test_leaves_that_are_not_there_end_the_walk(large: Installation) -> None:
    """A head that claims more than anybody could walk through, and leaves in one slice of five."""
    past_triggers("DELETE FROM leaves WHERE log_index >= 1024", f"UPDATE log_head SET size = {2**60}")(large)
    report = recomputed(large)
    assert "leaves: expected 1152921504606846976 leaves, got 1024." in report.complaints
    past_triggers("DELETE FROM leaves")(large)
    assert "leaves: expected 1152921504606846976 leaves, got 0." in recomputed(large).complaints


def test_checkpoints_of_sizes_that_never_were(logged: Installation) -> None:
    with logged.service.reading() as session:
        kept = session.get_one(CheckpointRow, 3).text
    for size in (-1, 10, 99):
        with full_rights(logged) as connection:
            connection.execute(insert(CheckpointRow).values(size=size, text=kept))
        complaints = recomputed(logged).complaints
        wanted = "checkpoint over 10 leaves: size: expected 10, got 3" if size == 10 else f"of 11 leaves, got {size}"
        assert any(wanted in complaint for complaint in complaints)
        past_triggers(f"DELETE FROM checkpoints WHERE size = {size}")(logged)


@ON_SQLITE
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE leaves SET record = 'text' WHERE log_index = 5",
        "UPDATE log_nodes SET hash = 'text' WHERE position = 9",
        "UPDATE leaves SET seq = 'text' WHERE log_index = 5",
        "UPDATE log_head SET size = 'text'",
        "UPDATE log_head SET frontier = 'text'",
        "UPDATE log_head SET checkpoint = x'00'",
        "UPDATE checkpoints SET text = x'00' WHERE size = 5",
        "UPDATE checkpoints SET text = 'text' WHERE size = 5",
        "UPDATE signing_keys SET vkey = x'00'",
        "UPDATE signing_keys SET log_index = 'text'",
    ],
)
def test_values_of_another_kind_are_complained_of_too(logged: Installation, statement: str) -> None:
    """SQLite takes text for a number, and a number for text: no check may fall over it."""
    past_triggers(statement)(logged)
    assert recomputed(logged).complaints or faults_of(logged)
    assert faults_of(logged) or "checkpoints" in statement


# --- records, their chain and their columns ----------------------------------------------------


def read_leaves(house: Installation) -> list[Leaf]:
    with house.service.reading() as session:
        rows = select(LeafRow.log_index, LeafRow.record, LeafRow.type, LeafRow.shoe, LeafRow.seq)
        return [Leaf(*row) for row in session.execute(rows.order_by(LeafRow.log_index))]


def checked(leaves: list[Leaf], first: int = 0, *, strict: bool = False) -> list[str]:
    complaints = Complaints(most=100)
    check = LeafCheck(complaints, ORIGIN, first=first, strict=strict)
    for leaf in leaves:
        check.take(leaf)
    return complaints.listed


def changed(leaf: Leaf, old: bytes, new: bytes) -> Leaf:
    assert old in leaf.record
    return leaf._replace(record=leaf.record.replace(old, new))


BROKEN: dict[str, tuple[Callable[[list[Leaf]], list[Leaf]], str]] = {
    "not JSON": (lambda all_: [*all_[:5], all_[5]._replace(record=b"{"), *all_[6:]], r"^leaf 5: .*line 1 column 2"),
    "no text": (lambda all_: [*all_[:5], all_[5]._replace(record=b"\xff"), *all_[6:]], r"^leaf 5: 'ascii' codec"),
    "a list": (lambda all_: [*all_[:5], all_[5]._replace(record=b"[1]"), *all_[6:]], r"^leaf 5: expected an object"),
    "nested without end": (
        lambda all_: [*all_[:5], all_[5]._replace(record=b"[" * 100_000), *all_[6:]],
        r"^leaf 5: .*recursion|^leaf 5: .*nest|^leaf 5: .*[Ss]tack",
    ),
    "another log's": (
        lambda all_: [*all_[:5], changed(all_[5], ORIGIN.encode(), b"other.example/log"), *all_[6:]],
        r"^leaf 5: log: expected fairshoe.example/log, got 'other.example/log'",
    ),
    "older than the one before": (
        lambda all_: [*all_[:5], changed(all_[5], b"2020-01", b"2019-01"), *all_[6:]],
        r"^leaf 5: time: expected 2020-01-31T12:00:00.000000Z or later, got '2019-01-31T12:00:00.000000Z'",
    ),
    "a record of its shoe left out": (
        lambda all_: [*all_[:5], *all_[6:]],
        r"^leaf 6: shoe \S+: seq: expected 3, got 4",
    ),
    "two of its shoe exchanged": (
        lambda all_: [*all_[:5], all_[6], all_[5], *all_[7:]],
        r"^leaf 6: shoe \S+: previous: expected \w{64}, got '\w{64}'",
    ),
    "a shoe without its beginning": (
        lambda all_: [*all_[:2], *all_[3:]],
        r"^leaf 3: shoe \S+: expected one open record before all others of it",
    ),
    "a shoe that begins twice": (
        lambda all_: [*all_[:3], all_[2], *all_[3:]],
        r"^leaf 2: shoe \S+: expected one open record before all others of it",
    ),
    "a shoe that goes on after its end": (
        lambda all_: [*all_, all_[9]],
        r"^leaf 9: shoe \S+: expected one open record before all others of it",
    ),
    "a table's first shoe that follows another": (
        lambda all_: [*all_[:2], changed(all_[2], b"0" * 64, b"1" * 64), *all_[3:]],
        r"^leaf 2: shoe \S+: previous: expected 0{64}, got '1{64}'",
    ),
    "a key added twice": (lambda all_: [all_[0], *all_], r"^leaf 0: expected a key that was not added before"),
    "a key ended that was not added": (
        lambda all_: [changed(all_[0], b'"added"', b'"retired"'), *all_[1:]],
        r"^leaf 0: expected a key that was added, and not ended before",
    ),
    "no key": (
        lambda all_: [changed(all_[0], b"+", b"-"), *all_[1:]],
        r"^leaf 0: vkey: verifier key: expected name\+id\+key",
    ),
}


@pytest.mark.parametrize(("break_", "says"), BROKEN.values(), ids=BROKEN)
def test_a_broken_record_or_chain_is_named(
    logged: Installation, break_: Callable[[list[Leaf]], list[Leaf]], says: str
) -> None:
    leaves = read_leaves(logged)
    assert checked(leaves) == checked(leaves, strict=True) == []
    assert any(re.search(says, complaint) for complaint in checked(break_(leaves))), checked(break_(leaves))


def test_a_strict_walk_refuses_what_a_verifier_refuses_to_read(logged: Installation) -> None:
    leaves = read_leaves(logged)
    spaced = [*leaves[:10], changed(leaves[10], b'","', b'", "')]
    assert checked(spaced) == []
    (complaint,) = checked(spaced, strict=True)
    assert re.search(r"^leaf 10: byte \d+: expected the canonical form", complaint)


def test_a_walk_that_begins_later_knows_nothing_of_what_was_before(logged: Installation) -> None:
    """Nor does it complain of it; but from the first record of a shoe that it sees, the chain must hold."""
    leaves = read_leaves(logged)
    for first in range(1, SIZE):
        assert checked(leaves[first:], first) == []
    assert checked([*leaves[4:6], *leaves[7:]], 4)[0].startswith("leaf 7: shoe ")


def test_the_next_shoe_of_a_table_follows_the_last_record_of_the_one_before(logged: Installation) -> None:
    logged.open()
    leaves = read_leaves(logged)
    assert checked(leaves) == []
    last = record_hash(leaves[10].record).hex().encode()
    broken = [*leaves[:-1], changed(leaves[-1], last, b"0" * 64)]
    (complaint,) = checked(broken)
    assert re.search(rf"shoe \S+: previous: expected {last.decode()}, got '0{{64}}'", complaint)


# --- keys and signatures -----------------------------------------------------------------------


def rotated(house: Installation) -> list[str]:
    """A log whose keys came and went in every way; the keys in their order."""
    service = house.service
    with service.reading() as session:
        first = str(start.View(session, head_of(house), "", service.vault, "", None).known[0])  # type: ignore[arg-type]
    second, _ = service.write(add_key(service))
    grow(house, 2, at_once=1)
    service.write(revoke_key(first, "retired"))
    grow(house, 1)
    third, _ = service.write(add_key(service))
    grow(house, 1)
    service.write(revoke_key(second, "compromised"))
    grow(house, 1)
    return [first, second, third]


def test_who_must_sign_is_who_did(logged: Installation) -> None:
    """Every checkpoint's lines, by key id alone, against the keys that the `key` records make due."""
    keys = [parse_vkey(vkey) for vkey in rotated(logged)]
    assert recomputed(logged).complaints == faults_of(logged) == ()
    with logged.service.reading() as session:
        history, wrong = start.KeyHistory.read(session)
        kept = session.execute(select(CheckpointRow.size, CheckpointRow.text).order_by(CheckpointRow.size)).all()
    assert wrong == []
    before, seen = 0, set()
    for size, text_ in kept:
        signed = [key for key, _ in signatures_by(parse_note(text_), keys)]
        assert list(history.due(before, size)) == signed
        seen.add(tuple(keys.index(key) for key in signed))
        before = size
    assert seen == {(0,), (0, 1), (1,), (1, 2), (2,)}
    restart(logged)
    assert logged.service.permit.faults == ()


def test_a_signature_that_is_due_and_taken_away_is_missed(logged: Installation) -> None:
    _, second, third = rotated(logged)
    with logged.service.reading() as session:
        kept = session.execute(select(CheckpointRow.size, CheckpointRow.text).order_by(CheckpointRow.size)).all()
    keys = [parse_vkey(second), parse_vkey(third)]
    size, text_ = next((each[0], each[1]) for each in kept if len(list(signatures_by(parse_note(each[1]), keys))) == 2)
    shorter = "\n".join([*text_.split("\n")[:-2], ""])
    set_row(logged, CheckpointRow, size, text=shorter)
    (complaint,) = recomputed(logged).complaints
    assert complaint.startswith(f"checkpoint over {size} leaves: expected a signature of {third}, got ")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ("status = 'active' WHERE log_index = 0", "expected retired, added at leaf 0, got 'active, added at leaf 0'"),
        ("status = 'retired' WHERE status = 'compromised'", "expected compromised, added at leaf 11, got 'retired"),
        ("log_index = 3 WHERE log_index = 0", "expected retired, added at leaf 0, got 'retired, added at leaf 3'"),
    ],
)
def test_a_keys_row_is_held_against_the_logs_records(logged: Installation, values: str, says: str) -> None:
    rotated(logged)
    past_triggers(f"UPDATE signing_keys SET {values}")(logged)
    for found in (recomputed(logged).complaints, faults_of(logged)):
        assert any(says in complaint for complaint in found), found


def cosigned(house: Installation, size: int = 8, time_s: int = 1_580_000_000) -> CosignatureRow:
    """A witness's row under a kept checkpoint, as the service keeps it."""
    witness = SignerKey.from_seed("witness.example/w", bytes(range(32)), COSIGNATURE)
    with house.service.reading() as session:
        kept = session.get_one(CheckpointRow, size).text
    line = cosign(kept, witness, time_s).removeprefix(kept)
    return CosignatureRow(size=size, vkey=str(witness.vkey), time_s=time_s, line=line)


def test_cosignatures_are_checked(logged: Installation) -> None:
    with logged.service.store.writing() as session:
        session.add(cosigned(logged))
    report = recomputed(logged)
    assert (report.cosignatures, report.complaints) == (1, ())
    past_triggers("UPDATE cosignatures SET time_s = time_s + 1")(logged)
    assert "time: expected [1580000001], got [1580000000]" in recomputed(logged).complaints[0]
    past_triggers("UPDATE cosignatures SET size = 9")(logged)
    assert "under the checkpoint over 9 leaves: signature of witness.example/w+" in recomputed(logged).complaints[0]
    past_triggers("UPDATE cosignatures SET size = 8, line = 'hello'")(logged)
    assert "under the checkpoint over 8 leaves: signature line: expected" in recomputed(logged).complaints[0]


# --- the start's look --------------------------------------------------------------------------


def counted(store: Store, work: Callable[[], Any]) -> int:
    """How many statements the work sends to the database."""
    sent: list[str] = []

    def note(*args: Any) -> None:
        sent.append(args[2])

    event.listen(store.engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(store.engine, "before_cursor_execute", note)
    return len(sent)


@pytest.fixture
def short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every log be a long one: the last two slices are recomputed, one of them parsed."""
    monkeypatch.setattr(start, "REHASHED_WHOLE", 0)
    monkeypatch.setattr(start, "REHASHED", WIDTH)
    monkeypatch.setattr(start, "PARSED", 20)


@pytest.mark.usefixtures("short_looks")
def test_of_a_long_log_the_start_looks_at_the_end_and_what_it_stands_on(large: Installation) -> None:
    assert faults_of(large) == ()
    end = (LARGE - WIDTH) // WIDTH * WIDTH
    for position in EVERY_KIND:
        node, stored = node_at(position), node_of(large, position)
        set_row(large, LogNodeRow, position, hash=flipped(stored, 9))
        faults = faults_of(large)
        if (node.index + 1) << node.level > end:
            assert any(f"(position {position}): expected {stored.hex()}" in fault for fault in faults), faults
        elif node == Node(12, 0):  # taken on trust as what the end stands on, but the frontier repeats it
            assert any("log_head: frontier: " in fault for fault in faults)
        else:
            assert faults == ()  # for the auditor and fairshoe log check to find
            assert len(recomputed(large).complaints) == 1
        set_row(large, LogNodeRow, position, hash=stored)


@pytest.mark.usefixtures("short_looks")
def test_a_start_costs_no_more_the_longer_the_log(large: Installation) -> None:
    before = counted(large.service.store, lambda: faults_of(large))
    grow(large, 4 * WIDTH)
    assert counted(large.service.store, lambda: faults_of(large)) <= before


def test_a_log_that_others_write_meanwhile_is_no_fault(logged: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may log and pin between any two reads of a start."""
    read, seen = Pin.read, []

    def read_and_be_overtaken(pin: Pin) -> str | None:
        text_ = read(pin)
        if not seen:
            seen.append(text_)
            logged.post("/tables/t/books", {"size": 1})
        return text_

    monkeypatch.setattr(Pin, "read", read_and_be_overtaken)
    assert faults_of(logged) == ()
    assert pin_of(logged).read_text() != seen[0]


def test_no_check_raises_false_alarm_while_the_log_grows(logged: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "STEP_LEAVES", 1)
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            while not stop.is_set():
                logged.post("/tables/t/books", {"size": 1})
        except BaseException as error:
            failed.append(error)
            raise

    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    auditor, looks = Auditor(logged.service, logged.folder / "halt"), 0
    try:
        while logged.size() < 150:
            assert faults_of(logged) == recomputed(logged).complaints == auditor.step().complaints == ()
            looks += 1
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert (failed, looks > 3) == ([], True)


@ON_SQLITE
def test_a_session_that_would_not_last_is_a_fault(logged: Installation) -> None:
    with logged.service.store.engine.connect() as connection:
        assert list(durability_complaints(connection)) == []
        connection.rollback()
        connection.connection.driver_connection.execute("PRAGMA synchronous=NORMAL")
        (complaint,) = durability_complaints(connection)
        connection.invalidate()
    assert complaint == "SQLite's pragma synchronous: expected 2 or 3, got 1"


@ON_POSTGRESQL
@pytest.mark.parametrize(
    ("name", "value", "good"),
    [("synchronous_commit", "off", "on or remote_apply"), ("session_replication_role", "replica", "origin"),
     ("zero_damaged_pages", "on", "off")],
)  # fmt: skip
def test_a_setting_that_would_not_last_is_a_fault(logged: Installation, name: str, value: str, good: str) -> None:
    with logged.service.store.engine.connect() as connection:
        assert list(durability_complaints(connection)) == []
        connection.execute(text(f"SET LOCAL {name} TO {value}"))
        assert list(durability_complaints(connection)) == [
            f"PostgreSQL's setting {name}: expected {good}, got '{value}'"
        ]


@ON_SQLITE
def test_damage_in_the_file_is_found(logged: Installation) -> None:
    """An index that has lost an entry: SQLite itself tells, and no query of the log's would notice."""
    with logged.service.store.engine.connect() as connection:
        assert list(damage(connection)) == []
    logged.stop()
    file = logged.folder / "fairshoe.sqlite3"
    stored = file.read_bytes()
    shoe = b"016ffb78"
    places = [match.start() for match in re.finditer(shoe, stored)]
    assert len(places) > 10
    for place in places:
        file.write_bytes(stored[:place] + b"#" + stored[place + 1 :])
        with logged.service.store.engine.connect() as connection:
            found = list(damage(connection))
        logged.stop()
        if found:
            break
    assert found[0].startswith("database file: ")


# --- the auditor and the halt ------------------------------------------------------------------


def test_the_auditor_goes_on_from_step_to_step_and_begins_anew(
    large: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "STEP_LEAVES", 2 * WIDTH)
    monkeypatch.setattr(auditing, "STEP_S", 3600.0)
    auditor = Auditor(large.service, large.folder / "halt")
    steps = [auditor.step() for _ in range(4)]
    assert [step.done for step in steps] == [2 * WIDTH, 4 * WIDTH, LARGE, 2 * WIDTH]
    assert [step.rounds for step in steps] == [0, 0, 1, 1]
    grow(large, 3 * WIDTH)
    steps = [auditor.step() for _ in range(3)]
    assert [(step.done, step.size, step.rounds) for step in steps] == [
        (4 * WIDTH, LARGE + 3 * WIDTH, 1),
        (6 * WIDTH, LARGE + 3 * WIDTH, 1),
        (8 * WIDTH, LARGE + 3 * WIDTH, 1),
    ]
    assert not (large.folder / "halt").exists()


def test_the_auditor_checks_one_slice_however_short_its_time(
    large: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "STEP_S", 0.0)
    auditor = Auditor(large.service, large.folder / "halt")
    assert [auditor.step().done for _ in range(7)] == [*[WIDTH * number for number in range(1, 6)], LARGE, WIDTH]


def test_the_auditor_stops_at_the_first_complaint_and_says_it_again(
    large: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auditing, "STEP_LEAVES", WIDTH)
    auditor, halting = Auditor(large.service, large.folder / "halt"), large.folder / "halt"
    position = Node(3, 200).position
    set_row(large, LogNodeRow, position, hash=bytes(32))
    assert auditor.step().complaints == ()
    found = auditor.step()
    assert (found.done, found.rounds) == (2 * WIDTH, 1)
    (complaint,) = found.complaints
    assert f"(position {position})" in complaint
    assert halting.read_text() == f"Since {TIME} nothing is signed: {complaint}\n"
    assert large.service.permit.reasons() == [halting.read_text().strip()]
    halting.unlink()
    assert [auditor.step().complaints for _ in range(2)] == [(), (complaint,)]
    assert halting.exists()


def test_a_log_set_back_under_the_auditor_is_a_complaint(large: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "STEP_LEAVES", 3 * WIDTH)
    auditor = Auditor(large.service, large.folder / "halt")
    auditor.step()
    execute_all = [f"DELETE FROM leaves WHERE log_index >= {WIDTH}", f"UPDATE log_head SET size = {WIDTH}"]
    past_triggers(*execute_all)(large)
    assert auditor.step().complaints == ("leaves: expected 1024 leaves, got 3072.",)


def test_who_halts_first_gives_the_reason_and_resuming_takes_it_away(tmp_path: Path) -> None:
    path = tmp_path / "halt"
    assert not resume(path)
    assert halt(path, TIME, "leaf 5: wrong.")
    assert not halt(path, "2021-01-01T00:00:00.000000Z", "leaf 6: wrong.")
    assert path.read_text() == f"Since {TIME} nothing is signed: leaf 5: wrong.\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["halt"]
    assert resume(path)
    assert list(tmp_path.iterdir()) == []


def test_halts_at_once_leave_one_whole_file(tmp_path: Path) -> None:
    reasons = [f"reason {number}" * 1000 for number in range(8)]
    new: list[bool] = []
    threads = [
        threading.Thread(target=lambda r=reason: new.append(halt(tmp_path / "halt", TIME, r))) for reason in reasons
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == [False] * 7 + [True]
    assert (tmp_path / "halt").read_text().removesuffix("\n").split("signed: ")[1] in reasons
    assert [each.name for each in tmp_path.iterdir()] == ["halt"]


def test_a_halt_file_stops_signing_whatever_is_in_it(tmp_path: Path) -> None:
    permit = Permit(Pin(tmp_path / "pin"), tmp_path / "halt")
    assert permit.reasons() == []
    for content, reason in (
        (b"", f"The file {tmp_path / 'halt'} is there."),
        (b"stop\n", "stop"),
        (b"\xff", "\N{REPLACEMENT CHARACTER}"),
    ):
        (tmp_path / "halt").write_bytes(content)
        assert permit.reasons() == [reason]
    (tmp_path / "halt").unlink()
    (tmp_path / "halt").mkdir()
    assert permit.reasons() == [f"The file {tmp_path / 'halt'} can't be read: Is a directory."]


def test_a_service_that_is_ready_says_so(logged: Installation) -> None:
    assert logged.client.get("/readyz").json == {"status": "ok"}
    (logged.folder / "halt").write_text("The auditor is at lunch.\n")
    answer = logged.client.get("/readyz")
    assert (answer.status_code, answer.json and answer.json["detail"]) == (503, "The auditor is at lunch.")
    assert logged.client.get("/livez").status_code == 200


def test_what_is_complained_of_is_one_line_once() -> None:
    complaints = Complaints(most=2)
    for complaint in ("a\n b", "a b.", "what?", "c", "c", "d"):
        complaints.add(complaint)
    assert (complaints.listed, complaints.omitted) == (["a b.", "what?"], 3)
    assert complaints.sentences() == ("a b.", "what?", "And 3 more.")
