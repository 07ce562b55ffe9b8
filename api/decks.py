"""The decks in play, kept in memory by who deals from them: shuffled and committed to once, not at every coup."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final, Generic, TypeVar

from shoe.game.rules import Rules
from shoe.proof.openings import Deck, deal_deck
from shoe.proof.seal import Keys, derive_keys

MOST_DECKS: Final = 256
"""Decks kept; eight decks of cards with their salts and tree take some 200 kB."""

MOST_KEYS: Final = 4096

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(slots=True)
class _Held(Generic[K, V]):
    """The values used last, by key; shows nothing."""

    most: int
    _values: OrderedDict[K, V] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def get(self, key: K, make: Callable[[], V]) -> V:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        made = make()
        with self._lock:
            self._values[key] = made
            while len(self._values) > self.most:
                self._values.popitem(last=False)
        return made


@dataclass(frozen=True, slots=True)
class Decks:
    """What was dealt from last: a seal and a shuffle fix every card. What is not here is derived anew."""

    _keys: _Held[bytes, Keys] = field(default_factory=lambda: _Held(MOST_KEYS), repr=False)
    _decks: _Held[tuple[bytes, int], Deck] = field(default_factory=lambda: _Held(MOST_DECKS), repr=False)

    def get(self, seed: Callable[[], bytes], seal: bytes, rules: Rules, hand: int) -> Deck:
        """Give the deck of a shuffle under a seal (32 bytes); `seed` derives the server seed, where that is needed."""
        return self._decks.get(
            (seal, hand),
            lambda: deal_deck(self._keys.get(seal, lambda: derive_keys(seed(), seal)), rules, hand),
        )
