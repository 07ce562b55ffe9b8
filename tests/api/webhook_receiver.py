"""A real receiver of webhooks for tests: HTTP or HTTPS on loopback, every request kept, and able to misbehave."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, NamedTuple


class Came(NamedTuple):
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """Keeps what comes, and answers `status`; `take_over` answers in its own way, and may wait for `closing`."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    came: list[Came] = field(default_factory=list)
    take_over: Callable[[BaseHTTPRequestHandler], None] | None = None
    closing: Event = field(default_factory=Event)
    port: int = 0
    scheme: str = "http"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        return [came.headers["webhook-id"] for came in self.came]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): text for name, text in self.headers.items()}
        self.receiver.came.append(Came(self.path, headers, body))
        if self.receiver.take_over is not None:
            self.close_connection = True
            with suppress(OSError):
                self.receiver.take_over(self)
            return
        self.send_response(self.receiver.status)
        for name, text in self.receiver.headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.receiver.came.append(Came(self.path, dict(self.headers.items()), b""))
        self.send_error(405)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A sender that hangs up is nothing to speak of."""


@contextmanager
def receiving(tls: ssl.SSLContext | None = None, **further: Any) -> Iterator[Receiver]:
    """A receiver at work on a free port of 127.0.0.1 until the block is left."""
    receiver = Receiver(**further)
    with _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"receiver": receiver})) as server:
        if tls is not None:
            server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            receiver.scheme = "https"
        receiver.port = server.server_address[1]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.closing.set()
            server.shutdown()
            thread.join()


def free_port() -> int:
    """A port that nobody listens at."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        return int(server.server_address[1])
