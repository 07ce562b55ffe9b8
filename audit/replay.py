"""The kernel's shoes dealt once more by the scalar code of `shoe`, card by card: what no statistic can see, this does.

Dealing player, player, banker, banker has the law of the right order, so every test of frequencies passes it; here it
fails in the first shoes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Final

import numpy as np

from audit.block import Block, Counts
from audit.cells import CELL_INDEX, CELLS, cell_of
from audit.checks.result import CheckResult, LineItem
from audit.checks.tableau_cells import Decision, decisions_of
from audit.engine import Engine
from audit.keystream import Keys, key_and_hand
from audit.own_bets import looks_at_pairs
from shoe.game.bets.shown import PAIRS, pair_of
from shoe.game.cards import DECK
from shoe.game.dealing import deal_shoe
from shoe.game.rules import Rules
from shoe.game.tableau import MAX_CARDS, OUTCOMES, Coup, play_coup
from shoe.proof.shuffle import first_cards, shuffle_hand

PAIR: Final = 2

Shoe = tuple[tuple[int, ...], list[Coup]]


@dataclass(frozen=True, slots=True)
class Replayed:
    """Pairs of shoes replayed, the pairs that came out otherwise, and every decision of the coups replayed."""

    pairs: int
    wrong: int
    decisions: Mapping[Decision, int]

    def __add__(self, other: Replayed) -> Replayed:
        decisions = Counter(self.decisions) + Counter(other.decisions)
        return Replayed(self.pairs + other.pairs, self.wrong + other.wrong, decisions)


def replay_pair(rules: Rules, keys: Keys, first: int, engine: Engine) -> Replayed:
    """Deal shoes `first` (even) and `first` + 1 by the scalar code and by the engine, and compare.

    Compared are the cards in order, every coup's cell, its pairs where they are counted, the coups of each shoe, wins,
    runs and pairs of outcomes. Takes about a millisecond a shoe. Raises InputError like `audit.kernel.deal_block`.
    """
    block = engine.deal_block(rules, keys, first, PAIR)
    cards = engine.orders(rules, keys, (first, first + 1)) % DECK
    shoes = [_deal(rules, *key_and_hand(keys, shoe)) for shoe in (first, first + 1)]
    same_cards = all(tuple(row[: len(shoe)].tolist()) == shoe for row, (shoe, _) in zip(cards, shoes, strict=True))
    coups = [dealt for _, dealt in shoes]
    right = same_cards and _same_counts(block, coups, rules)
    return Replayed(1, int(not right), decisions_of(coup for dealt in coups for coup in dealt))


def replay(replayed: Replayed) -> CheckResult:
    """Judge a replay: one pair of shoes that came out otherwise fails by itself; p is 1 without, 0 with any."""
    return CheckResult(
        name="replay",
        null="every shoe is bit for bit the one that the protocol's scalar code deals (n: pairs of shoes)",
        statistic=float(replayed.wrong),
        distribution="0 for certain",
        dof=None,
        n=replayed.pairs,
        p=0.0 if replayed.wrong else 1.0,
        effect=replayed.wrong / replayed.pairs,
        effect_name="share of pairs that came out otherwise",
        items=(LineItem("pairs that differ", replayed.wrong, Fraction(0), inf if replayed.wrong else 0.0),),
    )


def _deal(rules: Rules, key: bytes, hand: int) -> Shoe:
    """Shuffle and deal one shoe, or one coup of a table shuffled for every coup, by the protocol (§5, §6)."""
    if rules.shuffle == "coup":
        cards = first_cards(key, rules, hand, MAX_CARDS)
        return cards, [play_coup(cards)]
    shuffled = shuffle_hand(key, rules, hand)
    cut = len(shuffled.cards) - (shuffled.cards_behind_cut or 0)
    return shuffled.cards, [dealt.coup for dealt in deal_shoe(rules, shuffled.cards, cut)]


def _same_counts(block: Block, shoes: Sequence[list[Coup]], rules: Rules) -> bool:
    judged = rules.judged_coups
    prefixes = [[OUTCOMES.index(coup.outcome) for coup in coups[:judged]] for coups in shoes]
    winners = [[winner for winner in prefix if OUTCOMES[winner] != "tie"] for prefix in prefixes]
    runs = sum(bool(row) + sum(a != b for a, b in pairwise(row)) for row in winners)
    wins = Counter((row.count(OUTCOMES.index("banker")), row.count(OUTCOMES.index("player"))) for row in winners)
    return (
        _cells(coups[:judged] for coups in shoes) == block.judged_cells.tolist()
        and _cells(shoes) == block.all_cells.tolist()
        and Counter(map(len, shoes)) == _counter(block.coups_per_shoe)
        and wins == {(int(b), int(p)): int(block.wins[b, p]) for b, p in np.argwhere(block.wins)}
        and runs == block.runs
        and Counter(3 * a + b for row in prefixes for a, b in pairwise(row)) == _counter(block.pairs)
        and Counter(row[0] for row in prefixes) == _counter(block.first)
        and Counter(row[-1] for row in prefixes) == _counter(block.last)
        and Counter(3 * a + b for a, b in zip(*prefixes, strict=True)) == _counter(block.same_place)
        and (_pair_cells(shoes, judged) if looks_at_pairs(rules) else {}) == _counter(block.pair_cells)
    )


def _pair_cells(shoes: Sequence[list[Coup]], judged: int) -> dict[int, int]:
    counts = Counter[int]()
    for coup in (coup for coups in shoes for coup in coups[:judged]):
        one, other = (PAIRS.index(pair_of(cards)) for cards in (coup.player_cards, coup.banker_cards))
        counts[len(PAIRS) ** 2 * CELL_INDEX[cell_of(coup)] + len(PAIRS) * one + other] += 1
    return counts


def _cells(shoes: Iterable[Sequence[Coup]]) -> list[int]:
    counts = [0] * len(CELLS)
    for coups in shoes:
        for coup in coups:
            counts[CELL_INDEX[cell_of(coup)]] += 1
    return counts


def _counter(counts: Counts) -> dict[int, int]:
    return {place: count for place, count in enumerate(counts.tolist()) if count}
