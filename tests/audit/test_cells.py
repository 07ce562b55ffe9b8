"""The cells' order and the coup table, against the exact enumeration and the printed chart (`tableau_reference`)."""

from __future__ import annotations

from collections import Counter

import pytest

from audit.cells import CELL_INDEX, CELLS, cell_of, coup_table
from audit.exact import exact_odds
from shoe.game.tableau import OUTCOMES, play_coup
from tests.reference import tableau_reference

ENTRIES = [tuple(int(digit) for digit in f"{entry:04}") for entry in range(10_000)]


@pytest.mark.parametrize("decks", [1, 8])
def test_the_cells_are_those_of_the_exact_enumeration(decks: int) -> None:
    assert list(CELLS) == sorted(exact_odds(decks).cells)


def test_the_table_reaches_every_cell() -> None:
    assert set(coup_table()[:, 0].tolist()) == set(range(len(CELLS)))


def test_there_are_514_of_them_in_198_joint_cells() -> None:
    assert len(CELLS) == len(set(CELLS)) == 514
    assert len({(cell.player_total, cell.banker_total, cell.cards) for cell in CELLS}) == 198  # audit.md's number


def test_the_index_finds_each_cell() -> None:
    assert [CELLS[CELL_INDEX[cell]] for cell in CELLS] == list(CELLS)


def test_every_entry_is_the_printed_chart_s() -> None:
    for (player, banker, third, last), (place, used, outcome) in zip(ENTRIES, coup_table().tolist(), strict=True):
        chart = tableau_reference.coup((player, banker, 0, 0, third, last))
        cell = CELLS[place]
        assert (used, cell.player_total, cell.banker_total, OUTCOMES[outcome], cell.rule) == chart
        assert (cell.cards, cell.outcome) == (used, OUTCOMES[outcome])


def test_the_sides_cards_follow_from_the_rule_class() -> None:
    for cell in CELLS:
        assert cell.player_cards == (3 if cell.rule.startswith("t") else 2)
        assert cell.banker_cards == (3 if cell.rule.endswith("draws") else 2)


def test_cards_that_are_not_drawn_do_not_matter() -> None:
    """A four-card coup has the same entry whatever follows, a five-card one whatever the sixth card is."""
    by_cards: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for digits, row in zip(ENTRIES, coup_table().tolist(), strict=True):
        by_cards.setdefault(digits[: row[1] - 2], set()).add(tuple(row))
    assert {len(rows) for rows in by_cards.values()} == {1}
    assert Counter(len(cards) for cards in by_cards)[2] == 36 + 4  # naturals, and both sides on 6 or 7


def test_a_dealt_coup_finds_its_cell() -> None:
    assert cell_of(play_coup([8, 0, 9, 9, 1, 1])) == ("player_natural", 2, 2, 9, 1)  # 9 A T T: nine against one


def test_the_shared_table_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        coup_table()[0, 0] = 1
