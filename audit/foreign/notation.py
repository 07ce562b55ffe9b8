"""How other people write cards, hands and outcomes: with suits, by rank alone, or by points alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from shoe.errors import CardError, InputError, expected
from shoe.game.bets.shown import Pair, pair_of
from shoe.game.cards import DECK, NAMES, POINTS, RANKS, SUITS
from shoe.game.tableau import Outcome

FIRST_RANK: Final = DECK
FIRST_POINT: Final = DECK + len(RANKS)
CODES: Final = FIRST_POINT + 10
"""A logged card's code: 0…51 as in `shoe.game.cards`, then 13 ranks without suit, then points 0…9."""

CODE_POINTS: Final = (*POINTS, *POINTS[: len(RANKS)], *range(10))
"""Points 0…9 of each code."""

CODE_NAMES: Final = (*NAMES, *RANKS, *"0123456789")

_SUIT_SIGNS: Final = {sign: suit for suit, signs in zip(SUITS, ("♣♧", "♦♢", "♥♡", "♠♤"), strict=True) for sign in signs}
_SEPARATORS: Final = re.compile(r"[\s,;/|+.&_-]+")
_SELECTOR: Final = re.compile("[\ufe0e\ufe0f]")
_SUITED: Final = re.compile(r"(10|[A2-9TJQK])([CDHS])")
_HANDS_KEPT: Final = 2**17

OUTCOME_WORDS: Final[dict[str, Outcome]] = {
    **dict.fromkeys(("p", "player", "punto", "punter"), "player"),
    **dict.fromkeys(("b", "banker", "bank", "banco"), "banker"),
    **dict.fromkeys(("t", "tie", "draw", "egalite", "égalité"), "tie"),
}
"""Ways to write an outcome, in any case; ``wins``, ``win`` or ``won`` may follow."""


class Hand(NamedTuple):
    """A side's cards as logged: codes and points as dealt, and the first two cards' pair where suits are known."""

    codes: tuple[int, ...]
    points: tuple[int, ...]
    pair: Pair | None


def hand_of(codes: Iterable[int]) -> Hand:
    """Make a hand of codes."""
    cards = tuple(codes)
    known = len(cards) > 1 and max(cards[:2]) < DECK
    return Hand(cards, tuple(CODE_POINTS[code] for code in cards), pair_of(cards) if known else None)


def parse_cards(text: str) -> tuple[int, ...]:
    """Read cards between blanks, commas, slashes, hyphens and the like; suited ones may stand together (``KdTh``).

    A card is a rank (A 2–9 T J Q K, or 10) with a suit, letter or sign, a rank alone, or points 0–9, where 0 and 1 say
    that points are meant. Raises CardError for the first that is none.
    """
    folded = _SELECTOR.sub("", text).upper()
    for sign, suit in _SUIT_SIGNS.items():
        if sign in folded:
            folded = folded.replace(sign, suit.upper())
    codes: list[int] = []
    for piece in _SEPARATORS.split(folded):
        if piece in _CARDS:
            codes.append(_CARDS[piece])
        elif piece:
            codes += _together(piece)
    return tuple(codes)


def _together(piece: str) -> list[int]:
    cards = _SUITED.findall(piece)
    if not cards or "".join(map("".join, cards)) != piece:
        raise CardError(expected("cards such as Kd, 10D, K♦, K or points 0–9", piece))
    return [_CARDS[rank + suit] for rank, suit in cards]


def _names() -> dict[str, int]:
    names = {name.upper(): code for code, name in enumerate(NAMES)}
    names |= {rank: FIRST_RANK + place for place, rank in enumerate(RANKS)}
    names |= {"0": FIRST_POINT, "1": FIRST_POINT + 1, "10": names["T"]}
    return names | {f"10{suit.upper()}": names[f"T{suit.upper()}"] for suit in SUITS}


_CARDS: Final = _names()
_kept: dict[str, Hand] = {}


def parse_hand(text: str) -> Hand:
    """Read a side's cards, one or more; the last hundred thousand different texts are remembered.

    Raises CardError like `parse_cards`, InputError for no card.
    """
    hand = _kept.get(text)
    if hand is None:
        codes = parse_cards(text)
        if not codes:
            raise InputError(expected("the cards of a hand", text))
        if len(_kept) >= _HANDS_KEPT:
            _kept.clear()
        hand = _kept[text] = hand_of(codes)
    return hand


def parse_outcome(text: str) -> Outcome:
    """Read an outcome, in any of `OUTCOME_WORDS`; raises InputError for another word."""
    word = text.strip().lower()
    known = OUTCOME_WORDS.get(word) or OUTCOME_WORDS.get(word.rpartition(" ")[0] if word.endswith(_WON) else "")
    if known is None:
        raise InputError(expected("P, B or T, player, banker or tie", text))
    return known


_WON: Final = (" wins", " win", " won")


def print_cards(codes: Iterable[int]) -> str:
    """Print cards by their codes, each as exactly as it is known."""
    return " ".join(CODE_NAMES[code] for code in codes)
