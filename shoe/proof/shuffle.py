"""The shuffle and the random cut (protocol §6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from shoe.game.cards import fresh_shoe
from shoe.game.rules import CutRange, Rules
from shoe.proof.stream import below, words


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The cards of one shuffle in dealing order, and how many lie behind the cut card (None without one)."""

    cards: tuple[int, ...]
    cards_behind_cut: int | None

    @property
    def cut_position(self) -> int | None:
        """The position that the cut card lies in front of."""
        return None if self.cards_behind_cut is None else len(self.cards) - self.cards_behind_cut


def forward_shuffle(source: Iterator[int], decks: int, count: int | None = None) -> tuple[int, ...]:
    """Shuffle a fresh shoe of `decks` decks and give its first `count` cards (all without `count`).

    Forward Fisher–Yates: the first m cards need only m draws, so a lazy dealer and a full shuffle agree.
    Source: protocol §6.
    """
    cards = fresh_shoe(decks)
    size = len(cards)
    wanted = size if count is None else count
    for i in range(min(wanted, size - 1)):
        j = i + below(source, size - i)
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards[:wanted])


def draw_cut(source: Iterator[int], cut: CutRange) -> int:
    """Draw how many cards lie behind the cut card: fixed without a draw, else the first draw after the shuffle's."""
    return cut.lowest if cut.fixed else cut.lowest + below(source, cut.highest - cut.lowest + 1)


def shuffle_hand(shuffle_key: bytes, rules: Rules, hand: int = 0) -> Shuffled:
    """Shuffle the whole shoe number `hand` under a seal's `shuffle_key` (32 bytes), and place the cut card.

    Source: protocol §6.
    """
    source = words(shuffle_key, hand)
    cards = forward_shuffle(source, rules.decks)
    return Shuffled(cards, None if rules.cut is None else draw_cut(source, rules.cut))


def first_cards(shuffle_key: bytes, rules: Rules, hand: int, count: int) -> tuple[int, ...]:
    """Give the first `count` cards of shuffle `hand` by `count` draws only."""
    return forward_shuffle(words(shuffle_key, hand), rules.decks, count)
