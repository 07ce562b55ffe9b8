"""Checks of a table's own bets: the pairs that they look at, and what each gives back of a unit staked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm, sqrt
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.special import gammainc, gammaincc, ndtr, ndtri

from audit.cells import CELLS
from audit.checks.result import CheckResult, Interval, LineItem
from audit.checks.returns import LEVEL
from audit.checks.table import Table, judge, require_judged
from audit.gains import Gain, GainLaw, unit_gains, unit_laws, unit_skewness
from audit.pair_law import BothPairs, pair_covariance
from audit.showings import showings
from audit.tally import Tally
from shoe.errors import InputError, expected
from shoe.game.bets.shown import PAIRS, Shown
from shoe.game.bets.wagers import Bet

LEAST_EXPECTED: Final = 5
MOST_SKEWED: Final = Fraction(1, 10)
"""The most skewness, squared, of a bet's whole gain at which its tails are taken by `skewed_tails`."""

_NEARLY_EVEN: Final = 1e-6

Seen = Mapping[Shown, int]


def seen_by_bets(cells: npt.NDArray[np.int64], pair_cells: npt.NDArray[np.int64]) -> dict[Shown, int]:
    """Count what judged coups showed, from `Block`'s counts; where pairs were not counted, as if there were none."""
    counts = pair_cells.reshape(len(CELLS), len(PAIRS), len(PAIRS)) if len(pair_cells) else cells[:, None, None]
    found = Counter[Shown]()
    for cell, one, other in np.argwhere(counts).tolist():
        at = CELLS[cell]
        pairs = PAIRS[one], PAIRS[other]
        shown = Shown(at.player_total, at.banker_total, at.player_cards, at.banker_cards, *pairs)
        found[shown] += int(counts[cell, one, other])
    return dict(found)


def least_for_pairs(decks: int) -> Fraction:
    """Say how many judged coups give every class of both hands' pairs an expected count of 5."""
    return LEAST_EXPECTED / min(pair_covariance(decks).p)


def pair_classes(seen: Seen, tally: Tally, decks: int) -> CheckResult:
    """Test the classes of both hands' pairs together by Q = d′V⁻d, V the exact covariance on coups 1…K.

    Raises InputError like `outcomes.structural_zeros`.
    """
    counts = Counter[BothPairs]()
    for shown, count in seen.items():
        counts[shown.player_pair, shown.banker_pair] += count
    table = Table(counts, tally, pair_covariance(decks), lambda both: f"player {both[0]}, banker {both[1]}")
    return judge("pair_classes", "the pairs of both hands", table, decks)


def least_for_returns(decks: int, bets: tuple[Bet, ...]) -> Fraction:
    """Say from how many judged coups on no bet's gain is skewed more than `MOST_SKEWED`."""
    return max(unit_skewness(decks, bet) for bet in bets) / MOST_SKEWED


def bet_returns(seen: Seen, tally: Tally, decks: int, bets: tuple[Bet, ...]) -> CheckResult:
    """Test what each of a table's bets gives back of a unit staked on every judged coup, nothing rounded.

    The smallest of the bets' p, each two-sided with its own skewness, is corrected by Bonferroni, for bets hang
    together. A coup that cannot be fails the check by itself. Raises InputError like `outcomes.structural_zeros`, and
    where there are no bets.
    """
    require_judged(tally, decks)
    if not bets:
        raise InputError(expected("1 or more bets", 0, "bets"))
    laws = unit_laws(decks, bets)
    returned = [_Returned.of(bet, law, seen, tally, decks) for bet, law in zip(bets, laws, strict=True)]
    unknown = any(shown not in showings(decks).counts for shown in seen)
    return CheckResult(
        name="bet_returns",
        null=f"each bet gives back 1 less its exact edge, on the first coup of a full shoe of {decks} decks",
        statistic=inf if unknown else max(abs(each.deviation) for each in returned),
        distribution=f"largest of {len(bets)} deviations, each of its own skewness (Bonferroni)",
        dof=None,
        n=tally.n,
        p=0.0 if unknown else min(1.0, len(bets) * min(each.p for each in returned)),
        effect=max(abs(float(each.total - each.mean) / tally.n) for each in returned),
        effect_name="largest deviation of a return, in stakes",
        items=tuple(each.line() for each in returned),
        intervals=tuple(each.interval(len(bets)) for each in returned),
    )


def skewed_tails(deviation: float, skewness: float) -> float:
    """Compute twice the smaller tail beyond a deviation, at most 1, by Pearson's law III of that skewness.

    That is a gamma law moved to mean 0 and spread 1, or the normal law where the skewness is next to nothing.
    """
    if abs(skewness) < _NEARLY_EVEN:
        return min(1.0, 2 * float(ndtr(-abs(deviation))))
    shape = 4 / skewness**2
    at = max(shape + (deviation if skewness > 0 else -deviation) * sqrt(shape), 0.0)
    return min(1.0, 2 * min(float(gammainc(shape, at)), float(gammaincc(shape, at))))


@dataclass(frozen=True, slots=True)
class _Returned:
    """What a bet gave back, in stakes: in all, as expected, its standard error; `unit` makes gains whole numbers."""

    bet: Bet
    n: int
    unit: int
    total: Fraction
    mean: Fraction
    error: float
    p: float

    @classmethod
    def of(cls, bet: Bet, law: GainLaw, seen: Seen, tally: Tally, decks: int) -> _Returned:
        gains = unit_gains(decks, bet)
        n, error = tally.n, law.error(tally.n, tally.pairs)
        total = n + sum((count * _gain(gains, shown) for shown, count in seen.items()), Fraction(0))
        mean = n * (1 + law.mean)
        skewness = n * float(law.third) / error**3
        p = skewed_tails(float(total - mean) / error, skewness)
        unit = lcm(*(Fraction(gain).denominator for gain in gains.values()))
        return cls(bet, n, unit, Fraction(total), mean, error, p)

    @property
    def deviation(self) -> float:
        return float(self.total - self.mean) / self.error

    def line(self) -> LineItem:
        unit = "stakes" if self.unit == 1 else f"stakes / {self.unit}"
        label = f"{self.bet.name}: returned, in {unit}"
        return LineItem(label, int(self.total * self.unit), self.mean * self.unit, self.deviation)

    def interval(self, bets: int) -> Interval:
        share, reach = float(self.total) / self.n, -float(ndtri(float(1 - LEVEL) / bets / 2)) * self.error / self.n
        return Interval(self.bet.name, self.total / self.n, share - reach, share + reach, self.mean / self.n, LEVEL)


def _gain(gains: Mapping[Shown, Gain], shown: Shown) -> Gain:
    return gains.get(shown, 0)
