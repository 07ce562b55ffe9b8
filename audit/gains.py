"""The exact law of what a bet gains: mean, spread and skewness on one coup, and how two coups of a shoe hang together.

A gain is a function of what a coup shows. Where it looks at totals and cards alone, the covariance of two coups is
`audit.covariance`'s; where at pairs alone, `audit.pair_law`'s. Both are exact. A pay table may mix both in one bet;
then coups are taken as independent, which mistakes a standard error a little (METHODS, bet_returns).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Final, Literal

from audit.covariance import Partition, TwoCoupCovariance, covariance_by
from audit.exact import Cell, exact_odds, multiplicities
from audit.pair_law import pair_covariance
from audit.showings import Showings, showings
from shoe.game.bets.events import EVENTS
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import PAIRS, Shown
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import Bet

Gain = Fraction | int
Gains = Mapping[Shown, Gain]
Sees = Literal["coup", "pairs", "both"]

_BASIS_POINTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class GainLaw:
    """The law of a gain per coup, in whatever unit the gains are; `third` is the third central moment.

    `between` is the covariance of the gains of two coups of one shoe.
    """

    mean: Fraction
    variance: Fraction
    third: Fraction
    between: Fraction

    def error(self, coups: int, pairs: int) -> float:
        """Compute the standard error of the gain over coups; `pairs` as in `audit.tally.Tally`."""
        return sqrt(coups * self.variance + pairs * self.between)


@cache
def unit_gains(decks: int, bet: Bet) -> Gains:
    """List what a unit staked gains on everything that a coup can show, nothing rounded: −1 where it is lost."""
    kept = 1 - Fraction(bet.commission_bp, _BASIS_POINTS)

    def gain(shown: Shown) -> Fraction:
        pay = bet.pay_on(shown)
        return Fraction(-1) if pay is None else Fraction(pay.gain, pay.per) * kept

    return {shown: gain(shown) for shown in showings(decks).counts}


@cache
def settled_gains(decks: int, bet: Bet, stake_minor: int, terms: Terms) -> Gains:
    """List what a stake gains in minor units, as the table rounds."""
    return {shown: settle_shown(bet, stake_minor, shown, terms).net_minor for shown in showings(decks).counts}


@cache
def unit_skewness(decks: int, bet: Bet) -> Fraction:
    """Compute the squared skewness of what a unit staked gains on one coup."""
    _, variance, third = _moments(showings(decks), unit_gains(decks, bet))
    return third**2 / variance**3


@cache
def unit_laws(decks: int, bets: tuple[Bet, ...]) -> tuple[GainLaw, ...]:
    """Compute the laws of what a unit staked on each of several bets gains; see `gain_laws`."""
    return gain_laws(decks, [unit_gains(decks, bet) for bet in bets])


@cache
def settled_laws(decks: int, stake_minor: int, terms: Terms) -> tuple[GainLaw, ...]:
    """Compute the laws of what a stake on each of a table's bets gains in minor units, as the table rounds."""
    return gain_laws(decks, [settled_gains(decks, bet, stake_minor, terms) for bet in terms.bets])


def gain_laws(decks: int, gains: Sequence[Gains]) -> tuple[GainLaw, ...]:
    """Compute the law of each of several gains, all covariances of a table in about a second.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    law, sees = showings(decks), [_sees(each) for each in gains]
    on_cells = [_by(each, _without_pairs) for each, seen in zip(gains, sees, strict=True) if seen == "coup"]
    covariance = _of_cells(decks, on_cells) if on_cells else None
    place, found = 0, []
    for each, seen in zip(gains, sees, strict=True):
        between = Fraction(0)
        if seen == "pairs":
            of_pairs = _by(each, _pairs)
            between = _form(pair_covariance(decks), lambda label, of=of_pairs: of[label])
        elif seen == "coup" and covariance is not None:
            between = _form(covariance, lambda label, at=place: label[0][at])
            place += 1
        found.append(GainLaw(*_moments(law, each), between))
    return tuple(found)


def sees_pairs(bet: Bet) -> bool:
    """Say whether a bet is decided, be it in one line, by a hand's first two cards being a pair."""
    shown = [Shown(0, 0, 2, 2, *pairs) for pairs in _ALL_PAIRS]
    return any(len({EVENTS[pay.event].holds(each) for each in shown}) > 1 for pay in bet.pays)


_ALL_PAIRS: Final = tuple((one, other) for one in PAIRS for other in PAIRS)


def _sees(gains: Gains) -> Sees:
    """Say what gains look at; "both" only where neither alone settles them."""
    if len(set(map(_without_pairs, gains))) == len({(_without_pairs(shown), gain) for shown, gain in gains.items()}):
        return "coup"
    pairs = {_pairs(shown) for shown in gains}
    return "pairs" if len(pairs) == len({(_pairs(shown), gain) for shown, gain in gains.items()}) else "both"


def _without_pairs(shown: Shown) -> tuple[int, int, int, int]:
    return shown[:4]


def _pairs(shown: Shown) -> tuple[str, str]:
    return shown[4:]


def _by(gains: Gains, key: Callable[[Shown], tuple[object, ...]]) -> dict[tuple[object, ...], Gain]:
    return {key(shown): gain for shown, gain in gains.items()}


def _moments(law: Showings, gains: Gains) -> tuple[Fraction, Fraction, Fraction]:
    counts = Counter[Gain]()
    for shown, gain in gains.items():
        counts[gain] += law.counts[shown]
    mean = _mean(law, counts.items())
    central = [_mean(law, (((gain - mean) ** power, count) for gain, count in counts.items())) for power in (2, 3)]
    return mean, central[0], central[1]


def _mean(law: Showings, gains: Iterable[tuple[Gain, int]]) -> Fraction:
    return Fraction(sum((gain * count for gain, count in gains), Fraction(0)), law.total)


def _of_cells(
    decks: int, gains: Sequence[Mapping[tuple[object, ...], Gain]]
) -> TwoCoupCovariance[tuple[tuple[Gain, ...], int]]:
    """Compute the covariance of all that several gains tell of a coup, cards used beside."""

    def label(cell: Cell) -> tuple[tuple[Gain, ...], int]:
        shown = cell.player_total, cell.banker_total, cell.player_cards, cell.banker_cards
        return tuple(each[shown] for each in gains), cell.cards

    labels = tuple(sorted({label(cell) for cell in exact_odds(decks).cells}))
    return covariance_by(Partition(label, labels, tuple(cards for _, cards in labels)), multiplicities(decks))


def _form(law: TwoCoupCovariance, gain: Callable[..., Gain]) -> Fraction:  # type: ignore[type-arg]
    """Compute Cov(g(one coup), g(another)) of a gain g of the law's labels."""
    rows = defaultdict[Gain, list[int]](list)
    for place, label in enumerate(law.labels):
        rows[gain(label)].append(place)
    found = Fraction(0)
    for one, these in rows.items():
        for other, those in rows.items():
            found += one * other * sum((law.s12[a][b] for a in these for b in those), Fraction(0))
    return found
