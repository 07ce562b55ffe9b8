"""The server: gunicorn with threads, on an address or on a socket that is bound already."""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from gunicorn.app.base import BaseApplication
from sqlalchemy.exc import DBAPIError

from api import create_app
from api.beacon import signature_checker
from api.beside import describe, run_beside
from api.db.sessions import out_of_reach
from api.graceful import KEEPALIVE_S, PatientWorker, PromptArbiter
from api.healthy import watched
from api.journal import open_journal, say, write
from api.keeper import NAME, Keeper
from api.meters import forget_process, share
from api.serverlog import ServerLog
from api.settings import Settings
from api.webhooks.sender import Sender
from api.wiring import open_service
from api.witness import read_witnesses
from api.world import real_world

RETRY_S: Final = 1.0
COUNTS: Final = "fairshoe-metrics-"
LOCK: Final = "lock"


def prompt(app: WSGIApplication) -> WSGIApplication:
    """Wrap an application so that answers leave at once.

    gunicorn sends head and body apart and asks for no delay on the listening socket only; where the kernel does not
    hand that down, each answer on a kept connection waits some 40 ms for the peer's acknowledgement.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        connection = environ.get("gunicorn.socket")
        if isinstance(connection, socket.socket) and connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return app(environ, start_response)

    return answer


class _Gunicorn(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    def __init__(self, load: Callable[[], WSGIApplication], options: dict[str, Any]) -> None:
        self._load, self._options = load, options
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._options.items():
            # Newer gunicorns alone open a control socket in the user's home.
            if name in self.cfg.settings:
                self.cfg.set(name, value)

    def load(self) -> WSGIApplication:
        return self._load()

    def run(self) -> None:
        PromptArbiter(self).run()


def run(
    settings: Settings, listen: int | tuple[str, int], workers: int | None = None, threads: int | None = None
) -> None:
    """Serve until SIGTERM or SIGINT, then exit the process; prints nothing on standard output.

    The keeper runs beside, in a process of its own. `listen` is the file descriptor of a listening socket, handed over
    for good, or (host, port); `workers` and `threads` are the settings' unless given. SIGTERM lets requests finish, for
    as long as the settings grant them; SIGHUP puts new workers in the place of the old, which finish theirs. The
    journal is written to standard error. Raises SetupError where the installation does not fit together or randomness
    is not healthy, before anything is served.
    """
    witnesses = read_witnesses(settings.witnesses)
    world, check_signature = watched(real_world()), signature_checker()
    # First start and migrations happen here, once; no connection of theirs may live on in a forked worker.
    service = open_service(settings, world, check_signature)
    service.store.engine.dispose()
    open_journal(settings.log_level, world.now)
    server, counts = os.getpid(), _make_counts()
    share(counts)
    for reason in service.permit.reasons():
        say(f"read-only: {reason}")

    def keep(goes_on: Callable[[], bool]) -> None:
        write("keeper started")
        service = open_service(settings, world, check_signature)
        Keeper(service, witnesses, settings.witness_every_s, sender=Sender(settings.reach)).run(goes_on)
        write("keeper stopped")

    try:
        keeper = run_beside(NAME, keep, [listen] if isinstance(listen, int) else [])
        options = {
            **_options(settings, listen, workers or settings.workers, threads or settings.threads),
            "on_exit": lambda _: keeper.stop(),
        }
        write("started", workers=options["workers"], threads=options["threads"], log=service.log.origin)
        _Gunicorn(lambda: prompt(_once_in_reach(lambda: create_app(settings, world, check_signature))), options).run()
    finally:
        # Workers that end come by here too.
        if os.getpid() == server:
            shutil.rmtree(counts, ignore_errors=True)
            write("stopped")


def _make_counts() -> Path:
    """Make the folder of this server's counts, and take away those of servers that were killed.

    The lock is held by every process of the server: it is free once the last is gone.
    """
    for old in Path(tempfile.gettempdir()).glob(f"{COUNTS}*"):
        with suppress(OSError), (old / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(old, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=COUNTS))
    fcntl.flock(os.open(folder / LOCK, os.O_CREAT | os.O_RDONLY, 0o600), fcntl.LOCK_EX)
    return folder


def _options(settings: Settings, listen: int | tuple[str, int], workers: int, threads: int) -> dict[str, Any]:
    return {
        "bind": f"fd://{listen}" if isinstance(listen, int) else f"{listen[0]}:{listen[1]}",
        "workers": workers,
        "threads": threads,
        "worker_class": _named(PatientWorker),
        "logger_class": _named(ServerLog),
        # At debug gunicorn would show requests' addresses.
        "loglevel": "info" if settings.log_level == "debug" else settings.log_level,
        "keepalive": KEEPALIVE_S,
        "graceful_timeout": settings.grace_s,
        "control_socket_disable": True,
        "child_exit": lambda _, worker: forget_process(worker.pid),
    }


def _named(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _once_in_reach(load: Callable[[], WSGIApplication]) -> WSGIApplication:
    """Load a worker's application, as often as the database is out of reach: gunicorn ends for a worker that can't."""
    while True:
        try:
            return load()
        except DBAPIError as error:
            if not out_of_reach(error):
                raise
            say(f"worker: {describe(error)}")
            time.sleep(RETRY_S)
