"""Checks of outcomes in pairs: a coup and the next of the same shoe, and the coups at one place of two shoes.

Pairs of outcomes (a, b) are counted at 3·a + b, outcomes in the order of `OUTCOMES`: player, banker, tie.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, sqrt
from typing import Final

from scipy.special import chdtrc

from audit.checks.goodness import normal, require_some
from audit.checks.result import CheckResult, LineItem
from audit.checks.returns import outcome_law
from shoe.errors import InputError, expected
from shoe.game.tableau import OUTCOMES

SCORES: Final = (1, -1, 0)
"""Player, banker, tie: the values that `serial_correlation` correlates."""

_D: Final = range(len(OUTCOMES))
_PAIRS: Final = tuple((a, b) for a in _D for b in _D)

_MILLION: Final = 10**6

Square = tuple[tuple[Fraction, ...], ...]


def neighbour_pairs(pairs: Sequence[int], last: Sequence[int], decks: int) -> CheckResult:
    """Test successive outcomes by Good's serial statistic: ψ²₂ − ψ²₁ ~ χ²(d² − d) = χ²(6).

    `pairs` has the 9 counts of judged coups i and i + 1 of one shoe, `last` the 3 of each shoe's last judged coup.
    On a ring ψ²₂ − ψ²₁ is the interaction of the pairs, χ²(4), and the frequencies ψ²₁ once more, χ²(2). Shoes are
    no rings; these two parts, which are uncorrelated, are added as they are, the frequencies over all coups: no
    correction for ends is left. The exact covariance of two coups of a shoe is taken off the pairs. Raises InputError
    for no pairs, or counts that are not 9 and 3. Source: Good, Proceedings of the Cambridge Philosophical Society
    49 (1953).
    """
    law = outcome_law(decks)
    seen, ends = _counts(pairs, 9, "pairs"), _counts(last, 3, "last")
    singles = [sum(seen[3 * a : 3 * a + 3]) + ends[a] for a in _D]
    coups, n = sum(singles), sum(seen)
    cells = _interaction(seen, law.p, law.s12)
    together = sum((cells[a][b] ** 2 / (n * law.p[a] * law.p[b]) for a, b in _PAIRS), Fraction(0))
    alone = sum(((singles[a] - coups * law.p[a]) ** 2 / (coups * law.p[a]) for a in _D), Fraction(0))
    q = float(together + alone)
    return CheckResult(
        name="neighbour_pairs",
        null="the outcomes of successive coups are independent, with their exact probabilities (n: pairs)",
        statistic=q,
        distribution="chi-square",
        dof=6,
        n=n,
        p=float(chdtrc(6, q)),
        effect=sqrt(q / n),
        effect_name="w = sqrt(statistic / n)",
        items=_lines(seen, [law.p[a] * law.p[b] + law.s12[a][b] for a, b in _PAIRS]),
    )


def serial_correlation(pairs: Sequence[int], decks: int) -> CheckResult:
    """Test the products of successive coups' scores, player 1, banker −1, tie 0, less their exact mean.

    The products of one coup with both its neighbours are uncorrelated, so that the variance of their sum is n·σ⁴; its
    mean is n times the covariance of two coups of a shoe. Normal law. Raises InputError like `neighbour_pairs`.
    """
    law = outcome_law(decks)
    seen = _counts(pairs, 9, "pairs")
    mean = sum((score * p for score, p in zip(SCORES, law.p, strict=True)), Fraction(0))
    centred = [score - mean for score in SCORES]
    variance = sum((c * c * p for c, p in zip(centred, law.p, strict=True)), Fraction(0))
    total = sum((centred[a] * centred[b] * seen[3 * a + b] for a, b in _PAIRS), Fraction(0))
    within = sum((centred[a] * centred[b] * law.s12[a][b] for a, b in _PAIRS), Fraction(0))
    n = sum(seen)
    return normal(
        "serial_correlation",
        "the scores of successive coups are uncorrelated but for the cards they share (n: pairs)",
        what="sum of products of centred scores, in millionths",
        total=round(total * _MILLION),
        mean=n * within * _MILLION,
        variance=n * (variance * _MILLION) ** 2,
        n=n,
    )


def same_place(pairs: Sequence[int]) -> CheckResult:
    """Test whether the outcomes at one place of a shoe and of the next are independent: Pearson's χ²(4).

    `pairs` has the 9 counts; margins are taken as they came, so this asks for no probabilities. That places of one
    shoe hang together matters by the square of their covariance only, some 10⁻¹² a pair. An outcome that never came is
    left out, with its degrees of freedom. Raises InputError for no pairs, or counts that are not 9.
    """
    seen = _counts(pairs, 9, "pairs")
    n = sum(seen)
    rows = [sum(seen[3 * a : 3 * a + 3]) for a in _D]
    columns = [sum(seen[b::3]) for b in _D]
    dof = (sum(map(bool, rows)) - 1) * (sum(map(bool, columns)) - 1)
    share = [Fraction(rows[a] * columns[b], n * n) for a, b in _PAIRS]
    q = float(sum(((count - n * p) ** 2 / (n * p) for count, p in zip(seen, share, strict=True) if p), Fraction(0)))
    return CheckResult(
        name="same_place",
        null="the outcome at a place of one shoe says nothing about that of the next (n: pairs)",
        statistic=q,
        distribution="chi-square",
        dof=dof,
        n=n,
        p=float(chdtrc(dof, q)) if dof else 1.0,
        effect=sqrt(q / n),
        effect_name="w = sqrt(statistic / n)",
        items=_lines(seen, share),
    )


def _interaction(seen: list[int], p: Sequence[Fraction], s12: Square) -> list[list[Fraction]]:
    """Compute the pairs' counts less what rows, columns and the covariance of two coups make of them."""
    n = sum(seen)
    rows = [sum(seen[3 * a : 3 * a + 3]) for a in _D]
    columns = [sum(seen[b::3]) for b in _D]
    return [
        [seen[3 * a + b] - rows[a] * p[b] - p[a] * columns[b] + n * (p[a] * p[b] - s12[a][b]) for b in _D] for a in _D
    ]


def _lines(seen: list[int], share: Sequence[Fraction]) -> tuple[LineItem, ...]:
    n = sum(seen)
    return tuple(
        LineItem(
            f"{OUTCOMES[a]}, then {OUTCOMES[b]}",
            count,
            n * p,
            float(count - n * p) / sqrt(n * p * (1 - p)) if 0 < p < 1 else (inf if count != n * p else 0.0),
        )
        for (a, b), count, p in zip(_PAIRS, seen, share, strict=True)
    )


def _counts(counts: Sequence[int], length: int, where: str) -> list[int]:
    if len(counts) != length:
        raise InputError(expected(f"{length} counts", len(counts), where))
    whole = [int(count) for count in counts]
    if where == "pairs":
        require_some(sum(whole), "pairs", where)
    return whole
