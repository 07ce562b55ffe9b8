"""Somebody changes the log behind the service's back: every way is seen, named with its place, and stops all signing.

Each attack is made on a copy of one log of eleven leaves (`tampering.Originals`), on both databases. That the tests can
fail is shown beside: with those checks off that find an attack, the same start sees nothing, and signs on top of it.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from api.cases.keys import add_key, revoke_key
from api.cli import fairshoe
from api.db.tables import CheckpointRow, LeafRow
from api.integrity import start
from api.integrity.auditor import Auditor
from api.integrity.halt import resume
from api.integrity.succession import Succession
from api.keyring import active_vkeys
from api.settings import SetupError
from shoe.proof.note import VerifierKey
from tests.api import tampering
from tests.api.installation import ON_POSTGRESQL, Chance, Installation, problem_of
from tests.api.stored import everything_stored
from tests.api.tampering import (
    SIZE,
    Originals,
    Tamper,
    execute,
    flip_node,
    flipped,
    head_of,
    past_triggers,
    pin_of,
    restart,
    set_row,
)
from tests.first_keys import serves, signed
from tests.reference import merkle_reference as reference

ROOT = Path(__file__).parents[2]
BOOKS = "/v1/tables/t/books"
ONE_SEED = {"size": 1}
"""A request that logs one record, wherever the table's shoes stand."""

HEAD, CHECKPOINT, END, TRIGGERS, DURABILITY, CLOCK, KEYS, PIN = start.CHECKS
GUARD_OFF = "ALTER TABLE leaves DISABLE TRIGGER guard_leaves_no_update"
AS_A_REPLICA = (
    "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', current_database()); END $$"
)


def log_check(house: Installation, *args: str) -> Result:
    environment = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    return CliRunner(env=environment).invoke(fairshoe, ["log", "check", *args])


def log_stored(house: Installation) -> dict[str, Any]:
    stored = everything_stored(house.service.store)
    return {name: stored[name] for name in ("log_head", "leaves", "log_nodes", "checkpoints", "signing_keys")}


def require_read_only(house: Installation, says: str) -> None:
    """Every write is refused with the reason, nothing is signed, and reading goes on."""
    before, pinned = log_stored(house), pin_of(house).read_bytes() if pin_of(house).exists() else None
    refused = house.client.post(BOOKS, json=ONE_SEED)
    assert re.search(says, problem_of(refused, "read-only", 503))
    assert refused.headers["Retry-After"]
    assert re.search(says, problem_of(house.client.get("/readyz"), "read-only", 503))
    assert log_stored(house) == before
    assert (pin_of(house).read_bytes() if pin_of(house).exists() else None) == pinned
    require_reading(house)


def require_reading(house: Installation) -> None:
    assert house.client.get("/livez").status_code == 200
    assert [table["id"] for table in house.get("/tables")["tables"]] == ["t"]
    (book,) = house.get("/tables/t/books")["books"]
    assert book["state"] == "published"
    with house.service.reading() as session:
        (shoe,) = set(session.scalars(select(LeafRow.shoe).where(LeafRow.shoe.is_not(None))))
    assert len(house.get(f"/shoes/{shoe}/records")["records"]) > 0


def sign(house: Installation) -> int:
    """Try to log one record more; give the answer's status."""
    return house.client.post(BOOKS, json=ONE_SEED).status_code


# --- at the start ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attack:
    """An attack on a stopped installation: what the start says of it, and the checks that say so.

    `signs` says whether the service signs on top of it where all these are off.
    """

    tamper: Tamper
    says: str
    found_by: tuple[str, ...]
    signs: bool = True


NODE_KINDS = {"a leaf's": 10, "one in the middle": 9, "the frontier's largest": 7, "the frontier's last": 20}
ON_BOTH = {
    "the tail deleted, all set back": Attack(
        tampering.cut_off,
        r"checkpoint\.pinned: expected a log of 11 leaves or more, got 6: the database was set back",
        (PIN,),
    ),
    "two leaves swapped": Attack(
        tampering.swap_leaves,
        r"leaf 5: node at level 0, index 5 \(position 10\): expected \w{64}, got '\w{64}'",
        (END,),
    ),
    "a record edited": Attack(
        tampering.edit_record, r"leaf 5: node at level 0, index 5 \(position 10\): expected", (END,)
    ),
    "a record and its hash edited": Attack(
        tampering.edit_record_and_its_hash, r"node at level 1, index 2 \(position 9\): expected", (END,)
    ),
    "a record edited, the tree and head made anew": Attack(
        tampering.edit_record_and_rebuild,
        r"checkpoint over 11 leaves: root: expected \w{64}, got '\w{64}'",
        (CHECKPOINT, END, PIN),
    ),
    **{
        f"a bit flipped in a node: {kind}": Attack(
            flip_node(position), rf"node at level \d, index \d+ \(position {position}\): expected", (HEAD, END, PIN)
        )
        for kind, position in NODE_KINDS.items()
    },
    "a node deleted": Attack(
        past_triggers("DELETE FROM log_nodes WHERE position = 9"), r"\(position 9\): expected \w{64}, got None", (END,)
    ),
    "a node of the frontier deleted": Attack(
        past_triggers("DELETE FROM log_nodes WHERE position = 7"),
        r"node at level 3, index 0 \(position 7\): expected a hash of 32 bytes, got None",
        (HEAD, END, PIN),
    ),
    "a node too many": Attack(
        past_triggers("INSERT INTO log_nodes SELECT 15, hash FROM log_nodes WHERE position = 7"),
        r"node at level 4, index 0 \(position 15\): expected none, for the log does not fill it",
        (END,),
    ),
    "a leaf deleted": Attack(
        past_triggers("DELETE FROM leaves WHERE log_index = 4"), r"leaf 4: expected a record, got None", (END,)
    ),
    "the last leaf deleted": Attack(
        past_triggers("DELETE FROM leaves WHERE log_index = 10"),
        r"log_head: size: expected 10, the number of leaves, got 11",
        (HEAD, END, TRIGGERS),
        signs=False,
    ),
    "a leaf too many": Attack(
        past_triggers("INSERT INTO leaves SELECT 11, record, type, NULL, NULL FROM leaves WHERE log_index = 1"),
        r"log_head: size: expected 12, the number of leaves, got 11",
        (HEAD,),
        signs=False,
    ),
    "a column that hides a record": Attack(
        past_triggers("UPDATE leaves SET type = 'bets' WHERE log_index = 5"),
        r"leaf 5: column type: expected coup, got 'bets'",
        (END,),
    ),
    "a record moved to another shoe": Attack(
        past_triggers("UPDATE leaves SET seq = 99 WHERE log_index = 5"),
        r"leaf 5: column seq: expected 3, got 99",
        (END,),
    ),
    "a bit flipped in the head's root": Attack(
        lambda house: set_row(house, tampering.LogHeadRow, 1, root=flipped(head_of(house).root)),
        r"log_head: root: expected \w{64}, got '\w{64}'",
        (HEAD, CHECKPOINT),
    ),
    "a bit flipped in the head's frontier": Attack(
        lambda house: set_row(house, tampering.LogHeadRow, 1, frontier=flipped(head_of(house).frontier, 500)),
        r"log_head: frontier: expected the 3 hashes of the nodes, 96 bytes, got 'another at byte 62'",
        (HEAD,),
    ),
    "the head's time set back": Attack(
        past_triggers("UPDATE log_head SET time = '2019-01-01T00:00:00.000000Z'"),
        r"log_head: time: expected 2020-01-31T12:00:00.000000Z, got '2019-01-01T00:00:00.000000Z'",
        (END,),
    ),
    "no head": Attack(past_triggers("DELETE FROM log_head"), r"log_head: expected one row, got none", (), signs=False),
    "a head beyond all leaves": Attack(
        past_triggers("UPDATE log_head SET size = 1152921504606846976"),
        r"log_head: size: expected 11, the number of leaves, got 1152921504606846976",
        (HEAD, CHECKPOINT, END),
        signs=False,
    ),
    "another key in the row": Attack(
        tampering.replace_key,
        r"signing_keys: expected a key that a record of the log adds, got 'fairshoe\.example/log\+",
        (CHECKPOINT, KEYS, PIN),
    ),
    "a key beside": Attack(
        tampering.add_key,
        r"signing_keys: expected a key that a record of the log adds, got 'fairshoe\.example/log\+",
        (KEYS,),
    ),
    "the key ended, and no record says so": Attack(
        tampering.end_key, r"expected active, added at leaf 0, got 'retired, added at leaf 0'", (KEYS,), signs=False
    ),
    "the head signed by another key": Attack(
        tampering.sign_by_another,
        r"checkpoint over 11 leaves: note: expected a signature of fairshoe\.example/log\+",
        (CHECKPOINT,),
    ),
    "an older checkpoint in the head": Attack(
        tampering.show_older_checkpoint, r"checkpoint over 11 leaves: size: expected 11, got 8", (CHECKPOINT,)
    ),
    "the head's checkpoint not kept": Attack(
        past_triggers("DELETE FROM checkpoints WHERE size = 11"),
        r"checkpoints: row of size 11: expected the checkpoint in log_head, got None",
        (CHECKPOINT,),
    ),
    "a trigger dropped": Attack(tampering.drop_trigger, r"trigger guard_leaves_no_update is missing", (TRIGGERS,)),
    "a trigger altered": Attack(
        tampering.alter_trigger,
        r"trigger guard_leaves_no_update is not the one that this version puts there",
        (TRIGGERS,),
    ),
    "the pin deleted": Attack(tampering.delete_pin, r"checkpoint\.pinned: missing, so that nothing outside", (PIN,)),
    "the pin not a text": Attack(
        tampering.write_pin(b"\xff\xfe"), r"checkpoint\.pinned: byte 0: expected UTF-8, got 255", (PIN,), signs=False
    ),
    "the pin another text": Attack(
        tampering.write_pin(b"hello\n"), r"checkpoint\.pinned: note: expected a blank line", (PIN,), signs=False
    ),
    "the pin empty": Attack(
        tampering.write_pin(b""), r"checkpoint\.pinned: note: expected a final newline, got ''", (PIN,), signs=False
    ),
    "a bit flipped in the pin": Attack(
        tampering.flip_pin,
        r"checkpoint\.pinned: signature of fairshoe\.example/log\+\S+: expected a good signature",
        (PIN,),
    ),
    "the pin another log's": Attack(
        tampering.pin_another_log,
        r"checkpoint\.pinned: expected a checkpoint of fairshoe\.example/log, got 'other\.example/log'",
        (PIN,),
    ),
    "another vault's key": Attack(
        tampering.another_vault_key,
        r"signing_keys: \S+: seed: the vault's key does not open a secret",
        (KEYS,),
        signs=False,
    ),
    "no vault's key": Attack(
        tampering.no_vault_key,
        r"signing_keys: \S+: seed: \S+vault\.key: the vault's key is not there",
        (KEYS,),
        signs=False,
    ),
}
ON_POSTGRESQL_ALONE = {
    "a trigger switched off": Attack(
        execute(GUARD_OFF), r"trigger guard_leaves_no_update is not the one that this version puts there", (TRIGGERS,)
    ),
    "all triggers switched off": Attack(
        execute(AS_A_REPLICA),
        r"PostgreSQL's setting session_replication_role: expected origin, got 'replica'",
        (DURABILITY,),
    ),
}


@pytest.mark.parametrize("attack", ON_BOTH.values(), ids=ON_BOTH)
def test_an_attack_on_a_stopped_service(logged: Installation, attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    is_seen(logged, attack, monkeypatch)


@ON_POSTGRESQL
@pytest.mark.parametrize("attack", ON_POSTGRESQL_ALONE.values(), ids=ON_POSTGRESQL_ALONE)
def test_an_attack_that_only_postgresql_allows(
    logged: Installation, attack: Attack, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_seen(logged, attack, monkeypatch)


def is_seen(logged: Installation, attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    attack.tamper(logged)
    restart(logged)
    faults = logged.service.permit.faults
    assert any(re.search(attack.says, fault) for fault in faults), faults
    assert all(fault.endswith((".", "?")) for fault in faults)
    require_read_only(logged, attack.says)

    checked = log_check(logged)
    assert (checked.exit_code, checked.stderr) == (1, "")
    assert re.search(attack.says, checked.stdout)
    assert re.search(r"^Since \S+Z nothing is signed: ", (logged.folder / "halt").read_text())

    assert resume(logged.folder / "halt")
    gets_through(logged, attack, monkeypatch)


def gets_through(house: Installation, attack: Attack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same start with the checks off that found it, and those of the succession: this test can fail."""
    left = {name: check for name, check in start.CHECKS.items() if name not in attack.found_by}
    monkeypatch.setattr(start, "CHECKS", left)
    monkeypatch.setattr(Succession, "require", lambda *_: None)
    if not attack.found_by:
        return
    restart(house)
    assert house.service.permit.faults == ()
    # What stops it then is no refusal, but an error that goes to the log.
    monkeypatch.setattr(house.app.logger, "disabled", True)
    assert (sign(house) == 201) is attack.signs


def test_a_clock_set_back_between_two_starts(logged: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    says = "The clock says 2020-01-31T11:00:00.000000Z, which is before the log's last record of 2020-01-31T12:00:00"
    tampering.set_clock_back(logged)
    restart(logged)
    require_read_only(logged, says)
    monkeypatch.setattr(start, "CHECKS", {name: check for name, check in start.CHECKS.items() if name != CLOCK})
    restart(logged)
    assert logged.service.permit.faults == ()


@pytest.mark.parametrize("position", [node for node in range(2 * SIZE - 1) if node not in {15, 19}])
def test_a_bit_flipped_in_any_node_is_named(logged: Installation, position: int) -> None:
    """All 19 nodes of a log of 11 leaves: the positions up to 20 but 15 and 19, whose subtrees are not full yet."""
    service, stored = logged.service, tampering.node_of(logged, position)
    for bit in (0, 77, 255):
        set_row(logged, tampering.LogNodeRow, position, hash=flipped(stored, bit))
        faults = start.check_start(service.store, service.log, service.world, service.permit.pinned).faults
        assert sum(f"(position {position}): expected" in fault for fault in faults) == 1, faults
        assert not any("position" in fault and f"(position {position})" not in fault for fault in faults)


# --- an older state restored -------------------------------------------------------------------


@contextmanager
def older(house: Installation, request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep a copy of the database as it is now; leaving the block, put it in the place of the newer one."""
    house.stop()
    file = house.folder / "fairshoe.sqlite3"
    server = None if house.database_url is None else request.getfixturevalue("postgres")
    kept = (
        str(shutil.copy(file, house.folder / "kept")) if server is None else server.create_database(house.database_url)
    )
    house.start()
    yield
    house.stop()
    if server is None:
        shutil.copy(kept, file)
    else:
        server.drop_database(house.database_url)
        house.database_url = kept


def test_an_older_database_restored(
    logged: Installation, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = r"checkpoint\.pinned: expected a log of 14 leaves or more, got 11: the database was set back"
    with older(logged, request):
        assert [sign(logged) for _ in range(3)] == [201] * 3
    logged.start()
    require_read_only(logged, says)
    checked = log_check(logged)
    assert checked.exit_code == 1
    assert re.search(says, checked.stdout)
    resume(logged.folder / "halt")
    gets_through(logged, Attack(execute(), says, (PIN,)), monkeypatch)


def test_an_older_database_restored_with_its_pin_is_what_only_witnesses_see(
    logged: Installation, request: pytest.FixtureRequest
) -> None:
    """Stated, not hidden: who can set back the folder as well leaves nothing here that could tell."""
    pinned = pin_of(logged).read_text()
    with older(logged, request):
        assert sign(logged) == 201
    pin_of(logged).write_text(pinned)
    logged.start()
    assert logged.service.permit.faults == ()


def test_an_older_database_goes_on_once_it_has_caught_up(logged: Installation, request: pytest.FixtureRequest) -> None:
    """A crash of the machine may lose the pin's last second: a database ahead of its pin is as it should be."""
    pinned = pin_of(logged).read_text()
    assert sign(logged) == 201
    pin_of(logged).write_text(pinned)
    restart(logged)
    assert logged.service.permit.faults == ()
    assert pin_of(logged).read_text() == logged.checkpoint()
    assert sign(logged) == 201


@pytest.mark.parametrize("pin", ["kept", "corrupt"])
def test_no_second_log_is_founded_where_one_was_pinned(
    logged: Installation, request: pytest.FixtureRequest, pin: str
) -> None:
    logged.stop()
    if pin == "corrupt":
        pin_of(logged).write_bytes(b"\xff")
    if logged.database_url is None:
        (logged.folder / "fairshoe.sqlite3").unlink()
    else:
        server = request.getfixturevalue("postgres")
        server.drop_database(logged.database_url)
        logged.database_url = server.create_database()
    for _ in range(2):
        with pytest.raises(SetupError, match=r"the database is empty, but \S+checkpoint\.pinned holds a checkpoint"):
            logged.start()
    pin_of(logged).unlink()
    logged.start()
    assert logged.size() == 1


def test_a_database_emptied_of_its_log_founds_none(logged: Installation) -> None:
    """Tables and shoes are there, and even the pin is gone."""
    tables = ("log_head", "leaves", "log_nodes", "checkpoints")
    past_triggers(*[f"DELETE FROM {table}" for table in tables])(logged)
    pin_of(logged).unlink()
    with pytest.raises(SetupError, match="the database holds a log without its first record"):
        restart(logged)


@pytest.mark.parametrize(
    "edited",
    ["DELETE FROM leaves WHERE log_index = 0", "UPDATE leaves SET record = CAST(type AS BLOB) WHERE log_index = 0"],
)
def test_a_first_record_that_is_spoilt(logged: Installation, edited: str) -> None:
    if logged.database_url is not None:
        edited = edited.replace("CAST(type AS BLOB)", "convert_to(type, 'UTF8')")
    past_triggers(edited)(logged)
    restart(logged)
    assert logged.service.log.origin == tampering.ORIGIN
    require_read_only(logged, "leaf 0: ")


def test_the_first_start_pins_the_log_it_founds(originals: Originals, database: str, tmp_path: Path) -> None:
    with originals.copy(database, tmp_path / "house") as house:
        assert pin_of(house).read_text() == house.checkpoint()


# --- while it runs -----------------------------------------------------------------------------

AT_ONCE = {
    "the tail deleted, all set back": (
        tampering.cut_off,
        "expected a log of 11 leaves or more, got 6: the database was set back",
    ),
    "a record edited, the tree and head made anew": (
        tampering.edit_record_and_rebuild,
        r"log_head: frontier: expected the root \w{64}, as it was signed, got '\w{64}'",
    ),
    "the head signed by another key": (
        tampering.sign_by_another,
        "note: expected a signature of fairshoe.example/log",
    ),
    "a record more, signed by another key, and pinned": (
        tampering.forge_growth,
        "note: expected a signature of fairshoe.example/log",
    ),
    "an older checkpoint in the head": (
        tampering.show_older_checkpoint,
        "log_head: checkpoint: expected one over 11 leaves .*, got 'one over 8 leaves",
    ),
    "the frontier cut": (
        past_triggers("UPDATE log_head SET frontier = root"),
        "frontier of 11 leaves: expected 3 hashes, got 1",
    ),
    "the pin not a text": (tampering.write_pin(b"\xff\xfe"), "can't decode byte 0xff|expected UTF-8"),
    "the pin another text": (tampering.write_pin(b"hello\n"), "note: expected a blank line"),
}


@pytest.mark.parametrize(("tamper", "says"), AT_ONCE.values(), ids=AT_ONCE)
def test_an_attack_on_a_running_service_stops_the_next_signature(
    logged: Installation, tamper: Tamper, says: str
) -> None:
    assert sign_free(logged)
    tamper(logged)
    before = log_stored(logged)
    for _ in range(2):
        assert re.search(says, problem_of(logged.client.post(BOOKS, json=ONE_SEED), "read-only", 503))
    assert log_stored(logged) == before
    require_reading(logged)


def sign_free(house: Installation) -> bool:
    return house.client.get("/readyz").json == {"status": "ok"}


UNSEEN = [tampering.cut_off, tampering.edit_record_and_rebuild, tampering.sign_by_another, tampering.forge_growth]


@pytest.mark.parametrize("tamper", UNSEEN)
def test_without_the_look_before_each_signature_these_would_be_signed(
    logged: Installation, tamper: Tamper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Succession, "require", lambda *_: None)
    restart(logged)
    tamper(logged)
    assert sign(logged) == 201


def test_heads_that_another_process_signed_are_followed(logged: Installation) -> None:
    """What this process has not signed itself is checked, by the keys of now or by what was checked before."""
    other = Installation(logged.folder, logged.clock, Chance(2000), database_url=logged.database_url)
    try:
        for house in (logged, other, other, logged, logged, other):
            assert sign(house) == 201
        first = str(active(logged)[0])
        second, _ = other.service.write(add_key(other.service))
        assert sign(logged) == 201
        logged.service.write(revoke_key(first, "compromised"))
        assert sign(other) == 201
        assert [str(key) for key in active(logged)] == [second]
    finally:
        other.stop()


def active(house: Installation) -> tuple[VerifierKey, ...]:
    with house.service.reading() as session:
        return active_vkeys(session)


def test_a_key_compromised_right_after_another_was_added(logged: Installation) -> None:
    """The head to be followed is signed by the compromised key alone: by this process, or one that ended before."""
    first = str(active(logged)[0])
    logged.service.write(add_key(logged.service))
    restart(logged)
    logged.service.write(revoke_key(first, "compromised"))
    assert sign(logged) == 201
    second = str(active(logged)[0])
    logged.service.write(add_key(logged.service))
    logged.service.write(revoke_key(second, "compromised"))
    assert sign(logged) == 201
    restart(logged)
    assert logged.service.permit.faults == ()


def test_a_clock_set_back_while_it_runs(logged: Installation) -> None:
    tampering.set_clock_back(logged)
    detail = problem_of(logged.client.post(BOOKS, json=ONE_SEED), "read-only", 503)
    assert detail.startswith("The clock says 2020-01-31T11:00:00.000000Z, which is before the log's last record")
    logged.clock.forward(3600)
    assert sign(logged) == 201


def test_a_pin_deleted_while_it_runs_is_written_again(logged: Installation) -> None:
    tampering.delete_pin(logged)
    assert sign(logged) == 201
    assert pin_of(logged).read_text() == logged.checkpoint()


def replace_kept(house: Installation) -> None:
    """The root that a checkpoint says, eight leaves ago."""
    with house.service.reading() as session:
        kept = session.get_one(CheckpointRow, 3).text
        other = session.get_one(CheckpointRow, 2).text
    lines, others = kept.split("\n"), other.split("\n")
    set_row(house, CheckpointRow, 3, text="\n".join([*lines[:2], others[2], *lines[3:]]))


BY_AND_BY = {
    "a record edited": (tampering.edit_record, r"leaf 5: node at level 0, index 5 \(position 10\)"),
    "two leaves swapped": (tampering.swap_leaves, r"leaf 5: node at level 0, index 5 \(position 10\)"),
    "a node": (flip_node(9), r"node at level 1, index 2 \(position 9\)"),
    "a kept checkpoint": (replace_kept, r"checkpoint over 3 leaves: root: expected \w{64}"),
    "a key beside": (tampering.add_key, "signing_keys: expected a key that a record of the log adds"),
    "a trigger": (tampering.drop_trigger, "trigger guard_leaves_no_update is missing"),
    "no head": (past_triggers("DELETE FROM log_head"), "log_head: expected one row"),
    "the tail": (tampering.cut_off, "expected a log of 11 leaves or more, got 6"),
}


@pytest.mark.parametrize(("tamper", "says"), BY_AND_BY.values(), ids=BY_AND_BY)
def test_the_auditor_beside_a_running_service_stops_it(logged: Installation, tamper: Tamper, says: str) -> None:
    running = logged.service
    auditor = Auditor(running, logged.folder / "halt")
    first = auditor.step()
    assert (first.done, first.size, first.rounds, first.complaints) == (SIZE, SIZE, 1, ())
    assert sign_free(logged)
    tamper(logged)
    assert re.search(says, auditor.step().complaints[0])
    halted = (logged.folder / "halt").read_text()
    assert re.search(rf"^Since 2020-01-31T12:00:00\.000000Z nothing is signed: .*{says}", halted)
    require_read_only(logged, says)
    restart(logged)
    require_read_only(logged, says)
    assert auditor.step().complaints
    assert (logged.folder / "halt").read_text() == halted
    running.store.engine.dispose()


# --- the shipped command -----------------------------------------------------------------------


@contextmanager
def served(house: Installation) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """``fairshoe serve`` as its own process; gives its port."""
    run = "import sys; sys.path.insert(0, sys.argv.pop(1)); from api.cli import main; main()"
    command = [sys.executable, "-c", run, str(ROOT), "serve", "--port", "0", "--json"]
    environment = {**os.environ, "FAIRSHOE_DATA": str(house.folder)}
    if house.database_url is not None:
        environment["DATABASE_URL"] = house.database_url
    piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **piped) as process:
        try:
            assert process.stdout is not None
            port = int(json.loads(process.stdout.readline())["url"].rsplit(":", 1)[1])
            serves(port, house.folder)
            yield port, process
        finally:
            process.kill()


def call(port: int, method: str, path: str, body: object = None) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), signed(port))
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def test_the_server_says_at_its_start_why_it_signs_nothing(logged: Installation) -> None:
    tampering.cut_off(logged)
    before = logged.checkpoint()
    logged.stop()
    with served(logged) as (port, process):
        assert call(port, "GET", "/livez")[0] == 200
        assert call(port, "GET", "/checkpoint") == (200, before)
        status, answer = call(port, "POST", BOOKS, ONE_SEED)
        assert (status, json.loads(answer)["type"]) == (503, "urn:fairshoe:problem:read-only")
        assert call(port, "GET", "/readyz")[0] == 503
        assert call(port, "GET", "/checkpoint") == (200, before)
        process.terminate()
        _, said = process.communicate(timeout=60)
    pinned = pin_of(logged)
    wanted = f"read-only: {pinned}: expected a log of 11 leaves or more, got 6: the database was set back."
    assert wanted in [json.loads(line)["event"] for line in said.splitlines() if line.startswith("{")]


def test_a_server_whose_log_is_as_it_should_be_says_nothing(logged: Installation) -> None:
    """The other side of the same test: without an attack the same server signs."""
    logged.stop()
    with served(logged) as (port, process):
        assert call(port, "GET", "/readyz")[0] == 200
        assert call(port, "POST", BOOKS, ONE_SEED)[0] == 201
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert "read-only" not in said


def test_the_attackers_tree_is_right_for_the_records_he_left(logged: Installation) -> None:
    """Or the attacks that make a tree anew would be found by a mistake of the test's."""
    tampering.edit_record_and_rebuild(logged)
    with logged.service.reading() as session:
        records = list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))
    assert head_of(logged).root == reference.mth(records)
