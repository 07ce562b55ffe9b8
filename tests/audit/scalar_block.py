"""The counts of a block, made coup by coup from `shoe`'s scalar shuffle and dealer, as `Block`'s docstring has them."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from audit.block import Block
from audit.cells import CELL_INDEX, CELLS, cell_of
from shoe.game.cards import POINTS
from shoe.game.dealing import deal_shoe
from shoe.game.rules import Rules, parse_rules
from shoe.game.tableau import OUTCOMES, Coup, play_coup
from shoe.proof.shuffle import first_cards, shuffle_hand

SUMS = ("judged_cells", "all_cells", "coups_per_shoe", "wins", "pairs", "first", "last", "same_place")


def key(label: object) -> bytes:
    return sha256(repr(label).encode()).digest()


def shoe_rules(decks: int, cut: tuple[int, int], burn: str = "none", last_coup: str = "drawn_in") -> Rules:
    return parse_rules(
        {"burn": burn, "coups": None, "cut": {"from": cut[0], "to": cut[1]}, "decks": decks, "entropy": "house"}
        | {"game": "punto_banco", "last_coup": last_coup, "shuffle": "shoe"}
    )


def coup_rules(decks: int) -> Rules:
    return parse_rules(
        {"burn": "none", "coups": 1000, "cut": None, "decks": decks, "entropy": "house"}
        | {"game": "punto_banco", "last_coup": "drawn_in", "shuffle": "coup"}
    )


def legal_shoe_rules(decks: int) -> list[Rules]:
    """Both burns, both ends, and a cut card as near the end, as near the start and as far spread as may be."""
    return [
        shoe_rules(decks, (low, high), burn, last_coup)
        for burn in ("none", "first_card")
        for last_coup, least in (("drawn_in", 6), ("one_more", 11))
        for low, high in ((least, least), (14, 14), (52 * decks - 11,) * 2, (least, 52 * decks - 11))
    ]


def scalar_coups(rules: Rules, shuffle_key: bytes, hand: int) -> list[Coup]:
    if rules.shuffle == "coup":
        return [play_coup(first_cards(shuffle_key, rules, hand, 6))]
    shuffled = shuffle_hand(shuffle_key, rules, hand)
    assert shuffled.cut_position is not None
    return [dealt.coup for dealt in deal_shoe(rules, shuffled.cards, shuffled.cut_position)]


def scalar_counts(rules: Rules, shoes: Sequence[tuple[bytes, int]]) -> dict[str, Any]:
    """All counts of a block of these shuffles (key, h) but the hashes, as plain lists."""
    judged = rules.judged_coups
    counts: dict[str, Any] = {"runs": 0, "coups_per_shoe": [0] * (rules.size // 4 + 3)}
    counts |= {name: [0] * len(CELLS) for name in ("judged_cells", "all_cells")}
    counts |= {"pairs": [0] * 9, "same_place": [0] * 9, "first": [0] * 3, "last": [0] * 3}
    counts["wins"] = [[0] * (judged + 1) for _ in range(judged + 1)]
    table = []
    for shuffle_key, hand in shoes:
        coups = scalar_coups(rules, shuffle_key, hand)
        assert len(coups) >= judged
        counts["coups_per_shoe"][len(coups)] += 1
        for number, coup in enumerate(coups):
            counts["all_cells"][CELL_INDEX[cell_of(coup)]] += 1
            counts["judged_cells"][CELL_INDEX[cell_of(coup)]] += number < judged
        outcomes = [coup.outcome for coup in coups[:judged]]
        table.append([OUTCOMES.index(outcome) for outcome in outcomes])
        counts["wins"][outcomes.count("banker")][outcomes.count("player")] += 1
        counts["runs"] += len(list(groupby(outcome for outcome in outcomes if outcome != "tie")))
    for row in table:
        counts["first"][row[0]] += 1
        counts["last"][row[-1]] += 1
        for before, after in pairwise(row):
            counts["pairs"][3 * before + after] += 1
    for one, other in zip(table[::2], table[1::2], strict=False):
        for a, b in zip(one, other, strict=True):
            counts["same_place"][3 * a + b] += 1
    return counts


def counts_of(block: Block) -> dict[str, Any]:
    return {name: getattr(block, name).tolist() for name in SUMS} | {"runs": block.runs}


def added(one: Block, other: Block) -> dict[str, Any]:
    sums = {name: (getattr(one, name) + getattr(other, name)).tolist() for name in SUMS}
    return sums | {"runs": one.runs + other.runs}


def points_of(order: np.ndarray) -> list[int]:
    return [POINTS[card % 52] for card in order.tolist()]
