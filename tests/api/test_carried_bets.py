"""Bets that a game client brings with the asking for a coup: laid, dealt and settled in one step, or not at all.

What a coup pays is reckoned here from its outcome: 1 to 1, the NP house's 5 % off the banker's.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoe.proof.note import parse_vkey
from shoe.proof.records import Bets, parse_as
from shoe.proof.tlog import check_receipt, parse_receipt
from shoe.proof.verify import Evidence, verify_bundle
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import ORIGIN, Installation, problem_of

PURSE = 100_000
NOBODY = "019c1000-0000-7000-8000-000000000000"


def brought(*bets: tuple[Seat, dict[str, int]]) -> dict[str, Any]:
    return {
        "bets": [
            {"seat": seat.id, "bets": [{"bet": bet, "stake": stake} for bet, stake in stakes.items()]}
            for seat, stakes in bets
        ]
    }


def refused(house: Installation, shoe: str, body: Any, slug: str, status: int, *seats: Seat) -> str:
    """Ask for a coup that is not to be dealt: nothing is laid, paid or logged."""
    before = [seat.purse() for seat in seats], house.size(), house.get(f"/shoes/{shoe}/state")
    detail = problem_of(house.client.post(f"/v1/shoes/{shoe}/coups", json=body), slug, status)
    assert ([seat.purse() for seat in seats], house.size(), house.get(f"/shoes/{shoe}/state")) == before
    return detail


@pytest.fixture
def np(house: Installation) -> tuple[str, Seat, Seat]:
    """A sealed shoe of the NP house's table, and two seats."""
    table_of(house, "np_punto_banco", shuffle="coup", cut=None, coups=12)
    one, other = (seat_at(house, purse=PURSE) for _ in range(2))
    return house.sealed(), one, other


def test_bets_of_several_seats_are_laid_closed_and_settled_with_the_coup(
    house: Installation, np: tuple[str, Seat, Seat]
) -> None:
    shoe, one, other = np
    third = seat_at(house, purse=PURSE)
    third.bet(shoe, tie=100)
    dealt = house.post(f"/shoes/{shoe}/coups", brought((one, {"player": 500}), (other, {"banker": 2_000})))
    assert [(line["seat"], line["bet"], line["stake"]) for line in dealt["settlement"]] == [
        (third.id, "tie", 100),
        (one.id, "player", 500),
        (other.id, "banker", 2_000),
    ]
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    receipt = parse_receipt(dealt["bets"]["receipt"])
    assert check_receipt(receipt, [vkey], ORIGIN)[0] == dealt["index"] - 1
    assert parse_as(Bets, receipt.record).count == 3
    won = {line["bet"]: line["net_minor"] for line in dealt["settlement"]}
    outcome = json.loads(dealt["record"])["outcome"]
    assert won == {
        "tie": {"tie": 800}.get(outcome, -100),
        "player": {"player": 500, "tie": 0}.get(outcome, -500),
        "banker": {"banker": 1_900, "tie": 0}.get(outcome, -2_000),
    }
    purses = {"tie": third, "player": one, "banker": other}
    assert {bet: sum(seat.purse()) - PURSE for bet, seat in purses.items()} == won


def test_what_was_brought_is_proved_to_its_seat_alone_like_any_bet(
    house: Installation, np: tuple[str, Seat, Seat]
) -> None:
    shoe, one, other = np
    house.post(f"/shoes/{shoe}/coups", brought((one, {"player": 500}), (other, {"banker": 2_000})))
    assert [(bet["bet"], bet["stake"]) for bet in one.own(shoe)][:1] == [("player", 500)]
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    bundle = one.house.client.get(f"/v1/shoes/{shoe}/bundle", headers=one.headers).text
    checked = {check.name: check for check in verify_bundle(bundle, Evidence((vkey,))).checks}
    assert checked["bets"].status == "VALID"
    assert "player 500" in checked["bets"].detail
    assert "banker" not in checked["bets"].detail


def test_one_that_can_not_be_laid_keeps_the_coup_back(house: Installation, np: tuple[str, Seat, Seat]) -> None:
    shoe, one, other = np
    sound = (one, {"player": 500})
    for wrong, slug, status in (
        ({"banker": PURSE + 100}, "purse-too-small", 409),
        ({"dragon": 100}, "invalid", 422),
        ({"banker": 1}, "invalid", 422),
    ):
        assert other.id in refused(house, shoe, brought(sound, (other, wrong)), slug, status, one, other)
    other.post(f"/shoes/{shoe}/passes")
    refused(house, shoe, brought(sound, (other, {"banker": 500})), "coup-passed", 409, one, other)
    one.bet(shoe, player=100)
    assert one.id in refused(house, shoe, brought(sound), "bet-laid", 409, one, other)


def test_only_good_seats_of_the_table_bet(house: Installation, np: tuple[str, Seat, Seat]) -> None:
    shoe, one, other = np
    stranger = seat_at(house, table_of(house, "np_punto_banco", "elsewhere"), purse=PURSE)
    house.post(f"/seats/{other.id}/revoke")
    nobody = Seat(house, NOBODY, "")
    for seat in (stranger, other, nobody):
        body = brought((one, {"player": 500}), (seat, {"tie": 100}))
        assert seat.id in refused(house, shoe, body, "not-found", 404, one)


@pytest.mark.parametrize(
    ("bets", "place"),
    [
        ([{"seat": NOBODY, "bets": [{"bet": "tie", "stake": 1}]}] * 2, "expected each seat once"),
        ([{"seat": NOBODY, "bets": []}], "bets.0.bets"),
        ([{"seat": "me", "bets": [{"bet": "tie", "stake": 1}]}], "bets.0.seat"),
        ([{"seat": NOBODY, "bets": [{"bet": "tie", "stake": 0}]}], "bets.0.bets.0.stake"),
        ([{"seat": NOBODY, "bets": [{"bet": "tie"}]}], "bets.0.bets.0.stake"),
        ({"seat": NOBODY}, "bets"),
        ([{"seat": NOBODY, "bets": [{"bet": "tie", "stake": 1}]}] * 101, "bets"),
    ],
)
def test_another_form_is_refused_with_its_place(
    house: Installation, np: tuple[str, Seat, Seat], bets: Any, place: str
) -> None:
    shoe, one, other = np
    answer = house.client.post(f"/v1/shoes/{shoe}/coups", json={"bets": bets})
    assert answer.status_code == 422
    assert place in answer.text
    assert (one.purse(), other.purse()) == ((PURSE, 0), (PURSE, 0))


def test_a_table_without_bets_takes_none(house: Installation) -> None:
    rules = house.get("/tables/" + table_of(house, "np_punto_banco"))["rules"]
    plain = {key: rules[key] for key in ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")}
    house.post("/tables", {"id": "plain", "rules": plain})
    house.post("/tables/plain/books", {"size": 1})
    shoe = house.sealed("plain")
    refused(house, shoe, brought((Seat(house, NOBODY, ""), {"tie": 100})), "no-bets", 409)
    assert house.post(f"/shoes/{shoe}/coups", {"bets": []})["number"] == 0


def test_where_everyone_chooses_who_is_brought_has_chosen(house: Installation) -> None:
    table_of(house, "vip")
    one, other = (seat_at(house, purse=PURSE) for _ in range(2))
    shoe = house.sealed()
    missing = refused(house, shoe, brought((one, {"player": 500})), "choices-missing", 409, one, other)
    assert other.id in missing
    assert one.id not in missing
    dealt = house.post(f"/shoes/{shoe}/coups", brought((one, {"player": 500}), (other, {"banker": 500})))
    assert len(dealt["settlement"]) == 2
    late = seat_at(house, purse=PURSE)
    house.clock.forward(1)
    later = seat_at(house, purse=PURSE)
    assert later.id in refused(house, shoe, brought((later, {"player": 500})), "joined-late", 409, one, late, later)
    house.clock.forward(15)
    refused(house, shoe, brought((one, {"player": 500})), "betting-closed", 409, one, other)


def test_an_own_limit_binds_what_is_brought_too(house: Installation) -> None:
    table_of(house, "vip")
    seat = seat_at(house, purse=PURSE)
    seat.post(f"/seats/{seat.id}/limit", {"maximum_minor": 1_000, "pin": "471104"})
    shoe = house.sealed()
    assert "own limit" in refused(house, shoe, brought((seat, {"player": 1_500})), "invalid", 422, seat)


def test_asked_again_under_its_key_nothing_is_laid_twice(house: Installation, np: tuple[str, Seat, Seat]) -> None:
    shoe, one, _ = np
    asked = {"json": brought((one, {"player": 500})), "headers": {"Idempotency-Key": "the-same"}}
    first, again = (house.client.post(f"/v1/shoes/{shoe}/coups", **asked) for _ in range(2))  # type: ignore[arg-type]
    assert (first.status_code, again.json) == (201, first.json)
    assert house.get(f"/shoes/{shoe}/state")["next_coup"] == 1
