"""Rules that can be played and rules that can't, against a table made by hand from protocol §6."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from shoe.errors import InputError, RulesError
from shoe.game.rules import CutRange, Rules, parse_rules

SHOE: dict[str, Any] = {
    "burn": "none", "coups": None, "cut": {"from": 7, "to": 7}, "decks": 8, "entropy": "two_phase",
    "game": "punto_banco", "last_coup": "drawn_in", "shuffle": "shoe",
}  # fmt: skip
COUP = SHOE | {"shuffle": "coup", "cut": None, "coups": 1000}


def cut(low: Any, high: Any) -> dict[str, Any]:
    return {"cut": {"from": low, "to": high}}


# --- what can be played ------------------------------------------------------------------------

LEGAL: dict[str, dict[str, Any]] = {
    "the plainest": SHOE,
    "one deck": SHOE | {"decks": 1},
    "sixteen decks": SHOE | {"decks": 16},
    "fewest cards behind the cut": SHOE | cut(6, 6),
    "fewest for one more coup": SHOE | {"last_coup": "one_more"} | cut(11, 11),
    "most cards behind the cut": SHOE | cut(405, 405),
    "most cards behind the cut of one deck": SHOE | {"decks": 1} | cut(41, 41),
    "the whole range": SHOE | cut(6, 405),
    "the whole range for one more coup": SHOE | {"last_coup": "one_more", "burn": "first_card"} | cut(11, 405),
    "a burn": SHOE | {"burn": "first_card"},
    "a beacon": SHOE | {"entropy": "beacon"},
    "the house alone": SHOE | {"entropy": "house"},
    "each coup anew": COUP,
    "each coup anew, once": COUP | {"coups": 1},
    "each coup anew, longest": COUP | {"coups": 2**20, "decks": 1},
    "further keys": SHOE | {"bets": {"tie": [8, 1]}, "limits": None, "name": "t"},
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal_rules_print_back(name: str) -> None:
    rules = parse_rules(LEGAL[name])
    assert rules.to_json() == LEGAL[name]
    assert parse_rules(rules.to_json()) == rules


def test_parsed_rules_are_typed() -> None:
    rules = parse_rules(SHOE | cut(8, 16) | {"limits": {"max": 5}})
    assert rules.cut == CutRange(8, 16)
    assert not CutRange(8, 16).fixed
    assert CutRange(7, 7).fixed
    assert rules.further == {"limits": {"max": 5}}
    assert (rules.size, rules.leaves) == (416, 416)
    anew = parse_rules(COUP)
    assert (anew.cut, anew.coups, anew.size, anew.leaves) == (None, 1000, 416, 6)


def test_any_mapping_is_read() -> None:
    assert parse_rules(MappingProxyType(SHOE)) == parse_rules(SHOE)


def test_rules_made_directly_are_checked_too() -> None:
    with pytest.raises(RulesError, match=r"^rules\.decks: expected an integer 1…16, got 17$"):
        Rules("none", None, CutRange(7, 7), 17, "house", "drawn_in", "shoe")


# --- what can't be played ----------------------------------------------------------------------

ILLEGAL: list[tuple[str, dict[str, Any], str]] = [
    ("no deck", {"decks": 0}, "rules.decks: expected an integer 1…16, got 0"),
    ("seventeen decks", {"decks": 17}, "rules.decks: expected an integer 1…16, got 17"),
    ("minus one deck", {"decks": -1}, "rules.decks: expected an integer 1…16, got -1"),
    ("decks a bool", {"decks": True}, "rules.decks: expected an integer 1…16, got True"),
    ("decks a float", {"decks": 8.0}, "rules.decks: expected an integer 1…16, got 8.0"),
    ("decks a string", {"decks": "8"}, "rules.decks: expected an integer 1…16, got '8'"),
    ("decks null", {"decks": None}, "rules.decks: expected an integer 1…16, got None"),
    ("another game", {"game": "chemin_de_fer"}, "rules.game: expected punto_banco, got 'chemin_de_fer'"),
    ("another burn", {"burn": "two_cards"}, "rules.burn: expected none or first_card, got 'two_cards'"),
    ("burn null", {"burn": None}, "rules.burn: expected none or first_card, got None"),
    ("another entropy", {"entropy": "dice"}, "rules.entropy: expected two_phase or beacon or house, got 'dice'"),
    ("entropy a list", {"entropy": ["house"]}, "rules.entropy: expected two_phase or beacon or house, got ['house']"),
    ("another end", {"last_coup": "two_more"}, "rules.last_coup: expected drawn_in or one_more, got 'two_more'"),
    ("another shuffle", {"shuffle": "never"}, "rules.shuffle: expected shoe or coup, got 'never'"),
    ("five cards behind the cut", cut(5, 7), "rules.cut.from: expected an integer 6…416 (so that drawn_in can't run"),
    ("none behind the cut", cut(0, 0), "rules.cut.from: expected an integer 6…416"),
    ("fewer than none", cut(-1, 7), "rules.cut.from: expected an integer 0…1048576, got -1"),
    (
        "ten behind the cut for one more coup",
        {"last_coup": "one_more"} | cut(10, 30),
        "rules.cut.from: expected an integer 11…416 (so that one_more can't run out of cards), got 10",
    ),
    ("cut upside down", cut(8, 7), "rules.cut.to: expected an integer 8…405"),
    (
        "cut among burned cards",
        cut(7, 406),
        "rules.cut.to: expected an integer 7…405 (so that no cut is burned), got 406",
    ),
    (
        "cut among the burned cards of one deck",
        {"decks": 1} | cut(42, 42),
        "rules.cut.to: expected an integer 42…41 (so that no cut is burned), got 42",
    ),
    ("cut deeper than the shoe", cut(417, 417), "rules.cut.from: expected an integer 6…416"),
    ("cut a bool", cut(7, True), "rules.cut.to: expected an integer 0…1048576, got True"),
    ("cut a float", cut(7.0, 7), "rules.cut.from: expected an integer 0…1048576, got 7.0"),
    ("cut null", {"cut": None}, "rules.cut: expected {from, to} where the shoe is shuffled once, got None"),
    ("cut a number", {"cut": 7}, "rules.cut: expected null or exactly the keys from, to, got 7"),
    ("cut a list", {"cut": [7, 7]}, "rules.cut: expected null or exactly the keys from, to, got [7, 7]"),
    ("cut without its end", {"cut": {"from": 7}}, "rules.cut: expected null or exactly the keys from, to"),
    ("cut with more", {"cut": {"from": 7, "to": 7, "x": 1}}, "rules.cut: expected null or exactly the keys from, to"),
    ("coups of a shoe", {"coups": 80}, "rules.coups: expected null where the shoe is shuffled once, got 80"),
    ("no coups of a shoe", {"coups": 0}, "rules.coups: expected null where the shoe is shuffled once, got 0"),
]
ILLEGAL_ANEW: list[tuple[str, dict[str, Any], str]] = [
    ("cut", cut(7, 7), "rules.cut: expected null where each coup is shuffled anew, got "),
    ("burn", {"burn": "first_card"}, "rules.burn: expected none where each coup is shuffled anew, got 'first_card'"),
    ("one more", {"last_coup": "one_more"}, "rules.last_coup: expected drawn_in where each coup is shuffled anew"),
    ("coups null", {"coups": None}, "rules.coups: expected an integer 1…1048576, got None"),
    ("no coups", {"coups": 0}, "rules.coups: expected an integer 1…1048576, got 0"),
    ("too many coups", {"coups": 2**20 + 1}, "rules.coups: expected an integer 1…1048576, got 1048577"),
    ("coups a bool", {"coups": True}, "rules.coups: expected an integer 1…1048576, got True"),
    ("no deck", {"decks": 0}, "rules.decks: expected an integer 1…16, got 0"),
]


@pytest.mark.parametrize(("changes", "message"), [row[1:] for row in ILLEGAL], ids=[row[0] for row in ILLEGAL])
def test_rules_of_a_shoe_are_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_rules(SHOE | changes)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("changes", "message"), [row[1:] for row in ILLEGAL_ANEW], ids=[row[0] for row in ILLEGAL_ANEW]
)
def test_rules_of_coups_shuffled_anew_are_refused_with_the_reason(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as refused:
        parse_rules(COUP | changes)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("key", SHOE)
def test_rules_without_one_key_are_refused(key: str) -> None:
    rest = {name: value for name, value in SHOE.items() if name != key}
    with pytest.raises(RulesError, match=f"^rules: expected the keys burn, coups, .*, got 'none named {key}'$"):
        parse_rules(rest)


@pytest.mark.parametrize("value", [None, [], "rules", 8, True, list(SHOE.items())])
def test_what_is_no_object_is_refused_at_its_place(value: Any) -> None:
    with pytest.raises(RulesError, match=r"^table\.rules: expected an object, got "):
        parse_rules(value, "table.rules")


def test_a_rules_error_is_the_caller_s_fault() -> None:
    assert issubclass(RulesError, InputError)


@pytest.mark.parametrize("decks", range(1, 17))
@pytest.mark.parametrize(("last_coup", "least"), [("drawn_in", 6), ("one_more", 11)])
def test_the_bounds_of_the_cut_are_sharp_for_every_deck_count(decks: int, last_coup: str, least: int) -> None:
    given = SHOE | {"decks": decks, "last_coup": last_coup}
    most = 52 * decks - 11
    assert parse_rules(given | cut(least, most)).cut == CutRange(least, most)
    for low, high in ((least - 1, most), (least, most + 1)):
        with pytest.raises(RulesError, match=r"^rules\.cut\."):
            parse_rules(given | cut(low, high))


# --- K -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "coups"),
    [
        ({}, 69),
        ({"burn": "first_card", "last_coup": "one_more"} | cut(14, 14), 66),
        ({"decks": 6}, 51),
        ({"decks": 1}, 8),
        ({"decks": 1} | cut(41, 41), 2),
        ({"decks": 1, "burn": "first_card"} | cut(41, 41), 1),  # the one coup that may start at the cut card
        (cut(6, 405), 2),
        ({"decks": 16} | cut(6, 6), 138),
    ],
)
def test_judged_coups_are_those_that_every_shoe_deals(changes: dict[str, Any], coups: int) -> None:
    """The figures by hand: ⌊(n − greatest burn − greatest cut)/6⌋ + 1."""
    assert parse_rules(SHOE | changes).judged_coups == coups


@pytest.mark.parametrize("coups", [1, 1000, 2**20])
def test_where_each_coup_is_shuffled_anew_one_is_judged(coups: int) -> None:
    assert parse_rules(COUP | {"coups": coups}).judged_coups == 1
