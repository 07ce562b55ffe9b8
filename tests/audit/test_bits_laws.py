"""The fifteen tests against their definitions: statistics bit by bit, laws by writing out every block."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import erfc, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.checks.bits import SP80022, BitTest
from audit.checks.bits.evidence import Bits, Score, require_bits, split_blocks, unpack_bits, window_codes
from audit.checks.bits.excursions import (
    LEAST_CYCLES,
    PLACES,
    VARIANT_PLACES,
    cycles,
    least_cycles,
    random_excursions,
    random_excursions_variant,
    visit_counts,
    visit_law,
    visit_totals,
    visits_by_cycle,
)
from audit.checks.bits.frequency import (
    block_frequency,
    cumulative_sums,
    excursion_p,
    frequency,
    longest_run_counts,
    longest_run_law,
    runs,
)
from audit.checks.bits.linear_complexity import (
    complexities,
    complexity_class,
    complexity_law,
    complexity_mean,
)
from audit.checks.bits.rank import matrix_ranks, rank_law, rank_probability
from audit.checks.bits.serial import Patterns, approximate_entropy, cyclic_counts, psi_square, serial, shorten
from audit.checks.bits.spectral import peak_variance, peaks_below
from audit.checks.bits.templates import (
    aperiodic_patterns,
    overlapping_counts,
    overlapping_law,
    pattern_counts,
)
from audit.checks.bits.universal import block_bits_need, log_distances, universal, universal_law
from shoe.errors import InputError
from tests.reference import bits_reference as slow

ROWS = st.lists(st.integers(0, 1), min_size=24, max_size=90)


def as_bits(row: slow.Row) -> Bits:
    return np.array(row, dtype=np.uint8)


def random_bits(n: int, seed: int) -> Bits:
    return np.random.Generator(np.random.PCG64(seed)).integers(0, 2, n, dtype=np.uint8)


def all_blocks(size: int) -> list[tuple[int, ...]]:
    return list(product((0, 1), repeat=size))


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_statistics_equal_their_definitions(row: list[int]) -> None:
    bits, n = as_bits(row), len(row)
    ones, share = sum(row), sum(row) / n
    assert frequency(bits)[0].p == pytest.approx(erfc(abs(2 * ones - n) / sqrt(2 * n)))
    of_eight = sum((sum(block) / 8 - 0.5) ** 2 for block in slow.blocks(row, 8))
    assert block_frequency(bits, 8)[0].statistic == pytest.approx(32 * of_eight)
    if 0 < ones < n:
        half = 2 * share * (1 - share)
        assert runs(bits)[0].p == pytest.approx(erfc(abs(slow.runs(row) - n * half) / (sqrt(2 * n) * half)))
    longest = Counter(min(max(slow.longest_run(block), 1), 4) for block in slow.blocks(row, 8))
    assert longest_run_counts(bits, 8, 1, 4) == tuple(longest[length] for length in range(1, 5))
    assert peaks_below(bits) == slow.peaks_below(row)
    hits = Counter(min(5, list(slow.windows(block, 2)).count("11")) for block in slow.blocks(row, 12))
    assert overlapping_counts(bits, 12, 2) == tuple(hits[count] for count in range(6))
    steps = slow.walk(row)
    reach = max(map(abs, steps)), max(abs(steps[-1] - place) for place in [0, *steps[:-1]])
    assert [score.p for score in cumulative_sums(bits)] == [excursion_p(z, n) for z in reach]


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_patterns_equal_their_definitions(row: list[int]) -> None:
    bits, n = as_bits(row), len(row)
    for width in (1, 2, 4):
        counts = cyclic_counts(bits, width)
        assert {f"{code:0{width}b}": count for code, count in enumerate(counts.tolist()) if count} == dict(
            slow.cyclic_counts(row, width)
        )
        assert psi_square(counts) == pytest.approx(float(slow.psi_square(row, width)))
        assert psi_square(shorten(counts)) == pytest.approx(float(slow.psi_square(row, width - 1)))
    psi = [slow.psi_square(row, width) for width in (3, 2, 1)]
    first, second = serial(bits, 3)
    assert first.statistic == pytest.approx(float(psi[0] - psi[1]), abs=1e-9)
    assert second.statistic == pytest.approx(float(psi[0] - 2 * psi[1] + psi[2]), abs=1e-9)
    (entropy,) = approximate_entropy(bits, 2)
    assert entropy.statistic == pytest.approx(2 * n * (log(2) - slow.approximate_entropy(row, 2)), abs=1e-9)
    counted = pattern_counts(bits, 3, 2)
    for block, counts_of_block in zip(slow.blocks(row, n // 2)[:2], counted.tolist(), strict=True):
        for pattern in aperiodic_patterns(3):
            assert counts_of_block[pattern] == slow.non_overlapping_count(block, f"{pattern:03b}")
    total, tested = log_distances(bits, 2, 4)
    assert (total, tested) == pytest.approx(slow.log_distances(row, 2, 4))


@settings(max_examples=60, deadline=None)
@given(ROWS)
def test_excursions_equal_their_definitions(row: list[int]) -> None:
    bits, parts = as_bits(row), slow.excursion_cycles(row)
    assert cycles(bits) == len(parts)
    visits = visits_by_cycle(bits)
    for place in PLACES:
        counts = Counter(min(5, part.count(place)) for part in parts)
        assert visit_counts(visits, place) == tuple(counts[number] for number in range(6))
    assert visit_totals(bits) == tuple(sum(part.count(place) for part in parts) for place in VARIANT_PLACES)


@pytest.mark.parametrize("size", [8, 63, 64, 65, 130])
def test_complexities_equal_the_textbook_algorithm(size: int) -> None:
    blocks = split_blocks(random_bits(40 * size, size), size)
    blocks[0], blocks[1], blocks[2, 1:] = 0, 1, 0
    blocks[3, :-1], blocks[3, -1] = 0, 1
    assert complexities(blocks).tolist() == [slow.linear_complexity(row) for row in blocks.tolist()]


def test_the_textbook_algorithm_equals_the_search_of_all_registers() -> None:
    for block in all_blocks(7):
        assert slow.linear_complexity(block) == slow.shortest_register(block)


@pytest.mark.parametrize("size", [9, 12])
def test_law_of_complexity_equals_all_blocks(size: int) -> None:
    found = complexities(as_bits([bit for block in all_blocks(size) for bit in block]).reshape(-1, size)).tolist()
    assert Fraction(sum(found), 2**size) == complexity_mean(size)
    classes = Counter(complexity_class(size, length) for length in found)
    assert complexity_law(size) == tuple(classes[at] / 2**size for at in range(7))


@pytest.mark.parametrize(
    ("size", "classes"),
    [
        (500, {0: 0, 247: 0, 248: 1, 249: 2, 250: 3, 251: 4, 252: 5, 253: 6, 500: 6}),
        (501, {0: 6, 248: 6, 249: 5, 250: 4, 251: 3, 252: 2, 253: 1, 254: 0, 501: 0}),
    ],
)
def test_classes_of_complexity_lie_around_half_the_block(size: int, classes: dict[int, int]) -> None:
    """§2.10.4: T is L − 250 for even and 251 − L for odd blocks of some 500 bits, but for 2^-M."""
    assert {length: complexity_class(size, length) for length in classes} == classes


@pytest.mark.parametrize(("size", "low", "high"), [(8, 1, 4), (12, 2, 5), (13, 0, 13)])
def test_law_of_longest_runs_equals_all_blocks(size: int, low: int, high: int) -> None:
    found = Counter(min(max(slow.longest_run(block), low), high) for block in all_blocks(size))
    assert longest_run_law(size, low, high) == tuple(found[length] / 2**size for length in range(low, high + 1))


@pytest.mark.parametrize(("size", "width"), [(13, 2), (13, 3), (8, 9)])
def test_law_of_overlaps_equals_all_blocks(size: int, width: int) -> None:
    found = Counter(min(5, list(slow.windows(block, width)).count("1" * width)) for block in all_blocks(size))
    assert overlapping_law(size, width) == tuple(found[count] / 2**size for count in range(6))


@pytest.mark.parametrize("side", [2, 3, 4])
def test_law_of_ranks_equals_all_matrices(side: int) -> None:
    rows = list(product(range(2**side), repeat=side))
    found = Counter(slow.rank_by_span(matrix) for matrix in rows)
    assert [rank_probability(side, r) for r in range(side + 1)] == [
        Fraction(found[r], len(rows)) for r in range(side + 1)
    ]
    full, less = found[side], found[side - 1]
    assert rank_law(side) == pytest.approx([full / len(rows), less / len(rows), 1 - (full + less) / len(rows)])


@pytest.mark.parametrize("side", [5, 31, 32])
def test_ranks_equal_elimination_by_whole_numbers(side: int) -> None:
    matrices = split_blocks(random_bits(60 * side * side, side), side * side).reshape(-1, side, side)
    matrices[0], matrices[1], matrices[2] = 0, 1, np.eye(side, dtype=np.uint8)[::-1]
    matrices[3, side // 2] = matrices[3, 0]
    as_numbers = [[int("".join(map(str, row)), 2) for row in matrix] for matrix in matrices.tolist()]
    assert matrix_ranks(matrices).tolist() == [slow.rank(rows) for rows in as_numbers]
    assert [slow.rank(rows) for rows in as_numbers[:3]] == [0, 1, side]


@pytest.mark.parametrize("width", [2, 3, 4])
def test_aperiodic_patterns_are_those_that_cannot_overlap_themselves(width: int) -> None:
    texts = [f"{pattern:0{width}b}" for pattern in range(2**width)]
    apart = [t for t in texts if not any(t[shift:] == t[:-shift] for shift in range(1, width))]
    assert [f"{pattern:0{width}b}" for pattern in aperiodic_patterns(width)] == apart


def test_there_are_148_aperiodic_patterns_of_nine_bits() -> None:
    """SP 800-22 §2.7.1 and its template files: 2, 4, 6, 12, 20, 40, 74, 148 of 2 … 9 bits."""
    assert [len(aperiodic_patterns(width)) for width in range(2, 10)] == [2, 4, 6, 12, 20, 40, 74, 148]


@pytest.mark.parametrize("place", PLACES)
def test_law_of_visits_is_gamblers_ruin(place: int) -> None:
    assert visit_law(place) == pytest.approx([float(p) for p in slow.visit_distribution(place, 5)], abs=1e-15)


# SP 800-22 §3.9, after Maurer: mean and variance of one distance.
MAURER = {6: (5.2177052, 2.954), 7: (6.1962507, 3.125), 8: (7.1836656, 3.238), 9: (8.1764248, 3.311)}
# Coron and Naccache (1998), table of d(L) and e(L): the error of the mean is σ/√K times the root of d + e·2^L/K.
CORON_NACCACHE = {
    3: (0.2732725, 0.4890883),
    4: (0.3045101, 0.4435381),
    5: (0.3296587, 0.4137196),
    6: (0.3489769, 0.3941338),
    7: (0.3631815, 0.3813210),
    8: (0.3732189, 0.3730195),
}


@pytest.mark.parametrize("width", MAURER)
def test_moments_of_distances_are_maurers(width: int) -> None:
    mean, variance, _ = universal_law(width, 1000 << width)
    assert mean == pytest.approx(MAURER[width][0], abs=5e-8)
    assert variance == pytest.approx(MAURER[width][1], abs=8e-4)


@pytest.mark.parametrize("width", CORON_NACCACHE)
def test_error_of_the_mean_distance_is_coron_and_naccaches(width: int) -> None:
    d, e = CORON_NACCACHE[width]
    for tested in (1000 << width, 10**12):
        _, variance, error = universal_law(width, tested)
        assert error**2 * tested / variance == pytest.approx(d + e * 2**width / tested, abs=1e-7)


def test_error_of_the_mean_distance_equals_simulation() -> None:
    """Blocks of 3 bits, 400 tested: 4,000 means, whose deviation is known to 1.1 %."""
    bits = random_bits(4000 * 3 * 480, 8).reshape(4000, -1)
    means = [total / tested for total, tested in (log_distances(row, 3, 80) for row in bits)]
    mean, _, error = universal_law(3, 400)
    assert np.std(means) == pytest.approx(error, rel=0.04)
    assert np.mean(means) == pytest.approx(mean, abs=4 * error / sqrt(4000))


def test_variance_of_peaks_is_that_of_simulation_and_not_nists() -> None:
    """20,000 sequences of 500 bits: the variance is known to 1 %; n(.95)(.05)/4 lies 5 % below."""
    assert peak_variance(10**6) == pytest.approx(10**6 * 0.95 * 0.05 / 3.790, rel=2e-4)
    bits = random_bits(20_000 * 500, 9).reshape(20_000, 500)
    moduli = np.abs(np.fft.rfft(2.0 * bits - 1, axis=1)[:, :250])
    below = np.count_nonzero(moduli < sqrt(500 * log(20)), axis=1)
    assert below[:50].tolist() == [peaks_below(row) for row in bits[:50]]
    assert np.var(below) == pytest.approx(peak_variance(500), rel=0.03)


def test_reach_of_a_walk_equals_all_walks_of_18_steps_within_the_normal_error() -> None:
    walks = np.abs(
        np.cumsum(2 * as_bits([b for w in all_blocks(18) for b in w]).reshape(-1, 18).astype(int) - 1, axis=1)
    )
    reached = walks.max(axis=1)
    for reach in range(1, 15):
        assert excursion_p(reach, 18) == pytest.approx(float(np.mean(reached >= reach)), abs=0.05)
    assert excursion_p(1, 10**6) == 1


def test_parameters_follow_the_length() -> None:
    """§2.4.2, §2.9.7: block sizes by n, Maurer's from 387,840, 904,960 and 2,068,480 bits on."""
    assert [block_bits_need(width) for width in (6, 7, 8)] == [387_840, 904_960, 2_068_480]
    assert least_cycles(10**6) == LEAST_CYCLES
    assert least_cycles(4 * 10**10) == 1000
    assert patterns(serial(random_bits(10**6, 1))) == 2**16
    assert patterns(approximate_entropy(random_bits(10**6, 1))) == 2**11
    assert patterns(approximate_entropy(random_bits(10**5, 1))) == 2**8


def patterns(scores: tuple[Score, ...]) -> int:
    evidence = scores[0].evidence
    assert isinstance(evidence, Patterns)
    return evidence.counts.size


def test_excursions_of_few_cycles_are_not_applicable() -> None:
    bits = np.tile(as_bits([1, 1, 0, 0]), 499)
    assert cycles(bits) == 499
    assert random_excursions(bits) == random_excursions_variant(bits) == ()
    assert len(random_excursions(np.tile(as_bits([1, 1, 0, 0]), 500))) == 8
    assert len(random_excursions_variant(np.tile(as_bits([1, 1, 0, 0]), 500))) == 18


def test_degenerate_bits_have_a_p_value() -> None:
    """Without both kinds, runs are certain; the frequency test says the rest."""
    zeros = np.zeros(1000, dtype=np.uint8)
    assert runs(zeros)[0].p == runs(1 - zeros)[0].p == 1.0
    assert frequency(zeros)[0].p < 1e-200
    assert log_distances(zeros, 2, 4) == (0.0, 496)


def test_bytes_become_bits_from_the_highest() -> None:
    assert unpack_bits(b"\x80\x01").tolist() == [1] + [0] * 14 + [1]
    assert unpack_bits(b"\xa0", 3).tolist() == [1, 0, 1]
    assert window_codes(as_bits([1, 0, 1, 1]), 3).tolist() == [0b101, 0b011]


@pytest.mark.parametrize("test", SP80022.values(), ids=SP80022)
def test_too_few_bits_are_refused_by_name(test: BitTest) -> None:
    with pytest.raises(InputError, match=rf"^{test.name}: expected {test.least} or more bits, got {test.least - 1}$"):
        test(random_bits(test.least - 1, 1))
    assert all(0 <= score.p <= 1 for score in test(random_bits(test.least, 1)))


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (np.array([0, 1, 2, 1], dtype=np.uint8), "^t: expected bits 0 and 1, got 2$"),
        (np.array([0, 1], dtype=np.int64), "^t: expected a row of uint8, got '1 dimensions of int64'$"),
        (np.zeros((2, 2), dtype=np.uint8), "^t: expected a row of uint8, got '2 dimensions of uint8'$"),
        (np.zeros(1, dtype=np.uint8), "^t: expected 2 or more bits, got 1$"),
    ],
)
def test_what_is_no_row_of_bits_is_refused(bits: Bits, message: str) -> None:
    with pytest.raises(InputError, match=message):
        require_bits(bits, 2, "t")


@pytest.mark.parametrize("count", [-1, 17])
def test_bytes_do_not_hold_any_number_of_bits(count: int) -> None:
    with pytest.raises(InputError, match=f"^unpack_bits: expected {count} bits, got 16$"):
        unpack_bits(b"\0\0", count)


def test_universal_needs_blocks_beyond_the_first() -> None:
    with pytest.raises(InputError, match=r"^universal: expected more than 10 blocks, got 10$"):
        log_distances(random_bits(20, 1), 2, 10)
    with pytest.raises(InputError, match=r"^universal: expected 387840 or more bits, got 387839$"):
        universal(random_bits(387_839, 1))
