"""How long and how often a client asks; and the clock, the sleep and the chance that it takes from the world."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from shoe.errors import InputError, expected

MAX_ANSWER_BYTES: Final = 2**26
_JITTER_BYTES: Final = 8
_SECONDS_DIGITS: Final = 9


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a client takes from the world: seconds that only go on, a sleep of some seconds, bytes nobody can guess."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[int], bytes] = secrets.token_bytes


@dataclass(frozen=True, slots=True)
class Patience:
    """The bounds of one call, in seconds: to connect, between two bytes, in all, and of the waits between attempts.

    `attempts` is how often it is sent at most; the wait before the n-th repetition lies between 0 and
    `first_wait_s`·2ⁿ⁻¹, `longest_wait_s` at most, on top of what the service asks for. `answer_bytes` is the longest
    answer that is read. The total is looked at before each attempt and between the parts of an answer: it may be
    exceeded by what one silence takes. Raises InputError for a bound that isn't above 0.
    """

    connect_s: float = 5.0
    silence_s: float = 30.0
    total_s: float = 60.0
    attempts: int = 5
    first_wait_s: float = 0.1
    longest_wait_s: float = 5.0
    answer_bytes: int = MAX_ANSWER_BYTES

    def __post_init__(self) -> None:
        for name in self.__slots__:
            bound = getattr(self, name)
            if not bound > 0:
                raise InputError(expected("a bound above 0", bound, name))

    def waits(self, chance: Callable[[int], bytes]) -> Iterator[float]:
        """Draw the waits between attempts, in seconds: each from 0 up to a bound that doubles ("full jitter")."""
        for repetition in range(self.attempts - 1):
            bound = min(self.longest_wait_s, self.first_wait_s * 2 ** min(repetition, 64))
            drawn = int.from_bytes(chance(_JITTER_BYTES), "big")
            yield bound * drawn / 2 ** (8 * _JITTER_BYTES)


def parse_retry_after(text: str | None, date: str | None) -> float | None:
    """Read how many seconds a service wants to be left alone; None where it says nothing that can be read.

    It may name a moment instead: that counts from the `Date` of the same answer, whose clock it is on. Source: RFC
    9110 §10.2.3.
    """
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return float(text) if len(text) <= _SECONDS_DIGITS else float("inf")
    until, since = _moment(text), _moment(date)
    return None if until is None or since is None else max(0.0, (until - since).total_seconds())


def _moment(text: str | None) -> datetime | None:
    try:
        moment = None if text is None else parsedate_to_datetime(text)
    except ValueError:
        return None
    return None if moment is None or moment.tzinfo is None else moment
