"""The checks of cards and of order, what a log's size can show, and which checks it allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from scipy.stats import kstest

from audit.exact import exact_odds
from audit.foreign.battery import judge_counts, types_judged
from audit.foreign.card_checks import card_counts, shoe_spread, spread_variance
from audit.foreign.composition import CARDS, POINTS_ALONE, RANKS_ALONE, Level, excesses, level_of
from audit.foreign.counts import Types
from audit.foreign.notation import parse_cards
from audit.foreign.order import FRESH_CARDS, FRESH_POINTS, FRESH_RANKS, Place, Repeats, fresh_order
from audit.foreign.power import decision_chances, needs
from tests.audit.foreign_logs import HEADER, audited, dealt, orders, row

PACK = np.arange(52)


def codes(text: str) -> np.ndarray:
    return np.array(parse_cards(text), dtype=np.int64)


# --- levels and composition --------------------------------------------------------------------


@pytest.mark.parametrize(("text", "level"), [("Kd 2c", CARDS), ("Kd 2", RANKS_ALONE), ("K 2", RANKS_ALONE),
                                             ("K 2 0", POINTS_ALONE), ("10 2", RANKS_ALONE)])  # fmt: skip
def test_cards_are_judged_as_exactly_as_all_are_known(text: str, level: Level) -> None:
    assert level_of(codes(text)) is level
    assert (level.types[codes(text)] >= 0).all()


@pytest.mark.parametrize("level", [CARDS, RANKS_ALONE, POINTS_ALONE])
def test_a_shoes_types_are_those_of_its_decks(level: Level) -> None:
    """Counted over the cards one by one."""
    assert np.bincount(level.types[np.tile(PACK, 6)]).tolist() == level.shoe(6)
    assert sum(level.in_deck) == 52


@pytest.mark.parametrize("level", [CARDS, RANKS_ALONE, POINTS_ALONE])
@pytest.mark.parametrize("decks", [1, 6, 8])
def test_a_whole_shoe_holds_no_surplus_and_one_card_more_is_one(level: Level, decks: int) -> None:
    types = level.types[np.tile(PACK, decks)]
    assert excesses(types, level, decks) == []
    (surplus, more) = excesses(np.append(types, types[3]), level, decks)
    assert (surplus.place, surplus.found) == (52 * decks, str(level.shoe(decks)[types[3]] + 1))
    assert (more.sort, more.place) == ("too_many_cards", 52 * decks)
    types[0] = types[5]
    (surplus,) = excesses(types, level, decks)
    assert types[surplus.place] == types[5]
    assert np.count_nonzero(types[: surplus.place + 1] == types[5]) == level.shoe(decks)[types[5]] + 1


# --- the cards' law ----------------------------------------------------------------------------


def enumerated_variance(full: list[int], cards: int) -> float:
    """The variance of Q(N−1)/(N−n) over all draws, each weighed by the ways to draw it."""
    size, law = sum(full), Counter[Fraction]()
    for counts in product(*(range(min(count, cards) + 1) for count in full)):
        if sum(counts) == cards:
            ways = 1
            for c, m in zip(counts, full, strict=True):
                ways *= comb(m, c)
            q = sum(
                ((c - Fraction(cards * m, size)) ** 2 / Fraction(cards * m, size))
                for c, m in zip(counts, full, strict=True)
            )
            law[q * Fraction(size - 1, size - cards)] += ways
    total = sum(law.values())
    mean = sum(q * ways for q, ways in law.items()) / total
    assert mean == len(full) - 1
    return float(sum((q - mean) ** 2 * ways for q, ways in law.items()) / total)


@pytest.mark.parametrize(("full", "cards"), [([2, 2, 2], 3), ([4, 1, 1], 2), ([8, 2, 2, 2], 5), ([3, 3, 3, 3], 11)])
def test_the_spreads_variance_is_that_of_all_draws(full: list[int], cards: int) -> None:
    assert spread_variance(full, cards) == pytest.approx(enumerated_variance(full, cards), rel=1e-12)


def drawn(level: Level, shoes: int, seed: int, take: Callable[[np.random.Generator], int]) -> Types:
    generator, types = np.random.default_rng(seed), Types.at(level)
    for _ in range(shoes):
        cards = level.types[generator.permutation(np.tile(PACK, 8))]
        types.add(cards[: take(generator)], 8)
    return types


@pytest.mark.parametrize("level", [CARDS, RANKS_ALONE, POINTS_ALONE])
@pytest.mark.parametrize("check", [card_counts, shoe_spread])
def test_checks_of_cards_are_calibrated(level: Level, check: Callable[[Types, int], object]) -> None:
    """Shuffles by numpy's generator, of which 300 to 415 cards are seen."""
    p = [
        check(drawn(level, 12, seed, lambda generator: int(generator.integers(300, 416))), 8).p  # type: ignore[attr-defined]
        for seed in range(200)
    ]
    assert kstest(p, "uniform").pvalue > 0.001
    assert sum(each <= 0.05 for each in p) <= 24


def test_cards_of_whole_shoes_are_certain() -> None:
    types = drawn(CARDS, 3, 1, lambda _: 416)
    assert card_counts(types, 8).p == 1.0
    assert shoe_spread(types, 8).n == 0
    types.counts[0] += 1
    types.counts[1] -= 1
    assert card_counts(types, 8).p == 0.0


def test_an_endless_shoe_and_a_missing_card_are_seen() -> None:
    generator, endless, lacking = np.random.default_rng(1), Types.at(RANKS_ALONE), Types.at(CARDS)
    for _ in range(40):
        endless.add(RANKS_ALONE.types[generator.integers(0, 52, 390)], 8)
    for _ in range(400):
        lacking.add(generator.permutation(np.delete(np.tile(PACK, 8), 7))[:400], 8)
    assert shoe_spread(endless, 8).p < 1e-10
    assert card_counts(lacking, 8).p < 1e-6


# --- order -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "least"), [(CARDS, FRESH_CARDS), (RANKS_ALONE, FRESH_RANKS), (POINTS_ALONE, FRESH_POINTS)]
)
@pytest.mark.parametrize("turn", [1, -1])
def test_a_pack_in_order_is_found_and_one_card_fewer_is_not(level: Level, least: int, turn: int) -> None:
    pack = level.types[PACK][::turn]
    around = level.types[np.array([7, 33, 20])]
    fresh = fresh_order(np.concatenate((around, pack[2 : 2 + least], around)), level)
    assert fresh is not None
    assert (fresh.place, fresh.cards) == (3, least)
    assert fresh_order(np.concatenate((around, pack[2 : 1 + least], around)), level) is None


@pytest.mark.parametrize("step", [0, 13, 39])
def test_other_orders_of_a_pack_are_found(step: int) -> None:
    assert fresh_order(np.arange(5, 5 + 10 * step, step) % 52 if step else np.full(10, 5), CARDS) is not None


@pytest.mark.parametrize("level", [CARDS, RANKS_ALONE, POINTS_ALONE])
def test_shuffled_shoes_have_no_order_and_no_repeats(level: Level) -> None:
    repeats = Repeats()
    for number, cards in enumerate(orders(8, 150, seed=2)):
        types = level.types[np.array(cards)]
        assert fresh_order(types, level) is None
        assert repeats.add(types, level.name, level.k, Place(number, "f", "s", 1)) is None


def test_what_is_remembered_is_bounded_and_a_cycle_is_still_found() -> None:
    shoes = [np.array(cards) for cards in orders(8, 60, seed=3)]
    repeats, found = Repeats(most=500), []
    for number, cards in enumerate(shoes * 2):
        repeat = repeats.add(cards, "card", 16, Place(number, "f", str(number), 1))
        found.append(repeat)
        assert len(repeats._kept) <= 500
    assert repeats.share < 0.05
    assert found[:60] == [None] * 60
    again = [(number, repeat) for number, repeat in enumerate(found) if repeat]
    assert len(again) > 40
    for number, repeat in again:
        assert (repeat.earlier.number, repeat.earlier_place) == (number - 60, repeat.place)


def test_a_run_one_card_shorter_is_no_repeat() -> None:
    one, other = (np.array(cards) for cards in orders(8, 2, seed=4))
    for length, seen in ((16, True), (15, False)):
        repeats = Repeats()
        repeats.add(one, "card", 16, Place(0, "f", "1", 1))
        mixed = np.concatenate((other[:100], one[200 : 200 + length], other[100:300]))
        mixed[100 + length] = (one[200 + length] + 1) % 52
        mixed[99] = (one[199] + 1) % 52
        assert (repeats.add(mixed, "card", 16, Place(1, "f", "2", 1)) is not None) == seen


# --- power -------------------------------------------------------------------------------------


def test_the_chance_of_each_decision_is_that_of_the_rule_classes() -> None:
    """Added up over totals, the banker's decisions against 8 are both classes of `t8`, whichever way they go."""
    chances = {fault.name: chance for fault, chance in decision_chances(8)}
    assert len(chances) == 96
    odds = exact_odds(8)
    rules = odds.rules()
    against_8 = sum((chance for name, chance in chances.items() if name.endswith("against_8")), Fraction(0))
    assert against_8 == Fraction(rules["t8_draws"] + rules["t8_stands"], odds.total)
    stood = sum((chance for name, chance in chances.items() if name.endswith("against_stood")), Fraction(0))
    assert stood == Fraction(rules["stood_draws"] + rules["stood_stands"], odds.total)
    player = sum((chance for name, chance in chances.items() if name.startswith("player")), Fraction(0))
    naturals = sum(rules[name] for name in ("player_natural", "banker_natural", "both_natural"))
    assert player == 1 - Fraction(naturals, odds.total)


def test_needs_follow_from_the_chances() -> None:
    lines = [HEADER]
    for shoe, cards in enumerate(orders(8, 3, seed=5), 1):
        lines += [row(shoe, number, coup) for number, coup in enumerate(dealt(cards), 1)]
    counts = audited(lines).counts
    found = {need.fault: need for need in needs(counts, 10)}
    rarest = {fault.name: chance for fault, chance in decision_chances(8)}["banker_4_stands_against_4"]
    assert found["banker_4_stands_against_4"].coups == -int(log(0.1) / log(1 - float(rarest)) // -1)
    assert not found["banker_4_stands_against_4"].reached
    assert found["player_0_stands"].reached
    assert (found["endless_shoe"].coups or 0) < 100


# --- the battery -------------------------------------------------------------------------------


def test_one_shoe_is_judged_by_little_and_says_why() -> None:
    lines = [HEADER, *(row(1, n, coup) for n, coup in enumerate(dealt(next(orders(8, 1, seed=6))), 1))]
    counts = audited(lines).counts
    judged = judge_counts(counts)
    assert [check.name for check in judged.checks] == ["structural_zeros", "tableau_cells", "runs"]
    why = {each.name: each.why for each in judged.not_made}
    assert why["outcomes"] == f"needs 690 coups, there are {counts.judged}"
    assert why["same_place"] == "needs two shoes"
    assert why["types_by_position"] == "needs 100 shoes of 52 cards or more, there are 1"
    assert types_judged(counts) is counts.types[0]
