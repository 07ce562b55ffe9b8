"""Own limits over HTTP: lowered by PIN once a week, kept for a player at all her seats, binding every later bet.

The rule is the houses' own: "confirm it by typing your PIN", "no more than once per week (Friday 12:00 AM EST)",
"affects the bet limit for all games"; the moments of the turn are New York's, written here in UTC.
"""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from api.cases import limits
from api.db.tables import ClaimRow, OwnLimitRow
from api.journal import close_journal, open_journal
from api.own_limit import MOST_WRONG
from api.payloads import NewLimit
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import Installation, problem_of

PIN = "471104"
FRIDAY = datetime(2026, 2, 6, 5, tzinfo=UTC)
TURN, NEXT_TURN = "2026-02-06T05:00:00.000000Z", "2026-02-13T05:00:00.000000Z"


def vip(house: Installation, table: str = "t", player: str | None = None, **overrides: Any) -> Seat:
    """A seat with a purse at a table of the VIP house, which takes 5.00 to 300.00."""
    table_of(house, "vip", table, **overrides)
    return seat_at(house, table, purse=1_000_000, player=player)


def lower(seat: Seat, maximum: int, pin: str = PIN, status: int = 201, **headers: str) -> Any:
    return seat.post(f"/seats/{seat.id}/limit", {"maximum_minor": maximum, "pin": pin}, status, **headers)


def refuse(seat: Seat, maximum: int, slug: str, status: int, pin: str = PIN) -> str:
    body = {"maximum_minor": maximum, "pin": pin}
    return problem_of(
        seat.house.client.post(f"/v1/seats/{seat.id}/limit", json=body, headers=seat.headers), slug, status
    )


def shown(seat: Seat) -> tuple[int | None, int | None, bool, str | None]:
    limit = seat.get(f"/seats/{seat.id}/limit")
    return limit["own_maximum_minor"], limit["maximum_minor"], limit["can_lower"], limit["why_not"]


def rows(house: Installation) -> list[OwnLimitRow]:
    with house.service.reading() as session:
        return list(session.scalars(select(OwnLimitRow).order_by(OwnLimitRow.holder)))


# --- lowering ----------------------------------------------------------------------------------


def test_a_limit_is_confirmed_by_pin_and_binds_the_next_bet(house: Installation) -> None:
    seat = vip(house)
    shoe = house.sealed()
    assert shown(seat) == (None, 30_000, True, None)
    answer = lower(seat, 20_000)
    assert answer == seat.get(f"/seats/{seat.id}/limit") == house.get(f"/seats/{seat.id}/limit")
    assert answer == {
        "seat": seat.id, "table": "t", "table_maximum_minor": 30_000, "own_maximum_minor": 20_000,
        "maximum_minor": 20_000, "can_lower": False, "why_not": "already_this_week", "turns": TURN,
    }  # fmt: skip
    said = seat.refuse_bet(shoe, "invalid", 422, player=20_100)
    assert said == "player: expected a stake of at most 20000, the player's own limit, got 20100"
    seat.bet(shoe, player=20_000)


def test_once_a_week_that_turns_on_friday_in_new_york(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 20_000)
    house.clock.moment = FRIDAY - timedelta(seconds=1)
    assert refuse(seat, 10_000, "limit-set", 409) == f"The limit was lowered in this week, which turns at {TURN}."
    house.clock.moment = FRIDAY
    assert shown(seat) == (20_000, 20_000, True, None)
    assert lower(seat, 10_000)["turns"] == NEXT_TURN


@pytest.mark.parametrize("maximum", [20_000, 20_001, 30_000, 499])
def test_what_is_no_lower_limit_changes_nothing(house: Installation, maximum: int) -> None:
    seat = vip(house)
    lower(seat, 20_000)
    house.clock.moment = FRIDAY
    assert "own limit: expected a limit below 20000, and at least 500" in refuse(seat, maximum, "invalid", 422)
    assert shown(seat) == (20_000, 20_000, True, None)


def test_the_least_stake_is_the_least_limit(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 500)
    house.clock.moment = FRIDAY
    assert shown(seat) == (500, 500, False, "at_the_least")


def test_a_table_whose_players_set_no_limits(house: Installation) -> None:
    table_of(house, "chance")
    seat = seat_at(house)
    assert shown(seat) == (None, None, False, "no_own_limits")
    assert seat.get(f"/seats/{seat.id}/limit")["turns"] is None
    assert "'t'" in refuse(seat, 100, "no-own-limits", 409)
    assert rows(house) == []


def test_a_table_that_takes_no_bets(house: Installation) -> None:
    rules = house.get("/tables/" + table_of(house, "np_punto_banco"))["rules"]
    plain = {key: rules[key] for key in ("burn", "coups", "cut", "decks", "entropy", "game", "last_coup", "shuffle")}
    house.post("/tables", {"id": "plain", "rules": plain})
    made = house.post("/tables/plain/seats")
    seat = Seat(house, made["seat"], made["token"])
    problem_of(house.client.get(f"/v1/seats/{seat.id}/limit"), "not-found", 404)
    refuse(seat, 100, "not-found", 404)


def test_another_seat_neither_sees_nor_lowers_it(house: Installation) -> None:
    seat, other = vip(house), seat_at(house)
    problem_of(house.client.get(f"/v1/seats/{seat.id}/limit", headers=other.headers), "forbidden", 403)
    stranger = Seat(house, seat.id, other.token)
    refuse(stranger, 10_000, "forbidden", 403)
    key = Seat(house, seat.id, house.tokens.key)
    refuse(key, 10_000, "forbidden", 403)
    assert rows(house) == []


@pytest.mark.parametrize("pin", ["", "123", "1234567890123", "12a4", "１２３４", " 1234", "1234\n", 1234, None])
def test_what_can_not_be_a_pin_is_refused_without_being_shown(house: Installation, pin: Any) -> None:
    said = refuse(vip(house), 10_000, "invalid", 422, pin)
    assert said.startswith("pin: ")
    assert not pin or str(pin).strip() not in said.replace("{4,12}", "")


# --- for all games -----------------------------------------------------------------------------


def test_it_holds_at_all_tables_and_at_all_later_seats_of_the_player(house: Installation) -> None:
    """ "Affects the bet limit for all games", also where the rules themselves say nothing of own limits."""
    ann = vip(house, player="ann")
    lower(ann, 1_000)
    house.post(f"/seats/{ann.id}/revoke")
    table_of(house, "chance", "c")
    later, elsewhere = seat_at(house, "t", 10**6, "ann"), seat_at(house, "c", 10**6, "ann")
    bob, nobody = seat_at(house, "t", 10**6, "bob"), seat_at(house, "t", 10**6)
    assert shown(later) == (1_000, 1_000, False, "already_this_week")
    assert shown(elsewhere) == (1_000, 1_000, False, "no_own_limits")
    assert shown(bob) == shown(nobody) == (None, 30_000, True, None)
    shoe, other = house.sealed(), house.sealed("c")
    later.refuse_bet(shoe, "invalid", 422, player=1_100)
    elsewhere.refuse_bet(other, "invalid", 422, player=1_100)
    elsewhere.bet(other, player=1_000)
    bob.bet(shoe, player=30_000)
    nobody.bet(shoe, player=30_000)


def test_it_holds_at_one_table_where_the_rules_say_so(house: Installation) -> None:
    own = {"confirmed_by": "pin", "once_a": "week", "day": "friday", "zone": "America/New_York", "holds_for": "table"}
    ann = vip(house, player="ann", own_limit=own)
    other = vip(house, "u", player="ann")
    lower(ann, 1_000)
    assert shown(other) == (None, 30_000, True, None)
    lower(other, 2_000)
    assert shown(ann)[:2] == (1_000, 1_000)
    assert shown(seat_at(house, "t", player="ann"))[:2] == (1_000, 1_000)


def test_no_player_is_named_like_a_seat(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 1_000)
    namesake = seat_at(house, "t", player=seat.id)
    assert shown(namesake) == (None, 30_000, True, None)
    lower(namesake, 2_000, "0000")
    assert [row.holder for row in rows(house)] == [f"player:{seat.id}", f"seat:{seat.id}"]


# --- what is laid ------------------------------------------------------------------------------


def test_what_was_laid_before_stays_and_does_not_stand_in_the_way(house: Installation) -> None:
    seat = vip(house)
    shoe = house.sealed()
    seat.bet(shoe, player=30_000)
    lower(seat, 1_000)
    seat.bet(shoe, tie=1_000)
    seat.withdraw(shoe)
    seat.refuse_bet(shoe, "invalid", 422, player=30_000)


def test_a_stake_that_stayed_after_a_tie_stays_as_it_was_laid(house: Installation) -> None:
    """Whoever wants less of it on the table takes it back, where the house lets her."""
    seat = vip(house, on_tie="may_stay")
    shoe, left = house.sealed(), 0
    while not left:
        seat.bet(shoe, player=30_000)
        seat.post(f"/shoes/{shoe}/ready")
        left = house.post(f"/shoes/{shoe}/coups")["settlement"][0]["left_minor"]
    lower(seat, 1_000)
    seat.bet(shoe, banker=1_000)
    seat.post(f"/shoes/{shoe}/ready")
    assert [(line["bet"], line["stake"]) for line in house.post(f"/shoes/{shoe}/coups")["settlement"]] == [
        ("player", 30_000),
        ("banker", 1_000),
    ]


# --- wrong PINs --------------------------------------------------------------------------------


def test_a_wrong_pin_is_refused_and_counted(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 20_000)
    for tries in range(MOST_WRONG):
        assert rows(house)[0].wrong == tries
        assert refuse(seat, 10_000, "wrong-pin", 403, f"000{tries}").startswith("pin: expected the PIN that")
    said = f"Too many wrong PINs came in this week; it turns at {TURN}."
    assert refuse(seat, 10_000, "too-many-wrong-pins", 403, "0005") == said
    assert refuse(seat, 10_000, "too-many-wrong-pins", 403) == said
    assert shown(seat) == (20_000, 20_000, False, "too_many_wrong_pins")
    house.clock.moment = FRIDAY
    assert shown(seat) == (20_000, 20_000, True, None)
    lower(seat, 10_000)
    assert rows(house)[0].wrong == 0


def test_tries_are_counted_for_the_player_not_for_the_seat(house: Installation) -> None:
    ann = vip(house, player="ann")
    lower(ann, 20_000)
    for tries in range(MOST_WRONG):
        refuse(seat_at(house, "t", player="ann"), 10_000, "wrong-pin", 403, f"000{tries}")
    refuse(ann, 10_000, "too-many-wrong-pins", 403)


def test_a_wrong_pin_that_is_sent_again_is_counted_once(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 20_000)
    answers = [lower(seat, 10_000, "0000", 403, **{"Idempotency-Key": "again"}) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert rows(house)[0].wrong == 1


def test_who_is_refused_without_a_look_at_the_pin_costs_no_hash(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    seat, other = vip(house), seat_at(house)
    table_of(house, "chance", "c")
    elsewhere = seat_at(house, "c")
    lower(seat, 20_000)
    for tries in range(MOST_WRONG):
        refuse(seat, 10_000, "wrong-pin", 403, f"000{tries}")
    monkeypatch.setattr(limits, "try_pin", None)
    refuse(seat, 10_000, "too-many-wrong-pins", 403)
    refuse(Seat(house, seat.id, other.token), 10_000, "forbidden", 403)
    refuse(elsewhere, 10_000, "no-own-limits", 409)


# --- nowhere shown -----------------------------------------------------------------------------


def test_the_pin_is_nowhere_kept_said_or_written(house: Installation) -> None:
    stream = io.StringIO()
    open_journal("debug", house.clock, stream)
    try:
        seat = vip(house)
        said = [lower(seat, 20_000, **{"Idempotency-Key": "k1"}), refuse(seat, 10_000, "wrong-pin", 403, "998877")]
        said += [refuse(seat, 10_000, "limit-set", 409), refuse(seat, 0, "invalid", 422)]
        said.append(seat.get(f"/seats/{seat.id}/limit"))
    finally:
        close_journal()
    (row,) = rows(house)
    written = stream.getvalue()
    assert "/limit" in written
    for text in (written, str(said), repr(NewLimit(maximum_minor=1, pin=PIN)), repr(row), str(row.pin)):
        assert PIN not in text
        assert "998877" not in text
    assert "scrypt" not in written + str(said)


def test_a_claims_digest_is_not_to_be_found_by_trying_all_pins(house: Installation) -> None:
    """What the database holds is not enough: the digest is made under what the seat alone holds."""
    seat = vip(house)
    lower(seat, 20_000, **{"Idempotency-Key": "k1"})
    body = b'{"maximum_minor": 20000, "pin": "%s"}' % PIN.encode()
    asked = f"POST /v1/seats/{seat.id}/limit\n".encode() + body
    with house.service.reading() as session:
        claim = session.scalars(select(ClaimRow)).all()[-1]
    assert claim.digest != hashlib.sha256(asked).digest()
    assert PIN.encode() not in claim.answer
    again = house.client.post(f"/v1/seats/{seat.id}/limit", data=body, content_type="application/json",
                              headers={**seat.headers, "Idempotency-Key": "k1"})  # fmt: skip
    assert again.status_code == 201
    other = body.replace(PIN.encode(), b"000000")
    answer = house.client.post(f"/v1/seats/{seat.id}/limit", data=other, content_type="application/json",
                               headers={**seat.headers, "Idempotency-Key": "k1"})  # fmt: skip
    problem_of(answer, "idempotency-key-reused", 422)
