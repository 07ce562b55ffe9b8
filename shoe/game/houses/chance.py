"""CHANCE: a cut shoe, any bets together, the banker at 19 to 20."""

from __future__ import annotations

from typing import Final

from shoe.game.bets.terms import Limits, Money, Pace, Terms
from shoe.game.bets.wagers import BANKER_19_20, PLAYER, TIE
from shoe.game.houses.house import AMERICAN_CHIPS, MINOR_PER_UNIT, House, with_terms
from shoe.game.rules import CutRange, Rules

CHANCE: Final = House(
    name="chance",
    rules=with_terms(
        Rules(
            burn="none",
            coups=None,
            cut=CutRange(14, 14),
            decks=8,
            entropy="two_phase",
            last_coup="drawn_in",
            shuffle="shoe",
        ),
        Terms(
            bets=(PLAYER, BANKER_19_20, TIE),
            combine="any",
            side_bets="alone",
            limits=Limits(min_minor=MINOR_PER_UNIT, max_minor=None, below="refuse"),
            own_limit=None,
            chips_minor=AMERICAN_CHIPS,
            money=Money(
                minor_per_unit=MINOR_PER_UNIT,
                rounding="half_up",
                least_commission_minor=0,
                default_stake_minor=MINOR_PER_UNIT,
                purse_minor=None,
                bank_minor=None,
            ),
            on_tie="stays",
            pace=Pace(deal="asked", decide_s=None, rebet=False, preserve=False, loop=False),
        ),
    ),
    source="CHANCE, “Gameplay Instructions” and “Payout Amounts”, last revised 6 June 2003",
    settled=(
        "The number of decks is not said: 8 is taken.",
        "Burning is not spoken of: none is taken.",
        "The cut card is not spoken of: it lies before the 14th-last card, and the coup that draws it is the last.",
        "“The maximum chip amount is $500” bounds a chip, not a stake: no greatest stake is taken.",
        "The chips between 1 and 500 are not listed: 1, 5, 25, 100 and 500 are taken, as at other houses.",
        "“19 - 20” in odd amounts: what the house keeps is rounded to whole minor units, a half up.",
        "“3 … anything but 8 or no player card drawn” reads as: draws on anything but 8, and where none was drawn.",
        "A tied stake is “a push” and “remains in place until the beginning of the next hand”: it stays.",
    ),
)
