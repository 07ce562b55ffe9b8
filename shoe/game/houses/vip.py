"""VIP Casino: InterCasino's table with its commission stated, for several players at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from shoe.game.bets.terms import Pace
from shoe.game.houses.house import House, with_terms
from shoe.game.houses.intercasino import EACH_COUP, TERMS

VIP: Final = House(
    name="vip",
    rules=with_terms(
        EACH_COUP,
        replace(
            TERMS,
            limits=replace(TERMS.limits, below="refuse"),
            money=replace(TERMS.money, least_commission_minor=25),
            pace=Pace(deal="all_chosen", decide_s=15, rebet=True, preserve=False, loop=False),
        ),
    ),
    source="VIP Casino, “Baccarat”, by the rules of the New Jersey Casino Control Commission",
    settled=(
        "One seal covers 1000 coups.",
        "“Friday 12:00 AM EST”: 00:00 on Friday in US Eastern time, daylight saving observed.",
        "Banker 3 against “1-2-3-4-5-6-7-9” leaves out 0: a slip of the page; 0 draws.",
        "“Banker’s Hand … 0 to 7 inclusive, the Player’s hand shall draw”: by the player’s own rules, on 0–5.",
        "What becomes of bets on a tie is not said: they are returned.",
        "The default stake is not said: the least, 5, is taken; what is lower is refused.",
        "The rounding of the commission is not said: whole minor units, a half up, and at least .25.",
        "The least commission binds only below the least stake of 5; where another table takes lower stakes, it is "
        "never more than the win.",
    ),
)
