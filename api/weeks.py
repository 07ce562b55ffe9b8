"""Weeks by which an own limit counts: they turn on a day at 00:00 somewhere, daylight saving observed there."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shoe.errors import ImpossibleError, RulesError, expected
from shoe.game.bets.terms import OwnLimit
from shoe.game.houses.house import WEEKLY_BY_PIN

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEK: Final = timedelta(days=7)


def week_of(moment: datetime, limit: OwnLimit = WEEKLY_BY_PIN) -> str:
    """Name the week that a moment lies in by the day it began on there, as ``2026-01-30``.

    The moment of the turn itself is of the new week. Raises ImpossibleError for a moment that isn't in UTC, RulesError
    for a zone that there isn't.
    """
    return _began(moment, limit).date().isoformat()


def turns_at(moment: datetime, limit: OwnLimit = WEEKLY_BY_PIN) -> datetime:
    """Find when the week of a moment ends, in UTC: seven days on by the calendar there, so 167, 168 or 169 hours.

    Raises like `week_of`.
    """
    # Within one zone Python adds days to the clock on the wall, and asks for the offset only on the way to UTC.
    return (_began(moment, limit) + _WEEK).astimezone(UTC)


def _began(moment: datetime, limit: OwnLimit) -> datetime:
    if moment.utcoffset() != timedelta(0):
        raise ImpossibleError(expected("a moment in UTC", moment, "moment"))
    zone = _zone(limit.zone)
    there = moment.astimezone(zone)
    day = there.date() - timedelta(days=(there.weekday() - _DAYS.index(limit.day)) % 7)
    return datetime.combine(day, time(), zone)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError):
        raise RulesError(expected("a zone of the IANA time zone database", name, "rules.own_limit.zone")) from None
