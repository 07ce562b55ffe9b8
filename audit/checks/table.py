"""Counts of a tally's coups by some label, held against the label's exact law on coups 1…K."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Final, Generic, TypeVar

import numpy as np

from audit.checks.result import CheckResult, LineItem
from audit.covariance import TwoCoupCovariance
from audit.tally import Seen, Tally
from shoe.errors import InputError, expected
from shoe.game.cards import DECK
from shoe.game.tableau import MAX_CARDS

Label = TypeVar("Label", bound=Hashable)

_LEAST_CARDS: Final = 4


@dataclass(frozen=True, slots=True)
class Table(Generic[Label]):
    """A tally's counts by label, beside their law; `words` prints a label."""

    counts: Mapping[Label, int]
    tally: Tally
    law: TwoCoupCovariance[Label]
    words: Callable[[Label], str] = str

    def plain(self) -> float:
        """Compute Pearson's statistic, as if all coups were independent."""
        return sum(float(d * d / (self.tally.n * p)) for d, p in zip(self._above(), self.law.p, strict=True))

    def quadratic(self) -> float:
        """Compute d′V⁻d."""
        return self.law.quadratic(np.array(self._above(), dtype=np.float64), self.tally.n, self.tally.pairs)

    def items(self) -> tuple[LineItem, ...]:
        """List every label with its count, expectation and deviation; what the law does not know comes last."""
        errors = np.sqrt(np.diag(self.law.of_counts(self.tally.n, self.tally.pairs))).tolist()
        deviations = [float(d) / error if error else 0.0 for d, error in zip(self._above(), errors, strict=True)]
        n = self.tally.n
        known = [
            LineItem(self.words(label), self.counts.get(label, 0), n * p, deviation)
            for label, p, deviation in zip(self.law.labels, self.law.p, deviations, strict=True)
        ]
        return (*known, *impossible_items(self.unknown()))

    def unknown(self) -> dict[str, int]:
        """List the counts of labels that have no probability, the structural zeros."""
        known = set(self.law.labels)
        return {self.words(label): count for label, count in self.counts.items() if label not in known}

    def _above(self) -> list[Fraction]:
        n = self.tally.n
        return [self.counts.get(label, 0) - n * p for label, p in zip(self.law.labels, self.law.p, strict=True)]


def tabulate(
    tally: Tally,
    law: TwoCoupCovariance[Label],
    key: Callable[[Seen], Label],
    words: Callable[[Label], str] = str,
) -> Table[Label]:
    """Add a tally's coups up by `key`, beside the law of the same labels."""
    counts: Counter[Label] = Counter()
    for coup, count in tally.coups.items():
        counts[key(coup)] += count
    return Table(counts, tally, law, words)


def judge(name: str, what: str, table: Table[Label], decks: int, *, plain: bool = False) -> CheckResult:
    """Test a table by Q = d′V⁻d, or by plain χ²; a label without probability fails by itself.

    Raises InputError like `require_judged`.
    """
    require_judged(table.tally, decks)
    dof, n = len(table.law.labels) - 1, table.tally.n
    if table.unknown():
        statistic, p = inf, 0.0
    else:
        from scipy.special import chdtrc  # noqa: PLC0415  a fifth of the time in which a server starts

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


def impossible_items(counts: Mapping[str, int]) -> tuple[LineItem, ...]:
    """List counts of what cannot be, sorted, each infinitely far out."""
    return tuple(LineItem(label, counts[label], Fraction(0), inf) for label in sorted(counts))


def require_judged(tally: Tally, decks: int) -> None:
    """Raise InputError on a tally of no coups, or of more judged coups a shoe than `decks` decks can promise.

    Of whole shoes it may hold as many coups of a shoe as the cards can be enough for.
    """
    most = DECK * decks // (_LEAST_CARDS if tally.whole_shoes else MAX_CARDS)
    if tally.n == 0:
        raise InputError(expected("1 or more judged coups", 0, "tally"))
    if max(tally.lengths) > most:
        raise InputError(expected(f"at most {most} judged coups a shoe", max(tally.lengths), "tally.lengths"))
