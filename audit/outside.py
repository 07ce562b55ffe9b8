"""Other people's programs on our bytes: dieharder, ent and rngtest, where they are installed.

They get an endless pipe (ent, which needs an end, a fixed number of bytes) and are judged by what they print, never by
their exit code: dieharder leaves with 0 where its input ran dry.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from math import erfc, sqrt
from threading import Event, Thread, Timer
from typing import IO, Final

from scipy.special import bdtr, bdtrc, chdtr, chdtrc

from audit.checks.bits.frequency import longest_run_law
from audit.multiple import bonferroni
from shoe.errors import ImpossibleError, expected


class Status(Enum):
    """Whether a program said what it should have said."""

    RAN = "ran"
    NOT_INSTALLED = "not installed"
    ERROR = "ERROR"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True)
class OutsideLine:
    """One figure that a program printed, and its two-sided p-value; None where it is shown but not judged."""

    label: str
    printed: str
    p: float | None


@dataclass(frozen=True, slots=True)
class OutsideResult:
    """What a program found. `detail` says what was wrong, "" where nothing was."""

    program: str
    status: Status
    detail: str
    lines: tuple[OutsideLine, ...] = ()

    @property
    def p(self) -> float | None:
        """The smallest p-value times their number; None where the program did not run as it should."""
        judged = [line.p for line in self.lines if line.p is not None]
        return bonferroni(judged) if self.status is Status.RAN and judged else None


@dataclass(frozen=True, slots=True)
class Program:
    """A program, how it is called, how many bytes it gets (None: as many as it takes), and how its text is read."""

    name: str
    options: tuple[str, ...]
    limit: int | None
    read: Callable[[str], OutsideResult]


def run_program(program: Program, source: Iterable[bytes], timeout_s: float) -> OutsideResult:
    """Pipe chunks of an endless source into a program and read what it prints to either stream.

    It is killed after `timeout_s` seconds, which is an ERROR; so is a source that ends before the program does.
    """
    path = shutil.which(program.name)
    if path is None:
        return OutsideResult(program.name, Status.NOT_INSTALLED, f"{program.name} is not on the path")
    late = Event()
    command = [path, *program.options]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:  # noqa: S603 - a fixed program
        if process.stdin is None or process.stdout is None:
            raise ImpossibleError(expected("a pipe", None, program.name))

        def stop() -> None:
            late.set()
            process.kill()

        timer = Timer(timeout_s, stop)
        feeder = Thread(target=_feed, args=(process.stdin, _limited(source, program.limit)), daemon=True)
        timer.start()
        feeder.start()
        text = process.stdout.read().decode("utf-8", errors="replace")
        process.wait()
        timer.cancel()
        feeder.join()
    if late.is_set():
        return OutsideResult(program.name, Status.ERROR, f"no end within {timeout_s:g} s")
    return program.read(text)


def _feed(pipe: IO[bytes], chunks: Iterator[bytes]) -> None:
    """Write until the program has had enough; a pipe that it closed is no fault."""
    with suppress(BrokenPipeError), pipe:
        for chunk in chunks:
            pipe.write(chunk)


def _limited(source: Iterable[bytes], limit: int | None) -> Iterator[bytes]:
    left = limit
    for chunk in source:
        if left is None:
            yield chunk
            continue
        yield chunk[:left]
        left -= min(left, len(chunk))
        if not left:
            return


_ONCE: Final = (
    "diehard_birthdays diehard_operm5 diehard_rank_32x32 diehard_rank_6x8 diehard_bitstream diehard_opso diehard_oqso "
    "diehard_dna diehard_count_1s_str diehard_count_1s_byt diehard_parking_lot diehard_squeeze diehard_sums "
    "rgb_kstest_test dab_bytedistrib"
)
_BY_SIZE: Final[tuple[tuple[str, Iterable[int], int], ...]] = (
    *((name, (0,), 1) for name in _ONCE.split()),
    *((name, (0,), 2) for name in ("diehard_runs", "diehard_craps", "marsaglia_tsang_gcd")),
    ("diehard_2dsphere", (2,), 1),
    ("diehard_3dsphere", (3,), 1),
    ("sts_monobit", (1,), 1),
    ("sts_runs", (2,), 1),
    ("sts_serial", (1, 2), 1),
    ("sts_serial", range(3, 17), 2),
    ("rgb_bitdist", range(1, 13), 1),
    ("rgb_minimum_distance", range(2, 6), 1),
    ("rgb_permutations", range(2, 6), 1),
    ("rgb_lagged_sum", range(33), 1),
    ("dab_dct", (256,), 1),
    ("dab_filltree", (32,), 2),
    ("dab_filltree2", (0, 1), 1),
    ("dab_monobit2", (12,), 1),
)
DIEHARDER_LINES: Final[Mapping[tuple[str, int], int]] = {
    (name, size): times for name, sizes, times in _BY_SIZE for size in sizes
}
"""The 114 lines of ``dieharder -a``: test and tuple size, and how often each comes."""

_DOUBTED: Final = {"diehard_opso", "diehard_oqso", "diehard_dna", "diehard_sums"}
"""Tests that dieharder itself lists as suspect, or not to be used: shown, not judged."""

_DIEHARDER_LINE: Final = re.compile(r"^ *(\w+)\| *(\d+)\| *\d+\| *\d+\|([01]\.\d{8})\| *[A-Z]+ *$", re.MULTILINE)
_DIEHARDER_STEP: Final = 1e-8


def dieharder(options: tuple[str, ...] = ("-a",), lines: Mapping[tuple[str, int], int] = DIEHARDER_LINES) -> Program:
    """Call dieharder on an endless pipe; `lines` are those that it must print. ``-a`` takes some 200 GB and an hour."""
    return Program("dieharder", (*options, "-g", "200"), None, lambda text: read_dieharder(text, lines))


def read_dieharder(text: str, lines: Mapping[tuple[str, int], int] = DIEHARDER_LINES) -> OutsideResult:
    """Read dieharder's table: a line that is missing is an ERROR, a rewound input INVALID.

    Its p-values come from a test of p-values, so that near 1 is as bad as near 0; it prints eight decimals.
    """
    found = [(name, int(size), p) for name, size, p in _DIEHARDER_LINE.findall(text)]
    judged = tuple(
        OutsideLine(f"{name} {size}", p, None if name in _DOUBTED else _two_sided(float(p))) for name, size, p in found
    )
    if "rewound" in text:
        return OutsideResult("dieharder", Status.INVALID, "the input was rewound: it saw the same bytes again", judged)
    counts = Counter((name, size) for name, size, _ in found)
    missing = [f"{name} {size}" for (name, size), number in lines.items() if counts[name, size] < number]
    if missing:
        return OutsideResult("dieharder", Status.ERROR, f"no line for {', '.join(missing)}", judged)
    return OutsideResult("dieharder", Status.RAN, "", judged)


ENT_BYTES: Final = 10_000_000


def ent(size: int = ENT_BYTES) -> Program:
    """Call ent on `size` bytes."""
    return Program("ent", ("-t",), size, lambda text: read_ent(text, size))


def read_ent(text: str, size: int) -> OutsideResult:
    """Read ent's terse table; χ² of bytes, their mean and serial correlation are judged, the rest is shown."""
    rows = [line.split(",") for line in text.splitlines()]
    if len(rows) != 2 or rows[0][:1] != ["0"] or len(rows[1]) != len(rows[0]):
        return OutsideResult("ent", Status.ERROR, "no table of two lines")
    printed = dict(zip(rows[0][1:], rows[1][1:], strict=True))
    missing = {"File-bytes", *_ENT_JUDGED} - set(printed)
    if missing:
        return OutsideResult("ent", Status.ERROR, f"no figure for {', '.join(sorted(missing))}")
    if printed["File-bytes"] != str(size):
        return OutsideResult("ent", Status.ERROR, f"it saw {printed['File-bytes']} bytes of {size}")
    lines = tuple(
        OutsideLine(name, value, _ENT_JUDGED[name](float(value), size) if name in _ENT_JUDGED else None)
        for name, value in printed.items()
    )
    return OutsideResult("ent", Status.RAN, "", lines)


_ENT_JUDGED: Final[Mapping[str, Callable[[float, int], float]]] = {
    "Chi-square": lambda value, _: min(1.0, 2 * min(float(chdtr(255, value)), float(chdtrc(255, value)))),
    "Mean": lambda value, size: erfc(abs(value - 127.5) / sqrt(2 * (256**2 - 1) / 12 / size)),
    "Serial-Correlation": lambda value, size: erfc(abs(value) * sqrt(size / 2)),
}

FIPS_BLOCK: Final = 20_000
_FIPS_LINE: Final = re.compile(r"^rngtest: FIPS 140-2(?:\(2001-10-10\))? ([A-Z a-z]+): (\d+)$", re.MULTILINE)


def rngtest(blocks: int = 10_000) -> Program:
    """Call rngtest on an endless pipe, for `blocks` blocks of 20,000 bits."""
    return Program("rngtest", ("-c", str(blocks)), None, lambda text: read_rngtest(text, blocks))


def read_rngtest(text: str, blocks: int) -> OutsideResult:
    """Read rngtest's counts of failed blocks: sound bits fail too, some 8 blocks in 10,000.

    Judged by binomial tails are the tests whose chance of failing is known: monobit, poker, long run, continuous run.
    """
    counts = {name: int(count) for name, count in _FIPS_LINE.findall(text)}
    missing = {"successes", "failures", "Runs", *_FIPS_CHANCES} - set(counts)
    if missing:
        return OutsideResult("rngtest", Status.ERROR, f"no line for {', '.join(sorted(missing))}")
    if counts["successes"] + counts["failures"] != blocks:
        seen = counts["successes"] + counts["failures"]
        return OutsideResult("rngtest", Status.ERROR, f"it saw {seen} blocks of {blocks}")
    lines = tuple(
        OutsideLine(
            name, str(count), _at_least(count, blocks, _FIPS_CHANCES[name]()) if name in _FIPS_CHANCES else None
        )
        for name, count in counts.items()
    )
    return OutsideResult("rngtest", Status.RAN, "", lines)


_FIPS_CHANCES: Final[Mapping[str, Callable[[], float]]] = {
    "Monobit": lambda: 2 * float(bdtr(9725, FIPS_BLOCK, 0.5)),
    "Poker": lambda: float(chdtr(15, 2.16) + chdtrc(15, 46.17)),
    # 26 equal bits in a row are 25 neighbours in a row that do not change.
    "Long run": lambda: longest_run_law(FIPS_BLOCK - 1, 24, 25)[1],
    "Continuous run": lambda: FIPS_BLOCK / 32 / 2**32,
}
"""The chance that a block of random bits fails, by the bounds of FIPS 140-2 (change notice of 2001-10-10), §4.9.1."""


def _at_least(count: int, blocks: int, chance: float) -> float:
    return float(bdtrc(count - 1, blocks, chance)) if count else 1.0


def _two_sided(p: float) -> float:
    return max(_DIEHARDER_STEP, 2 * min(p, 1 - p))
