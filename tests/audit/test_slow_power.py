"""The sample that a fault needs: measured on real shoes dealt by a faulty chart, beside theory."""

from __future__ import annotations

import pytest

from audit.faults import honest_law
from audit.power import effect
from tests.audit.power_by_simulation import FAULTS, LEVEL, POWER, dealt_need, drawn_need, first_impossible, joint_effect

pytestmark = pytest.mark.slow

DEALT = [
    "banker_3_draws_against_8",
    "banker_6_never_draws",
    "banker_3_stands_against_0",
    "banker_5_draws_against_0",
    "banker_6_draws_against_stood",
    "banker_7_draws_against_stood",
    "banker_3_stands_against_6",
    "banker_0_stands_against_0",
    "player_4_stands",
    "player_5_stands",
    "player_0_stands",
    "player_6_draws",
]
SHOES = ["endless_shoe", "6_decks", "one_0_missing", "one_4_missing", "one_9_missing"]


FLIPS = [name for name in FAULTS if name not in SHOES and name.startswith(("banker", "player"))]


def needed(name: str) -> tuple[int, float]:
    """The need by moments, and how far from it a measured one may lie.

    Eight parts of a hundred are half theory, half chance. Where a few rare cells carry the effect, so that it spreads
    much more than the null does, the statistic is skew and a normal law rough.
    """
    theory = joint_effect(FAULTS[name])
    need = theory.need_by_moments(LEVEL, POWER)
    assert need is not None
    return need, 0.08 if theory.spread < 5 * theory.noncentrality else 0.15


@pytest.mark.parametrize("name", DEALT)
def test_a_flipped_cell_is_caught_on_real_shoes_with_the_sample_that_theory_names(name: str) -> None:
    need, tolerance = needed(name)
    assert dealt_need(FAULTS[name], need) == pytest.approx(need, rel=tolerance)


@pytest.mark.parametrize("name", FLIPS)
def test_every_flipped_cell_is_caught(name: str) -> None:
    """By χ² with the sample that theory names; and by its first impossible coup, where it leaves any."""
    need, tolerance = needed(name)
    assert drawn_need(FAULTS[name], need) == pytest.approx(need, rel=tolerance)
    certain = effect(honest_law(8), FAULTS[name].law()).impossible_need(POWER)
    if certain is not None:
        assert first_impossible(FAULTS[name]) == pytest.approx(certain, rel=0.2)


@pytest.mark.parametrize("name", SHOES)
def test_a_wrong_shoe_is_caught_with_the_sample_that_theory_names(name: str) -> None:
    need, _ = needed(name)
    assert drawn_need(FAULTS[name], need) == pytest.approx(need, rel=0.05)
    assert joint_effect(FAULTS[name]).need(LEVEL, POWER) == pytest.approx(need, rel=0.03)
