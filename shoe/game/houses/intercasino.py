"""InterCasino: each hand from a fresh shuffle, 5 to 300; and the same table as its page prints the pay-out."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from shoe.game.bets.terms import Limits, Money, Pace, Terms
from shoe.game.bets.wagers import BANKER_EVEN, MAIN, PLAYER, TIE
from shoe.game.houses.house import AMERICAN_CHIPS, MINOR_PER_UNIT, WEEKLY_BY_PIN, House, with_terms
from shoe.game.rules import Rules

EACH_COUP: Final = Rules(
    burn="none",
    coups=1000,
    cut=None,
    decks=8,
    entropy="two_phase",
    last_coup="drawn_in",
    shuffle="coup",
)
"""Eight decks “shuffled after each hand”; one seal covers 1000 coups."""

TERMS: Final = Terms(
    bets=MAIN,
    combine="any",
    side_bets="alone",
    limits=Limits(min_minor=5 * MINOR_PER_UNIT, max_minor=300 * MINOR_PER_UNIT, below="raise"),
    own_limit=WEEKLY_BY_PIN,
    chips_minor=AMERICAN_CHIPS,
    money=Money(
        minor_per_unit=MINOR_PER_UNIT,
        rounding="half_up",
        least_commission_minor=0,
        default_stake_minor=5 * MINOR_PER_UNIT,
        purse_minor=None,
        bank_minor=None,
    ),
    on_tie="returned",
    pace=Pace(deal="asked", decide_s=None, rebet=True, preserve=False, loop=False),
)

_SETTLED: Final = (
    "One seal covers 1000 coups.",
    "“Friday 12:00 AM EST”: 00:00 on Friday in US Eastern time, daylight saving observed.",
    "Banker 3 against “1-2-3-4-5-6-7-9” leaves out 0: a slip of the page; 0 draws.",
    "“Banker … 0 to 7 inclusive, the Player’s hand shall draw”: by the player’s own rules, on 0–5.",
    "What becomes of bets on a tie is not said: they are returned.",
    "The default stake is not said: the least, 5, is taken.",
)

INTERCASINO: Final = House(
    name="intercasino",
    rules=with_terms(EACH_COUP, TERMS),
    source="InterCasino, “Baccarat”, by the rules of the New Jersey Casino Control Commission",
    settled=(
        *_SETTLED,
        "“A winning Banker hand wager 1 to 1” states no commission, and would give the bettor 1.235 %.",
        "But the house “takes a payment on gaining banker wagers”: 5 % is taken.",
        "The rounding of the commission is not said: whole minor units, a half up.",
    ),
)

INTERCASINO_AS_PRINTED: Final = replace(
    INTERCASINO,
    name="intercasino_as_printed",
    rules=with_terms(EACH_COUP, replace(TERMS, bets=(PLAYER, BANKER_EVEN, TIE))),
    settled=(*_SETTLED, "“A winning Banker hand wager 1 to 1” is taken at its word: the bettor has 1.235 %."),
)
