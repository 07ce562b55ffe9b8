"""A load that costs little: kept connections in one loop, requests that are laid out once, answers that are only cut.

``python -m tests.campaign.hammer`` reads an `Assault` as JSON on standard input, and prints what came of it. It imports
nothing but the standard library, and is a process of its own: on few cores, what the load costs the server lacks.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
from collections import Counter
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

WARM_UP_S = 0.3
STALLED_S = 30


@dataclass(frozen=True)
class Assault:
    """What to send: one request after the other on each connection.

    Connections share the paths out among themselves in turn. One whose path answers with another status than `wanted`
    goes on with its next, and ends after its last. With `key` every request has an Idempotency-Key of its own, which
    begins with it, and with `token` it bears that.
    """

    port: int
    connections: int
    seconds: float
    method: str
    paths: list[str]
    wanted: int = 200
    key: str = ""
    token: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came of it: answers as wanted, within the time and in all; how long each took; all others by status."""

    answered: int
    all_answered: int
    seconds: float
    latencies_ms: list[float]
    others: dict[str, int]

    @property
    def per_second(self) -> float:
        return self.answered / self.seconds


class _Caller:
    """One kept connection, and the request it waits for."""

    def __init__(self, assault: Assault, number: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", assault.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        few = assault.paths * -(-assault.connections // len(assault.paths))
        self._paths = iter(few[number :: assault.connections])
        self._assault, self._key = assault, f"{assault.key}-{number}"
        self._sent, self._start, self._end = 0, b"", b""
        self._pending = b""
        self.sent_at = 0.0
        self.turn()

    def turn(self) -> bool:
        """Take the next path; False where there is none."""
        path = next(self._paths, None)
        key = f"Idempotency-Key: {self._key}-" if self._assault.key else "X-Number: "
        body = "\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
        bearer = f"Authorization: Bearer {self._assault.token}\r\n" if self._assault.token else ""
        self._start = f"{self._assault.method} {path} HTTP/1.1\r\nHost: localhost\r\n{bearer}{key}".encode()
        self._end = (body if self._assault.method == "POST" else "\r\n\r\n").encode()
        return path is not None

    def send(self) -> None:
        self._sent += 1
        self.sent_at = perf_counter()
        self.socket.sendall(b"%b%d%b" % (self._start, self._sent, self._end))

    def status(self) -> int:
        """Read what has come; the answer's status once it is whole, 0 before."""
        came = self.socket.recv(65536)
        if not came:
            raise ConnectionError(f"closed by the server after {self._sent} requests")
        self._pending += came
        head = self._pending.find(b"\r\n\r\n")
        at = self._pending.find(b"Content-Length: ", 0, head)
        if at < 0 or head < 0 or len(self._pending) < head + 4 + int(self._pending[at + 16 : at + 26].split(b"\r")[0]):
            return 0
        status, self._pending = int(self._pending[9:12]), b""
        return status


def assail(assault: Assault) -> Outcome:
    """Keep every connection busy for the time given, after a warm-up; then let the last answers come."""
    made = [_Caller(assault, number) for number in range(assault.connections)]
    callers = {caller.socket.fileno(): caller for caller in made}
    latencies, others, answered = [], Counter[str](), 0
    with select.epoll() as poll:
        for file, caller in callers.items():
            poll.register(file, select.EPOLLIN)
            caller.send()
        start = perf_counter() + WARM_UP_S
        end = start + assault.seconds
        while callers:
            ready = poll.poll(STALLED_S)
            if not ready:
                raise TimeoutError(f"{len(callers)} connections wait for answers that don't come")
            for file, _ in ready:
                caller = callers[file]
                status = caller.status()
                if not status:
                    continue
                now = perf_counter()
                goes_on = True
                if status != assault.wanted:
                    others[str(status)] += 1
                    goes_on = caller.turn()
                else:
                    answered += 1
                if status == assault.wanted and start <= now < end:
                    latencies.append((now - caller.sent_at) * 1e3)
                if now < end and goes_on:
                    caller.send()
                else:
                    poll.unregister(file)
                    callers.pop(file).socket.close()
    if perf_counter() < end:
        raise ValueError(f"{len(assault.paths)} paths were used up before the time was")
    return Outcome(len(latencies), answered, assault.seconds, latencies, dict(others))


def assail_apart(assault: Assault) -> Outcome:
    """The same from a process of its own."""
    command = [sys.executable, "-m", "tests.campaign.hammer"]
    said = subprocess.run(command, input=json.dumps(asdict(assault)), capture_output=True, text=True, check=False)
    if said.returncode:
        raise ChildProcessError(said.stderr)
    found: dict[str, Any] = json.loads(said.stdout)
    return Outcome(**found)


if __name__ == "__main__":
    json.dump(asdict(assail(Assault(**json.load(sys.stdin)))), sys.stdout)
