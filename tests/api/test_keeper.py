"""The keeper's rounds: what each task does, that none stops another, and the process beside the real server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread
from threading import enumerate as threads_now
from typing import Any

import psutil
import pytest
import urllib3
from sqlalchemy import func, select, text

from api.claims import KEPT_S
from api.db.tables import ClaimRow, CosignatureRow
from api.keeper import AUDIT_REST_S, FORGET_EVERY_S, Keeper, forget_old_answers
from api.witness import Witness
from shoe.proof.checkpoint import cosignatures
from shoe.proof.note import parse_vkey
from tests.api.installation import DEADLINES, EVERY_COUP, ON_POSTGRESQL, ON_SQLITE, SMALL, Found, Installation
from tests.api.test_beside import eventually, lives
from tests.api.test_cli_serve import serving
from tests.api.test_serve import call, served
from tests.api.witness_server import Answered, WitnessServer, served_witness


@pytest.fixture
def said() -> list[str]:
    """What a keeper said to its operator."""
    return []


@pytest.fixture
def keeper(house: Installation, said: list[str]) -> Iterator[Keeper]:
    made = Keeper(house.service, say=said.append)
    yield made
    made.close()


@pytest.fixture
def witness(house: Installation) -> Iterator[WitnessServer]:
    vkey = house.client.get("/v1/log/key").text.strip()
    with served_witness(vkey, lambda: house.clock().timestamp()) as served:
        yield served


@pytest.fixture
def witnessed(house: Installation, witness: WitnessServer, said: list[str]) -> Iterator[Keeper]:
    made = Keeper(house.service, [Witness(parse_vkey(witness.vkey), witness.url)], 60, said.append)
    yield made
    made.close()


def pinned(house: Installation) -> str | None:
    return house.service.permit.pinned.read()


def state(house: Installation, shoe: str) -> str:
    return str(house.get(f"/shoes/{shoe}/state")["state"])


# --- one round ---------------------------------------------------------------------------------


def test_a_round_with_nothing_to_do_changes_nothing(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    house.open()
    before = house.checkpoint()
    for _ in range(3):
        keeper.tick()
        house.clock.forward(1)
    assert (house.checkpoint(), said) == (before, [])


def test_what_is_overdue_is_void_within_a_round(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    shoe = house.open()
    house.clock.forward(60)
    keeper.tick()
    assert state(house, shoe) == "open"
    house.clock.forward(1)
    keeper.tick()
    assert (state(house, shoe), said) == ("void", [])
    assert house.verify(shoe).verdict == "void"


def test_no_task_is_done_again_within_its_time(house: Installation, keeper: Keeper) -> None:
    house.table(**SMALL)
    keeper.tick()
    shoe = house.open(lock_in_s=1)
    house.clock.forward(0.9)
    keeper.tick()
    house.clock.forward(0.2)
    keeper.tick()
    assert state(house, shoe) == "void"


def test_a_clock_that_was_set_back_delays_nothing(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    house.clock.forward(3)
    keeper.tick()
    shoe = house.open(lock_in_s=1, seal_in_s=1, reveal_in_s=1)
    house.clock.forward(-3)
    keeper.tick()
    house.clock.forward(2.5)
    keeper.tick()
    assert state(house, shoe) == "open"
    house.clock.forward(2)
    keeper.tick()
    assert (state(house, shoe), said) == ("void", [])


def test_the_head_of_an_idle_log_is_pinned(house: Installation, keeper: Keeper) -> None:
    """As where the process that wrote it died between the commit and the pin."""
    house.table()
    house.service.permit.pinned.path.unlink()
    keeper.tick()
    assert pinned(house) == house.checkpoint()


def test_the_pin_is_forced_to_the_disk_once_a_head(
    house: Installation, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A write forces the pin once a second at most: what came since is forced once the log stands still."""
    forced: list[str] = []
    fsync = os.fsync

    def note(descriptor: int) -> None:
        forced.append(os.readlink(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    house.table()
    monkeypatch.setattr("api.keeper.os.fsync", note)
    path = str(house.service.permit.pinned.path)
    for table in ("u", "v"):
        house.table(table)
        for round_number in range(4):
            forced.clear()
            keeper.tick()
            assert forced == ([path, str(house.folder)] if round_number == 1 else [])
            house.clock.forward(1)


def test_the_auditor_finds_a_changed_record_and_halts(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    keeper.tick()
    house.clock.forward(AUDIT_REST_S - 1)
    change_a_node(house)
    keeper.tick()
    assert house.service.permit.reasons() == []
    house.clock.forward(1)
    keeper.tick()
    assert house.service.permit.halt.exists()
    (line,) = said
    assert line.startswith("fairshoe keeper: audit: nothing is signed any more: ")
    house.refuse("/tables/t/books", {"size": 1}, "read-only", 503)
    # What was said of it is not said again each minute.
    for _ in range(3):
        house.clock.forward(AUDIT_REST_S)
        keeper.tick()
    assert said[0] == line
    assert len(said) == 1


def change_a_node(house: Installation) -> None:
    """Change a stored hash past the triggers, as a hand in the database may."""
    with house.service.store.writing() as session:
        if house.service.store.dialect == "postgresql":
            session.execute(text("ALTER TABLE log_nodes DISABLE TRIGGER USER"))
        else:
            session.execute(text("DROP TRIGGER guard_log_nodes_no_update"))
        session.execute(text("UPDATE log_nodes SET hash = :other WHERE position = 0"), {"other": bytes(32)})


def test_nothing_is_pinned_while_nothing_may_be_signed(house: Installation, keeper: Keeper) -> None:
    house.table()
    house.service.permit.pinned.path.unlink()
    house.service.permit.halt.write_text("Halted.")
    keeper.tick()
    assert pinned(house) is None


# --- old answers -------------------------------------------------------------------------------


def claims(house: Installation) -> int:
    with house.service.reading() as session:
        return session.scalar(select(func.count()).select_from(ClaimRow)) or 0


def claim(house: Installation, key: str) -> None:
    response = house.client.post("/v1/tables", json={"preset": "np_punto_banco"}, headers={"Idempotency-Key": key})
    assert response.status_code == 201


def test_answers_are_forgotten_after_a_week_and_not_before(house: Installation, keeper: Keeper) -> None:
    claim(house, "old")
    house.clock.forward(FORGET_EVERY_S)
    claim(house, "new")
    house.clock.forward(KEPT_S - FORGET_EVERY_S)
    keeper.tick()
    assert claims(house) == 2
    house.clock.forward(FORGET_EVERY_S)
    keeper.tick()
    assert claims(house) == 1
    house.clock.forward(FORGET_EVERY_S - 1)
    keeper.tick()
    assert claims(house) == 1
    house.clock.forward(1)
    keeper.tick()
    assert claims(house) == 0


def test_many_answers_are_forgotten_a_minutes_worth_at_once(house: Installation) -> None:
    for number in range(4):
        claim(house, str(number))
        house.clock.forward(61)
    house.clock.forward(KEPT_S)
    writes: list[object] = []
    write = house.service.commits._run

    def note(jobs: Any) -> None:
        writes.append(jobs)
        write(jobs)

    house.service.commits._run = note  # type: ignore[method-assign]
    assert forget_old_answers(house.service) == 4
    assert (len(writes), claims(house)) == (4, 0)
    assert forget_old_answers(house.service) == 0
    assert len(writes) == 4


# --- witnesses ---------------------------------------------------------------------------------


def cosigned(house: Installation) -> list[int]:
    with house.service.reading() as session:
        return list(session.scalars(select(CosignatureRow.size).order_by(CosignatureRow.size)))


def test_a_head_that_has_grown_goes_to_the_witnesses_once_a_minute(
    house: Installation, witness: WitnessServer, witnessed: Keeper, said: list[str]
) -> None:
    for _ in range(4):
        witnessed.tick()
        house.table(f"t{house.size()}")
        house.clock.forward(20)
    assert cosigned(house) == [1, 4]
    house.clock.forward(60)
    witnessed.tick()
    house.clock.forward(60)
    witnessed.tick()
    assert (cosigned(house), len(witness.asked), said) == ([1, 4, 5], 3, [])


def test_a_witness_that_fails_stops_nothing_and_is_spoken_of_once(
    house: Installation, witness: WitnessServer, witnessed: Keeper, said: list[str]
) -> None:
    witness.spoil = lambda _: Answered(500, b"")
    house.table(**SMALL)
    shoe = house.open()
    for _ in range(3):
        house.clock.forward(61)
        witnessed.tick()
    (line,) = said
    assert line.startswith("fairshoe keeper: witnesses: witness witness.example/w1: its answer can't be read: ")
    assert (state(house, shoe), cosigned(house)) == ("void", [])
    witness.spoil = None
    house.clock.forward(61)
    witnessed.tick()
    assert cosigned(house) == [house.size()]
    # The same fault after it was well again is news.
    witness.spoil = lambda _: Answered(500, b"")
    house.table("u")
    house.clock.forward(61)
    witnessed.tick()
    assert said == [line, line]


def test_a_halted_log_is_shown_to_no_witness(
    house: Installation, witness: WitnessServer, witnessed: Keeper, said: list[str]
) -> None:
    house.service.permit.halt.write_text("Halted.")
    witnessed.tick()
    assert (witness.asked, said) == ([], [])


# --- what goes wrong ---------------------------------------------------------------------------


def test_one_tasks_failure_stops_no_other(
    house: Installation, witness: WitnessServer, witnessed: Keeper, said: list[str]
) -> None:
    """The first task can't void a shoe, for its book's master can't be opened; the others are done all the same."""
    house.table(**SMALL)
    shoe = house.open()
    with house.service.store.writing() as session:
        session.execute(text("UPDATE books SET sealed_master = :none"), {"none": bytes(60)})
    house.service.permit.pinned.path.unlink()
    house.clock.forward(61)
    for _ in range(3):
        witnessed.tick()
        house.clock.forward(1)
    assert said == [
        "fairshoe keeper: deadlines: the vault's key does not open a secret of this database: is it another's?"
    ]
    assert state(house, shoe) == "open"
    assert (pinned(house), cosigned(house)) == (house.checkpoint(), [house.size()])


def test_where_nothing_may_be_signed_it_is_said_once(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    house.open()
    house.service.permit.halt.write_text("An auditor found a fork.")
    for _ in range(3):
        house.clock.forward(61)
        keeper.tick()
    assert said == ["fairshoe keeper: deadlines: An auditor found a fork."]


@ON_SQLITE
def test_a_database_out_of_reach_is_waited_for(house: Installation, keeper: Keeper, said: list[str]) -> None:
    house.table(**SMALL)
    shoe = house.open()
    house.clock.forward(61)
    house.stop()
    kept = house.folder.rename(house.folder.with_name("away"))
    keeper.tick()
    kept.rename(house.folder)
    assert len(said) == 9
    assert all("SQLITE_CANTOPEN" in line or "No such file" in line for line in said), said
    house.clock.forward(3600)
    keeper.tick()
    assert (state(house, shoe), len(said)) == ("void", 9)


@ON_POSTGRESQL
def test_a_server_that_ends_our_connections_is_asked_again(
    house: Installation, keeper: Keeper, said: list[str]
) -> None:
    house.table(**SMALL)
    shoe = house.open()
    keeper.tick()
    with house.service.store.writing() as session:
        session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    house.clock.forward(61)
    keeper.tick()
    assert (state(house, shoe), said) == ("void", [])


def test_two_keepers_at_once_void_each_shoe_once(house: Installation, found: Found) -> None:
    for number in range(6):
        house.table(f"t{number}", **SMALL)
        house.open(f"t{number}")
    house.clock.forward(61)
    before, lines = house.size(), list[str]()
    keepers = [Keeper(house.service, say=lines.append) for _ in range(2)]
    threads = [Thread(target=keeper.tick) for keeper in keepers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (house.size(), lines) == (before + 6, [])


def test_a_witness_that_hangs_holds_up_no_deadline(
    house: Installation, witness: WitnessServer, witnessed: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.keeper.TICK_S", 0.01)
    monkeypatch.setattr("api.keeper.os.nice", lambda _: None)
    asked = Event()

    def hang(_: object) -> None:
        asked.set()
        witness.closing.wait()

    witness.take_over = hang
    house.table(**SMALL)
    shoe = house.open()
    over, others = Event(), set(threads_now())
    keeping = Thread(target=witnessed.run, args=(lambda: not over.is_set(),))
    keeping.start()
    try:
        assert asked.wait(30)
        house.clock.forward(61)
        eventually(lambda: state(house, shoe) == "void")
    finally:
        over.set()
        witness.closing.set()
        # Its tasks' threads end with their process elsewhere; here they would write into the next test.
        for thread in set(threads_now()) - others:
            thread.join()


# --- the process beside the server -------------------------------------------------------------


def children(process: int) -> list[psutil.Process]:
    return psutil.Process(process).children()


def keeper_of(server: int) -> int:
    """The keeper's process id: of the server's children the guard alone has one of its own."""
    guarded = [child for guard in children(server) for child in guard.children()]
    assert len(guarded) == 1
    return int(guarded[0].pid)


def sockets(process: int) -> set[str]:
    """What sockets a process holds beside its standard streams, each named alike in every process that holds it."""
    opened = [place for place in Path(f"/proc/{process}/fd").iterdir() if int(place.name) > 2]
    return {target for place in opened if (target := os.readlink(place)).startswith("socket:")}


def overdue_shoe(port: int) -> str:
    call(port, "POST", "/v1/tables", {"id": "t", "preset": "np_punto_banco", "overrides": EVERY_COUP})
    call(port, "POST", "/v1/tables/t/books", {"size": 9})
    return str(call(port, "POST", "/v1/tables/t/shoes", {**DEADLINES, "lock_in_s": 1})[1]["shoe"])


def is_void(port: int, shoe: str) -> Callable[[], bool]:
    return lambda: bool(call(port, "GET", f"/v1/shoes/{shoe}/state")[1]["state"] == "void")


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_the_server_voids_what_is_overdue_and_leaves_nothing_behind(tmp_path: Path, workers: int) -> None:
    with served(tmp_path / "house", workers) as (process, port):
        shoe = overdue_shoe(port)
        keeper = keeper_of(process.pid)
        assert psutil.Process(keeper).nice() > psutil.Process(process.pid).nice()
        eventually(is_void(port, shoe))
        bundle = call(port, "GET", f"/v1/shoes/{shoe}/bundle")[1]
        assert call(port, "POST", "/v1/verify", {"bundle": bundle})[1]["verdict"] == "void"
        everyone = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, said, complained) == (0, "", "")
    assert not any(lives(child.pid) for child in everyone)


@ON_POSTGRESQL
def test_no_connection_crosses_a_fork(
    tmp_path: Path, new_database: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two processes on one connection would read each other's answers."""
    monkeypatch.setenv("DATABASE_URL", new_database())
    with serving(tmp_path / "house", "--workers", "2") as (printed, process):
        port = int(printed["url"].rsplit(":", 1)[1])
        shoe = overdue_shoe(port)
        eventually(is_void(port, shoe))
        keeper = keeper_of(process.pid)
        others = {process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))} - {
            keeper
        }
        assert sockets(keeper)
        assert not any(sockets(keeper) & sockets(other) for other in others)
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate(timeout=60)
    assert process.returncode == 0
    assert complained.count("\n") == 2  # where it serves, where the first key is, and nothing else


def test_the_servers_head_is_cosigned_as_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served_witness("", time.time) as witness:
        (tmp_path / "witnesses").write_text(f"{witness.vkey} {witness.url}\n")
        monkeypatch.setenv("FAIRSHOE_WITNESSES", str(tmp_path / "witnesses"))
        monkeypatch.setenv("FAIRSHOE_WITNESS_EVERY_S", "1")
        with serving(tmp_path / "house") as (printed, process), urllib3.PoolManager() as pool:
            url = f"{printed['url']}/v1/log"
            # The witness does not know the log at first: that is said, and tried again.
            eventually(lambda: bool(witness.asked))
            witness.log_vkey = pool.request("GET", f"{url}/key").data.decode().strip()
            eventually(lambda: pool.request("GET", f"{url}/checkpoint?cosigned=1").status == 200)
            cosigned = pool.request("GET", f"{url}/checkpoint?cosigned=1").data.decode()
            process.send_signal(signal.SIGTERM)
            _, complained = process.communicate(timeout=60)
    assert [name for name, _ in cosignatures(cosigned, [parse_vkey(witness.vkey)])] == ["witness.example/w1"]
    assert complained.count("it refuses with 404: it does not know this log's origin") == 1


def test_a_keeper_that_was_killed_is_back(tmp_path: Path) -> None:
    with served(tmp_path / "house") as (process, port):
        call(port, "GET", "/livez")
        first = keeper_of(process.pid)
        os.kill(first, signal.SIGKILL)
        eventually(lambda: not lives(first))
        eventually(is_void(port, overdue_shoe(port)))
        assert keeper_of(process.pid) != first
        process.send_signal(signal.SIGTERM)
        _, complained = process.communicate(timeout=60)
    said = [json.loads(line)["event"] for line in complained.splitlines()]
    assert said == ["fairshoe keeper: killed by SIGKILL, to be started again in 1 s"]


def test_a_killed_server_leaves_no_keeper(tmp_path: Path) -> None:
    with served(tmp_path / "house") as (process, port):
        call(port, "GET", "/livez")
        keeper = keeper_of(process.pid)
        process.kill()
        eventually(lambda: not lives(keeper))


def test_the_keeper_has_no_part_in_the_listening_socket(tmp_path: Path) -> None:
    """Or a server that was killed could not be started again on its port at once."""
    with served(tmp_path / "house") as (process, port):
        call(port, "GET", "/livez")
        assert sockets(process.pid)
        for each in (keeper_of(process.pid), psutil.Process(keeper_of(process.pid)).ppid()):
            assert not sockets(each) & sockets(process.pid)


def test_a_file_of_witnesses_that_is_wrong_keeps_the_server_from_starting(tmp_path: Path) -> None:
    (tmp_path / "witnesses").write_text("nobody\n")
    code = (
        "import sys; from pathlib import Path; from api.serve import run; from api.settings import Settings;"
        "run(Settings(Path(sys.argv[1]), witnesses=Path(sys.argv[2])), ('127.0.0.1', 0))"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "house"), str(tmp_path / "witnesses")]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert f"FAIRSHOE_WITNESSES: {tmp_path / 'witnesses'}, line 1: " in result.stderr
    assert not (tmp_path / "house").exists()
