"""Counts and sums of known law, judged: χ² over classes, normal and Poisson tails on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import erfc, inf, sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaincc, pdtr, pdtrc

from audit.checks.result import CheckResult, LineItem
from shoe.errors import InputError, expected

LEAST_EXPECTED: Final = 5
"""Neighbouring classes are taken together until each is expected so often."""


class Classes(NamedTuple):
    """Classes of a count in order, each with its label, the times it was seen, and its probability."""

    labels: Sequence[str]
    counts: Sequence[int]
    p: Sequence[Fraction]


def chi_square(name: str, null: str, classes: Classes) -> CheckResult:
    """Test counts of independent trials by Pearson's χ², neighbouring classes pooled to `LEAST_EXPECTED`.

    A count in a class of probability 0 fails by itself. Raises InputError where nothing was counted.
    """
    n = sum(classes.counts)
    require_some(n, "trials", name)
    impossible = any(count and not p for count, p in zip(classes.counts, classes.p, strict=True))
    labels, counts, p = _pooled(classes, n)
    statistic = inf if impossible else sum(float((c - n * q) ** 2 / (n * q)) for c, q in zip(counts, p, strict=True))
    dof = len(counts) - 1
    return CheckResult(
        name=name,
        null=null,
        statistic=statistic,
        distribution="chi-square",
        dof=dof,
        n=n,
        p=gamma_tail(statistic, dof, 2 * dof),
        effect=sqrt(statistic / n),
        effect_name="w = sqrt(statistic / n)",
        items=tuple(_line(*row, n) for row in zip(labels, counts, p, strict=True)),
    )


def normal(name: str, null: str, *, what: str, total: int, mean: Fraction, variance: Fraction, n: int) -> CheckResult:
    """Test a sum over `n` independent trials, of which `mean` and `variance` are the sum's, by the normal law.

    p is two-sided, without continuity correction: sums here have a standard error of many units. Raises InputError
    for no trials.
    """
    require_some(n, "trials", name)
    error = sqrt(variance)
    above = float(total - mean)
    deviation = above / error if error else (inf if above else 0.0)
    return CheckResult(
        name=name,
        null=null,
        statistic=deviation,
        distribution="normal",
        dof=None,
        n=n,
        p=erfc(abs(deviation) / sqrt(2)),
        effect=deviation / sqrt(n),
        effect_name="deviation of the mean, in standard deviations of one trial",
        items=(LineItem(what, total, mean, deviation),),
    )


def poisson(name: str, null: str, *, what: str, total: int, mean: Fraction, n: int) -> CheckResult:
    """Test a count of rare things over `n` trials by both Poisson tails: p is twice the smaller, at most 1.

    Raises InputError for no trials.
    """
    require_some(n, "trials", name)
    rate = float(mean)
    low = float(pdtr(total, rate))
    high = float(pdtrc(total - 1, rate)) if total else 1.0
    deviation = float(total - mean) / sqrt(rate)
    return CheckResult(
        name=name,
        null=null,
        statistic=float(total),
        distribution=f"Poisson with mean {rate:.6g}",
        dof=None,
        n=n,
        p=min(1.0, 2 * min(low, high)),
        effect=float(total / mean) - 1,
        effect_name="excess over the mean, as a share of it",
        items=(LineItem(what, total, mean, deviation),),
    )


def gamma_tail(statistic: float, mean: float, variance: float) -> float:
    """Compute P(X ≥ statistic) for the gamma law of that mean and variance: χ²(k) where they are k and 2k.

    Without variance there is nothing to judge, and p is 1; infinite statistics have p 0.
    """
    if statistic == inf:
        return 0.0
    return float(gammaincc(mean * mean / variance, statistic * mean / variance)) if variance else 1.0


def equal_classes_tail(statistic: float, k: int, n: int) -> float:
    """Compute P(χ² ≥ statistic) of `n` trials in `k` equal classes, by the gamma law of its first three moments.

    χ² is 2k/n times the number of pairs of trials in one class, but for a constant. Pairs are independent two by two;
    three trials make the third moment. It matters where few trials fall in a class and p is small. Of fewer than
    three trials nothing is told: p is 1.
    """
    if n < 3:
        return 1.0
    variance = 2 * (k - 1) * (n - 1) / n
    third = 8 * (k - 1) * (n - 1) / n**2 * ((k - 2) / 2 + n - 2)
    skewness = third / variance**1.5
    shape = 4 / skewness**2
    return float(gammaincc(shape, max(shape + (statistic - (k - 1)) / sqrt(variance) * sqrt(shape), 0.0)))


def sidak(p: float | npt.NDArray[np.float64], of: int) -> float:
    """Correct the smallest p of `of` independent ones: 1 − (1 − p)^of."""
    smallest = float(np.min(p))
    return float(-np.expm1(of * np.log1p(-smallest))) if smallest < 1 else 1.0


def require_some(count: int, what: str, where: str) -> None:
    """Raise InputError for a count of nothing."""
    if count < 1:
        raise InputError(expected(f"1 or more {what}", count, where))


def _pooled(classes: Classes, n: int) -> tuple[list[str], list[int], list[Fraction]]:
    """Take neighbours together from the left until each is expected often enough; what is left joins the last."""
    rows: list[tuple[list[str], int, Fraction]] = []
    open_row: tuple[list[str], int, Fraction] = ([], 0, Fraction(0))
    for label, count, p in zip(*classes, strict=True):
        names, counted, chance = open_row
        open_row = ([*names, label], counted + count, chance + p)
        if n * open_row[2] >= LEAST_EXPECTED:
            rows.append(open_row)
            open_row = ([], 0, Fraction(0))
    if open_row[0]:
        names, counted, chance = rows.pop() if rows else ([], 0, Fraction(0))
        rows.append(([*names, *open_row[0]], counted + open_row[1], chance + open_row[2]))
    labels = [names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}" for names, _, _ in rows]
    return labels, [counted for _, counted, _ in rows], [chance for _, _, chance in rows]


def _line(label: str, count: int, p: Fraction, n: int) -> LineItem:
    error = sqrt(n * p * (1 - p))
    return LineItem(label, count, n * p, float(count - n * p) / error if error else 0.0)
