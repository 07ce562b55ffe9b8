"""What clients asked and what they were answered: kept outside the service, so that it can be held against it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from threading import Event
from typing import Any

from shoe.proof.seeds import commit_seed


@dataclass(frozen=True)
class Request:
    """One POST, the same bytes however often it is sent."""

    path: str
    body: bytes
    key: str
    token: str = ""


@dataclass(frozen=True)
class Answer:
    """The first answer that a client had to a request, after so many sendings."""

    request: Request
    status: int
    data: bytes
    sendings: int

    @cached_property
    def json(self) -> Any:
        return json.loads(self.data)

    @property
    def step(self) -> str:
        """The last part of the address, such as ``coups``."""
        return self.request.path.rsplit("/", 1)[1]

    def __str__(self) -> str:
        return f"POST {self.request.path} ({self.request.key}): {self.status} {self.data[:300].decode()}"


@dataclass
class Ledger:
    """All answers, in the order in which they came; and what should never have come.

    Threads append, and never take away: a list's own append is all the locking that needs.
    """

    answers: list[Answer] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seeds: dict[tuple[str, int], str] = field(default_factory=dict)
    """The seed behind each contribution, by shoe and position: who made it may be gone when it has to be opened."""
    seats: dict[tuple[str, int], str] = field(default_factory=dict)
    """The token of the seat that made it."""
    excused: frozenset[str] = frozenset()
    """The problems with status 503 that a client may be told of, to try again."""
    unavailable: list[str] = field(default_factory=list)
    """Where they were told so."""
    abandoned: Event = field(default_factory=Event)
    """Set where the campaign has failed: nobody need wait for an answer any more."""

    @property
    def made(self) -> list[Answer]:
        """The answers of requests that did something."""
        return [answer for answer in self.answers if answer.status == 201]

    def count(self, step: str) -> int:
        return sum(answer.step == step for answer in self.made)


@dataclass
class Draws:
    """Numbers from a seed that is printed: SHA-256 over the seed, a name and a counter."""

    seed: str
    name: str
    count: int = 0

    def below(self, end: int) -> int:
        self.count += 1
        digest = hashlib.sha256(f"{self.seed}/{self.name}/{self.count}".encode()).digest()
        return int.from_bytes(digest) % end

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.below(2**32) / 2**32

    def client_seed(self) -> tuple[str, str]:
        """A player's seed and its commitment."""
        seed = f"{self.name}-{self.below(2**64):016x}"
        return seed, commit_seed(seed).hex()
