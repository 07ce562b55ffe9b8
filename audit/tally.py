"""What was seen at the table: counts that add up, so that any split of the work gives the same sum."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import pairwise
from operator import add
from typing import NamedTuple

from shoe.errors import InputError, expected
from shoe.game.tableau import Coup, Outcome


class Seen(NamedTuple):
    """One coup as it was reported: outcome, rule class, cards used, totals. Nothing here is taken as true."""

    outcome: Outcome
    rule: str
    cards: int
    player_total: int
    banker_total: int


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts over the judged coups of any number of shoes; ``a + b`` is the tally of both.

    `coups` counts each kind of coup; `lengths` the shoes by their judged coups m; `wins` the sequences by
    their wins (of banker, of player); `runs` adds up the runs of equal winners, ties left out. `whole_shoes` says that
    all coups of shoes of unknown end are in it, where only the cards bound their number: the cut card biases these
    (`cutcard.py`).
    """

    coups: Counter[Seen] = field(default_factory=Counter)
    lengths: Counter[int] = field(default_factory=Counter)
    wins: Counter[tuple[int, int]] = field(default_factory=Counter)
    runs: int = 0
    whole_shoes: bool = False

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.coups + other.coups,
            self.lengths + other.lengths,
            self.wins + other.wins,
            self.runs + other.runs,
            self.whole_shoes or other.whole_shoes,
        )

    @property
    def n(self) -> int:
        """Count the judged coups."""
        return sum(self.coups.values())

    @property
    def pairs(self) -> int:
        """Count the ordered pairs of different judged coups of one shoe: Σ m(m−1)."""
        return sum(shoes * m * (m - 1) for m, shoes in self.lengths.items())


def seen(coup: Coup) -> Seen:
    """Keep of a dealt coup what the audit counts."""
    return Seen(coup.outcome, coup.rule, len(coup.cards), coup.player_total, coup.banker_total)


def tally_shoe(coups: Sequence[Seen], judged: int) -> Tally:
    """Count the first `judged` coups of one shoe, or all where there are fewer.

    `judged` is K, the coups that the table deals from every shoe whatever the cards: only these have the
    probabilities of a full shoe. A shoe cut short because of what it dealt must be completed before it is
    handed in. Raises InputError unless K ≥ 1.
    """
    if judged < 1:
        raise InputError(expected("1 or more judged coups a shoe", judged, "judged"))
    prefix = coups[:judged]
    return _sequence(prefix, Counter([len(prefix)] if prefix else ()))


def tally_fresh_shuffles(coups: Sequence[Seen]) -> Tally:
    """Count coups each dealt from a shoe of its own: independent, and one long sequence of winners."""
    return _sequence(coups, Counter([1] * len(coups)))


def add_up(tallies: Iterable[Tally]) -> Tally:
    """Sum any number of tallies, in any order."""
    return reduce(add, tallies, Tally())


def _sequence(coups: Sequence[Seen], lengths: Counter[int]) -> Tally:
    winners = [coup.outcome for coup in coups if coup.outcome in ("banker", "player")]
    runs = sum(before != after for before, after in pairwise(winners)) + bool(winners)
    wins = Counter([(winners.count("banker"), winners.count("player"))] if winners else ())
    return Tally(Counter(coups), lengths, wins, runs)
