"""How a coup is played: ReBet, a seat's Deal, fifteen seconds to choose, bets meant for one coup, preserved wagers.

The rules are the houses': VIP gives 15 seconds and deals once everyone chose, InterCasino repeats the last bet, the NP
house preserves a wager. What a coup pays is reckoned here from its record: 1 to 1, 5 % off the banker's, 8 to 1.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoe.proof.note import parse_vkey
from shoe.proof.records import Bets, parse_as
from shoe.proof.verify import Evidence, verify_bundle
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import EVERY_COUP, ON_SQLITE, Installation, problem_of

PURSE = 100_000
STEPS = ("bets", "bets/rebet", "passes", "bets/withdraw", "ready")


def at_vip(house: Installation, seats: int = 2, **overrides: Any) -> tuple[str, list[Seat]]:
    """A sealed shoe at the table that gives 15 seconds, and seats that were there before."""
    table_of(house, "vip", **overrides)
    there = [seat_at(house, purse=PURSE) for _ in range(seats)]
    return house.sealed(), there


def choices(house: Installation, shoe: str) -> Any:
    return house.get(f"/shoes/{shoe}/choices")


def states(house: Installation, shoe: str) -> list[str]:
    return [seat["state"] for seat in choices(house, shoe)["seats"]]


def deal(house: Installation, shoe: str) -> Any:
    return house.post(f"/shoes/{shoe}/coups")


def body_of(step: str, **further: Any) -> dict[str, Any]:
    return {**({"bet": "player", "stake": 500} if step == "bets" else {}), **further}


def laid(seat: Seat, shoe: str) -> dict[str, int]:
    return {bet["bet"]: bet["stake"] for bet in seat.own(shoe) if bet["state"] == "laid"}


# --- ReBet -------------------------------------------------------------------------------------


def test_rebet_lays_again_what_was_dealt_last(house: Installation) -> None:
    """Coups without a bet of the seat, and bets taken back, do not count."""
    table_of(house, "intercasino", coups=30)
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    first = seat.bet(shoe, player=700, tie=500)
    deal(house, shoe)
    seat.bet(shoe, banker=900)
    seat.withdraw(shoe)
    deal(house, shoe)
    before = seat.purse()[0]
    again = seat.post(f"/shoes/{shoe}/bets/rebet")
    assert (again["number"], again["client"]) == (2, first["client"])
    assert [(bet["bet"], bet["stake"]) for bet in again["bets"]] == [("player", 700), ("tie", 500)]
    assert not {bet["salt"] for bet in again["bets"]} & {bet["salt"] for bet in first["bets"]}
    assert (again["balance_minor"], seat.purse()) == (before - 1200, (before - 1200, 1200))
    assert [line["stake"] for line in deal(house, shoe)["settlement"]] == [700, 500]


def test_rebet_reaches_back_to_an_earlier_shoe_of_the_table(house: Installation) -> None:
    table_of(house, "intercasino", coups=2)
    seat, other, shoe = seat_at(house, purse=PURSE), seat_at(house, purse=PURSE), house.sealed()
    seat.bet(shoe, tie=500)
    other.bet(shoe, banker=600)
    deal(house, shoe)
    seat.bet(shoe, player=800)
    deal(house, shoe)
    following = house.sealed()
    assert [(bet["bet"], bet["stake"]) for bet in seat.post(f"/shoes/{following}/bets/rebet")["bets"]] == [
        ("player", 800)
    ]
    assert laid(other, following) == {}


def test_rebet_is_refused_as_bets_are(house: Installation) -> None:
    """All or none: a purse of 1,000 that has lost 600 on a tie pays no second time."""
    table_of(house, "intercasino", coups=60)
    shoe, rebet = house.sealed(), "bets/rebet"
    seat, poor = seat_at(house, purse=PURSE), seat_at(house, purse=1_000)
    path = f"/shoes/{shoe}/{rebet}"
    assert "no coup" in seat.refuse(path, "nothing-to-repeat").lower()
    seat.bet(shoe, player=500)
    poor.bet(shoe, tie=600)
    deal(house, shoe)
    if poor.purse()[0] == 400:
        poor.refuse(path, "purse-too-small")
        assert laid(poor, shoe) == {}
    seat.post(path)
    seat.refuse(path, "bet-laid")
    seat.withdraw(shoe)
    seat.post(f"/shoes/{shoe}/passes")
    seat.refuse(path, "coup-passed")


@ON_SQLITE
@pytest.mark.parametrize("preset", ["np_punto_banco", "chance", "doppelganger"])
def test_only_some_houses_offer_to_repeat_the_last_bet(house: Installation, preset: str) -> None:
    table_of(house, preset)
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    seat.bet(shoe, player=500)
    deal(house, shoe)
    seat.refuse(f"/shoes/{shoe}/bets/rebet", "not-offered")


def test_a_bank_that_can_pay_no_more_takes_no_repeated_bet(house: Installation) -> None:
    """A bank of 600 units can pay 500 on the player once, and is left with 100."""
    for n in range(20):
        table_of(house, "np_punto_banco_three", f"t{n}", money={"bank_minor": 60_000}, pace={"rebet": True})
        seat, shoe = seat_at(house, f"t{n}", purse=PURSE), house.sealed(f"t{n}")
        seat.bet(shoe, player=50_000)
        if deal(house, shoe)["settlement"][0]["result"] == "won":
            seat.refuse(f"/shoes/{shoe}/bets/rebet", "bank-too-small")
            return
    raise AssertionError("the player never won")


# --- the Deal button of a seat -----------------------------------------------------------------


def test_bets_lock_at_deal(house: Installation) -> None:
    shoe, (one, _) = at_vip(house, coups=20)
    one.bet(shoe, player=500, tie=600)
    made = one.post(f"/shoes/{shoe}/ready")
    assert [(bet["bet"], bet["stake"]) for bet in made["bets"]] == [("player", 500), ("tie", 600)]
    assert made["balance_minor"] == PURSE - 1100
    for step in STEPS:
        if step == "bets/rebet":
            continue
        assert "chose Deal for coup 0" in one.refused(f"/shoes/{shoe}/{step}", body_of(step), "bets-locked", 409)
    house.clock.forward(15)
    assert len(deal(house, shoe)["settlement"]) == 2
    one.post(f"/shoes/{shoe}/bets/rebet")
    one.post(f"/shoes/{shoe}/ready")
    one.refuse(f"/shoes/{shoe}/bets/rebet", "bets-locked")


def test_deal_needs_a_bet(house: Installation) -> None:
    shoe, (one, _) = at_vip(house)
    one.refuse(f"/shoes/{shoe}/ready", "nothing-laid")
    one.bet(shoe, player=500)
    one.withdraw(shoe)
    one.refuse(f"/shoes/{shoe}/ready", "nothing-laid")
    one.post(f"/shoes/{shoe}/passes")
    one.refuse(f"/shoes/{shoe}/ready", "coup-passed")
    one.withdraw(shoe)
    one.bet(shoe, player=500)
    one.post(f"/shoes/{shoe}/ready")


@ON_SQLITE
@pytest.mark.parametrize("preset", ["np_punto_banco", "chance", "intercasino", "doppelganger"])
def test_where_the_players_deal_deals_no_seat_waits(house: Installation, preset: str) -> None:
    """Nor is there a window: hours later bets are taken, and a seat that was made then may bet."""
    table_of(house, preset)
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    house.clock.forward(3000)
    late = seat_at(house, purse=PURSE)
    seat.bet(shoe, player=500)
    late.bet(shoe, player=500)
    assert "dealt when it is asked for" in seat.refuse(f"/shoes/{shoe}/ready", "not-offered")
    shown = choices(house, shoe)
    assert (shown["began"], shown["closes"], shown["may_deal"]) == (None, None, True)
    assert {(each["state"], each["missing"]) for each in shown["seats"]} == {("bets", False)}
    assert len(deal(house, shoe)["settlement"]) == 2


# --- fifteen seconds ---------------------------------------------------------------------------


def test_a_coup_is_dealt_once_everyone_has_chosen_deal_or_pass(house: Installation) -> None:
    shoe, (one, other) = at_vip(house)
    one.bet(shoe, player=500)
    other.bet(shoe, banker=500)
    said = house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)
    assert one.id in said
    assert other.id in said
    assert "until 2026-01-31T12:00:15.000000Z" in said
    one.post(f"/shoes/{shoe}/ready")
    said = house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)
    assert one.id not in said
    other.withdraw(shoe)
    other.post(f"/shoes/{shoe}/passes")
    dealt = deal(house, shoe)
    assert [line["seat"] for line in dealt["settlement"]] == [one.id]


def test_who_takes_a_pass_back_is_waited_for_again(house: Installation) -> None:
    shoe, (one, other) = at_vip(house)
    for seat in (one, other):
        seat.post(f"/shoes/{shoe}/passes")
    other.withdraw(shoe)
    assert other.id in house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)
    other.post(f"/shoes/{shoe}/passes")
    assert deal(house, shoe)["settlement"] == []


def test_who_neither_bets_nor_passes_within_fifteen_seconds_sits_the_coup_out(house: Installation) -> None:
    """A bet that lies there counts, though Deal was not pressed; to the microsecond."""
    shoe, (one, other) = at_vip(house, coups=20)
    house.clock.forward(14.999999)
    one.bet(shoe, player=500)
    house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)
    house.clock.forward(0.000001)
    for step in ("bets", "passes", "ready"):
        said = other.refused(f"/shoes/{shoe}/{step}", body_of(step), "betting-closed", 409)
        assert "closed at 2026-01-31T12:00:15.000000Z" in said
    assert choices(house, shoe)["may_deal"]
    assert [line["seat"] for line in deal(house, shoe)["settlement"]] == [one.id]
    house.clock.forward(15)
    one.refuse(f"/shoes/{shoe}/bets/rebet", "betting-closed")


def test_what_lies_there_may_be_withdrawn_until_it_is_dealt(house: Installation) -> None:
    shoe, (one, _) = at_vip(house)
    one.bet(shoe, player=500)
    house.clock.forward(60)
    assert one.withdraw(shoe)["balance_minor"] == PURSE
    assert deal(house, shoe)["settlement"] == []


def test_the_betting_on_a_coup_begins_when_the_coup_before_was_dealt(house: Installation) -> None:
    """The shoe is sealed at noon; the coup is dealt 20 seconds later, and the next window is counted from then."""
    shoe, (one, other) = at_vip(house, coups=20)
    times = []
    for after in (20, 9, 15):
        shown = choices(house, shoe)
        times.append((shown["number"], shown["began"][11:19], shown["closes"][11:19]))
        if after < 15:
            one.post(f"/shoes/{shoe}/passes")
            other.post(f"/shoes/{shoe}/passes")
        house.clock.forward(after)
        deal(house, shoe)
    assert times == [
        (0, "12:00:00", "12:00:15"),
        (1, "12:00:20", "12:00:35"),
        (2, "12:00:29", "12:00:44"),
    ]


def test_where_nobody_was_at_the_table_the_first_who_comes_begins_the_betting(house: Installation) -> None:
    shoe, _ = at_vip(house, seats=0)
    house.clock.forward(100)
    assert (choices(house, shoe)["began"], choices(house, shoe)["may_deal"]) == (None, True)
    first = seat_at(house, purse=PURSE)
    shown = choices(house, shoe)
    assert (shown["began"][11:19], shown["closes"][11:19], shown["may_deal"]) == ("12:01:40", "12:01:55", False)
    house.clock.forward(5)
    second = seat_at(house, purse=PURSE)
    first.bet(shoe, player=500)
    second.refuse(f"/shoes/{shoe}/bets", "joined-late", bet="player", stake=500)
    assert states(house, shoe) == ["bets", "joined_late"]


def test_a_table_without_players_deals_whenever_it_is_asked(house: Installation) -> None:
    shoe, _ = at_vip(house, seats=0)
    assert deal(house, shoe)["settlement"] == []


def test_who_joins_in_mid_coup_is_not_waited_for_and_bets_on_the_next(house: Installation) -> None:
    shoe, (one, other) = at_vip(house, coups=20)
    house.clock.forward(3)
    late = seat_at(house, purse=PURSE)
    for step in ("bets", "passes", "ready"):
        said = late.refused(f"/shoes/{shoe}/{step}", body_of(step), "joined-late", 409)
        assert said.startswith("The betting on coup 0 began at 2026-01-31T12:00:00")
    one.bet(shoe, player=500)
    one.post(f"/shoes/{shoe}/ready")
    other.post(f"/shoes/{shoe}/passes")
    house.clock.forward(1)
    deal(house, shoe)
    assert states(house, shoe) == ["waiting", "waiting", "waiting"]
    late.bet(shoe, player=500)
    assert late.id in house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)


def test_who_left_is_not_waited_for(house: Installation) -> None:
    """What a seat has laid counts even so."""
    shoe, (one, other) = at_vip(house)
    one.bet(shoe, player=500)
    one.post(f"/shoes/{shoe}/ready")
    other.bet(shoe, banker=500)
    house.post(f"/seats/{other.id}/revoke")
    shown = choices(house, shoe)
    assert shown["may_deal"]
    assert [(seat["state"], seat["missing"]) for seat in shown["seats"]] == [("ready", False), ("bets", False)]
    assert [line["seat"] for line in deal(house, shoe)["settlement"]] == [one.id, other.id]


def test_without_a_time_the_table_waits_for_as_long_as_it_takes(house: Installation) -> None:
    shoe, (one, other) = at_vip(house, pace={"decide_s": None})
    house.clock.forward(3000)
    late = seat_at(house, purse=PURSE)
    one.post(f"/shoes/{shoe}/passes")
    late.bet(shoe, player=500)
    late.post(f"/shoes/{shoe}/ready")
    said = house.refuse(f"/shoes/{shoe}/coups", {}, "choices-missing", 409)
    assert said == f"Coup 0 waits for as long as that takes for 1 of the seats at the table: {other.id}."
    assert choices(house, shoe)["closes"] is None
    other.post(f"/shoes/{shoe}/passes")
    deal(house, shoe)


def test_a_new_shoe_gives_the_time_anew(house: Installation) -> None:
    shoe, (one, other) = at_vip(house, coups=1)
    house.clock.forward(15)
    assert deal(house, shoe)["ended"]
    house.clock.forward(100)
    shoe = house.sealed()
    assert choices(house, shoe)["began"][11:19] == "12:01:55"
    one.bet(shoe, player=500)
    assert states(house, shoe) == ["bets", "waiting"]
    assert other.purse() == (PURSE, 0)


# --- what everyone chose -----------------------------------------------------------------------


def test_a_game_client_sees_what_everyone_chose(house: Installation) -> None:
    table_of(house, "vip")
    seats = []
    for name in ("ann", "bea", "carl", None):
        seats.append(seat_at(house, purse=PURSE, player=name))
        house.clock.forward(1)
    shoe = house.sealed()
    house.clock.forward(2)
    late = seat_at(house, purse=PURSE)
    seats[0].bet(shoe, tie=700)
    seats[0].bet(shoe, banker=500)
    seats[1].bet(shoe, player=500)
    seats[1].post(f"/shoes/{shoe}/ready")
    seats[2].post(f"/shoes/{shoe}/passes")
    shown = choices(house, shoe)
    assert (shown["shoe"], shown["number"], shown["may_deal"]) == (shoe, 0, False)
    assert [(each["seat"], each["player"], each["state"], each["missing"]) for each in shown["seats"]] == [
        (seats[0].id, "ann", "bets", True),
        (seats[1].id, "bea", "ready", False),
        (seats[2].id, "carl", "passed", False),
        (seats[3].id, None, "waiting", True),
        (late.id, None, "joined_late", False),
    ]
    assert [each["bets"] for each in shown["seats"][:3]] == [
        [{"bet": "tie", "stake": 700}, {"bet": "banker", "stake": 500}],
        [{"bet": "player", "stake": 500}],
        [],
    ]


@ON_SQLITE
def test_choices_are_of_a_sealed_shoe_where_bets_are_taken(house: Installation) -> None:
    table_of(house, "vip")
    shoe = house.open()
    problem_of(house.client.get(f"/v1/shoes/{shoe}/choices"), "wrong-state", 409)
    problem_of(house.client.get("/v1/shoes/nowhere/choices"), "not-found", 404)
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seal")
    house.clock.forward(3601)
    assert choices(house, shoe)["may_deal"] is False
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    problem_of(house.client.get(f"/v1/shoes/{shoe}/choices"), "wrong-state", 409)
    rules = house.get("/tables/t")["rules"]
    plain = {key: rules[key] for key in ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")}
    house.post("/tables", {"id": "plain", "rules": plain})
    house.post("/tables/plain/books", {"size": 1})
    problem_of(house.client.get(f"/v1/shoes/{house.sealed('plain')}/choices"), "no-bets", 409)


# --- meant for one coup ------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
def test_a_choice_that_is_meant_for_a_coup_is_not_taken_for_another(house: Installation, step: str) -> None:
    shoe, (one, _) = at_vip(house, coups=20)
    one.bet(shoe, player=500)
    house.clock.forward(15)
    deal(house, shoe)
    if step in ("bets/withdraw", "ready"):
        one.bet(shoe, tie=500)
    for wrong in (0, 2, 19):
        said = one.refused(f"/shoes/{shoe}/{step}", body_of(step, number=wrong), "another-coup", 409)
        assert said == f"The next coup of shoe {shoe} is 1; this was for {wrong}."
    assert one.post(f"/shoes/{shoe}/{step}", body_of(step, number=1))["number"] == 1


@ON_SQLITE
def test_a_number_of_a_coup_is_a_whole_number(house: Installation) -> None:
    shoe, (one, _) = at_vip(house)
    for step in STEPS:
        for number in (-1, 2**20, 2**53 - 1, "0", "", True, [0], {"number": 0}):
            one.refused(f"/shoes/{shoe}/{step}", body_of(step, number=number), "invalid", 422)
        one.refused(f"/shoes/{shoe}/{step}", body_of(step, number=0.5), "malformed-json", 400)


def test_a_stake_that_comes_during_a_coup_counts_from_the_next(house: Installation) -> None:
    """Without a number it is for whichever coup is the next when it comes."""
    table_of(house, "np_punto_banco")
    seat, shoe = seat_at(house), house.sealed()
    deal(house, shoe)
    seat.refuse(f"/shoes/{shoe}/bets", "another-coup", bet="player", stake=100, number=0)
    assert seat.bet(shoe, player=100)["number"] == 1


# --- preserved ---------------------------------------------------------------------------------


def preserve(seat: Seat, value: bool = True) -> Any:  # it is what is set
    return seat.post(f"/seats/{seat.id}/settings", {"preserve": value})


def at_np(house: Installation, preset: str = "np_punto_banco_three", **overrides: Any) -> tuple[str, Seat]:
    table_of(house, preset, **overrides)
    return house.sealed(), seat_at(house, purse=PURSE)


def until(house: Installation, shoe: str, tie: bool) -> Any:
    """Deal until a coup is a tie, or is none."""
    for _ in range(60):
        dealt = deal(house, shoe)
        if (json.loads(dealt["record"])["outcome"] == "tie") is tie:
            return dealt
    raise AssertionError("no such coup")


def test_a_wager_is_cleared_after_a_coup_unless_it_is_preserved(house: Installation) -> None:
    shoe, seat = at_np(house)
    seat.bet(shoe, player=300, tie=200)
    shown = seat.get(f"/seats/{seat.id}/purse")
    assert (shown["preserve"], shown["owed_minor"]) == (False, 0)
    until(house, shoe, tie=False)
    assert laid(seat, shoe) == {}


def test_a_preserved_wager_lies_on_the_next_coup(house: Installation) -> None:
    """On lines and salts of their own, closed and settled as any bet is, and free to be taken back."""
    shoe, seat = at_np(house)
    seat.bet(shoe, player=300, tie=200)
    assert preserve(seat)["preserve"] is True
    assert seat.get(f"/seats/{seat.id}/purse")["preserve"] is True
    dealt = until(house, shoe, tie=False)
    net = sum(line["net_minor"] for line in dealt["settlement"])
    own = [bet for bet in seat.own(shoe) if bet["number"] == dealt["number"] + 1]
    assert [(bet["bet"], bet["stake"], bet["state"], bet["carried"]) for bet in own] == [
        ("player", 300, "laid", False),
        ("tie", 200, "laid", False),
    ]
    assert len({bet["salt"] for bet in seat.own(shoe)}) == len(seat.own(shoe))
    assert seat.purse() == (PURSE + net - 500, 500)
    following = deal(house, shoe)
    assert parse_as(Bets, following["bets"]["record"].encode()).count == 2
    preserve(seat, value=False)
    seat.withdraw(shoe)
    seat.bet(shoe, banker=100)
    until(house, shoe, tie=False)
    assert laid(seat, shoe) == {}
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})


def test_a_stake_that_stays_after_a_tie_is_not_doubled(house: Installation) -> None:
    shoe, seat = at_np(house)
    preserve(seat)
    seat.bet(shoe, player=300, tie=200)
    dealt = until(house, shoe, tie=True)
    own = [bet for bet in seat.own(shoe) if bet["number"] == dealt["number"] + 1]
    assert [(bet["bet"], bet["stake"], bet["carried"]) for bet in own] == [("player", 300, True), ("tie", 200, False)]
    assert seat.purse()[1] == 500


def test_nothing_is_preserved_beyond_the_shoes_last_coup(house: Installation) -> None:
    shoe, seat = at_np(house, shuffle="coup", cut=None, coups=2)
    preserve(seat)
    seat.bet(shoe, player=300)
    deal(house, shoe)
    last = deal(house, shoe)
    assert (last["ended"], len(last["settlement"])) == (True, 1)
    assert seat.purse()[1] == 0
    assert laid(seat, house.sealed()) == {}


def test_what_the_purse_lacks_for_is_not_preserved_in_part(house: Installation) -> None:
    """700 of 1,000 on the player and on the tie: where both are lost, 300 are left, and none of the two lies again."""
    table_of(house, "np_punto_banco_three")
    shoe = house.sealed()
    for _ in range(40):
        seat = seat_at(house, purse=1_000)
        preserve(seat)
        seat.bet(shoe, player=500, tie=200)
        dealt = deal(house, shoe)
        if all(line["result"] == "lost" for line in dealt["settlement"] if line["seat"] == seat.id):
            assert (seat.purse(), laid(seat, shoe)) == ((300, 0), {})
            return
        preserve(seat, value=False)
        house.post(f"/seats/{seat.id}/revoke")
    raise AssertionError("the player never lost")


def test_what_the_bank_could_not_pay_is_not_preserved(house: Installation) -> None:
    """A bank of 600 units can pay 500 on the player once; another seat's 50 on the tie lie again even so."""
    for n in range(20):
        table_of(house, "np_punto_banco_three", f"t{n}", money={"bank_minor": 60_000})
        seat, other = (seat_at(house, f"t{n}", purse=PURSE) for _ in range(2))
        shoe = house.sealed(f"t{n}")
        preserve(seat)
        preserve(other)
        seat.bet(shoe, player=50_000)
        other.bet(shoe, tie=100)
        if deal(house, shoe)["settlement"][0]["result"] == "won":
            assert (seat.purse(), other.purse()) == ((PURSE + 50_000, 0), (PURSE - 200, 100))
            return
    raise AssertionError("the player never won")


def test_a_seat_that_is_revoked_bets_no_more(house: Installation) -> None:
    shoe, seat = at_np(house)
    preserve(seat)
    seat.bet(shoe, banker=300)
    house.post(f"/seats/{seat.id}/revoke")
    assert len(until(house, shoe, tie=False)["settlement"]) <= 1
    assert house.get(f"/seats/{seat.id}/purse")["staked_minor"] == 0


@ON_SQLITE
def test_settings_are_the_seats_own_where_the_table_offers_them(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    table_of(house, "vip", "v")
    one, other, elsewhere = seat_at(house), seat_at(house), seat_at(house, "v", purse=PURSE)
    one.refused(f"/seats/{other.id}/settings", {"preserve": True}, "forbidden", 403)
    elsewhere.refused(f"/seats/{elsewhere.id}/settings", {"preserve": True}, "not-offered", 409)
    for body in ({}, {"preserve": None}, {"preserve": 1}, {"preserve": "true"}, {"preserve": True, "loop": True}):
        one.refused(f"/seats/{one.id}/settings", body, "invalid", 422)
    assert one.get(f"/seats/{one.id}/purse")["preserve"] is False


def test_preserved_bets_are_proved_like_all_others(house: Installation) -> None:
    shoe, seat = at_np(house, **EVERY_COUP)
    preserve(seat)
    seat.bet(shoe, player=300)
    house.deal_out(shoe)
    own = seat.own(shoe)
    assert [bet["number"] for bet in own] == [0, 1, 2, 3, 4]
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    verification = verify_bundle(seat.get(f"/shoes/{shoe}/bundle"), Evidence((vkey,)))
    (bets,) = (check for check in verification.checks if check.name == "bets")
    assert (verification.verdict, bets.status) == ("verified", "VALID")
    assert bets.detail.endswith(f"net {sum(bet['net_minor'] for bet in own):+}")


# --- told --------------------------------------------------------------------------------------


def test_a_seat_that_wins_is_told_what_went_to_its_purse(house: Installation) -> None:
    """The banker's 1,000 win 950; a tie of 100 beside it is lost, and who only lost is told nothing."""
    shoe, seat = at_np(house)
    other = seat_at(house, purse=PURSE)
    for _ in range(60):
        for each in (seat, other):
            if each.purse()[1]:
                each.withdraw(shoe)
        seat.bet(shoe, banker=1_000, tie=100)
        other.bet(shoe, player=1_000)
        dealt = deal(house, shoe)
        if json.loads(dealt["record"])["outcome"] == "banker":
            break
    number = dealt["number"]
    message = f"You won 950 on coup {number} (banker 950); 1950 went to your purse, all in minor units."
    assert dealt["messages"] == [{"seat": seat.id, "client": "seat-0", "message": message}]
    assert seat.get(f"/shoes/{shoe}/bets")["coups"][-1]["message"] == message
    assert other.get(f"/shoes/{shoe}/bets")["coups"][-1]["message"] is None


def test_nobody_is_told_of_a_win_before_there_is_one(house: Installation) -> None:
    shoe, seat = at_np(house)
    seat.bet(shoe, player=100)
    assert [coup["message"] for coup in seat.get(f"/shoes/{shoe}/bets")["coups"]] == [None]
