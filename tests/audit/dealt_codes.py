"""Tallies of coups that the bulk dealer of tests/reference deals, by numpy's own shuffle."""

from __future__ import annotations

from collections import Counter
from typing import cast

import numpy as np

from audit.tally import Seen, Tally
from shoe.game.tableau import Outcome
from tests.reference import bulk_dealer

OUTCOME = ("player", "banker", "tie")


def deal(decks: int, shoes: int, coups: int, seed: int, chart: bulk_dealer.Chart = bulk_dealer.CHART) -> np.ndarray:
    """Codes of coups 1…K, shoes × K."""
    generator = np.random.Generator(np.random.PCG64(seed))
    return bulk_dealer.judged(bulk_dealer.shuffled(generator, decks, shoes), coups, chart)


def tally(codes: np.ndarray) -> Tally:
    """Count codes; of winners nothing is kept."""
    counts = np.bincount(codes.ravel(), minlength=bulk_dealer.CODES)
    winners = bulk_dealer.outcomes(np.arange(bulk_dealer.CODES, dtype=np.int64))
    coups: Counter[Seen] = Counter()
    for code in np.flatnonzero(counts).tolist():
        rule, joint = divmod(code, bulk_dealer.JOINT)
        player, rest = divmod(joint, 30)
        banker, cards = divmod(rest, 3)
        outcome = cast(Outcome, OUTCOME[winners[code]])
        coups[Seen(outcome, bulk_dealer.RULES[rule], cards + 4, player, banker)] = int(counts[code])
    return Tally(coups=coups, lengths=Counter({codes.shape[1]: len(codes)}))
