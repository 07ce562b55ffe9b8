"""What an audit of records counts in one stratum: coups 1…K of shoes that have ended, in the order they were opened."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, cast

from audit.records.live import LiveBets
from audit.tally import Seen, Tally
from shoe.game.bets.shown import Shown
from shoe.game.tableau import OUTCOMES

LETTERS: Final = {"player": "P", "banker": "B", "tie": "T"}
_ORDER: Final = "".join(LETTERS[outcome] for outcome in OUTCOMES)
UNKNOWN: Final = "?"

Pairs = Counter[tuple[str, str]]
Kind = tuple[str, str, int, int, int]
"""A coup as the store has it: the fields of `audit.tally.Seen`, and nothing of them taken as true."""


@dataclass(slots=True)
class Counts:
    """Counts of one stratum; they are added to in place, for millions of coups go through them.

    `revealed` and `void` count the coups of shoes that came to their end, and of those that were given up, completed
    to coup K as they would have been dealt. Letters stand for outcomes as in `LETTERS`.
    """

    revealed: Counter[Kind] = field(default_factory=Counter)
    void: Counter[Kind] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    wins: Counter[tuple[int, int]] = field(default_factory=Counter)
    runs: int = 0
    neighbours: Pairs = field(default_factory=Counter)
    last: Counter[str] = field(default_factory=Counter)
    same_place: Pairs = field(default_factory=Counter)
    shown: Counter[Shown] = field(default_factory=Counter)
    live: LiveBets = field(default_factory=LiveBets)

    def add_shoe(self, coups: Sequence[Kind], before: str, *, void: bool, fresh: bool) -> str:
        """Count one shoe's judged coups, in order; give their letters.

        `before` are the letters of the table's shoe before it, empty for its first; `fresh` says that each coup had a
        shuffle of its own.
        """
        if not coups:
            return ""
        (self.void if void else self.revealed).update(coups)
        self.lengths.update({1: len(coups)} if fresh else [len(coups)])
        letters = "".join([LETTERS.get(coup[0], UNKNOWN) for coup in coups])
        winners = letters.replace("T", "")
        self.wins[winners.count("B"), winners.count("P")] += bool(winners)
        self.runs += winners.count("BP") + winners.count("PB") + bool(winners)
        self.neighbours.update(pairwise(letters))
        self.last[letters[-1]] += 1
        self.same_place.update(zip(before, letters, strict=False))
        return letters

    def tally(self) -> Tally:
        """Give the judged coups in the form that the checks of outcomes take."""
        coups = Counter({Seen(*cast(Seen, kind)): count for kind, count in (self.revealed + self.void).items()})
        wins = Counter({each: count for each, count in self.wins.items() if each != (0, 0)})
        return Tally(coups, +self.lengths, wins, self.runs)

    def __add__(self, other: Counts) -> Counts:
        """Add the counts of another stratum; of bets laid nothing is kept, for their terms differ."""
        return Counts(
            self.revealed + other.revealed,
            self.void + other.void,
            self.lengths + other.lengths,
            self.wins + other.wins,
            self.runs + other.runs,
            self.neighbours + other.neighbours,
            self.last + other.last,
            self.same_place + other.same_place,
            self.shown + other.shown,
        )


def squared(pairs: Pairs) -> list[int]:
    """List the counts of pairs of outcomes at 3·a + b, as `audit.checks.neighbours` takes them."""
    return [pairs[a, b] for a in _ORDER for b in _ORDER]


def singly(letters: Counter[str]) -> list[int]:
    """List the counts of outcomes in the order of `OUTCOMES`."""
    return [letters[a] for a in _ORDER]
