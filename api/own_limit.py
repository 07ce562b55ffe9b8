"""A player's own limit: lowered by PIN, once a week, and held where the table's rules say it holds.

Only what is decided stands here. Whoever keeps it stores `Held` in the transaction that asked, after a wrong PIN too,
or tries would not be counted. A PIN is tried before that, for it takes long (`try_pin`); what came of it counts only
against the hash that it was tried on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final, Literal

from api.passcode import hash_pin, same_pin
from api.weeks import turns_at, week_of
from shoe.errors import BetError, ImpossibleError, expected
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
class Tried:
    """What came of trying a PIN on a hash, None where there was none: the hash to be kept, and whether it was right."""

    on: str | None = field(repr=False)
    kept: str = field(repr=False)
    right: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: the limit to be kept now, the answer, and from when on one may ask again, if not now."""

    held: Held
    answer: Answer
    again: datetime | None = None


def try_pin(pin: str, kept: str | None, random_bytes: Callable[[int], bytes]) -> Tried:
    """Try a PIN against the hash that is kept, or hash it where there is none yet: some 60 ms and 32 MB.

    Raises InputError for what can't be a PIN.
    """
    if kept is None:
        return Tried(None, hash_pin(pin, random_bytes), right=True)
    return Tried(kept, kept, right=same_pin(pin, kept))


def ask_lower(held: Held, terms: Terms, asked_minor: int, tried: Tried, *, moment: datetime) -> Asked:
    """Lower an own limit, or say why not; `moment` is the time now, in UTC.

    What a caller without the PIN may learn is whether it was right, and no more. Raises BetError for a table without
    own limits and a limit that is no lower one, which changes nothing; ImpossibleError for a PIN tried on another hash.
    """
    limit = own_limit_of(terms)
    if tried.on != held.pin:
        raise ImpossibleError("the PIN was tried on another hash than the one that is held")
    week = week_of(moment, limit)
    again = blocked_until(held, moment)
    if again is not None:
        return Asked(held, "too_many_wrong_pins", again)
    if not tried.right:
        return Asked(_once_more_wrong(held, moment), "wrong_pin")
    if held.week == week:
        return Asked(held, "already_this_week", turns_at(moment, limit))
    lowered = lower_own_limit(terms, held.maximum_minor, asked_minor)
    return Asked(Held(lowered, week, tried.kept), "lowered")


def blocked_until(held: Held, moment: datetime) -> datetime | None:
    """Say until when no PIN is looked at; None while tries are left.

    Tries are counted by one week, whatever a table's own is, or a player of two tables had them anew at each.
    """
    return turns_at(moment) if held.wrong_week == week_of(moment) and held.wrong >= MOST_WRONG else None


def _once_more_wrong(held: Held, moment: datetime) -> Held:
    week = week_of(moment)
    return replace(held, wrong=(held.wrong if held.wrong_week == week else 0) + 1, wrong_week=week)


def kept_under(terms: Terms, holder: str, table: str) -> tuple[str, str | None]:
    """Say under what a limit is kept: its holder alone where it holds at all tables, else the table too."""
    return holder, None if own_limit_of(terms).holds_for == "all_tables" else table


def own_limit_of(terms: Terms) -> OwnLimit:
    """Give what a table says of own limits; raises BetError where it says nothing."""
    if terms.own_limit is None:
        raise BetError(expected("a table that has own limits", "one that has none", "own limit"))
    return terms.own_limit
