"""Every value of the protocol's ten worked vectors, one by one (`tests/vectors/protocol.json`, sections 2–7).

Two implementations that are not this one, in Python and in JavaScript, agree on the vectors.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from shoe.game.cards import card_name, card_names
from shoe.game.dealing import DealtCoup, Progress, deal_shoe, next_coup
from shoe.proof.merkle import Tree
from shoe.proof.openings import Deck, check_opening, deal_deck
from shoe.proof.seal import Keys, Transcript, derive_keys, parse_transcript, seal_transcript
from shoe.proof.seeds import check_book_entry, commit_seed, commit_server_seed, seed_book, server_seed
from shoe.proof.shuffle import draw_cut, first_cards, forward_shuffle, shuffle_hand
from shoe.proof.stream import keystream, words

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[1] / "vectors" / "protocol.json").read_text())
IDS = [json.loads(vector["transcript"])["shoe"] for vector in VECTORS]


@dataclass
class Counted:
    """A source of words that counts what is taken from it."""

    source: Iterator[int]
    taken: int = 0

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        self.taken += 1
        return next(self.source)


@dataclass
class Worked:
    """One vector worked anew from its master, index, transcript and hand alone."""

    given: dict[str, Any]

    @cached_property
    def transcript(self) -> Transcript:
        return parse_transcript(self.given["transcript"].encode("ascii"))

    @property
    def hand(self) -> int:
        return self.given["hand"]

    @cached_property
    def seed(self) -> bytes:
        return server_seed(bytes.fromhex(self.given["master"]), self.transcript.index)

    @cached_property
    def book(self) -> Tree:
        return seed_book(bytes.fromhex(self.given["master"]), self.transcript.book.size)

    @cached_property
    def keys(self) -> Keys:
        return derive_keys(self.seed, seal_transcript(self.transcript))

    @cached_property
    def deck(self) -> Deck:
        return deal_deck(self.keys, self.transcript.rules, self.hand)

    @cached_property
    def source(self) -> Counted:
        """The words of the shuffle, after all of its draws."""
        source = Counted(words(self.keys.shuffle_key, self.hand))
        forward_shuffle(source, self.transcript.rules.decks)
        return source

    @cached_property
    def coups(self) -> list[DealtCoup]:
        rules = self.transcript.rules
        if rules.shuffle == "coup":
            return [next_coup(Progress(self.hand, 0), self.deck.cards, self.hand)]
        return list(deal_shoe(rules, self.deck.cards, rules.size - self.given["cards_behind_cut"]))


def openings(work: Worked) -> list[dict[str, Any]]:
    return [
        {
            "position": opening.position,
            "card": card_name(opening.card),
            "salt": opening.salt.hex(),
            "path": [step.hex() for step in work.deck.tree.inclusion(opening.position)],
        }
        for opening in work.deck.openings[:6]
    ]


def coups(work: Worked) -> list[list[Any]]:
    rows = [(dealt.start, dealt.coup) for dealt in work.coups]
    return [[start, coup.player_total, coup.banker_total, coup.outcome, coup.rule] for start, coup in rows]


def all_cards(work: Worked) -> str:
    return card_names(shuffle_hand(work.keys.shuffle_key, work.transcript.rules, work.hand).cards)


VALUES: dict[str, Callable[[Worked], Any]] = {
    "book_size": lambda work: work.transcript.book.size,
    "index": lambda work: work.transcript.index,
    "server_seed": lambda work: work.seed.hex(),
    "commitment": lambda work: commit_server_seed(work.seed).hex(),
    "book_root": lambda work: work.book.root.hex(),
    "book_proof": lambda work: [step.hex() for step in work.book.inclusion(work.transcript.index)],
    "seed_commitments": lambda work: [commit_seed(each.seed).hex() for each in work.transcript.client_seeds],
    "transcript": lambda work: work.transcript.to_bytes().decode("ascii"),
    "seal": lambda work: seal_transcript(work.transcript).hex(),
    "shuffle_key": lambda work: work.keys.shuffle_key.hex(),
    "salt_key": lambda work: work.keys.salt_key.hex(),
    "decks": lambda work: work.transcript.rules.decks,
    "keystream_first_32": lambda work: keystream(work.keys.shuffle_key, work.hand, 32).hex(),
    "words_used_by_shuffle": lambda work: work.source.taken,
    "next_word_after_shuffle": lambda work: next(Counted(work.source)),
    "cards": all_cards,
    "leaves_in_deck_root": lambda work: work.deck.tree.size,
    "deck_root": lambda work: work.deck.root.hex(),
    "openings_first_6": openings,
    "cards_behind_cut": lambda work: (
        shuffle_hand(work.keys.shuffle_key, work.transcript.rules, work.hand).cards_behind_cut
    ),
    "coups": coups,
}
INPUTS = {"master", "hand"}


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_every_value_of_a_vector_is_compared(vector: dict[str, Any]) -> None:
    assert set(vector) == set(VALUES) | INPUTS


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_value(vector: dict[str, Any], name: str) -> None:
    assert VALUES[name](Worked(vector)) == vector[name]


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_the_transcript_names_the_book_and_commitment_of_its_master(vector: dict[str, Any]) -> None:
    work = Worked(vector)
    assert work.transcript.book.root == work.book.root
    assert work.transcript.commitment == commit_server_seed(work.seed)


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_the_book_proof_checks(vector: dict[str, Any]) -> None:
    check_book_entry(
        bytes.fromhex(vector["commitment"]),
        vector["index"],
        vector["book_size"],
        tuple(map(bytes.fromhex, vector["book_proof"])),
        bytes.fromhex(vector["book_root"]),
    )


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_the_openings_check_against_the_deck_root(vector: dict[str, Any]) -> None:
    work, root = Worked(vector), bytes.fromhex(vector["deck_root"])
    for opening, given in zip(work.deck.openings[:6], vector["openings_first_6"], strict=True):
        path = tuple(map(bytes.fromhex, given["path"]))
        assert check_opening(opening, work.hand, path, work.transcript.rules, root) is opening


@pytest.mark.parametrize("vector", VECTORS, ids=IDS)
def test_dealing_lazily_gives_the_first_cards_of_the_full_shuffle(vector: dict[str, Any]) -> None:
    work, cards = Worked(vector), vector["cards"].split()
    for count in (1, 4, 5, 6, 17, len(cards) - 2, len(cards) - 1, len(cards)):
        lazily = first_cards(work.keys.shuffle_key, work.transcript.rules, work.hand, count)
        assert [card_name(card) for card in lazily] == cards[:count]


def test_the_vectors_hold_a_rejected_word_and_a_drawn_cut() -> None:
    """So that a shuffle without rejection, or a cut drawn before it, would not pass."""
    rejecting = [vector for vector in VECTORS if vector["words_used_by_shuffle"] == 52 * vector["decks"]]
    assert len(rejecting) == 2
    ranges = [(work, cut) for work in map(Worked, VECTORS) if (cut := work.transcript.rules.cut) and not cut.fixed]
    assert [draw_cut(work.source, cut) for work, cut in ranges] == [12, 27]
