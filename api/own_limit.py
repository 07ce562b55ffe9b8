"""A player's own limit: lowered by PIN, once a week, and held where the table's rules say it holds.

Only what is decided stands here. Whoever keeps it stores `Held` in the transaction that asked, after a wrong PIN too,
or tries would not be counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from api.passcode import hash_pin, same_pin
from api.weeks import turns_at, week_of
from shoe.errors import BetError, expected
from shoe.game.bets.layout import lower_own_limit
from shoe.game.bets.terms import OwnLimit, Terms

MOST_WRONG: Final = 5
"""Wrong PINs in a week, after which none is looked at until it turns: a PIN of four digits has 10,000 values."""

Answer = Literal["lowered", "wrong_pin", "too_many_wrong_pins", "already_this_week"]


@dataclass(frozen=True, slots=True)
class Held:
    """What is kept of a player's limit: the greatest stake, the week it was set in, the PIN's hash, wrong tries.

    `maximum_minor` is None until she sets one; the first PIN that she confirms by is hers from then on. `wrong` counts
    the tries of `wrong_week`.
    """

    maximum_minor: int | None = None
    week: str | None = None
    pin: str | None = field(default=None, repr=False)
    wrong: int = 0
    wrong_week: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: the limit to be kept now, the answer, and from when on one may ask again, if not now."""

    held: Held
    answer: Answer
    again: datetime | None = None


def ask_lower(
    held: Held, terms: Terms, asked_minor: int, pin: str, *, moment: datetime, random_bytes: Callable[[int], bytes]
) -> Asked:
    """Lower an own limit, or say why not; `moment` is the time now, in UTC.

    What a caller without the PIN may learn is whether it was right, and no more. Raises BetError for a table without
    own limits and a limit that is no lower one, InputError for what can't be a PIN; neither changes what is held.
    """
    limit = _limit(terms)
    week = week_of(moment, limit)
    wrong = held.wrong if held.wrong_week == week else 0
    if wrong >= MOST_WRONG:
        return Asked(held, "too_many_wrong_pins", turns_at(moment, limit))
    if held.pin is not None and not same_pin(pin, held.pin):
        return Asked(replace(held, wrong=wrong + 1, wrong_week=week), "wrong_pin")
    if held.week == week:
        return Asked(held, "already_this_week", turns_at(moment, limit))
    lowered = lower_own_limit(terms, held.maximum_minor, asked_minor)
    kept = hash_pin(pin, random_bytes) if held.pin is None else held.pin
    return Asked(Held(lowered, week, kept), "lowered")


def kept_under(terms: Terms, holder: str, table: str) -> tuple[str, str | None]:
    """Say under what a limit is kept: its holder alone where it holds at all tables, else the table too."""
    return holder, None if _limit(terms).holds_for == "all_tables" else table


def _limit(terms: Terms) -> OwnLimit:
    if terms.own_limit is None:
        raise BetError(expected("a table that has own limits", "one that has none", "own limit"))
    return terms.own_limit
