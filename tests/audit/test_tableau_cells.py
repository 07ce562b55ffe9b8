"""Every decision of the tableau against the printed chart; each of them can be got wrong, and is seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import inf

import numpy as np
import pytest

from audit.checks.tableau_cells import CHART, Decision, decisions_of, tableau_cells
from shoe.errors import InputError
from shoe.game.tableau import Coup, play_coup
from tests.reference import tableau_reference


def by_chart() -> dict[tuple[str, int, int | None], bool]:
    """The chart as it is printed, and the player's rule in words: draws on 0–5, stands on 6 and 7."""
    expected: dict[tuple[str, int, int | None], bool] = {}
    for total, row in tableau_reference.CHART.items():
        expected["player", total, None] = total <= 5
        for third, letter in enumerate(row.split()):
            expected["banker", total, third if third < 10 else None] = letter == "D"
    for player in range(10):
        for banker in range(10):
            if 8 in (player, banker) or 9 in (player, banker):
                expected["natural", player, banker] = False
    return expected


def test_chart_is_the_printed_one_cell_by_cell() -> None:
    assert by_chart() == CHART
    assert Counter(side for side, _, _ in CHART) == {"player": 8, "banker": 88, "natural": 36}


def dealt(coups: int, seed: int = 1) -> list[Coup]:
    generator = np.random.Generator(np.random.PCG64(seed))
    return [play_coup(row) for row in generator.integers(0, 52, (coups, 6)).tolist()]


@pytest.fixture(scope="module")
def decisions() -> Counter[Decision]:
    return decisions_of(dealt(20_000))


def test_honest_coups_pass_and_reach_every_cell(decisions: Counter[Decision]) -> None:
    result = tableau_cells(decisions)
    assert (result.p, result.statistic, result.effect) == (1.0, 0.0, 0.0)
    assert len(result.items) == 132
    assert all(item.observed == item.expected > 0 and item.deviation == 0 for item in result.items)
    assert result.n == sum(decisions.values())


@pytest.mark.parametrize("cell", CHART, ids=str)
def test_one_wrong_decision_in_any_cell_fails_by_itself(
    cell: tuple[str, int, int | None], decisions: Counter[Decision]
) -> None:
    wrong = Decision(*cell, not by_chart()[cell])
    result = tableau_cells(decisions + Counter([wrong]))
    assert (result.p, result.p_text, result.statistic) == (0.0, "<1e-300", 1.0)
    (item,) = (item for item in result.items if item.deviation)
    assert item.deviation == -inf
    assert item.expected == item.observed + 1
    assert item.label.startswith(f"{cell[0]} {cell[1]}")


def test_cells_that_never_came_are_listed_with_nothing() -> None:
    result = tableau_cells(decisions_of([play_coup([0, 1, 7, 8, 12, 12])]))  # naturals 9 and 1+... : ace-8, two-9
    assert sum(item.expected for item in result.items) == 1
    assert Counter(item.expected for item in result.items)[Fraction(0)] == 131


def test_decisions_are_read_off_the_cards_alone() -> None:
    """A coup whose totals, outcome and rule class are all wrong has the decisions of its cards."""
    coup = play_coup([0, 1, 1, 2, 3, 4])  # ace and two: 3; two and three: 5; third card a four
    lied = replace(coup, player_total=9, banker_total=9, outcome="tie", rule="both_natural")
    assert decisions_of([lied]) == decisions_of([coup])
    assert decisions_of([coup]) == Counter([Decision("player", 3, None, True), Decision("banker", 5, 4, True)])


def test_a_banker_who_stood_wrongly_is_seen_in_the_first_coup() -> None:
    coup = play_coup([0, 1, 1, 2, 3, 4])
    stood = replace(coup, cards=coup.cards[:5], banker_cards=coup.banker_cards[:2])
    result = tableau_cells(decisions_of([stood]))
    assert result.p == 0
    assert [item.label for item in result.items if item.deviation] == ["banker 5, third 4: draws"]


def test_a_card_drawn_on_a_natural_is_seen() -> None:
    coup = play_coup([0, 1, 7, 3, 12, 12])  # 9 against 6
    drew = replace(coup, cards=(0, 1, 7, 3, 12), banker_cards=(1, 3, 12))
    assert decisions_of([drew]) == Counter([Decision("natural", 9, 6, True)])
    assert tableau_cells(decisions_of([drew])).p == 0


def test_no_decisions_are_refused() -> None:
    with pytest.raises(InputError, match=r"^decisions: expected 1 or more decisions, got 0$"):
        tableau_cells({})


@pytest.mark.parametrize(
    "decision",
    [
        Decision("player", 8, None, False),
        Decision("player", 3, 4, True),
        Decision("banker", 9, 1, False),
        Decision("banker", 3, 10, True),
        Decision("natural", 7, 7, False),
        Decision("dealer", 3, None, True),
    ],
)
def test_decisions_of_no_cell_are_refused(decision: Decision) -> None:
    with pytest.raises(InputError, match=r"^decisions: expected a cell of the tableau, got Decision"):
        tableau_cells({decision: 1})
