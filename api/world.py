"""Clock and chance, the two things that come from outside by argument; and times as records write them."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from shoe.errors import ImpossibleError, expected


@dataclass(frozen=True, slots=True)
class World:
    """What the service takes from the world: the time now, aware and in UTC, and bytes that nobody can guess."""

    now: Callable[[], datetime]
    random_bytes: Callable[[int], bytes]


def real_world() -> World:
    """The machine's clock and the operating system's entropy."""
    return World(lambda: datetime.now(UTC), secrets.token_bytes)


def print_time(moment: datetime) -> str:
    """Print a moment as a record's time: UTC, always six decimals, so that times sort as text (protocol §8).

    Raises ImpossibleError for a moment that isn't in UTC.
    """
    if moment.utcoffset() != timedelta(0):
        raise ImpossibleError(expected("a moment in UTC", moment, "clock"))
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_time(time: str) -> datetime:
    """Read a record's time; the inverse of `print_time`."""
    return datetime.fromisoformat(time)


def seconds_after(time: str, seconds: int) -> str:
    """Print the time so many seconds after a record's."""
    return print_time(read_time(time) + timedelta(seconds=seconds))


def make_id(world: World) -> str:
    """Make an id that sorts by time: a UUID of version 7, milliseconds then 74 random bits (RFC 9562 §5.7)."""
    milliseconds = int(world.now().timestamp() * 1000)
    chance = int.from_bytes(world.random_bytes(10), "big")
    number = milliseconds << 80 | 0x7 << 76 | (chance >> 62 & 0xFFF) << 64 | 0b10 << 62 | chance & (1 << 62) - 1
    return str(UUID(int=number))
