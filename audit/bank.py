"""The probability that one bettor, always on the same bet and stake, breaks a finite bank before the purse is spent.

The money won so far is a random walk whose steps are the bet's nets. It is taken apart by first passages: from each
level, the odds of where the walk first stands above it without having been ruined; the probability asked for is
carried from passage to passage up to the bank's end. Source: Feller, An Introduction to Probability Theory and Its
Applications, volume 1, chapter XIV (the classical ruin problem) for steps of one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Final

from audit.showings import Showings
from audit.wagers import bet_edge, net_law
from shoe.errors import InputError, expected
from shoe.game.bets.layout import worst_minor
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import Bet

_SMALL: Final = 2.0**-500
_SHIFT: Final = 500

_ROUNDED_AWAY: Final = {"half_up": 1, "up": 0, "down": 2}
"""The most that rounding a win and its commission can add to what a bettor wins, in minor units."""


@dataclass(frozen=True, slots=True)
class Breaking:
    """The odds of breaking a bank with one bet: what was asked, and the probability to nine significant digits.

    The bettor plays on while the purse holds the stake and the bank could pay it.
    """

    bet: str
    stake_minor: int
    purse_minor: int
    bank_minor: int
    probability: Fraction


def break_bank(law: Showings, terms: Terms, bet: Bet) -> Breaking | None:
    """Compute the odds that a purse breaks the bank with a table's default stake, always on `bet`.

    Takes up to some seconds. None where the table has no purse, or no bank that can be broken.
    """
    money = terms.money
    if money.bank_minor is None or money.purse_minor is None:
        return None
    stake = money.default_stake_minor
    nets = net_law(law, bet, stake, terms)
    probability = reach(nets, money.purse_minor - stake, money.bank_minor - max(nets))
    return Breaking(bet.name, stake, money.purse_minor, money.bank_minor, probability)


def any_play_at_most(law: Showings, terms: Terms) -> Fraction | None:
    """Bound the probability that a purse breaks the bank, however it is staked.

    Where no stake gains on average, what the bettor has is expected never to rise, and a broken bank has lost all but
    what its least bet could win. None as for `break_bank`, and where some stake might gain. Source: Doob's optional
    stopping theorem.
    """
    money, least = terms.money, terms.limits.min_minor
    if money.bank_minor is None or money.purse_minor is None:
        return None
    if any(bet_edge(law, bet) * least < _ROUNDED_AWAY[money.rounding] for bet in terms.bets):
        return None
    unpaid = min(worst_minor(terms, [{bet.name: least}], law.decks) for bet in terms.bets) - 1
    return Fraction(money.purse_minor, money.purse_minor + money.bank_minor - unpaid)


def reach(nets: Mapping[int, int], below: int, above: int) -> Fraction:
    """Compute the probability that a walk gets more than `above` up before it gets more than `below` down.

    `nets` weighs its steps by whole numbers; both bounds are 0 or more. All is added and multiplied in floats of one
    sign, so that the result keeps nine digits however small it is. Raises InputError unless steps go both ways.
    """
    if below < 0 or above < 0 or not min(nets) < 0 < max(nets):
        raise InputError(expected("bounds of 0 or more, and steps both up and down", (below, above), "reach"))
    unit = gcd(*nets)
    moving = sum(count for net, count in nets.items() if net)
    steps = {net // unit: count / moving for net, count in nets.items() if net}
    return _climb(steps, below // unit + 1, below // unit + above // unit + 2)


def _climb(steps: Mapping[int, float], start: int, top: int) -> Fraction:
    """Carry probability from level `start` up to `top` or above, before level 0 or below is met."""
    passages = _Passages(steps)
    for _ in range(start):
        passage = passages.next()
    ahead, scaled = [1.0] + [0.0] * (len(passage) - 1), 0
    for level in range(start, top):
        here, *rest = ahead
        ahead = [x + here * p for x, p in zip([*rest, 0.0], passage, strict=True)]
        if level + 1 < top:
            passage = passages.next()
        if max(ahead) < _SMALL:
            ahead, scaled = [x / _SMALL for x in ahead], scaled + _SHIFT
    return Fraction(sum(ahead)) / (1 << scaled)


class _Passages:
    """The odds, level by level from 1 up, of how far above its level the walk first comes before it is ruined."""

    def __init__(self, steps: Mapping[int, float]) -> None:
        self._up = max(steps)
        self._down = -min(steps)
        self._rises = [steps.get(step, 0.0) for step in range(1, self._up + 1)]
        self._falls = [steps.get(-step, 0.0) for step in range(self._down, 0, -1)]
        nowhere = [0.0] * self._up
        self._below: deque[Sequence[float]] = deque([nowhere] * self._down, self._down)
        self._same = 0

    def next(self) -> Sequence[float]:
        """Give the passage of the next level.

        The higher, the farther is ruin: no entry ever falls, even rounded, so that once as many passages as the walk
        can fall are all the same, all above them are.
        """
        if self._same > self._down:
            return self._below[-1]
        passage = self._passage()
        self._same = self._same + 1 if passage == self._below[-1] else 0
        self._below.append(passage)
        return passage

    def _passage(self) -> Sequence[float]:
        """Fall from a level, climb back by the passages below it, and set out again from where it was regained."""
        reached = [*self._falls, 0.0, *self._rises]
        for at, passage in enumerate(self._below):
            if (mass := reached[at]) and any(passage):
                after = at + 1
                reached[after : after + self._up] = [
                    x + mass * p for x, p in zip(reached[after : after + self._up], passage, strict=True)
                ]
        away = 1 - reached[self._down]
        return [x / away for x in reached[self._down + 1 :]]


def scientific(value: Fraction, digits: int = 9) -> str:
    """Print a positive fraction in so many significant digits, such as ``1.23e-107``; rounded exactly, a half up."""
    if value <= 0 or digits < 2:
        raise InputError(expected("a positive fraction and 2 or more digits", (value, digits), "scientific"))
    exponent = len(str(value.numerator)) - len(str(value.denominator))
    if value < Fraction(10) ** exponent:
        exponent -= 1
    whole = int(value / Fraction(10) ** (exponent - digits + 1) + Fraction(1, 2))
    if whole == 10**digits:
        whole, exponent = whole // 10, exponent + 1
    text = str(whole)
    return f"{text[0]}.{text[1:]}e{exponent}"
