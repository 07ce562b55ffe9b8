"""The shuffle and the cut against protocol §6's definition; every order reached by exactly one run of draws."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import InputError, RulesError
from shoe.game.cards import fresh_shoe
from shoe.game.rules import CutRange, parse_rules
from shoe.proof.shuffle import Shuffled, draw_cut, first_cards, forward_shuffle, shuffle_hand
from shoe.proof.stream import words
from tests.reference import shuffle_reference, stream_reference

KEY = bytes(range(100, 132))
WHOLE: dict[str, Any] = {
    "burn": "none", "coups": None, "cut": {"from": 7, "to": 7}, "decks": 1, "entropy": "house",
    "game": "punto_banco", "last_coup": "drawn_in", "shuffle": "shoe",
}  # fmt: skip
ANEW = WHOLE | {"shuffle": "coup", "coups": 100, "cut": None}


def no_words() -> Iterator[int]:
    """A source that holds nothing: drawing from it raises StopIteration."""
    return iter(())


def by_definition(decks: int, hand: int, low: int, high: int) -> tuple[list[int], int]:
    source = iter(stream_reference.words(KEY, hand, 52 * decks + 20))
    return shuffle_reference.shoe_and_cut(decks, low, high, lambda bound: stream_reference.below(source, bound))


# --- the order of the cards --------------------------------------------------------------------


@pytest.mark.parametrize("decks", range(1, 17))
def test_a_shuffle_is_the_definition_s_and_holds_the_fresh_shoe(decks: int) -> None:
    shuffled = shuffle_hand(KEY, parse_rules(WHOLE | {"decks": decks}), 0)
    assert (list(shuffled.cards), shuffled.cards_behind_cut) == by_definition(decks, 0, 7, 7)
    assert Counter(shuffled.cards) == Counter(fresh_shoe(decks)) == dict.fromkeys(range(52), decks)


@pytest.mark.parametrize("hand", [0, 1, 2, 7, 2**20 - 1])
def test_each_hand_is_shuffled_from_a_stream_of_its_own(hand: int) -> None:
    assert list(shuffle_hand(KEY, parse_rules(ANEW), hand).cards) == by_definition(1, hand, 7, 7)[0]


@settings(max_examples=60)
@given(st.permutations(range(52)))
def test_every_order_of_a_deck_is_reached_by_its_own_draws(wanted: list[int]) -> None:
    draws = shuffle_reference.draws_that_give(range(52), wanted)
    source = iter(stream_reference.words_that_draw(draws))
    assert list(forward_shuffle(source, 1)) == wanted
    assert list(source) == []


@pytest.mark.parametrize("size", range(1, 7))
def test_the_definition_reaches_each_order_of_a_few_cards_once(size: int) -> None:
    """All runs of draws of decks of up to six cards: n! runs, n! orders."""
    orders = Counter()
    for run in product(*(range(bound) for bound in range(size, 1, -1))):
        draws = iter(run)
        orders[tuple(shuffle_reference.shuffle(range(size), lambda _, draws=draws: next(draws)))] += 1
    assert orders == dict.fromkeys(permutations(range(size)), 1)


def test_the_first_two_cards_are_each_pair_once() -> None:
    """All 52·51 runs of two draws."""
    pairs = Counter(
        forward_shuffle(iter(stream_reference.words_that_draw([(i, 52), (j, 51)])), 1, 2)
        for i in range(52)
        for j in range(51)
    )
    assert pairs == dict.fromkeys(permutations(range(52), 2), 1)


def test_the_last_two_cards_are_exchanged_or_not() -> None:
    """Draws of nothing leave the fresh order; only the last of them decides between cards 50 and 51."""
    still = [(0, bound) for bound in range(52, 1, -1)]
    for last, end in ((0, (50, 51)), (1, (51, 50))):
        source = iter(stream_reference.words_that_draw([*still[:-1], (last, 2)]))
        assert forward_shuffle(source, 1) == (*range(50), *end)


def test_equal_cards_of_two_decks_are_one_card() -> None:
    """Each card of the first deck exchanged with its twin in the second: nothing to be seen."""
    source = iter(stream_reference.words_that_draw([(52 if bound > 52 else 0, bound) for bound in range(104, 1, -1)]))
    assert forward_shuffle(source, 2) == tuple(fresh_shoe(2))


# --- lazy dealing ------------------------------------------------------------------------------


@pytest.mark.parametrize("decks", [1, 2, 8, 16])
@pytest.mark.parametrize("count", [0, 1, 2, 6, 50, 51, 52])
def test_the_first_cards_are_those_of_the_full_shuffle(decks: int, count: int) -> None:
    full = forward_shuffle(words(KEY, 3), decks)
    rules = parse_rules(ANEW | {"decks": decks})
    assert first_cards(KEY, rules, 3, count) == full[:count]


@pytest.mark.parametrize(("count", "draws"), [(0, 0), (1, 1), (6, 6), (50, 50), (51, 51), (52, 51), (None, 51)])
def test_m_cards_need_m_draws_and_a_deck_one_less_than_cards(count: int | None, draws: int) -> None:
    source = iter([2**31 + 1] * 60)
    forward_shuffle(source, 1, count)
    assert len(list(source)) == 60 - draws


def test_a_source_that_ends_gives_no_half_shuffled_deck() -> None:
    with pytest.raises(StopIteration):
        forward_shuffle(iter([2**31 + 1] * 50), 1)


# --- the cut -----------------------------------------------------------------------------------


@pytest.mark.parametrize("cards", [6, 7, 14, 41])
def test_a_fixed_cut_takes_no_draw(cards: int) -> None:
    assert draw_cut(no_words(), CutRange(cards, cards)) == cards


def test_a_range_takes_one_draw() -> None:
    with pytest.raises(StopIteration):
        draw_cut(no_words(), CutRange(8, 9))
    source = iter([2**31, 5])
    assert draw_cut(source, CutRange(8, 16)) == 12
    assert next(source) == 5


@pytest.mark.parametrize(("low", "high"), [(6, 7), (8, 16), (11, 30), (6, 405)])
def test_each_cut_of_a_range_comes_of_as_many_words(low: int, high: int) -> None:
    drawn = [(value, high - low + 1) for value in range(high - low + 1)]
    cuts = [draw_cut(iter([word]), CutRange(low, high)) for word in stream_reference.words_that_draw(drawn)]
    assert cuts == list(range(low, high + 1))


@pytest.mark.parametrize("decks", [1, 2, 6, 8, 16])
@pytest.mark.parametrize(("low", "high"), [(6, 6), (6, 41), (8, 16), (11, 30), (40, 41)])
def test_the_cut_is_the_first_draw_after_the_shuffle_s(decks: int, low: int, high: int) -> None:
    rules = parse_rules(WHOLE | {"decks": decks, "cut": {"from": low, "to": high}})
    for hand in range(3):
        shuffled = shuffle_hand(KEY, rules, hand)
        assert (list(shuffled.cards), shuffled.cards_behind_cut) == by_definition(decks, hand, low, high)


def test_the_range_of_the_cut_leaves_the_cards_alone() -> None:
    ranges = [(6, 6), (7, 7), (6, 41), (8, 16)]
    rules = [parse_rules(WHOLE | {"cut": {"from": low, "to": high}}) for low, high in ranges]
    assert len({shuffle_hand(KEY, each, 0).cards for each in rules}) == 1


def test_the_cut_lies_in_front_of_the_rth_last_card() -> None:
    assert Shuffled(tuple(range(52)), 7).cut_position == 45
    assert Shuffled(tuple(range(52)), None).cut_position is None
    assert shuffle_hand(KEY, parse_rules(WHOLE | {"decks": 8}), 0).cut_position == 409


def test_where_each_coup_is_shuffled_anew_there_is_no_cut() -> None:
    assert shuffle_hand(KEY, parse_rules(ANEW), 0).cards_behind_cut is None


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("decks", [-1, 0, 17])
def test_no_shoe_of_another_size_is_shuffled(decks: int) -> None:
    with pytest.raises(RulesError, match=rf"^decks: expected 1 to 16 decks, got {decks}$"):
        forward_shuffle(no_words(), decks)


@pytest.mark.parametrize("hand", [-1, 2**64])
def test_no_hand_out_of_range_is_shuffled(hand: int) -> None:
    with pytest.raises(InputError, match=r"^U64: "):
        shuffle_hand(KEY, parse_rules(WHOLE), hand)
