"""Presets against the houses' own figures, one row a house: frozen, sourced, unlike each other where they differ."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from shoe.errors import ImpossibleError, RulesError
from shoe.game.houses import HOUSES, NP_PUNTO_BANCO, House, house
from shoe.game.rules import CutRange, Rules
from shoe.proof.canonical import print_canonical

# Money in units of 100. Columns by what the pages say, or what is taken where they say nothing.
TABLE: dict[str, dict[str, Any]] = {
    "np_punto_banco": {
        "decks": 8, "cut": 7, "coups": None, "banker": (1, 1, 500), "combine": "one", "min": 1, "max": None,
        "below": "refuse", "chips": None, "bank": 10_000, "purse": 1000, "default": 1, "least": 0, "tie": "may_stay",
        "deal": "asked", "decide_s": None, "preserve": True, "loop": True, "rebet": False, "own_limit": False,
    },
    "chance": {
        "decks": 8, "cut": 14, "coups": None, "banker": (19, 20, 0), "combine": "any", "min": 1, "max": None,
        "below": "refuse", "chips": (1, 500), "bank": None, "purse": None, "default": 1, "least": 0, "tie": "stays",
        "deal": "asked", "decide_s": None, "preserve": False, "loop": False, "rebet": False, "own_limit": False,
    },
    "intercasino": {
        "decks": 8, "cut": None, "coups": 1000, "banker": (1, 1, 500), "combine": "any", "min": 5, "max": 300,
        "below": "raise", "chips": (1, 500), "bank": None, "purse": None, "default": 5, "least": 0, "tie": "returned",
        "deal": "asked", "decide_s": None, "preserve": False, "loop": False, "rebet": True, "own_limit": True,
    },
    "doppelganger": {
        "decks": 6, "cut": 7, "coups": None, "banker": (19, 20, 0), "combine": "any", "min": 1, "max": 500,
        "below": "refuse", "chips": (1, 500), "bank": None, "purse": None, "default": 1, "least": 0, "tie": "returned",
        "deal": "asked", "decide_s": None, "preserve": False, "loop": False, "rebet": False, "own_limit": False,
    },
    "vip": {
        "decks": 8, "cut": None, "coups": 1000, "banker": (1, 1, 500), "combine": "any", "min": 5, "max": 300,
        "below": "refuse", "chips": (1, 500), "bank": None, "purse": None, "default": 5, "least": 25, "tie": "returned",
        "deal": "all_chosen", "decide_s": 15, "preserve": False, "loop": False, "rebet": True, "own_limit": True,
    },
}  # fmt: skip
TABLE["np_punto_banco_three"] = TABLE["np_punto_banco"] | {"combine": "any"}
TABLE["intercasino_as_printed"] = TABLE["intercasino"] | {"banker": (1, 1, 0)}


def units(minor: int | None) -> int | None:
    assert minor is None or minor % 100 == 0
    return None if minor is None else minor // 100


def row(each: House) -> dict[str, Any]:
    rules, terms = each.rules, each.terms
    banker, chips = terms.bet("banker"), terms.chips_minor
    assert rules.cut is None or rules.cut.fixed
    return {
        "decks": rules.decks, "cut": rules.cut and rules.cut.lowest, "coups": rules.coups,
        "banker": (*banker.pays[0][1:], banker.commission_bp), "combine": terms.combine,
        "min": units(terms.limits.min_minor), "max": units(terms.limits.max_minor), "below": terms.limits.below,
        "chips": chips and (units(chips[0]), units(chips[-1])),
        "bank": units(terms.money.bank_minor), "purse": units(terms.money.purse_minor),
        "default": units(terms.money.default_stake_minor), "least": terms.money.least_commission_minor,
        "tie": terms.on_tie, "deal": terms.pace.deal, "decide_s": terms.pace.decide_s,
        "preserve": terms.pace.preserve, "loop": terms.pace.loop, "rebet": terms.pace.rebet,
        "own_limit": terms.own_limit is not None,
    }  # fmt: skip


@pytest.mark.parametrize("name", HOUSES)
def test_a_preset_is_its_houses_row(name: str) -> None:
    assert row(HOUSES[name]) == TABLE[name]
    rules = HOUSES[name].rules
    assert (rules.burn, rules.last_coup) == ("none", "drawn_in")
    assert rules.shuffle == ("shoe" if TABLE[name]["coups"] is None else "coup")


@pytest.mark.parametrize("name", HOUSES)
def test_player_and_tie_pay_alike_at_every_house(name: str) -> None:
    terms = HOUSES[name].terms
    assert terms.bet("player").pays == (("player", 1, 1), ("tie", 0, 1))
    assert terms.bet("tie").pays == (("tie", 8, 1),)
    assert terms.money.rounding == "half_up"
    assert terms.money.minor_per_unit == 100


def test_only_the_doppelganger_house_has_side_bets_and_they_need_a_main_bet() -> None:
    for name, each in HOUSES.items():
        side = {bet.name for bet in each.terms.bets if bet.side}
        assert side == ({"player_doppelganger", "banker_doppelganger"} if name == "doppelganger" else set())
    terms = HOUSES["doppelganger"].terms
    assert terms.side_bets == "with_main"
    for hand in ("player", "banker"):
        pays = ((f"{hand}_pure", 25, 1), (f"{hand}_coloured", 12, 1), (f"{hand}_mixed", 6, 1))
        assert terms.bet(f"{hand}_doppelganger").pays == pays


@pytest.mark.parametrize("name", ["intercasino", "intercasino_as_printed", "vip"])
def test_the_own_limit_turns_on_friday_in_us_eastern_time_and_holds_everywhere(name: str) -> None:
    own = HOUSES[name].terms.own_limit
    assert own is not None
    assert (own.day, own.zone, own.once_a, own.confirmed_by) == ("friday", "America/New_York", "week", "pin")
    assert own.holds_for == "all_tables"


@pytest.mark.parametrize("name", HOUSES)
def test_a_preset_says_where_it_comes_from_and_what_it_settled(name: str) -> None:
    each = HOUSES[name]
    assert each.name == name
    assert each.source
    assert len(each.settled) >= 5
    assert len(set(each.settled)) == len(each.settled)
    assert all(words.endswith(".") for words in each.settled)


@pytest.mark.parametrize("name", HOUSES)
def test_a_presets_rules_leave_room_for_seeds_in_a_seal(name: str) -> None:
    """The service takes no rules of more than 8192 bytes."""
    assert len(print_canonical(HOUSES[name].rules.to_json())) < 1200


def test_presets_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        NP_PUNTO_BANCO.name = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        HOUSES["x"] = NP_PUNTO_BANCO  # type: ignore[index]
    with pytest.raises(FrozenInstanceError):
        NP_PUNTO_BANCO.terms.limits.min_minor = 1  # type: ignore[misc]


def test_one_house_claims_that_its_bank_is_broken() -> None:
    assert {name for name, each in HOUSES.items() if each.claim} == {"np_punto_banco"}


def test_a_house_without_bets_is_no_preset() -> None:
    bare = Rules("none", None, CutRange(7, 7), 8, "house", "drawn_in", "shoe")
    with pytest.raises(ImpossibleError, match="bare says nothing of bets"):
        _ = House("bare", bare, "", ()).terms


@pytest.mark.parametrize("name", ["", "VIP", "reno", "vip "])
def test_an_unknown_preset_is_named_beside_those_there_are(name: str) -> None:
    with pytest.raises(RulesError, match=r"^preset: expected one of np_punto_banco, .*vip, got "):
        house(name)
