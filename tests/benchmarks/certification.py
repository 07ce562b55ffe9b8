"""Certification beside a C program, two workers beside one, lazy dealing beside full shuffles, and memory.

Programs are timed from outside: a small and a large run, wall time of the whole process, the one taken from the other,
so that starting, compiling and importing drop out. Every round times all of them, one after the other; what is printed
is the median of the rounds' ratios. ``python -m tests.benchmarks.certification SHOES WORKERS`` is the program timed.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np

from audit.block import Block
from audit.kernel import deal_block, orders, prepare
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.rules import Rules

SMALL, LARGE, ROUNDS = 400_000, 2_000_000, 5
BLOCK = 200_000
KEY = bytes(range(32))
REFERENCE = Path(__file__).with_name("reference.c")
EACH_COUP = Rules("none", 1, None, 8, "house", "drawn_in", "coup")


def certification() -> None:
    """Print the speed and memory of certification, as ratios."""
    if shutil.which("gcc") is None:
        sys.stdout.write("certification: no gcc to compile the C reference with, not timed\n")
        return
    prepare(lambda text: sys.stdout.write(text + "\n"))
    with _reference() as reference:
        rounds = [_round(reference) for _ in range(ROUNDS)]
    c, one, two = (statistics.median(seconds) for seconds in zip(*rounds, strict=True))
    _line(
        "certify an 8-deck table, a shoe, one core", one, f"{_ratio(rounds, 0, 1):.2f} × the C reference ({c:.2f} µs)"
    )
    _line("the same on two workers", two, f"{_ratio(rounds, 1, 2):.2f} × one")
    full, lazy = _per_coup()
    _line("a coup shuffled for itself, dealt lazily", lazy, f"{full / lazy:.1f} × a full shuffle each ({full:.2f} µs)")
    grown = (_memory(LARGE) - _memory(SMALL)) / (LARGE - SMALL)
    sys.stdout.write(f"{'memory per shoe beyond the first ones':<46} {grown:9.2f} bytes, 8 of them the order's hash\n")


@contextmanager
def _reference() -> Iterator[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "reference")
        subprocess.run(["gcc", "-O3", "-march=native", "-o", program, str(REFERENCE)], check=True)
        yield [program]


def _round(reference: list[str]) -> tuple[float, float, float]:
    """µs a shoe of the C program, of one worker, of two."""
    ours = [sys.executable, "-m", "tests.benchmarks.certification"]
    return _per_shoe_us(reference), _per_shoe_us(ours, "1"), _per_shoe_us(ours, "2")


def _per_shoe_us(program: list[str], *further: str) -> float:
    small, large = (_outside_s([*program, str(shoes), *further]) for shoes in (SMALL, LARGE))
    return (large - small) / (LARGE - SMALL) * 1e6


def _outside_s(command: list[str]) -> float:
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - start


def _ratio(rounds: list[tuple[float, float, float]], yardstick: int, what: int) -> float:
    return statistics.median(seconds[yardstick] / seconds[what] for seconds in rounds)


def _per_coup() -> tuple[float, float]:
    """µs of a whole shuffle, and of a coup dealt lazily, each the best of several runs in turn."""
    shuffles, coups, best = range(2_000), 100_000, [float("inf")] * 2
    for _ in range(100):
        start = perf_counter()
        orders(EACH_COUP, KEY, shuffles)
        between = perf_counter()
        deal_block(EACH_COUP, KEY, 0, coups)
        end = perf_counter()
        best = [min(best[0], (between - start) / len(shuffles)), min(best[1], (end - between) / coups)]
    return best[0] * 1e6, best[1] * 1e6


def _memory(shoes: int) -> int:
    """Bytes that one worker held at most."""
    command = [sys.executable, "-m", "tests.benchmarks.certification", str(shoes), "1"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()[1])


def _line(what: str, microseconds: float, ratio: str) -> None:
    sys.stdout.write(f"{what:<46} {microseconds:9.3f} µs = {ratio}\n")


# --- the program timed -------------------------------------------------------------------------


def deal(shoes: int, workers: int) -> np.ndarray:
    """Deal blocks, add up their cells, keep the hashes; print the coups and the most bytes held at once."""
    hashes, cells = np.empty(shoes, np.uint64), np.zeros(0, np.int64)
    with ProcessPoolExecutor(workers) as executor:
        for at, block in zip(range(0, shoes, BLOCK), _blocks(shoes, executor if workers > 1 else None), strict=True):
            cells = block.all_cells + (cells if at else 0)
            hashes[at : at + block.shoes] = block.order_hashes
    held = _most_held()
    sys.stdout.write(f"{cells.sum()} {held}\n")
    return hashes


def _most_held() -> int:
    """Bytes that this process held at most, since it began its program: getrusage would count its parent's too."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) * 1024


def _blocks(shoes: int, executor: Executor | None) -> Iterator[Block]:
    starts = range(0, shoes, BLOCK)
    counts = [min(BLOCK, shoes - start) for start in starts]
    rules, keys = [NP_PUNTO_BANCO.rules] * len(counts), [KEY] * len(counts)
    return (map if executor is None else executor.map)(deal_block, rules, keys, starts, counts)


if __name__ == "__main__":
    deal(int(sys.argv[1]), int(sys.argv[2]))
