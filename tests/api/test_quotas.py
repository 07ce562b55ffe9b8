"""How often who may ask: writes counted in the database for all processes together, reads in each; and by address.

The limits of a minute are counted here by hand: a limit of n lets n through and no more, until the clock's next minute.
"""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.db.tables import QuotaRow
from api.quotas import Window, forget_quotas
from api.settings import Settings
from tests.api.conftest import NewDatabase
from tests.api.installation import HOUSE, NOON, ON_SQLITE, Chance, Found, Installation, problem_of
from tests.campaign.serving import Place, Server

WRITES, SEAT_WRITES, READS = 5, 3, 4
LIMITS = {"writes_per_minute": WRITES, "seat_writes_per_minute": SEAT_WRITES}


def set_limits(house: Installation, **limits: int) -> None:
    """Start the installation anew with limits, once a test has made what it needs without."""
    house.stop()
    house.further = {**house.further, **limits}
    tokens = house.tokens
    house.start()
    house.tokens = tokens


@pytest.fixture
def limited(house: Installation) -> Installation:
    house.table(**HOUSE)
    set_limits(house, **LIMITS)
    return house


@pytest.fixture
def beside(limited: Installation) -> Iterator[Installation]:
    """Another process's application over the same database."""
    other = Installation(
        limited.folder, limited.clock, Chance(10_000), database_url=limited.database_url, further=limited.further
    )
    yield other
    other.stop()


def write(house: Installation, token: str | None = None, key: str | None = None) -> TestResponse:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if key is not None:
        headers["Idempotency-Key"] = key
    return house.client.post("/v1/tables/t/books", json={"size": 1}, headers=headers)


def left(answer: TestResponse) -> tuple[int, int]:
    """What the header RateLimit says: how many are left, and for how many seconds."""
    name, remaining, reset = answer.headers["RateLimit"].split(";")
    assert name == '"minute"'
    return int(remaining.removeprefix("r=")), int(reset.removeprefix("t="))


def anonymous(
    house: Installation, address: str, forwarded: str | None = None, path: str = "/v1/tables"
) -> TestResponse:
    """Ask without a credential, from an address, through whoever says so."""
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    client: FlaskClient = house.app.test_client()
    return FlaskClient.open(client, path, headers=headers, environ_base={"REMOTE_ADDR": address})


# --- writes ------------------------------------------------------------------------------------


def test_a_key_has_so_many_writes_a_minute(limited: Installation) -> None:
    answers = [write(limited) for _ in range(WRITES + 2)]
    assert [answer.status_code for answer in answers] == [201] * WRITES + [429] * 2
    assert [left(answer)[0] for answer in answers] == [4, 3, 2, 1, 0, 0, 0]
    said = problem_of(answers[-1], "rate-limited", 429)
    assert said == f"{WRITES} writes a minute are allowed; the next one in 60 s."
    assert len(limited.get("/tables/t/books")["books"]) == 1 + WRITES


def test_the_headers_say_how_many_and_until_when(limited: Installation) -> None:
    limited.clock.forward(17.5)
    answer = write(limited)
    assert answer.headers["RateLimit-Policy"] == f'"minute";q={WRITES};w=60'
    assert left(answer) == (WRITES - 1, 43)
    for _ in range(WRITES):
        refused = write(limited)
    assert refused.headers["Retry-After"] == "43"
    assert left(refused) == (0, 43)


def test_with_the_clocks_next_minute_all_is_as_at_first(limited: Installation) -> None:
    limited.clock.forward(59)
    assert [write(limited).status_code for _ in range(WRITES + 1)] == [201] * WRITES + [429]
    limited.clock.forward(0.999999)
    assert write(limited).status_code == 429
    limited.clock.forward(0.000001)
    assert [write(limited).status_code for _ in range(WRITES + 1)] == [201] * WRITES + [429]


def test_all_processes_count_together(limited: Installation, beside: Installation) -> None:
    answers = [write((limited, beside)[n % 2]) for n in range(WRITES + 3)]
    assert [answer.status_code for answer in answers] == [201] * WRITES + [429] * 3
    assert [left(answer)[0] for answer in answers] == [4, 3, 2, 1, 0, 0, 0, 0]
    limited.clock.forward(60)
    assert [write(beside).status_code for _ in range(WRITES + 1)] == [201] * WRITES + [429]


def test_each_key_has_its_own(limited: Installation, beside: Installation) -> None:
    other = limited.post("/keys", {"roles": ["operator"]})["token"]
    for _ in range(WRITES):
        write(limited)
    assert write(limited).status_code == 429
    assert [write(beside, other).status_code for _ in range(WRITES + 1)] == [201] * WRITES + [429]


def test_a_seat_has_a_limit_of_its_own(found: Found) -> None:
    house = found()
    house.table(decks=1)
    shoe, seats = house.open(), [house.post("/tables/t/seats")["token"] for _ in range(2)]
    set_limits(house, **LIMITS)

    def contribute(seat: str) -> TestResponse:
        headers = {"Authorization": f"Bearer {seat}"}
        return house.client.post(f"/v1/shoes/{shoe}/entropy", json={"seed_commitment": "ab" * 32}, headers=headers)

    answers = [contribute(seats[0]) for _ in range(SEAT_WRITES + 1)]
    assert [answer.status_code for answer in answers] == [201, 409, 409, 429]
    assert answers[0].headers["RateLimit-Policy"] == f'"minute";q={SEAT_WRITES};w=60'
    assert contribute(seats[1]).status_code == 201


REFUSED: Mapping[str, tuple[str, dict[str, Any], dict[str, str], int]] = {
    "forbidden by a state": ("/v1/tables", {"id": "t", "preset": "np_punto_banco"}, {}, 409),
    "not there": ("/v1/tables/nowhere/books", {"size": 1}, {}, 404),
    "invalid": ("/v1/tables/t/books", {"size": 0}, {}, 422),
    "without a key": ("/v1/tables/t/shoes", {"lock_in_s": 1, "seal_in_s": 1, "reveal_in_s": 1},
                      {"Idempotency-Key": "none"}, 400),
    "of another type": ("/v1/tables/t/books", {}, {"Content-Type": "text/plain"}, 415),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_refused_counts_too(limited: Installation, kind: str) -> None:
    path, body, headers, status = REFUSED[kind]
    data = json.dumps(body)
    sent = {"Content-Type": "application/json", **headers}
    answers = [limited.client.post(path, data=data, headers=sent).status_code for _ in range(WRITES + 2)]
    assert answers == [status] * WRITES + [429] * 2
    limited.clock.forward(60)
    assert write(limited).status_code == 201


def test_what_a_role_forbids_counts_too(limited: Installation) -> None:
    client = limited.post("/keys", {"roles": ["client"]})["token"]
    answers = [write(limited, client).status_code for _ in range(WRITES + 2)]
    assert answers == [403] * WRITES + [429] * 2


def test_a_repeated_request_counts_and_is_given_its_answer_while_it_may(limited: Installation) -> None:
    answers = [write(limited, key="k") for _ in range(WRITES + 1)]
    assert [answer.status_code for answer in answers] == [201] * WRITES + [429]
    limited.clock.forward(60)
    answers.append(write(limited, key="k"))
    assert {answer.data for answer in answers if answer.status_code == 201} == {answers[0].data}


def test_a_revoked_key_uses_up_nobodys_writes(limited: Installation) -> None:
    key = limited.post("/keys", {"roles": ["operator"]})
    limited.post(f"/keys/{key['id']}/revoke")
    for _ in range(2 * WRITES):
        assert write(limited, key["token"]).status_code == 401
    assert [write(limited).status_code for _ in range(WRITES - 2)] == [201] * (WRITES - 2)


def test_without_a_limit_nothing_is_counted_or_said(house: Installation) -> None:
    house.table(**HOUSE)
    answers = [write(house) for _ in range(30)]
    assert {answer.status_code for answer in answers} == {201}
    assert not [answer for answer in answers if "RateLimit" in answer.headers]
    with house.service.reading() as session:
        assert session.scalars(select(QuotaRow)).all() == []


def test_counts_of_minutes_that_are_over_are_forgotten(limited: Installation) -> None:
    write(limited)
    for minutes, forgotten in ((1, 0), (3, 1), (3, 0)):
        with limited.service.store.writing() as session:
            assert forget_quotas(session, NOON + timedelta(minutes=minutes)) == forgotten


# --- reads, and who has no credential ----------------------------------------------------------


@pytest.fixture
def read_limited(house: Installation) -> Installation:
    set_limits(house, reads_per_minute=READS)
    return house


@ON_SQLITE
def test_a_caller_has_so_many_reads_a_minute_in_each_process(read_limited: Installation) -> None:
    other = Installation(read_limited.folder, read_limited.clock, Chance(9_000), further=read_limited.further)
    for house in (read_limited, other):
        answers = [house.client.get("/v1/tables") for _ in range(READS + 1)]
        assert [answer.status_code for answer in answers] == [200] * READS + [429]
        assert [left(answer)[0] for answer in answers] == [3, 2, 1, 0, 0]
        assert problem_of(answers[-1], "rate-limited", 429).startswith(f"{READS} reads a minute are allowed")
        assert answers[-1].headers["Retry-After"] == "60"
    read_limited.clock.forward(60)
    assert read_limited.client.get("/v1/tables").status_code == 200
    other.stop()


@ON_SQLITE
def test_reads_that_are_refused_count_too(read_limited: Installation) -> None:
    statuses = [read_limited.client.get("/v1/tables/nowhere").status_code for _ in range(READS + 1)]
    assert statuses == [404] * READS + [429]
    statuses = [anonymous(read_limited, "192.0.2.9", path="/v1/keys").status_code for _ in range(READS + 1)]
    assert statuses == [401] * READS + [429]


@ON_SQLITE
def test_who_has_no_credential_is_counted_by_address(read_limited: Installation) -> None:
    for address in ("192.0.2.1", "192.0.2.2", "2001:db8::1"):
        statuses = [anonymous(read_limited, address).status_code for _ in range(READS + 1)]
        assert statuses == [200] * READS + [429]
    assert read_limited.client.get("/v1/me", environ_base={"REMOTE_ADDR": "192.0.2.1"}).status_code == 429
    assert read_limited.client.get("/v1/me").status_code == 200


def test_guests_take_so_many_seats_a_minute_from_an_address(found: Found) -> None:
    house = found()
    house.post("/tables", {"id": "g", "preset": "np_punto_banco", "overrides": HOUSE, "guests": True})
    set_limits(house, **LIMITS)

    def take(address: str) -> int:
        client = house.app.test_client()
        sent = {"method": "POST", "json": {}, "headers": {"Idempotency-Key": str(uuid.uuid4())}}
        return FlaskClient.open(client, "/v1/tables/g/seats", environ_base={"REMOTE_ADDR": address}, **sent).status_code  # type: ignore[arg-type]

    assert [take("192.0.2.1") for _ in range(SEAT_WRITES + 1)] == [201] * SEAT_WRITES + [429]
    assert take("192.0.2.2") == 201


# --- behind proxies ----------------------------------------------------------------------------

CLIENT, PROXY, NEARER, LIE = "203.0.113.7", "198.51.100.1", "198.51.100.2", "203.0.113.99"
COUNTED = [
    (0, NEARER, None, NEARER),
    (0, NEARER, CLIENT, NEARER),
    (0, NEARER, f"{LIE}, {CLIENT}", NEARER),
    (1, NEARER, CLIENT, CLIENT),
    (1, NEARER, f"{LIE}, {CLIENT}", CLIENT),
    (1, NEARER, f"{LIE}, {LIE}, {CLIENT}", CLIENT),
    (1, NEARER, None, NEARER),
    (2, NEARER, f"{CLIENT}, {PROXY}", CLIENT),
    (2, NEARER, f"{LIE}, {CLIENT}, {PROXY}", CLIENT),
    (2, NEARER, CLIENT, NEARER),
    (2, NEARER, None, NEARER),
]
"""Proxies that are trusted, who connects, the header that comes, and whose count it goes to."""


@ON_SQLITE
@pytest.mark.parametrize(("proxies", "peer", "forwarded", "counted"), COUNTED)
def test_a_forwarded_address_counts_as_far_as_proxies_are_trusted(
    found: Found, proxies: int, peer: str, forwarded: str | None, counted: str
) -> None:
    house = found(further={"proxies": proxies, "reads_per_minute": 1})
    assert anonymous(house, peer, forwarded).status_code == 200
    windows = house.app.extensions["fairshoe guard"].reads
    assert windows.marked(f"address {counted}", NOON)
    assert [each for each in (CLIENT, PROXY, NEARER, LIE) if windows.marked(f"address {each}", NOON)] == [counted]
    assert anonymous(house, peer, forwarded).status_code == 429


@ON_SQLITE
@pytest.mark.parametrize("header", ["Forwarded", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP"])
def test_no_other_header_says_who_it_is(found: Found, header: str) -> None:
    house = found(further={"proxies": 1, "reads_per_minute": 1})
    client: FlaskClient = house.app.test_client()
    peer = {"REMOTE_ADDR": PROXY}
    asked = [{header: f"for=192.0.2.{n}"} for n in range(2)]
    answers = [FlaskClient.open(client, "/v1/tables", headers=each, environ_base=peer) for each in asked]
    statuses = [answer.status_code for answer in answers]
    assert statuses == [200, 429]


@ON_SQLITE
def test_who_lies_about_hops_gains_no_reads(found: Found) -> None:
    house = found(further={"proxies": 1, "reads_per_minute": READS})
    statuses = [anonymous(house, PROXY, f"192.0.2.{n}, {CLIENT}").status_code for n in range(READS + 1)]
    assert statuses == [200] * READS + [429]


# --- the counts of a process -------------------------------------------------------------------


def test_a_flood_of_names_fills_no_memory() -> None:
    window = Window(most=3)
    assert [window.count(name, NOON) for name in "abca"] == [1, 1, 1, 2]
    assert [window.count(name, NOON) for name in "defa"] == [1, 2, 3, 3]
    window.mark("d", NOON)
    assert not window.marked("d", NOON)
    assert window.count("d", NOON + timedelta(minutes=1)) == 1


# --- a real server under one caller's flood ----------------------------------------------------

PATIENCE = 8
"""How many times slower another's median may be under a flood; without a limit it would wait behind every request."""


class Caller:
    """A kept connection with a token of its own."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.token = token

    def post(self, path: str, body: Any) -> tuple[int, Any]:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        }
        self.connection.request("POST", f"/v1{path}", json.dumps(body), headers)
        response = self.connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self) -> None:
        self.connection.close()


def median_s(caller: Caller, times: int) -> float:
    took = []
    caller.close()  # it may have been kept for too long
    for _ in range(times):
        began = time.perf_counter()
        assert caller.post("/tables/t/books", {"size": 1})[0] == 201
        took.append(time.perf_counter() - began)
    return statistics.median(took)


class Limited(Place):
    """A place whose installation lets a key write so often that a test comes to the end of it."""

    @property
    def settings(self) -> Settings:
        return replace(super().settings, writes_per_minute=120)


@pytest.fixture
def serving(tmp_path: Path, new_database: NewDatabase) -> Iterator[tuple[Server, Caller, Caller]]:
    """A server in two processes, one who writes, and one who floods."""
    place = Limited(tmp_path / "house")
    place.database_url = new_database()
    server = Server(place, workers=2, threads=8)
    with ExitStack() as stack:
        stack.enter_context(closing(server))
        server.start()
        first = stack.enter_context(closing(Caller(server.port, place.settings.operator_key.read_text().strip())))
        assert first.post("/tables", {"id": "t", "preset": "np_punto_banco"})[0] == 201
        tokens = [first.post("/keys", {"roles": ["operator"]})[1]["token"] for _ in range(2)]
        yield (server, *(stack.enter_context(closing(Caller(server.port, token))) for token in tokens))  # type: ignore[misc]


def test_ones_flood_leaves_the_others_unharmed(serving: tuple[Server, Caller, Caller]) -> None:
    server, calm, flooding = serving
    alone = median_s(calm, 30)
    over, statuses = threading.Event(), set()

    def flood() -> None:
        with closing(Caller(server.port, flooding.token)) as caller:
            while not over.is_set():
                statuses.add(caller.post("/tables/t/books", {"size": 1})[0])

    floods = [threading.Thread(target=flood) for _ in range(4)]
    for thread in floods:
        thread.start()
    try:
        deadline = time.monotonic() + 60
        while 429 not in statuses and time.monotonic() < deadline:
            time.sleep(0.05)
        under = median_s(calm, 30)
    finally:
        over.set()
        for thread in floods:
            thread.join()
    assert statuses == {201, 429}
    assert under <= PATIENCE * alone, f"{under:.4f} s under the flood, {alone:.4f} s alone"


def test_a_hundred_idle_connections_leave_the_others_unharmed(serving: tuple[Server, Caller, Caller]) -> None:
    server, calm, _ = serving
    alone = median_s(calm, 30)
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(closing(socket.create_connection(("127.0.0.1", server.port), timeout=10)))
        under = median_s(calm, 30)
    assert under <= PATIENCE * alone, f"{under:.4f} s beside idle connections, {alone:.4f} s alone"
