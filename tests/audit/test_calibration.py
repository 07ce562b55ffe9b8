"""What calibrates is itself right: its shoes are counted as the kernel's, and a check that is off is named."""

from __future__ import annotations

import pytest

from audit.battery import BATTERY, PATHS
from audit.engine import KERNEL
from shoe.game.rules import Rules
from tests.audit.plans import EIGHT_DECKS, ONE_DECK
from tests.calibration import (
    CHECKED,
    EIGHT,
    LEVELS,
    ONE,
    ONE_SIDED,
    ONE_WITH_BITS,
    Calibration,
    Line,
    Sizing,
    block_of,
    calibrate,
    hashes_of,
    lines_of,
    path_p,
    replicate,
    work_of,
)

KEY = bytes(range(32))
SMALL = Sizing(shoes=4, runs=2, eight_decks=1, second_level=1, duplicates=2)


@pytest.mark.parametrize("rules", [ONE_DECK, EIGHT_DECKS])
def test_orders_are_dealt_and_counted_as_the_kernel_does(rules: Rules) -> None:
    """Two roads: the reference's bulk dealer, and the kernel on the same orders."""
    ours = block_of(KERNEL.orders(rules, KEY, range(101)), rules)
    kernel = KERNEL.deal_block(rules, KEY, 0, 101)
    for name in ("judged_cells", "wins", "pairs", "first", "last", "same_place"):
        assert (getattr(ours, name) == getattr(kernel, name)).all(), name
    assert (ours.runs, ours.shoes) == (kernel.runs, 101)


def test_hashes_tell_orders_apart() -> None:
    orders = KERNEL.orders(ONE_DECK, KEY, range(1000))
    assert len(set(hashes_of(orders).tolist())) == 1000
    assert (hashes_of(orders[[3, 3]]) == hashes_of(orders)[3]).all()


@pytest.mark.slow
def test_a_path_run_has_every_check_of_the_battery() -> None:
    assert list(path_p(ONE_WITH_BITS, (1,), "production")) == [f"production_{name}" for name in CHECKED]
    missing = {name for name in CHECKED if name.startswith("bits_")} | {"replay", "tableau_cells"}
    assert set(path_p(ONE, (1,))) == {f"batch_{name}" for name in CHECKED if name not in missing}
    assert set(path_p(EIGHT, (1,))) == set(path_p(ONE, (1,))) - {"batch_worst_position"}


def test_a_replication_is_a_function_of_its_number() -> None:
    once, again, other = (replicate(0, ("duplicates", number)) for number in (5, 5, 6))
    assert once == again != other
    seeds = {(kind, number) for kind, number in work_of(SMALL)}
    assert len(seeds) == 4 + 1 + 15 + 2


@pytest.mark.slow
def test_runs_of_both_paths_are_judged_together_whatever_the_number_of_processes() -> None:
    one, two = calibrate(SMALL, processes=1), calibrate(SMALL, processes=2)
    assert one == two
    assert (one.checks, one.runs) == (len(PATHS) * len(CHECKED), 2)
    assert {line.replications for line in one.lines if line.check == "runs" and line.kind == "one deck"} == {4}


def calibration(check: str, rejected: tuple[int, int], sound: int = 100) -> Calibration:
    lines = [Line("one deck", f"sound_{place}", 10_000, (500, 100)) for place in range(sound)]
    return Calibration((*lines, Line("one deck", check, 10_000, rejected)), 1, 1, 0)


@pytest.mark.parametrize("rejected", [(600, 100), (500, 146), (405, 100), (500, 58), (10_000, 10_000), (0, 0)])
def test_a_check_that_is_off_is_named(rejected: tuple[int, int]) -> None:
    named = calibration("cycles", rejected).miscalibrated()
    assert named
    assert all(name.startswith("one deck, cycles at 0.0") for name in named)


@pytest.mark.parametrize("rejected", [(500, 100), (560, 120), (445, 82)])
def test_chance_is_no_fault(rejected: tuple[int, int]) -> None:
    assert calibration("cycles", rejected).miscalibrated() == ()


def test_few_values_may_reject_too_seldom_but_not_too_often() -> None:
    assert calibration("runs", (0, 0)).miscalibrated() == ()
    assert calibration("runs", (620, 100)).miscalibrated() == ("one deck, runs at 0.05",)
    assert calibration("structural_zeros", (0, 0)).miscalibrated() == ()
    assert set(ONE_SIDED) <= set(BATTERY)


def test_rejections_are_counted_at_both_levels_and_over_both_paths() -> None:
    p = [{"batch_runs": 0.05, "batch_cycles": 0.2}, {"production_runs": 0.01}, {"batch_runs": 0.0500001}]
    assert LEVELS == (0.05, 0.01)
    assert list(lines_of("one deck", p)) == [
        Line("one deck", "runs", 3, (2, 1)),
        Line("one deck", "cycles", 1, (0, 0)),
    ]
