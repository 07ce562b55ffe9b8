"""Other people's programs: what they printed once, what they print when something is wrong, and the pipe to them."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from itertools import repeat
from math import exp
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

from audit.outside import (
    DIEHARDER_LINES,
    ENT_BYTES,
    OutsideResult,
    Program,
    Status,
    dieharder,
    ent,
    read_dieharder,
    read_ent,
    read_rngtest,
    rngtest,
    run_program,
)

# dieharder 3.31.1 with -d 100 -g 200 on a million bits and more.
MONOBIT = """\
#=============================================================================#
#            dieharder version 3.31.1 Copyright 2003 Robert G. Brown          #
#=============================================================================#
   rng_name    |rands/second|   Seed   |
stdin_input_raw|  3.66e+07  |1077839521|
#=============================================================================#
        test_name   |ntup| tsamples |psamples|  p-value |Assessment
#=============================================================================#
         sts_monobit|   1|    100000|     100|0.91785062|  PASSED  \n"""
ONE_LINE = {("sts_monobit", 1): 1}

# Tests and tuple sizes of `dieharder -a` in the order it prints them, from the run that the library Jenetics shows in
# the source of MRG2Random (235,031 MB, 114 lines).
JENETICS = (
    "birthdays0 operm50 rank_32x320 rank_6x80 bitstream0 opso0 oqso0 dna0 count_1s_str0 count_1s_byt0 parking_lot0 "
    "2dsphere2 3dsphere3 squeeze0 sums0 runs0 runs0 craps0 craps0"
)

# ent -t, Debian's 1.2, and rngtest 5, of bytes from an operating system.
ENT = """\
0,File-bytes,Entropy,Chi-square,Mean,Monte-Carlo-Pi,Serial-Correlation
1,1000000,7.999812,261.040640,127.628849,3.140917,-0.000789
"""
RNGTEST = """\
rngtest 5
Copyright (c) 2004 by Henrique de Moraes Holschuh
This is free software; see the source for copying conditions.

rngtest: starting FIPS tests...
rngtest: bits received from input: 800032
rngtest: FIPS 140-2 successes: 39
rngtest: FIPS 140-2 failures: 1
rngtest: FIPS 140-2(2001-10-10) Monobit: 0
rngtest: FIPS 140-2(2001-10-10) Poker: 0
rngtest: FIPS 140-2(2001-10-10) Runs: 1
rngtest: FIPS 140-2(2001-10-10) Long run: 1
rngtest: FIPS 140-2(2001-10-10) Continuous run: 0
rngtest: input channel speed: (min=9.313; avg=22.578; max=18.626)Gibits/s
"""


def p_values(result: OutsideResult) -> dict[str, float | None]:
    return {line.label: line.p for line in result.lines}


def table(rows: Iterator[tuple[str, int, str]]) -> str:
    return "".join(f"{name:>20}|{size:>4}|    100000|     100|{p}|  PASSED  \n" for name, size, p in rows)


def whole_table(p: str = "0.50000000") -> str:
    return table((name, size, p) for (name, size), times in DIEHARDER_LINES.items() for _ in range(times))


def test_dieharder_has_114_lines() -> None:
    """Its own summary in published runs adds up to 114; the diehard ones as printed by one of them."""
    assert sum(DIEHARDER_LINES.values()) == 114
    diehard = Counter(
        f"{name.removeprefix('diehard_')}{size}"
        for (name, size), times in DIEHARDER_LINES.items()
        for _ in range(times)
        if name.startswith("diehard_")
    )
    assert diehard == Counter(JENETICS.split())
    sizes = Counter(name for (name, _), times in DIEHARDER_LINES.items() for _ in range(times))
    assert (sizes["sts_serial"], sizes["rgb_bitdist"], sizes["rgb_lagged_sum"]) == (30, 12, 33)


def test_dieharder_p_is_two_sided() -> None:
    result = read_dieharder(MONOBIT, ONE_LINE)
    assert (result.status, result.detail) == (Status.RAN, "")
    assert result.p == pytest.approx(2 * (1 - 0.91785062))


@pytest.mark.parametrize("printed", ["0.00000000", "1.00000000"])
def test_dieharder_p_is_never_below_what_it_prints(printed: str) -> None:
    assert read_dieharder(MONOBIT.replace("0.91785062", printed), ONE_LINE).p == 1e-8


def test_dieharder_tests_that_it_doubts_are_shown_but_not_judged() -> None:
    text = whole_table()
    for name in ("diehard_opso", "diehard_oqso", "diehard_dna", "diehard_sums"):
        at = text.index(name)
        text = text[:at] + text[at:].replace("0.50000000", "0.00000000", 1)
    result = read_dieharder(text)
    assert result.p == 1.0
    assert len(result.lines) == 114
    assert sum(line.p is None for line in result.lines) == 4
    assert read_dieharder(whole_table("0.00000000")).p == pytest.approx(110e-8)


@pytest.mark.parametrize("line", [0, 17, 18, 60, 113])
def test_dieharder_without_any_one_line_is_an_error(line: int) -> None:
    lines = whole_table().splitlines(keepends=True)
    assert read_dieharder("".join(lines)).status is Status.RAN
    name = lines[line].split("|")[0].strip()
    result = read_dieharder("".join(lines[:line] + lines[line + 1 :]))
    assert (result.status, result.p) == (Status.ERROR, None)
    assert result.detail.startswith(f"no line for {name} ")


def test_dieharder_that_ran_dry_is_an_error_though_it_exits_with_zero() -> None:
    """What it prints to standard error on a short pipe, and no line."""
    result = read_dieharder("# stdin_input_raw(): Error: EOF\n", ONE_LINE)
    assert (result.status, result.detail) == (Status.ERROR, "no line for sts_monobit 1")


def test_dieharder_that_rewound_is_invalid() -> None:
    """What -g 201 prints for a file that is too short: p is worth nothing, whatever it is."""
    result = read_dieharder("# The file file_input_raw was rewound 80 times\n" + MONOBIT, ONE_LINE)
    assert (result.status, result.p) == (Status.INVALID, None)
    assert "rewound" in result.detail


def test_ent_p_values_by_hand() -> None:
    found = p_values(read_ent(ENT, 1_000_000))
    assert found["Chi-square"] == pytest.approx(2 * chi2.sf(261.040640, 255))
    assert found["Mean"] == pytest.approx(2 * norm.sf(0.128849 / (65535 / 12 / 1e6) ** 0.5))
    assert found["Serial-Correlation"] == pytest.approx(2 * norm.sf(0.789))
    assert [label for label, p in found.items() if p is None] == ["File-bytes", "Entropy", "Monte-Carlo-Pi"]


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ("1,1000000,7.999812,261.040640,127.628849,3.140917,-0.000789\n", "", "no table of two lines"),
        ("0,File-bytes", "File-bytes", "no table of two lines"),
        (",-0.000789", "", "no table of two lines"),
        ("Mean", "Average", "no figure for Mean"),
        ("1,1000000", "1,999999", "it saw 999999 bytes of 1000000"),
    ],
)
def test_ent_that_says_something_else_is_an_error(old: str, new: str, detail: str) -> None:
    assert old in ENT
    result = read_ent(ENT.replace(old, new), 1_000_000)
    assert (result.status, result.detail, result.p) == (Status.ERROR, detail, None)


def test_rngtest_is_judged_by_what_good_bits_fail_too() -> None:
    """40 blocks: each fails the long run with chance 2^-26 · 20,000 or so, the runs with a chance not known."""
    found = p_values(read_rngtest(RNGTEST, 40))
    assert found["Runs"] is found["successes"] is found["failures"] is None
    assert found["Monobit"] == found["Poker"] == found["Continuous run"] == 1.0
    # A run of 26 begins with a change, or at the first bit: 1 − e^-λ but for clumps.
    chance = 1 - exp(-(19_974 / 2 + 1) * 2.0**-25)
    assert found["Long run"] == pytest.approx(1 - (1 - chance) ** 40, rel=1e-3)
    assert read_rngtest(RNGTEST, 40).p == pytest.approx(4 * (1 - (1 - chance) ** 40), rel=1e-3)


@pytest.mark.parametrize("name", ["Monobit", "Poker", "Long run", "Continuous run"])
def test_rngtest_with_many_failures_is_found(name: str) -> None:
    lines = [f"{line.rpartition(':')[0]}: 9" if f") {name}:" in line else line for line in RNGTEST.splitlines()]
    found = read_rngtest("\n".join(lines), 40).p
    assert found is not None
    assert found < 1e-20


def test_rngtest_monobit_bounds_are_those_of_fips_140_2() -> None:
    """9,725 < ones < 10,275, in whole numbers."""
    orders, below = 1, 1
    for ones in range(1, 9726):
        orders = orders * (20_001 - ones) // ones
        below += orders
    one = RNGTEST.replace("Monobit: 0", "Monobit: 1")
    assert p_values(read_rngtest(one, 40))["Monobit"] == pytest.approx(binom.sf(0, 40, 2 * below / 2**20_000))


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ("rngtest: FIPS 140-2(2001-10-10) Poker: 0\n", "", "no line for Poker"),
        ("rngtest: FIPS 140-2 failures: 1\n", "", "no line for failures"),
        ("successes: 39", "successes: 38", "it saw 39 blocks of 40"),
        ("rngtest:", "rngtest", "no line for Continuous run, Long run, Monobit, Poker, Runs, failures, successes"),
    ],
)
def test_rngtest_that_says_something_else_is_an_error(old: str, new: str, detail: str) -> None:
    assert old in RNGTEST
    result = read_rngtest(RNGTEST.replace(old, new), 40)
    assert (result.status, result.detail, result.p) == (Status.ERROR, detail, None)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def install(path: Path, name: str, script: str) -> None:
    program = path / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def read_back(text: str) -> OutsideResult:
    return OutsideResult("stub", Status.RAN, text)


def test_a_program_that_is_not_there_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for program in (dieharder(), ent(), rngtest()):
        result = run_program(program, repeat(b"x"), 5)
        assert (result.status, result.p) == (Status.NOT_INSTALLED, None)
        assert result.detail == f"{program.name} is not on the path"


def test_an_endless_pipe_ends_when_the_program_has_had_enough(path: Path) -> None:
    install(path, "stub", "head -c 300000 | wc -c; echo said >&2")
    result = run_program(Program("stub", (), None, read_back), repeat(bytes(65_536)), 20)
    assert result.detail.split() == ["300000", "said"]


def test_a_program_that_needs_an_end_gets_just_its_bytes(path: Path) -> None:
    install(path, "stub", "wc -c")
    for limit in (1, 65_536, 100_001):
        result = run_program(Program("stub", (), limit, read_back), repeat(bytes(65_536)), 20)
        assert int(result.detail) == limit


def test_options_are_passed_and_the_exit_code_is_not_looked_at(path: Path) -> None:
    install(path, "stub", 'echo "$@"; exit 3')
    assert run_program(Program("stub", ("-a", "-g", "200"), None, read_back), repeat(b"x"), 20).detail == "-a -g 200\n"


def test_a_program_that_does_not_end_is_killed(path: Path) -> None:
    install(path, "stub", "exec sleep 60")
    result = run_program(Program("stub", (), None, read_back), repeat(bytes(65_536)), 0.2)
    assert (result.status, result.detail) == (Status.ERROR, "no end within 0.2 s")


@pytest.mark.parametrize("program", [dieharder(("-d", "100"), ONE_LINE), ent(), rngtest(10)], ids=lambda p: p.name)
def test_a_program_that_prints_nothing_and_exits_with_zero_is_an_error(program: Program, path: Path) -> None:
    install(path, program.name, "exit 0")
    assert run_program(program, repeat(bytes(1000)), 20).status is Status.ERROR


@pytest.mark.parametrize(
    "program", [dieharder(("-d", "100"), ONE_LINE), ent(1_000_000), rngtest(200)], ids=lambda p: p.name
)
def test_programs_that_are_installed_tell_good_bytes_from_bad(program: Program) -> None:
    generator = np.random.Generator(np.random.PCG64(21))
    good = run_program(program, (generator.bytes(65_536) for _ in repeat(0)), 60)
    if good.status is Status.NOT_INSTALLED:
        pytest.skip(good.detail)
    assert (good.status, good.detail) == (Status.RAN, "")
    assert good.p is not None
    assert good.p > 1e-4
    bad = run_program(program, repeat(b"\x77" * 65_536), 60)
    assert bad.p is not None
    assert bad.p < 1e-6
    short = run_program(program, [bytes(1000)], 60)
    assert (short.status, short.p) == (Status.ERROR, None)


def test_what_is_asked_for_by_default() -> None:
    assert dieharder().options == ("-a", "-g", "200")
    assert dieharder().limit is rngtest().limit is None
    assert ent().limit == ENT_BYTES
    assert rngtest().options == ("-c", "10000")
