"""How many coups it takes: power of the frequency checks, sizes before a run, and one finding against another."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log1p, sqrt
from typing import Final, TypeVar

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtrc, chdtri, chndtr, ndtr

from audit.checks.result import CheckResult, LineItem
from audit.covariance import TwoCoupCovariance
from shoe.errors import InputError, expected

Label = TypeVar("Label", bound=Hashable)

LEAST_EXPECTED: Final = 5
"""Counts of which less is expected are put together before two findings are compared."""

_FARTHEST: Final = 1e12


@dataclass(frozen=True, slots=True)
class Effect:
    """How far an alternative's law lies from the null's, in `cells` cells that the null allows.

    After n coups of the alternative, χ² over the cells has mean `mean` + n·`noncentrality` and, but for terms that
    vanish, variance `variance` + 4n·`spread`. `impossible` is the probability of a coup that the null rules out, which
    fails the check by itself.
    """

    cells: int
    noncentrality: float
    impossible: float
    mean: float
    variance: float
    spread: float

    @property
    def w(self) -> float:
        """Compute Cohen's effect size w: √Σ(q−p)²/p over the cells that the null allows."""
        return sqrt(self.noncentrality)

    def power(self, coups: int, level: float) -> float:
        """Compute the probability that χ² over the cells rejects at `level`, by the noncentral χ² law.

        That is the law of small effects, as if the alternative's cells spread like the null's; impossible coups are not
        counted in.
        """
        return 1 - float(chndtr(self._critical(level), self.cells - 1, coups * self.noncentrality))

    def power_by_moments(self, coups: int, level: float) -> float:
        """Compute the same probability by the normal law with the alternative's own mean and variance.

        For large effects, where the noncentral χ² law misleads: true to some 4 % of the coups needed, 15 % where a few
        rare cells carry the effect.
        """
        above = self.mean + coups * self.noncentrality - self._critical(level)
        return float(ndtr(above / sqrt(self.variance + 4 * coups * self.spread)))

    def need(self, level: float, power: float) -> int | None:
        """Compute the coups after which `power` is reached; None where the frequencies are the null's.

        Raises InputError unless 0 < level < power < 1.
        """
        needed = needed_noncentrality(self.cells - 1, level, power)
        return ceil(needed / self.noncentrality) if self.noncentrality else None

    def need_by_moments(self, level: float, power: float) -> int | None:
        """Compute the coups after which `power_by_moments` reaches `power`; None like `need`.

        Raises InputError unless 0 < level < power < 1.
        """
        start = self.need(level, power)
        if start is None:
            return None
        low, high = 0, start
        while self.power_by_moments(high, level) < power:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.power_by_moments(middle, level) >= power else (middle, high)
        return high

    def impossible_need(self, power: float) -> int | None:
        """Compute the coups among which an impossible one is found with probability `power`; None where there are none.

        Raises InputError unless 0 < power < 1.
        """
        _require(0 < power < 1, "a power between 0 and 1", power, "power")
        return ceil(log1p(-power) / log1p(-self.impossible)) if self.impossible else None

    def _critical(self, level: float) -> float:
        return float(chdtri(self.cells - 1, level))


def effect(null: Mapping[Label, Fraction], alternative: Mapping[Label, Fraction]) -> Effect:
    """Compare an alternative's exact law with the null's, cell by cell, for independent coups.

    Raises InputError for a null that does not give every one of two or more cells a positive probability.
    """
    _require(len(null) > 1 and min(null.values()) > 0, "two or more cells of positive probability", len(null), "null")
    difference = [(p, alternative.get(cell, Fraction(0))) for cell, p in null.items()]
    p, q = (np.array([float(chance) for chance in column]) for column in zip(*difference, strict=True))
    above = np.array([float(chance - expected_chance) for expected_chance, chance in difference]) / p
    return Effect(
        cells=len(null),
        noncentrality=float(p @ above**2),
        impossible=float(sum((q for cell, q in alternative.items() if cell not in null), Fraction(0))),
        mean=float((q * (1 - q) / p).sum()),
        variance=float(2 * ((q**2 / p**2 * (1 - 2 * q)).sum() + (q**2 / p).sum() ** 2)),
        spread=float(q @ above**2 - (q @ above) ** 2),
    )


def effect_within_shoes(law: TwoCoupCovariance[Label], alternative: Mapping[Label, Fraction], judged: int) -> Effect:
    """Compare like `effect`, for Q = d′V⁻d over the `judged` coups 1…K of every shoe, which are not independent.

    `law` must give every label a positive probability. Mean, variance and spread are those of the noncentral χ² law.
    Raises InputError unless K ≥ 1.
    """
    _require(judged >= 1, "1 or more judged coups a shoe", judged, "judged")
    excess = [alternative.get(label, Fraction(0)) - p for label, p in zip(law.labels, law.p, strict=True)]
    # What went to impossible coups is put on the last label: frequencies that add up fix it, whatever it is.
    d = np.array([*excess[:-1], -sum(excess[:-1])], dtype=np.float64)
    noncentrality = judged * law.quadratic(d, judged, judged * (judged - 1))
    dof = len(law.labels) - 1
    impossible = sum((q for label, q in alternative.items() if label not in law.labels), Fraction(0))
    return Effect(len(law.labels), noncentrality, float(impossible), dof, 2 * dof, noncentrality)


def needed_noncentrality(dof: int, level: float, power: float) -> float:
    """Compute the noncentrality with which χ² of `dof` degrees of freedom rejects at `level` with `power`.

    Raises InputError unless 0 < level < power < 1.
    """
    _require(0 < level < power < 1, "0 < level < power < 1", (level, power), "level, power")
    critical = float(chdtri(dof, level))
    return float(brentq(lambda nc: 1 - chndtr(critical, dof, nc) - power, 0, _reach(critical, dof, power), rtol=1e-12))


def compare(one: Mapping[Label, int], other: Mapping[Label, int]) -> CheckResult:
    """Test whether two findings' counts come from one law, by χ² of homogeneity.

    Labels of which either finding would be expected to have fewer than `LEAST_EXPECTED` are counted together. Coups of
    one shoe hang together a little: on coups 1…K that makes this test reject a true null slightly too rarely. Raises
    InputError for a negative count, a finding of no coups, or where fewer than two cells are left.
    """
    _require(min((*one.values(), *other.values()), default=0) >= 0, "counts of 0 or more", "a negative one", "counts")
    sizes = sum(one.values()), sum(other.values())
    _require(min(sizes) > 0, "1 or more coups in both findings", sizes, "counts")
    cells = _common_cells(one, other, Fraction(min(sizes), sum(sizes)))
    _require(len(cells) > 1, "two or more cells to compare", len(cells), "counts")
    share = Fraction(sizes[0], sum(sizes))
    excess = [(label, a, (a + b) * share, (a + b) * share * (1 - share)) for label, a, b in cells]
    statistic = float(sum((a - mean) ** 2 / variance for _, a, mean, variance in excess))
    return CheckResult(
        name="comparison",
        null="both findings' coups have one and the same law (n: coups of both)",
        statistic=statistic,
        distribution="chi-square",
        dof=len(cells) - 1,
        n=sum(sizes),
        p=float(chdtrc(len(cells) - 1, statistic)),
        effect=sqrt(statistic / sum(sizes)),
        effect_name="w = sqrt(statistic / n)",
        items=tuple(LineItem(label, a, mean, float(a - mean) / sqrt(variance)) for label, a, mean, variance in excess),
    )


def _common_cells(
    one: Mapping[Label, int], other: Mapping[Label, int], smaller: Fraction
) -> list[tuple[str, int, int]]:
    """List label and both counts; labels rare in the smaller finding come last, together, until they are not rare."""
    counts = sorted(
        ((str(label), one.get(label, 0), other.get(label, 0)) for label in {**one, **other}),
        key=lambda cell: (-cell[1] - cell[2], cell[0]),
    )
    rest: list[tuple[str, int, int]] = []
    while counts and (_rare(counts[-1:], smaller) or (rest and _rare(rest, smaller))):
        rest.append(counts.pop())
    together = ("the rare ones", sum(a for _, a, _ in rest), sum(b for _, _, b in rest))
    return [*sorted(counts), together] if together[1] + together[2] else sorted(counts)


def _rare(cells: list[tuple[str, int, int]], smaller: Fraction) -> bool:
    return sum(a + b for _, a, b in cells) * smaller < LEAST_EXPECTED


def _reach(critical: float, dof: int, power: float) -> float:
    """Find a noncentrality at which the power is reached."""
    farthest = 1.0
    while 1 - chndtr(critical, dof, farthest) < power and farthest < _FARTHEST:
        farthest *= 2
    return farthest


def _require(holds: bool, what: str, got: object, where: str) -> None:
    if not holds:
        raise InputError(expected(what, got, where))
