"""The terms of a table as JSON Schema: what can be said of their form, from the bounds that `record` reads by.

Only reading tells whether terms fit together: names that differ, amounts in order, stakes of whole chips, lines that a
shoe can come to, bets that can be lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, get_args, get_type_hints

from shoe.game.bets.events import EVENTS
from shoe.game.bets.record import KEYS, MAX_BETS, MAX_PAY, MAX_PAYS, NAME, ZONE
from shoe.game.bets.settling import MAX_STAKE_MINOR
from shoe.game.bets.terms import Limits, Money, OwnLimit, Pace, Terms

Schema = dict[str, Any]

_NULL: Final[Schema] = {"type": "null"}
_FLAG: Final[Schema] = {"type": "boolean"}


def with_terms(rules: Mapping[str, Any]) -> Schema:
    """Give the schema of a table's rules: the protocol's own keys, as `rules` describes them, and the terms.

    With any key of the terms all of them must be there, and no others; without, further keys are free.
    """
    own, terms = rules["properties"], _terms()
    any_of_them = {"anyOf": [{"required": [key]} for key in KEYS]}
    exactly = {"required": list(KEYS), "propertyNames": {"enum": sorted({*own, *KEYS})}}
    return {**rules, "properties": {**own, **terms}, "if": any_of_them, "then": exactly}


def _terms() -> dict[str, Schema]:
    return {
        "bets": _list(_bet(), MAX_BETS),
        "chips_minor": _or_null(_list(_amount(), MAX_BETS)),
        "combine": _choice(Terms, "combine"),
        "limits": _object(
            min_minor=_amount(),
            max_minor=_or_null(_amount()),
            below=_choice(Limits, "below"),
        ),
        "money": _object(
            minor_per_unit=_integer(1, 10**6),
            rounding=_choice(Money, "rounding"),
            least_commission_minor=_integer(0, MAX_STAKE_MINOR),
            default_stake_minor=_amount(),
            purse_minor=_or_null(_amount()),
            bank_minor=_or_null(_amount()),
        ),
        "on_tie": _choice(Terms, "on_tie"),
        "own_limit": _or_null(
            _object(
                **{key: _choice(OwnLimit, key) for key in ("confirmed_by", "once_a", "day", "holds_for")},
                zone=_text(ZONE.pattern),
            )
        ),
        "pace": _object(
            deal=_choice(Pace, "deal"),
            decide_s=_or_null(_integer(1, 3600)),
            rebet=_FLAG,
            preserve=_FLAG,
            loop=_FLAG,
        ),
        "side_bets": _choice(Terms, "side_bets"),
    }


def _bet() -> Schema:
    pay = [{"enum": list(EVENTS)}, _integer(0, MAX_PAY), _integer(1, MAX_PAY)]
    line = {"type": "array", "prefixItems": pay, "items": False, "minItems": len(pay), "maxItems": len(pay)}
    return _object(
        name=_text(NAME.pattern),
        side=_FLAG,
        commission_bp=_integer(0, 10_000),
        pays=_list(line, MAX_PAYS),
    )


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


def _list(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "minItems": 1, "maxItems": most}


def _choice(cls: type, name: str) -> Schema:
    """Give the values that a field declares."""
    return {"enum": list(get_args(get_type_hints(cls)[name]))}


def _integer(low: int, high: int) -> Schema:
    return {"type": "integer", "minimum": low, "maximum": high}


def _amount() -> Schema:
    return _integer(1, MAX_STAKE_MINOR)


def _text(pattern: str) -> Schema:
    return {"type": "string", "pattern": f"^(?:{pattern})$"}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [_NULL, schema]}
