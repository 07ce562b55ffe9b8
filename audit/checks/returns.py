"""The return to players of each main bet, with the interval that the sample gives it, against the exact edge."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import inf, lcm, pi, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from audit.checks.result import CheckResult, Interval, LineItem
from audit.checks.table import Table, require_judged, tabulate
from audit.covariance import TwoCoupCovariance, two_coup_covariance
from audit.edges import MAIN_BETS, MainBet
from audit.tally import Tally
from shoe.errors import InputError, expected
from shoe.game.tableau import OUTCOMES, Outcome

LEVEL: Final = Fraction(99, 100)
"""The level of all intervals together, at least: each of m has 1 − .01/m."""

_ANGLES: Final = 8192


def returns(tally: Tally, decks: int, bets: tuple[MainBet, ...] = MAIN_BETS) -> CheckResult:
    """Test what each bet gives back of a unit staked on every judged coup, by the normal law.

    The variance is that of a linear form of the outcomes' counts, dependence within shoes included. The bets hang
    together, and p is the probability that the largest of their deviations is as large. A return counts the stake: it
    is 1 less the edge. Raises InputError like `outcomes.structural_zeros`, and where there are no bets.
    """
    require_judged(tally, decks)
    if not bets:
        raise InputError(expected("1 or more bets", 0, "bets"))
    table = tabulate(tally, outcome_law(decks), lambda coup: coup.outcome)
    seen = [_Return.of(bet, table) for bet in bets]
    largest = inf if table.unknown() else max(abs(each.deviation) for each in seen)
    width = float(-ndtri(float(1 - LEVEL) / len(bets) / 2))
    return CheckResult(
        name="returns",
        null=f"each bet gives back 1 less its exact edge, on the first coup of a full shoe of {decks} decks",
        statistic=largest,
        distribution=f"largest of {len(bets)} standard normal deviations that hang together",
        dof=None,
        n=tally.n,
        p=largest_tail(largest, np.array([_back(bet) for bet in bets], dtype=np.float64) @ _root(table)),
        effect=max(abs(float(each.share - each.exact)) for each in seen),
        effect_name="largest deviation of a return, in stakes",
        items=tuple(each.line() for each in seen),
        intervals=tuple(each.interval(width) for each in seen),
    )


@cache
def outcome_law(decks: int) -> TwoCoupCovariance[Outcome]:
    """Compute the covariance of player, banker and tie, in the order of `OUTCOMES`.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    return two_coup_covariance(decks).merged(lambda kind: kind[1], OUTCOMES)


def largest_tail(largest: float, forms: npt.NDArray[np.float64]) -> float:
    """Compute P(max |z| ≥ largest) of normal z, each the standard score of a row of `forms` times one plane normal.

    `forms` is m × 2. In the direction θ the largest score is a length times m(θ), so that the probability is the mean
    over θ of exp(−largest²/2m²). Source: Craig, IEEE MILCOM (1991), for one form.
    """
    if largest == inf:
        return 0.0
    angles = np.arange(_ANGLES) * (2 * pi / _ANGLES)
    scores = forms / np.linalg.norm(forms, axis=1, keepdims=True) @ np.stack([np.cos(angles), np.sin(angles)])
    return float(np.exp(-(largest**2) / 2 / np.maximum(np.abs(scores).max(axis=0), 1e-9) ** 2).mean())


def _back(bet: MainBet) -> list[Fraction]:
    """List what a unit staked gives back, by outcome."""
    return [1 + gain for gain in (bet.on_player, bet.on_banker, bet.on_tie)]


def _root(table: Table[Outcome]) -> npt.NDArray[np.float64]:
    """Find the 3 × 2 matrix that makes the outcomes' counts of two independent standard normals; three add up to n."""
    values, vectors = np.linalg.eigh(table.law.of_counts(table.tally.n, table.tally.pairs))
    return np.asarray(vectors[:, 1:] * np.sqrt(values[1:]), dtype=np.float64)


@dataclass(frozen=True, slots=True)
class _Return:
    """A bet's return per unit staked: as seen, exact, and its standard error; `unit` makes gains whole numbers."""

    bet: MainBet
    n: int
    unit: int
    share: Fraction
    exact: Fraction
    error: float

    @classmethod
    def of(cls, bet: MainBet, table: Table[Outcome]) -> _Return:
        back = _back(bet)
        weights = np.array(back, dtype=np.float64)
        n = table.tally.n
        counts = [table.counts.get(outcome, 0) for outcome in OUTCOMES]
        variance = float(weights @ table.law.of_counts(n, table.tally.pairs) @ weights)
        return cls(
            bet=bet,
            n=n,
            unit=lcm(*(gain.denominator for gain in back)),
            share=sum((gain * count for gain, count in zip(back, counts, strict=True)), Fraction(0)) / n,
            exact=sum((gain * p for gain, p in zip(back, table.law.p, strict=True)), Fraction(0)),
            error=sqrt(variance) / n,
        )

    @property
    def deviation(self) -> float:
        return float(self.share - self.exact) / self.error

    def line(self) -> LineItem:
        unit = "stakes" if self.unit == 1 else f"stakes / {self.unit}"
        scale = self.n * self.unit
        return LineItem(
            f"{self.bet.name}: returned, in {unit}", int(self.share * scale), self.exact * scale, self.deviation
        )

    def interval(self, width: float) -> Interval:
        share, reach = float(self.share), width * self.error
        return Interval(self.bet.name, self.share, share - reach, share + reach, self.exact, LEVEL)
