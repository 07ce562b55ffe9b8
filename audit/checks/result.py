"""What a check answers with: everything that a report prints, and nothing that it would have to compute."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

SMALLEST_P: Final = 1e-300
"""Below this a p-value is printed as ``<1e-300``: never as 0, for doubles run out soon after."""


@dataclass(frozen=True, slots=True)
class LineItem:
    """One count beside its exact expectation, and how many standard errors it lies above it."""

    label: str
    observed: int
    expected: Fraction
    deviation: float

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names; reals as text, the expectation exactly and in decimals."""
        return {
            "label": self.label,
            "observed": self.observed,
            "expected": str(self.expected),
            "expected_decimal": _text(float(self.expected)),
            "deviation": _text(self.deviation),
        }


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the interval around it that holds the true value with probability `level`, beside the exact one.

    With several intervals in one result, `level` is that of all together.
    """

    label: str
    estimate: Fraction
    low: float
    high: float
    exact: Fraction
    level: Fraction

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names; reals as text."""
        return {
            "label": self.label,
            "estimate": _text(float(self.estimate)),
            "low": _text(self.low),
            "high": _text(self.high),
            "exact": str(self.exact),
            "exact_decimal": _text(float(self.exact)),
            "level": str(self.level),
        }


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The outcome of one check, with the counts that it judged.

    `null` states in words what holds if all is well. `distribution` names the law of `statistic` under
    it, `dof` its degrees of freedom where it is χ². `n` counts what was judged, in coups unless `null`
    says otherwise. `p` is 0 only where the null rules out what was seen, or where doubles end. `effect`
    is a size that does not grow with n; `effect_name` says which. `intervals` is printed where there are
    any. All texts are ASCII, as records need them (protocol §8).
    """

    name: str
    null: str
    statistic: float
    distribution: str
    dof: int | None
    n: int
    p: float
    effect: float
    effect_name: str
    items: tuple[LineItem, ...]
    intervals: tuple[Interval, ...] = ()

    @property
    def p_text(self) -> str:
        """Print p to ten digits; below `SMALLEST_P` as ``<1e-300``."""
        return f"<{SMALLEST_P:g}" if self.p < SMALLEST_P else _text(self.p)

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, without floats: fit for canonical JSON (protocol §8)."""
        printed: dict[str, Any] = {
            "name": self.name,
            "null": self.null,
            "statistic": _text(self.statistic),
            "distribution": self.distribution,
            "dof": self.dof,
            "n": self.n,
            "p": self.p_text,
            "effect": _text(self.effect),
            "effect_name": self.effect_name,
            "items": [item.to_json() for item in self.items],
        }
        if self.intervals:
            printed["intervals"] = [interval.to_json() for interval in self.intervals]
        return printed


def _text(real: float) -> str:
    return f"{real:.10g}"
