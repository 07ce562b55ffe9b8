"""Terms in a table's rules: read and printed the same, and every wrong key, kind and combination refused by name."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from shoe.errors import BetError, RulesError
from shoe.game.bets import record
from shoe.game.bets.record import KEYS, MAX_BETS, parse_terms, print_terms, terms_of
from shoe.game.bets.terms import Limits, Money, OwnLimit, Pace
from shoe.game.bets.wagers import CATALOGUE, Bet
from shoe.game.houses import HOUSES, vary
from shoe.game.rules import parse_rules
from shoe.proof.canonical import parse_object, print_canonical

VIP = print_terms(HOUSES["vip"].terms)
RULES = HOUSES["vip"].rules.to_json()

Change = Callable[[dict[str, Any]], object]


@pytest.mark.parametrize("name", HOUSES)
def test_presets_read_and_print_the_same(name: str) -> None:
    """Through canonical bytes, as records hold them (protocol §8)."""
    rules = HOUSES[name].rules
    stored = parse_rules(parse_object(print_canonical(rules.to_json())))
    assert stored == rules
    assert terms_of(stored) == HOUSES[name].terms
    assert print_terms(HOUSES[name].terms) == rules.further


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_ready_made_bet_can_stand_in_rules(name: str) -> None:
    bet = CATALOGUE[name]
    further = VIP | {"bets": [_printed(bet)]}
    assert parse_terms(json.loads(json.dumps(further)), 8).bets == (bet,)


def test_all_ready_made_bets_fit_into_the_rules_of_one_table() -> None:
    rules = vary(HOUSES["vip"].rules, {"bets": [_printed(bet) for bet in CATALOGUE.values()]})
    assert len(print_canonical(rules.to_json())) < 8192
    terms = terms_of(rules)
    assert terms is not None
    assert terms.bets == tuple(CATALOGUE.values())


def _printed(bet: Bet) -> dict[str, Any]:
    pays = [list(pay) for pay in bet.pays]
    return {"name": bet.name, "pays": pays, "commission_bp": bet.commission_bp, "side": bet.side}


@pytest.mark.parametrize("further", [{}, {"name": "t"}, {"seats": 7, "colour": "green"}])
def test_rules_that_say_nothing_of_bets_have_no_terms(further: dict[str, Any]) -> None:
    bare = {key: value for key, value in RULES.items() if key not in KEYS}
    assert terms_of(parse_rules(bare | further)) is None


def test_a_table_of_its_own_changes_what_it_names_alone() -> None:
    rules = vary(HOUSES["vip"].rules, {"limits": {"max_minor": 100_000}, "decks": 6})
    terms = terms_of(rules)
    assert terms is not None
    assert (terms.limits.min_minor, terms.limits.max_minor, rules.decks) == (500, 100_000, 6)
    assert terms.money == HOUSES["vip"].terms.money
    assert HOUSES["vip"].rules.decks == 8


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"limit": {"max_minor": 7}}, "rules: expected only the keys bets, "),
        ({"limits": {"maximum": 7}}, "rules.limits: expected only the keys min_minor, max_minor, below, got 'maximum'"),
        ({"limits": None}, "rules.limits: expected an object, got None"),
        ({"limits": {"max_minor": 499}}, "rules.limits.max_minor: expected null or at least min_minor, 500, got 499"),
        ({"decks": 17}, "rules.decks: expected an integer 1…16, got 17"),
    ],
)
def test_a_table_of_its_own_that_does_not_fit_is_refused(overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(RulesError) as refused:
        vary(HOUSES["vip"].rules, overrides)
    assert str(refused.value).startswith(message)


def test_the_written_terms_name_the_keys_and_choices_that_are_read() -> None:
    written = (Path(record.__file__).parents[2] / "TERMS.md").read_text(encoding="utf-8")
    assert sorted(KEYS) == sorted(re.findall(r"^\| `(\w+)` \|", written, re.MULTILINE))
    for part in (Limits, Money, OwnLimit, Pace):
        assert all(f"`{name}`" in written for name in part.__match_args__)


def at(*path: str | int, value: Any) -> Change:
    """Put a value at a place of the terms."""

    def change(terms: dict[str, Any]) -> None:
        inner: Any = terms
        for key in path[:-1]:
            inner = inner[key]
        inner[path[-1]] = value

    return change


def without(*path: str | int) -> Change:
    def change(terms: dict[str, Any]) -> None:
        inner: Any = terms
        for key in path[:-1]:
            inner = inner[key]
        del inner[path[-1]]

    return change


NOT_AMOUNTS = (0, -1, 1.5, "5", True, 2**40 + 1)

WRONG: list[tuple[Change, str]] = [
    *((without(key), f"rules: expected the keys {', '.join(KEYS)}, got 'none named {key}'") for key in KEYS),
    (at("tables", value=1), "rules: expected only the keys bets, "),
    (at("bets", value=[]), "bets: expected a list of 1 to 32, got []"),
    (at("bets", value=[VIP["bets"][0]] * (MAX_BETS + 1)), "bets: expected a list of 1 to 32, got "),
    (at("bets", value={"player": 1}), "bets: expected a list of 1 to 32, got "),
    (at("bets", value=[VIP["bets"][0]] * 2), "rules.bets: expected one or more bets of different names, got "),
    (at("bets", 1, value="banker"), "rules.bets[1]: expected an object, got 'banker'"),
    (without("bets", 1, "side"), "rules.bets[1]: expected the keys commission_bp, name, pays, side, got "),
    (at("bets", 1, "house", value=1), "rules.bets[1]: expected only the keys "),
    *(
        (at("bets", 0, "name", value=name), "rules.bets[0].name: expected a name of a-z, 0-9 and _, at most 32, got ")
        for name in ("", "Player", "1st", "a b", "a" * 33, 7, "player\n")
    ),
    (at("bets", 0, "side", value=0), "rules.bets[0].side: expected true or false, got 0"),
    (at("bets", 0, "commission_bp", value=10_001), "rules.bets[0].commission_bp: expected an integer 0…10000, got "),
    (at("bets", 0, "pays", value=[]), "rules.bets[0].pays: expected a list of 1 to 16, got []"),
    (at("bets", 0, "pays", 0, value=["player", 1]), "rules.bets[0].pays[0]: expected [event, gain, per], got "),
    (at("bets", 0, "pays", 0, value="player"), "rules.bets[0].pays[0]: expected [event, gain, per], got 'player'"),
    (at("bets", 0, "pays", 0, 0, value="punto"), "rules.bets[0].pays[0]: expected one of the events player, banker, "),
    (at("bets", 0, "pays", 0, 0, value=["player"]), "rules.bets[0].pays[0]: expected one of the events player, "),
    (at("bets", 0, "pays", 0, 1, value=-1), "rules.bets[0].pays[0].gain: expected an integer 0…1000, got -1"),
    (at("bets", 0, "pays", 0, 1, value=0.95), "rules.bets[0].pays[0].gain: expected an integer 0…1000, got 0.95"),
    (at("bets", 0, "pays", 0, 2, value=0), "rules.bets[0].pays[0].per: expected an integer 1…1000, got 0"),
    (
        at("bets", 0, "pays", value=[["player", 1, 1], ["tie", 0, 1], ["player_by_9", 2, 1]]),
        "rules.bets[0].pays[2]: expected an event that no line above has paid already and that the shoe can show, got ",
    ),
    (
        at("bets", 0, "pays", value=[["player", 1, 1], ["tie", 0, 1], ["banker", 0, 1]]),
        "rules.bets[0]: expected a bet that can be lost, got 'player'",
    ),
    (at("combine", value="all"), "rules.combine: expected one or any, got 'all'"),
    (at("side_bets", value=None), "rules.side_bets: expected alone or with_main, got None"),
    (at("on_tie", value="lost"), "rules.on_tie: expected returned or stays or may_stay, got 'lost'"),
    *((at("limits", "min_minor", value=v), "rules.limits.min_minor: expected an integer 1…") for v in NOT_AMOUNTS),
    *((at("limits", "max_minor", value=v), "rules.limits.max_minor: expected an integer 1…") for v in NOT_AMOUNTS),
    (at("limits", "below", value="ignore"), "rules.limits.below: expected raise or refuse, got 'ignore'"),
    (at("limits", "max_minor", value=400), "rules.limits.max_minor: expected null or at least min_minor, 500, got 400"),
    (at("limits", "min_minor", value=550), "rules.limits.min_minor: expected a multiple of the least chip, 100"),
    (at("limits", "max_minor", value=650), "rules.limits.max_minor: expected a multiple of the least chip, 100"),
    (at("chips_minor", value=[]), "chips_minor: expected a list of 1 to 32, got []"),
    (at("chips_minor", value=[100, 100]), "rules.chips_minor: expected rising chips, each a multiple of the "),
    (at("chips_minor", value=[500, 100]), "rules.chips_minor: expected rising chips, each a multiple of the "),
    (at("chips_minor", value=[100, 250]), "rules.chips_minor: expected rising chips, each a multiple of the "),
    *((at("chips_minor", value=[v]), "rules.chips_minor: expected an integer 1…") for v in NOT_AMOUNTS),
    (at("money", value=None), "rules.money: expected an object, got None"),
    (without("money", "rounding"), "rules.money: expected the keys minor_per_unit, rounding, "),
    (at("money", "rounding", value="half_even"), "rules.money.rounding: expected half_up or up or down, got "),
    (at("money", "minor_per_unit", value=0), "rules.money.minor_per_unit: expected an integer 1…1000000, got 0"),
    (at("money", "least_commission_minor", value=-1), "rules.money.least_commission_minor: expected an integer 0…"),
    *((at("money", key, value=v), f"rules.money.{key}: expected an integer 1…")
      for key in ("default_stake_minor", "purse_minor", "bank_minor") for v in NOT_AMOUNTS),
    (at("money", "default_stake_minor", value=400), "rules.money.default_stake_minor: expected a stake within "),
    (at("money", "default_stake_minor", value=30_100), "rules.money.default_stake_minor: expected a stake within the "),
    (at("money", "default_stake_minor", value=650), "rules.money.default_stake_minor: expected a multiple of "),
    (at("own_limit", value={}), "rules.own_limit: expected the keys confirmed_by, once_a, day, zone, holds_for, got "),
    (at("own_limit", "confirmed_by", value="mail"), "rules.own_limit.confirmed_by: expected pin, got 'mail'"),
    (at("own_limit", "once_a", value="day"), "rules.own_limit.once_a: expected week, got 'day'"),
    (at("own_limit", "day", value="Friday"), "rules.own_limit.day: expected monday or "),
    (at("own_limit", "holds_for", value="game"), "rules.own_limit.holds_for: expected all_tables or table, got 'game'"),
    *((at("own_limit", "zone", value=v), "rules.own_limit.zone: expected a time zone such as America/New_York, got ")
      for v in ("", "EST+5", "../etc/passwd", "America/", 5)),
    (at("pace", "deal", value="now"), "rules.pace.deal: expected asked or all_chosen, got 'now'"),
    (at("pace", "decide_s", value=0), "rules.pace.decide_s: expected an integer 1…3600, got 0"),
    *((at("pace", key, value=1), f"rules.pace.{key}: expected true or false, got 1")
      for key in ("rebet", "preserve", "loop")),
    (at("pace", "window", value=3), "rules.pace: expected only the keys deal, decide_s, rebet, preserve, loop, got "),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG, ids=range(len(WRONG)))
def test_wrong_terms_are_refused(change: Change, message: str) -> None:
    terms = deepcopy(VIP)
    change(terms)
    with pytest.raises(RulesError) as refused:
        parse_terms(terms, 8)
    assert str(refused.value).startswith(message), str(refused.value)


def test_a_pure_pair_can_not_be_paid_from_one_deck() -> None:
    with pytest.raises(RulesError, match=r"^rules\.bets\[3\]\.pays\[0\]: expected an event that "):
        vary(HOUSES["doppelganger"].rules, {"decks": 1})


@pytest.mark.parametrize("value", [None, [], "bets", 7])
def test_terms_are_an_object(value: Any) -> None:
    with pytest.raises(RulesError, match=r"^rules: expected an object, got "):
        parse_terms(value, 8)


def test_a_bet_that_the_table_has_not_is_named_beside_those_it_has() -> None:
    with pytest.raises(
        BetError, match=r"^bet: expected one of this table's bets, player, banker, tie, got 'dragon_7'$"
    ):
        HOUSES["vip"].terms.bet("dragon_7")
