"""Shoes dealt by the reference dealer, as the audit sees them."""

from __future__ import annotations

from typing import cast

from audit.tally import Seen, Tally, add_up, tally_shoe
from shoe.game.tableau import Outcome
from tests.reference import vector_dealer


def deal(
    decks: int, shoes: int, coups: int, seed: int, banker_up_to: tuple[int, ...] = vector_dealer.UP_TO
) -> list[list[Seen]]:
    """Deal the first coups of many shoes."""
    return [
        [Seen(cast(Outcome, outcome), rule, *numbers) for outcome, rule, *numbers in shoe]
        for shoe in vector_dealer.deal(decks, shoes, coups, seed, banker_up_to)
    ]


def tally(shoes: list[list[Seen]], judged: int) -> Tally:
    """Count the judged coups of all shoes."""
    return add_up(tally_shoe(shoe, judged) for shoe in shoes)
