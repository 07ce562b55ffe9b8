"""A table's terms as the further keys of its rules: read strictly, printed back the same (protocol §6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeVar

from shoe.errors import RulesError, expected
from shoe.game.bets.events import check_event
from shoe.game.bets.settling import MAX_STAKE_MINOR
from shoe.game.bets.shown import reachable
from shoe.game.bets.terms import Limits, Money, OwnLimit, Pace, Terms
from shoe.game.bets.wagers import Bet, Pay
from shoe.game.rules import Rules

KEYS: Final = (
    "bets",
    "chips_minor",
    "combine",
    "limits",
    "money",
    "on_tie",
    "own_limit",
    "pace",
    "side_bets",
)
"""The further keys of a table that takes bets: all of them, and no others."""

MAX_BETS: Final = 32
MAX_PAYS: Final = 16
MAX_PAY: Final = 1000
NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")
ZONE: Final = re.compile(r"[A-Za-z][A-Za-z_]*([/][A-Za-z][A-Za-z_]*){0,2}")
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

Value = TypeVar("Value")


def terms_of(rules: Rules) -> Terms | None:
    """Read the terms of a table from its rules; None where they say nothing of bets.

    Raises RulesError, naming the place, for a missing or further key, or terms that don't fit together.
    """
    if not set(KEYS).intersection(rules.further):
        return None
    return parse_terms(rules.further, rules.decks)


def parse_terms(value: object, decks: int) -> Terms:
    """Read terms from the further keys of rules; the inverse of `print_terms`.

    `decks` is the size of the shoe, so that no line of a pay table waits for what the shoe can't show. Raises
    RulesError like `terms_of`.
    """
    keys = _object(value, KEYS, "rules")
    return Terms(
        bets=tuple(_bet(bet, decks, f"rules.bets[{n}]") for n, bet in enumerate(_list(keys["bets"], "bets", MAX_BETS))),
        combine=_choice(keys["combine"], ("one", "any"), "rules.combine"),
        side_bets=_choice(keys["side_bets"], ("alone", "with_main"), "rules.side_bets"),
        limits=_limits(keys["limits"]),
        own_limit=_or_none(keys["own_limit"], _own_limit),
        chips_minor=_or_none(keys["chips_minor"], _chips),
        money=_money(keys["money"]),
        on_tie=_choice(keys["on_tie"], ("returned", "stays", "may_stay"), "rules.on_tie"),
        pace=_pace(keys["pace"]),
    )


def print_terms(terms: Terms) -> dict[str, Any]:
    """Give terms as the further keys of rules."""
    own = terms.own_limit
    return {
        "bets": [_print_bet(bet) for bet in terms.bets],
        "chips_minor": None if terms.chips_minor is None else list(terms.chips_minor),
        "combine": terms.combine,
        "limits": _fields(terms.limits),
        "money": _fields(terms.money),
        "on_tie": terms.on_tie,
        "own_limit": None if own is None else _fields(own),
        "pace": _fields(terms.pace),
        "side_bets": terms.side_bets,
    }


def _fields(value: Limits | Money | OwnLimit | Pace) -> dict[str, Any]:
    return {name: getattr(value, name) for name in type(value).__match_args__}


def _print_bet(bet: Bet) -> dict[str, Any]:
    pays = [list(pay) for pay in bet.pays]
    return {"commission_bp": bet.commission_bp, "name": bet.name, "pays": pays, "side": bet.side}


def _bet(value: object, decks: int, where: str) -> Bet:
    keys = _object(value, ("commission_bp", "name", "pays", "side"), where)
    name = keys["name"]
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise RulesError(expected("a name of a-z, 0-9 and _, at most 32", name, f"{where}.name"))
    lines = _list(keys["pays"], f"{where}.pays", MAX_PAYS)
    bet = Bet(
        name=name,
        pays=tuple(_pay(line, f"{where}.pays[{n}]") for n, line in enumerate(lines)),
        commission_bp=_integer(keys["commission_bp"], 0, 10_000, f"{where}.commission_bp"),
        side=_flag(keys["side"], f"{where}.side"),
    )
    paid = _paid(bet, decks)
    for n, pay in enumerate(bet.pays):
        if pay not in paid:
            what = "an event that no line above has paid already and that the shoe can show"
            raise RulesError(expected(what, pay.event, f"{where}.pays[{n}]"))
    if None not in paid:
        raise RulesError(expected("a bet that can be lost", name, where))
    return bet


@lru_cache(maxsize=1024)
def _paid(bet: Bet, decks: int) -> frozenset[Pay | None]:
    """List what a bet pays on all that a shoe can show: thousands of things, for a few bets that most tables have."""
    return frozenset(bet.pay_on(shown) for shown in reachable(decks))


def _pay(value: object, where: str) -> Pay:
    if not isinstance(value, list | tuple) or len(value) != 3:
        raise RulesError(expected("[event, gain, per]", value, where))
    event, gain, per = value
    return Pay(
        check_event(event, where),
        _integer(gain, 0, MAX_PAY, f"{where}.gain"),
        _integer(per, 1, MAX_PAY, f"{where}.per"),
    )


def _limits(value: object) -> Limits:
    keys = _object(value, Limits.__match_args__, "rules.limits")
    return Limits(
        min_minor=_amount(keys["min_minor"], "rules.limits.min_minor"),
        max_minor=_or_none(keys["max_minor"], lambda most: _amount(most, "rules.limits.max_minor")),
        below=_choice(keys["below"], ("raise", "refuse"), "rules.limits.below"),
    )


def _own_limit(value: object) -> OwnLimit:
    keys = _object(value, OwnLimit.__match_args__, "rules.own_limit")
    zone = keys["zone"]
    if not isinstance(zone, str) or not ZONE.fullmatch(zone):
        raise RulesError(expected("a time zone such as America/New_York", zone, "rules.own_limit.zone"))
    return OwnLimit(
        confirmed_by=_choice(keys["confirmed_by"], ("pin",), "rules.own_limit.confirmed_by"),
        once_a=_choice(keys["once_a"], ("week",), "rules.own_limit.once_a"),
        day=_choice(keys["day"], _DAYS, "rules.own_limit.day"),
        zone=zone,
        holds_for=_choice(keys["holds_for"], ("all_tables", "table"), "rules.own_limit.holds_for"),
    )


def _chips(value: object) -> tuple[int, ...]:
    return tuple(_amount(chip, "rules.chips_minor") for chip in _list(value, "chips_minor", MAX_BETS))


def _money(value: object) -> Money:
    keys = _object(value, Money.__match_args__, "rules.money")
    where = "rules.money."
    return Money(
        minor_per_unit=_integer(keys["minor_per_unit"], 1, 10**6, where + "minor_per_unit"),
        rounding=_choice(keys["rounding"], ("half_up", "up", "down"), where + "rounding"),
        least_commission_minor=_integer(
            keys["least_commission_minor"], 0, MAX_STAKE_MINOR, where + "least_commission_minor"
        ),
        default_stake_minor=_amount(keys["default_stake_minor"], where + "default_stake_minor"),
        purse_minor=_or_none(keys["purse_minor"], lambda purse: _amount(purse, where + "purse_minor")),
        bank_minor=_or_none(keys["bank_minor"], lambda bank: _amount(bank, where + "bank_minor")),
    )


def _pace(value: object) -> Pace:
    keys = _object(value, Pace.__match_args__, "rules.pace")
    return Pace(
        deal=_choice(keys["deal"], ("asked", "all_chosen"), "rules.pace.deal"),
        decide_s=_or_none(keys["decide_s"], lambda span: _integer(span, 1, 3600, "rules.pace.decide_s")),
        rebet=_flag(keys["rebet"], "rules.pace.rebet"),
        preserve=_flag(keys["preserve"], "rules.pace.preserve"),
        loop=_flag(keys["loop"], "rules.pace.loop"),
    )


def _object(value: object, keys: tuple[str, ...], where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise RulesError(expected("an object", value, where))
    for key in keys:
        if key not in value:
            raise RulesError(expected(f"the keys {', '.join(keys)}", f"none named {key}", where))
    for key in value:
        if key not in keys:
            raise RulesError(expected(f"only the keys {', '.join(keys)}", key, where))
    return value


def _list(value: object, where: str, most: int) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= most:
        raise RulesError(expected(f"a list of 1 to {most}", value, where))
    return value


def _choice(value: object, choices: tuple[Any, ...], where: str) -> Any:
    if value not in choices:
        raise RulesError(expected(" or ".join(choices), value, where))
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise RulesError(expected("true or false", value, where))
    return value


def _amount(value: object, where: str) -> int:
    return _integer(value, 1, MAX_STAKE_MINOR, where)


def _integer(value: object, low: int, high: int, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RulesError(expected(f"an integer {low}…{high}", value, where))
    return value


def _or_none(value: object, read: Callable[[object], Value]) -> Value | None:
    return None if value is None else read(value)
