"""The roads against handed-down vectors, a slow definition and boards drawn by hand."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import InputError
from shoe.game.roads import Cell, Roads, Run, Sums, big_road_text, draw_roads, parse_outcomes
from tests.reference import roads_reference as slow

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "roads.json").read_text())["vectors"]
DERIVED = {"big_eye_boy": 1, "small_road": 2, "cockroach_pig": 3}

# Runs rather than single letters, so that tails are long and meet each other.
SHOES = st.lists(st.tuples(st.sampled_from("BPT"), st.integers(1, 13)), max_size=14).map(
    lambda runs: "".join(letter * length for letter, length in runs)
) | st.text("BPT", max_size=90)


def board(text: str) -> set[tuple[int, int, str]]:
    """Read a board drawn by hand: six lines of B, P and dots, indented at will."""
    rows = text.split()
    return {(x, y, letter) for y, row in enumerate(rows) for x, letter in enumerate(row) if letter != "."}


def drawn(roads: Roads) -> set[tuple[int, int, str]]:
    return {(cell.column, cell.row, cell.winner) for cell in roads.big_road_cells}


# --- vectors ---------------------------------------------------------------------------------


def test_there_are_vectors_with_and_without_wins() -> None:
    assert len(VECTORS) == 39
    assert sum(bool(v["columns"]) for v in VECTORS) == 37


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: f"{len(v['seq'])}:{v['seq'][:24]}")
class TestVectors:
    def test_big_road_columns(self, vector: dict) -> None:
        assert [[run.winner, run.length] for run in draw_roads(vector["seq"]).big_road] == vector["columns"]

    def test_big_road_grid(self, vector: dict) -> None:
        cells = draw_roads(vector["seq"]).big_road_cells
        assert [[cell.column, cell.row] for cell in cells] == [place for run in vector["grid"] for place in run]

    def test_ties_hang_on_wins(self, vector: dict) -> None:
        roads = draw_roads(vector["seq"])
        assert [cell.ties for cell in roads.big_road_cells] == [n for run in vector["ties"] for n in run]
        hanging = sum(cell.ties for cell in roads.big_road_cells)
        assert roads.sums.tie - hanging == vector["leading_ties_without_win"]

    @pytest.mark.parametrize("road", DERIVED)
    def test_derived_roads(self, vector: dict, road: str) -> None:
        assert getattr(draw_roads(vector["seq"]), road) == vector[road]

    def test_slow_definition_agrees_with_the_vector(self, vector: dict) -> None:
        assert [[x, y] for x, y, _, _ in slow.grid(vector["seq"])] == [p for run in vector["grid"] for p in run]
        assert {road: slow.derived(vector["seq"], k) for road, k in DERIVED.items()} == {
            road: vector[road] for road in DERIVED
        }


# --- the slow definition ---------------------------------------------------------------------


@given(SHOES)
def test_every_road_equals_the_slow_definition(shoe: str) -> None:
    roads = draw_roads(shoe)
    assert list(roads.big_road) == [(run[0][0], len(run)) for run in slow.logical_columns(shoe)]
    assert list(roads.big_road_cells) == slow.grid(shoe)
    assert list(roads.bead_plate) == slow.bead_plate(shoe)
    assert list(roads.columns) == slow.winners_columns(shoe)
    for road, k in DERIVED.items():
        assert getattr(roads, road) == slow.derived(shoe, k)


@given(SHOES, st.sampled_from("BPT"))
def test_a_further_coup_only_appends_to_a_road(shoe: str, coup: str) -> None:
    before, after = draw_roads(shoe), draw_roads(shoe + coup)
    assert after.bead_plate[:-1] == before.bead_plate
    assert "".join(after.columns)[:-1] == "".join(before.columns)
    for road in DERIVED:
        assert getattr(after, road).startswith(getattr(before, road))
    places = [cell[:3] for cell in before.big_road_cells]
    assert [cell[:3] for cell in after.big_road_cells][: len(places)] == places


@given(SHOES)
def test_banker_and_player_exchanged_give_the_same_pattern(shoe: str) -> None:
    roads, mirror = draw_roads(shoe), draw_roads(shoe.translate(str.maketrans("BP", "PB")))
    assert [c[:2] for c in roads.big_road_cells] == [c[:2] for c in mirror.big_road_cells]
    assert all(getattr(roads, road) == getattr(mirror, road) for road in DERIVED)


@given(SHOES)
def test_sums_count_every_coup_once(shoe: str) -> None:
    assert draw_roads(shoe).sums == (shoe.count("B"), shoe.count("P"), shoe.count("T"), len(shoe))


@given(st.text("BPT", min_size=80, max_size=80))
def test_text_has_six_lines_no_wider_than_the_shoe_and_every_win(shoe: str) -> None:
    lines = big_road_text(draw_roads(shoe)).split("\n")
    assert len(lines) == 6
    assert max(map(len, lines)) <= 80
    letters = "".join(lines).replace(" ", "").upper()
    assert (letters.count("B"), letters.count("P")) == (shoe.count("B"), shoe.count("P"))


# --- boards drawn by hand --------------------------------------------------------------------


def test_an_empty_shoe_draws_nothing() -> None:
    roads = draw_roads("")
    assert roads == Roads((), (), (), (), "", "", "", Sums(0, 0, 0, 0))
    assert big_road_text(roads) == "\n" * 5


def test_ties_alone_leave_the_big_road_empty() -> None:
    roads = draw_roads("TTT")
    assert (roads.big_road, roads.big_road_cells, roads.columns) == ((), (), ("---",))
    assert roads.sums == Sums(0, 0, 3, 3)
    assert roads.bead_plate == ((0, 0, "T"), (0, 1, "T"), (0, 2, "T"))


def test_leading_ties_hang_on_the_first_win_and_open_its_column() -> None:
    roads = draw_roads("TTPTPB")
    assert roads.big_road == (Run("P", 2), Run("B", 1))
    assert roads.big_road_cells == (Cell(0, 0, "P", 3), Cell(0, 1, "P", 0), Cell(1, 0, "B", 0))
    assert roads.columns == ("--P-P", "B")


def test_a_tie_stays_in_the_column_of_the_winner_before_it() -> None:
    assert draw_roads("BBTBPTTB").columns == ("BB-B", "P--", "B")


def test_a_tie_does_not_end_a_run() -> None:
    assert draw_roads("BTB").big_road == (Run("B", 2),)


def test_the_seventh_win_turns_right_on_row_six() -> None:
    assert drawn(draw_roads("B" * 8 + "P")) == board("BP. B.. B.. B.. B.. BBB")


def test_six_wins_do_not_turn() -> None:
    assert drawn(draw_roads("B" * 6 + "PP")) == board("BP BP B. B. B. B.")


def test_a_run_blocked_by_the_previous_tail_turns_above_it() -> None:
    assert drawn(draw_roads("B" * 8 + "P" * 7)) == board("BP... BP... BP... BP... BPPP. BBB..")


def test_a_turned_run_never_falls_again_past_the_tail_below_it() -> None:
    # The third run meets the tail on row 5, turns on row 4 and passes cells whose lower neighbour is free.
    shoe = "B" * 7 + "P" * 7 + "B" * 8
    assert drawn(draw_roads(shoe)) == board("BPB.... BPB.... BPB.... BPBBBBB BPPP... BB.....")


def test_a_tail_runs_under_the_columns_that_follow() -> None:
    assert drawn(draw_roads("B" * 9 + "PPBPP")) == board("BPBP BP.P B... B... B... BBBB")


def test_a_column_may_fall_beside_the_end_of_a_tail() -> None:
    assert drawn(draw_roads("B" * 7 + "PB" + "P" * 6)) == board("BPBP B..P B..P B..P B..P BB.P")


def test_tails_stacked_to_the_top_push_the_next_start_to_the_right() -> None:
    # Six tails, each above the last; the sixth lies on the top row: the seventh run starts right of its tail.
    shoe = "".join(letter * length for letter, length in zip("BPBPBPB", (14, 12, 10, 8, 6, 4, 1), strict=True))
    roads = draw_roads(shoe)
    starts = [roads.big_road_cells[i] for i in (0, 14, 26, 36, 44, 50, 54)]
    assert [(cell.column, cell.row) for cell in starts] == [(x, 0) for x in (0, 1, 2, 3, 4, 5, 9)]
    assert board("BPBPBPPPPB BPBPBBBBB. BPBPPPPPP. BPBBBBBBB. BPPPPPPPP. BBBBBBBBB.") == drawn(roads)


def test_the_bead_plate_turns_after_six_coups_ties_included() -> None:
    beads = draw_roads("BTPBTPTB").bead_plate
    assert [(bead.column, bead.row, bead.outcome) for bead in beads[4:]] == [
        (0, 4, "T"),
        (0, 5, "P"),
        (1, 0, "T"),
        (1, 1, "B"),
    ]


@pytest.mark.parametrize(
    ("shoe", "eye", "small", "pig"),
    [
        ("B", "", "", ""),
        ("BBBB", "", "", ""),  # no column to the left: a long first run says nothing
        ("BP", "", "", ""),
        ("BPP", "B", "", ""),  # row 2 beside a column of 1: m = p + 1
        ("BPPP", "BR", "", ""),  # one further down: both cells to the left are empty
        ("BBPP", "R", "", ""),
        ("BPB", "R", "", ""),  # columns 0 and 1 equally long
        ("BBPB", "B", "", ""),
        ("BPBP", "RR", "R", ""),
        ("BPBPB", "RRR", "RR", "R"),
        ("BPBPBB", "RRRB", "RRB", "RB"),
        ("BTPTBTP", "RR", "R", ""),  # ties draw no mark
    ],
)
def test_derived_roads_marked_by_hand(shoe: str, eye: str, small: str, pig: str) -> None:
    roads = draw_roads(shoe)
    assert (roads.big_eye_boy, roads.small_road, roads.cockroach_pig) == (eye, small, pig)


def test_derived_roads_read_logical_columns_not_the_grid() -> None:
    # On the grid column 0 is six high: an engine that measures there marks the seventh P blue.
    assert draw_roads("B" * 7 + "P" * 7 + "BB").big_eye_boy == "RRRRRR" + "R" + "R"


def test_text_shows_a_win_with_ties_in_lower_case() -> None:
    assert big_road_text(draw_roads("TBBTTPBBB")).split("\n") == ["bPB", "b B", "  B", "", "", ""]


# --- form ------------------------------------------------------------------------------------


def test_json_has_exactly_the_keys_and_shapes_of_the_command() -> None:
    assert json.loads(json.dumps(draw_roads("TBPPT").to_json())) == {
        "big_road": [["B", 1], ["P", 2]],
        "big_road_cells": [[0, 0, "B", 1], [1, 0, "P", 0], [1, 1, "P", 1]],
        "bead_plate": [[0, 0, "T"], [0, 1, "B"], [0, 2, "P"], [0, 3, "P"], [0, 4, "T"]],
        "columns": ["-B", "PP-"],
        "big_eye_boy": "B",
        "small_road": "",
        "cockroach_pig": "",
    }


def test_json_equals_what_a_json_reader_gets_back() -> None:
    document = draw_roads("BPTB").to_json()
    assert json.loads(json.dumps(document)) == document


def test_text_and_sequence_are_read_alike() -> None:
    assert draw_roads(["B", "T", "P"]) == draw_roads("BTP")
    assert parse_outcomes("BTP") == ("B", "T", "P")


def test_roads_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        draw_roads("B").small_road = "R"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("outcomes", "position"),
    [
        ("b", 0),
        ("BPx", 2),
        ("BP T", 2),
        ("BPT\n", 3),
        (" BPT", 0),
        ("BPT-", 3),
        ("B,P", 1),
        ("0BP", 0),
        ("ＢP", 0),  # a full-width letter
        ("Bр", 1),  # a Cyrillic letter
        (["B", "BP"], 1),
        (["B", ""], 1),
        (["player"], 0),
        (["B", "P", None], 2),
        ([["B"]], 0),
    ],
)
@pytest.mark.parametrize("read", [parse_outcomes, draw_roads])
def test_anything_else_is_refused_at_its_position(read, outcomes, position: int) -> None:
    with pytest.raises(InputError, match=rf"^outcome {position}: expected B, P or T, got "):
        read(outcomes)
