"""SP 800-22 §2.14 and §2.15: how often the walk of ones and zeros visits each place near its start."""

from __future__ import annotations

from math import erfc, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import chdtrc

from audit.checks.bits.evidence import Bits, Score, pearson, require_bits
from audit.checks.bits.frequency import walk

PLACES: Final = (-4, -3, -2, -1, 1, 2, 3, 4)
VARIANT_PLACES: Final = (*range(-9, 0), *range(1, 10))
MOST_VISITS: Final = 5
LEAST_CYCLES: Final = 500


def random_excursions(bits: Bits) -> tuple[Score, ...]:
    """Test how many cycles visit a place 0, 1, … 5 or more times: 8 p-values. Source: SP 800-22 §2.14.

    Not applicable, and (), where the walk has too few cycles, as one sequence of a million bits in three has: NIST
    says both that the test is then left out (§2.14.4) and that randomness is rejected (§3.14).
    """
    n = require_bits(bits, 1, "random_excursions")
    visits = visits_by_cycle(bits)
    if cycles(bits) < least_cycles(n):
        return ()
    return tuple(_excursion(place, visit_counts(visits, place)) for place in PLACES)


def random_excursions_variant(bits: Bits) -> tuple[Score, ...]:
    """Test the number of visits to each place −9…9 but 0: 18 p-values. Source: SP 800-22 §2.15.

    Not applicable, and (), like `random_excursions`.
    """
    n = require_bits(bits, 1, "random_excursions_variant")
    number = cycles(bits)
    if number < least_cycles(n):
        return ()
    return tuple(
        Score(f"{place:+d}", float(seen), variant_p(place, seen, number), None)
        for place, seen in zip(VARIANT_PLACES, visit_totals(bits), strict=True)
    )


def least_cycles(n: int) -> float:
    """Give the least number of cycles of n bits that the tests apply to: max(.005 √n, 500)."""
    return max(0.005 * sqrt(n), LEAST_CYCLES)


def cycles(bits: Bits) -> int:
    """Count the walk's returns to 0; a last cycle that does not return counts too."""
    steps = walk(bits)
    return int(np.count_nonzero(steps == 0)) + int(steps[-1] != 0)


def visits_by_cycle(bits: Bits) -> npt.NDArray[np.int64]:
    """Count the visits of each cycle to each of `PLACES`, as an array (places, cycles)."""
    steps = walk(bits)
    cycle = np.cumsum(steps == 0) - (steps == 0)
    number = cycles(bits)
    return np.stack([np.bincount(cycle[steps == place], minlength=number) for place in PLACES])


def visit_counts(visits: npt.NDArray[np.int64], place: int) -> tuple[int, ...]:
    """Count the cycles that visit a place 0, 1, … 5 or more times."""
    row = visits[PLACES.index(place)]
    return tuple(np.bincount(np.minimum(row, MOST_VISITS), minlength=MOST_VISITS + 1).tolist())


def visit_law(place: int) -> tuple[float, ...]:
    """Compute the probability that a cycle visits a place 0, 1, … 5 or more times. Source: SP 800-22 §3.14."""
    never = 1 - 1 / (2 * abs(place))
    once = [(1 - never) ** 2 * never ** (visits - 1) for visits in range(1, MOST_VISITS)]
    return (never, *once, (1 - never) * never ** (MOST_VISITS - 1))


def visit_totals(bits: Bits) -> tuple[int, ...]:
    """Count the visits of the whole walk to each of `VARIANT_PLACES`."""
    steps = walk(bits)
    return tuple(int(np.count_nonzero(steps == place)) for place in VARIANT_PLACES)


def variant_p(place: int, visits: int, number: int) -> float:
    """Compute p of a number of visits in `number` cycles: mean `number`, variance number·(4|place| − 2)."""
    return erfc(abs(visits - number) / sqrt(2 * number * (4 * abs(place) - 2)))


def _excursion(place: int, counts: tuple[int, ...]) -> Score:
    statistic = pearson(counts, visit_law(place))
    return Score(f"{place:+d}", statistic, float(chdtrc(MOST_VISITS, statistic)), None)
