"""What the audit of logs counts: sums over all shoes, of a size that hangs on no log."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from audit.checks.tableau_cells import Decision
from audit.foreign.composition import LEVELS, Ints, Level
from audit.foreign.hands import Drawn, decisions_in, fault_of, seen_of
from audit.pair_law import BothPairs
from audit.tally import Seen, Tally
from shoe.game.cards import DECK
from shoe.game.tableau import OUTCOMES, Outcome, outcome_of

FIRST_CARDS = DECK
"""Places of a shoe, from its first card, at which types are counted."""


@dataclass(slots=True)
class Types:
    """The types of the cards of shoes: pooled, by shoe, and by place, all at one level.

    `unseen_pairs` is Σ n(N−n) over shoes of which n of N cards came; `lengths` counts the shoes by n, `squares` adds up
    by n their Σ c²·w over types, c being a type's cards and w its weight. `first` is int64[FIRST_CARDS, R], of the
    shoes of so many cards or more.
    """

    level: Level
    counts: Ints
    first: Ints
    shoes: int = 0
    cards: int = 0
    unseen_pairs: int = 0
    lengths: Counter[int] = field(default_factory=Counter)
    squares: Counter[int] = field(default_factory=Counter)

    @classmethod
    def at(cls, level: Level) -> Types:
        """Count nothing yet."""
        kinds = len(level.labels)
        return cls(level, np.zeros(kinds, dtype=np.int64), np.zeros((FIRST_CARDS, kinds), dtype=np.int64))

    def add(self, types: Ints, decks: int) -> None:
        """Count a shoe that its decks can hold."""
        size, kinds = DECK * decks, len(self.level.labels)
        counts = np.bincount(types, minlength=kinds)
        self.counts += counts
        self.shoes += 1
        self.cards += len(types)
        self.unseen_pairs += len(types) * (size - len(types))
        self.lengths[len(types)] += 1
        self.squares[len(types)] += int(counts**2 @ self.level.weights)
        if len(types) >= FIRST_CARDS:
            np.add.at(self.first, (np.arange(FIRST_CARDS), types[:FIRST_CARDS]), 1)


@dataclass(slots=True)
class LogCounts:
    """All that the battery is made from; a shoe's coups are added at once, when it has ended.

    `drawn` counts judged coups of two or three cards a side by what decides them and by the claimed outcome, `claimed`
    all judged coups by that alone, `misshapen` those of other hands. `shown_cards` and `shown_shoes` are of shoes that
    show cards, `coarsest` is the level at which all of them are known; `impossible_shoes` could not be dealt.
    """

    decks: int
    shoes: int = 0
    coups: int = 0
    judged: int = 0
    misshapen: int = 0
    drawn: Counter[tuple[Drawn, Outcome]] = field(default_factory=Counter)
    claimed: Counter[Outcome] = field(default_factory=Counter)
    pair_classes: Counter[BothPairs] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    wins: Counter[tuple[int, int]] = field(default_factory=Counter)
    runs: int = 0
    neighbours: list[int] = field(default_factory=lambda: [0] * 9)
    last: list[int] = field(default_factory=lambda: [0] * 3)
    same_place: list[int] = field(default_factory=lambda: [0] * 9)
    types: tuple[Types, ...] = field(default_factory=lambda: tuple(map(Types.at, LEVELS)))
    impossible_shoes: int = 0
    shown_cards: int = 0
    shown_shoes: int = 0
    coarsest: int = 0
    _before: tuple[Outcome, ...] = ()

    def add_cards(self, codes: Ints, level: Level, *, possible: bool) -> None:
        """Count a shoe's cards, known at `level`; into the checks of cards only where its decks can hold them."""
        place = LEVELS.index(level)
        self.shown_shoes += 1
        self.shown_cards += len(codes)
        self.coarsest = max(self.coarsest, place)
        self.impossible_shoes += not possible
        for part in self.types[place:] if possible else ():
            part.add(part.level.types[codes], self.decks)

    def add_outcomes(self, outcomes: tuple[Outcome, ...], *, possible: bool) -> None:
        """Count a shoe's judged coups in their order; where its decks can't have dealt them, as independent coups."""
        self.judged += len(outcomes)
        self.claimed.update(outcomes)
        self.lengths[len(outcomes) if possible else 1] += 1 if possible else len(outcomes)
        winners = [outcome for outcome in outcomes if outcome != "tie"]
        if winners:
            self.wins[winners.count("banker"), winners.count("player")] += 1
            self.runs += 1 + sum(before != after for before, after in pairwise(winners))
        numbers = [OUTCOMES.index(outcome) for outcome in outcomes]
        for one, other in pairwise(numbers):
            self.neighbours[3 * one + other] += 1
        if numbers:
            self.last[numbers[-1]] += 1
        for earlier, now in zip(self._before, numbers, strict=False):
            self.same_place[3 * OUTCOMES.index(earlier) + now] += 1
        self._before = outcomes

    @property
    def shown(self) -> bool:
        """Whether every judged coup shows two or three cards a side."""
        return 0 < self.judged == self.drawn.total()

    @property
    def suited(self) -> bool:
        """Whether every judged coup shows the suits of both sides' first two cards."""
        return 0 < self.judged == self.pair_classes.total()

    def impossible(self) -> int:
        """Count the judged coups that no right engine deals: against the tableau, or with another outcome."""
        wrong = sum(count for (drawn, outcome), count in self.drawn.items() if not _possible(drawn, outcome))
        return wrong + self.misshapen

    def tally(self) -> Tally:
        """Give the judged coups in the form that checks of outcomes take: whole where no coup is impossible."""
        coups: Counter[Seen] = Counter()
        if self.shown and not self.impossible():
            for (drawn, outcome), count in self.drawn.items():
                coups[seen_of(drawn, outcome)] += count
        else:
            coups.update({Seen(outcome, "", 0, 0, 0): count for outcome, count in self.claimed.items()})
        return Tally(coups, self.lengths, self.wins, self.runs, whole_shoes=True)

    def decisions(self) -> Counter[Decision]:
        """Count the decisions of all coups of two or three cards a side."""
        found: Counter[Decision] = Counter()
        for (drawn, _), count in self.drawn.items():
            for decision in decisions_in(drawn):
                found[decision] += count
        return found


def _possible(drawn: Drawn, outcome: Outcome) -> bool:
    if fault_of(drawn) is not None:
        return False
    seen = seen_of(drawn, outcome)
    return outcome == outcome_of(seen.player_total, seen.banker_total)
