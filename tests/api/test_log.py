"""The log in the database against RFC 6962 as the reference states it, and what it refuses to take in."""

from __future__ import annotations

import pytest
from sqlalchemy import event, func, select

from api.db.tables import CheckpointRow, LeafRow, LogHeadRow, LogNodeRow
from api.keyring import active_vkeys
from api.log import CLOCK_TOLERANCE_S, Entry, lock_head, make_receipts, prove_all, prove_extension
from api.settings import SetupError
from shoe.errors import ImpossibleError, InputError
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.merkle import check_consistency, check_inclusion, leaf_hash
from shoe.proof.note import SignerKey, VerifierKey, parse_vkey
from shoe.proof.records import Alarm, Key, Record, parse_as
from shoe.proof.tlog import check_receipt
from tests.api.installation import ORIGIN, Chance, Found, Installation
from tests.reference import merkle_reference as reference

TIME = "2026-01-31T12:00:00.000000Z"


def alarm(number: int, time: str = TIME, log: str = ORIGIN) -> Alarm:
    return Alarm(log=log, time=time, table=f"t{number}", monitor="m", evidence="1", threshold="2")


def append(house: Installation, *records: Record) -> tuple[int, ...]:
    with house.service.store.writing() as session:
        head, _ = lock_head(session, house.service.world)
        receipts = house.service.log.append(session, head, [Entry(record, record.to_bytes()) for record in records])
        return tuple(receipt.proof.index for receipt in receipts)


def vkeys(house: Installation) -> tuple[VerifierKey, ...]:
    with house.service.reading() as session:
        return active_vkeys(session)


def stored(house: Installation) -> tuple[list[bytes], LogHeadRow]:
    with house.service.reading() as session:
        leaves = list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))
        head = session.get_one(LogHeadRow, 1)
        session.expunge_all()
        return leaves, head


def test_a_fresh_log_begins_with_its_own_key(house: Installation) -> None:
    """Protocol §8, record `key`."""
    (leaf,), head = stored(house)
    key = parse_as(Key, leaf)
    assert (key.status, key.log, key.time) == ("added", ORIGIN, TIME)
    checkpoint = check_checkpoint(head.checkpoint, [parse_vkey(key.vkey)], ORIGIN)
    assert (checkpoint.size, checkpoint.root) == (1, reference.mth([leaf]))


def test_head_nodes_and_checkpoints_are_those_of_the_leaves(house: Installation) -> None:
    (vkey,) = vkeys(house)
    for count in (1, 1, 5, 2, 11):
        append(house, *(alarm(number) for number in range(count)))
        leaves, head = stored(house)
        assert head.size == len(leaves)
        assert head.root == reference.mth(leaves)
        assert check_checkpoint(head.checkpoint, [vkey], ORIGIN).root == head.root
    with house.service.reading() as session:
        nodes = dict(session.execute(select(LogNodeRow.position, LogNodeRow.hash)).all())
        sizes = list(session.scalars(select(CheckpointRow.size).order_by(CheckpointRow.size)))
        last = session.get_one(CheckpointRow, 21).text
    # One node for each perfect subtree, at the position midway between its children's (service.md, tlog).
    subtrees = [(level, index) for level in range(5) for index in range(21 >> level)]
    assert nodes == {
        ((2 * index + 1) << level) - 1: reference.mth(leaves[index << level : (index + 1) << level])
        for level, index in subtrees
    }
    assert (sizes, last) == ([1, 2, 3, 8, 10, 21], head.checkpoint)


def test_every_inclusion_and_consistency_path_is_the_references(house: Installation) -> None:
    append(house, *(alarm(number) for number in range(12)))
    leaves, _ = stored(house)
    with house.service.reading() as session:
        for size in range(1, 14):
            wanted = [tuple(reference.path(index, leaves[:size])) for index in range(size)]
            assert prove_all(session, range(size), size) == wanted
            for old in range(1, size):
                assert prove_extension(session, old, size) == tuple(reference.proof(old, leaves[:size]))


def test_paths_check_out(house: Installation) -> None:
    append(house, *(alarm(number) for number in range(6)))
    leaves, head = stored(house)
    with house.service.reading() as session:
        (path,) = prove_all(session, [3], 7)
        check_inclusion(leaf_hash(leaves[3]), 3, 7, path, head.root)
        check_consistency(4, reference.mth(leaves[:4]), 7, head.root, prove_extension(session, 4, 7))


@pytest.mark.parametrize(("index", "size"), [(3, 3), (7, 7), (-1, 3)])
def test_a_leaf_outside_the_tree_has_no_path(house: Installation, index: int, size: int) -> None:
    append(house, *(alarm(number) for number in range(6)))
    with house.service.reading() as session, pytest.raises(InputError, match="leaf index"):
        prove_all(session, [0, index], size)


@pytest.mark.parametrize(("old", "new"), [(4, 3), (-1, 3)])
def test_a_log_does_not_shrink(house: Installation, old: int, new: int) -> None:
    append(house, *(alarm(number) for number in range(6)))
    with house.service.reading() as session, pytest.raises(InputError, match="old size"):
        prove_extension(session, old, new)


def test_a_tree_larger_than_the_log_has_no_nodes(house: Installation) -> None:
    with house.service.reading() as session, pytest.raises(KeyError):
        prove_all(session, [0], 2)


def test_a_proof_of_many_leaves_reads_the_database_once(house: Installation) -> None:
    append(house, *(alarm(number) for number in range(40)))
    with house.service.reading() as session:
        statements: list[str] = []
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *args: statements.append(args[2]))
        prove_all(session, range(41), 41)
        prove_extension(session, 17, 41)
    assert len(statements) == 2


def test_receipts_are_under_the_current_head(house: Installation) -> None:
    indices = append(house, alarm(1), alarm(2))
    append(house, alarm(3))
    (vkey,) = vkeys(house)
    with house.service.reading() as session:
        for index, receipt in zip(indices, make_receipts(session, indices), strict=True):
            place, checkpoint = check_receipt(receipt, [vkey], ORIGIN)
            assert (place, checkpoint.size) == (index, 4)


# --- what it does not take in ------------------------------------------------------------------

BAD = [
    pytest.param([alarm(1, log="other.example/log")], id="another log's"),
    pytest.param([alarm(1, time="2026-01-31T11:59:59.999999Z")], id="older than the last"),
    pytest.param([alarm(1, time="2027-01-01T00:00:00.000000Z"), alarm(2)], id="out of order among themselves"),
    pytest.param([alarm(1, time="2026-01-31 12:00:00Z")], id="no time"),
    pytest.param([alarm(1, time="2026-02-30T12:00:00.000000Z")], id="no date"),
    pytest.param([Alarm(log=ORIGIN, time=TIME, table="é", monitor="m", evidence="1", threshold="2")], id="no name"),
    pytest.param([Alarm(log=ORIGIN, time=TIME, table="t", monitor="m", evidence="01", threshold="2")], id="no decimal"),
]


@pytest.mark.parametrize("records", BAD)
def test_what_a_verifier_would_refuse_is_not_logged(house: Installation, records: list[Record]) -> None:
    before = house.checkpoint()
    with pytest.raises((ImpossibleError, InputError)):
        append(house, *records)
    with house.service.reading() as session:
        assert session.scalar(select(func.count()).select_from(LeafRow)) == 1
    assert house.checkpoint() == before


# --- starts ------------------------------------------------------------------------------------


def test_a_second_start_finds_the_log_as_it_was(house: Installation) -> None:
    house.table()
    before, key = house.checkpoint(), house.client.get("/v1/log/key").text
    for origin in (house.origin, None):
        house.stop()
        house.origin = origin
        house.start()
    assert (house.checkpoint(), house.client.get("/v1/log/key").text) == (before, key)


def test_without_a_name_the_first_start_makes_one_of_its_own(found: Found) -> None:
    one, two = found("one", origin=None), found("two", origin=None, chance=Chance(100))
    origins = [each.service.log.origin for each in (one, two)]
    assert origins[0] != origins[1]
    for each, origin in zip((one, two), origins, strict=True):
        assert origin.startswith("localhost/fairshoe-")
        assert stored(each)[1].checkpoint.startswith(origin + "\n")


def test_a_log_keeps_its_name(house: Installation) -> None:
    house.origin = "other.example/log"
    with pytest.raises(SetupError, match=r"origin: expected fairshoe.example/log, the log's name since"):
        house.start()


def test_the_signing_key_is_not_shown(house: Installation) -> None:
    _, seed, _ = (draw for draw in house.chance.drawn if len(draw) == 32)
    assert (SignerKey.from_seed(ORIGIN, seed).vkey,) == vkeys(house)
    assert seed.hex() not in repr(house.service.log)
    assert repr(seed)[2:-1] not in repr(house.service)


def test_a_clock_set_far_back_signs_nothing(house: Installation) -> None:
    """What it says can't be signed: a deadline that has passed would not have, to whoever believes it."""
    house.table()
    shoe = house.open()
    house.clock.forward(-CLOCK_TOLERANCE_S - 0.000001)
    said = house.refuse(f"/shoes/{shoe}/lock", {}, "read-only", 503)
    wanted = "The clock says 2026-01-31T11:59:54.999999Z, which is before the log's last record of " + TIME
    assert said == f"{wanted}: set the clock right."
    assert house.get(f"/shoes/{shoe}/state")["state"] == "open"


def test_a_clock_set_back_a_little_stands_still(house: Installation) -> None:
    """Protocol §8: the time never decreases along the chain."""
    house.table()
    shoe = house.open()
    house.clock.forward(-CLOCK_TOLERANCE_S)
    house.post(f"/shoes/{shoe}/lock")
    house.clock.forward(CLOCK_TOLERANCE_S + 1)
    house.post(f"/shoes/{shoe}/seal")
    times = [
        str(parse_as(Record, item["record"].encode()).time) for item in house.get(f"/shoes/{shoe}/records")["records"]
    ]
    assert times == [TIME, TIME, "2026-01-31T12:00:01.000000Z"]
