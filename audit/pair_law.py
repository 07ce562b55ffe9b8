"""How the pairs of two coups of one shoe hang together: their exact law, by ranks and suits.

Whatever coup 1 drew beyond its first four cards, the first four of coup 2 are any four of those left: both coups show
the pairs of four hands of two cards dealt in a row. Hands of different ranks do not meet, so that the ways of hands
that are pairs of given classes are products over the ranks that they share; what is no pair is what is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import perm, prod
from typing import Final

from audit.covariance import TwoCoupCovariance
from shoe.game.bets.shown import PAIRS, Pair
from shoe.game.cards import DECK

_RANKS: Final = 13
_SUITS: Final = range(4)

BothPairs = tuple[Pair, Pair]
Classes = tuple[Pair, ...]


@cache
def pair_covariance(decks: int) -> TwoCoupCovariance[BothPairs]:
    """Compute the law of (player's pair, banker's pair) and its covariance over two coups, in some milliseconds.

    For 1 to 16 decks; classes that cannot be, such as a pure pair of one deck, are left out.
    """
    labels: tuple[BothPairs, ...] = tuple(both for both in product(PAIRS, PAIRS) if _chance(decks, both))
    p = tuple(_chance(decks, both) for both in labels)
    s12 = tuple(
        tuple(_chance(decks, (*one, *other)) - a * b for other, b in zip(labels, p, strict=True))
        for one, a in zip(labels, p, strict=True)
    )
    return TwoCoupCovariance(labels, p, s12)


def _chance(decks: int, hands: Classes) -> Fraction:
    """Compute the probability that hands in a row are of these classes: no pair is anything, less every pair."""
    if "none" not in hands:
        return _paired(decks, tuple(sorted(hands)))
    at = hands.index("none")
    rest = (*hands[:at], *hands[at + 1 :])
    return _chance(decks, rest) - sum(_chance(decks, (*hands[:at], pair, *hands[at + 1 :])) for pair in PAIRS[1:])


@cache
def _paired(decks: int, hands: Classes) -> Fraction:
    """Compute the probability that so many hands in a row are pairs of these classes."""
    ways = 0
    for groups in _groupings(range(len(hands))):
        of_groups = (_one_rank(decks, len(group))[tuple(hands[hand] for hand in group)] for group in groups)
        ways += perm(_RANKS, len(groups)) * prod(of_groups)
    return Fraction(ways, perm(DECK * decks, 2 * len(hands)))


def _groupings(hands: Sequence[int]) -> Iterator[list[list[int]]]:
    """List the ways to part hands into groups that share a rank."""
    if not hands:
        yield []
        return
    first, *rest = hands
    for groups in _groupings(rest):
        yield [[first], *groups]
        for at, group in enumerate(groups):
            yield [*groups[:at], [first, *group], *groups[at + 1 :]]


@cache
def _one_rank(decks: int, hands: int) -> Counter[Classes]:
    """Count the draws of so many pairs from the cards of one rank, in order, by their classes."""
    states = Counter[tuple[Classes, tuple[int, ...]]]({((), (0,) * len(_SUITS)): 1})
    for _ in range(hands):
        grown = Counter[tuple[Classes, tuple[int, ...]]]()
        for ((classes, drawn), ways), (one, other) in product(states.items(), product(_SUITS, repeat=2)):
            left = (decks - drawn[one]) * (decks - drawn[other] - (one == other))
            now = tuple(count + (suit == one) + (suit == other) for suit, count in enumerate(drawn))
            grown[(*classes, _class(one, other)), now] += ways * max(left, 0)
        states = grown
    found = Counter[Classes]()
    for (classes, _), ways in states.items():
        found[classes] += ways
    return found


def _class(one: int, other: int) -> Pair:
    """Class two cards of one rank by their suits, of which 0 and 3, 1 and 2 have one colour."""
    return PAIRS[3] if one == other else PAIRS[2] if one + other == 3 else PAIRS[1]
