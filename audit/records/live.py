"""The return of bets that were really laid, by what was really staked, beside the exact one: shown, never judged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any, Final

from scipy.special import ndtri

from audit.checks.returns import LEVEL
from audit.gains import unit_laws
from audit.showings import showings
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import Shown
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import Bet

NOTE: Final = (
    "Bets laid on ended shoes, not judged: who bets chooses when, and how much, by the cards that are gone, and a late "
    "coup is not a full shoe's first. The interval holds where stakes do not look at the cards; bets on one coup hang "
    "together whole. What each bet was paid is checked one by one, as bets of the records."
)


@dataclass(slots=True)
class LiveBet:
    """One bet's settled stakes, in minor units: how many, staked, net to players, commission.

    `squares` adds up the square of what lay on each coup, `expected` the exact mean of what each stake gains, rounded
    as the table does.
    """

    bets: int = 0
    staked: int = 0
    net: int = 0
    commission: int = 0
    squares: int = 0
    expected: Fraction = Fraction(0)


@dataclass(slots=True)
class LiveBets:
    """The bets laid at tables of the same terms, by name."""

    by_name: dict[str, LiveBet] = field(default_factory=lambda: defaultdict(LiveBet))

    def add_coup(
        self, bet: Bet, stakes: Mapping[int, int], *, net: int, commission: int, decks: int, terms: Terms
    ) -> None:
        """Count what lay on one bet of one coup: stakes, each with how many there were, and what became of all."""
        line = self.by_name[bet.name]
        staked = sum(stake * count for stake, count in stakes.items())
        line.bets += sum(stakes.values())
        line.staked += staked
        line.net += net
        line.commission += commission
        line.squares += staked**2
        line.expected += sum(
            (count * mean_gain(decks, bet, stake, terms) for stake, count in stakes.items()), Fraction(0)
        )


@cache
def _lines(decks: int, bet: Bet) -> tuple[tuple[Shown, int], ...]:
    """List, for each line of a bet's pay table and for its loss, something that shows it, and its ways."""
    found: dict[Any, tuple[Shown, int]] = {}
    for shown, ways in showings(decks).counts.items():
        pay = bet.pay_on(shown)
        first, so_far = found.get(pay, (shown, 0))
        found[pay] = first, so_far + ways
    return tuple(found.values())


def mean_gain(decks: int, bet: Bet, stake_minor: int, terms: Terms) -> Fraction:
    """Compute what a stake gains on average in minor units, as the table rounds, on the first coup of a full shoe."""
    gains = (settle_shown(bet, stake_minor, shown, terms).net_minor * ways for shown, ways in _lines(decks, bet))
    return Fraction(sum(gains), showings(decks).total)


def live_returns(live: LiveBets, decks: int, terms: Terms) -> list[dict[str, Any]]:
    """List each bet that was laid: what came back of what was staked, its interval, and the exact return.

    The intervals of a table's bets hold together with probability .99 at least; sums are texts, for they may pass 2^53.
    """
    laid = [bet for bet in terms.bets if bet.name in live.by_name and live.by_name[bet.name].staked]
    if not laid:
        return []
    width = -float(ndtri(float(1 - LEVEL) / len(laid) / 2))
    laws = unit_laws(decks, tuple(laid))
    return [_line(live.by_name[bet.name], bet, float(law.variance), width) for bet, law in zip(laid, laws, strict=True)]


def _line(line: LiveBet, bet: Bet, variance: float, width: float) -> dict[str, Any]:
    back, exact = 1 + Fraction(line.net, line.staked), 1 + line.expected / line.staked
    error = sqrt(line.squares * variance) / line.staked
    return {
        "bet": bet.name,
        "bets": line.bets,
        "staked_minor": str(line.staked),
        "returned_minor": str(line.staked + line.net),
        "net_minor": str(line.net),
        "commission_minor": str(line.commission),
        "return_decimal": f"{float(back):.10g}",
        "low": f"{float(back) - width * error:.10g}",
        "high": f"{float(back) + width * error:.10g}",
        "exact": str(exact),
        "exact_decimal": f"{float(exact):.10g}",
        "inside": abs(float(back - exact)) <= width * error,
        "level": str(LEVEL),
    }
