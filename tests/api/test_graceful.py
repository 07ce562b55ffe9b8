"""A real server on loopback: stopped and renewed under load, and held up by nobody who is slow or silent."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60

SERVICE = """
import sys
from pathlib import Path
from api.serve import run
from api.settings import Settings
settings = Settings(Path(sys.argv[2]), database_url=sys.argv[3] or None, log_level="error", writes_per_minute=0,
                    reads_per_minute=0, workers=2, threads=4, grace_s=20)
run(settings, int(sys.argv[1]))
"""

PLAIN = """
import sys, time
from pathlib import Path
import api.graceful as graceful
from api.serve import _Gunicorn, _options
from api.settings import Settings
folder, patience_s, grace_s = Path(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
graceful.HEAD_S = graceful.BODY_S = graceful.SEND_S = patience_s

def app(environ, start_response):
    if environ["PATH_INFO"] == "/wait":
        (folder / "waits").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
    length = int(environ.get("CONTENT_LENGTH") or 0)
    body = environ["wsgi.input"].read(length) if length else b""
    said = b"x" * 50_000_000 if environ["PATH_INFO"] == "/large" else b"%d bytes" % len(body)
    start_response("200 OK", [("Content-Length", str(len(said)))])
    return [said]

settings = Settings(folder, grace_s=grace_s)
_Gunicorn(lambda: app, _options(settings, int(sys.argv[1]), 1, 2)).run()
"""


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    port: int
    connections: ExitStack = field(default_factory=ExitStack)

    def connect(self, sent: bytes = b"") -> socket.socket:
        """A connection with the beginning of a request on it, kept until the test ends."""
        connection = self.connections.enter_context(socket.create_connection(("127.0.0.1", self.port), PATIENCE_S))
        connection.sendall(sent)
        return connection

    def get(self, path: str = "/", **further: Any) -> tuple[int, bytes]:
        return ask(self.port, "GET", path, **further)


@contextmanager
def server(script: str, *args: object) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listening:
        number, port = listening.fileno(), listening.getsockname()[1]
        command = [sys.executable, "-c", script, str(number), *map(str, args)]
        process = subprocess.Popen(command, pass_fds=[number], cwd=ROOT)
    try:
        found = Server(process, port)
        with found.connections:
            yield found
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def patient_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(PLAIN, tmp_path_factory.mktemp("patient"), 600, 30) as found:
        yield found


@pytest.fixture(scope="module")
def hasty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(PLAIN, tmp_path_factory.mktemp("hasty"), 0.3, 30) as found:
        yield found


@pytest.fixture
def patient(patient_server: Server) -> Iterator[Server]:
    """A server of one worker with two threads, that waits longer than any test does."""
    yield from lent(patient_server)


@pytest.fixture
def hasty(hasty_server: Server) -> Iterator[Server]:
    """The same, whose callers have a third of a second."""
    yield from lent(hasty_server)


def lent(running: Server) -> Iterator[Server]:
    found = Server(running.process, running.port)
    with found.connections:
        yield found


def ask(
    port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def eventually(holds: Callable[[], bool]) -> None:
    latest = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < latest, "it never came"
        time.sleep(0.02)


def rest_of(connection: socket.socket) -> bytes:
    """What comes on a connection until the server closes it."""
    received = b""
    while True:
        try:
            piece = connection.recv(65536)
        except ConnectionResetError:
            return received
        if not piece:
            return received
        received += piece


# --- who is slow or silent -----------------------------------------------------------------------------

HELD_UP = {
    "idle": b"",
    "partial request line": b"GET /",
    "partial head": b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ",
    "head without its last byte": b"GET / HTTP/1.1\r\nHost: x\r\n\r",
    "partial body": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
    "no body yet": b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length:65536\r\n\r\n",
}


@pytest.mark.parametrize("sent", HELD_UP.values(), ids=list(HELD_UP))
def test_a_hundred_who_are_slow_hold_no_thread_of_two(patient: Server, sent: bytes) -> None:
    """gunicorn's own worker answers nobody within PATIENCE_S here: see its handle() and SocketUnreader.chunk()."""
    assert patient.get()[0] == 200
    slow = [patient.connect(sent) for _ in range(100)]
    assert [patient.get()[0] for _ in range(5)] == [200] * 5
    if sent:
        slow[0].sendall(_ending(sent))
        assert slow[0].recv(15) == b"HTTP/1.1 200 OK"


def _ending(sent: bytes) -> bytes:
    """What is missing of a request."""
    if b"POST" in sent:
        head, _, body = sent.partition(b"\r\n\r\n")
        return b"x" * (int(head.rpartition(b":")[2]) - len(body))
    return (b" HTTP/1.1\r\nHost: x\r\n\r\n" if sent == b"GET /" else b"y\r\n\r\n") if sent[-1:] != b"\r" else b"\n"


def test_a_hundred_connections_that_are_kept_hold_no_thread_either(patient: Server) -> None:
    kept = [patient.connect(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(100)]
    assert all(connection.recv(15) == b"HTTP/1.1 200 OK" for connection in kept)
    for connection in kept:
        connection.sendall(b"GET / HTTP/1.1\r\nHo")
    assert patient.get()[0] == 200


@pytest.mark.parametrize("sent", HELD_UP.values(), ids=list(HELD_UP))
def test_who_takes_too_long_is_cut_off(hasty: Server, sent: bytes) -> None:
    assert hasty.get()[0] == 200
    assert rest_of(hasty.connect(sent)) == b""
    assert hasty.get()[0] == 200


def test_a_drop_now_and_then_is_too_long_too(hasty: Server) -> None:
    """Each byte comes in time; the head as a whole does not."""
    connection = hasty.connect(b"GET / HTTP/1.1\r\nX-A: ")

    def refuses_more() -> bool:
        try:
            connection.sendall(b"a")
        except ConnectionError:
            return True
        return False

    eventually(refuses_more)


@pytest.mark.parametrize(
    "sent",
    [
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n" + b"a" * 69_999,
    ],
)
def test_a_large_body_that_does_not_come_gives_its_thread_back(hasty: Server, sent: bytes) -> None:
    """Two threads and ten such callers: somebody else is answered once each has had its time."""
    slow = [hasty.connect(sent) for _ in range(10)]
    assert hasty.get()[0] == 200
    assert all(b"200 OK" not in rest_of(connection) for connection in slow)


def test_an_answer_that_nobody_reads_gives_its_thread_back(hasty: Server) -> None:
    for _ in range(4):
        hasty.connect(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    assert hasty.get()[0] == 200


def test_requests_in_pieces_and_in_a_row_are_answered_in_order(patient: Server) -> None:
    """Cut at every byte; two in one piece; one after another on the same connection."""
    request = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc"
    for cut in range(1, len(request)):
        connection = patient.connect(request[:cut])
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        time.sleep(0.002)
        connection.sendall(request[cut:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")
        connection.close()
    connection = patient.connect(request + request)
    received = b""
    while received.count(b"3 bytes") < 2:
        received += connection.recv(65536)
    connection.sendall(request + b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert rest_of(connection).count(b"HTTP/1.1 200 OK") == 2


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, b"431"),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 100_000, b"431"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"400"),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na", b"400"),
    ],
)
def test_what_is_no_request_is_refused_as_ever(patient: Server, sent: bytes, status: bytes) -> None:
    connection = patient.connect(sent)
    assert rest_of(connection).split()[1] == status
    assert patient.get()[0] == 200


def test_who_waits_to_be_asked_for_the_body_is_asked(patient: Server) -> None:
    connection = patient.connect(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
    assert connection.recv(65536).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b"abc")
    assert connection.recv(65536).startswith(b"HTTP/1.1 200 OK")


# --- stopping --------------------------------------------------------------------------------------------


def test_told_to_stop_it_accepts_nobody_and_finishes_what_has_begun(tmp_path: Path) -> None:
    answers: list[tuple[int, bytes]] = []
    with server(PLAIN, tmp_path, 600, 30) as found:
        waiting = threading.Thread(target=lambda: answers.append(found.get("/wait")))
        waiting.start()
        eventually((tmp_path / "waits").exists)
        silent = found.connect(b"GET / HTTP/1.1\r\nHo")
        found.process.send_signal(signal.SIGTERM)
        eventually(lambda: refuses(found.port))
        assert found.process.poll() is None
        (tmp_path / "go").touch()
        assert found.process.wait(PATIENCE_S) == 0
        waiting.join()
        assert rest_of(silent) == b""
    assert answers == [(200, b"0 bytes")]


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except ConnectionRefusedError:
        return True
    return False


def test_what_does_not_finish_in_the_time_granted_is_left(tmp_path: Path) -> None:
    with server(PLAIN, tmp_path, 600, 1) as found:
        connection = found.connect(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        eventually((tmp_path / "waits").exists)
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(PATIENCE_S) == 0
        assert rest_of(connection) == b""


# --- renewing, the whole service ----------------------------------------------------------------------------


@dataclass
class Caller:
    """A client that repeats a request once, with its key, where the connection breaks; and what it was answered."""

    port: int
    token: str
    stop: threading.Event
    made: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    repeated: int = 0

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        while not self.stop.is_set():
            name = f"t{uuid.uuid4().hex}"
            for attempt in (1, 2):
                try:
                    status = self._make(connection, name)
                except (OSError, http.client.HTTPException) as error:
                    connection.close()
                    self.repeated += 1
                    if attempt == 2:
                        self.lost.append(repr(error))
                    continue
                (self.made if status == 201 else self.lost).append(name if status == 201 else str(status))
                break
        connection.close()

    def _make(self, connection: http.client.HTTPConnection, name: str) -> int:
        body = json.dumps({"id": name, "preset": "np_punto_banco"}).encode()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}", "Idempotency-Key": name}
        connection.request("POST", "/v1/tables", body, headers)
        response = connection.getresponse()
        response.read()
        return response.status


def test_renewed_under_load_it_loses_no_request_that_is_repeated_once(
    tmp_path: Path, new_database: Callable[[], str | None]
) -> None:
    folder, stop = tmp_path / "house", threading.Event()
    with server(SERVICE, folder, new_database() or "") as found:
        assert ask(found.port, "GET", "/livez")[0] == 200
        token = (folder / "operator.key").read_text().strip()
        callers = [Caller(found.port, token, stop) for _ in range(6)]
        threads = [threading.Thread(target=caller.run) for caller in callers]
        for thread in threads:
            thread.start()
        before = workers_of(found.process.pid)
        for _ in range(2):
            eventually_more(callers)
            old = workers_of(found.process.pid)
            found.process.send_signal(signal.SIGHUP)
            eventually(lambda: not old & workers_of(found.process.pid))  # noqa: B023  # called at once
        eventually_more(callers)
        stop.set()
        for thread in threads:
            thread.join()
        assert [caller.lost for caller in callers] == [[]] * 6
        assert len(before) == 2
        made = {name for caller in callers for name in caller.made}
        assert made
        assert all(ask(found.port, "GET", f"/v1/tables/{name}")[0] == 200 for name in sorted(made)[:50])
        found.process.send_signal(signal.SIGTERM)
        assert found.process.wait(PATIENCE_S) == 0


def eventually_more(callers: list[Caller]) -> None:
    """Wait until each caller has made some more: the load is there, and answered."""
    reached = [len(caller.made) + 3 for caller in callers]
    eventually(lambda: all(len(caller.made) >= n or caller.lost for caller, n in zip(callers, reached, strict=True)))


def workers_of(process: int) -> set[int]:
    """The server's children but its keeper's guard, which has a child of its own."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return {int(child) for child in children if not Path(f"/proc/{child}/task/{child}/children").read_text().split()}


def test_the_folder_of_counts_is_gone_when_the_server_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it ends in order, after a renewal too; and a killed server's when the next one starts."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))

    def folders() -> set[Path]:
        return set(temporary.glob("fairshoe-metrics-*"))

    with server(SERVICE, tmp_path / "a", "") as killed:
        assert ask(killed.port, "GET", "/livez")[0] == 200
        before = folders()
        assert len(before) == 1
        killed.process.kill()
        killed.process.wait()
    assert folders() == before
    with server(SERVICE, tmp_path / "b", "") as first, server(SERVICE, tmp_path / "c", "") as second:
        assert {ask(each.port, "GET", "/livez")[0] for each in (first, second)} == {200}
        eventually(lambda: not before & folders())
        assert len(folders()) == 2
        first.process.send_signal(signal.SIGHUP)
        assert ask(first.port, "GET", "/livez")[0] == 200
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(PATIENCE_S) == 0
        assert len(folders()) == 1
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait(PATIENCE_S) == 0
        assert folders() == set()
