"""Loop play: many coups unattended, dealt and settled as if singly; what the purse lacks is lent, and paid back first.

What a coup pays is reckoned here from its record by the NP house's page: 1 to 1, 5 % off the banker's, 8 to 1; a stake
that a tie neither wins nor loses stays for the next coup.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoe.proof.note import parse_vkey
from shoe.proof.records import Bets, parse_as
from shoe.proof.verify import Evidence, verify_bundle
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import ON_SQLITE, Found, Installation, problem_of
from tests.api.test_bets_presets import money

PURSE = 100_000
NOBODY = "019c1000-0000-7000-8000-000000000000"


def at_np(
    house: Installation, preset: str = "np_punto_banco", purse: int = PURSE, **overrides: Any
) -> tuple[str, Seat]:
    table_of(house, preset, **overrides)
    return house.sealed(), seat_at(house, purse=purse)


def asked(seat: Seat, coups: int = 10, **stakes: int) -> dict[str, Any]:
    bets = [{"bet": bet, "stake": stake} for bet, stake in stakes.items()]
    return {"seat": seat.id, "bets": bets, "coups": coups}


def loop(house: Installation, shoe: str, seat: Seat, coups: int = 10, **stakes: int) -> Any:
    return house.post(f"/shoes/{shoe}/loop", asked(seat, coups, **stakes))


def outcomes(house: Installation, shoe: str) -> list[str]:
    return [coup["outcome"] for coup in house.get(f"/shoes/{shoe}/coups")["coups"]]


def pays(bet: str, outcome: str, stake: int) -> int:
    if bet == outcome:
        return {"player": stake, "banker": stake * 95 // 100, "tie": 8 * stake}[bet]
    return 0 if outcome == "tie" else -stake


def owed(seat: Seat) -> int:
    return int(seat.get(f"/seats/{seat.id}/purse")["owed_minor"])


def test_a_loop_deals_and_settles_every_coup(house: Installation) -> None:
    shoe, seat = at_np(house)
    whole = money(house)
    played = loop(house, shoe, seat, 30, banker=200)
    happened = outcomes(house, shoe)
    assert (played["shoe"], played["seat"], played["client"], played["reason"]) == (shoe, seat.id, "seat-0", "coups")
    assert [(coup["number"], coup["outcome"]) for coup in played["coups"]] == list(enumerate(happened))
    nets = [pays("banker", outcome, 200) for outcome in happened]
    assert [(coup["staked_minor"], coup["net_minor"]) for coup in played["coups"]] == [(200, net) for net in nets]
    assert (played["staked_minor"], played["net_minor"]) == (30 * 200, sum(nets))
    left = 200 if happened[-1] == "tie" else 0
    assert seat.purse() == (played["balance_minor"], left) == (PURSE + sum(nets) - left, left)
    assert (played["owed_minor"], owed(seat)) == (0, 0)
    assert money(house) == whole


def test_each_coup_of_a_loop_is_in_the_log_as_if_it_were_dealt_by_itself(found: Found) -> None:
    """Two installations of the same chance: in one a loop, in the other bet after bet and deal after deal."""
    house, other = found("one"), found("other")
    shoe, seat = at_np(house)
    twin, alike = at_np(other)
    assert (shoe, seat.id) == (twin, alike.id)
    played = loop(house, shoe, seat, 20, player=300)
    for _ in range(20):
        if not alike.purse()[1]:
            alike.bet(twin, player=300)
        other.post(f"/shoes/{twin}/coups")
    records = house.get(f"/shoes/{shoe}/records")
    assert records == other.get(f"/shoes/{twin}/records")
    assert [coup["index"] for coup in played["coups"]] == [
        each["index"] for each in records["records"] if json.loads(each["record"])["type"] == "coup"
    ]
    assert seat.own(shoe) == alike.own(twin)
    assert seat.purse() == alike.purse()


def test_a_loop_to_the_shoes_end_is_proved_like_any_other(house: Installation) -> None:
    shoe, seat = at_np(house, "np_punto_banco_three", decks=1)
    played = loop(house, shoe, seat, 100, player=300, tie=100)
    assert played["reason"] == "shoe"
    assert len(played["coups"]) < 20
    assert house.get(f"/shoes/{shoe}")["state"] == "revealed"
    assert seat.purse()[1] == 0
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    verification = verify_bundle(seat.get(f"/shoes/{shoe}/bundle"), Evidence((vkey,)))
    (bets,) = (check for check in verification.checks if check.name == "bets")
    assert (verification.verdict, bets.status) == ("verified", "VALID")
    assert bets.detail.endswith(f"net {played['net_minor']:+}")
    own = [bet for bet in seat.own(shoe) if bet["bet"] == "tie"]
    assert [bet["number"] for bet in own] == [coup["number"] for coup in played["coups"]]
    house.refuse(f"/shoes/{shoe}/loop", asked(seat, player=300), "wrong-state", 409)


def test_a_loop_goes_on_where_another_ended(house: Installation) -> None:
    """A stake that a tie left there counts as the next coup's bet within a loop; between two it must be taken back."""
    shoe, seat = at_np(house, "np_punto_banco_three")
    first = loop(house, shoe, seat, 7, tie=100)
    second = loop(house, shoe, seat, 5, tie=200)
    assert [coup["number"] for coup in first["coups"] + second["coups"]] == list(range(12))
    assert {coup["staked_minor"] for coup in second["coups"]} == {200}


def test_others_bets_are_settled_with_the_first_coup(house: Installation) -> None:
    """A preserved wager of another seat lies on each coup; the looping seat's own is laid by the loop alone."""
    shoe, seat = at_np(house, "np_punto_banco_three")
    guest, keeper = seat_at(house, purse=PURSE), seat_at(house, purse=PURSE)
    for each in (seat, keeper):
        each.post(f"/seats/{each.id}/settings", {"preserve": True})
    guest.bet(shoe, tie=500)
    keeper.bet(shoe, tie=100)
    played = loop(house, shoe, seat, 4, tie=200)
    assert [bet["number"] for bet in guest.own(shoe)] == [0]
    assert [bet["number"] for bet in keeper.own(shoe)] == [0, 1, 2, 3, 4]
    assert [bet["number"] for bet in seat.own(shoe)] == [0, 1, 2, 3]
    assert (guest.purse()[1], keeper.purse()[1], seat.purse()[1]) == (0, 100, 0)
    records = [json.loads(each["record"]) for each in house.get(f"/shoes/{shoe}/records")["records"]]
    assert [record["count"] for record in records if record["type"] == "bets"] == [3, 2, 2, 2]
    assert len(played["coups"]) == 4


# --- limits on losses are off ------------------------------------------------------------------


def test_what_the_purse_lacks_is_lent_and_what_comes_back_pays_it_first(house: Installation) -> None:
    """A purse of 250, stakes of 300: reckoned coup by coup, never below 0, no money made."""
    shoe, _ = at_np(house, "np_punto_banco_three")
    seat = seat_at(house, purse=250)
    whole, balance, debt = money(house), 250, 0
    played = loop(house, shoe, seat, 40, player=200, tie=100)
    left = 0
    for coup in played["coups"]:
        stake = 300 - left
        lack = max(0, stake - balance)
        balance, debt = balance + lack - stake, debt + lack
        outcome = coup["outcome"]
        left = 200 if outcome == "tie" else 0
        net = pays("player", outcome, 200) + pays("tie", outcome, 100)
        back = 300 + net - left
        assert coup["net_minor"] == net
        paid = min(debt, back)
        balance, debt = balance + back - paid, debt - paid
        assert balance >= 0
    assert (played["balance_minor"], played["owed_minor"]) == (balance, debt)
    assert (seat.purse(), owed(seat)) == ((balance, left), debt)
    assert balance - debt + left == 250 + played["net_minor"]
    assert money(house) == whole


def test_nothing_of_what_is_lent_can_be_spent_elsewhere(house: Installation) -> None:
    """Whatever comes back from the table pays first: a purse that owes is empty, and so can bet nothing by itself."""
    shoe, _ = at_np(house, "np_punto_banco_three")
    seat = seat_at(house, purse=0)
    refused = 0
    for _ in range(20):
        loop(house, shoe, seat, 1, player=100, tie=100)
        (balance, staked), debt = seat.purse(), owed(seat)
        assert 0 in (balance, debt)
        if staked:
            seat.withdraw(shoe)
            assert (seat.purse(), owed(seat)) == ((balance + max(0, 100 - debt), 0), max(0, debt - 100))
        if owed(seat):
            seat.refuse_bet(shoe, "purse-too-small", 409, player=100)
            refused += 1
        assert seat.purse()[0] - owed(seat) == sum(bet["net_minor"] or 0 for bet in seat.own(shoe))
    assert refused > 0


def test_a_void_shoe_pays_a_debt_with_what_lay_there(house: Installation) -> None:
    shoe, _ = at_np(house)
    seat = seat_at(house, purse=0)
    while loop(house, shoe, seat, 1, player=100)["coups"][0]["outcome"] != "tie":
        if seat.purse()[1]:
            seat.withdraw(shoe)
    (balance, staked), debt = seat.purse(), owed(seat)
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert staked == 100
    assert (seat.purse(), owed(seat)) == ((balance + max(0, 100 - debt), 0), max(0, debt - 100))


def test_a_loop_ends_where_the_bank_can_pay_no_more(house: Installation) -> None:
    """A bank of 600 units is left with 100 by the first win of 500 that no loss went before."""
    for n in range(20):
        table_of(house, "np_punto_banco_three", f"t{n}", money={"bank_minor": 60_000})
        seat, shoe = seat_at(house, f"t{n}", purse=PURSE), house.sealed(f"t{n}")
        played = loop(house, shoe, seat, 100, player=50_000)
        if played["reason"] == "bank":
            break
    bank = 60_000 - played["net_minor"]
    assert (played["reason"], played["coups"][-1]["outcome"], bank) == ("bank", "player", 10_000)
    assert seat.purse() == (PURSE + played["net_minor"], 0)
    said = house.refuse(f"/shoes/{shoe}/loop", asked(seat, player=10_100), "bank-too-small", 409)
    assert "a bank of 10000 can pay" in said
    assert loop(house, shoe, seat, 1, player=10_000)["reason"] == "coups"


# --- refused -----------------------------------------------------------------------------------


def refuse(house: Installation, shoe: str, body: dict[str, Any], slug: str, status: int = 409) -> str:
    return house.refuse(f"/shoes/{shoe}/loop", body, slug, status)


def test_a_seat_that_chose_for_the_next_coup_plays_no_loop(house: Installation) -> None:
    shoe, seat = at_np(house)
    seat.bet(shoe, player=100)
    refuse(house, shoe, asked(seat, player=100), "bet-laid")
    seat.withdraw(shoe)
    seat.post(f"/shoes/{shoe}/passes")
    refuse(house, shoe, asked(seat, player=100), "coup-passed")
    seat.withdraw(shoe)
    assert len(loop(house, shoe, seat, 3, player=100)["coups"]) == 3


@ON_SQLITE
@pytest.mark.parametrize("preset", ["chance", "intercasino", "doppelganger", "vip"])
def test_only_the_np_house_plays_loops(house: Installation, preset: str) -> None:
    shoe, seat = at_np(house, preset)
    refuse(house, shoe, asked(seat, player=500), "not-offered")


@ON_SQLITE
def test_nobody_plays_alone_where_a_coup_waits_for_everyone(house: Installation) -> None:
    shoe, seat = at_np(house, pace={"deal": "all_chosen"})
    refuse(house, shoe, asked(seat, player=500), "not-offered")


@ON_SQLITE
def test_only_a_good_seat_of_the_table_plays(house: Installation) -> None:
    shoe, seat = at_np(house)
    table_of(house, "np_punto_banco", "u")
    gone, elsewhere = seat_at(house), seat_at(house, "u")
    house.post(f"/seats/{gone.id}/revoke")
    for other in (gone, elsewhere, Seat(house, NOBODY, "")):
        said = refuse(house, shoe, asked(other, player=100), "not-found", 404)
        assert other.id in said
    for token in (seat.token, elsewhere.token):
        answer = house.client.post(
            f"/v1/shoes/{shoe}/loop", json=asked(seat, player=100), headers={"Authorization": f"Bearer {token}"}
        )
        problem_of(answer, "forbidden", 403)


@ON_SQLITE
def test_a_loop_with_something_wrong_in_it_deals_nothing(house: Installation) -> None:
    shoe, seat = at_np(house)
    good = asked(seat, player=100)
    wrong: list[dict[str, Any]] = [
        *({**good, "coups": coups} for coups in (0, -1, 101, "10", True, None)),
        *({**good, "seat": name} for name in ("", "x", NOBODY.upper(), 7, None, f"{NOBODY}\n")),
        *({**good, "bets": bets} for bets in ([], None, [{"bet": "player"}], {"bet": "player", "stake": 100})),
        *({key: value for key, value in good.items() if key != left} for left in good),
        {**good, "bets": [{"bet": "tie", "stake": 1}] * 33},
        {**good, "bets": [{"bet": "dragon_7", "stake": 100}]},
        {**good, "bets": [{"bet": "player", "stake": 99}]},
        {**good, "bets": [{"bet": "player", "stake": 100}] * 2},
        {**good, "bets": [{"bet": "player", "stake": 100}, {"bet": "tie", "stake": 100}]},
        {**good, "limit": 1},
    ]
    for body in wrong:
        refuse(house, shoe, body, "invalid", 422)
    assert (house.get(f"/shoes/{shoe}")["coups"], seat.purse()) == (0, (PURSE, 0))


@ON_SQLITE
def test_only_a_sealed_shoe_in_time_plays_a_loop(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    seat, shoe = seat_at(house), house.open()
    refuse(house, shoe, asked(seat, player=100), "wrong-state")
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seal")
    house.clock.forward(3601)
    refuse(house, shoe, asked(seat, player=100), "deadline-passed")
    refuse(house, "nowhere", asked(seat, player=100), "not-found", 404)


def test_a_repeated_request_plays_once(house: Installation) -> None:
    shoe, seat = at_np(house)
    body, key = asked(seat, 5, tie=100), {"Idempotency-Key": "one-loop"}
    first, second = (house.client.post(f"/v1/shoes/{shoe}/loop", json=body, headers=key) for _ in range(2))
    assert (first.status_code, first.json) == (201, second.json)
    assert house.get(f"/shoes/{shoe}")["coups"] == 5
    counted = [parse_as(Bets, each["record"].encode()) for each in house.get(f"/shoes/{shoe}/records")["records"]
               if json.loads(each["record"])["type"] == "bets"]  # fmt: skip
    assert [record.number for record in counted] == [0, 1, 2, 3, 4]
