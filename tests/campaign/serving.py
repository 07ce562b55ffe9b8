"""Servers to be killed: each a process group of its own, on a listening socket that outlives it.

A server is forked from a process that has imported the service already. It starts as any other does, from its files
and its database alone, and is spared only the second that Python takes for the imports.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import signal
import socket
from contextlib import closing, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import wait as wait_for
from multiprocessing.process import BaseProcess
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from api.serve import run
from api.settings import Settings
from tests.first_keys import serves

if TYPE_CHECKING:  # a server that is forked imports this module anew, and has no use for what its tests need
    from tests.api.postgres import Postgres

ORIGIN = "campaign.example/log"
START_TIMEOUT_S = 60
NO_LIMITS = {"writes_per_minute": 0, "seat_writes_per_minute": 0, "reads_per_minute": 0}

_FORKING = multiprocessing.get_context("forkserver")
_FORKING.set_forkserver_preload(["api.serve"])


@dataclass
class Place:
    """Where an installation is: its folder, and in it or in a PostgreSQL its database."""

    folder: Path
    postgres: Postgres | None = None
    database_url: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        if self.postgres is not None:
            self.database_url = self.postgres.create_database()

    @property
    def settings(self) -> Settings:
        return Settings(self.folder, ORIGIN, self.database_url, **NO_LIMITS)

    @property
    def reading_url(self) -> str:
        """The database's URL, for those who read it beside the service."""
        return self.database_url or f"sqlite:///{self.settings.database}"

    def kill_database(self) -> None:
        """Kill a database that runs by itself; the embedded one dies with its server."""
        if self.postgres is not None:
            self.postgres.kill()

    def restart_database(self) -> None:
        """Start it again after its death."""
        if self.postgres is not None:
            self.postgres.restart()


@dataclass
class Server:
    """A server of an installation, on a port that stays the same; requests that come while it is down wait."""

    place: Place
    workers: int = 1
    threads: int = 8
    listening: socket.socket = field(init=False)
    port: int = field(init=False)
    _process: BaseProcess | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listening.getsockname()[1]
        serves(self.port, self.place.folder)

    @property
    def log(self) -> Path:
        """Where standard output and error of every server on this port go."""
        return self.place.folder.with_name(f"server-{self.port}.log")

    def start(self) -> float:
        """Start, and give the seconds until it answered."""
        began = perf_counter()
        self.launch()
        self.wait()
        return perf_counter() - began

    def launch(self) -> None:
        """Start, without waiting for it."""
        options = (self.place.settings, self.listening, self.log, self.workers, self.threads)
        self._process = _FORKING.Process(target=_serve, args=options)
        self._process.start()

    def wait(self) -> None:
        """Wait until it answers: a server that has ended, or ends instead, fails the test with what it said."""
        assert self._process is not None
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        with closing(connection):
            connection.request("GET", "/livez")
            came = wait_for([connection.sock, self._process.sentinel], START_TIMEOUT_S)
            assert self._process.sentinel not in came, f"the server has ended: {self.said()}"
            assert connection.sock in came, f"the server does not answer: {self.said()}"
            assert connection.getresponse().status == 200, self.said()

    def kill(self) -> None:
        """Kill the whole group at once, as a power cut would."""
        if self._process is not None:
            with suppress(ProcessLookupError):  # where it ended by itself
                os.killpg(self._process.pid or 0, signal.SIGKILL)
            self._process.join()
            self._process = None

    def close(self) -> None:
        """Kill what runs, and give up the port."""
        self.kill()
        self.listening.close()

    def complaints(self) -> list[str]:
        """The lines of its journal that are no mere news, and whatever is no line of it."""
        return [line for line in self.said().splitlines() if not line.startswith("{") or '"level": "info"' not in line]

    def said(self) -> str:
        return self.log.read_text() if self.log.exists() else ""


def _serve(settings: Settings, listening: socket.socket, log: Path, workers: int, threads: int) -> None:
    os.setsid()
    with log.open("ab") as said:
        for standard in (1, 2):
            os.dup2(said.fileno(), standard)
    run(settings, listening.detach(), workers, threads)
