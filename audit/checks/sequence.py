"""Checks of the order in which winners come."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, erfc, sqrt
from typing import Final

from audit.checks.result import CheckResult, LineItem
from audit.tally import Tally
from shoe.errors import InputError, expected

EXACT_UP_TO: Final = 1000
"""Winners up to which p is exact, in a tenth of a second; beyond, the normal law errs by less than 0.001."""


def runs(tally: Tally) -> CheckResult:
    """Test the number of runs of equal winners, ties left out, given each shoe's wins of either side.

    Coups 1…K of a shoe are exchangeable, so given its wins all orders are equally likely: Wald and
    Wolfowitz' law, convolved over shoes. p is twice the smaller tail, the observed number included, at
    most 1: exact up to `EXACT_UP_TO` winners, beyond it by the normal law with continuity correction.
    Raises InputError where there is no winner. Source: Wald and Wolfowitz, Annals of Mathematical
    Statistics 11 (1940).
    """
    winners = sum(shoes * (banker + player) for (banker, player), shoes in tally.wins.items())
    if winners == 0:
        raise InputError(expected("1 or more coups that are no ties", 0, "tally.wins"))
    mean = sum((n * _mean(*wins) for wins, n in tally.wins.items()), Fraction(0))
    error = sqrt(sum((n * _variance(*wins) for wins, n in tally.wins.items()), Fraction(0)))
    exact = winners <= EXACT_UP_TO
    above = float(tally.runs - mean)
    return CheckResult(
        name="runs",
        null="given the wins of either side in a shoe, every order of winners is equally likely (n: winners)",
        statistic=float(tally.runs),
        distribution="runs, exact" if exact else "normal, with continuity correction",
        dof=None,
        n=winners,
        p=two_sided(total_run_counts(tally), tally.runs) if exact else _normal(abs(above), error),
        effect=above / float(mean),
        effect_name="excess of runs over the mean, as a share of it",
        items=(LineItem("runs", tally.runs, mean, above / error if error else 0.0),),
    )


def run_counts(banker: int, player: int) -> list[int]:
    """Count the orders of `banker` and `player` wins by their runs: 0, 1, 2 and so on."""
    if banker == 0 or player == 0:
        return [0, 1] if banker or player else [1]
    counts = [0, 0]
    for half in range(1, min(banker, player) + 1):
        even = 2 * comb(banker - 1, half - 1) * comb(player - 1, half - 1)
        banker_ends = comb(banker - 1, half) * comb(player - 1, half - 1)
        player_ends = comb(banker - 1, half - 1) * comb(player - 1, half)
        counts += [even, banker_ends + player_ends]
    return counts


def total_run_counts(tally: Tally) -> list[int]:
    """Count the orders of all sequences together by their total of runs: 0, 1, 2 and so on."""
    total = [1]
    for wins, sequences in sorted(tally.wins.items()):
        for _ in range(sequences):
            total = _convolve(total, run_counts(*wins))
    return total


def two_sided(counts: Sequence[int], observed: int) -> float:
    """Compute min(1, 2·min(P(R ≤ observed), P(R ≥ observed))) where ``counts[r]`` equal chances give r."""
    tail = min(sum(counts[: observed + 1]), sum(counts[observed:]))
    return float(min(Fraction(1), Fraction(2 * tail, sum(counts))))


def _mean(banker: int, player: int) -> Fraction:
    return 1 + Fraction(2 * banker * player, banker + player)


def _variance(banker: int, player: int) -> Fraction:
    n, product = banker + player, 2 * banker * player
    return Fraction(product * (product - n), n * n * (n - 1)) if product else Fraction(0)


def _normal(distance: float, error: float) -> float:
    return erfc(max(distance - 0.5, 0.0) / error / sqrt(2)) if error else 1.0


def _convolve(one: Sequence[int], other: Sequence[int]) -> list[int]:
    total = [0] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            total[i + j] += a * b
    return total
