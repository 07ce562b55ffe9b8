"""Successive cards: runs in the order of an unshuffled pack, and runs that came before in another shoe."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from audit.foreign.composition import CARDS, POINTS_ALONE, Ints, Level
from shoe.game.cards import DECK, RANKS

Hashes = npt.NDArray[np.uint64]

MOST_KEPT: Final = 2**16
"""Runs of cards that are remembered, whatever the size of the log."""

OUTCOMES_K: Final = 64
"""Successive outcomes that come twice by chance hardly ever: 2⁻⁸⁰ for one pair of places."""

FRESH_CARDS: Final = 9
FRESH_RANKS: Final = 13
FRESH_POINTS: Final = 16
"""So many cards in the order of a pack have a chance of some 10⁻¹³ at a place of a shuffled shoe."""

_STEPS: Final = {
    1: "each one rank higher",
    DECK - 1: "each one rank lower",
    len(RANKS): "one rank in one suit after another",
    DECK - len(RANKS): "one rank in one suit after another",
    0: "one and the same card",
}
_RANK_STEPS: Final = {1: "each one rank higher", len(RANKS) - 1: "each one rank lower", 0: "one and the same rank"}
_PACK: Final = (*range(1, 10), 0, 0, 0, 0)


class Fresh(NamedTuple):
    """A run in the order of a pack: its first place, how many cards it has, and the order in words."""

    place: int
    cards: int
    words: str


def fresh_order(types: Ints, level: Level) -> Fresh | None:
    """Find the first run of cards in the order of an unshuffled pack, up, down, by suits, or all alike."""
    if level is POINTS_ALONE:
        return _fresh_points(types)
    steps, turn, least = (_STEPS, DECK, FRESH_CARDS) if level is CARDS else (_RANK_STEPS, len(RANKS), FRESH_RANKS)
    if len(types) < least:
        return None
    differences = np.diff(types) % turn
    same = np.concatenate(([0], np.cumsum(differences[1:] != differences[:-1])))
    starts = np.searchsorted(same, np.arange(same[-1] + 1))
    lengths = np.diff(np.append(starts, len(differences))) + 1
    for start, length in zip(starts[lengths >= least].tolist(), lengths[lengths >= least].tolist(), strict=True):
        if (words := steps.get(int(differences[start]))) is not None:
            return Fresh(start, length, words)
    return None


def _pack_runs() -> Ints:
    turned = [(_PACK * 3)[start : start + FRESH_POINTS] for start in range(len(_PACK))]
    return np.array([*turned, *(run[::-1] for run in turned)], dtype=np.int64) @ 10 ** np.arange(FRESH_POINTS)


_PACK_RUNS: Final = _pack_runs()


def _fresh_points(types: Ints) -> Fresh | None:
    if len(types) < FRESH_POINTS:
        return None
    windows = np.lib.stride_tricks.sliding_window_view(types, FRESH_POINTS) @ 10 ** np.arange(FRESH_POINTS)
    places = np.flatnonzero(np.isin(windows, _PACK_RUNS))
    return Fresh(int(places[0]), FRESH_POINTS, "points in the order of a pack") if len(places) else None


class Place(NamedTuple):
    """Where a shoe stands: its number in the audit, its file, its name there, and its first line."""

    number: int
    file: str
    shoe: str
    line: int


class Repeat(NamedTuple):
    """A run of cards that came before: its first place from 0, how many cards, and where it was."""

    place: int
    cards: int
    earlier: Place
    earlier_place: int


class Repeats:
    """Remembers runs of k successive cards by a hash of 64 bits, at most `most` of them.

    At first every run is remembered. When there are too many, only those are whose hash is in the lower half of those
    kept so far, and so on: which are kept hangs on the cards alone, so that the same are when a run comes again.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._below = 2**64
        self._kept: dict[int, tuple[Place, int]] = {}

    @property
    def share(self) -> float:
        """The share of all runs that is remembered now."""
        return self._below / 2**64

    def add(self, types: Ints, alphabet: str, k: int, shoe: Place) -> Repeat | None:
        """Remember a shoe's runs, and give the first that came before, in another shoe or apart from itself in this."""
        if len(types) < k:
            return None
        found: Repeat | None = None
        hashes = _hashes(types, alphabet, k)
        places = np.flatnonzero(hashes <= np.uint64(self._below - 1))
        for place, each in zip(places.tolist(), hashes[places].tolist(), strict=True):
            earlier = self._kept.setdefault(each, (shoe, place))
            apart = earlier[0].number != shoe.number or place - earlier[1] >= k
            if found is None and apart:
                found = Repeat(place, k, *earlier)
        while len(self._kept) > self._most:
            self._below //= 2
            self._kept = {each: kept for each, kept in self._kept.items() if each < self._below}
        return found


def _hashes(types: Ints, alphabet: str, k: int) -> Hashes:
    """Hash every run of k: a sum of random words, one for each type at each place of the run, and then mixed."""
    words = _words(alphabet, k)
    codes = types.astype(np.intp)
    windows = np.lib.stride_tricks.sliding_window_view(codes, k)
    mixed = np.zeros(len(windows), dtype=np.uint64)
    for place in range(k):
        mixed += words[place, windows[:, place]]
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


_TABLES: dict[tuple[str, int], Hashes] = {}


def _words(alphabet: str, k: int) -> Hashes:
    """Make 64 words for each place of a run; the same in every process, so that findings are."""
    table = _TABLES.get((alphabet, k))
    if table is None:
        rows = [
            b"".join(blake2b(f"{alphabet} {place} {part}".encode()).digest() for part in range(8)) for place in range(k)
        ]
        table = _TABLES[alphabet, k] = np.frombuffer(b"".join(rows), dtype="<u8").reshape(k, 64).astype(np.uint64)
    return table
