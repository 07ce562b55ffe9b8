"""The first shoes of the production path, dealt once more from the plan alone, coup by coup in their order.

A certification keeps sums, in which no order is left. Its plan fixes every shoe, so what hangs on order, such as
evidence over time, is had by dealing some of them again by the scalar code of the protocol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from audit.paths import production_keys
from audit.plan import Plan
from shoe.game.dealing import deal_shoe
from shoe.game.tableau import MAX_CARDS, OUTCOMES, play_coup
from shoe.proof.shuffle import first_cards, shuffle_hand

SHOES: Final = 200
COUPS: Final = 2_000
"""Shoes dealt again, at about a millisecond each; coups, where each has a shuffle of its own."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The judged coups of the first shoes in order, each as its outcome's place in `OUTCOMES`."""

    shoes: tuple[tuple[int, ...], ...]

    @property
    def outcomes(self) -> tuple[int, ...]:
        """List all coups in order."""
        return tuple(outcome for shoe in self.shoes for outcome in shoe)

    def sequences(self, rules_shuffle: str) -> tuple[tuple[int, ...], ...]:
        """List the sequences within which winners may make a run: shoes, or all coups where each is a shoe."""
        return (self.outcomes,) if rules_shuffle == "coup" else self.shoes


def deal_sample(plan: Plan) -> Sample:
    """Deal the first shoes of the production path again, up to `SHOES`, or `COUPS` where each coup is a shoe."""
    rules = plan.rules
    if rules.shuffle == "coup":
        keys = production_keys(plan, range(min(COUPS, plan.production.shoes)))
        coups = (play_coup(first_cards(key, rules, 0, MAX_CARDS)) for key in keys)
        return Sample(tuple((OUTCOMES.index(coup.outcome),) for coup in coups))
    shoes = []
    for key in production_keys(plan, range(min(SHOES, plan.production.shoes))):
        shuffled = shuffle_hand(key, rules, 0)
        cut = len(shuffled.cards) - (shuffled.cards_behind_cut or 0)
        dealt = deal_shoe(rules, shuffled.cards, cut)
        shoes.append(tuple(OUTCOMES.index(one.coup.outcome) for one in dealt)[: rules.judged_coups])
    return Sample(tuple(shoes))
