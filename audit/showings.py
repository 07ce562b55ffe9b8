"""Exact odds of all that a coup can show to bets: `audit.exact` by values, and pairs by cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, product
from math import perm
from types import MappingProxyType
from typing import Final

from audit.exact import VALUES, draws, multiplicities, patterns
from shoe.game.bets.shown import PAIRS, Pair, Shown
from shoe.game.cards import DECK
from shoe.game.tableau import MAX_CARDS

_RANKS_OF_TEN: Final = 4
_SUITS: Final = 4

Ways = Mapping[tuple[Pair, Pair], int]


@dataclass(frozen=True, slots=True)
class Showings:
    """The exact law of what a full shoe's first coup shows: ordered six-card deals, out of `total`."""

    decks: int
    counts: Mapping[Shown, int]

    @property
    def total(self) -> int:
        """Count all ordered six-card deals: n(n−1)…(n−5) with n = 52·decks."""
        return perm(DECK * self.decks, MAX_CARDS)


@cache
def showings(decks: int) -> Showings:
    """Enumerate all that coups from a full shoe of 1 to 16 decks show, in about half a second.

    Raises RulesError for any other number of decks.
    """
    full, size = multiplicities(decks), DECK * decks
    unused = {used: perm(size - used, MAX_CARDS - used) for used in (4, 5, 6)}
    counts: Counter[tuple[int, int, int, int, Pair, Pair]] = Counter()
    for four, played in groupby(patterns(), lambda pattern: pattern.values[:4]):
        classes = [(pairs, ways) for pairs, ways in _first_cards(decks, four).items() if ways]
        left = [full[value] - four.count(value) for value in VALUES]
        for values, orders, cell in played:
            ways_on = orders * _third_cards(left, values[4:]) * unused[len(values)]
            for pairs, ways in classes:
                counts[*cell[3:], *cell[1:3], *pairs] += ways * ways_on
    return Showings(decks, MappingProxyType({Shown(*shown): count for shown, count in counts.items() if count}))


def _third_cards(left: Sequence[int], drawn: tuple[int, ...]) -> int:
    """Count the draws of no, one or two cards of these values, so many of each value being left."""
    if not drawn:
        return 1
    first = left[drawn[0]]
    return first if len(drawn) == 1 else first * (left[drawn[1]] - (drawn[0] == drawn[1]))


def _first_cards(decks: int, four: tuple[int, ...]) -> Ways:
    """Count the draws of four cards of these values, two for each side, by the classes of both sides' pairs.

    Unless all four are alike, only one side can pair at a value that the other side draws too, and then the other
    side's cards, which can't pair, are as many whatever the first side's suits: the sides' classes multiply.
    """
    if len(set(four)) == 1:
        return _four_alike(decks, four[0])
    full, (player, banker) = multiplicities(decks), (four[:2], four[2:])
    ways, apart = draws(full, four), draws(full, player) * draws(full, banker)
    classes = product(_two_cards(decks, player).items(), _two_cards(decks, banker).items())
    return {(one, other): ways * these * those // apart for (one, these), (other, those) in classes}


def _two_cards(decks: int, two: tuple[int, ...]) -> Mapping[Pair, int]:
    """Count the draws of two cards of these values from a full shoe by the class of their pair."""
    ways = draws(multiplicities(decks), two)
    if two[0] != two[1]:
        return {"none": ways}
    cards = _SUITS * decks * (1 if two[0] else _RANKS_OF_TEN)
    pure, coloured, mixed = cards * (decks - 1), cards * decks, cards * 2 * decks
    return {"none": ways - pure - coloured - mixed, "mixed": mixed, "coloured": coloured, "pure": pure}


def _four_alike(decks: int, value: int) -> Ways:
    """Count the draws of four cards of one value, one by one over ranks and suits."""
    faces = list(product(range(1 if value else _RANKS_OF_TEN), range(_SUITS)))
    ways: Counter[tuple[Pair, Pair]] = Counter()
    for a, b in product(faces, repeat=2):
        player = _pair(a, b)
        for c, d in product(faces, repeat=2):
            left = decks * (decks - (b == a)) * (decks - (c == a) - (c == b)) * (decks - (d == a) - (d == b) - (d == c))
            ways[player, _pair(c, d)] += left
    return ways


def _pair(one: tuple[int, int], other: tuple[int, int]) -> Pair:
    """Class two cards given as rank and suit, of which 0 and 3, 1 and 2 have one colour."""
    if one[0] != other[0]:
        return PAIRS[0]
    return PAIRS[3] if one == other else PAIRS[2] if one[1] + other[1] == 3 else PAIRS[1]
