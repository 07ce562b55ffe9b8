"""All 10⁶ runs of six point values, each with its number of ordered deals, card by card; imports nothing of ours."""

from __future__ import annotations

import numpy as np

from tests.reference import bulk_dealer


def deals(cards: tuple[int, ...], *, endless: bool = False) -> np.ndarray:
    """Ordered six-card deals of each run of values, from a shoe of so many cards of each value: shape (10,)·6."""
    counts = np.array(cards, dtype=np.int64)
    values = np.indices((10,) * 6, dtype=np.int8)
    ways = np.ones((10,) * 6, dtype=np.int64)
    for place in range(6):
        gone = 0 if endless else sum((values[place] == values[earlier]).astype(np.int64) for earlier in range(place))
        ways *= np.maximum(counts[values[place]] - gone, 0)
    return ways


def by_start(ways: np.ndarray, *, player_first: bool = False) -> np.ndarray:
    """Add up by player total, banker total, fifth and sixth card, 10,000 numbers; dealt P B P B, or P P B B."""
    values = np.indices((10,) * 6, dtype=np.int16)
    second, third = (1, 2) if player_first else (2, 1)
    player, banker = (values[0] + values[second]) % 10, (values[third] + values[3]) % 10
    sums = np.zeros(10_000, dtype=np.int64)
    np.add.at(sums, ((player * 10 + banker) * 10 + values[4]) * 10 + values[5], ways)
    return sums


def by_code(starts: np.ndarray, chart: bulk_dealer.Chart = bulk_dealer.CHART) -> dict[int, int]:
    """Add up by the codes that a chart ends in."""
    codes = bulk_dealer.table(chart)[0]
    sums = np.zeros(bulk_dealer.CODES, dtype=np.int64)
    np.add.at(sums, codes, starts)
    return {int(code): int(sums[code]) for code in np.flatnonzero(sums)}
