"""The fifteen tests over many sequences: how many p-values are small, how evenly they lie, and all bits pooled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import sqrt
from typing import Final

from scipy.special import bdtr, bdtrc, chdtrc

from audit.checks.bits import SP80022, BitTest
from audit.checks.bits.evidence import Bits, Evidence, Score, pearson
from audit.checks.result import CheckResult, LineItem
from audit.multiple import bonferroni
from shoe.errors import InputError, expected

LEVEL: Final = Fraction(1, 100)
TENTHS: Final = 10
LEAST_FOR_UNIFORMITY: Final = 55
"""NIST's least number of sequences for a χ² of p-values in tenths (SP 800-22 §4.2.2)."""


@dataclass(frozen=True, slots=True)
class LabelTally:
    """The p-values of one label over sequences: how many, how many below `LEVEL`, how many in each tenth of 0…1."""

    sequences: int
    below: int
    tenths: tuple[int, ...]
    pooled: Evidence | None

    def plus(self, other: LabelTally) -> LabelTally:
        """Add the counts, and the evidence where the test has any that adds up."""
        pooled = None if self.pooled is None or other.pooled is None else self.pooled.plus(other.pooled)
        tenths = tuple(a + b for a, b in zip(self.tenths, other.tenths, strict=True))
        return LabelTally(self.sequences + other.sequences, self.below + other.below, tenths, pooled)

    def p_values(self) -> list[float]:
        """List what the sequences say together: the share below `LEVEL`, evenness from 55 on, and all bits pooled."""
        found = [share_p(self.below, self.sequences)]
        if self.sequences >= LEAST_FOR_UNIFORMITY:
            found.append(float(chdtrc(TENTHS - 1, pearson(self.tenths, [1 / TENTHS] * TENTHS))))
        if self.pooled is not None:
            found.append(self.pooled.p)
        return found


@dataclass(frozen=True, slots=True)
class BitsTally:
    """What sequences of bits showed, by test and label. Adding is associative and commutative: all sums are exact."""

    bits: int
    tests: Mapping[str, Mapping[str, LabelTally]]

    def __add__(self, other: BitsTally) -> BitsTally:
        names = {**self.tests, **other.tests}
        return BitsTally(
            self.bits + other.bits,
            {name: _merged(self.tests.get(name, {}), other.tests.get(name, {})) for name in names},
        )


def tally_bits(bits: Bits, tests: Mapping[str, BitTest] = SP80022) -> BitsTally:
    """Put one sequence through the tests; raises InputError where it is too short for one of them."""
    return BitsTally(
        bits.size,
        {name: {score.label: _tally_score(score) for score in test(bits)} for name, test in tests.items()},
    )


def add_up_bits(tallies: Iterable[BitsTally]) -> BitsTally:
    """Add tallies of sequences of one length; of none, one of no bits."""
    return reduce(BitsTally.__add__, tallies, BitsTally(0, {}))


def judge_bits(tally: BitsTally) -> tuple[CheckResult, ...]:
    """Give one result for each test in the tally, its p-values corrected for their number (Bonferroni).

    A test that applied to no sequence (too few cycles) says so, with p = 1. Raises InputError on a tally of no bits.
    """
    if not tally.bits:
        raise InputError(expected("1 or more bits", 0, "tally"))
    return tuple(_judge(SP80022[name], labels, tally.bits) for name, labels in tally.tests.items())


def share_p(below: int, sequences: int) -> float:
    """Compute twice the smaller binomial tail of the p-values below `LEVEL`, at most 1."""
    level = float(LEVEL)
    at_least = float(bdtrc(below - 1, sequences, level)) if below else 1.0
    return min(1.0, 2 * min(at_least, float(bdtr(below, sequences, level))))


def _judge(test: BitTest, labels: Mapping[str, LabelTally], bits: int) -> CheckResult:
    found = [p for tally in labels.values() for p in tally.p_values()]
    smallest = min(found, default=1.0)
    return CheckResult(
        name=f"bits_{test.name}",
        null=f"{test.null} (n: bits)",
        statistic=smallest,
        distribution=f"smallest of {len(found)} p-values, Bonferroni" if found else "not applicable: too few cycles",
        dof=None,
        n=bits,
        p=bonferroni(found) if found else 1.0,
        effect=max((tally.below / tally.sequences - float(LEVEL) for tally in labels.values()), default=0.0),
        effect_name="largest share of p-values below .01, less .01",
        items=tuple(_line(label, tally) for label, tally in labels.items()),
    )


def _line(label: str, tally: LabelTally) -> LineItem:
    mean = tally.sequences * LEVEL
    error = sqrt(mean * (1 - LEVEL))
    return LineItem(f"{label}: p < .01", tally.below, mean, float(tally.below - mean) / error)


def _tally_score(score: Score) -> LabelTally:
    tenth = min(int(score.p * TENTHS), TENTHS - 1)
    tenths = tuple(int(at == tenth) for at in range(TENTHS))
    return LabelTally(1, int(score.p < LEVEL), tenths, score.evidence)


def _merged(one: Mapping[str, LabelTally], other: Mapping[str, LabelTally]) -> Mapping[str, LabelTally]:
    labels = {**one, **other}
    return {
        label: one[label].plus(other[label]) if label in one and label in other else tally
        for label, tally in labels.items()
    }
