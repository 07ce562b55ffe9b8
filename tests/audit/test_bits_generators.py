"""Fifteen bad generators, one made for each test of bits, and a good one that passes them all."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from audit.checks.bits import SP80022
from audit.checks.bits.evidence import Bits
from audit.checks.bits.second_level import BitsTally, add_up_bits, judge_bits, tally_bits
from audit.multiple import bonferroni, holm

Generator = np.random.Generator
MILLION = 1_000_000


def good(generator: Generator, n: int = MILLION) -> Bits:
    return np.unpackbits(np.frombuffer(generator.bytes((n + 7) // 8), dtype=np.uint8))[:n]


def coins(generator: Generator, chances: np.ndarray[tuple[int], np.dtype[np.float64]] | float) -> Bits:
    return (generator.random(MILLION) < chances).astype(np.uint8)


def biased(generator: Generator) -> Bits:
    """One in 200 zeros becomes a one."""
    return coins(generator, 0.505)


def biased_by_turns(generator: Generator) -> Bits:
    """Blocks of 128 bits with more ones, then with fewer: as many of both in the end."""
    return coins(generator, np.tile(np.repeat([0.52, 0.48], 128), MILLION // 256 + 1)[:MILLION])


def sticky(generator: Generator) -> Bits:
    """A bit equals the last one in 51 % of places."""
    return (np.cumsum(generator.random(MILLION) > 0.51) % 2).astype(np.uint8)


def no_long_run(generator: Generator) -> Bits:
    """After 12 ones in a row comes a zero."""
    bits = good(generator)
    run = 0
    for at, bit in enumerate(bits.tolist()):
        run = run + 1 if bit and run < 12 else 0
        bits[at] = run > 0
    return bits


def few_dimensions(generator: Generator) -> Bits:
    """Every fifth matrix has two equal rows."""
    matrices = good(generator, 976 * 1024).reshape(-1, 32, 32)
    matrices[::5, 31] = matrices[::5, 7]
    return np.concatenate((matrices.ravel(), good(generator, 576)))


def echo(generator: Generator) -> Bits:
    """A bit equals the one 1,000 places before it in 56 % of places."""
    turns = (generator.random(MILLION) > 0.56).astype(np.uint8).reshape(-1, 1000)
    return np.bitwise_xor.accumulate(turns, axis=0).ravel()


def one_pattern_more(generator: Generator) -> Bits:
    """000000001 put in at 1,000 places."""
    bits = good(generator)
    for place in generator.integers(0, MILLION - 9, 1000):
        bits[place : place + 9] = [0, 0, 0, 0, 0, 0, 0, 0, 1]
    return bits


def ones_in_rows(generator: Generator) -> Bits:
    """Eleven ones put in at 300 places, and eleven zeros."""
    bits = good(generator)
    for bit in (0, 1):
        for place in generator.integers(0, MILLION - 11, 300):
            bits[place : place + 11] = bit
    return bits


def few_blocks(generator: Generator) -> Bits:
    """One of the 128 blocks of 7 bits never comes."""
    blocks = generator.integers(0, 127, MILLION // 7 + 1, dtype=np.uint8)
    return np.unpackbits(blocks[:, np.newaxis], axis=1)[:, 1:].ravel()[:MILLION]


def shift_register(generator: Generator) -> Bits:
    """b(n) = b(n − 103) + b(n − 250) over two elements (Kirkpatrick and Stoll 1981)."""
    bits = good(generator)
    for start in range(250, MILLION, 103):
        end = min(start + 103, MILLION)
        bits[start:end] = bits[start - 103 : end - 103] ^ bits[start - 250 : end - 250]
    return bits


def short_cycle(generator: Generator) -> Bits:
    """The same 100,000 bits ten times over."""
    return np.tile(good(generator, MILLION // 10), 10)


def parity(generator: Generator) -> Bits:
    """A bit is the sum of those 1, 4 and 6 places before it in 51 % of places."""
    flips = generator.random(MILLION) > 0.51
    bits = good(generator).tolist()
    for at in range(6, MILLION):
        bits[at] = bits[at - 1] ^ bits[at - 4] ^ bits[at - 6] ^ int(flips[at])
    return np.array(bits, dtype=np.uint8)


def drifting(generator: Generator) -> Bits:
    """More ones in the first half, fewer in the second."""
    return coins(generator, np.repeat([0.506, 0.494], MILLION // 2))


def balanced(generator: Generator) -> Bits:
    """Every 250 bits are followed by the same, inverted."""
    half = good(generator, MILLION // 2).reshape(-1, 250)
    return np.concatenate((half, 1 - half), axis=1).ravel()


def drawn_home(generator: Generator) -> Bits:
    """Within 50 steps of its start, the walk turns back in 52 % of places."""
    draws, place = generator.random(MILLION).tolist(), 0
    bits = []
    for draw in draws:
        up = draw < 0.5 - 0.02 * ((place > 0) - (place < 0)) * (abs(place) < 50)
        bits.append(int(up))
        place += 1 if up else -1
    return np.array(bits, dtype=np.uint8)


MADE_FOR: dict[str, Callable[[Generator], Bits]] = {
    "frequency": biased,
    "block_frequency": biased_by_turns,
    "runs": sticky,
    "longest_run": no_long_run,
    "rank": few_dimensions,
    "spectral": echo,
    "non_overlapping": one_pattern_more,
    "overlapping": ones_in_rows,
    "universal": few_blocks,
    "linear_complexity": shift_register,
    "serial": short_cycle,
    "approximate_entropy": parity,
    "cumulative_sums": drifting,
    "random_excursions": balanced,
    "random_excursions_variant": drawn_home,
}


@pytest.mark.parametrize("name", SP80022)
def test_each_test_finds_the_generator_made_for_it(name: str) -> None:
    bits = MADE_FOR[name](np.random.Generator(np.random.PCG64(17)))
    assert bits.size == MILLION
    assert bonferroni([score.p for score in SP80022[name](bits)]) < 1e-6


@pytest.mark.parametrize(
    ("name", "unseen_by"),
    [
        ("block_frequency", "frequency"),
        ("rank", "frequency"),
        ("spectral", "serial"),
        ("linear_complexity", "serial"),
        ("linear_complexity", "spectral"),
        ("approximate_entropy", "runs"),
        ("random_excursions_variant", "runs"),
    ],
)
def test_no_test_stands_for_another(name: str, unseen_by: str) -> None:
    bits = MADE_FOR[name](np.random.Generator(np.random.PCG64(17)))
    assert bonferroni([score.p for score in SP80022[unseen_by](bits)]) > 0.001


def test_a_good_generator_passes_at_both_levels() -> None:
    """60 sequences of 400,000 bits: share, evenness, all bits pooled; Holm at .01 over the fifteen rejects none."""
    generator = np.random.Generator(np.random.PCG64(18))
    results = judge_bits(add_up_bits(tally_bits(good(generator, 400_000)) for _ in range(60)))
    assert [result.name for result in results] == [f"bits_{name}" for name in SP80022]
    assert holm({result.name: result.p for result in results}).passed
    assert all(result.n == 24_000_000 for result in results)


@pytest.mark.slow
def test_a_good_generator_keeps_its_levels() -> None:
    """200 sequences of a million bits. Every rate below .05 and .01 by test, over its labels; Holm as above.

    Labels of one test depend on each other, so that their common rate is bounded loosely: 5 binomial errors of 200.
    """
    generator = np.random.Generator(np.random.PCG64(19))
    tallies: list[BitsTally] = []
    found: dict[str, list[float]] = {name: [] for name in SP80022}
    for _ in range(200):
        bits = good(generator)
        tallies.append(tally_bits(bits))
        for name, test in SP80022.items():
            found[name] += [score.p for score in test(bits)]
    for name, p_values in found.items():
        for level in (0.05, 0.01):
            error = (level * (1 - level) / 200) ** 0.5
            assert np.mean(np.array(p_values) < level) == pytest.approx(level, abs=5 * error), name
    assert holm({result.name: result.p for result in judge_bits(add_up_bits(tallies))}).passed
