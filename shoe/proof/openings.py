"""Openings: a deck committed to card by card, and one card shown against it (protocol §7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final

from shoe.game.rules import Rules
from shoe.proof.forms import CARD, SALT, integer
from shoe.proof.merkle import Tree, check_inclusion, leaf_hash
from shoe.proof.notation import u8, u32, u64
from shoe.proof.seal import Keys
from shoe.proof.shuffle import first_cards, shuffle_hand
from shoe.proof.stream import keystream

SALT_BYTES: Final = 16
MAX_POSITION: Final = 52 * 16 - 1


@dataclass(frozen=True, slots=True)
class Opening:
    """One card shown: its position in the shoe, its number 0…51 and the salt (16 bytes) that hid it."""

    position: Annotated[int, integer(0, MAX_POSITION)]
    card: Annotated[int, CARD]
    salt: Annotated[bytes, SALT]

    def leaf(self, hand: int) -> bytes:
        """The leaf that commits to this card in shuffle `hand`. Source: protocol §7."""
        return u64(hand) + u32(self.position) + u8(self.card) + self.salt


@dataclass(frozen=True, slots=True)
class Deck:
    """One shuffle as its dealer holds it: every opening, the tree over them, where the cut card lies.

    Secret until each card is dealt; not shown by repr.
    """

    hand: int
    openings: tuple[Opening, ...] = field(repr=False)
    tree: Tree = field(repr=False)
    cut_position: int | None = field(repr=False)

    @property
    def root(self) -> bytes:
        """The deck root (32 bytes)."""
        return self.tree.root

    @property
    def cards(self) -> tuple[int, ...]:
        """The committed cards in dealing order."""
        return tuple(opening.card for opening in self.openings)


def salts(salt_key: bytes, hand: int, count: int) -> list[bytes]:
    """Derive the salts (16 bytes each) of positions 0…count−1 of shuffle `hand`. Source: protocol §7."""
    stream = keystream(salt_key, hand, SALT_BYTES * count)
    return [stream[at : at + SALT_BYTES] for at in range(0, len(stream), SALT_BYTES)]


def commit_deck(cards: Sequence[int], salt_key: bytes, hand: int, cut_position: int | None) -> Deck:
    """Commit to `cards` (numbers in dealing order) as shuffle `hand`. Source: protocol §7."""
    openings = tuple(
        Opening(position, card, salt)
        for position, (card, salt) in enumerate(zip(cards, salts(salt_key, hand, len(cards)), strict=True))
    )
    return Deck(hand, openings, Tree.of([opening.leaf(hand) for opening in openings]), cut_position)


def deal_deck(keys: Keys, rules: Rules, hand: int = 0) -> Deck:
    """Shuffle and commit to what a table plays as shuffle `hand`: the whole shoe, or one coup's six cards.

    Source: protocol §6, §7.
    """
    if rules.shuffle == "coup":
        cards = first_cards(keys.shuffle_key, rules, hand, rules.leaves)
        return commit_deck(cards, keys.salt_key, hand, None)
    shuffled = shuffle_hand(keys.shuffle_key, rules, hand)
    return commit_deck(shuffled.cards, keys.salt_key, hand, shuffled.cut_position)


def check_opening(opening: Opening, hand: int, path: Sequence[bytes], rules: Rules, deck_root: bytes) -> Opening:
    """Give back an opening that `deck_root` commits to; raises ProofError otherwise. Source: protocol §7."""
    check_inclusion(leaf_hash(opening.leaf(hand)), opening.position, rules.leaves, path, deck_root)
    return opening
