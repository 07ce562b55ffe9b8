"""The law of both coups' pairs: against the law of one coup's showings, and two hands drawn card by card."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import perm

import numpy as np
import pytest

from audit.kernel import orders
from audit.pair_law import pair_covariance
from audit.showings import showings
from shoe.game.bets.shown import PAIRS
from shoe.game.cards import card_name
from tests.audit.scalar_block import coup_rules, key
from tests.reference.bets_reference import twins

NAMES = [card_name(card) for card in range(52)]


@pytest.mark.parametrize("decks", range(1, 17))
def test_one_coup_has_the_law_of_the_showings(decks: int) -> None:
    """That law comes from patterns of values, this one from ranks."""
    law, counts, pairs = showings(decks), Counter(), pair_covariance(decks)
    for shown, count in law.counts.items():
        counts[shown.player_pair, shown.banker_pair] += count
    assert dict(zip(pairs.labels, pairs.p, strict=True)) == {
        both: Fraction(count, law.total) for both, count in counts.items()
    }
    assert sum(pairs.p) == 1
    assert all(sum(row) == 0 for row in pairs.s12)
    assert all(a == b for row, column in zip(pairs.s12, zip(*pairs.s12, strict=True), strict=True)
               for a, b in zip(row, column, strict=True))  # fmt: skip


def two_hands(decks: int) -> dict[tuple[str, str], Fraction]:
    """The classes of two hands, by every card of both: the first is any, so it is the ace of clubs."""
    found: Counter[tuple[str, str]] = Counter()
    names = {"": "none"}
    of = [[names.get(twins([a, b]), twins([a, b])) for b in NAMES] for a in NAMES]
    for b, c, d in product(range(52), repeat=3):
        left = (decks - (b == 0)) * (decks - (c == 0) - (c == b)) * (decks - (d == 0) - (d == b) - (d == c))
        found[of[0][b], of[c][d]] += max(left, 0)
    total = perm(52 * decks - 1, 3)
    return {both: Fraction(count, total) for both, count in found.items() if count}


@pytest.mark.parametrize("decks", [1, 2, 8])
def test_any_hand_of_two_coups_with_any_other(decks: int) -> None:
    """The player's hand of one coup with either hand of the other, and the two hands of one coup: all the same law."""
    law, wanted = pair_covariance(decks), two_hands(decks)
    places = range(len(law.labels))
    for mine, yours in product((0, 1), repeat=2):
        found: Counter[tuple[str, str]] = Counter()
        for a, b in product(places, repeat=2):
            both = law.labels[a][mine], law.labels[b][yours]
            found[both] += law.s12[a][b] + law.p[a] * law.p[b]  # type: ignore[assignment]
        assert {both: p for both, p in found.items() if p} == wanted
    assert sum(p for both, p in zip(law.labels, law.p, strict=True) if both == ("pure", "pure")) == wanted.get(
        ("pure", "pure"), 0
    )


@pytest.mark.parametrize("decks", [1, 2, 8])
def test_four_pairs_in_a_row(decks: int) -> None:
    """By the ranks of the four hands alone, whatever the suits."""
    ways = 0
    for ranks in product(range(13), repeat=4):
        left, these = Counter[int](), 1
        for rank in ranks:
            these *= max(4 * decks - left[rank], 0) * max(4 * decks - left[rank] - 1, 0)
            left[rank] += 2
        ways += these
    law = pair_covariance(decks)
    paired = [place for place, both in enumerate(law.labels) if "none" not in both]
    together = sum(law.s12[a][b] + law.p[a] * law.p[b] for a, b in product(paired, repeat=2))
    assert together == Fraction(ways, perm(52 * decks, 8))


def test_all_sixteen_classes_of_two_coups_on_real_shoes() -> None:
    """Four hands off the top of 200,000 shoes of one deck, against the joint law: chi-square in standard errors."""
    cards = orders(coup_rules(1), key("pairs"), range(200_000))[:, :8].astype(int)
    index = np.array([[PAIRS.index(twins([a, b]) or "none") for b in NAMES] for a in NAMES])  # type: ignore[arg-type]
    hands = [index[cards[:, one], cards[:, one + 2]] for one in (0, 1, 4, 5)]
    seen = Counter(map(tuple, np.array(hands).T.tolist()))
    law, statistic, cells = pair_covariance(1), 0.0, 0
    for a, b in product(range(len(law.labels)), repeat=2):
        p = float(law.s12[a][b] + law.p[a] * law.p[b])
        if 200_000 * p >= 5:
            count = seen[tuple(PAIRS.index(pair) for pair in (*law.labels[a], *law.labels[b]))]
            statistic, cells = statistic + (count - 200_000 * p) ** 2 / (200_000 * p), cells + 1
    assert cells > 20
    assert abs(statistic - cells) < 4 * (2 * cells) ** 0.5


def test_pairs_of_two_coups_hang_together_upwards() -> None:
    """Unlike outcomes: what is no pair leaves whole ranks behind. 8 decks, P(pair) = 31/415."""
    law = pair_covariance(8)
    mine = [place for place, both in enumerate(law.labels) if both[0] != "none"]
    assert sum(law.p[place] for place in mine) == Fraction(31, 415)
    assert 0 < sum(law.s12[a][b] for a, b in product(mine, repeat=2)) < Fraction(1, 10**6)
