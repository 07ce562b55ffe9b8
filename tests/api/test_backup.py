"""Backup and restore: from either database into either, while the service runs; the copy goes on where it stood.

What an archive holds is read by Python's own tarfile, gzip and json, not by the code that is tested; what a database
holds by plain SELECTs; a log's root by RFC 6962's definition in tests/reference.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import tarfile
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import inspect, select, text

from api.backup import making
from api.backup.making import make_backup
from api.backup.manifest import Manifest
from api.backup.restoring import check_backup, restore_backup
from api.cases.monitoring import watch_coups
from api.cli import fairshoe
from api.db import triggers
from api.db.migrate import newest_revision, upgrade
from api.db.sessions import Store, open_store
from api.db.tables import CheckpointRow, CosignatureRow, LeafRow
from api.newfile import new_file
from api.settings import SetupError
from api.writing import Finish, Writing
from shoe.proof.checkpoint import cosign
from shoe.proof.note import COSIGNATURE, SignerKey
from shoe.proof.records import Alarm
from tests.api.audited import run_audits
from tests.api.betting import seat_at, table_of
from tests.api.conftest import NewDatabase
from tests.api.installation import (
    EVERY_COUP,
    ON_SQLITE,
    ORIGIN,
    SMALL,
    Chance,
    Clock,
    Found,
    Installation,
    problem_of,
)
from tests.api.old_schema import AFTERWARDS, make_old, old_rows, pin_as_it_stands, rows_now
from tests.api.stored import everything_stored
from tests.reference import merkle_reference

KINDS = ["sqlite", "postgresql"]
WITNESS = SignerKey.from_seed("witness.example/w", bytes(range(32)), COSIGNATURE)
Target = Callable[[str], str | None]


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """Makes an empty database of a kind: a URL, or None for SQLite's file in an installation's folder."""
    made: list[str] = []

    def make(kind: str) -> str | None:
        if kind == "sqlite":
            return None
        made.append(request.getfixturevalue("postgres").create_database())
        return made[-1]

    yield make
    for url in made:
        request.getfixturevalue("postgres").drop_database(url)


@pytest.fixture
def house(found: Found) -> Installation:
    """With limits that nobody reaches: so that writes are counted."""
    return found(further={"writes_per_minute": 10**6})


@pytest.fixture
def filled(house: Installation) -> Installation:
    """A house with something in most tables: ended, void and live shoes, kept answers, bets, a witness's line."""
    house.table("t", **SMALL)
    house.deal_out(house.sealed())
    house.clock.forward(1)
    house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    shoe = house.sealed()
    house.clock.forward(1)
    kept = house.client.post(f"/v1/shoes/{shoe}/coups", json={}, headers={"Idempotency-Key": "the-first"})
    assert kept.status_code == 201
    house.table("two-phase", decks=1)
    house.commit(house.open("two-phase"), "a-seed")
    house.post("/webhooks", {"url": "https://hooks.example/shoes", "events": ["coup.dealt"]})
    seat_at(house).bet(shoe, player=100)
    seat_at(house).post(f"/shoes/{shoe}/passes")
    house.post(f"/shoes/{shoe}/coups")
    with house.service.store.writing() as session:
        cosigned = cosign(session.get_one(CheckpointRow, 2).text, WITNESS, 1_769_860_800)
        line = cosigned.splitlines(keepends=True)[-1]
        session.add(CosignatureRow(size=2, vkey=str(WITNESS.vkey), time_s=1_769_860_800, line=line))
    return house


@pytest.fixture
def whole(filled: Installation) -> Installation:
    """A house with something in every table: an own limit, money from outside, monitors and an audit too."""
    limited = seat_at(filled, table_of(filled, "vip", "limited"))
    limited.post(f"/seats/{limited.id}/limit", {"maximum_minor": 1_000, "pin": "471104"})
    filled.post(f"/seats/{limited.id}/purse/moves", {"amount_minor": 100})
    watch_coups(filled.service)
    filled.post("/audits")
    run_audits(filled)
    return filled


def live(house: Installation, table: str = "t") -> str:
    return str(house.get(f"/tables/{table}")["live_shoe"])


def store_of(folder: Path, url: str | None) -> Store:
    folder.mkdir(mode=0o700, exist_ok=True)
    return open_store(url or str(folder / "fairshoe.sqlite3"))


def restored(backup: Path, folder: Path, url: str | None) -> dict[str, Any]:
    """What a database holds after a restore into it."""
    store = store_of(folder, url)
    try:
        restore_backup(store, backup)
        with store.engine.connect() as connection:
            assert triggers.complaints(connection) == []
        return everything_stored(store)
    finally:
        store.engine.dispose()


# --- the file ----------------------------------------------------------------------------------


def test_the_file_is_read_by_other_programs_and_is_what_its_manifest_says(whole: Installation, tmp_path: Path) -> None:
    path = tmp_path / "backup"
    manifest = make_backup(whole.service.store, path)
    with tarfile.open(path) as archive:
        names = archive.getnames()
        members = {name: archive.extractfile(name).read() for name in names}  # type: ignore[union-attr]
        assert {(each.mtime, each.uid, each.gid, each.mode, each.isreg()) for each in archive} == {
            (0, 0, 0, 0o600, True)
        }
    said = json.loads(members["manifest.json"])
    signed = whole.checkpoint()
    origin, size, _ = signed.split("\n")[:3]
    assert names == ["manifest.json", *(f"{table['table']}.jsonl" for table in said["tables"])]
    assert (said["format"], said["schema"], said["checkpoint"]) == ("fairshoe-backup/1", newest_revision(), signed)
    assert (said["log"], said["size"]) == (origin, int(size))
    stored = everything_stored(whole.service.store)
    assert {table["table"] for table in said["tables"]} == set(stored)
    for table in said["tables"]:
        data = members[f"{table['table']}.jsonl"]
        assert (table["size"], table["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        assert table["rows"] == data.count(b"\n") == len(stored[table["table"]]) > 0
    records = [bytes.fromhex(json.loads(line)[1]) for line in members["leaves.jsonl"].splitlines()]
    assert said["root"] == merkle_reference.mth(records).hex()
    assert check_backup(path) == manifest


def test_each_row_is_a_line_of_json(filled: Installation, tmp_path: Path) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    with tarfile.open(tmp_path / "backup") as archive:
        lines = archive.extractfile("leaves.jsonl").read().splitlines()  # type: ignore[union-attr]
    with filled.service.reading() as session:
        stored = session.scalars(select(LeafRow).order_by(LeafRow.log_index)).all()
        assert [json.loads(line) for line in lines] == [
            [leaf.log_index, leaf.record.hex(), leaf.type, leaf.shoe, leaf.seq] for leaf in stored
        ]


def test_the_same_moment_gives_the_same_bytes(filled: Installation, tmp_path: Path) -> None:
    paths = [tmp_path / "one", tmp_path / "two"]
    for path in paths:
        make_backup(filled.service.store, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_only_its_owner_may_read_it(house: Installation, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        make_backup(house.service.store, tmp_path / "backup")
    finally:
        os.umask(before)
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600


def test_it_shows_no_secret(filled: Installation, tmp_path: Path) -> None:
    """Every draw of chance is a key, a master, a nonce or an id's: those of 32 bytes are secrets."""
    make_backup(filled.service.store, tmp_path / "backup")
    inside = gzip.decompress((tmp_path / "backup").read_bytes())
    secrets = [drawn for drawn in filled.chance.drawn if len(drawn) == 32]
    assert len(secrets) >= 4  # vault, signing key, two books
    for secret in secrets:
        assert secret not in inside
        assert secret.hex().encode() not in inside.lower()


@pytest.mark.parametrize("other", KINDS)
def test_restoring_gives_back_every_row(whole: Installation, tmp_path: Path, target: Target, other: str) -> None:
    make_backup(whole.service.store, tmp_path / "backup")
    there = restored(tmp_path / "backup", tmp_path / "copy", target(other))
    assert there == everything_stored(whole.service.store)
    assert [name for name, rows in there.items() if not rows] == []


@pytest.mark.parametrize("other", KINDS)
def test_the_copys_backup_is_the_same_file(filled: Installation, tmp_path: Path, target: Target, other: str) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    store = store_of(tmp_path / "copy", target(other))
    restore_backup(store, tmp_path / "backup")
    make_backup(store, tmp_path / "again")
    store.engine.dispose()
    assert (tmp_path / "again").read_bytes() == (tmp_path / "backup").read_bytes()


# --- one moment --------------------------------------------------------------------------------


def test_what_is_written_between_the_passes_is_not_in_it(
    filled: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = everything_stored(filled.service.store)
    print_manifest = making.print_manifest

    def deal_and_print(manifest: Manifest) -> bytes:
        filled.post(f"/shoes/{live(filled)}/coups")
        filled.table("later")
        return print_manifest(manifest)

    monkeypatch.setattr(making, "print_manifest", deal_and_print)
    make_backup(filled.service.store, tmp_path / "backup")
    assert filled.get("/tables/later")["id"] == "later"
    assert restored(tmp_path / "backup", tmp_path / "copy", None) == before


def test_backups_made_under_load_are_whole(filled: Installation, tmp_path: Path) -> None:
    filled.table("load", **{**EVERY_COUP, "decks": 1, "coups": 10_000})
    shoe, checkpoints, stop = filled.sealed("load"), set[str](), threading.Event()

    def deal() -> None:
        while not stop.is_set():
            receipt = filled.post(f"/shoes/{shoe}/coups")["receipt"]
            checkpoints.add(receipt.split("\n\n", 1)[1])

    dealers = [threading.Thread(target=deal) for _ in range(2)]
    for dealer in dealers:
        dealer.start()
    try:
        manifests = [make_backup(filled.service.store, tmp_path / f"{n}") for n in range(4)]
    finally:
        stop.set()
        for dealer in dealers:
            dealer.join()
    sizes = [manifest.size for manifest in manifests]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]
    assert {manifest.checkpoint for manifest in manifests[1:]} <= checkpoints
    for n, manifest in enumerate(manifests):
        there = restored(tmp_path / f"{n}", tmp_path / f"copy-{n}", None)
        assert len(there["leaves"]) == manifest.size


# --- the copy goes on --------------------------------------------------------------------------


def copy_of(house: Installation, found: Found, folder: Path, url: str | None) -> Installation:
    """A restored copy's service, with the original's vault key and pin, the same clock, and chance of its own."""
    for name in ("vault.key", "checkpoint.pinned", "operator.key"):
        shutil.copy(house.folder / name, folder)
    return found(folder.name, database_url=url, clock=house.clock, chance=Chance(5000))


@pytest.mark.parametrize("other", KINDS)
def test_a_copy_deals_on_exactly_where_the_original_stood(
    filled: Installation, found: Found, tmp_path: Path, target: Target, other: str
) -> None:
    """The same next coup, down to the bytes of its record and of the checkpoint: clock, log and deck are the same."""
    make_backup(filled.service.store, tmp_path / "backup")
    url, shoe = target(other), live(filled)
    restored(tmp_path / "backup", tmp_path / "copy", url)
    copy = copy_of(filled, found, tmp_path / "copy", url)
    # Read only: whatever the original does afterwards is another history.
    assert copy.post(f"/shoes/{shoe}/coups") == filled.post(f"/shoes/{shoe}/coups")
    assert copy.deal_out(shoe) == filled.deal_out(shoe)
    assert copy.verify(shoe).verdict == "verified"
    assert copy.checkpoint() == filled.checkpoint()


def test_a_repeated_request_gets_its_first_answer_from_the_copy(
    filled: Installation, found: Found, tmp_path: Path
) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    restored(tmp_path / "backup", tmp_path / "copy", None)
    shoe, before = live(filled), filled.checkpoint()
    copy = copy_of(filled, found, tmp_path / "copy", None)
    asked = {"json": {}, "headers": {"Idempotency-Key": "the-first"}}
    answers = [each.client.post(f"/v1/shoes/{shoe}/coups", **asked) for each in (filled, copy)]  # type: ignore[arg-type]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].data == answers[1].data
    assert copy.checkpoint() == before


def test_a_copy_behind_the_pinned_checkpoint_signs_nothing_until_it_has_caught_up(
    filled: Installation, found: Found, tmp_path: Path, target: Target, database: str
) -> None:
    make_backup(filled.service.store, tmp_path / "old")
    shoe = live(filled)
    filled.post(f"/shoes/{shoe}/coups")
    make_backup(filled.service.store, tmp_path / "new")
    pinned = filled.checkpoint()

    behind_url = target(database)
    restored(tmp_path / "old", tmp_path / "behind", behind_url)
    behind = copy_of(filled, found, tmp_path / "behind", behind_url)
    before = everything_stored(behind.service.store)
    for path, body in ((f"/shoes/{shoe}/coups", {}), ("/tables", {"preset": "np_punto_banco"})):
        said = problem_of(behind.client.post(f"/v1{path}", json=body), "read-only", 503)
        assert f"checkpoint.pinned: expected a log of {pinned.split()[1]} leaves or more, got " in said
    assert everything_stored(behind.service.store) == before
    assert behind.get(f"/shoes/{shoe}")["id"] == shoe  # reading goes on
    assert (tmp_path / "behind" / "checkpoint.pinned").read_text() == pinned

    level_url = target(database)
    restored(tmp_path / "new", tmp_path / "level", level_url)
    level = copy_of(filled, found, tmp_path / "level", level_url)
    level.deal_out(shoe)
    assert level.verify(shoe).verdict == "verified"


# --- older schemas -----------------------------------------------------------------------------


@pytest.fixture
def old_backup(tmp_path: Path, new_database: NewDatabase) -> Path:
    """A backup of a database that is still at schema 0001, made before the migration, as one should be."""
    store = make_old(tmp_path / "old", new_database())
    make_backup(store, tmp_path / "backup-0001")
    store.engine.dispose()
    return tmp_path / "backup-0001"


@pytest.mark.parametrize("other", KINDS)
def test_a_backup_of_an_older_schema_is_brought_to_the_newest(
    old_backup: Path, found: Found, tmp_path: Path, target: Target, other: str
) -> None:
    url, folder = target(other), tmp_path / "copy"
    store = store_of(folder, url)
    manifest = restore_backup(store, old_backup)
    assert manifest.schema == "0001"
    assert rows_now(store) == {name: sorted(rows, key=repr) for name, rows in old_rows().items()}
    with store.engine.connect() as connection:
        assert triggers.complaints(connection) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == newest_revision()
    pin_as_it_stands(folder, store)
    store.engine.dispose()
    shutil.copy(tmp_path / "old" / "vault.key", folder)
    house = found("copy", database_url=url, clock=Clock(AFTERWARDS), chance=Chance(1000))
    house.deal_out(live(house))
    shoe = next(row["id"] for row in old_rows()["shoes"] if row["table_id"] == "t" and row["state"] == "sealed")
    assert house.verify(shoe).verdict == "verified"


def test_it_is_made_of_the_tables_and_columns_that_there_were(old_backup: Path) -> None:
    columns = {member.table: [column.name for column in member.columns] for member in check_backup(old_backup).tables}
    assert columns == {name: list(rows[0]) for name, rows in old_rows().items()}


# --- databases that can't take it, or have nothing to give -------------------------------------


def test_a_database_in_use_is_left_alone(filled: Installation, found: Found, tmp_path: Path) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    other = found("other")
    before = everything_stored(other.service.store)
    with pytest.raises(SetupError, match=r": expected an empty database, got rows in table .*; restore into a new"):
        restore_backup(other.service.store, tmp_path / "backup")
    assert everything_stored(other.service.store) == before


@pytest.fixture
def empty(tmp_path: Path, new_database: NewDatabase) -> Iterator[Store]:
    store = store_of(tmp_path / "empty", new_database())
    yield store
    store.engine.dispose()


def test_a_database_that_was_migrated_and_never_used_takes_a_backup(
    filled: Installation, empty: Store, tmp_path: Path
) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    upgrade(empty)
    restore_backup(empty, tmp_path / "backup")
    assert everything_stored(empty) == everything_stored(filled.service.store)


def test_tables_of_a_newer_schema_do_not_take_an_older_backup(old_backup: Path, empty: Store) -> None:
    upgrade(empty)
    wanted = (
        f"expected no tables yet, for a backup of schema 0001, got 'schema {newest_revision()}'; restore into a new"
    )
    with pytest.raises(SetupError, match=wanted):
        restore_backup(empty, old_backup)


def test_a_table_of_somebody_else_is_neither_left_out_nor_joined(
    filled: Installation, empty: Store, tmp_path: Path
) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    for store in (filled.service.store, empty):
        with store.writing() as session:
            session.execute(text("CREATE TABLE invoices (id BIGINT)"))
    wanted = "^table invoices: expected only fairshoe's tables; give each its own database$"
    with pytest.raises(SetupError, match=wanted):
        make_backup(filled.service.store, tmp_path / "another")
    with pytest.raises(SetupError, match=wanted):
        restore_backup(empty, tmp_path / "backup")
    assert not (tmp_path / "another").exists()
    assert inspect(empty.engine).get_table_names() == ["invoices"]


def test_a_database_without_a_log_has_nothing_to_back_up(empty: Store, tmp_path: Path) -> None:
    for prepare in (lambda: None, lambda: upgrade(empty)):
        prepare()
        with pytest.raises(SetupError, match=r"^the database holds no log yet: there is nothing to back up$"):
            make_backup(empty, tmp_path / "backup")
    assert list(tmp_path.glob("backup*")) == []


def test_a_log_that_does_not_prove_its_head_is_not_taken_for_a_backup(filled: Installation, tmp_path: Path) -> None:
    """It could not be restored: better to know today."""
    with filled.service.store.writing() as session:
        triggers.remove(session.connection())
        session.execute(
            text("UPDATE leaves SET record = (SELECT record FROM leaves WHERE log_index = 2) WHERE log_index = 1")
        )
    said = r"^the log does not prove its head: root of the \d+ records: expected .* got .*; run: fairshoe log check$"
    with pytest.raises(SetupError, match=said):
        make_backup(filled.service.store, tmp_path / "backup")
    assert list(tmp_path.glob("backup*")) == []


@ON_SQLITE
def test_a_value_that_its_column_cannot_hold_is_told_of(house: Installation, tmp_path: Path) -> None:
    """SQLite lets a BIGINT hold text, PostgreSQL does not: such a backup would fit into one of them alone."""
    house.table()
    with house.service.store.writing() as session:
        session.execute(text("UPDATE books SET next_index = next_index, sealed_master = 'text'"))
    with pytest.raises(SetupError, match=r"^column sealed_master: expected bytes, got str$"):
        make_backup(house.service.store, tmp_path / "backup")


# --- files that appear whole -------------------------------------------------------------------


def test_a_file_that_is_there_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(FileExistsError), new_file(path, 0o600):
        pass
    path.unlink()
    with pytest.raises(FileExistsError), new_file(path, 0o600):
        path.write_text("mine")  # put there meanwhile
    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_to_nowhere_is_there_too(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError), new_file(tmp_path / "link", 0o600):
        pass
    assert not (tmp_path / "nowhere").exists()


def test_a_file_appears_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with new_file(path, 0o644) as file:
        file.write(b"whole")
        assert not path.exists()
        with pytest.raises(FileExistsError, match=r"file\.draft"), new_file(path, 0o644):
            pass
    assert path.read_bytes() == b"whole"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_no_file(tmp_path: Path) -> None:
    def interrupted() -> None:
        with new_file(tmp_path / "file", 0o600) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


# --- memory ------------------------------------------------------------------------------------

MANY = 4_800


def add_alarms(house: Installation, count: int) -> None:
    """Add records, many to a transaction: alarms, which any table may have."""

    def step(writing: Writing) -> Finish[None]:
        for _ in range(count):
            writing.add(Alarm(table="t", monitor="outcomes", evidence="12.5", threshold="20", **writing.stamp()))
        return lambda _: None

    house.service.write(step)


def peak_of(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_log(house: Installation, tmp_path: Path, new_database: NewDatabase) -> None:
    """Four times the rows, each of which would take some kilobyte, and no more memory."""
    peaks = []
    for count in (MANY // 4, MANY - MANY // 4):
        add_alarms(house, count)
        path, copy = tmp_path / f"backup-{count}", store_of(tmp_path / f"copy-{count}", new_database())
        peaks.append((peak_of(lambda at=path: make_backup(house.service.store, at)),
                      peak_of(lambda at=path, to=copy: restore_backup(to, at))))  # fmt: skip
        copy.engine.dispose()
    for few, many in zip(*peaks, strict=True):
        assert many < 1.5 * few


# --- the commands ------------------------------------------------------------------------------


def call(*args: str, folder: Path, url: str | None = None) -> Result:
    return CliRunner(env={"FAIRSHOE_DATA": str(folder), "DATABASE_URL": url}).invoke(fairshoe, args)


def test_the_commands_back_up_and_restore(filled: Installation, tmp_path: Path, target: Target, database: str) -> None:
    """And every node, checkpoint, cosignature, chain and key of the copy is as it should be."""
    path, url, folder = tmp_path / "backup", target(database), tmp_path / "a" / "copy"
    made = call("backup", str(path), "--json", folder=filled.folder, url=filled.database_url)
    assert (made.exit_code, made.stderr) == (0, "")
    size, root = int(filled.checkpoint().split("\n")[1]), check_backup(path).root.hex()
    rows = sum(map(len, everything_stored(filled.service.store).values()))
    assert json.loads(made.stdout) == {
        "file": str(path),
        "database": filled.service.store.name,
        "format": "fairshoe-backup/1",
        "schema": newest_revision(),
        "log": ORIGIN,
        "size": size,
        "root": root,
        "rows": rows,
        "bytes": path.stat().st_size,
        "vault_key": False,
    }
    put = call("restore", str(path), "--json", folder=folder, url=url)
    assert (put.exit_code, put.stderr) == (0, "")
    printed = json.loads(put.stdout)
    assert printed.pop("database").endswith("fairshoe.sqlite3" if url is None else url.rsplit("/", 1)[1])
    assert printed == {
        "file": str(path),
        "before": newest_revision(),
        "after": newest_revision(),
        "log": ORIGIN,
        "size": size,
        "root": root,
        "rows": rows,
    }
    assert folder.stat().st_mode & 0o777 == 0o700
    for name in ("vault.key", "checkpoint.pinned", "operator.key"):
        shutil.copy(filled.folder / name, folder)
    found_well = call("log", "check", "--json", folder=folder, url=url)
    assert (found_well.exit_code, json.loads(found_well.stdout)["size"]) == (0, size)


def test_people_are_told_to_keep_the_vaults_key_apart(house: Installation, tmp_path: Path) -> None:
    path, folder = tmp_path / "backup", tmp_path / "copy"
    made = call("backup", str(path), folder=house.folder, url=house.database_url)
    assert (made.exit_code, made.stderr) == (0, "")
    assert f"The vault's key is not in it. Keep a copy of {house.folder}/vault.key apart" in made.stdout
    put = call("restore", str(path), folder=folder)
    assert (put.exit_code, put.stderr) == (0, "")
    assert f"put the original's vault key into {folder}/vault.key, and its pinned checkpoint" in put.stdout
    assert f"at {folder}/checkpoint.pinned. Where that one is lost, the copy signs nothing until" in put.stdout


def refused(result: Result, code: int) -> str:
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_what_the_commands_refuse_is_said_in_one_line(house: Installation, tmp_path: Path) -> None:
    here, path = {"folder": house.folder, "url": house.database_url}, tmp_path / "backup"
    assert call("backup", str(path), **here).exit_code == 0  # type: ignore[arg-type]
    said = refused(call("backup", str(path), **here), 2)  # type: ignore[arg-type]
    assert (
        said
        == f"fairshoe backup: {path}: File exists; name a file that is not there yet, in a folder that can be written\n"
    )
    said = refused(call("backup", str(tmp_path / "no" / "b"), **here), 2)  # type: ignore[arg-type]
    assert "no/b.draft: No such file or directory; name a file that is not there yet" in said
    said = refused(call("restore", str(path), **here), 3)  # type: ignore[arg-type]
    assert "expected an empty database, got rows in table" in said
    said = refused(call("restore", str(tmp_path / "none"), folder=tmp_path / "copy"), 2)
    assert said == f"fairshoe restore: {tmp_path}/none: No such file or directory; name a file that can be read\n"
    (tmp_path / "text").write_text("hello\n")
    said = refused(call("restore", str(tmp_path / "text"), folder=tmp_path / "copy"), 2)
    assert said.endswith("; take another backup\n")


def test_there_is_nothing_to_back_up_where_there_is_no_database(tmp_path: Path) -> None:
    said = refused(call("backup", str(tmp_path / "backup"), folder=tmp_path / "none"), 3)
    assert said == (
        f"fairshoe: {tmp_path}/none/fairshoe.sqlite3: there is no database; set FAIRSHOE_DATA to the service's folder\n"
    )
    assert list(tmp_path.iterdir()) == []
