"""``fairshoe statistics``: what HTTP says of the same coups, and one line for what is not there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from tests.api.installation import HOUSE, SMALL, Installation

NOON, LATER = "2026-01-31T12:00:00.000000Z", "2026-02-01T00:00:00.000000Z"


def call(house: Installation, *args: str) -> Result:
    environment = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url, "FAIRSHOE_ORIGIN": None}
    return CliRunner(env=environment).invoke(fairshoe, ["statistics", *args])


@pytest.fixture
def shoe(house: Installation) -> str:
    """A DoppelGanger shoe dealt to its end, beside another table."""
    house.table("u", **SMALL)
    house.post("/tables", {"id": "t", "preset": "doppelganger", "overrides": {**HOUSE, "decks": 2}})
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed("t")
    house.deal_out(shoe)
    return shoe


@pytest.mark.parametrize("scope", ["table", "shoe", "time", "all"])
def test_the_command_says_what_http_says(house: Installation, shoe: str, scope: str) -> None:
    query, args = {
        "table": ("?table=t", ["--table", "t"]),
        "shoe": (f"?shoe={shoe}", ["--shoe", shoe]),
        "time": (f"?from={NOON}&to={LATER}", ["--from", NOON, "--to", LATER]),
        "all": ("", []),
    }[scope]
    printed = json.loads(call(house, *args, "--json").stdout)
    for what, key in (("rules", "decks"), ("outcomes", "decks"), ("payouts", "terms")):
        told = house.get(f"/statistics/{what}{query}")
        assert printed[what] == told[key]
        assert {name: printed[name] for name in ("scope", "judged", "dealt")} == {
            name: told[name] for name in ("scope", "judged", "dealt")
        }
    assert [len(each["judged"]["rules"]) for each in printed["rules"]] == [15]
    assert [len(each["judged"]["merged_rules"]) for each in printed["rules"]] == [14]
    assert [line["label"] for line in printed["payouts"][0]["judged"]["bets"]] == [
        "player", "banker", "tie", "player_doppelganger", "banker_doppelganger",
    ]  # fmt: skip


def test_for_people_every_rule_and_every_bet_has_a_line(house: Installation, shoe: str) -> None:
    told = house.get("/statistics/payouts?table=t")["terms"][0]
    lines = call(house, "--table", "t").stdout.splitlines()
    assert lines[0] == f"2 decks: {told['judged']['coups']} coups judged, {told['dealt']['coups']} dealt"
    first = [line.split()[0] for line in lines if line]
    for label in ("player_natural", "stood_draws", "t0_9a_stands", "tie", "player_doppelganger", "all"):
        assert label in first
    for bet in told["judged"]["bets"]:
        (line,) = (line.split() for line in lines if line.split()[:1] == [bet["label"]] and len(line.split()) == 11)
        shown = ("wins", "money_minor", "returns_minor", "in_minor", "out_minor", "sum_minor", "ties_minor",
                 "total_minor")  # fmt: skip
        assert [int(cell) for cell in line[1:9]] == [bet[name] for name in shown]
        assert float(line[10]) == pytest.approx(float(bet["deviation"]), rel=1e-5)


def test_where_nothing_was_dealt(house: Installation) -> None:
    assert call(house).stdout == "No coups yet.\n"
    assert json.loads(call(house, "--json").stdout)["payouts"] == []
    house.table("t", **SMALL)
    assert call(house, "--table", "t").stdout.startswith("1 deck: 0 coups judged, 0 dealt\n")


@pytest.mark.parametrize("option", ["--table", "--shoe"])
def test_what_is_not_there_is_named_in_one_line(house: Installation, option: str) -> None:
    result = call(house, option, "nowhere")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "nowhere" in result.stderr
    assert "Name one that is there" in result.stderr


@pytest.mark.parametrize("time", ["yesterday", "2026-01-31", "2026-01-31T12:00:00Z"])
def test_times_are_read_strictly(house: Installation, time: str) -> None:
    result = call(house, "--from", time)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--from" in result.stderr


def test_without_an_installation(tmp_path: Path) -> None:
    result = CliRunner(env={"FAIRSHOE_DATA": str(tmp_path), "DATABASE_URL": None}).invoke(fairshoe, ["statistics"])
    assert (result.exit_code, result.stdout) == (3, "")
    assert "there is no database" in result.stderr
