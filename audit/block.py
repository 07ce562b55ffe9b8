"""What the kernel counts over a run of consecutive shoes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Counts over `shoes` consecutive shoes; all but `order_hashes` add up, whatever the split into blocks.

    Outcomes have the order of `shoe.game.tableau.OUTCOMES` (player, banker, tie); a pair of outcomes (a, b) stands at
    3·a + b. Judged coups are coups 1…K of a shoe (K of `Rules.judged_coups`). Where each coup is shuffled anew, a coup
    is a shoe and K = 1.

    - `judged_cells`, `all_cells` [514]: coups by cell, in the order of `audit.cells.CELLS`; judged ones, and all.
    - `pair_cells` [514·16]: judged coups by cell and both hands' pairs, at 16·cell + 4·player + banker in the order of
      `shoe.game.bets.shown.PAIRS`; empty where no bet of the table looks at pairs.
    - `coups_per_shoe`: shoes by their number of coups, up to ⌊n/4⌋ + 2.
    - `wins` [K+1, K+1]: shoes by the judged wins of (banker, player).
    - `runs`: runs of equal winners among the judged coups, ties left out, added up over shoes.
    - `pairs` [9]: judged coup i and i + 1 of one shoe. `first`, `last` [3]: each shoe's first and last judged coup.
    - `same_place` [9]: coup i of shoe 2j and coup i of shoe 2j + 1, both judged.
    - `order_hashes` [shoes] uint64, in the order of the shoes: a hash of the whole order of cards. Two shoes of
      different order share it once in 2^64. Where each coup is shuffled anew it stands for the first six physical
      cards and for nothing else: equal exactly where these are, once in n(n−1)…(n−5).
    """

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
    order_hashes: npt.NDArray[np.uint64]
    pair_cells: Counts = field(default_factory=lambda: np.zeros(0, np.int64))
