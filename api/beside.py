"""A process beside the server: started again whenever it dies, and ended with the server, however that ends.

The server forks a guard before it serves, and the guard forks what works; neither has a connection of the server's, and
nobody waits for the work's end: like every process of the service it may be killed at any instruction.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sqlalchemy.exc import DBAPIError

from api.journal import say
from shoe.errors import FairshoeError

PAUSES_S: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0)
"""Before it is started again: the first pause, and the longer ones where it dies soon again and again."""

STEADY_S: Final = 60.0
"""Who has run for so long does not die soon."""

LOOK_S: Final = 1.0
STOP_WITHIN_S: Final = 2.0

Work = Callable[[Callable[[], bool]], None]
"""What is to be done; it asks the callable that it is given, every second or so, whether it may go on."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The guard of a running process, and the pipe by which it is told to end."""

    guard: int
    leash: int

    def stop(self) -> None:
        """End guard and process, and wait two seconds at most until they have."""
        with suppress(OSError):
            os.write(self.leash, b".")
        latest = time.monotonic() + STOP_WITHIN_S
        while _lives(self.guard) and time.monotonic() < latest:
            time.sleep(0.01)


def run_beside(name: str, work: Work, close: Iterable[int] = ()) -> Beside:
    """Run `work` in a process beside this one, from now until `stop`, or until this process is gone.

    `close` are file descriptors that the process must not hold, such as a listening socket. What goes wrong is said on
    standard error, a line each, under the name given. To be called before this process has threads or connections.
    """
    listening, leash = os.pipe()
    server, guard = os.getpid(), os.fork()
    if guard:
        os.close(listening)
        return Beside(guard, leash)
    try:
        for descriptor in (leash, *close):
            os.close(descriptor)
        # Ctrl-C and a closed terminal reach the whole group: the server decides what they mean.
        for ignored in (signal.SIGINT, signal.SIGHUP):
            signal.signal(ignored, signal.SIG_IGN)
        _stand_guard(name, work, listening, server)
    finally:
        os._exit(0)


def describe(error: Exception) -> str:
    """Say what went wrong without a value that could be secret: our own errors speak, of others the kind is named."""
    if isinstance(error, FairshoeError):
        return str(error)
    if isinstance(error, DBAPIError):
        cause = error.orig
        kind = getattr(cause, "sqlite_errorname", None) or getattr(cause, "sqlstate", None) or type(cause).__name__
        return f"the database failed: {kind}"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return f"{type(error).__name__} at {_place(error)}"


def _place(error: Exception) -> str:
    trace, place = error.__traceback__, "no known place"
    while trace is not None:
        place = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
        trace = trace.tb_next
    return place


def _stand_guard(name: str, work: Work, listening: int, server: int) -> None:
    def told_to_end(within_s: float) -> bool:
        return bool(select.select([listening], [], [], within_s)[0]) or os.getppid() != server

    deaths = 0
    while True:
        started, worker = time.monotonic(), _start(name, work)
        while (ended := os.waitpid(worker, os.WNOHANG))[0] == 0:
            if told_to_end(LOOK_S):
                os.kill(worker, signal.SIGKILL)
                os.waitpid(worker, 0)
                return
        deaths = 1 if time.monotonic() - started >= STEADY_S else deaths + 1
        pause_s = PAUSES_S[min(deaths, len(PAUSES_S)) - 1]
        say(f"{name}: {_end(ended[1])}, to be started again in {pause_s:g} s")
        if told_to_end(pause_s):
            return


def _start(name: str, work: Work) -> int:
    guard, worker = os.getpid(), os.fork()
    if worker:
        return worker
    status = 1
    try:
        work(lambda: os.getppid() == guard)
        status = 0
    except Exception as error:  # noqa: BLE001  # the process's last words
        say(f"{name}: {describe(error)}")
    finally:
        os._exit(status)


def _end(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    return f"ended with status {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"


def _lives(process: int) -> bool:
    try:
        return os.waitpid(process, os.WNOHANG)[0] == 0
    except ChildProcessError:  # somebody else has reaped it
        return False
