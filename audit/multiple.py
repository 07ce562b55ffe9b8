"""Many p-values, one verdict: Holm over named checks, Bonferroni and Simes within a check, e-BH over tables.

p-values are compared exactly: a double is taken for the fraction that it is, and levels are fractions, so that nothing
hangs on how a product was rounded.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, log
from typing import Final

from shoe.errors import InputError, expected

COLLECTIVE_LEVEL: Final = Fraction(1, 100)
"""The level of "collectively at 99 %" (25 CFR 547.14): Holm at .01 over all named checks."""

_ONE: Final = Fraction(1)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """One named p-value and its Holm-adjusted one, which is at most the level where the check is rejected."""

    name: str
    p: float
    adjusted: Fraction
    rejected: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """All checks of a family in the order of their p-values, ties by name; `level` bounds the chance of any error."""

    level: Fraction
    checks: tuple[Adjusted, ...]

    @property
    def rejected(self) -> tuple[str, ...]:
        """Name the checks that failed, the smallest p first."""
        return tuple(check.name for check in self.checks if check.rejected)

    @property
    def passed(self) -> bool:
        """Say whether no check failed."""
        return not self.rejected

    @property
    def words(self) -> str:
        """Say how it came out, as a clause without an end."""
        m, percent = len(self.checks), 100 * (1 - self.level)
        if self.rejected:
            return f"{len(self.rejected)} of {m} checks fail, Holm at {self.level}: {', '.join(self.rejected)}"
        passing = f"all {m} checks pass collectively" if m > 1 else "the one check passes"
        return f"{passing} at {percent} % (Holm at {self.level})"


def holm(p_values: Mapping[str, float], level: Fraction = COLLECTIVE_LEVEL) -> Verdict:
    """Adjust p-values by Holm's step-down rule: p̃₍ᵢ₎ = max over j ≤ i of min(1, (m−j+1)·p₍ⱼ₎), rejected where ≤ level.

    Whatever the dependence, any true null among the m is rejected with probability at most `level`. Equal p-values
    have equal adjusted ones. Raises InputError for no p-values, one that is no number from 0 to 1, or a level outside
    of (0, 1). Source: Holm, Scandinavian Journal of Statistics 6 (1979).
    """
    _require_level(level)
    exact = _fractions(p_values)
    ordered = sorted(exact, key=lambda name: (exact[name], name))
    checks, largest = [], Fraction(0)
    for rank, name in enumerate(ordered):
        largest = max(largest, min(_ONE, (len(ordered) - rank) * exact[name]))
        checks.append(Adjusted(name, p_values[name], largest, largest <= level))
    return Verdict(level, tuple(checks))


def bonferroni(p_values: Collection[float]) -> float:
    """Combine the p-values of one family, whatever their dependence: min(1, m · smallest).

    Raises InputError like `holm`.
    """
    return float(min(_ONE, len(p_values) * min(_numbered(p_values))))


def simes(p_values: Collection[float]) -> float:
    """Combine the p-values of one family that are independent or positively dependent: min of m·p₍ᵢ₎/i.

    Never larger than Bonferroni's. Raises InputError like `holm`. Source: Simes, Biometrika 73 (1986).
    """
    ordered = sorted(_numbered(p_values))
    return float(min(len(ordered) * p / rank for rank, p in enumerate(ordered, start=1)))


def e_bh(log_e_values: Mapping[str, float], level: Fraction = COLLECTIVE_LEVEL) -> tuple[str, ...]:
    """Name the tables that e-BH rejects, the largest e-value first: the k largest, k the last with k·e₍ₖ₎ ≥ m/level.

    Of the rejected ones an expected share of at most `level` are sound, whatever the dependence. `log_e_values` are
    natural logarithms, −∞ to ∞. Raises InputError for none, a NaN, or a level outside of (0, 1). Source: Wang and
    Ramdas, Journal of the Royal Statistical Society B 84 (2022).
    """
    _require_level(level)
    if not log_e_values:
        raise InputError(expected("1 or more e-values", 0, "log_e_values"))
    for name, log_e in log_e_values.items():
        if isnan(log_e):
            raise InputError(expected("a number", log_e, f"log_e_values[{name}]"))
    ordered = sorted(log_e_values, key=lambda name: (-log_e_values[name], name))
    bar = log_threshold(len(ordered), level)
    passing = [k for k, name in enumerate(ordered, start=1) if log_e_values[name] + log(k) >= bar]
    return tuple(ordered[: max(passing, default=0)])


def log_threshold(tables: int, level: Fraction = COLLECTIVE_LEVEL) -> float:
    """Compute log(M/level): what the log e-value of one of M tables must reach for an alarm.

    With it, the chance that any sound table ever alarms is at most `level`. Raises InputError unless M ≥ 1 and 0 <
    level < 1.
    """
    _require_level(level)
    if tables < 1:
        raise InputError(expected("1 or more tables", tables, "tables"))
    return log(tables / level)


def _fractions(p_values: Mapping[str, float]) -> dict[str, Fraction]:
    if not p_values:
        raise InputError(expected("1 or more p-values", 0, "p_values"))
    for name, p in p_values.items():
        if not 0 <= p <= 1:
            raise InputError(expected("a number from 0 to 1", p, f"p_values[{name}]"))
    return {name: Fraction(p) for name, p in p_values.items()}


def _numbered(p_values: Collection[float]) -> list[Fraction]:
    return list(_fractions({str(place): p for place, p in enumerate(p_values)}).values())


def _require_level(level: Fraction) -> None:
    if not 0 < level < 1:
        raise InputError(expected("a level between 0 and 1", level, "level"))
