"""Checks of how often each thing happens, on coups 1…K against the exact law of a full shoe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Generic, TypeVar

import numpy as np
from scipy.special import chdtrc

from audit.checks.result import CheckResult, LineItem
from audit.covariance import TwoCoupCovariance, rule_covariance, two_coup_covariance
from audit.exact import exact_odds
from audit.tally import Seen, Tally
from shoe.errors import InputError, expected
from shoe.game.cards import DECK
from shoe.game.tableau import MAX_CARDS, MERGED_RULES, OUTCOMES, merged_rule

Label = TypeVar("Label", bound=Hashable)


def structural_zeros(tally: Tally, decks: int) -> CheckResult:
    """Look for coups that no shoe can deal: totals, cards, rule class and outcome that do not go together.

    One of them fails the check by itself: p is 1 without, 0 with any. Raises InputError on a tally of no
    coups, or of more judged coups a shoe than `decks` decks can promise.
    """
    _require_judged(tally, decks)
    possible = {
        Seen(cell.outcome, cell.rule, cell.cards, cell.player_total, cell.banker_total)
        for cell in exact_odds(decks).cells
    }
    impossible = {_words(coup): count for coup, count in tally.coups.items() if coup not in possible}
    found = sum(impossible.values())
    return CheckResult(
        name="structural_zeros",
        null="every coup is one that the tableau can deal",
        statistic=float(found),
        distribution="0 for certain",
        dof=None,
        n=tally.n,
        p=0.0 if found else 1.0,
        effect=found / tally.n,
        effect_name="share of impossible coups",
        items=_impossible_items(impossible),
    )


def outcomes(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of player, banker and tie by plain χ² with 2 degrees of freedom.

    The dependence within a shoe lowers the mean of this χ² by 2.2·10⁻⁵ for each coup of a shoe but the
    first, at 8 decks: it errs on the side of passing, by less than can be seen. Raises InputError like
    `structural_zeros`.
    """
    law = two_coup_covariance(decks).merged(lambda label: label[1], OUTCOMES)
    table = _tabulate(tally, law, lambda coup: coup.outcome)
    return _judge("outcomes", "player, banker and tie", table, decks, plain=True)


def rule_use(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of the 15 rule classes by Q = d′V⁻d ~ χ²(14), V the exact covariance on coups 1…K.

    Raises InputError like `structural_zeros`.
    """
    table = _tabulate(tally, rule_covariance(decks), lambda coup: coup.rule)
    return _judge("rule_use", "the 15 rule classes", table, decks)


def merged_rule_use(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of the 14 classes of a house that counts both one-sided naturals as one: Q ~ χ²(13).

    Raises InputError like `structural_zeros`.
    """
    law = rule_covariance(decks).merged(merged_rule, MERGED_RULES)
    table = _tabulate(tally, law, lambda coup: merged_rule(coup.rule))
    return _judge("merged_rule_use", "the 14 merged rule classes", table, decks)


def cards_used(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of coups of 4, 5 and 6 cards by Q = d′V⁻d ~ χ²(2).

    Raises InputError like `structural_zeros`.
    """
    law = two_coup_covariance(decks).merged(lambda label: label[2], (4, 5, 6))
    table = _tabulate(tally, law, lambda coup: coup.cards)
    return _judge("cards_used", "coups of 4, 5 and 6 cards", table, decks)


def rule_lines(tally: Tally, decks: int, *, merged: bool = False) -> tuple[LineItem, ...]:
    """Print the use of every rule beside its exact expectation; also for a tally of no coups.

    The 15 classes of `RULES`, or with `merged` the 14 of `MERGED_RULES`; what is none of them comes last.
    """
    law = rule_covariance(decks)
    if merged:
        law = law.merged(merged_rule, MERGED_RULES)
    return _tabulate(tally, law, lambda coup: merged_rule(coup.rule) if merged else coup.rule).items()


@dataclass(frozen=True, slots=True)
class _Table(Generic[Label]):
    """A tally's counts by label, beside their law."""

    counts: Mapping[Label, int]
    tally: Tally
    law: TwoCoupCovariance[Label]

    def plain(self) -> float:
        return sum(float(d * d / (self.tally.n * p)) for d, p in zip(self._above(), self.law.p, strict=True))

    def quadratic(self) -> float:
        """Compute d′V⁻d; the last label is left out, for the counts' fixed sum says what it is."""
        d = np.array(self._above(), dtype=np.float64)[:-1]
        v = self.law.of_counts(self.tally.n, self.tally.pairs)[:-1, :-1]
        return float(d @ np.linalg.solve(v, d))

    def items(self) -> tuple[LineItem, ...]:
        errors = np.sqrt(np.diag(self.law.of_counts(self.tally.n, self.tally.pairs))).tolist()
        deviations = [float(d) / error if error else 0.0 for d, error in zip(self._above(), errors, strict=True)]
        known = [
            LineItem(str(label), self.counts.get(label, 0), self.tally.n * p, deviation)
            for label, p, deviation in zip(self.law.labels, self.law.p, deviations, strict=True)
        ]
        return (*known, *_impossible_items(self.unknown()))

    def unknown(self) -> dict[str, int]:
        return {str(label): count for label, count in self.counts.items() if label not in self.law.labels}

    def _above(self) -> list[Fraction]:
        return [
            self.counts.get(label, 0) - self.tally.n * p for label, p in zip(self.law.labels, self.law.p, strict=True)
        ]


def _tabulate(tally: Tally, law: TwoCoupCovariance[Label], key: Callable[[Seen], Label]) -> _Table[Label]:
    counts: Counter[Label] = Counter()
    for coup, count in tally.coups.items():
        counts[key(coup)] += count
    return _Table(counts, tally, law)


def _judge(name: str, what: str, table: _Table[Label], decks: int, *, plain: bool = False) -> CheckResult:
    _require_judged(table.tally, decks)
    dof, n = len(table.law.labels) - 1, table.tally.n
    if table.unknown():
        statistic, p = inf, 0.0
    else:
        statistic = table.plain() if plain else table.quadratic()
        p = float(chdtrc(dof, statistic))
    return CheckResult(
        name=name,
        null=f"{what} come as often as in the first coup of a full shoe of {decks} decks",
        statistic=statistic,
        distribution="chi-square",
        dof=dof,
        n=n,
        p=p,
        effect=sqrt(statistic / n),
        effect_name="w = sqrt(statistic / n)",
        items=table.items(),
    )


def _impossible_items(counts: Mapping[str, int]) -> tuple[LineItem, ...]:
    return tuple(LineItem(label, counts[label], Fraction(0), inf) for label in sorted(counts))


def _require_judged(tally: Tally, decks: int) -> None:
    most = DECK * decks // MAX_CARDS
    if tally.n == 0:
        raise InputError(expected("1 or more judged coups", 0, "tally"))
    if max(tally.lengths) > most:
        raise InputError(expected(f"at most {most} judged coups a shoe", max(tally.lengths), "tally.lengths"))


def _words(coup: Seen) -> str:
    return f"{coup.outcome} {coup.player_total}:{coup.banker_total}, {coup.cards} cards, {coup.rule}"
