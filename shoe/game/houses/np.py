"""NP Baccarat: the table of one option, and its sister where all three may be bet together."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from shoe.game.bets.terms import Limits, Money, Pace, Terms
from shoe.game.bets.wagers import MAIN
from shoe.game.houses.house import MINOR_PER_UNIT, Claim, House, with_terms
from shoe.game.rules import CutRange, Rules

_RULES: Final = Rules(
    burn="none",
    coups=None,
    cut=CutRange(7, 7),
    decks=8,
    entropy="two_phase",
    last_coup="drawn_in",
    shuffle="shoe",
)
_TERMS: Final = Terms(
    bets=MAIN,
    combine="one",
    side_bets="alone",
    limits=Limits(min_minor=MINOR_PER_UNIT, max_minor=None, below="refuse"),
    own_limit=None,
    chips_minor=None,
    money=Money(
        minor_per_unit=MINOR_PER_UNIT,
        rounding="half_up",
        least_commission_minor=0,
        default_stake_minor=MINOR_PER_UNIT,
        purse_minor=1_000 * MINOR_PER_UNIT,
        bank_minor=10_000 * MINOR_PER_UNIT,
    ),
    on_tie="may_stay",
    pace=Pace(deal="asked", decide_s=None, rebet=False, preserve=True, loop=True),
)

NP_PUNTO_BANCO: Final = House(
    name="np_punto_banco",
    rules=with_terms(_RULES, _TERMS),
    source="NP Baccarat, “Drawing Rules in Casino Baccarat, Punto Banco” and “Table Characteristics”",
    settled=(
        "The number of decks is not said: 8 is taken.",
        "Burning is not spoken of: none is taken.",
        "“The drawing of the cut-card indicates the last coup”: the coup that draws it is the last.",
        "The bank’s limit, the small default wager and the purse have no numbers: 10,000, 1 and 1,000 are taken.",
        "The least stake is not said: the default stake is taken, so that no commission is rounded away.",
        "The rounding of the commission is not said: whole minor units, a half up.",
        "A stake that the bank could not pay is refused; the bank is broken when it could pay none.",
        "“Your wager is returned as whole”: the 5 % are of the win alone.",
    ),
    claim=Claim(
        "when you start from the scratch, and play with defaults, you are, at some point you are 97% sure to explode "
        "the Bank",
        97,
    ),
)

NP_PUNTO_BANCO_THREE: Final = replace(
    NP_PUNTO_BANCO,
    name="np_punto_banco_three",
    rules=with_terms(_RULES, replace(_TERMS, combine="any")),
    source="NP Baccarat, “Table Characteristics”: the other table, with wagers on all three options",
    settled=(
        *NP_PUNTO_BANCO.settled,
        "Of this table the page says only that all three options may be bet: all else is taken from its sister.",
    ),
    claim=None,
)
