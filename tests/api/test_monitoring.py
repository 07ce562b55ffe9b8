"""Monitors at work: what a sound and a faulty table's coups make of them, in rounds of any size, told everywhere.

The right states are those that `audit.monitor` comes to from the records alone, coup by coup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import log
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import select

from api.cases.monitoring import count_monitored, read_monitors, watch_coups
from api.cli import fairshoe
from api.db.tables import DeliveryRow, TableRow
from api.keeper import Keeper
from api.log import read_records
from audit.exact import multiplicities
from audit.monitor import MONITORS, begin_monitor, go_past, laws_of, print_log, print_state, without
from audit.report.monitored import Course, draw_course
from shoe.game import tableau
from shoe.game.cards import parse_card
from shoe.proof.records import Alarm, parse_as
from tests.api.installation import EVERY_COUP, HOUSE, Found, Installation, problem_of

NEVER_DRAWS: Callable[[int], bool] = lambda _: False  # noqa: E731  # a rule, not a function of this file


@pytest.fixture
def two(house: Installation) -> Installation:
    """A table of one deck with a burned card shown, and one that shuffles every coup: dealt by turns."""
    house.table("t", **HOUSE, decks=1, burn="first_card")
    house.table("u", **EVERY_COUP)
    shoes = {table: house.sealed(table) for table in ("t", "u")}
    for table in ("t", "u", "t", "t", "u", "t"):
        house.post(f"/shoes/{shoes[table]}/coups")
    return house


def states(house: Installation) -> dict[tuple[str, str], str]:
    with house.service.reading() as session:
        found = {table: read_monitors(session, table) for table in ("t", "u")}
    return {(table, each.name): print_state(each.state) for table, monitors in found.items() for each in monitors}


def by_records(house: Installation, table: str) -> dict[tuple[str, str], str]:
    """The states that follow from a table's records: the cards shown so far taken out of the shoe, coup by coup."""
    shown = house.get(f"/tables/{table}")
    decks, fresh = shown["rules"]["decks"], shown["rules"]["shuffle"] == "coup"
    found = {name: begin_monitor(name, decks) for name in MONITORS}
    records = [json.loads(each["record"]) for each in house.get(f"/shoes/{shown['live_shoe']}/records")["records"]]
    seen = [record["burn"]["card"] for record in records if record["type"] == "seal" and record["burn"]]
    for record in records:
        if record["type"] == "coup":
            laws = laws_of(without(multiplicities(decks), [] if fresh else list(map(parse_card, seen))))
            coup = record["outcome"], record["rule"]
            found = {name: go_past(name, state, coup, laws) for name, state in found.items()}
            seen += [opening["card"] for opening in record["cards"]]
    return {(table, name): print_state(state) for name, state in found.items()}


def test_every_coup_is_gone_past_once_with_the_cards_not_yet_seen(two: Installation) -> None:
    assert watch_coups(two.service).coups == 6
    assert watch_coups(two.service).coups == 0
    assert states(two) == by_records(two, "t") | by_records(two, "u")
    coups = {table: [each["coups"] for each in two.get(f"/tables/{table}/monitors")["monitors"]] for table in "tu"}
    assert coups == {"t": [4, 4, 4], "u": [2, 2, 2]}
    with two.service.reading() as session:
        assert count_monitored(session) == 2


@pytest.mark.parametrize("most", [1, 4])
def test_rounds_of_any_size_come_to_the_same(two: Installation, most: int) -> None:
    while watch_coups(two.service, most).coups:
        pass
    assert states(two) == by_records(two, "t") | by_records(two, "u")


def test_processes_at_once_go_past_no_coup_twice(two: Installation) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: watch_coups(two.service, 2).coups, range(12)))
    assert sum(done) == 6
    assert states(two) == by_records(two, "t") | by_records(two, "u")


def test_a_shoe_that_ends_and_the_next_are_each_reckoned_from_a_full_one(house: Installation) -> None:
    house.table("t", **HOUSE, decks=1)
    dealt = len(house.deal_out(house.sealed()))
    house.post(f"/shoes/{house.sealed()}/coups")
    while watch_coups(house.service).coups:
        pass
    assert [each["coups"] for each in house.get("/tables/t/monitors")["monitors"]] == [dealt + 1] * 3


def test_before_the_first_coup_all_evidence_is_one(house: Installation) -> None:
    house.table("t", **HOUSE)
    monitors = house.get("/tables/t/monitors")["monitors"]
    assert [each["name"] for each in monitors] == list(MONITORS)
    assert {(each["coups"], each["evidence"], each["peak"], each["alarms"]) for each in monitors} == {(0, "1", "1", 0)}
    assert [each["threshold"] for each in monitors] == ["2e2", "2e2", "1e6"]
    assert [each["p_value"] for each in monitors] == ["1", "1", None]
    assert house.get("/tables/t/monitors/outcomes")["points"] == []


def test_the_path_has_a_point_for_each_of_the_first_coups(two: Installation) -> None:
    watch_coups(two.service, 2)
    watch_coups(two.service)
    for name in MONITORS:
        path = two.get(f"/tables/t/monitors/{name}")
        assert [point["coups"] for point in path["points"]] == [1, 2, 3, 4]
        assert path["points"][-1]["evidence"] == path["evidence"]


def test_what_is_not_there_is_not_found(house: Installation) -> None:
    house.table("t", **HOUSE)
    for path in ("none/monitors", "none/monitors/outcomes", "none/monitors/outcomes/plot", "t/monitors/evil"):
        problem_of(house.client.get(f"/v1/tables/{path}"), "not-found", 404)
    problem_of(house.client.get("/v1/tables/t/monitors/evil/plot"), "not-found", 404)


def test_the_plot_is_of_the_path(two: Installation) -> None:
    """The same drawing comes of the numbers that the monitor's own address gives."""
    watch_coups(two.service)
    for name in MONITORS:
        answer = two.client.get(f"/v1/tables/t/monitors/{name}/plot")
        assert (answer.status_code, answer.content_type) == (200, "image/svg+xml")
        shown = two.get(f"/tables/t/monitors/{name}")
        path = tuple((point["coups"], float(point["log10"]) * log(10)) for point in shown["points"])
        bar = log(float(shown["threshold"]))
        again = draw_course(Course(name, shown["coups"], path[-1][1], bar, shown["alarms"], None, path))
        assert corners(answer.text) == corners(again)
        assert len(corners(again)) == 5


def corners(drawing: str) -> list[str]:
    (line,) = re.findall(r'<polyline points="([^"]+)"', drawing)
    return line.split()


# --- a faulty table ----------------------------------------------------------------------------


@pytest.fixture
def faulty(found: Found, monkeypatch: pytest.MonkeyPatch) -> Installation:
    """A table whose player never draws a third card: the dealing code itself is broken while it deals."""
    house = found()
    house.table("u", **HOUSE)
    house.table("t", **HOUSE)
    house.post("/webhooks", {"url": "https://hooks.example/a", "events": ["monitor.alarmed"], "table": "t"})
    house.post("/webhooks", {"url": "https://hooks.example/b", "events": ["monitor.alarmed"], "table": "u"})
    house.post(f"/shoes/{house.sealed('u')}/coups")
    shoe = house.sealed("t")
    with monkeypatch.context() as broken:
        broken.setattr(tableau, "player_draws", NEVER_DRAWS)
        for _ in range(40):
            house.post(f"/shoes/{shoe}/coups")
    return house


def alarms(house: Installation) -> list[Any]:
    (one,) = [each for each in house.get("/tables/t/monitors")["monitors"] if each["name"] == "rule_use"]
    return [one["alarms"], one["alarm_index"]]


def command(house: Installation, *args: str) -> Result:
    environment = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url, "FAIRSHOE_ORIGIN": None}
    return CliRunner(env=environment).invoke(fairshoe, ["monitor", *args])


def test_a_table_that_breaks_the_rules_is_found_told_and_logged_once(faulty: Installation) -> None:
    said: list[str] = []
    keeper = Keeper(faulty.service, say=said.append)
    (chore,) = [each for each in keeper._chores if each.name == "monitors"]
    for _ in range(8):
        chore.work()
    keeper.close()
    (count, index) = alarms(faulty)
    assert count == 1
    with faulty.service.reading() as session:
        record = parse_as(Alarm, read_records(session, [index])[index])
    assert (record.table, record.monitor, record.threshold) == ("t", "rule_use", "4e2")
    assert float(record.evidence) >= 400
    line = f"table t: rule_use: evidence {record.evidence} has reached 4e2; record {index} of the log says so"
    assert [each for each in said if "monitors" in each] == [f"fairshoe keeper: monitors: {line}"]
    with faulty.service.reading() as session:
        told = list(session.scalars(select(DeliveryRow)))
    assert [(row.type, row.log_index) for row in told] == [("monitor.alarmed", index)]
    others = faulty.get("/tables/u/monitors")["monitors"]
    assert [each["alarms"] for each in others] == [0, 0, 0]
    while watch_coups(faulty.service).coups:
        pass
    assert alarms(faulty) == [1, index]


def test_the_command_says_what_http_says_and_fails_once_there_is_an_alarm(faulty: Installation) -> None:
    assert command(faulty).exit_code == 0
    while watch_coups(faulty.service).coups:
        pass
    result = command(faulty, "--table", "t", "--json")
    assert result.exit_code == 1
    (printed,) = json.loads(result.stdout)["tables"]
    told = faulty.get("/tables/t/monitors")
    assert [{key: each[key] for key in each if key != "points"} for each in printed["monitors"]] == told["monitors"]
    for each in printed["monitors"]:
        assert each["points"] == faulty.get(f"/tables/t/monitors/{each['name']}")["points"]
    lines = command(faulty).stdout.splitlines()
    assert lines[0].split()[:6] == ["table", "monitor", "coups", "evidence", "threshold", "p"]
    assert len(lines) == 7
    assert command(faulty, "--table", "u").exit_code == 0
    assert command(faulty, "--table", "none").exit_code == 2


def test_the_command_writes_a_page_with_every_plot_and_its_numbers(faulty: Installation, tmp_path: Path) -> None:
    while watch_coups(faulty.service).coups:
        pass
    page = tmp_path / "t.html"
    page.write_text("an older one")
    assert command(faulty, "--table", "t", "--page", str(page)).exit_code == 1
    text = page.read_text()
    assert '<span class="status ALARM">ALARM</span>' in text
    assert text.count("<svg ") == text.count("Numbers of the plot") / 2 == len(MONITORS)
    for name in MONITORS:
        assert corners(faulty.client.get(f"/v1/tables/t/monitors/{name}/plot").text)[-1] in text
    assert not (tmp_path / "t.html.part").exists()


def test_a_page_that_cannot_be_is_told(two: Installation, tmp_path: Path) -> None:
    result = command(two, "--page", str(tmp_path / "all.html"))
    assert (result.exit_code, "--page: expected --table beside it" in result.stderr) == (2, True)
    result = command(two, "--table", "t", "--page", str(tmp_path / "none" / "t.html"))
    assert result.exit_code == 3
    assert "No such file or directory; name a file that can be written with --page" in result.stderr
    assert list(tmp_path.glob("*.html*")) == []


def test_no_table_is_left_out_however_many_there_are(house: Installation) -> None:
    house.table("t", **HOUSE)
    with house.service.store.writing() as session:
        one = session.get_one(TableRow, "t")
        kept = {column.name: getattr(one, column.name) for column in TableRow.__table__.columns}
        session.add_all(TableRow(**{**kept, "id": f"t{n:04}"}) for n in range(1, 1201))
    printed = json.loads(command(house, "--json").stdout)["tables"]
    assert [each["table"] for each in printed] == ["t", *(f"t{n:04}" for n in range(1, 1201))]


def test_an_alarm_says_evidence_and_bar_as_decimal_texts() -> None:
    assert float(print_log(6.0)) == pytest.approx(403.429, rel=1e-5)
