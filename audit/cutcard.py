"""The cut-card effect: over all coups of a cut shoe, a sound engine has other frequencies than on coups 1…K.

Whether a late coup is dealt hangs on how many cards the earlier ones took, and, the cards being the same, so does
what it will be. With X whether a coup is of some class, L the cards it uses, S the cards used before it and m those
before the cut card, the coup is dealt if S ≤ m. S is nearly normal, so by Stein's identity

    E[(X − p)·1(S ≤ m)] = −f(m)·Cov(S, X) = −f(m)·j·Cov₁₂(L, X)

for a coup with j coups before it, where Cov₁₂ is the exact covariance of two coups of a shoe and f the density of S.
Summed over j, Σ j·f(m) is the renewal density 1/μ times m/μ, with μ = E[L]: a shoe has

    −Cov₁₂(L, X)·m/μ²

coups of the class more than p times its coups. Nothing but the covariance is needed; the error is of higher order
in 1/decks, and simulation bears it out for a single deck.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Generic, TypeVar

from audit.covariance import Kind, two_coup_covariance
from shoe.errors import InputError, expected
from shoe.game.cards import DECK

Label = TypeVar("Label", bound=Hashable)

BURN_MEAN: Final = Fraction(98, 13)
"""Cards burned on average where the first card is shown and as many as its points follow: 1 + 85/13."""


@dataclass(frozen=True, slots=True)
class CutCardBias(Generic[Label]):
    """What all coups of a cut shoe are expected to show beside the exact law, to first order.

    `coups` is the mean number of coups of a shoe; `excess[a]` how many coups of class a it has on average more than
    `p[a]` times its coups.
    """

    labels: tuple[Label, ...]
    p: tuple[float, ...]
    coups: float
    excess: tuple[float, ...]

    def noncentrality(self, coups: float) -> float:
        """Compute by how much the bias raises χ² over the classes, on average, in so many coups."""
        each = [(excess / self.coups) ** 2 / p for excess, p in zip(self.excess, self.p, strict=True)]
        return coups * sum(each)


def cut_card_bias(
    decks: int, cut: int, key: Callable[[Kind], Label], order: Sequence[Label], burned: Fraction = Fraction(0)
) -> CutCardBias[Label]:
    """Compute the bias for shoes with `cut` cards behind the cut card and `burned` burned on average.

    Classes are the values of `key`, a function of (rule class, outcome, cards used), listed in `order`. Whether the
    coup that draws the cut card is the last, or one more follows, makes no difference to first order. Raises
    RulesError unless 1 ≤ decks ≤ 16, InputError for a cut card that leaves no coup.
    """
    law = two_coup_covariance(decks)
    before = DECK * decks - cut - burned
    if not (cut >= 0 and before > 0):
        raise InputError(expected(f"a cut of 0 to {DECK * decks - 1} cards", cut, "cut"))
    cards = [kind[2] for kind in law.labels]
    mean = sum((c * p for c, p in zip(cards, law.p, strict=True)), Fraction(0))
    square = sum((c * c * p for c, p in zip(cards, law.p, strict=True)), Fraction(0))
    with_cards = [sum(c * s for c, s in zip(cards, row, strict=True)) for row in law.s12]
    covariance = dict.fromkeys(order, Fraction(0))
    for kind, value in zip(law.labels, with_cards, strict=True):
        covariance[key(kind)] += value
    return CutCardBias(
        labels=tuple(order),
        p=tuple(float(p) for p in law.merged(key, order).p),
        # A renewal process passes m after m/μ + E[L²]/(2μ²) steps, and 1/(2μ) for m being a whole number.
        coups=float(before / mean + square / (2 * mean**2) + 1 / (2 * mean)),
        excess=tuple(float(-covariance[label] * before / mean**2) for label in order),
    )
