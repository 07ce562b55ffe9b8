"""Looked at after every coup, on real shoes: how often sound tables alarm, and how soon a tilted one does."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np
import pytest
from scipy.stats import chi2

from audit.exact import exact_odds
from audit.multiple import log_threshold
from audit.sequential import log_e_path
from shoe.game.tableau import OUTCOMES
from tests.reference import bulk_dealer

pytestmark = pytest.mark.slow

JUDGED = 69  # coups 1…K of 8 decks, cut 7
EIGHT = exact_odds(8).probabilities(exact_odds(8).outcomes())
P = [float(EIGHT[name]) for name in OUTCOMES]


def tables(seed: int, count: int, coups: int) -> Iterator[np.ndarray]:
    """The outcomes of so many coups 1…K of real shoes at each of `count` tables."""
    generator = np.random.Generator(np.random.SFC64(seed))
    shoes = -(-coups // JUDGED)
    for _ in range(count // 20):
        codes = bulk_dealer.judged(bulk_dealer.shuffled(generator, 8, 20 * shoes), JUDGED)
        yield from bulk_dealer.outcomes(codes).reshape(20, -1)[:, :coups]


def peeking_chi_square(outcomes: np.ndarray) -> np.ndarray:
    """Pearson's χ² over the three outcomes after each coup."""
    n = np.arange(1, len(outcomes) + 1)
    return sum((np.cumsum(outcomes == place) - n * p) ** 2 / (n * p) for place, p in enumerate(P))


def test_sound_tables_alarm_at_most_as_often_as_promised() -> None:
    """1,000 tables of 41,000 coups at .01: at most 21, the binomial bound; χ² with the same habit alarms at a fifth."""
    alarms = {"e": 0, "chi-square from coup 100": 0, "chi-square from coup 1": 0}
    critical = chi2.isf(0.01, 2)
    for outcomes in tables(41, 1000, 41_000):
        alarms["e"] += bool((log_e_path(outcomes, P) >= log_threshold(1)).any())
        statistics = peeking_chi_square(outcomes)
        alarms["chi-square from coup 100"] += bool((statistics[99:] >= critical).any())
        alarms["chi-square from coup 1"] += bool((statistics >= critical).any())
    assert alarms["e"] <= 21
    assert 170 <= alarms["chi-square from coup 100"] <= 250
    assert 280 <= alarms["chi-square from coup 1"] <= 380


def test_a_hundredth_moved_from_player_to_banker_is_found_in_36_000_coups() -> None:
    """On real shoes, a player's win handed to the banker with probability .01/p: median over 1,000 tables."""
    generator = np.random.Generator(np.random.SFC64(7))
    first = []
    for outcomes in tables(42, 1000, 45_000):
        moved = (outcomes == 0) & (generator.random(len(outcomes)) < 0.01 / P[0])
        alarms = np.flatnonzero(log_e_path(np.where(moved, 1, outcomes), P) >= log(100))
        first.append(alarms[0] + 1 if len(alarms) else np.inf)
    assert 30_000 < np.median(first) <= 36_000
