"""``fairshoe log check`` and ``fairshoe log proof``: what they print, how they end, and what they leave behind."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select, text

from api.cli import fairshoe
from api.cli import log as commands
from api.db.tables import CheckpointRow, LeafRow
from api.keyring import active_vkeys
from shoe.proof.merkle import EMPTY_ROOT
from shoe.proof.note import VerifierKey
from shoe.proof.tlog import check_receipt, parse_receipt
from tests.api import tampering
from tests.api.installation import ON_SQLITE, ORIGIN, Installation, problem_of
from tests.api.stored import everything_stored
from tests.api.tampering import SIZE, flip_node, head_of, past_triggers, pin_of, record_of, restart
from tests.reference import merkle_reference as reference

KEPT = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11]
"""Sizes under a checkpoint: the last coup and the reveal share one."""


def log(house: Installation, *args: str) -> Result:
    environment = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    return CliRunner(env=environment).invoke(fairshoe, ["log", *args])


def printed(result: Result) -> Any:
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)


def refused(result: Result, code: int) -> str:
    assert (result.exit_code, result.stdout) == (code, ""), result.stdout
    assert result.stderr.count("\n") == 1
    return result.stderr


def records_of(house: Installation) -> list[bytes]:
    return [record_of(house, index) for index in range(SIZE)]


def vkeys(house: Installation) -> tuple[VerifierKey, ...]:
    with house.service.reading() as session:
        return active_vkeys(session)


# --- check: all is well ------------------------------------------------------------------------


def test_what_it_prints_where_all_is_well(logged: Installation) -> None:
    root = reference.mth(records_of(logged)).hex()
    result = log(logged, "check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"Log {ORIGIN}: 11 records, root {root}\nChecked: 10 checkpoints, 0 cosignatures\nAll is well\n"
    )
    assert printed(log(logged, "check", "--json")) == {
        "log": ORIGIN, "size": 11, "root": root, "checkpoints": 10, "cosignatures": 0, "complaints": [], "omitted": 0,
        "halted": None,
    }  # fmt: skip


def test_it_only_reads(logged: Installation) -> None:
    def state() -> Any:
        return (
            everything_stored(logged.service.store),
            pin_of(logged).read_bytes(),
            (logged.folder / "vault.key").read_bytes(),
        )

    before = state()
    for args in (["check"], ["check", "--json"], ["proof", "3"], ["proof", "--from", "2"]):
        assert log(logged, *args).exit_code == 0
    assert state() == before
    assert not (logged.folder / "halt").exists()


def test_it_works_beside_a_service_that_writes(logged: Installation) -> None:
    stop, failed = threading.Event(), []

    def write() -> None:
        try:
            while not stop.is_set():
                logged.post("/tables/t/books", {"size": 1})
        except BaseException as error:
            failed.append(error)
            raise

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sizes = [printed(log(logged, "check", "--json"))["size"] for _ in range(6)]
    finally:
        stop.set()
        writer.join()
    assert failed == []
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


# --- check: something is wrong -----------------------------------------------------------------


def test_what_it_prints_where_something_is_wrong(logged: Installation) -> None:
    stored = tampering.node_of(logged, 9).hex()
    flip_node(9)(logged)
    tampering.drop_trigger(logged)
    result = log(logged, "check")
    assert (result.exit_code, result.stderr) == (1, "")
    first, second, wrong, *complaints, halted = result.stdout.splitlines()
    assert first.startswith(f"Log {ORIGIN}: 11 records, root ")
    assert second == "Checked: 10 checkpoints, 0 cosignatures"
    assert wrong == "Wrong: 2"
    assert re.fullmatch(
        rf"  node at level 1, index 2 \(position 9\): expected {stored}, got '\w{{64}}'\.", complaints[0]
    )
    assert complaints[1:] == ["  trigger guard_leaves_no_update is missing."]
    assert halted == (logged.folder / "halt").read_text().strip()
    assert re.fullmatch(rf"Since \S+Z nothing is signed: {re.escape(complaints[0].strip())}", halted)

    again = log(logged, "check", "--json")
    assert again.exit_code == 1
    told = json.loads(again.stdout)
    assert told["complaints"] == [complaint.strip() for complaint in complaints]
    assert told["halted"] == halted


def test_more_than_it_lists_are_counted(logged: Installation) -> None:
    for _ in range(20):
        logged.post("/tables/t/books", {"size": 1})
    past_triggers("UPDATE leaves SET type = 'nothing'")(logged)
    result = log(logged, "check", "--json")
    told = json.loads(result.stdout)
    assert len(told["complaints"]) + told["omitted"] >= 31
    assert told["omitted"] == 11
    assert "  And 11 more.\n" in log(logged, "check").stdout


def test_a_running_service_stops_signing_once_the_check_fails(logged: Installation) -> None:
    flip_node(9)(logged)
    logged.post("/tables/t/books", {"size": 1})
    assert log(logged, "check").exit_code == 1
    detail = problem_of(logged.client.post("/v1/tables/t/books", json={"size": 1}), "read-only", 503)
    assert "node at level 1, index 2 (position 9)" in detail
    assert logged.client.get("/readyz").status_code == 503


def test_an_older_halt_keeps_its_reason(logged: Installation) -> None:
    (logged.folder / "halt").write_text("By hand.\n")
    flip_node(9)(logged)
    assert log(logged, "check").stdout.endswith("\nBy hand.\n")
    assert (logged.folder / "halt").read_text() == "By hand.\n"


def test_a_halt_that_cannot_be_written_is_said(logged: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise OSError(30, "Read-only file system")

    flip_node(9)(logged)
    monkeypatch.setattr(commands, "halt", fail)
    result = log(logged, "check")
    assert result.exit_code == 1
    assert result.stderr == f"{logged.folder / 'halt'}: Read-only file system: signing goes on\n"


def test_it_works_where_the_service_finds_no_key_for_its_vault(logged: Installation) -> None:
    tampering.no_vault_key(logged)
    result = log(logged, "check")
    assert result.exit_code == 1
    assert re.search(r"signing_keys: \S+: seed: \S+vault\.key: the vault's key is not there", result.stdout)
    assert not (logged.folder / "vault.key").exists()


@ON_SQLITE
def test_a_damaged_file_is_what_is_wrong(logged: Installation) -> None:
    """Pages full of zeros, where records were."""
    logged.stop()
    file = logged.folder / "fairshoe.sqlite3"
    stored = file.read_bytes()
    page = stored.index(record_of(logged, 3)) // 4096 * 4096
    logged.stop()
    file.write_bytes(stored[:page] + bytes(4096) + stored[page + 4096 :])
    result = log(logged, "check", "--json")
    assert result.exit_code == 1
    assert any(
        "malformed" in each or "SQLITE_CORRUPT" in each or "database file" in each
        for each in json.loads(result.stdout)["complaints"]
    )


# --- check: going on ---------------------------------------------------------------------------


def test_resuming_takes_the_halt_away_where_all_is_well(logged: Installation) -> None:
    stored = tampering.node_of(logged, 9)
    flip_node(9)(logged)
    for _ in range(2):
        assert log(logged, "check", "--resume").exit_code == 1
        assert (logged.folder / "halt").exists()
    tampering.set_row(logged, tampering.LogNodeRow, 9, hash=stored)
    result = log(logged, "check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "\nAll is well\nSince " in result.stdout
    assert (logged.folder / "halt").exists()
    result = log(logged, "check", "--resume")
    assert result.exit_code == 0
    again = "signing goes on, once servers that started read-only are started again"
    assert result.stderr == f"{logged.folder / 'halt'} is gone: {again}\n"
    assert result.stdout.endswith("All is well\n")
    assert not (logged.folder / "halt").exists()
    logged.post("/tables/t/books", {"size": 1})
    assert printed(log(logged, "check", "--resume", "--json"))["halted"] is None


def test_resuming_pins_a_log_that_is_pinned_no_more(logged: Installation) -> None:
    """What a restored database needs that never was on this machine."""
    tampering.delete_pin(logged)
    restart(logged)
    assert "checkpoint.pinned: missing" in logged.service.permit.faults[0]
    assert log(logged, "check").exit_code == 1
    assert not pin_of(logged).exists()
    result = log(logged, "check", "--resume")
    assert result.exit_code == 0
    assert result.stderr.splitlines()[0].startswith(
        f"{pin_of(logged)} pins the log as it stands: signing goes on, once "
    )
    assert pin_of(logged).read_text() == logged.checkpoint()
    restart(logged)
    logged.post("/tables/t/books", {"size": 1})


@pytest.mark.parametrize(
    "tamper", [tampering.cut_off, tampering.flip_pin, tampering.pin_another_log, tampering.write_pin(b"\xff")]
)
def test_resuming_does_not_take_another_pin_away(logged: Installation, tamper: tampering.Tamper) -> None:
    tamper(logged)
    pinned = pin_of(logged).read_bytes()
    result = log(logged, "check", "--resume")
    assert result.exit_code == 1
    assert "checkpoint.pinned: " in result.stdout
    assert pin_of(logged).read_bytes() == pinned


# --- proof -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [None, *KEPT])
def test_every_receipt_verifies_and_is_the_references(logged: Installation, size: int | None) -> None:
    records = records_of(logged)
    under = size or SIZE
    with logged.service.reading() as session:
        checkpoint = session.get_one(CheckpointRow, under).text
    for index in range(under):
        args = ["proof", str(index)] if size is None else ["proof", str(index), "--size", str(size)]
        told = printed(log(logged, *args, "--json"))
        path = reference.path(index, records[:under])
        assert told == {
            "index": index,
            "size": under,
            "record": records[index].decode(),
            "path": [each.hex() for each in path],
            "checkpoint": checkpoint,
            "receipt": told["receipt"],
        }
        receipt = parse_receipt(told["receipt"])
        place, head = check_receipt(receipt, vkeys(logged), ORIGIN)
        assert (receipt.record, place, head.size, head.root) == (
            records[index],
            index,
            under,
            reference.mth(records[:under]),
        )


def test_a_receipt_is_printed_as_it_is_checked(logged: Installation) -> None:
    result = log(logged, "proof", "5")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == printed(log(logged, "proof", "5", "--json"))["receipt"]
    assert check_receipt(parse_receipt(result.stdout), vkeys(logged), ORIGIN)[0] == 5


def test_every_proof_of_growth_is_the_references(logged: Installation) -> None:
    records = records_of(logged)
    for new in (1, 2, 6, 7, 10, 11):
        for old in range(1, new + 1):
            told = printed(log(logged, "proof", "--from", str(old), "--to", str(new), "--json"))
            assert told == {
                "old": old,
                "new": new,
                "old_root": reference.mth(records[:old]).hex(),
                "new_root": reference.mth(records[:new]).hex(),
                "path": [each.hex() for each in reference.proof(old, records[:new])],
            }
    lines = log(logged, "proof", "--from", "6").stdout.splitlines()
    assert lines == [each.hex() for each in reference.proof(6, records)]


def test_everything_grew_from_nothing(logged: Installation) -> None:
    told = printed(log(logged, "proof", "--from", "0", "--to", "3", "--json"))
    assert (told["old_root"], told["path"]) == (EMPTY_ROOT.hex(), [])


# --- proof: what it refuses --------------------------------------------------------------------

USAGE = "fairshoe log proof: give INDEX [--size N], or --from OLD [--to NEW]; see 'fairshoe log proof --help'\n"
KEPT_WANTED = "fairshoe log: --size: expected a size at which a checkpoint was signed, got"
REFUSED = {
    "nothing": ([], USAGE),
    "both": (["3", "--from", "2"], USAGE),
    "an end for a record": (["3", "--to", "4"], USAGE),
    "a size for a growth": (["--from", "2", "--size", "4"], USAGE),
    "only an end": (["--to", "4"], USAGE),
    "no index": (
        ["x"],
        "fairshoe log proof: Invalid value for '[INDEX]': expected a whole number 0…1000000000000000, got 'x'",
    ),
    "an index with a sign": (["+3"], "fairshoe log proof: Invalid value for '[INDEX]': expected a whole number"),
    "a record that is not there": (["11"], "fairshoe log: leaf index: expected 0 ≤ index < 11, got 11\n"),
    "a record after the size": (["5", "--size", "5"], "fairshoe log: leaf index: expected 0 ≤ index < 5, got 5\n"),
    "a size between two checkpoints": (["3", "--size", "10"], f"{KEPT_WANTED} 10; the next was signed over 11\n"),
    "a size beyond": (["3", "--size", "12"], f"{KEPT_WANTED} 12; the newest has fewer\n"),
    "backwards": (["--from", "5", "--to", "4"], "fairshoe log: old size: expected 0 ≤ old ≤ 4, got 5\n"),
    "beyond the log": (
        ["--from", "5", "--to", "12"],
        "fairshoe log: --to: expected at most 11, the log's records, got 12\n",
    ),
    "from beyond the log": (["--from", "12"], "fairshoe log: old size: expected 0 ≤ old ≤ 11, got 12\n"),
}


@ON_SQLITE
@pytest.mark.parametrize(("args", "says"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_proved_is_refused(logged: Installation, args: list[str], says: str) -> None:
    assert refused(log(logged, "proof", *args), 2).startswith(says)


@pytest.mark.parametrize(
    ("tamper", "args"),
    [
        (flip_node(8), ["5"]),
        (tampering.edit_record, ["5"]),
        (tampering.edit_record, ["5", "--json"]),
        (past_triggers("DELETE FROM leaves WHERE log_index = 5"), ["5"]),
        (past_triggers("DELETE FROM log_nodes WHERE position = 8"), ["5"]),
        (flip_node(13), ["--from", "5"]),
        (past_triggers("DELETE FROM log_nodes WHERE position = 17"), ["--from", "5"]),
    ],
)
def test_no_proof_is_printed_that_does_not_hold(
    logged: Installation, tamper: tampering.Tamper, args: list[str]
) -> None:
    tamper(logged)
    said = refused(log(logged, "proof", *args), 3)
    assert said.endswith(": the log's nodes don't prove it; find out what is wrong by: fairshoe log check\n")


# --- no log to work on -------------------------------------------------------------------------


@pytest.mark.parametrize("args", [["check"], ["proof", "0"]])
def test_without_a_database_there_is_nothing_to_check(tmp_path: Path, args: list[str]) -> None:
    result = CliRunner(env={"FAIRSHOE_DATA": str(tmp_path), "DATABASE_URL": None}).invoke(fairshoe, ["log", *args])
    assert "there is no database" in refused(result, 3)
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_a_log(logged: Installation) -> None:
    tables = ("log_head", "leaves", "log_nodes", "checkpoints", "signing_keys")
    past_triggers(*[f"DELETE FROM {table}" for table in tables])(logged)
    assert "there is no log in it; the first start of fairshoe serve makes one" in refused(log(logged, "check"), 3)


@pytest.mark.parametrize("revision", ["0001", "9999"])
def test_a_database_of_another_version(logged: Installation, revision: str) -> None:
    with logged.service.store.writers.begin() as connection:
        newest = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{revision}'"))
    said = refused(log(logged, "check"), 3)
    assert f"expected schema {newest}, got '{revision}'; run fairshoe migrate, unless it is of a newer version" in said


def test_a_log_that_nothing_names(logged: Installation) -> None:
    past_triggers("DELETE FROM leaves", "DELETE FROM checkpoints")(logged)
    assert "the database holds a log without its first record" in refused(log(logged, "check"), 3)


@ON_SQLITE
def test_the_head_and_every_leaf_are_of_the_log_that_was_made(logged: Installation) -> None:
    """What the other tests lean on."""
    with logged.service.reading() as session:
        assert list(session.scalars(select(CheckpointRow.size).order_by(CheckpointRow.size))) == KEPT
        types = list(session.scalars(select(LeafRow.type).order_by(LeafRow.log_index)))
    assert types == ["key", "book", "open", "lock", "seal", *["coup"] * 5, "reveal"]
    assert head_of(logged).size == SIZE
