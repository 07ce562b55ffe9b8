"""The DoppelGanger house: six decks, and a side bet on the pair in each hand."""

from __future__ import annotations

from typing import Final

from shoe.game.bets.terms import Limits, Money, Pace, Terms
from shoe.game.bets.wagers import BANKER_19_20, DOPPELGANGERS, PLAYER, TIE
from shoe.game.houses.house import AMERICAN_CHIPS, MINOR_PER_UNIT, House, with_terms
from shoe.game.rules import CutRange, Rules

DOPPELGANGER: Final = House(
    name="doppelganger",
    rules=with_terms(
        Rules(
            burn="none",
            coups=None,
            cut=CutRange(7, 7),
            decks=6,
            entropy="two_phase",
            last_coup="drawn_in",
            shuffle="shoe",
        ),
        Terms(
            bets=(PLAYER, BANKER_19_20, TIE, *DOPPELGANGERS),
            combine="any",
            side_bets="with_main",
            limits=Limits(min_minor=MINOR_PER_UNIT, max_minor=500 * MINOR_PER_UNIT, below="refuse"),
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
            on_tie="returned",
            pace=Pace(deal="asked", decide_s=None, rebet=False, preserve=False, loop=False),
        ),
    ),
    source="Punto Banco with DoppelGanger, “Game rules”",
    settled=(
        "“Different pair types, have different payouts”, but the table is not shown: 25, 12 and 6 to 1 are taken.",
        "“The deck is cut 7 cards before the end and is shuffled after the cut card”: that coup is the last.",
        "Burning is not spoken of: none is taken.",
        "The limits are shown at the table only: 1 and 500 are taken, for each bet, and the chips of other houses.",
        "“Neither paid nor taken” on a tie: the stake goes back.",
        "“19/20” in odd amounts: what the house keeps is rounded to whole minor units, a half up.",
        "“First digit … always dropped”: only the last digit of a total counts.",
    ),
)
