"""A server on loopback between a client and a real service, which passes requests on, or does worse, as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from api.client import Patience, Surroundings
from tests.api.installation import Installation

JSON = "application/json"
PROBLEM = "application/problem+json"


class Given(NamedTuple):
    """An answer: status, body, and all headers but the body's length."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = (("Content-Type", JSON),)


def given(status: int, body: bytes | str, media_type: str | None = JSON, **headers: str) -> Given:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    typed = () if media_type is None else (("Content-Type", media_type),)
    return Given(status, body.encode() if isinstance(body, str) else body, typed + named)


def problem(status: int, slug: str = "x", **headers: str) -> Given:
    body = {
        "type": f"urn:fairshoe:problem:{slug}",
        "title": "No",
        "status": status,
        "detail": "because",
        "next": "wait",
    }
    return given(status, json.dumps(body), PROBLEM, **headers)


@dataclass
class Misbehaving:
    """What it does with the next requests, in order, is in `plan`; with all further ones `otherwise`.

    `asked` are the requests that came, `answered` how many were passed on to the service.
    """

    house: Installation | None
    plan: list[Callable[[Handler], None]] = field(default_factory=list)
    otherwise: Callable[[Handler], None] | None = None
    asked: list[Any] = field(default_factory=list)
    answered: int = 0
    url: str = ""

    def keys(self, path: str) -> list[str]:
        return [asked.headers["Idempotency-Key"] for asked in self.asked if asked.path == path]


class Asked(NamedTuple):
    method: str
    path: str
    headers: Any
    body: bytes


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: Misbehaving
    asked: Asked

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.asked = Asked(self.command, self.path, self.headers, body)
        state = self.server_state
        state.asked.append(self.asked)
        act = state.plan.pop(0) if state.plan else (state.otherwise or honestly)
        act(self)

    def do_POST(self) -> None:
        self.do_GET()

    def forward(self) -> Given:
        """Have the real service answer."""
        house = self.server_state.house
        assert house is not None
        # What the test's own client would add, the one in question must bring itself.
        headers = {"Authorization": "none", "Idempotency-Key": "none", **dict(self.asked.headers.items())}
        headers.pop("Host", None)
        response = house.client.open(self.asked.path, method=self.asked.method, headers=headers, data=self.asked.body)
        self.server_state.answered += 1
        kept = tuple((k, v) for k, v in response.headers.items() if k.lower() != "content-length")
        return Given(response.status_code, response.data, kept)

    def give(self, made: Given, length: int | None = None) -> None:
        self.send_response(made.status)
        for name, value in made.headers:
            self.send_header(name, value)
        if made.status != 304:
            self.send_header("Content-Length", str(len(made.body) if length is None else length))
        self.end_headers()
        if made.status != 304:
            self.wfile.write(made.body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def honestly(handler: Handler) -> None:
    handler.give(handler.forward())


def drop_before(handler: Handler) -> None:
    """Hang up before the service hears of it."""
    handler.close_connection = True


def drop_after(handler: Handler) -> None:
    """Let the service act, and hang up instead of answering."""
    handler.forward()
    handler.close_connection = True


def truncate(handler: Handler) -> None:
    """Let the service act, and break the answer off."""
    made = handler.forward()
    handler.give(made._replace(body=made.body[: len(made.body) // 2]), len(made.body))
    handler.close_connection = True


def answer(made: Given) -> Callable[[Handler], None]:
    return lambda handler: handler.give(made)


def spoil(alter: Callable[[Any], Any]) -> Callable[[Handler], None]:
    """Let the service act, and alter what its JSON says."""

    def act(handler: Handler) -> None:
        made = handler.forward()
        handler.give(made._replace(body=json.dumps(alter(json.loads(made.body))).encode()))

    return act


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is nothing to speak of."""


@contextmanager
def misbehaving(house: Installation | None = None) -> Iterator[Misbehaving]:
    state = Misbehaving(house)
    handler = type("Handler", (Handler,), {"server_state": state})
    with _Server(("127.0.0.1", 0), handler) as server:
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Waiting:
    """A clock that only sleeping moves, every sleep kept; `draw` is what every byte of chance is, but keys differ."""

    draw: int = 0xFF
    now: float = 0.0
    slept: list[float] = field(default_factory=list)
    drawn: int = 0

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def chance(self, size: int) -> bytes:
        self.drawn += 1
        return bytes([self.draw]) * size if size == 8 else self.drawn.to_bytes(size, "big")

    def surroundings(self) -> Surroundings:
        return Surroundings(lambda: self.now, self.sleep, self.chance)


QUICK = Patience(connect_s=2, silence_s=5, total_s=30, attempts=4, first_wait_s=1, longest_wait_s=3)
