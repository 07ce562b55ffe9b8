"""The server: gunicorn with threads, on an address or on a socket that is bound already."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterable
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from gunicorn.app.base import BaseApplication
from sqlalchemy.exc import DBAPIError

from api import create_app
from api.beacon import signature_checker
from api.beside import describe, run_beside, say
from api.db.sessions import out_of_reach
from api.healthy import watched
from api.keeper import NAME, Keeper
from api.settings import Settings
from api.wiring import open_service
from api.witness import read_witnesses
from api.world import real_world

RETRY_S: Final = 1.0


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


def run(settings: Settings, listen: int | tuple[str, int], workers: int = 1, threads: int = 32) -> None:
    """Serve until SIGTERM or SIGINT, then exit the process; prints nothing on standard output.

    The keeper runs beside, in a process of its own. `listen` is the file descriptor of a listening socket, handed over
    for good, or (host, port). Raises SetupError where the installation does not fit together or randomness is not
    healthy, before anything is served; warnings go to standard error.
    """
    witnesses = read_witnesses(settings.witnesses)
    world, check_signature = watched(real_world()), signature_checker()
    # First start and migrations happen here, once; no connection of theirs may live on in a forked worker.
    service = open_service(settings, world, check_signature)
    service.store.engine.dispose()
    for reason in service.permit.reasons():
        say(f"read-only: {reason}")

    def keep(goes_on: Callable[[], bool]) -> None:
        Keeper(open_service(settings, world, check_signature), witnesses, settings.witness_every_s).run(goes_on)

    keeper = run_beside(NAME, keep, [listen] if isinstance(listen, int) else [])
    options = {
        "bind": f"fd://{listen}" if isinstance(listen, int) else f"{listen[0]}:{listen[1]}",
        "workers": workers,
        "threads": threads,
        "worker_class": "gthread",
        "loglevel": "warning",
        "control_socket_disable": True,
        "on_exit": lambda _: keeper.stop(),
    }
    _Gunicorn(lambda: prompt(_once_in_reach(lambda: create_app(settings, world, check_signature))), options).run()


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
