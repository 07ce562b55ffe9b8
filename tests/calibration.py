"""Every named check of the battery on sound shoes and bits that are not ours: how often p is small.

Shoes are shuffled and bits drawn by numpy's PCG64 and dealt by the bulk dealer of tests/reference; counting and judging
are the battery's own. Run as ``python -m tests.calibration``; the table of audit/METHODS.md is made so, in some
minutes on two cores.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from functools import cache, partial
from itertools import chain
from math import ceil
from multiprocessing import get_context
from typing import Final

import numpy as np
from scipy.stats import binom, binomtest

from audit.battery import BATTERY, PATHS, PathName, Sizes, checks_for, judge_all
from audit.block import Block
from audit.cells import CELLS
from audit.checks.bits import SP80022, BitTest
from audit.checks.bits.second_level import add_up_bits, judge_bits, tally_bits
from audit.checks.shuffles import duplicate_shoes
from audit.counts import Dealt, PathCounts, RunCounts
from audit.draw_counts import count_draws, draws_of
from audit.engine import KERNEL
from audit.multiple import holm
from audit.replay import replay_pair
from audit.shuffle_counts import count_shuffles
from shoe.game.rules import Rules
from tests.audit.plans import EIGHT_DECKS, ONE_DECK
from tests.reference import bulk_dealer

P = dict[str, float]
Seed = tuple[int, ...]

LEVELS: Final = (0.05, 0.01)
COLLECTIVE: Final = 0.01
CHECKED: Final = tuple(name for name in BATTERY if name not in ("pair_classes", "bet_returns"))
"""The checks of the tables run here: those two are of tables that pay on pairs, or otherwise than most houses."""

MOST_FAILING: Final = 21
"""Of 1,000 runs that fail with probability .01 each, more than 21 do once in 2,000."""

SEQUENCE: Final = 387_840
"""The fewest bits that all fifteen tests take."""

CERTAIN: Final = ("structural_zeros", "replay", "tableau_cells")
"""Checks that ask for a certainty: p is 1 of sound shoes, always."""

ONE_SIDED: Final = (
    "runs",
    "duplicate_shoes",
    "fixed_points",
    "neighbours_kept",
    "fresh_order",
    *(f"bits_{name}" for name in SP80022),
)
"""Checks whose p has few values or is corrected for a family by Bonferroni: p is held from below only."""


# --- one run ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """What one run deals on one path: a table and sizes."""

    rules: Rules
    sizes: Sizes


ONE: Final = Scene(ONE_DECK, Sizes(shoes=914, sampled=260, sequences=0, replayed=0))
"""7,312 judged coups: every joint total is expected 5 times. 5 orders a card. The least that has every check."""

ONE_WITH_BITS: Final = Scene(ONE_DECK, Sizes(shoes=914, sampled=260, sequences=1, replayed=2))
EIGHT: Final = Scene(EIGHT_DECKS, Sizes(shoes=120, sampled=120, sequences=0, replayed=0))
"""8,280 judged coups."""


def generator_of(seed: Seed) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


def path_counts(scene: Scene, generator: np.random.Generator) -> PathCounts:
    """Shuffle, deal and count one path's sample."""
    sizes, rules = scene.sizes, scene.rules
    orders = generator.permuted(np.tile(np.arange(rules.size, dtype=np.uint16), (sizes.shoes, 1)), axis=1)
    sample = orders[: sizes.sampled]
    bits = (generator.integers(0, 2, SEQUENCE, dtype=np.uint8) for _ in range(sizes.sequences))
    return PathCounts(
        dealt=Dealt.of(block_of(orders, rules), 0),
        shuffles=count_shuffles(sample),
        draws=count_draws(draws_of(sample)),
        bits=add_up_bits(map(tally_bits, bits)) if sizes.sequences else None,
        replayed=replay_pair(rules, generator.bytes(32), 0, KERNEL) if sizes.replayed else None,
    )


def block_of(orders: np.ndarray, rules: Rules) -> Block:
    """Deal coups 1…K of every shoe and count them; later coups are not judged, and not dealt here."""
    shoes, judged = len(orders), rules.judged_coups
    cards = np.zeros((shoes, rules.size + bulk_dealer.SPARE), dtype=np.int8)
    cards[:, : rules.size] = bulk_dealer.POINTS[orders % 13]
    codes = bulk_dealer.judged(cards, judged)
    outcomes = bulk_dealer.outcomes(codes).astype(np.int64)
    wins = np.zeros((judged + 1, judged + 1), np.int64)
    np.add.at(wins, ((outcomes == 1).sum(axis=1), (outcomes == 0).sum(axis=1)), 1)
    cells = np.bincount(cell_places()[codes.ravel()], minlength=len(CELLS))
    return Block(
        shoes=shoes,
        judged_cells=cells,
        all_cells=cells,
        coups_per_shoe=np.bincount([judged] * shoes, minlength=rules.size // 4 + 3),
        wins=wins,
        runs=runs_of(outcomes),
        pairs=np.bincount((3 * outcomes[:, :-1] + outcomes[:, 1:]).ravel(), minlength=9),
        first=np.bincount(outcomes[:, 0], minlength=3),
        last=np.bincount(outcomes[:, -1], minlength=3),
        same_place=np.bincount((3 * outcomes[: shoes // 2 * 2 : 2] + outcomes[1::2]).ravel(), minlength=9),
        order_hashes=hashes_of(orders),
    )


@cache
def cell_places() -> np.ndarray:
    """The place in `CELLS` of each code of the bulk dealer; −1 of codes that no coup has."""
    places = np.full(bulk_dealer.CODES, -1)
    for place, cell in enumerate(CELLS):
        joint = 30 * cell.player_total + 3 * cell.banker_total + cell.cards - 4
        places[bulk_dealer.JOINT * bulk_dealer.RULES.index(cell.rule) + joint] = place
    return places


def runs_of(outcomes: np.ndarray) -> int:
    """Runs of equal winners in every shoe, ties left out."""
    last, runs = np.full(len(outcomes), 2), 0
    for column in outcomes.T:
        runs += int(((column != 2) & (column != last)).sum())
        last = np.where(column == 2, last, column)
    return runs


def hashes_of(orders: np.ndarray) -> np.ndarray:
    """A hash of each order, by multipliers that are odd and random."""
    factors = generator_of((0,)).integers(0, 2**63, orders.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    return (orders.astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)


def path_p(scene: Scene, seed: Seed, path: PathName = "batch") -> P:
    """The p of every check that the sizes allow, under the plan's names."""
    counts = path_counts(scene, generator_of(seed))
    names = checks_for(scene.rules, {"batch": NONE, "production": NONE, path: scene.sizes})
    run = RunCounts(batch=counts) if path == "batch" else RunCounts(production=counts)
    return {result.name: result.p for result in judge_all(names, run, scene.rules)}


NONE: Final = Sizes(0, 0, 0, 0)


# --- replications ---------------------------------------------------------------------------------

SEQUENCES: Final = 60
COSTLY: Final = {"spectral": 200, "universal": 200, "linear_complexity": 50}
"""Fewer replications where a sequence takes milliseconds."""

SHORT: Final = 10_000
LENGTHS: Final = {name: max(test.least, SHORT) for name, test in SP80022.items()} | {"spectral": 100_000}
"""Bits of a sequence at the second level: of fewer, some p-values have too few values to lie evenly."""

MILLION: Final = 10**6
SHUFFLES: Final = 3_000


@dataclass(frozen=True)
class Sizing:
    """How often each kind of run is replicated: `runs` of the whole battery are the first ones of `shoes`."""

    shoes: int
    runs: int
    eight_decks: int
    second_level: int
    duplicates: int


FULL: Final = Sizing(shoes=10_000, runs=1_000, eight_decks=1_000, second_level=500, duplicates=10_000)

Work = tuple[str, int]


def work_of(sizing: Sizing) -> Iterator[Work]:
    """Kind and number of every replication; the costly ones come first."""
    for test in SP80022:
        yield from ((test, number) for number in range(min(sizing.second_level, COSTLY.get(test, sizing.second_level))))
    yield from (("one deck", number) for number in range(sizing.shoes))
    yield from (("eight decks", number) for number in range(sizing.eight_decks))
    yield from (("duplicates", number) for number in range(sizing.duplicates))


def replicate(with_bits: int, work: Work) -> P:
    """Do one replication: a function of its kind and number. Path runs below `with_bits` have bits and a replay."""
    kind, number = work
    seed = (SEEDS[kind], number)
    if kind == "one deck":
        path = PATHS[number % 2]
        return path_p(ONE_WITH_BITS if number < with_bits else ONE, seed, path)
    if kind == "eight decks":
        return path_p(EIGHT, seed)
    if kind == "duplicates":
        hashes = generator_of(seed).integers(0, MILLION, SHUFFLES, dtype=np.uint64)
        return {"duplicate_shoes": duplicate_shoes(hashes, MILLION).p}
    return second_level_p(SP80022[kind], generator_of(seed))


def second_level_p(test: BitTest, generator: np.random.Generator) -> P:
    """60 sequences, as one check."""
    rows = generator.integers(0, 2, (SEQUENCES, LENGTHS[test.name]), dtype=np.uint8)
    (result,) = judge_bits(add_up_bits(tally_bits(row, {test.name: test}) for row in rows))
    return {result.name: result.p}


SEEDS: Final = {kind: 1 + place for place, kind in enumerate(("one deck", "eight decks", "duplicates", *SP80022))}


# --- what came of them --------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One check in one kind of run: replications, and how many p were at most each level."""

    kind: str
    check: str
    replications: int
    rejected: tuple[int, ...]

    def binomial_p(self) -> list[float]:
        """The exact p of each number of rejections: two-sided, or the upper tail where p has few values."""
        pairs = zip(self.rejected, LEVELS, strict=True)
        if self.check in (*ONE_SIDED, *CERTAIN):
            return [float(binom.sf(k - 1, self.replications, level)) for k, level in pairs]
        return [binomtest(k, self.replications, level).pvalue for k, level in pairs]


@dataclass(frozen=True)
class Calibration:
    """All lines, and the whole-battery runs of which Holm's rule rejected something."""

    lines: tuple[Line, ...]
    checks: int
    runs: int
    failed: int

    def miscalibrated(self) -> tuple[str, ...]:
        """Name what Holm at .01 rejects over all pairs of line and level."""
        p = {
            f"{line.kind}, {line.check} at {level}": value
            for line in self.lines
            for level, value in zip(LEVELS, line.binomial_p(), strict=True)
        }
        return holm(p).rejected


def calibrate(sizing: Sizing, processes: int = 2) -> Calibration:
    """Replicate on so many processes; the result does not depend on their number."""
    work = list(work_of(sizing))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # small matrices, and every core has a process of its own
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as executor:
        chunk = max(1, min(50, ceil(len(work) / processes / 8)))
        found = list(executor.map(partial(replicate, 2 * sizing.runs), work, chunksize=chunk))
    by_kind: dict[str, list[P]] = {}
    for (kind, _), p in zip(work, found, strict=True):
        by_kind.setdefault(kind, []).append(p)
    battery = by_kind["one deck"][: 2 * sizing.runs]
    together = [{**a, **b} for a, b in zip(battery[::2], battery[1::2], strict=True)]
    return Calibration(
        lines=tuple(chain.from_iterable(lines_of(kind, ps) for kind, ps in by_kind.items())),
        checks=len(together[0]),
        runs=len(together),
        failed=sum(not holm(p).passed for p in together),
    )


def lines_of(kind: str, replications: list[P]) -> Iterator[Line]:
    """Count rejections of each check; both paths of one deck are one."""
    total: Counter[str] = Counter()
    rejected: dict[str, Counter[str]] = {str(level): Counter() for level in LEVELS}
    for p in replications:
        for name, value in p.items():
            check = name.removeprefix("batch_").removeprefix("production_")
            total[check] += 1
            for level in LEVELS:
                rejected[str(level)][check] += value <= level
    for check in (name for name in BATTERY if name in total):
        yield Line(kind, check, total[check], tuple(rejected[str(level)][check] for level in LEVELS))


# --- the table ----------------------------------------------------------------------------------

HEADER: Final = """\
| check | R | ≤ .05 | ≤ .01 | least p | besides | R | ≤ .05 | ≤ .01 | least p |
|---|---|---|---|---|---|---|---|---|---|"""


def table(calibration: Calibration) -> Iterator[str]:
    """Print a row for each check, one deck first, as Markdown; `*` marks binomial p taken from above alone."""
    yield HEADER
    for check in CHECKED:
        one, *more = sorted((line for line in calibration.lines if line.check == check), key=_after_one_deck)
        for place, line in enumerate(more or [None]):
            first = cells(one) if place == 0 else [""] * 4
            beside = ["", *[""] * 4] if line is None else [words(line.kind), *cells(line)]
            yield f"| {' | '.join([check, *first, *beside])} |"


def _after_one_deck(line: Line) -> bool:
    return line.kind != "one deck"


def cells(line: Line) -> list[str]:
    mark = "*" if line.check in (*ONE_SIDED, *CERTAIN) else ""
    rates = [f"{k / line.replications:.4f}" for k in line.rejected]
    return [f"{line.replications:,}", *rates, f"{min(line.binomial_p()):.3f}{mark}"]


def words(kind: str) -> str:
    """Say what was dealt besides single decks."""
    if kind in LENGTHS:
        return f"{SEQUENCES} × {LENGTHS[kind]:,} bits"
    return {"eight decks": "8 decks", "duplicates": f"{SHUFFLES:,} of 10⁶ orders"}[kind]


def main(arguments: list[str], say: Callable[[str], None] = print) -> None:
    """Calibrate with the full numbers, or so many times fewer as the first argument says."""
    by = int(arguments[0]) if arguments else 1
    sizing = Sizing(*(max(value // by, 2) for value in astuple(FULL)))
    calibration = calibrate(sizing)
    for row in table(calibration):
        say(row)
    smallest = min(p for line in calibration.lines for p in line.binomial_p())
    say(f"\n{2 * len(calibration.lines)} pairs of line and level; the smallest binomial p is {smallest:.2g}.")
    say(f"Holm at .01 rejects: {', '.join(calibration.miscalibrated()) or 'none'}.")
    say(f"Whole battery of {calibration.checks} checks: {calibration.failed} of {calibration.runs} runs fail.")


if __name__ == "__main__":
    main(sys.argv[1:])
