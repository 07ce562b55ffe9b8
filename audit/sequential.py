"""Evidence that may be looked at after every coup: multinomial e-processes, and e-CUSUM for change points.

An e-process starts at 1 and, if the null is true, is expected to stay there whenever one looks: it passes 1/α with
probability at most α, ever. Here it is the wealth of a gambler who, before each coup, bets on outcomes in the ratio
r(y) = (w·p(y) + s(y)) / ((w + n)·p(y)) after counts s of n coups. A coup x multiplies the wealth by
r(x) / Σ π(y)·r(y), where π are the coup's own probabilities. With π = p the sum is 1 and this is the process of Lindon
and Malek, "Anytime-valid inference for multinomial count data" (NeurIPS 2022). With the π that follow from the cards
not yet seen (`audit.deals.next_outcome`) it is strictly valid within a shoe too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import exp, fsum, inf, log
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from shoe.errors import InputError, expected
from shoe.proof.canonical import MAX_INTEGER, Path, place
from shoe.proof.forms import INDEX, NAME, Form, list_of, read_fields, write_fields

WEIGHTS: Final = (10, 100, 1000)
"""Prior weights w, mixed in equal parts: small ones find large faults early, large ones small faults late."""

MOVES: Final = (0.01, 0.02, 0.04, 0.08)
"""Probability moved from one outcome to another, in the alternatives that e-CUSUM bets on."""

CHANGE_LOG_THRESHOLD: Final = log(10**6)
"""Without a change, e-CUSUM needs on average at least 10⁶ coups to pass 10⁶."""

_HEX_FLOAT: Final = re.compile(r"-?(0x[01]\.[0-9a-f]{13}p[+-][0-9]{1,4}|0x0\.0p\+0|inf)")


def _read_real(value: object, path: Path) -> float:
    if not isinstance(value, str) or not _HEX_FLOAT.fullmatch(value):
        raise InputError(expected("a real in hexadecimal, as float.hex prints it", value, place(path)))
    return float.fromhex(value)


REAL: Final = Form(_read_real, float.hex, {"type": "string", "pattern": f"^{_HEX_FLOAT.pattern}$"})
"""A real number, exactly: canonical JSON has no floats (protocol §8)."""

_LABELS: Final = list_of(NAME, 2, 100)
_PROBABILITIES: Final = list_of(REAL, 2, 100)


@dataclass(frozen=True, slots=True)
class Evidence:
    """An e-process so far: the null, the counts, and the logs of the wealth, one for each of `WEIGHTS`.

    `log_peak` is the largest log e-value that was reached after any coup, 0 at the start.
    """

    labels: Annotated[tuple[str, ...], _LABELS]
    p: Annotated[tuple[float, ...], _PROBABILITIES]
    counts: Annotated[tuple[int, ...], list_of(INDEX, 2, 100)]
    log_wealth: Annotated[tuple[float, ...], list_of(REAL, len(WEIGHTS), len(WEIGHTS))]
    log_peak: Annotated[float, REAL]

    @property
    def n(self) -> int:
        """Count the coups."""
        return sum(self.counts)

    @property
    def log_e(self) -> float:
        """Compute the natural logarithm of the e-value: of the mean wealth over the weights."""
        return _log_mean(self.log_wealth)

    @property
    def p_value(self) -> float:
        """Compute the p-value that is valid at every coup at once: the least 1/E so far."""
        return exp(-self.log_peak)

    def alarms(self, log_threshold: float) -> bool:
        """Say whether the e-value ever reached the threshold: log(M/α) for M tables (`audit.multiple`)."""
        return self.log_peak >= log_threshold

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, without floats: reals as exact hexadecimals (protocol §8)."""
        return write_fields(self)


@dataclass(frozen=True, slots=True)
class Change:
    """An e-CUSUM so far: coups seen, one log for each alternative, and the largest log of their mean.

    `since[k]` is the coup after which alternative k was last started anew.
    """

    labels: Annotated[tuple[str, ...], _LABELS]
    p: Annotated[tuple[float, ...], _PROBABILITIES]
    n: Annotated[int, INDEX]
    logs: Annotated[tuple[float, ...], list_of(REAL, 1, MAX_INTEGER)]
    since: Annotated[tuple[int, ...], list_of(INDEX, 1, MAX_INTEGER)]
    log_peak: Annotated[float, REAL]

    @property
    def log_e(self) -> float:
        """Compute the log of the mean over the alternatives."""
        return _log_mean(self.logs)

    @property
    def changed_after(self) -> int:
        """Estimate the change point: after so many coups the strongest alternative was last started."""
        return self.since[self.logs.index(max(self.logs))]

    def alarms(self, log_threshold: float = CHANGE_LOG_THRESHOLD) -> bool:
        """Say whether the mean ever reached the threshold."""
        return self.log_peak >= log_threshold

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, without floats: reals as exact hexadecimals (protocol §8)."""
        return write_fields(self)


def begin(null: Mapping[str, Fraction]) -> Evidence:
    """Start an e-process against a null: every label with its probability, positive, together 1.

    Raises InputError for fewer than two labels or other probabilities.
    """
    labels, p = _null(null)
    return Evidence(labels, p, (0,) * len(p), (0.0,) * len(WEIGHTS), 0.0)


def update(state: Evidence, outcome: str, coup_law: Mapping[str, Fraction] | None = None) -> Evidence:
    """Go past one coup.

    `coup_law` are the coup's own probabilities, fixed before it was dealt, such as those that follow from the cards not
    yet seen; without, those of the null. An outcome that `coup_law` rules out makes the e-value infinite. Raises
    InputError for an outcome that is no label, or a law over other labels.
    """
    x = _place(state.labels, outcome)
    pi = state.p if coup_law is None else _coup_law(state.labels, coup_law)
    wealth = tuple(
        log_e
        + _log_payoff([(w * p + s) / ((w + state.n) * p) for p, s in zip(state.p, state.counts, strict=True)], pi, x)
        for w, log_e in zip(WEIGHTS, state.log_wealth, strict=True)
    )
    counts = tuple(s + (y == x) for y, s in enumerate(state.counts))
    return replace(state, counts=counts, log_wealth=wealth, log_peak=max(state.log_peak, _log_mean(wealth)))


def begin_change(null: Mapping[str, Fraction]) -> Change:
    """Start an e-CUSUM against a null, with the alternatives of `MOVES` between every two outcomes.

    An alternative that would take more than an outcome has is left out. Raises InputError like `begin`, and where
    none is left.
    """
    labels, p = _null(null)
    alternatives = len(_ratios(p))
    if alternatives == 0:
        raise InputError(expected(f"an outcome of probability over {MOVES[0]}", p, "null"))
    return Change(labels, p, 0, (0.0,) * alternatives, (0,) * alternatives, 0.0)


def update_change(state: Change, outcome: str, coup_law: Mapping[str, Fraction] | None = None) -> Change:
    """Go past one coup: an alternative that has lost against the null starts anew, then bets as in `update`.

    The mean of the alternatives is at most a Shiryaev–Roberts sum of e-processes begun at every coup, whose excess
    over n is a martingale: hence the mean time to a false alarm. Raises InputError like `update`. Source: Shin, Ramdas
    and Rinaldo, "E-detectors" (New England Journal of Statistics in Data Science, 2024).
    """
    x = _place(state.labels, outcome)
    pi = state.p if coup_law is None else _coup_law(state.labels, coup_law)
    logs = tuple(
        max(log_e, 0.0) + _log_payoff(ratio, pi, x) for log_e, ratio in zip(state.logs, _ratios(state.p), strict=True)
    )
    since = tuple(state.n if log_e <= 0 else start for log_e, start in zip(state.logs, state.since, strict=True))
    return replace(state, n=state.n + 1, logs=logs, since=since, log_peak=max(state.log_peak, _log_mean(logs)))


def evidence_from_json(value: object) -> Evidence:
    """Read an e-process from the object that `Evidence.to_json` made.

    Raises InputError, with the place, for a missing or further key or a value of the wrong form.
    """
    state = Evidence(**read_fields(Evidence, value))
    _require_lengths({"p": state.p, "counts": state.counts}, len(state.labels))
    return state


def change_from_json(value: object) -> Change:
    """Read an e-CUSUM from the object that `Change.to_json` made. Raises InputError like `evidence_from_json`."""
    state = Change(**read_fields(Change, value))
    _require_lengths({"p": state.p}, len(state.labels))
    _require_lengths({"logs": state.logs, "since": state.since}, len(_ratios(state.p)))
    return state


def log_e_path(outcomes: npt.NDArray[np.integer], null: Sequence[float]) -> npt.NDArray[np.float64]:
    """Compute the log e-value after each of n coups against fixed probabilities, for a whole sequence at once.

    `outcomes` has the numbers of the labels, shape (n,); the result has the same shape. Agrees with `update` but for
    rounding, at 10⁷ coups a second or so. Raises InputError for a number that is no label's.
    """
    if outcomes.size and not 0 <= int(outcomes.min()) <= int(outcomes.max()) < len(null):
        raise InputError(expected(f"outcomes 0 to {len(null) - 1}", int(outcomes.max()), "outcomes"))
    n = len(outcomes)
    counts = [np.cumsum(outcomes == label) for label in range(len(null))]
    wealth = np.empty((len(WEIGHTS), n))
    for row, w in enumerate(WEIGHTS):
        wealth[row] = -_cumulated(w, 1.0, n)[1:]
        for p, count in zip(null, counts, strict=True):
            wealth[row] += _cumulated(w * p, p, n)[count]
    peak = wealth.max(axis=0)
    path: npt.NDArray[np.float64] = peak + np.log(np.exp(wealth - peak).mean(axis=0))
    return path


def _cumulated(a: float, p: float, n: int) -> npt.NDArray[np.float64]:
    """Sum log((a + j)/p) over j < s, for s = 0…n."""
    return np.concatenate(([0.0], np.cumsum(np.log((a + np.arange(n)) / p))))


def _log_payoff(ratio: Sequence[float], pi: Sequence[float], x: int) -> float:
    if pi[x] == 0:
        return inf
    return log(ratio[x] / fsum(chance * r for chance, r in zip(pi, ratio, strict=True)))


@cache
def _ratios(p: tuple[float, ...]) -> tuple[tuple[float, ...], ...]:
    """List the alternatives over the null: from y to x, a probability of `MOVES` that y has to give."""
    places = range(len(p))
    return tuple(
        tuple(1 + move * ((z == x) - (z == y)) / p[z] for z in places)
        for x in places
        for y in places
        for move in MOVES
        if x != y and move < p[y]
    )


def _log_mean(logs: Sequence[float]) -> float:
    peak = max(logs)
    if peak == inf:
        return inf
    return peak + log(fsum(exp(value - peak) for value in logs) / len(logs))


def _null(null: Mapping[str, Fraction]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    if len(null) < 2 or min(null.values()) <= 0 or sum(null.values()) != 1:
        raise InputError(expected("two or more positive probabilities, together 1", dict(null), "null"))
    return tuple(null), tuple(float(p) for p in null.values())


def _coup_law(labels: Sequence[str], law: Mapping[str, Fraction]) -> list[float]:
    if set(law) != set(labels) or min(law.values()) < 0 or sum(law.values()) != 1:
        raise InputError(expected(f"probabilities of {', '.join(labels)}, together 1", dict(law), "coup_law"))
    return [float(law[label]) for label in labels]


def _place(labels: Sequence[str], outcome: str) -> int:
    if outcome not in labels:
        raise InputError(expected(" or ".join(labels), outcome, "outcome"))
    return labels.index(outcome)


def _require_lengths(lists: Mapping[str, Sequence[object]], length: int) -> None:
    for key, values in lists.items():
        if len(values) != length:
            raise InputError(expected(f"{length} items", len(values), key))
