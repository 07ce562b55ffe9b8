"""The benchmark's load, counted against what the server has done."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.campaign.hammer import Assault, assail, assail_apart
from tests.campaign.ledger import Draws, Ledger
from tests.campaign.load import DEADLINES, Client
from tests.campaign.serving import Place, Server
from tests.first_keys import key_at

SECONDS = 0.3


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Server(Place(tmp_path_factory.mktemp("hammer") / "house"))) as server:
        server.start()
        yield server


@pytest.fixture
def client(server: Server, tmp_path: Path) -> Iterator[Client]:
    with closing(Client(tmp_path.name, server.port, Ledger(), Draws("hammer", tmp_path.name), repeats=0)) as client:
        yield client


def sealed(client: Client, coups: int) -> str:
    table = client.name.replace("_", "-")
    rules = {"entropy": "house", "shuffle": "coup", "cut": None, "coups": coups}
    client.post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": rules})
    client.post(f"/tables/{table}/books", {"size": 1})
    shoe = str(client.post(f"/tables/{table}/shoes", DEADLINES).json["shoe"])
    for step in ("lock", "seal"):
        assert client.post(f"/shoes/{shoe}/{step}").status == 201
    return shoe


def test_every_coup_that_it_counts_was_dealt_and_no_other(server: Server, client: Client) -> None:
    shoe = sealed(client, 100_000)
    outcome = assail_apart(
        Assault(server.port, 8, SECONDS, "POST", [f"/v1/shoes/{shoe}/coups"], 201, "count", key_at(server.port))
    )
    assert outcome.others == {}
    assert 0 < outcome.answered <= outcome.all_answered
    assert client.get(f"/shoes/{shoe}/state")["next_coup"] == outcome.all_answered
    assert all(0 < latency < 60_000 for latency in outcome.latencies_ms)


def test_it_reads_without_a_key(server: Server) -> None:
    outcome = assail(Assault(server.port, 4, SECONDS, "GET", ["/livez"]))
    assert outcome.others == {}
    assert outcome.answered == len(outcome.latencies_ms) > 0
    assert outcome.per_second == outcome.answered / SECONDS


def test_it_says_that_its_shoes_did_not_last(server: Server, client: Client) -> None:
    shoe = sealed(client, 3)
    with pytest.raises(ValueError, match="1 paths were used up before the time was"):
        assail(Assault(server.port, 2, 60, "POST", [f"/v1/shoes/{shoe}/coups"], 201, "short", key_at(server.port)))
    assert client.get(f"/shoes/{shoe}/state")["state"] == "revealed"


def test_a_server_that_is_gone_is_an_error(server: Server) -> None:
    with pytest.raises(ChildProcessError, match="ConnectionRefusedError"):
        assail_apart(Assault(1, 2, SECONDS, "GET", ["/livez"]))
