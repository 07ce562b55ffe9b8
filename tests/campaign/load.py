"""Clients that never give up: a request is sent again, under the same key, until it is answered."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, NamedTuple

from tests.campaign.ledger import Answer, Draws, Ledger, Request
from tests.first_keys import key_at

PATIENCE_S = 60
"""A request that is not answered for so long, sent again and again, is lost: no restart takes nearly as long."""

DEADLINES = {"lock_in_s": 3600, "seal_in_s": 7200, "reveal_in_s": 86400}
SOON = {"lock_in_s": 1, "seal_in_s": 1, "reveal_in_s": 2}
PLAYED = {
    "players": {"decks": 1},
    "house": {"decks": 1, "entropy": "house", "burn": "first_card", "cut": {"from": 7, "to": 20}},
    "coups": {"entropy": "house", "shuffle": "coup", "cut": None, "coups": 12},
    "late": {"entropy": "house", "shuffle": "coup", "cut": None, "coups": 30},
}
"""Tables whose shoes soon end, the late ones by their deadlines: overrides of the preset, by the table's kind."""

_UNANSWERED = (OSError, http.client.HTTPException)


class Reply(NamedTuple):
    """What came back from one sending."""

    status: int
    data: bytes
    retry_after: str | None


class Connection:
    """A kept connection to a port; `ask` raises what a broken one raises, and connects anew the next time."""

    def __init__(self, port: int, timeout_s: float = 30) -> None:
        self._port, self._timeout_s = port, timeout_s
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, path: str, body: bytes | None = None, key: str = "", token: str = "") -> Reply:
        headers = {"Content-Type": "application/json", "Idempotency-Key": key} if key else {}
        headers["Authorization"] = f"Bearer {token or key_at(self._port)}"
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=self._timeout_s)
        try:
            self._connection.request(method, path, body, headers)
            response = self._connection.getresponse()
            return Reply(response.status, response.read(), response.headers["Retry-After"])
        except _UNANSWERED:
            self.close()
            raise

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


@dataclass
class Client:
    """One client with a name, a connection and a ledger that it shares with the others.

    `repeats` of 8 answered requests are sent once more, to be answered with the same bytes. Now and then it connects
    anew, as clients do, so that every process of the server has some of them.
    """

    name: str
    port: int
    ledger: Ledger
    draws: Draws
    repeats: int = 1
    _asked: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._connection = Connection(self.port)

    def post(self, path: str, body: Mapping[str, Any] | None = None, token: str = "") -> Answer:
        """Ask for something new, as the installation's first key or a seat, and put the answer down."""
        self._asked += 1
        if not self.draws.below(16):
            self.close()
        answer = self.send(path, body, f"{self.name}-{self._asked}", token)
        self.ledger.answers.append(answer)
        if self.draws.below(8) < self.repeats and answer.status == 201:
            self.repeat(answer)
        return answer

    def send(self, path: str, body: Mapping[str, Any] | None = None, key: str = "", token: str = "") -> Answer:
        return self._insist(Request(f"/v1{path}", json.dumps(body or {}).encode(), key, token))

    def take_seat(self, table: str) -> str:
        """Take a seat at a table; its token."""
        self._asked += 1
        return str(self.send(f"/tables/{table}/seats", {}, f"{self.name}-{self._asked}").json["token"])

    def repeat(self, answer: Answer) -> None:
        """Send an answered request once more; another answer is a fault."""
        again = self._insist(answer.request)
        if (again.status, again.data) != (answer.status, answer.data):
            self.ledger.faults.append(f"first {answer}\n again {again}")

    def ask(self, path: str) -> tuple[int, bytes]:
        """Read, until it is answered."""
        status, data, _ = self._until_answered("GET", f"/v1{path}", None, "")
        if status != 200:
            self.ledger.faults.append(f"GET {path}: {status} {data[:300].decode()}")
        return status, data

    def get(self, path: str) -> Any:
        return json.loads(self.ask(path)[1])

    def close(self) -> None:
        self._connection.close()

    def _insist(self, request: Request) -> Answer:
        """Send a request until it is answered."""
        status, data, sendings = self._until_answered("POST", request.path, request.body, request.key, request.token)
        return Answer(request, status, data, sendings)

    def _until_answered(
        self, method: str, path: str, body: bytes | None, key: str, token: str = ""
    ) -> tuple[int, bytes, int]:
        latest, sendings = time.monotonic() + PATIENCE_S, 0
        while time.monotonic() < latest and not self.ledger.abandoned.is_set():
            sendings += 1
            try:
                reply = self._connection.ask(method, path, body, key, token)
            except _UNANSWERED:
                time.sleep(0.01)
                continue
            if not self._excused(reply):
                return reply.status, reply.data, sendings
            self.ledger.unavailable.append(path)
            time.sleep(0.2)
        self.ledger.faults.append(f"{method} {path} ({key}): not answered in {PATIENCE_S} s")
        raise TimeoutError(path)

    def _excused(self, reply: Reply) -> bool:
        """Whether to try again; any other status from 500 on is a fault."""
        if reply.status < 500:
            return False
        excused = reply.retry_after and json.loads(reply.data)["type"].rsplit(":")[-1] in self.ledger.excused
        if not excused:
            self.ledger.faults.append(f"{self.name}: {reply}")
        return bool(excused)


@dataclass
class Player:
    """A client that plays at a table with others: sees where the shoe stands, and takes the next step.

    The table's id begins with its kind, one of `PLAYED`. One step in `void_one_in` gives the shoe up.
    """

    client: Client
    table: str
    void_one_in: int = 40

    @property
    def kind(self) -> str:
        return self.table.split("-")[0]

    def found(self) -> None:
        """Make the table."""
        self.client.post("/tables", {"id": self.table, "preset": "np_punto_banco", "overrides": PLAYED[self.kind]})

    def step(self) -> None:
        """Take one step; that another client, or the service itself, was faster is no fault."""
        live = self.client.get(f"/tables/{self.table}")["live_shoe"]
        if live is None:
            self._open()
            return
        if not self.client.draws.below(self.void_one_in):
            self.client.post(f"/shoes/{live}/void", {"reason": "operator"})
            return
        self.go_on(live, 1 + self.client.draws.below(20))

    def go_on(self, shoe: str, coups: int = 1) -> bool:
        """Take the step that a shoe stands before, or deal so many coups; False where it has ended."""
        state = self.client.get(f"/shoes/{shoe}/state")["state"]
        if state == "open":
            self._contribute_or_lock(shoe)
        elif state == "locked":
            self._open_seeds_and_seal(shoe)
        elif state == "sealed":
            self._deal(shoe, coups)
        return state in ("open", "locked", "sealed")

    def _open(self) -> None:
        answer = self.client.post(f"/tables/{self.table}/shoes", SOON if self.kind == "late" else DEADLINES)
        if answer.status == 409 and answer.json["type"].endswith(":no-book"):
            self.client.post(f"/tables/{self.table}/books", {"size": 1 + self.client.draws.below(4)})

    def _contribute_or_lock(self, shoe: str) -> None:
        if self.kind != "players" or not self.client.draws.below(3):
            self.client.post(f"/shoes/{shoe}/lock")
            return
        seed, commitment = self.client.draws.client_seed()
        seat = self.client.take_seat(self.table)
        answer = self.client.post(f"/shoes/{shoe}/entropy", {"seed_commitment": commitment}, seat)
        if answer.status == 201:
            place = shoe, answer.json["position"]
            self.client.ledger.seats[place] = seat
            self.client.ledger.seeds[place] = seed

    def _open_seeds_and_seal(self, shoe: str) -> None:
        for (of, position), seed in list(self.client.ledger.seeds.items()):
            if of == shoe:
                seat = self.client.ledger.seats[shoe, position]
                self.client.post(f"/shoes/{shoe}/seeds", {"position": position, "seed": seed}, seat)
        self.client.post(f"/shoes/{shoe}/seal")

    def _deal(self, shoe: str, coups: int) -> None:
        for _ in range(coups):
            answer = self.client.post(f"/shoes/{shoe}/coups")
            if answer.status != 201 or answer.json["ended"]:
                return


@dataclass
class Crowd:
    """Players in threads of their own, who play on until they are told to stop."""

    ledger: Ledger
    _stopped: Event = field(init=False, default_factory=Event)
    _threads: list[Thread] = field(init=False, default_factory=list)

    def add(self, player: Player) -> None:
        self._threads.append(Thread(target=self._play, args=(player,), daemon=True))

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let every client have the answer it waits for, then stop."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()

    def _play(self, player: Player) -> None:
        try:
            while not self._stopped.is_set():
                player.step()
        except Exception as error:  # noqa: BLE001  # whatever it was, the campaign has to hear of it
            self.ledger.faults.append(f"{player.client.name} at {player.table} gave up: {error!r}")
        finally:
            player.client.close()
