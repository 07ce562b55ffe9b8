"""Bets over HTTP: laid, refused, withdrawn, closed before their coup, settled after it; what a seat holds of them.

What a coup pays is computed here from the coup's record and the houses' pages: 1 to 1 less 5 % for the banker, 1 to 1
for the player, 8 to 1 for a tie.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from api.cases import settling
from api.db.tables import BankRow
from shoe.errors import ImpossibleError
from shoe.game.bets.layout import bank_after
from shoe.proof.merkle import check_inclusion, leaf_hash
from shoe.proof.note import parse_vkey
from shoe.proof.records import BetLine, Bets, parse_as, parse_bet_line
from shoe.proof.verify import Evidence, verify_bundle
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import EVERY_COUP, Found, Installation, problem_of

PURSE = 100_000


def bank_of(house: Installation, table: str = "t") -> int | None:
    with house.service.reading() as session:
        return session.scalar(select(BankRow.balance_minor).where(BankRow.table_id == table))


def bet_on(house: Installation, preset: str = "np_punto_banco_three", **overrides: Any) -> tuple[str, Seat]:
    """A sealed shoe at a table, and a seat there."""
    table_of(house, preset, **overrides)
    seat = seat_at(house, purse=PURSE)
    return house.sealed(), seat


def pays(bet: str, outcome: str, stake: int) -> int:
    """The net by the NP house's page, stakes being whole units, so that 5 % are whole minor units."""
    if bet == outcome:
        return {"player": stake, "banker": stake * 95 // 100, "tie": 8 * stake}[bet]
    return 0 if outcome == "tie" else -stake


# --- purses ------------------------------------------------------------------------------------


def test_a_seat_has_the_purse_that_its_house_gives_or_its_client_says(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    table_of(house, "chance", "c")
    assert [seat_at(house).purse(), seat_at(house, purse=7).purse()] == [(100_000, 0), (7, 0)]
    assert [seat_at(house, "c").purse(), seat_at(house, "c", 0).purse()] == [(0, 0), (0, 0)]


def test_a_guest_can_not_say_what_the_purse_holds(house: Installation) -> None:
    table = {"id": "g", "preset": "np_punto_banco", "overrides": {"entropy": "house"}, "guests": True}
    house.post("/tables", table)
    headers = {"Authorization": "none"}
    answer = house.client.post("/v1/tables/g/seats", json={"purse_minor": 10**9}, headers=headers)
    problem_of(answer, "unauthenticated", 401)
    made = house.client.post("/v1/tables/g/seats", json={}, headers=headers).json
    assert made is not None
    assert made["purse_minor"] == 100_000


def test_a_table_without_bets_has_no_purses_and_takes_none(house: Installation) -> None:
    rules = house.get("/tables/" + table_of(house, "np_punto_banco"))["rules"]
    plain = {key: rules[key] for key in ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")}
    house.post("/tables", {"id": "plain", "rules": plain})
    house.post("/tables/plain/books", {"size": 1})
    house.refuse("/tables/plain/seats", {"purse_minor": 1}, "no-bets", 409)
    made = house.post("/tables/plain/seats")
    assert made["purse_minor"] is None
    shoe, seat = house.sealed("plain"), Seat(house, made["seat"], made["token"])
    answer = house.client.post(f"/v1/shoes/{shoe}/bets", json={"bet": "player", "stake": 1}, headers=seat.headers)
    problem_of(answer, "no-bets", 409)
    problem_of(house.client.get(f"/v1/seats/{seat.id}/purse"), "not-found", 404)
    assert house.post(f"/shoes/{shoe}/coups")["settlement"] == []


def test_a_game_client_alone_says_who_sits_at_a_seat(house: Installation) -> None:
    table_of(house, "vip")
    house.post("/tables", {"id": "g", "preset": "vip", "guests": True, "overrides": {"entropy": "house"}})
    made = house.post("/tables/t/seats", {"player": "ann.1"})
    assert made["player"] == "ann.1"
    assert house.post("/tables/t/seats")["player"] is None
    assert house.post(f"/seats/{made['seat']}/revoke")["player"] == "ann.1"
    refused = house.client.post("/v1/tables/g/seats", json={"player": "ann.1"}, headers={"Authorization": ""})
    problem_of(refused, "unauthenticated", 401)


@pytest.mark.parametrize("name", ["", "ann smith", "ann\n", "ann@example", "a" * 65, 7, ["ann"]])
def test_a_players_name_is_of_a_few_plain_characters(house: Installation, name: Any) -> None:
    table_of(house, "vip")
    house.refuse("/tables/t/seats", {"player": name}, "invalid", 422)


def test_a_seat_sees_its_own_purse_alone(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    one, other = seat_at(house), seat_at(house)
    answer = house.client.get(f"/v1/seats/{one.id}/purse", headers=other.headers)
    problem_of(answer, "forbidden", 403)
    assert house.get(f"/seats/{one.id}/purse")["balance_minor"] == 100_000


# --- laid --------------------------------------------------------------------------------------


def test_an_accepted_bet_shows_its_line_and_leaves_the_purse(house: Installation) -> None:
    shoe, seat = bet_on(house)
    answer = seat.post(f"/shoes/{shoe}/bets", {"bet": "banker", "stake": 300})
    (bet,) = answer["bets"]
    line = parse_bet_line(bet["line"].encode())
    assert line == BetLine(bet="banker", client="seat-0", number=0, salt=bet["salt"], shoe=shoe, stake=300)
    assert (answer["number"], answer["client"], answer["balance_minor"]) == (0, "seat-0", PURSE - 300)
    assert seat.purse() == (PURSE - 300, 300)
    assert house.get(f"/shoes/{shoe}")["coups"] == 0


def test_every_line_has_a_salt_of_its_own_and_every_seat_a_name(house: Installation) -> None:
    shoe, one = bet_on(house)
    other = seat_at(house)
    first, second = one.bet(shoe, player=100, banker=100), other.bet(shoe, player=100)
    assert (first["client"], second["client"]) == ("seat-0", "seat-1")
    assert len({bet["salt"] for bet in first["bets"] + second["bets"]}) == 3
    assert one.bet(shoe, tie=100)["client"] == "seat-0"


def test_a_seat_that_contributed_bets_under_the_same_name(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    house.commit(shoe, "a-seed")
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "a-seed"})
    house.post(f"/shoes/{shoe}/seal")
    assert house.tokens.last is not None
    headers = {"Authorization": f"Bearer {house.tokens.last}"}
    answer = house.client.post(f"/v1/shoes/{shoe}/bets", json={"bet": "player", "stake": 100}, headers=headers)
    assert (answer.status_code, answer.json and answer.json["client"]) == (201, "guest-0")


def test_a_low_stake_is_raised_where_the_table_does_so(house: Installation) -> None:
    shoe, seat = bet_on(house, "intercasino")
    assert seat.bet(shoe, player=100)["bets"][0]["stake"] == 500
    assert seat.purse() == (PURSE - 500, 500)


def test_a_repeated_request_bets_once(house: Installation) -> None:
    shoe, seat = bet_on(house)
    body = {"bet": "player", "stake": 100}
    key = {"Idempotency-Key": "one-bet"}
    assert seat.post(f"/shoes/{shoe}/bets", body, **key) == seat.post(f"/shoes/{shoe}/bets", body, **key)
    assert seat.purse() == (PURSE - 100, 100)
    no_key = house.client.post(f"/v1/shoes/{shoe}/bets", json=body, headers={**seat.headers, "Idempotency-Key": "none"})
    problem_of(no_key, "idempotency-key-missing", 400)


# --- refused -----------------------------------------------------------------------------------

WRONG: dict[str, tuple[str, dict[str, int], str, int, str]] = {
    "unknown bet": ("chance", {"dragon_7": 100}, "invalid", 422, "one of this table's bets, player, banker, tie"),
    "off the chips": ("chance", {"player": 150}, "invalid", 422, "player: expected a multiple of the least chip, 100"),
    "above the limit": ("vip", {"player": 30_100}, "invalid", 422, "at most 30000, the table's limit"),
    "below the limit": ("vip", {"player": 400}, "invalid", 422, "at least 500"),
    "two on the outcome": ("np_punto_banco", {"player": 100, "tie": 100}, "invalid", 422, "one bet on the outcome"),
    "a side bet alone": ("doppelganger", {"player_doppelganger": 100}, "invalid", 422, "beside a side bet"),
    "more than the purse": ("np_punto_banco", {"player": PURSE + 1}, "purse-too-small", 409, "the stakes are 100001"),
    "more than the bank": ("np_punto_banco", {"tie": 12_501}, "bank-too-small", 409, "a bank of 100000 can pay"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_bet_is_refused_by_what_is_wrong(house: Installation, name: str) -> None:
    """A bank of 1,000 units pays a tie of 125.00 at 8 to 1, and not one of 125.01."""
    preset, stakes, slug, status, said = WRONG[name]
    bank = {"money": {"bank_minor": 100_000}} if slug == "bank-too-small" else {}
    shoe, seat = bet_on(house, preset, **bank)
    assert said in seat.refuse_bet(shoe, slug, status, **stakes)
    assert seat.own(shoe) == []


def test_of_several_bets_all_are_taken_or_none(house: Installation) -> None:
    shoe, seat = bet_on(house)
    seat.refuse_bet(shoe, "purse-too-small", 409, player=PURSE, banker=100)
    seat.refuse_bet(shoe, "invalid", 422, player=100, banker=99)
    assert seat.own(shoe) == []


def test_the_bank_counts_what_all_seats_have_laid(house: Installation) -> None:
    """A bank of 1,000 can pay 600 and 500 on the player only where there are 500 on the banker beside them."""
    shoe, one = bet_on(house, money={"bank_minor": 100_000})
    other, third = seat_at(house), seat_at(house)
    one.bet(shoe, player=60_000)
    other.refuse_bet(shoe, "bank-too-small", 409, player=50_000)
    third.bet(shoe, banker=50_000)
    other.bet(shoe, player=50_000)


def test_a_bet_is_laid_once_until_it_is_withdrawn(house: Installation) -> None:
    shoe, seat = bet_on(house)
    seat.bet(shoe, player=100)
    seat.refuse_bet(shoe, "bet-laid", 409, player=200)
    said = seat.refused(
        f"/shoes/{shoe}/bets", {"bets": [{"bet": "tie", "stake": 100}, {"bet": "tie", "stake": 200}]}, "invalid", 422
    )
    assert "each bet once" in said
    assert len(seat.withdraw(shoe)["bets"]) == 1
    assert seat.bet(shoe, player=200)["balance_minor"] == PURSE - 200


def test_a_side_bet_may_join_a_bet_on_the_outcome_later(house: Installation) -> None:
    shoe, seat = bet_on(house, "doppelganger")
    seat.bet(shoe, banker=100)
    seat.bet(shoe, player_doppelganger=100)
    assert seat.purse() == (PURSE - 200, 200)


@pytest.mark.parametrize("step", ["bets", "passes", "bets/withdraw"])
def test_only_a_sealed_shoe_of_the_own_table_takes_bets(house: Installation, step: str) -> None:
    table_of(house, "np_punto_banco")
    table_of(house, "np_punto_banco", "u")
    seat, stranger = seat_at(house), seat_at(house, "u")
    body = {"bet": "player", "stake": 100} if step == "bets" else {}
    shoe = house.open()
    assert "this needs one that is sealed" in seat.refused(f"/shoes/{shoe}/{step}", body, "wrong-state", 409)
    house.post(f"/shoes/{shoe}/lock")
    seat.refused(f"/shoes/{shoe}/{step}", body, "wrong-state", 409)
    house.post(f"/shoes/{shoe}/seal")
    stranger.refused(f"/shoes/{shoe}/{step}", body, "forbidden", 403)
    house.clock.forward(3601)
    seat.refused(f"/shoes/{shoe}/{step}", body, "deadline-passed", 409)
    house.post(f"/shoes/{shoe}/void", {"reason": "deadline"})
    seat.refused(f"/shoes/{shoe}/{step}", body, "wrong-state", 409)


BAD_BODIES: dict[str, Any] = {
    "nothing": {},
    "a bet without a stake": {"bet": "player"},
    "a stake without a bet": {"stake": 1},
    "both forms": {"bet": "player", "stake": 1, "bets": [{"bet": "tie", "stake": 1}]},
    "half and a list": {"stake": 1, "bets": [{"bet": "tie", "stake": 1}]},
    "an empty list": {"bets": []},
    "33 bets": {"bets": [{"bet": "tie", "stake": 1}] * 33},
    "a stake of 0": {"bet": "player", "stake": 0},
    "a stake below 0": {"bet": "player", "stake": -100},
    "a text": {"bet": "player", "stake": "100"},
    "true": {"bet": "player", "stake": True},
    "more than is settled": {"bet": "player", "stake": 2**40 + 1},
    "another key": {"bet": "player", "stake": 100, "odds": 2},
    "a name of capitals": {"bet": "Player", "stake": 100},
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_malformed_bet_is_refused(house: Installation, name: str) -> None:
    shoe, seat = bet_on(house)
    seat.refused(f"/shoes/{shoe}/bets", BAD_BODIES[name], "invalid", 422)


# --- passed and withdrawn ----------------------------------------------------------------------


def test_who_passes_bets_again_only_on_the_next_coup_or_after_taking_it_back(house: Installation) -> None:
    shoe, seat = bet_on(house)
    assert seat.post(f"/shoes/{shoe}/passes")["bets"] == []
    seat.refuse_bet(shoe, "coup-passed", 409, player=100)
    seat.refused(f"/shoes/{shoe}/passes", {}, "coup-passed", 409)
    assert seat.withdraw(shoe)["bets"] == []
    seat.bet(shoe, player=100)
    seat.refused(f"/shoes/{shoe}/passes", {}, "bet-laid", 409)
    seat.withdraw(shoe)
    seat.post(f"/shoes/{shoe}/passes")
    assert house.post(f"/shoes/{shoe}/coups")["settlement"] == []
    seat.bet(shoe, player=100)


def test_what_is_withdrawn_comes_back_and_is_not_closed(house: Installation) -> None:
    shoe, one = bet_on(house)
    other = seat_at(house)
    one.bet(shoe, player=100, tie=200)
    other.bet(shoe, banker=300)
    answer = one.withdraw(shoe)
    assert [(bet["bet"], bet["stake"]) for bet in answer["bets"]] == [("player", 100), ("tie", 200)]
    assert (one.purse(), other.purse()) == ((PURSE, 0), (PURSE - 300, 300))
    one.refused(f"/shoes/{shoe}/bets/withdraw", {}, "nothing-laid", 409)
    one.bet(shoe, tie=400)
    dealt = house.post(f"/shoes/{shoe}/coups")
    assert parse_as(Bets, dealt["bets"]["record"].encode()).count == 2
    assert [(each["client"], each["stake"]) for each in dealt["settlement"]] == [("seat-1", 300), ("seat-0", 400)]
    assert [(bet["stake"], bet["state"] == "withdrawn", bet["index"]) for bet in one.own(shoe)] == [
        (100, True, None),
        (200, True, None),
        (400, False, 1),
    ]


# --- closed and settled ------------------------------------------------------------------------


def test_a_coups_bets_are_closed_right_before_it_under_the_root_of_their_lines(house: Installation) -> None:
    shoe, one = bet_on(house)
    other = seat_at(house)
    lines = [bet["line"] for answer in (one.bet(shoe, player=100, tie=100), other.bet(shoe, banker=100))
             for bet in answer["bets"]]  # fmt: skip
    dealt = house.post(f"/shoes/{shoe}/coups")
    closed = parse_as(Bets, house.receipt(dealt["bets"]).record)
    assert (closed.number, closed.count, dealt["bets"]["index"]) == (0, 3, dealt["index"] - 1)
    held = one.own(shoe) + other.own(shoe)
    assert [bet["line"] for bet in held] == lines
    for bet in held:
        path = [bytes.fromhex(each) for each in bet["path"]]
        check_inclusion(leaf_hash(bet["line"].encode()), bet["index"], closed.count, path, closed.bets_root)
    assert one.get(f"/shoes/{shoe}/bets")["coups"][0]["bets_index"] == dealt["bets"]["index"]
    house.receipt(dealt)


def test_a_coup_without_bets_has_no_bets_record(house: Installation) -> None:
    shoe, _ = bet_on(house)
    dealt = house.post(f"/shoes/{shoe}/coups")
    assert (dealt["bets"], dealt["settlement"]) == (None, [])


def test_no_stake_and_no_name_of_a_seat_enters_the_log(house: Installation) -> None:
    shoe, seat = bet_on(house)
    seat.bet(shoe, player=98_700)
    house.post(f"/shoes/{shoe}/coups")
    records = "".join(item["record"] for item in house.get(f"/shoes/{shoe}/records")["records"])
    assert "98700" not in records
    assert seat.id not in records


def test_every_line_is_paid_as_the_house_says_and_the_bank_pays_it(house: Installation) -> None:
    """Ten coups, three seats: purses and bank follow from the coups' outcomes alone."""
    shoe, one = bet_on(house)
    seats = [one, seat_at(house, purse=PURSE), seat_at(house, purse=PURSE)]
    purses, bank = [PURSE] * 3, 1_000_000
    chosen = [{"player": 500, "tie": 100}, {"banker": 700}, {"banker": 100, "player": 200}]
    for _ in range(10):
        for seat, stakes in zip(seats, chosen, strict=True):
            if any(seat.purse()[1:]):
                seat.withdraw(shoe)
            seat.bet(shoe, **stakes)
        dealt = house.post(f"/shoes/{shoe}/coups")
        outcome = json.loads(dealt["record"])["outcome"]
        for at, stakes in enumerate(chosen):
            net = sum(pays(bet, outcome, stake) for bet, stake in stakes.items())
            purses[at], bank = purses[at] + net, bank - net
        assert [sum(seat.purse()) for seat in seats] == purses
        assert bank_of(house) == bank
        assert sum(each["net_minor"] for each in dealt["settlement"]) + bank + sum(purses) == bank + sum(purses) + sum(
            pays(each["bet"], outcome, each["stake"]) for each in dealt["settlement"]
        )
    assert sum(purses) + bank == 3 * PURSE + 1_000_000
    assert one.own(shoe)[0]["number"] == 0


def play_until_tie(house: Installation, shoe: str, seat: Seat) -> Any:
    """Bet 100 on the player until a tie comes; give the tie's answer."""
    for _ in range(200):
        seat.bet(shoe, player=100)
        dealt = house.post(f"/shoes/{shoe}/coups")
        if json.loads(dealt["record"])["outcome"] == "tie":
            return dealt
    raise AssertionError("no tie in so many coups")


@pytest.mark.parametrize(("preset", "movable"), [("np_punto_banco", True), ("chance", False)])
def test_a_tied_stake_lies_on_the_next_coup(house: Installation, preset: str, movable: bool) -> None:
    shoe, seat = bet_on(house, preset)
    dealt = play_until_tie(house, shoe, seat)
    (tied,) = dealt["settlement"]
    assert (tied["result"], tied["net_minor"], tied["returned_minor"], tied["left_minor"]) == ("pushed", 0, 0, 100)
    balance, staked = seat.purse()
    assert staked == 100
    last = seat.own(shoe)[-1]
    assert (last["number"], last["stake"], last["carried"], last["state"]) == (dealt["number"] + 1, 100, True, "laid")
    if movable:
        assert seat.withdraw(shoe)["balance_minor"] == balance + 100
    else:
        seat.refused(f"/shoes/{shoe}/bets/withdraw", {}, "nothing-laid", 409)
        after = house.post(f"/shoes/{shoe}/coups")
        assert [each["stake"] for each in after["settlement"]] == [100]
        assert parse_as(Bets, after["bets"]["record"].encode()).count == 1


def test_a_tied_stake_that_the_bank_can_pay_no_more_goes_back(house: Installation) -> None:
    """First coups of tables with a bank of 1,000: a tie costs it 480, and what is left can't pay 600 on the player."""
    for n in range(60):
        table_of(house, "np_punto_banco_three", f"t{n}", money={"bank_minor": 100_000})
        one, other, shoe = seat_at(house, f"t{n}"), seat_at(house, f"t{n}"), house.sealed(f"t{n}")
        one.bet(shoe, player=60_000)
        one.bet(shoe, banker=1_000)
        other.bet(shoe, tie=6_000)
        dealt = house.post(f"/shoes/{shoe}/coups")
        if json.loads(dealt["record"])["outcome"] == "tie":
            assert [line["left_minor"] for line in dealt["settlement"]] == [0, 1_000, 0]
            assert (one.purse(), bank_of(house, f"t{n}")) == ((99_000, 1_000), 100_000 - 48_000)
            return
    raise AssertionError("no tie in so many coups")


def test_where_a_tie_pushes_the_stake_goes_back_at_once(house: Installation) -> None:
    shoe, seat = bet_on(house, "doppelganger")
    (tied,) = play_until_tie(house, shoe, seat)["settlement"]
    assert (tied["net_minor"], tied["returned_minor"], tied["left_minor"]) == (0, 100, 0)
    assert seat.purse()[1] == 0


def test_a_tied_stake_goes_back_with_the_shoes_last_coup(found: Found) -> None:
    """Shoes of one coup each, until one of them is a tie."""
    house = found()
    table_of(house, "np_punto_banco", shuffle="coup", cut=None, coups=1)
    house.post("/tables/t/books", {"size": 200})
    seat = seat_at(house)
    for _ in range(200):
        shoe = house.sealed()
        seat.bet(shoe, player=100)
        dealt = house.post(f"/shoes/{shoe}/coups")
        assert dealt["ended"]
        assert seat.purse()[1] == 0
        if json.loads(dealt["record"])["outcome"] == "tie":
            assert (dealt["settlement"][0]["returned_minor"], dealt["settlement"][0]["left_minor"]) == (100, 0)
            return
    raise AssertionError("no tie in so many shoes")


def test_a_void_shoe_gives_every_stake_back(house: Installation) -> None:
    shoe, one = bet_on(house)
    other = seat_at(house, purse=PURSE)
    house.post(f"/shoes/{shoe}/coups")
    one.bet(shoe, player=100, banker=300)
    other.bet(shoe, tie=200)
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert (one.purse(), other.purse(), bank_of(house)) == ((PURSE, 0), (PURSE, 0), 1_000_000)
    assert {bet["state"] for bet in one.own(shoe) + other.own(shoe)} == {"void"}
    assert house.verify(shoe).verdict == "void"


# --- held and verified -------------------------------------------------------------------------


def verified(house: Installation, seat: Seat, shoe: str) -> Any:
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    return verify_bundle(seat.get(f"/shoes/{shoe}/bundle"), Evidence((vkey,)))


def detail(verification: Any, name: str = "bets") -> str:
    (check,) = (check for check in verification.checks if check.name == name)
    assert check.status == "VALID"
    return str(check.detail)


def test_a_seats_bundle_shows_its_own_lines_and_the_verifier_settles_them(house: Installation) -> None:
    shoe, one = bet_on(house, **EVERY_COUP)
    other = seat_at(house, purse=PURSE)
    one.bet(shoe, player=100)
    other.bet(shoe, banker=100)
    house.post(f"/shoes/{shoe}/coups")
    one.bet(shoe, tie=300) if not one.purse()[1] else None
    house.deal_out(shoe)
    own = [bet for bet in one.own(shoe) if bet["state"] != "withdrawn"]
    bundle = one.get(f"/shoes/{shoe}/bundle")
    assert [held["line"] for held in bundle["bets"]] == [bet["line"] for bet in own]
    net = sum(bet["net_minor"] for bet in own)
    said = detail(verified(house, one, shoe))
    assert said.endswith(f"net {net:+}")
    for bet in own:
        assert f"coup {bet['number']} {bet['bet']} {bet['stake']} {bet['state']} {bet['net_minor']:+}" in said
    assert net + PURSE == one.purse()[0]
    assert verified(house, other, shoe).verdict == "verified"


def test_anybody_elses_bundle_shows_no_lines(house: Installation) -> None:
    shoe, seat = bet_on(house)
    table_of(house, "np_punto_banco", "u")
    seat.bet(shoe, player=100)
    house.post(f"/shoes/{shoe}/coups")
    stranger, neighbour = seat_at(house, "u"), seat_at(house)
    for who in (stranger.headers, neighbour.headers, {"Authorization": "none"}, {}):
        answer = house.client.get(f"/v1/shoes/{shoe}/bundle", headers=who)
        assert answer.json is not None
        assert answer.json["bets"] is None
    assert house.verify(shoe).verdict == "consistent"


def test_a_line_that_was_changed_is_found_out(house: Installation) -> None:
    shoe, seat = bet_on(house)
    seat.bet(shoe, player=100)
    house.post(f"/shoes/{shoe}/coups")
    bundle = seat.get(f"/shoes/{shoe}/bundle")
    bundle["bets"][0]["line"] = bundle["bets"][0]["line"].replace('"stake":100', '"stake":900')
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    verification = verify_bundle(bundle, Evidence((vkey,)))
    assert [check.name for check in verification.checks if check.status == "INVALID"] == ["bets"]


def test_own_bets_come_in_pages(house: Installation) -> None:
    shoe, seat = bet_on(house, "doppelganger")
    for _ in range(4):
        seat.bet(shoe, banker=100, player_doppelganger=100)
        house.post(f"/shoes/{shoe}/coups")
    first = seat.get(f"/shoes/{shoe}/bets?limit=3")
    second = seat.get(f"/shoes/{shoe}/bets?limit=3&after={first['next']}")
    assert [coup["number"] for coup in first["coups"] + second["coups"]] == [0, 1, 2, 3]
    assert second["next"] is None


# --- money that does not add up ----------------------------------------------------------------


def test_a_coup_whose_money_does_not_add_up_is_not_dealt(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bank that gains one minor unit too much: the whole transaction is undone, and nothing of it can be seen."""
    shoe, seat = bet_on(house)
    seat.bet(shoe, player=100)
    before = house.checkpoint(), seat.purse(), bank_of(house), seat.own(shoe)
    with monkeypatch.context() as patched:
        patched.setattr(settling, "bank_after", lambda bank, settlements: bank_after(bank, settlements) + 1)
        problem_of(house.client.post(f"/v1/shoes/{shoe}/coups", json={}), "internal", 500)
    assert (house.checkpoint(), seat.purse(), bank_of(house), seat.own(shoe)) == before
    assert house.post(f"/shoes/{shoe}/coups")["number"] == 0


@pytest.mark.parametrize(("players", "bank"), [(1, 0), (0, 1), (100, 100), (100, -99)])
def test_money_is_conserved_to_the_minor_unit(players: int, bank: int) -> None:
    settling.require_conserved(players, -players)
    with pytest.raises(ImpossibleError, match=rf"^the players won {players} while the bank won {bank}$"):
        settling.require_conserved(players, bank)
