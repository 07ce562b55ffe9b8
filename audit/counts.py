"""What a certification counts on one path: sums that come out the same whatever the split and the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from audit.block import Block, Counts
from audit.cells import CELLS
from audit.checks.bits.second_level import BitsTally
from audit.draw_counts import DrawCounts
from audit.exact import Cell
from audit.replay import Replayed
from audit.shuffle_counts import ShuffleCounts
from audit.tally import Seen, Tally
from shoe.errors import InputError, expected

Part = TypeVar("Part", "Dealt", ShuffleCounts, DrawCounts, BitsTally, Replayed)


@dataclass(frozen=True, slots=True, eq=False)
class Dealt:
    """Blocks of shoes added up; fields as in `Block`, `hashes` by the first shoe of each block."""

    shoes: int
    judged_cells: Counts
    all_cells: Counts
    coups_per_shoe: Counts
    wins: Counts
    runs: int
    pairs: Counts
    first: Counts
    last: Counts
    same_place: Counts
    pair_cells: Counts
    hashes: Mapping[int, npt.NDArray[np.uint64]]

    @classmethod
    def of(cls, block: Block, first: int) -> Dealt:
        """Take one block, of the shoes from `first` on."""
        sums = {each.name: getattr(block, each.name) for each in fields(cls)[:-1]}
        return cls(**sums, hashes={first: block.order_hashes})

    def __add__(self, other: Dealt) -> Dealt:
        if twice := self.hashes.keys() & other.hashes.keys():
            raise InputError(expected("each block once", f"two from shoe {min(twice)} on", "dealt"))
        sums = {each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)[:-1]}
        return Dealt(**sums, hashes={**self.hashes, **other.hashes})

    @property
    def judged_coups(self) -> int:
        """Count the coups 1…K."""
        return int(self.judged_cells.sum())

    @property
    def all_coups(self) -> int:
        """Count every coup dealt."""
        return int(self.all_cells.sum())

    def order_hashes(self) -> npt.NDArray[np.uint64]:
        """List the hashes of all orders, in the order of the shoes: 8 bytes a shoe."""
        return np.concatenate([self.hashes[first] for first in sorted(self.hashes)])

    def tally(self) -> Tally:
        """Give the judged coups in the form that the checks of outcomes take; one sequence of winners a shoe."""
        wins = {
            (banker, player): int(self.wins[banker, player])
            for banker, player in np.argwhere(self.wins).tolist()
            if banker or player
        }
        coups: Counter[Seen] = Counter()
        for cell, count in zip(CELLS, self.judged_cells.tolist(), strict=True):
            if count:
                coups[seen_in(cell)] += count
        judged = len(self.wins) - 1
        return Tally(coups, Counter({judged: self.shoes}), Counter(wins), self.runs)


@dataclass(frozen=True, slots=True, eq=False)
class PathCounts:
    """All that is counted on one path, the batch or that of production; a part not counted yet is None."""

    dealt: Dealt | None = None
    shuffles: ShuffleCounts | None = None
    draws: DrawCounts | None = None
    bits: BitsTally | None = None
    replayed: Replayed | None = None

    def __add__(self, other: PathCounts) -> PathCounts:
        return PathCounts(
            plus(self.dealt, other.dealt),
            plus(self.shuffles, other.shuffles),
            plus(self.draws, other.draws),
            plus(self.bits, other.bits),
            plus(self.replayed, other.replayed),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RunCounts:
    """The counts of both paths; ``a + b`` counts both runs' blocks."""

    batch: PathCounts = field(default_factory=PathCounts)
    production: PathCounts = field(default_factory=PathCounts)

    def __add__(self, other: RunCounts) -> RunCounts:
        return RunCounts(self.batch + other.batch, self.production + other.production)


def plus(one: Part | None, other: Part | None) -> Part | None:
    """Add two parts, of which either may be missing."""
    if one is None or other is None:
        return other if one is None else one
    return one + other


def require(part: Part | None, what: str) -> Part:
    """Give back a part that was counted; raises InputError for None."""
    if part is None:
        raise InputError(expected(f"counts of {what}", None, "counts"))
    return part


def seen_in(cell: Cell) -> Seen:
    """Name a coup of a cell as `audit.tally` does."""
    return Seen(cell.outcome, cell.rule, cell.cards, cell.player_total, cell.banker_total)
