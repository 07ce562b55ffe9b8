"""Cards and fresh shoes (protocol §2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from shoe.errors import CardError, RulesError, expected

RANKS: Final = "A23456789TJQK"
SUITS: Final = "cdhs"
DECK: Final = 52
MAX_DECKS: Final = 16

POINTS: Final[tuple[int, ...]] = tuple(min(rank + 1, 10) % 10 for rank in range(13)) * 4
"""Point value 0…9 of each card number 0…51: ace 1, 2–9 their number, T J Q K 0."""

NAMES: Final[tuple[str, ...]] = tuple(rank + suit for suit in SUITS for rank in RANKS)
"""Printed name of each card number 0…51, rank then suit."""

_NUMBERS: Final[dict[str, int]] = {name: number for number, name in enumerate(NAMES)}


def card_name(number: int) -> str:
    """Print a card number 0…51 as rank and suit, such as ``As`` or ``Td``.

    Raises CardError for any other number. Source: protocol §2.
    """
    if not 0 <= number < DECK:
        raise CardError(expected("a card number 0…51", number))
    return NAMES[number]


def parse_card(name: str) -> int:
    """Read a card's printed name; the inverse of `card_name`.

    Raises CardError for anything but a rank of ``A23456789TJQK`` and a suit of ``cdhs``. Source: protocol §2.
    """
    try:
        return _NUMBERS[name]
    except (KeyError, TypeError):
        raise CardError(expected("a card such as 'As' or 'Td'", name)) from None


def card_points(number: int) -> int:
    """Look up the points 0…9 of a card number 0…51.

    Raises CardError for any other number, where `POINTS` would take a negative one for a card. Source:
    protocol §2.
    """
    if not 0 <= number < DECK:
        raise CardError(expected("a card number 0…51", number))
    return POINTS[number]


def fresh_shoe(decks: int) -> list[int]:
    """List the 52·decks card numbers of an unshuffled shoe: 0…51 repeated.

    Raises RulesError unless 1 ≤ decks ≤ 16. Source: protocol §2.
    """
    if not 1 <= decks <= MAX_DECKS:
        raise RulesError(expected(f"1 to {MAX_DECKS} decks", decks, "decks"))
    return list(range(DECK)) * decks


def card_names(numbers: Iterable[int]) -> str:
    """Print several cards with single spaces between."""
    return " ".join(card_name(number) for number in numbers)
