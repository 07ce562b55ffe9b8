"""What an outside wallet is told: every bet of a coup, once, with what the dealing client was answered of it.

What must be told is the settlement in the answer of ``POST …/coups`` and the seat's own bets; on both databases.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from api.cases.dealing import deal_coup
from api.db.sessions import OutcomeUnknown
from api.refusals import Refusal
from api.webhooks import settlements
from api.webhooks.events import print_events
from shoe.proof.merkle import Tree
from shoe.proof.records import Bets, parse_as
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import Installation
from tests.api.sabotage import Sabotage, sabotaged
from tests.api.test_webhooks_events import leaves
from tests.api.webhook_house import deliveries, hooked, said

URL = "https://wallet.example/hook"
PURSE = 1_000_000


def told(house: Installation, webhook: str | None = None) -> list[dict[str, Any]]:
    with house.service.reading() as session:
        return [said(body) for body in print_events(session, deliveries(house.service, webhook))]


@pytest.fixture
def seated(house: Installation) -> tuple[str, list[Seat]]:
    """A sealed shoe of short coups, where a tied stake stays unless it is taken back, and two seats."""
    table_of(house, "np_punto_banco_three", shuffle="coup", cut=None, coups=60)
    hooked(house.service, URL, ["coup.settled"])
    return house.sealed(), [seat_at(house, purse=PURSE, player="ann"), seat_at(house, purse=PURSE)]


def test_every_bet_of_a_coup_is_told_as_the_deal_answered_it(
    house: Installation, seated: tuple[str, list[Seat]]
) -> None:
    shoe, (ann, guest) = seated
    ann.bet(shoe, player=500, tie=100)
    guest.bet(shoe, banker=100)
    guest.withdraw(shoe)
    guest.bet(shoe, banker=300)
    dealt = house.post(f"/shoes/{shoe}/coups")
    (event,) = told(house)
    data = event["data"]
    assert event["type"] == "coup.settled"
    assert (data["table"], data["shoe"], data["number"], data["left_out"]) == ("t", shoe, 0, 0)
    keys = ("seat", "client", "bet", "stake", "result", "net_minor", "commission_minor", "returned_minor", "left_minor")
    answered = [{key: line[key] for key in keys} for line in dealt["settlement"]]
    players = {ann.id: "ann", guest.id: None}
    assert data["bets"] == [{**line, "player": players[line["seat"]], "carried": False} for line in answered]
    closed = parse_as(Bets, data["record"].encode())
    assert (closed.time, closed.seq, data["index"]) == (event["timestamp"], data["seq"], dealt["index"] - 1)
    lines = [bet["line"].encode() for seat in (ann, guest) for bet in seat.own(shoe) if bet["state"] != "withdrawn"]
    assert Tree.of(lines).root == closed.bets_root


def test_a_wallet_that_follows_has_what_the_purse_has(house: Installation, seated: tuple[str, list[Seat]]) -> None:
    """Begun with what the purses began with, each net added as it is told, stakes that stay on the table included."""
    (shoe, seats), wallet = seated, Counter(dict.fromkeys((seat.id for seat in seated[1]), PURSE))
    left = 0
    while not left:
        for seat in seats:
            seat.bet(shoe, player=300, tie=100)
        left = sum(line["left_minor"] for line in house.post(f"/shoes/{shoe}/coups")["settlement"])
    house.post(f"/shoes/{shoe}/coups")
    bets = [bet for event in told(house) for bet in event["data"]["bets"]]
    for bet in bets:
        wallet[bet["seat"]] += bet["net_minor"]
        assert bet["stake"] + bet["net_minor"] == bet["returned_minor"] + bet["left_minor"]
    assert dict(wallet) == {seat.id: sum(seat.purse()) for seat in seats}
    assert [(bet["bet"], bet["stake"], bet["carried"]) for bet in bets[-2:]] == [("player", 300, True)] * 2
    assert sum(bet["left_minor"] for bet in bets) == left == 600


def test_a_coup_without_bets_is_not_told_and_a_later_telling_says_the_same(
    house: Installation, seated: tuple[str, list[Seat]]
) -> None:
    shoe, (ann, _) = seated
    house.post(f"/shoes/{shoe}/coups")
    assert told(house) == []
    ann.bet(shoe, player=500)
    house.post(f"/shoes/{shoe}/coups")
    before = told(house)
    ann.bet(shoe, tie=700)
    house.post(f"/seats/{ann.id}/purse/moves", {"amount_minor": 5})
    house.post(f"/shoes/{shoe}/coups")
    assert told(house)[:1] == before
    assert [event["data"]["number"] for event in told(house)] == [1, 2]


def test_bets_of_a_shoe_that_is_given_up_are_never_settled(house: Installation, seated: tuple[str, list[Seat]]) -> None:
    shoe, (ann, _) = seated
    ann.bet(shoe, player=500)
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert told(house) == []
    assert ann.purse() == (PURSE, 0)


def test_more_bets_than_an_event_lists_are_counted(
    house: Installation, seated: tuple[str, list[Seat]], monkeypatch: pytest.MonkeyPatch
) -> None:
    shoe, (ann, _) = seated
    ann.bet(shoe, player=500, banker=100, tie=100)
    house.post(f"/shoes/{shoe}/coups")
    monkeypatch.setattr(settlements, "MOST_TOLD", 2)
    (event,) = told(house)
    assert [bet["bet"] for bet in event["data"]["bets"]] == ["player", "banker"]
    assert event["data"]["left_out"] == 1


def test_as_many_bets_as_an_event_lists_fit_into_it() -> None:
    """The longest that each field can be, by the interface's own patterns and bounds."""
    most = 2**53 - 1
    texts = {"seat": "0" * 36, "player": "x" * 64, "client": "x" * 64, "bet": "x" * 32, "result": "withdrawn"}
    names = ("stake", "net_minor", "commission_minor", "returned_minor", "left_minor")
    bet = {**texts, **dict.fromkeys(names, -most), "carried": False}
    longest = len(str(bet).replace(" ", "")) + 1
    assert longest * settlements.MOST_TOLD + 2**18 <= settlements.MAX_SETTLED_BYTES


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_settlement_and_its_event_are_there_together_or_not_at_all(
    house: Installation, seated: tuple[str, list[Seat]], when: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement of the deal made to fail, both ways, until it has no more."""
    shoe, (ann, _) = seated
    at, done = 0, ["all"]
    while len(done) >= at:
        at += 1
        if not ann.purse()[1]:
            ann.bet(shoe, player=100)
        sabotage = Sabotage(at, when)
        with sabotaged(house.service, sabotage, monkeypatch), suppress(OperationalError, OutcomeUnknown, Refusal):
            house.service.write(deal_coup(house.service, shoe))
        done = sabotage.done
        closed = [leaf.log_index for leaf in leaves(house.service) if leaf.type == "bets"]
        assert [row.log_index for row in deliveries(house.service)] == closed
        settled = [bet for bet in ann.own(shoe) if bet["net_minor"] is not None]
        assert [bet["number"] for bet in settled] == [event["data"]["number"] for event in told(house)]
    assert at > 10
