"""The decks in play, kept in memory by who deals from them: shuffled and committed to once instead of at every coup."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

from shoe.proof.openings import Deck

MOST: Final = 256
"""Decks kept; eight decks of cards with their salts and tree take some 200 kB."""


@dataclass(slots=True)
class Decks:
    """The decks used last, by seal and shuffle, which fix every card; what is not here is dealt anew. Shows nothing."""

    most: int = MOST
    _held: OrderedDict[tuple[bytes, int], Deck] = field(default_factory=OrderedDict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def get(self, seal: bytes, hand: int, deal: Callable[[], Deck]) -> Deck:
        """Give the deck of a seal (32 bytes) and shuffle, from `deal` where it isn't held."""
        with self._lock:
            held = self._held.get((seal, hand))
            if held is not None:
                self._held.move_to_end((seal, hand))
                return held
        made = deal()
        with self._lock:
            self._held[seal, hand] = made
            while len(self._held) > self.most:
                self._held.popitem(last=False)
        return made
