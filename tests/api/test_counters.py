"""A player's counters and money, counted by hand from the cards; whose they are, and how stakes that stay count."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import ON_SQLITE, Installation, problem_of
from tests.api.test_payouts import hands
from tests.reference import bets_reference

PURSE = 10_000_000
COUPS = 20
GAMES = ("games", "wins", "ties", "losses")
MONEY = ("wins_minor", "winnings_minor", "ties_minor", "bets_minor", "total_minor")
CARRIED = ("carried", "carried_minor")
Game = tuple[str, int, dict[str, Any]]


def counted(seat: Seat, query: str = "") -> Any:
    """The only part of a seat's statistics that has one."""
    (only,) = seat.get(f"/seats/{seat.id}/statistics{query}")["money"]
    return only


def lines(part: Any) -> dict[str, Any]:
    return {line["label"]: line for line in (*part["bets"], part["sum"])}


def net(bet: str, stake: int, record: dict[str, Any]) -> int:
    """What a bet wins at 1:1, 1:1 less 5 % half up, 8:1, or DoppelGanger's: by the slow reference of the cards."""
    won = Fraction(stake) * bets_reference.nets(*hands([card["card"] for card in record["cards"]]))[bet]
    return floor(won + Fraction(1, 2)) if bet != "banker" or won <= 0 else stake - floor(stake - won + Fraction(1, 2))


def by_hand(games: Iterable[Game], bets: Iterable[str]) -> dict[str, dict[str, int]]:
    """The columns as the page lists them, one game after the other."""
    games, found = list(games), {}
    for name in bets:
        nets = [(stake, net(bet, stake, record)) for bet, stake, record in games if bet == name]
        wins = [(stake, won) for stake, won in nets if won > 0]
        ties = [stake for stake, won in nets if won == 0]
        found[name] = {
            "games": len(nets),
            "wins": len(wins),
            "ties": len(ties),
            "losses": sum(won < 0 for _, won in nets),
            "wins_minor": sum(stake + won for stake, won in wins),
            "winnings_minor": sum(won for _, won in wins),
            "ties_minor": sum(ties),
            "bets_minor": sum(stake for stake, _ in nets),
            "total_minor": sum(won for _, won in nets),
        }
    return found | {"all": {key: sum(line[key] for line in found.values()) for key in (*GAMES, *MONEY)}}


def deal(house: Installation, shoe: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads(house.post(f"/shoes/{shoe}/coups")["record"])
    return record


def play(house: Installation, seat: Seat, shoe: str, coups: int, **stakes: int) -> list[Game]:
    """Bet on a number of coups, what lies there from a tie left lying; give each game with its stake and coup."""
    games = []
    for n in range(coups):
        laid = {bet["bet"]: bet["stake"] for bet in seat.own(shoe) if bet["state"] == "laid"}
        more = {bet: stake + 10 * n for bet, stake in stakes.items() if bet not in laid}
        if more:
            seat.bet(shoe, **more)
        record = deal(house, shoe)
        games += [(bet, stake, record) for bet, stake in {**laid, **more}.items()]
    return games


# --- every column by hand ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("preset", "stakes"),
    [
        ("np_punto_banco", {"banker": 110}),
        ("np_punto_banco_three", {"player": 110, "banker": 230, "tie": 170}),
        ("doppelganger", {"tie": 100, "banker": 300, "player_doppelganger": 200, "banker_doppelganger": 100}),
    ],
)
def test_every_column_is_what_the_cards_say(house: Installation, preset: str, stakes: dict[str, int]) -> None:
    table_of(house, preset, chips_minor=None)
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    games = play(house, seat, shoe, COUPS, **stakes)
    part = counted(seat)
    names = [bet["name"] for bet in house.get("/tables/t")["rules"]["bets"]]
    assert [line["label"] for line in part["bets"]] == names
    wanted = by_hand(games, names)
    assert {label: {key: line[key] for key in (*GAMES, *MONEY)} for label, line in lines(part).items()} == wanted
    assert (part["coups"], part["minor_per_unit"]) == (COUPS, 100)
    assert len(games) == wanted["all"]["games"] == COUPS * len(stakes)
    purse, on_table = seat.purse()
    assert purse + on_table - PURSE == wanted["all"]["total_minor"]
    for line in lines(part).values():
        assert line["games"] == line["wins"] + line["ties"] + line["losses"]
        assert line["total_minor"] == line["wins_minor"] + line["ties_minor"] - line["bets_minor"]


# --- ties --------------------------------------------------------------------------------------


def until_tie(house: Installation, seat: Seat, shoe: str, **stakes: int) -> list[str]:
    """Lay stakes on every coup until one is tied; give all outcomes."""
    outcomes: list[str] = []
    while outcomes[-1:] != ["tie"]:
        seat.bet(shoe, **stakes)
        outcomes.append(deal(house, shoe)["outcome"])
    return outcomes


def test_a_stake_that_stays_after_a_tie_is_a_game_of_every_coup_it_lies_on(house: Installation) -> None:
    """Staked once and tied: a game and a tie; dealt again: a second game of the same stake, which is then carried."""
    table_of(house, "np_punto_banco")
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    outcomes = until_tie(house, seat, shoe, player=500)
    at_tie = lines(counted(seat))["player"]
    assert [at_tie[key] for key in (*GAMES, *CARRIED)] == [
        len(outcomes), outcomes.count("player"), 1, outcomes.count("banker"), 0, 0,
    ]  # fmt: skip
    assert (at_tie["ties_minor"], at_tie["bets_minor"]) == (500, 500 * len(outcomes))
    assert seat.purse()[1] == 500
    outcomes.append(deal(house, shoe)["outcome"])
    after = lines(counted(seat))["player"]
    assert [after[key] for key in (*GAMES, *CARRIED)] == [
        len(outcomes), outcomes.count("player"), outcomes.count("tie"), outcomes.count("banker"), 1, 500,
    ]  # fmt: skip
    assert after["bets_minor"] == 500 * len(outcomes)
    assert after["bets_minor"] - after["carried_minor"] == 500 * (len(outcomes) - 1)


def test_a_stake_taken_back_after_a_tie_is_no_second_game(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    coups = len(until_tie(house, seat, shoe, banker=500))
    seat.withdraw(shoe)
    deal(house, shoe)
    line = lines(counted(seat))["banker"]
    assert (line["games"], line["ties"], line["carried"]) == (coups, 1, 0)
    assert seat.purse() == (PURSE + line["total_minor"], 0)


def test_where_a_tie_gives_back_nothing_is_carried(house: Installation) -> None:
    table_of(house, "doppelganger")
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    until_tie(house, seat, shoe, player=500)
    line = lines(counted(seat))["player"]
    assert (line["ties"], line["ties_minor"], line["carried"], seat.purse()[1]) == (1, 500, 0, 0)


# --- what counts nowhere -----------------------------------------------------------------------


def test_bets_laid_taken_back_passed_or_void_count_nowhere(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    seat, shoe = seat_at(house, purse=PURSE), house.sealed()
    seat.bet(shoe, tie=100)
    assert counted(seat)["sum"]["games"] == 0
    seat.withdraw(shoe)
    seat.post(f"/shoes/{shoe}/passes")
    deal(house, shoe)
    seat.bet(shoe, tie=100)
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    part = counted(seat)
    assert (part["coups"], set(map(str, part["sum"].values()))) == (0, {"all", "0"})


def test_a_table_without_bets_has_no_money(house: Installation) -> None:
    rules = {"game": "punto_banco", "decks": 1, "cut": {"from": 7, "to": 7}, "burn": "none", "last_coup": "drawn_in",
             "entropy": "house", "shuffle": "shoe", "coups": None}  # fmt: skip
    house.post("/tables", {"id": "bare", "rules": rules})
    made = house.post("/tables/bare/seats", {})
    told = house.get(f"/seats/{made['seat']}/statistics")
    assert (told["money"], told["seats"], told["player"]) == ([], 1, None)


# --- sessions and players ----------------------------------------------------------------------


@pytest.fixture
def ada(house: Installation) -> list[Seat]:
    """Two sessions of Ada at one table and one at another, with 3, 1 and 2 games; Bob 2, two nameless 1 each."""
    table_of(house, "np_punto_banco_three", "a")
    table_of(house, "chance", "b", decks=2, chips_minor=None)
    shoes = {table: house.sealed(table) for table in "ab"}
    seats = []
    for table, player, coups in (
        ("a", "ada", 3),
        ("a", "ada", 1),
        ("b", "ada", 2),
        ("a", "bob", 2),
        ("a", None, 1),
        ("a", None, 1),
    ):
        seat = seat_at(house, table, PURSE, player)
        play(house, seat, shoes[table], coups, tie=100)
        seats.append(seat)
        house.clock.forward(1)
    return seats


def test_a_session_is_one_seat_and_all_time_is_all_of_a_player(house: Installation, ada: list[Seat]) -> None:
    assert [counted(seat)["sum"]["games"] for seat in ada] == [3, 1, 2, 2, 1, 1]
    assert [counted(seat, "?scope=session")["sum"]["games"] for seat in ada] == [3, 1, 2, 2, 1, 1]
    assert [counted(seat, "?scope=all_time")["sum"]["games"] for seat in ada] == [6, 6, 6, 2, 1, 1]
    told = ada[1].get(f"/seats/{ada[1].id}/statistics?scope=all_time")
    assert {key: told[key] for key in ("scope", "seat", "player", "seats", "since")} == {
        "scope": "all_time", "seat": ada[1].id, "player": "ada", "seats": 3, "since": "2026-01-31T12:00:00.000000Z",
    }  # fmt: skip
    assert ada[1].get(f"/seats/{ada[1].id}/statistics")["since"] == "2026-01-31T12:00:01.000000Z"
    assert ada[4].get(f"/seats/{ada[4].id}/statistics?scope=all_time")["seats"] == 1
    by_name = house.get("/players/ada/statistics")
    assert (by_name["scope"], by_name["seat"], by_name["seats"]) == ("all_time", None, 3)
    assert by_name["money"] == told["money"]
    summed, tie = [lines(counted(seat))["tie"] for seat in ada[:3]], lines(told["money"][0])["tie"]
    for key in (*GAMES, *MONEY, *CARRIED):
        assert tie[key] == sum(line[key] for line in summed)
    for query in ("", "?scope=all_time"):
        answer = house.client.get(f"/v1/seats/{ada[3].id}/statistics{query}", headers=ada[0].headers)
        assert ada[3].id not in problem_of(answer, "forbidden", 403)
    problem_of(house.client.get("/v1/players/ada/statistics", headers=ada[0].headers), "forbidden", 403)
    house.post(f"/seats/{ada[0].id}/revoke")
    assert house.get("/players/ada/statistics")["money"] == told["money"]


def test_money_of_different_minor_units_is_not_added(house: Installation) -> None:
    table_of(house, "np_punto_banco_three", "a")
    table_of(house, "np_punto_banco_three", "b", money={"minor_per_unit": 1000})
    for table, coups in (("a", 2), ("b", 3)):
        play(house, seat_at(house, table, PURSE, "ada"), house.sealed(table), coups, tie=100)
    told = house.get("/players/ada/statistics")["money"]
    assert [(part["minor_per_unit"], part["coups"], part["sum"]["bets_minor"]) for part in told] == [
        (100, 2, 210), (1000, 3, 330),
    ]  # fmt: skip


# --- who may ask -------------------------------------------------------------------------------


def test_what_is_not_there_or_not_understood_is_refused(house: Installation) -> None:
    table_of(house, "np_punto_banco")
    (key,) = house.get("/keys")["keys"]
    nobody = f"{'0' * 8}-0000-7000-8000-{'0' * 12}"
    for path in ("/players/eve", f"/seats/{nobody}", f"/seats/{key['id']}", "/players/%C3%A9ve", "/players/a%20b"):
        house.get(f"{path}/statistics", 404)
    seat = seat_at(house).id
    for query in ("scope=day", "scope=", "scope=session&scope=session", "all_time=1", "scope=0", "table=t"):
        house.get(f"/seats/{seat}/statistics?{query}", 422)


# --- the command -------------------------------------------------------------------------------


def call(house: Installation, *args: str) -> Result:
    environment = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url, "FAIRSHOE_ORIGIN": None}
    return CliRunner(env=environment).invoke(fairshoe, ["statistics", *args])


@ON_SQLITE
def test_the_command_says_what_http_says(house: Installation, ada: list[Seat]) -> None:
    seat = ada[0]
    for args, path in (
        (["--seat", seat.id], f"/seats/{seat.id}/statistics"),
        (["--seat", seat.id, "--all-time"], f"/seats/{seat.id}/statistics?scope=all_time"),
        (["--player", "ada"], "/players/ada/statistics"),
    ):
        assert json.loads(call(house, *args, "--json").stdout) == house.get(path)


@ON_SQLITE
def test_for_people_there_are_two_tables(house: Installation, ada: list[Seat]) -> None:
    shown = call(house, "--player", "ada").stdout.splitlines()
    assert shown[0] == "ada: 3 seats since 2026-01-31T12:00:00.000000Z"
    told = lines(house.get("/players/ada/statistics")["money"][0])
    cells = [line.split() for line in shown]
    for label, line in told.items():
        found = [[int(cell) for cell in row[1:]] for row in cells if row[:1] == [label]]
        money = ("games", "wins_minor", "ties_minor", "bets_minor", "total_minor")
        assert found == [[line[key] for key in GAMES], [line[key] for key in money]]
    assert call(house, "--seat", ada[4].id).stdout.startswith(f"seat {ada[4].id}: 1 seat since ")


MISUSES = (
    "--seat nowhere",
    "--player nobody",
    "--seat x --player y",
    "--all-time",
    "--player ada --all-time",
    "--player ada --table a",
    "--seat x --from 2026-01-31T12:00:00.000000Z",
)


@ON_SQLITE
def test_what_the_command_does_not_take(house: Installation) -> None:
    for misuse in MISUSES:
        result = call(house, *misuse.split())
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), misuse


@ON_SQLITE
def test_a_shoes_roads_stand_beside_its_counts(house: Installation) -> None:
    table_of(house, "np_punto_banco", "a")
    shoe = house.sealed("a")
    for _ in range(9):
        deal(house, shoe)
    roads = house.get(f"/shoes/{shoe}/roads")
    assert json.loads(call(house, "--shoe", shoe, "--json").stdout)["roads"] == roads
    assert json.loads(call(house, "--table", "a", "--json").stdout)["roads"] is None
    text = call(house, "--shoe", shoe).stdout
    assert "\n".join(["Columns", " ".join(roads["columns"])]) in text
    sums = roads["sums"]
    assert f"Banker {sums['banker']}, player {sums['player']}, tie {sums['tie']}: {sums['coups']} coups" in text
