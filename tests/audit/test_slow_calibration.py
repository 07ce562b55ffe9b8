"""Kept honest: on sound shoes that are not ours every check rejects as often as it says, and the battery seldom."""

from __future__ import annotations

import pytest

from audit.checks.bits import SP80022
from tests.calibration import CHECKED, FULL, MOST_FAILING, Calibration, calibrate

pytestmark = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def calibration() -> Calibration:
    """Seeds are fixed in tests/calibration.py; none other was tried."""
    return calibrate(FULL)


def test_every_check_of_the_battery_is_replicated(calibration: Calibration) -> None:
    replications = {line.check: line.replications for line in calibration.lines if line.kind == "one deck"}
    assert set(replications) == set(CHECKED)
    for check, count in replications.items():
        rare = check.startswith("bits_") or check in ("replay", "tableau_cells")
        assert count == (2 * FULL.runs if rare else 10_000), check
    assert {line.kind for line in calibration.lines} == {"one deck", "eight decks", "duplicates", *SP80022}


def test_no_check_rejects_sound_shoes_more_or_less_often_than_it_says(calibration: Calibration) -> None:
    """Exact binomial p of each (check, level .05, .01), from above where p has few values; Holm at .01 over all."""
    assert calibration.miscalibrated() == ()


def test_the_whole_battery_fails_at_most_21_of_1000_sound_runs(calibration: Calibration) -> None:
    """Binomial: of runs that fail with probability .01 each, more than 21 of 1,000 fail once in 2,000."""
    assert (calibration.checks, calibration.runs) == (2 * len(CHECKED), 1000)
    assert calibration.failed <= MOST_FAILING
