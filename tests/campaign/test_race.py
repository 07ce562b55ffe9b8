"""Many at once, through several server processes: nothing is dealt twice, nothing skipped, nobody waits for ever."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from threading import Barrier, Thread
from typing import Any

import pytest

from shoe.proof.note import parse_vkey
from tests.campaign.audit import Audit, check_tables, read_leaves
from tests.campaign.ledger import Draws, Ledger
from tests.campaign.load import DEADLINES, Client
from tests.campaign.serving import Place, Server

CLIENTS, SHOES, TWINS = 64, 8, 50


@dataclass
class Field:
    """Two servers of one installation, started at the same moment on nothing, and clients at both."""

    servers: tuple[Server, ...]
    ledger: Ledger = field(default_factory=Ledger)
    _clients: list[Client] = field(default_factory=list)

    def client(self, name: str) -> Client:
        """A client of one server or the other in turn."""
        port = self.servers[len(self._clients) % len(self.servers)].port
        self._clients.append(Client(name, port, self.ledger, Draws("race", name), repeats=0))
        return self._clients[-1]

    def close(self) -> None:
        self.ledger.abandoned.set()
        for client in self._clients:
            client.close()

    def at_once(self, work: Callable[[Client], Any], clients: list[Client]) -> list[Any]:
        """Let clients do something, all from the same moment on; give what each came back with."""
        start, results = Barrier(len(clients)), [None] * len(clients)

        def run(number: int) -> None:
            start.wait()
            try:
                results[number] = work(clients[number])
            except Exception as error:  # noqa: BLE001  # whatever it was, the test has to hear of it
                self.ledger.faults.append(f"{clients[number].name} gave up: {error!r}")

        threads = [Thread(target=run, args=(number,)) for number in range(len(clients))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not self.ledger.faults, "\n".join(self.ledger.faults[:5])
        return results

    def check(self, place: Place) -> Audit:
        """Hold the log against every answer; verify every shoe that has ended."""
        client = self.client("auditor")
        audit = Audit(parse_vkey(client.ask("/log/key")[1].decode().strip()))
        audit.take(read_leaves(place.reading_url))
        for answer in self.ledger.answers:
            audit.check(answer)
        audit.check_all_asked_for()
        check_tables(place.reading_url, audit)
        for shoe, play in audit.plays.items():
            made = [each for each in self.ledger.made if each.request.path == f"/v1/shoes/{shoe}/coups"]
            assert len(made) == play.coups, f"shoe {shoe}: {len(made)} coups answered, {play.coups} logged"
            audit.check_bundle(shoe, client.ask(f"/shoes/{shoe}/bundle")[1])
        return audit


@contextmanager
def racing(place: Place) -> Iterator[Field]:
    servers = Server(place, workers=3), Server(place, workers=1)
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(closing(server))
            server.launch()
        for server in servers:
            server.wait()
        yield stack.enter_context(closing(Field(servers)))
    assert [each for server in servers for each in server.complaints()] == []


def seal_shoe(client: Client, table: str) -> str:
    shoe = str(client.post(f"/tables/{table}/shoes", DEADLINES).json["shoe"])
    for step in ("lock", "seal"):
        assert client.post(f"/shoes/{shoe}/{step}").status == 201
    return shoe


def race(place: Place, rounds: int, decks: int, coups: int) -> None:
    """Half of the shoes are shuffled once, so that coups share a run of cards, and half for each coup."""
    began = time.monotonic()
    with racing(place) as field:
        clients, dealer = [field.client(f"c{number}") for number in range(CLIENTS)], field.client("dealer")
        once = {"entropy": "house", "decks": decks}
        each = {"entropy": "house", "shuffle": "coup", "cut": None, "coups": coups}
        tables = [f"t{number}" for number in range(SHOES)]
        for number, table in enumerate(tables):
            body = {"id": table, "preset": "np_punto_banco", "overrides": each if number % 2 else once}
            assert dealer.post("/tables", body).status == 201
            assert dealer.post(f"/tables/{table}/books", {"size": rounds}).status == 201
        for _ in range(rounds):
            shoes = [seal_shoe(dealer, table) for table in tables]

            def deal(client: Client, shoes: list[str] = shoes) -> set[int]:
                """Deal from the shoes in turn, from another first one than the neighbour, until all have ended."""
                first, live, statuses = int(client.name[1:]) % SHOES, list(shoes), set()
                live = live[first:] + live[:first]
                while live:
                    shoe = live.pop(0)
                    answer = client.post(f"/shoes/{shoe}/coups")
                    statuses.add(answer.status)
                    if answer.status == 201 and not answer.json["ended"]:
                        live.append(shoe)
                return statuses

            assert set().union(*field.at_once(deal, clients)) <= {201, 409}
        audit = field.check(place)
        assert [play.ended for play in audit.plays.values()] == ["reveal"] * SHOES * rounds
    dealt = field.ledger.count("coups")
    assert dealt >= SHOES // 2 * rounds * coups
    print(f"\n{dealt} coups from {SHOES * rounds} shoes by {CLIENTS} clients in {time.monotonic() - began:.1f} s")


def test_many_clients_deal_from_the_same_shoes(place: Place) -> None:
    race(place, rounds=1, decks=1, coups=20)


@pytest.mark.slow
def test_many_clients_deal_for_long(place: Place) -> None:
    race(place, rounds=5, decks=8, coups=100)


def test_one_request_sent_many_times_at_once_deals_one_coup(place: Place) -> None:
    with racing(place) as field:
        twins, dealer = [field.client("twin") for _ in range(TWINS)], field.client("dealer")
        dealer.post("/tables", {"id": "t", "preset": "np_punto_banco", "overrides": {"entropy": "house"}})
        dealer.post("/tables/t/books", {"size": 1})
        shoe = seal_shoe(dealer, "t")
        answers = field.at_once(lambda twin: twin.send(f"/shoes/{shoe}/coups", key="one"), twins)
        assert {(answer.status, answer.data) for answer in answers} == {(201, answers[0].data)}
        assert dealer.get(f"/shoes/{shoe}/state")["next_coup"] == 1
        other = dealer.send(f"/shoes/{shoe}/void", {"reason": "operator"}, key="one")
        assert (other.status, other.json["type"].rsplit(":")[-1]) == (422, "idempotency-key-reused")
        field.ledger.answers.append(answers[0])
        assert field.check(place).live() == [shoe]
