"""The faults that public baccarat engines are reported to have, each by name, with the test that shows it is not here.

Beside each test stands the fault, made on purpose in a copy of the code: there the test must fail.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
TESTS = "tests/shoe/test_engine_faults.py::"


class Fault(NamedTuple):
    """A module, what it says, what an engine with the fault has in its place, and the test."""

    module: str
    right: str
    wrong: str
    test: str


REPORTED = {
    "banker 6 tested against the player's total": Fault(
        "tableau.py",
        "and banker_draws(banker_total, third):",
        "and banker_draws(banker_total, _total(player) if third is not None and banker_total == 6 else third):",
        "tests/shoe/test_tableau.py::test_banker_6_looks_at_the_third_card_not_at_the_players_total",
    ),
    "pairs missed when a third card comes": Fault(
        "bets/shown.py",
        "if one[0] != other[0]:",
        "if one[0] != other[0] or len(cards) == 3:",
        TESTS + "test_a_pair_is_seen_though_a_third_card_comes",
    ),
    "tie taken as a loss": Fault(
        "bets/settling.py",
        "if pay is None:",
        'if pay is None or (shown.outcome == "tie" and bet.name != "tie"):',
        TESTS + "test_a_tie_is_no_loss_of_a_bet_on_a_side",
    ),
    "int(.95·bet)": Fault(
        "bets/settling.py",
        "part = rounded(winnings * bet.commission_bp, _BASIS_POINTS, money.rounding)",
        "part = winnings - int(0.95 * winnings)",
        TESTS + "test_commission_is_no_float_cut_off",
    ),
    "both pairs paid once": Fault(
        "bets/events.py",
        'lambda shown: shown.banker_pair != "none"),',
        'lambda shown: shown.player_pair == "none" != shown.banker_pair),',
        TESTS + "test_pairs_of_both_sides_are_paid_each",
    ),
    "a leading tie lost from the road": Fault(
        "roads.py",
        "letters = parse_outcomes(outcomes)",
        'letters = parse_outcomes("".join(outcomes).lstrip("T"))',
        TESTS + "test_a_leading_tie_is_on_the_roads",
    ),
    "refill in mid-coup": Fault(
        "dealing.py",
        "play_coup(cards[progress.position : progress.position + 6])",
        "play_coup([*cards[progress.position : len(cards) - 3], *cards][:6])",
        TESTS + "test_no_coup_takes_cards_from_a_refilled_shoe",
    ),
}


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the game, and of its tests."""
    folder = tmp_path_factory.mktemp("copied")
    for part in ("shoe", "tests/shoe", "tests/reference", "tests/vectors"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def run(copied: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copied)}
    return subprocess.run(command, cwd=copied, env=environment, capture_output=True, text=True, check=False)


def test_the_right_code_passes_in_a_copy(copied: Path) -> None:
    ran = run(copied, *(fault.test for fault in REPORTED.values()))
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", REPORTED)
def test_a_reported_fault_is_seen_by_its_test(copied: Path, name: str) -> None:
    fault = REPORTED[name]
    module = copied / "shoe/game" / fault.module
    right = module.read_text(encoding="utf-8")
    assert right.count(fault.right) == 1
    module.write_text(right.replace(fault.right, fault.wrong), encoding="utf-8")
    try:
        ran = run(copied, fault.test)
    finally:
        module.write_text(right, encoding="utf-8")
    assert ran.returncode == 1, ran.stdout + ran.stderr  # 1: tests failed; 2 and more: they could not be run
    assert "ERROR" not in ran.stdout
