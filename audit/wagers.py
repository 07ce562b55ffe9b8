"""The house's edge on any bet of any table: exact, by the odds of all that a coup can show."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Final

from audit.showings import Showings
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import Bet

_BASIS_POINTS: Final = 10_000


def bet_edge(law: Showings, bet: Bet) -> Fraction:
    """Compute the house's expected gain per unit staked on the first coup of a full shoe, nothing rounded.

    A stake that is returned counts as staked, as published edges have it.
    """
    kept = 1 - Fraction(bet.commission_bp, _BASIS_POINTS)
    lines = Counter[tuple[str, int, int] | None]()
    for shown, count in law.counts.items():
        lines[bet.pay_on(shown)] += count
    net = sum(
        (count * (Fraction(-1) if pay is None else Fraction(pay[1], pay[2]) * kept) for pay, count in lines.items()),
        Fraction(0),
    )
    return -net / law.total


def edge_at(law: Showings, bet: Bet, stake_minor: int, terms: Terms) -> Fraction:
    """Compute the house's expected gain per minor unit staked, as a table rounds this stake's commission and pay."""
    net = sum(gain * count for gain, count in net_law(law, bet, stake_minor, terms).items())
    return Fraction(-net, law.total * stake_minor)


def net_law(law: Showings, bet: Bet, stake_minor: int, terms: Terms) -> dict[int, int]:
    """Count the deals by what a stake wins or loses, in minor units."""
    nets: Counter[int] = Counter()
    for shown, count in law.counts.items():
        nets[settle_shown(bet, stake_minor, shown, terms).net_minor] += count
    return dict(nets)
