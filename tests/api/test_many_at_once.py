"""The same request sent many times at once, to processes that share nothing but the database: it is done once.

What must be there in the end is read from the log's leaves and from the tables, not from what the servers answered.
"""

from __future__ import annotations

import http.client
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier, Thread
from typing import Any, NamedTuple

import pytest
from sqlalchemy import create_engine, text

from tests.api.conftest import NewDatabase
from tests.api.installation import DEADLINES
from tests.campaign.serving import Place, Server

TIMES = 50


class Answer(NamedTuple):
    """What came back."""

    status: int
    data: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.data)


@dataclass
class Pair:
    """Two servers of one installation, each a process group of its own, and who asks them."""

    place: Place
    servers: tuple[Server, Server]

    @property
    def token(self) -> str:
        return self.place.settings.operator_key.read_text().strip()

    def post(
        self, path: str, key: str, body: Mapping[str, Any] | None = None, *, server: int = 0, token: str = ""
    ) -> Answer:
        """Post once, on a connection of its own."""
        headers = {
            "Authorization": f"Bearer {token or self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": key,
        }
        with closing(http.client.HTTPConnection("127.0.0.1", self.servers[server].port, timeout=60)) as connection:
            connection.request("POST", f"/v1{path}", json.dumps(body or {}), headers)
            response = connection.getresponse()
            return Answer(response.status, response.read())

    def make(self, path: str, key: str, body: Mapping[str, Any] | None = None) -> Any:
        answer = self.post(path, key, body)
        assert answer.status == 201, answer.data
        return answer.json

    def at_once(self, ask: Callable[[int], Answer], times: int = TIMES) -> list[Answer]:
        """Ask so many times from the same moment on, both servers in turn."""
        start, answers = Barrier(times), [Answer(0, b"")] * times

        def run(number: int) -> None:
            start.wait()
            answers[number] = ask(number)

        threads = [Thread(target=run, args=(number,)) for number in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return answers

    def count(self, query: str, **values: Any) -> int:
        """Count rows in the database itself."""
        if self.place.database_url is None:
            with closing(sqlite3.connect(self.place.settings.database)) as connection:
                return int(connection.execute(f"SELECT COUNT(*) FROM {query}", values).fetchone()[0])
        engine = create_engine(self.place.database_url.replace("postgresql://", "postgresql+psycopg://"))
        with engine.connect() as connection:
            found = connection.scalar(text(f"SELECT COUNT(*) FROM {query}"), values)
        engine.dispose()
        return int(found or 0)

    def coups_of(self, shoe: str) -> int:
        return self.count("leaves WHERE type = 'coup' AND shoe = :shoe", shoe=shoe)

    def sealed(self, decks: int = 1) -> str:
        body = {"id": "t", "preset": "np_punto_banco", "overrides": {"entropy": "house", "decks": decks}}
        self.make("/tables", "table", body)
        self.make("/tables/t/books", "book", {"size": 2})
        shoe = str(self.make("/tables/t/shoes", "shoe", DEADLINES)["shoe"])
        for step in ("lock", "seal"):
            self.make(f"/shoes/{shoe}/{step}", step)
        return shoe


@pytest.fixture
def pair(tmp_path: Path, new_database: NewDatabase) -> Iterator[Pair]:
    place = Place(tmp_path / "house")
    place.database_url = new_database()
    with ExitStack() as stack:
        servers = Server(place), Server(place)
        for server in servers:
            stack.enter_context(closing(server))
        servers[0].start()
        servers[1].start()
        yield Pair(place, servers)


def test_one_coup_is_dealt_however_often_it_is_asked_for(pair: Pair) -> None:
    shoe = pair.sealed()
    answers = pair.at_once(lambda n: pair.post(f"/shoes/{shoe}/coups", "one", server=n % 2))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.data for answer in answers}) == 1
    assert answers[0].json["number"] == 0
    assert pair.coups_of(shoe) == 1
    other = pair.post(f"/shoes/{shoe}/void", "one", {"reason": "operator"}, server=1)
    assert (other.status, other.json["type"]) == (422, "urn:fairshoe:problem:idempotency-key-reused")
    assert pair.count("shoes WHERE state = 'sealed'") == 1
    # A key of its own deals the next.
    assert pair.make(f"/shoes/{shoe}/coups", "two")["number"] == 1


def test_one_key_is_made_however_often_it_is_asked_for(pair: Pair) -> None:
    """The answer that shows a token is the same to all who hold what it is asked with."""
    answers = pair.at_once(lambda n: pair.post("/keys", "one", {"roles": ["client"]}, server=n % 2))
    assert {(answer.status, answer.data) for answer in answers} == {(201, answers[0].data)}
    assert pair.count("credentials") == 2
    token = answers[0].json["token"]
    assert pair.post("/tables", "k", {"preset": "np_punto_banco"}, token=token).status == 403


def test_two_requests_under_one_key_are_one_and_refusals(pair: Pair) -> None:
    pair.make("/tables", "table", {"id": "t", "preset": "np_punto_banco"})
    answers = pair.at_once(lambda n: pair.post("/tables/t/books", "one", {"size": 3 + n // 2 % 2}, server=n % 2))
    assert {answer.status for answer in answers} == {201, 422}
    assert len({answer.data for answer in answers if answer.status == 201}) == 1
    assert pair.count("books") == 1


def test_many_clients_with_the_same_key_are_many(pair: Pair) -> None:
    """An Idempotency-Key is its caller's own."""
    shoe = pair.sealed(decks=8)
    tokens = [pair.make("/keys", f"client-{n}", {"roles": ["client"]})["token"] for n in range(10)]
    answers = pair.at_once(lambda n: pair.post(f"/shoes/{shoe}/coups", "same", server=n % 2, token=tokens[n % 10]), 30)
    assert {answer.status for answer in answers} == {201}
    assert sorted({answer.json["number"] for answer in answers}) == list(range(10))
    assert pair.coups_of(shoe) == 10


def die_of(pair: Pair, kills: Callable[[], None], path: str, body: Mapping[str, Any] | None = None) -> list[Answer]:
    """Ask the first server many times at once under keys of their own, kill it meanwhile, and ask all again."""
    before: list[Answer] = [Answer(0, b"")] * 20
    start = Barrier(21)

    def ask(number: int) -> None:
        start.wait()
        with suppress(OSError, http.client.HTTPException):
            before[number] = pair.post(path, f"k{number}", body)

    threads = [Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    start.wait()
    kills()
    pair.servers[0].start()
    for thread in threads:
        thread.join()
    again = [pair.post(path, f"k{number}", body, server=number % 2) for number in range(20)]
    for first, second in zip(before, again, strict=True):
        assert first.status in (0, 201)
        assert first.status == 0 or first.data == second.data
    return again


@pytest.mark.parametrize("answered_first", [1, 8])
def test_after_a_kill_who_asks_again_is_given_the_first_answer(pair: Pair, answered_first: int) -> None:
    """Whether the first was stored or not: each is dealt once, and none is skipped."""
    shoe = pair.sealed(decks=8)

    def kill() -> None:
        while pair.coups_of(shoe) < answered_first:
            pass
        pair.servers[0].kill()

    again = die_of(pair, kill, f"/shoes/{shoe}/coups")
    assert {answer.status for answer in again} == {201}
    assert sorted(answer.json["number"] for answer in again) == list(range(20))
    assert pair.coups_of(shoe) == 20


def test_after_a_kill_a_token_that_was_made_is_given_again(pair: Pair) -> None:
    def kill() -> None:
        while pair.count("credentials") < 2:
            pass
        pair.servers[0].kill()

    again = die_of(pair, kill, "/keys", {"roles": ["client"]})
    tokens = {answer.json["token"] for answer in again}
    assert len(tokens) == 20
    assert pair.count("credentials") == 21
