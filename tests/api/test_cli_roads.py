"""``fairshoe roads`` against the handed-down vectors, and as people read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "roads.json").read_text())["vectors"]
KEYS = ["big_road", "big_road_cells", "bead_plate", "columns", "big_eye_boy", "small_road", "cockroach_pig"]


def call(*args: str) -> Result:
    return CliRunner().invoke(fairshoe, ["roads", *args])


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{len(v['seq'])}:{v['seq'][:24]}")
def test_a_vector_has_every_value(vector: dict[str, Any]) -> None:
    result = call(vector["seq"], "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert list(printed) == KEYS
    assert printed["big_road"] == vector["columns"]
    places = [place for run in vector["grid"] for place in run]
    assert [cell[:2] for cell in printed["big_road_cells"]] == places
    assert [cell[3] for cell in printed["big_road_cells"]] == [ties for run in vector["ties"] for ties in run]
    assert [printed[road] for road in KEYS[4:]] == [vector[road] for road in KEYS[4:]]
    assert printed["bead_plate"] == [[at // 6, at % 6, outcome] for at, outcome in enumerate(vector["seq"])]
    assert "".join(printed["columns"]).replace("-", "T") == vector["seq"]


def section(text: str, title: str) -> list[str]:
    lines = text.splitlines()
    start = lines.index(title) + 1
    return lines[start : start + 6]


def test_people_read_plate_road_columns_and_sums() -> None:
    text = call("BBBBBBBPPT").stdout
    assert section(text, "Bead plate") == ["BB", "BP", "BP", "BT", "B", "B"]
    assert section(text, "Big road") == ["BP", "Bp", "B", "B", "B", "BB"]
    assert section(text, "Columns")[0] == "BBBBBBB PP-"
    assert text.endswith("Banker 7, player 2, tie 1: 10 coups\n")


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{len(v['seq'])}:{v['seq'][:24]}")
def test_people_read_the_same_roads(vector: dict[str, Any]) -> None:
    text = call(vector["seq"]).stdout
    for title, road in (
        ("Big eye boy", "big_eye_boy"),
        ("Small road", "small_road"),
        ("Cockroach pig", "cockroach_pig"),
    ):
        assert f"{title:13}  {vector[road]}".rstrip() in text.splitlines()
    drawn = section(text, "Big road")
    wins = [[column, row, run[0]] for run, places in zip(vector["columns"], vector["grid"], strict=True)
            for column, row in places]  # fmt: skip
    assert all(drawn[row][column].upper() == winner for column, row, winner in wins)
    assert sum(len(row.replace(" ", "")) for row in drawn) == len(wins)


@pytest.mark.parametrize(
    ("outcomes", "place", "got"),
    [("BPX", 2, "X"), ("b", 0, "b"), ("B P", 1, " "), ("BP\n", 2, "\\n"), ("B,P", 1, ","), ("BΤ", 1, "Τ")],
)
def test_another_letter_is_refused_with_its_place(outcomes: str, place: int, got: str) -> None:
    result = call(outcomes)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f": outcome {place}: expected B, P or T, got '{got}'; see 'fairshoe roads --help'\n" in result.stderr
