"""A table's rules against their published JSON Schema: what is read keeps it, what is refused for its form breaks it.

`jsonschema` decides for the schema, `terms_of` for the reader. What a schema can't say is listed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from shoe.errors import RulesError
from shoe.game.bets.record import KEYS, terms_of
from shoe.game.bets.wagers import CATALOGUE
from shoe.game.houses import HOUSES, vary
from shoe.game.rules import parse_rules
from tests.shoe.test_bets_record import VIP, WRONG, Change
from tests.write_schemas import schemas

VALIDATOR = Draft202012Validator(schemas()["table-rules"])
PLAIN = Draft202012Validator(schemas()["rules"])
RULES = HOUSES["vip"].rules.to_json()
PLACES = (("bets", 0), ("bets", 0, "pays", 0), ("limits",), ("money",), ("own_limit",), ("pace",))

ONLY_READING_TELLS = re.compile(
    "one or more bets of different names|null or at least min_minor|rising chips, each|a multiple of the least chip"
    "|a stake within the limits|an event that no line above has paid|a bet that can be lost"
)
"""The words of refusals that concern how values fit together."""


def breaks(rules: Any) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(rules)]


def refusal(rules: Any) -> str:
    """Why the reader refuses rules; nothing where it takes them."""
    try:
        terms_of(parse_rules(rules))
    except RulesError as error:
        return str(error)
    return ""


# --- what is right -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOUSES)
def test_every_preset_keeps_the_schema(name: str) -> None:
    assert breaks(HOUSES[name].rules.to_json()) == []


def test_every_ready_made_bet_and_every_null_keeps_it() -> None:
    bets = [
        {"name": b.name, "pays": [list(pay) for pay in b.pays], "commission_bp": b.commission_bp, "side": b.side}
        for b in CATALOGUE.values()
    ]
    varied = vary(HOUSES["np_punto_banco"].rules, {"bets": bets, "limits": {"max_minor": None}}).to_json()
    assert breaks(varied) == [] == breaks(RULES | {"own_limit": None, "chips_minor": None})
    assert breaks(RULES | {"money": VIP["money"] | {"purse_minor": None, "bank_minor": 2**40}}) == []


@pytest.mark.parametrize("further", [{}, {"seats": 7}, {"colour": {"cloth": "green"}}])
def test_rules_that_say_nothing_of_bets_are_free_in_their_further_keys(further: dict[str, Any]) -> None:
    bare = {key: value for key, value in RULES.items() if key not in KEYS} | further
    assert (breaks(bare), refusal(bare)) == ([], "")


# --- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "message"), WRONG, ids=range(len(WRONG)))
def test_what_the_reader_refuses_for_its_form_breaks_the_schema(change: Change, message: str) -> None:
    terms = deepcopy(VIP)
    change(terms)
    rules = RULES | terms
    rules = {key: value for key, value in rules.items() if key in terms or key not in KEYS}
    whole = refusal(rules)
    python_alone = whole.endswith("'player\\n'")  # Python's $ stands before a last newline, ECMA-262's does not
    assert bool(breaks(rules)) == (not ONLY_READING_TELLS.search(whole) and not python_alone), whole


@pytest.mark.parametrize("key", KEYS)
def test_each_key_alone_or_missing_or_of_another_kind_breaks_it(key: str) -> None:
    bare = {name: value for name, value in RULES.items() if name not in KEYS}
    assert breaks(bare | {key: VIP[key]})
    assert breaks({name: value for name, value in RULES.items() if name != key})
    for value in (True, 0, "x", [], {}, 1.5):
        assert breaks(RULES | {key: value}), (key, value)


def test_no_key_beside_the_terms_and_none_inside_is_unknown() -> None:
    assert breaks(RULES | {"seats": 7})
    for place in PLACES:
        rules = deepcopy(RULES)
        inner: Any = rules
        for key in place:
            inner = inner[key]
        inner.append(1) if isinstance(inner, list) else inner.update(house=1)
        assert breaks(rules), place


def test_the_schema_beside_is_that_of_the_protocol_which_gives_terms_no_meaning() -> None:
    """Protocol §6: further keys are carried, so that a record with other terms of bets still is a record."""
    assert list(PLAIN.iter_errors(RULES | {"limits": {"max": 500}, "seats": 7})) == []


# --- both ways ---------------------------------------------------------------------------------

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2, 5, 100, 500, 1000, 1001, 3600, 3601, 10_000, 10_001, 10**6, 10**6 + 1, 2**40]),
    st.sampled_from([2**40 + 1, 1.5, "", "one", "any", "alone", "player", "tie", "stays", "pin", "Friday", "down"]),
    st.sampled_from(["America/New_York", "a/b/c/d", [], [100], [100, 200], [["tie", 8, 1]], ["tie", 8, 1], {}]),
)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield (*at, key)
        yield from places(below, (*at, key))


ALL_PLACES = [place for place in places({**RULES, "bets": RULES["bets"][:2]}) if place[0] in KEYS]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(ALL_PLACES), st.one_of(st.just(...), VALUES)), min_size=1, max_size=2))
def test_schema_and_reader_agree_on_terms_changed_anywhere(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """A value put anywhere, or taken out (...): read means kept, kept means read or refused for what doesn't fit."""
    rules = deepcopy(RULES)
    for place, value in changes:
        inner: Any = rules
        try:
            for key in place[:-1]:
                inner = inner[key]
            if value is ...:
                del inner[place[-1]]
            else:
                inner[place[-1]] = deepcopy(value)
        except (LookupError, TypeError):
            continue
    why, broken = refusal(rules), breaks(rules)
    fits = not ONLY_READING_TELLS.search(why)
    assert bool(broken) == bool(why) or (why and not broken and not fits), (why, broken)
