"""Exact probabilities of one coup: every coup enumerated over point values, counted in whole deals.

Each of coups 1…K, which are dealt from every shoe, has the law of the first coup of a full shoe. All counts
are numbers of ordered six-card deals: a coup of four cards counts once for each deal that begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import perm, prod
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

from shoe.errors import RulesError, expected
from shoe.game.cards import DECK, MAX_DECKS
from shoe.game.tableau import (
    MAX_CARDS,
    MERGED_RULES,
    OUTCOMES,
    RULES,
    Outcome,
    merged_rule,
    outcome_of,
    player_draws,
    rule_of,
)

VALUES: Final = range(10)

Key = TypeVar("Key", bound=Hashable)


class Cell(NamedTuple):
    """One cell of the base partition of all coups: rule class, cards of each side (2 or 3), totals 0…9."""

    rule: str
    player_cards: int
    banker_cards: int
    player_total: int
    banker_total: int

    @property
    def outcome(self) -> Outcome:
        """Name the winner, or tie."""
        return outcome_of(self.player_total, self.banker_total)

    @property
    def cards(self) -> int:
        """Count the cards of both sides: 4, 5 or 6."""
        return self.player_cards + self.banker_cards


class Pattern(NamedTuple):
    """Coups that differ only in the order of each side's first two cards: point values, orders, cell.

    `values` has the player's first two, the banker's first two, then the third cards drawn, player's first.
    """

    values: tuple[int, ...]
    orders: int
    cell: Cell


@dataclass(frozen=True, slots=True)
class Exact:
    """The exact law of a full shoe's first coup: ordered six-card deals, out of `total`, in every cell."""

    decks: int
    cells: Mapping[Cell, int]

    @property
    def total(self) -> int:
        """Count all ordered six-card deals: n(n−1)…(n−5) with n = 52·decks."""
        return perm(DECK * self.decks, MAX_CARDS)

    def counts(self, key: Callable[[Cell], Key], order: Sequence[Key]) -> dict[Key, int]:
        """Add the cells up by `key`, listed in `order`, which names every value the key can take."""
        counts = dict.fromkeys(order, 0)
        for cell, count in self.cells.items():
            counts[key(cell)] += count
        return counts

    def outcomes(self) -> dict[Outcome, int]:
        """Count the deals for player, banker and tie."""
        return self.counts(lambda cell: cell.outcome, OUTCOMES)

    def rules(self) -> dict[str, int]:
        """Count the deals in each of the 15 rule classes, in the order of `RULES`."""
        return self.counts(lambda cell: cell.rule, RULES)

    def merged_rules(self) -> dict[str, int]:
        """Count the deals in each of the 14 classes of `MERGED_RULES`."""
        return self.counts(lambda cell: merged_rule(cell.rule), MERGED_RULES)

    def cards(self) -> dict[int, int]:
        """Count the deals by cards used: 4, 5, 6."""
        return self.counts(lambda cell: cell.cards, (4, 5, 6))

    def joint_totals(self) -> dict[tuple[int, int], int]:
        """Count the deals by (player total, banker total), 100 pairs."""
        return self.counts(
            lambda cell: (cell.player_total, cell.banker_total), [(p, b) for p in VALUES for b in VALUES]
        )

    def joint_cells(self) -> dict[tuple[int, int, int], int]:
        """Count the deals by (player total, banker total, cards used): the 198 triples that can occur."""
        triples = {(cell.player_total, cell.banker_total, cell.cards) for cell in self.cells}
        return self.counts(lambda cell: (cell.player_total, cell.banker_total, cell.cards), sorted(triples))

    def probabilities(self, counts: Mapping[Key, int]) -> dict[Key, Fraction]:
        """Divide counts of deals by `total`."""
        return {key: Fraction(count, self.total) for key, count in counts.items()}


def multiplicities(decks: int) -> tuple[int, ...]:
    """Count the cards of each point value 0…9 in a full shoe: 16·decks of 0, 4·decks of every other.

    Raises RulesError unless 1 ≤ decks ≤ 16. Source: protocol §2.
    """
    if not 1 <= decks <= MAX_DECKS:
        raise RulesError(expected(f"1 to {MAX_DECKS} decks", decks, "decks"))
    return (16 * decks, *[4 * decks] * 9)


@cache
def exact_odds(decks: int) -> Exact:
    """Enumerate all coups from a full shoe of 1 to 16 decks, in about a quarter of a second.

    Raises RulesError for any other number of decks.
    """
    full, size = multiplicities(decks), DECK * decks
    cells: dict[Cell, int] = {}
    for values, orders, cell in patterns():
        unused = perm(size - len(values), MAX_CARDS - len(values))
        cells[cell] = cells.get(cell, 0) + orders * draws(full, values) * unused
    return Exact(decks, MappingProxyType(cells))


def patterns() -> Iterator[Pattern]:
    """List every coup as point values, whatever the shoe, by the tableau of protocol §6."""
    hands = [(a, b, 1 if a == b else 2) for a, b in combinations_with_replacement(VALUES, 2)]
    for a, b, player_orders in hands:
        for c, d, banker_orders in hands:
            orders = player_orders * banker_orders
            for drawn, cell in _finish((a + b) % 10, (c + d) % 10):
                yield Pattern((a, b, c, d, *drawn), orders, cell)


@cache
def _finish(player: int, banker: int) -> tuple[tuple[tuple[int, ...], Cell], ...]:
    """Play on from two-card totals: every way to draw third cards, with the cell it ends in."""
    natural = rule_of(player, banker, None).endswith("_natural")
    coups: list[tuple[tuple[int, ...], Cell]] = []
    for third in VALUES if not natural and player_draws(player) else (None,):
        rule = rule_of(player, banker, third)
        drawn = () if third is None else (third,)
        player_total = (player + sum(drawn)) % 10
        if rule.endswith("_draws"):
            coups += [
                ((*drawn, last), Cell(rule, 2 + len(drawn), 3, player_total, (banker + last) % 10)) for last in VALUES
            ]
        else:
            coups.append((drawn, Cell(rule, 2 + len(drawn), 2, player_total, banker)))
    return tuple(coups)


def draws(full: Sequence[int], values: Sequence[int]) -> int:
    """Count the ways to draw cards of these values, in this order, from a shoe of these multiplicities."""
    return prod(perm(full[value], values.count(value)) for value in set(values))
