"""Cards against tables written by hand (protocol §2)."""

from __future__ import annotations

from collections import Counter

import pytest

from shoe.errors import CardError, InputError, RulesError
from shoe.game.cards import DECK, NAMES, POINTS, card_name, card_names, card_points, fresh_shoe, parse_card

# Written out from protocol §2: suits in the order c d h s, ranks in the order A 2 … K.
NAMES_BY_HAND = [
    *("Ac", "2c", "3c", "4c", "5c", "6c", "7c", "8c", "9c", "Tc", "Jc", "Qc", "Kc"),
    *("Ad", "2d", "3d", "4d", "5d", "6d", "7d", "8d", "9d", "Td", "Jd", "Qd", "Kd"),
    *("Ah", "2h", "3h", "4h", "5h", "6h", "7h", "8h", "9h", "Th", "Jh", "Qh", "Kh"),
    *("As", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "Ts", "Js", "Qs", "Ks"),
]
POINTS_BY_HAND = [
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0),
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0),
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0),
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0),
]
CARDS_BY_HAND = list(zip(range(52), NAMES_BY_HAND, POINTS_BY_HAND, strict=True))


@pytest.mark.parametrize(("number", "name", "points"), CARDS_BY_HAND, ids=NAMES_BY_HAND)
def test_each_card_prints_parses_and_counts(number: int, name: str, points: int) -> None:
    assert card_name(number) == name
    assert parse_card(name) == number
    assert card_points(number) == points


def test_the_tables_hold_52_cards_and_no_more() -> None:
    assert list(NAMES) == NAMES_BY_HAND
    assert list(POINTS) == POINTS_BY_HAND
    assert DECK == 52


def test_a_deck_has_sixteen_cards_worth_nothing_and_four_of_each_other_value() -> None:
    assert Counter(POINTS) == {0: 16} | dict.fromkeys(range(1, 10), 4)


@pytest.mark.parametrize("number", [-1, -52, 52, 53, 255, 10**9])
@pytest.mark.parametrize("read", [card_name, card_points])
def test_no_card_has_another_number(read, number: int) -> None:
    with pytest.raises(CardError, match=rf"expected a card number 0…51, got {number}$"):
        read(number)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "A",
        "c",
        "cA",  # suit first
        "10c",  # ten is T
        "1c",
        "0c",
        "ac",
        "AC",
        "AS",
        "Xs",
        "Ax",
        " As",
        "As ",
        "As\n",
        "AsKd",
        "A♠",
        "２c",  # a full-width digit
        "٢c",  # an Arabic digit
        0,
        None,
        ["As"],
    ],
)
def test_no_other_name_is_a_card(name: object) -> None:
    with pytest.raises(CardError, match=r"expected a card such as 'As' or 'Td', got "):
        parse_card(name)  # type: ignore[arg-type]


def test_a_card_error_is_the_callers_fault() -> None:
    assert issubclass(CardError, InputError)
    assert issubclass(CardError, ValueError)


@pytest.mark.parametrize("decks", [1, 2, 6, 8, 16])
def test_a_fresh_shoe_repeats_the_deck_in_order(decks: int) -> None:
    shoe = fresh_shoe(decks)
    assert len(shoe) == 52 * decks
    assert all(shoe[position] == position % 52 for position in range(52 * decks))


@pytest.mark.parametrize("decks", [0, -1, 17, 100])
def test_no_shoe_has_another_number_of_decks(decks: int) -> None:
    with pytest.raises(RulesError, match=rf"^decks: expected 1 to 16 decks, got {decks}$"):
        fresh_shoe(decks)


def test_fresh_shoes_share_nothing() -> None:
    first = fresh_shoe(1)
    first.reverse()
    assert fresh_shoe(1) == list(range(52))


def test_several_cards_are_printed_with_single_spaces() -> None:
    assert card_names([0, 22, 51]) == "Ac Td Ks"
    assert card_names([]) == ""


def test_a_wrong_number_among_several_is_refused() -> None:
    with pytest.raises(CardError, match="got 52"):
        card_names([0, 52])
