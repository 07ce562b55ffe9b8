"""A process beside the server, as a real one: started again when it dies, and gone when the server is.

Each test runs a small server of its own whose work writes its process id, a line each time that it is started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DBAPIError

from api.beside import PAUSES_S, describe
from api.refusals import READ_ONLY, Refusal
from tests.api.postgres import is_dead

PATIENCE_S = 30
"""How long a test waits for what has to come."""

SERVER = """
import os, signal, sys, time
from api import beside
beside.PAUSES_S = (0.01,)

def note(goes_on):
    with open(sys.argv[1], "a") as file:
        print(os.getpid(), file=file)

def until_told(goes_on):
    note(goes_on)
    while goes_on():
        time.sleep(0.05)

def stubborn(goes_on):
    note(goes_on)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(3600)

def failing(goes_on):
    note(goes_on)
    raise FileNotFoundError(2, "No such file or directory", "a/file")

keeper = beside.run_beside("keeper", globals()[sys.argv[2]])
print(keeper.guard, flush=True)
sys.stdin.read(1)
keeper.stop()
print("stopped", flush=True)
sys.stdin.read()
"""


class Server:
    """The small server, its guard's process id, and the ids under which its work was started so far."""

    def __init__(self, process: subprocess.Popen[str], notes: Path) -> None:
        self.process, self._notes = process, notes
        assert process.stdout is not None
        self.guard = int(process.stdout.readline())

    def started(self, times: int = 1) -> list[int]:
        eventually(lambda: self._notes.exists() and len(self._notes.read_text().split("\n")) > times)
        return [int(line) for line in self._notes.read_text().split()]

    def say(self, what: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(what)
        self.process.stdin.flush()


@contextmanager
def serving(tmp_path: Path, work: str) -> Iterator[Server]:
    notes = tmp_path / "notes"
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, "-c", SERVER, str(notes), work]
    with subprocess.Popen(command, text=True, cwd=Path(__file__).parents[2], **pipes) as process:
        server = Server(process, notes)
        try:
            yield server
        finally:
            process.kill()
            eventually(lambda: not lives(server.guard))


def lives(process: int) -> bool:
    """Whether a process runs; one that has ended and waits to be reaped does not."""
    try:
        return not is_dead(psutil.Process(process))
    except psutil.NoSuchProcess:
        return False


def eventually(holds: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < latest, "it never came"
        time.sleep(0.02)


@pytest.mark.parametrize("work", ["until_told", "stubborn"])
def test_it_ends_when_the_server_says_so(tmp_path: Path, work: str) -> None:
    with serving(tmp_path, work) as server:
        (worker,) = server.started()
        server.say("x")
        assert server.process.stdout is not None
        assert server.process.stdout.readline() == "stopped\n"
        assert not lives(worker)
        assert not lives(server.guard)
        said = server.process.communicate(timeout=PATIENCE_S)
    assert said == ("", "")


@pytest.mark.parametrize("work", ["until_told", "stubborn"])
def test_it_ends_when_the_server_is_killed(tmp_path: Path, work: str) -> None:
    """Nothing tells it: it finds itself without its parent."""
    with serving(tmp_path, work) as server:
        (worker,) = server.started()
        server.process.kill()
        eventually(lambda: not lives(worker) and not lives(server.guard))
        assert server.process.communicate(timeout=PATIENCE_S) == ("", "")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_what_dies_is_started_again_and_it_is_said(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "until_told") as server:
        (first,) = server.started()
        os.kill(first, number)
        first, second = server.started(2)
        assert second != first
        assert lives(second)
        server.say("x")
        _, complained = server.process.communicate(timeout=PATIENCE_S)
    assert complained == f"keeper: killed by {number.name}, to be started again in 0.01 s\n"


def test_what_fails_says_so_and_is_started_again(tmp_path: Path) -> None:
    with serving(tmp_path, "failing") as server:
        server.started(3)
        server.say("x")
        _, complained = server.process.communicate(timeout=PATIENCE_S)
    failed = "keeper: a/file: No such file or directory\n"
    again = "keeper: ended with status 1, to be started again in 0.01 s\n"
    assert complained.startswith((failed + again) * 2)


def test_without_its_guard_it_ends_by_itself(tmp_path: Path) -> None:
    with serving(tmp_path, "until_told") as server:
        (worker,) = server.started()
        os.kill(server.guard, signal.SIGKILL)
        eventually(lambda: not lives(worker))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_ctrl_c_and_a_closed_terminal_are_the_servers_to_answer(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "until_told") as server:
        (worker,) = server.started()
        for process in (worker, server.guard):
            os.kill(process, number)
        os.kill(worker, signal.SIGKILL)
        _, second = server.started(2)
        assert lives(second)
        assert lives(server.guard)


def test_pauses_grow_to_a_minute() -> None:
    assert PAUSES_S == (1, 2, 4, 8, 16, 32, 60)


def test_an_error_is_described_without_its_values() -> None:
    """Our own messages are made for operators; of any other only kind and place are known to be harmless."""
    value = "seed-0123456789abcdef"

    def raised(error: Exception) -> Exception:
        try:
            raise error
        except Exception as caught:  # noqa: BLE001
            return caught

    place = Path(__file__).name
    assert describe(Refusal(READ_ONLY, "The clock is wrong.")) == "The clock is wrong."
    assert describe(raised(ValueError(value))).startswith(f"ValueError at {place}:")
    assert describe(raised(KeyError(value))).startswith(f"KeyError at {place}:")
    assert describe(KeyError(value)) == "KeyError at no known place"
    assert describe(OSError(28, "No space left on device")) == "No space left on device"
    assert describe(raised(OSError(value))).startswith(f"OSError at {place}:")


def test_a_database_error_names_its_kind_alone() -> None:
    engine = create_engine("sqlite://")
    with pytest.raises(DBAPIError) as failure, engine.connect() as connection:
        connection.execute(text("SELECT 'seed-0123456789abcdef' FROM nowhere"))
    engine.dispose()
    assert "seed-0123456789abcdef" in str(failure.value)
    assert describe(failure.value) == "the database failed: SQLITE_ERROR"
