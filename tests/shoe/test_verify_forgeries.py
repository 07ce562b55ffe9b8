"""Forgeries, each with a name and the check that must catch it.

Where that helps the cheat the operator numbers, chains, logs and signs the forged records anew (`Operator.publish`),
so that only the check named stands between the forgery and a verdict.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from shoe.errors import FairshoeError
from shoe.game.cards import parse_card
from shoe.game.tableau import play_coup
from shoe.proof.bundle import print_bundle
from shoe.proof.checkpoint import cosign
from shoe.proof.merkle import Tree
from shoe.proof.note import COSIGNATURE, SignerKey
from shoe.proof.openings import commit_deck
from shoe.proof.records import (
    Bets,
    Book,
    CommittedEntropy,
    Coup,
    Lock,
    Open,
    OpenEntropy,
    Reveal,
    Seal,
    Seed,
    Void,
    parse_as,
)
from shoe.proof.seal import BeaconPin, BookRef, ClientSeed, derive_keys, seal_transcript
from shoe.proof.seeds import commit_seed, server_seed
from shoe.proof.verify import CHECKS, HeldCheckpoint, verify_bundle
from shoe.proof.verify.result import Missing
from tests.operator import ROUND_657413, Operator, Story, rules, secret

COUP_TABLE = rules(shuffle="coup", cut=None, coups=5)
BURN_TABLE = rules(burn="first_card", cut={"from": 11, "to": 11}, last_coup="one_more", decks=2)
BEACON_TABLE = rules(entropy="beacon")


@dataclass(frozen=True)
class Forgery:
    """How the shoe was played, and how it is forged: before it is logged, or in the bundle's JSON."""

    name: str
    caught_by: str
    place: str
    how: dict[str, Any]
    edit: Any = None
    bundle: Any = None
    after: Any = None
    player: int | None = None


FORGERIES: list[Forgery] = []


def forgery(caught_by: str, place: str, *, on: str = "story", player: int | None = None, **how: Any) -> Any:
    """Register a forger: on the story before it is logged, on the bundle's JSON, or on the operator afterwards."""

    def register(forge: Any) -> Any:
        slots = {"story": "edit", "bundle": "bundle", "after": "after"}
        name = forge.__name__
        FORGERIES.append(Forgery(name, caught_by, place, how, player=player, **{slots[on]: forge}))
        return forge

    return register


def reseal(operator: Operator, story: Story) -> None:
    """Make the seal fit the records again, and keep the deck that was dealt."""
    at = story.find(Seal)
    transcript = operator.transcript(story)
    story.records[at] = replace(story.records[at], transcript=transcript, seal=seal_transcript(transcript))


def redeal(operator: Operator, story: Story, cards: list[int]) -> None:
    """Commit to other cards than the shuffle's, and deal the coups from them as an honest dealer would."""
    table = story.records[0].rules
    deck = commit_deck(cards, secret("the cheat's salts"), 0, story.decks[0].cut_position)
    story.decks = {0: deck}
    story.records = story.records[: story.find(Seal) + 1]
    story.change(Seal, deck_root=deck.root, burn=deck.openings[0] if table.burn == "first_card" else None)
    operator._deal(story, table, None, {})
    story.records.append(operator._end(story, None))


# --- cards ------------------------------------------------------------------------------------------------------


@forgery("openings", "coup 0 card 0")
def two_cards_swapped_between_the_sides(operator, story):
    first = story.records[story.find(Coup)].cards
    swapped = (replace(first[0], card=first[1].card), replace(first[1], card=first[0].card), *first[2:])
    story.change(Coup, cards=swapped)


@forgery("shuffle", "coup 0 card 0")
def a_deck_that_is_not_the_shuffle(operator, story):
    redeal(operator, story, list(reversed(story.decks[0].cards)))


@forgery("deck_root", "deck root of shuffle 0")
def two_late_cards_of_the_deck_exchanged(operator, story):
    cards = list(story.decks[0].cards)
    cards[-1], cards[-2] = cards[-2], cards[-1]
    redeal(operator, story, cards)


@forgery("shuffle", "coup 0 card 0")
def other_salts_than_the_seeds_give(operator, story):
    redeal(operator, story, list(story.decks[0].cards))


@forgery("composition", "at most 1 times")
def an_infinite_deck(operator, story):
    redeal(operator, story, [parse_card("7h")] * 52)


@forgery("openings", "coup")
def a_wrong_third_card_that_keeps_the_winner(operator, story):
    at = next(i for i, r in enumerate(story.records) if isinstance(r, Coup) and len(r.cards) > 4)
    cards = story.records[at].cards
    other = (cards[-1].card + 13) % 52  # the same rank in another suit: every total and rule stays true
    story.records[at] = replace(story.records[at], cards=(*cards[:-1], replace(cards[-1], card=other)))


@forgery("positions", "coup 1 card 0")
def a_card_opened_twice(operator, story):
    last = story.records[story.find(Coup, 0)].cards[-1]
    cards = story.records[story.find(Coup, 1)].cards
    story.change(Coup, 1, cards=(last, *cards[1:]))


@forgery("positions", "coup 1 card 0")
def a_card_skipped(operator, story):
    table, deck = story.records[0].rules, story.decks[0]
    at = story.find(Coup, 1)
    start = story.records[at].cards[0].position + 1
    story.records[at] = replace(story.records[at], cards=deck.openings[start : start + 4])
    assert table.shuffle == "shoe"


@forgery("positions", "coup 2")
def a_coup_dropped_and_the_rest_renumbered(operator, story):
    del story.records[story.find(Coup, 2)]
    for number, at in enumerate(i for i, r in enumerate(story.records) if isinstance(r, Coup)):
        story.records[at] = replace(story.records[at], number=number)
    story.change(Reveal, coups=story.records[-1].coups - 1)


@forgery("positions", "coup 2")
def a_coup_dropped_without_renumbering(operator, story):
    del story.records[story.find(Coup, 2)]


@forgery("positions", "coup 1")
def two_coups_exchanged(operator, story):
    first, second = story.find(Coup, 1), story.find(Coup, 2)
    story.records[first], story.records[second] = story.records[second], story.records[first]


@forgery("positions", "coup 1", table=COUP_TABLE)
def the_first_shuffle_used_for_two_coups(operator, story):
    story.change(Coup, 1, hand=0, cards=story.decks[0].openings[: len(story.records[story.find(Coup)].cards)])


@forgery("positions", "seal.burn", table=BURN_TABLE)
def another_card_shown_as_burned(operator, story):
    story.change(Seal, burn=story.decks[0].openings[1])


@forgery("openings", "seal.burn", table=BURN_TABLE)
def the_burned_card_not_shown(operator, story):
    story.change(Seal, burn=None)


@forgery("openings", "seal.burn")
def a_burned_card_where_nothing_is_burned(operator, story):
    story.change(Seal, burn=story.decks[0].openings[0])


@forgery("positions", "coup 0 card 0", table=BURN_TABLE)
def fewer_cards_burned_than_the_first_says(operator, story):
    deck, at = story.decks[0], story.find(Coup)
    start = story.records[at].cards[0].position - 1
    story.records[at] = replace(story.records[at], cards=deck.openings[start : start + 4])


@forgery("openings", "coup 1 card 0", table=COUP_TABLE)
def the_next_deck_root_replaced(operator, story):
    story.change(Coup, 0, next_deck_root=secret("another deck"))


@forgery("deck_root", "coup 1.next_deck_root", table=COUP_TABLE)
def the_next_deck_root_held_back(operator, story):
    story.change(Coup, 1, next_deck_root=None)


@forgery("deck_root", "coup 0.next_deck_root")
def a_next_deck_root_in_a_shoe_shuffled_once(operator, story):
    story.change(Coup, 0, next_deck_root=secret("a spare deck"))


# --- what the coups make ----------------------------------------------------------------------------------------


@forgery("outcome", "coup 0.outcome")
def a_winner_that_lost(operator, story):
    coup = story.records[story.find(Coup)]
    story.change(Coup, outcome="banker" if coup.outcome != "banker" else "player")


@forgery("outcome", "coup 0")
def totals_that_are_not_the_cards(operator, story):
    coup = story.records[story.find(Coup)]
    story.change(Coup, player_total=(coup.player_total + 1) % 10)


@forgery("tableau", "coup 0.rule")
def another_rule_class(operator, story):
    coup = story.records[story.find(Coup)]
    story.change(Coup, rule="both_natural" if coup.rule != "both_natural" else "stood_stands")


@forgery("tableau", "coup")
def a_third_card_too_many(operator, story):
    at = next(i for i, r in enumerate(story.records) if isinstance(r, Coup) and len(r.cards) == 4)
    next_card = story.decks[0].openings[story.records[at].cards[-1].position + 1]
    story.records[at] = replace(story.records[at], cards=(*story.records[at].cards, next_card))


@forgery("tableau", "coup")
def a_third_card_not_drawn(operator, story):
    at = next(i for i, r in enumerate(story.records) if isinstance(r, Coup) and len(r.cards) > 4)
    story.records[at] = replace(story.records[at], cards=story.records[at].cards[:-1])


@forgery("cut_card", "reveal")
def a_reveal_before_the_cut(operator, story):
    del story.records[story.find(Coup, 6) : -1]
    story.change(Reveal, coups=6)


@forgery("cut_card", "reveal", table=COUP_TABLE)
def a_reveal_before_the_last_coup_under_the_seal(operator, story):
    del story.records[story.find(Coup, 3) : -1]
    story.change(Reveal, coups=3)


@forgery("cut_card", "dealt after the end", table=rules(cut={"from": 20, "to": 20}))
def a_coup_after_the_end(operator, story):
    longer = Operator().play_shoe(rules(cut={"from": 8, "to": 8}))
    extra = [r for r in longer.records if isinstance(r, Coup)]
    dealt = [r for r in story.records if isinstance(r, Coup)]
    deck = story.decks[0]
    start = dealt[-1].cards[-1].position + 1
    following = next_coup_of(deck, start, len(dealt))
    story.records.insert(-1, replace(extra[0], **following))
    story.change(Reveal, coups=len(dealt) + 1)


def next_coup_of(deck: Any, start: int, number: int) -> dict[str, Any]:
    """The fields of a further coup dealt honestly from `start`."""
    played = play_coup(deck.cards[start : start + 6])
    return {
        "number": number, "hand": 0, "cards": deck.openings[start : start + len(played.cards)], "rule": played.rule,
        "player_total": played.player_total, "banker_total": played.banker_total, "outcome": played.outcome,
    }  # fmt: skip


@forgery("positions", "reveal.coups")
def a_reveal_that_counts_fewer_coups(operator, story):
    story.change(Reveal, coups=story.records[-1].coups - 1)


# --- seeds ------------------------------------------------------------------------------------------------------


@forgery("commitment", "server_seed")
def a_later_seed(operator, story):
    other = server_seed(operator.master, 1)
    seal = story.records[story.find(Seal)].seal
    story.server_seed = other
    operator.use_keys(story, story.records[0].rules, other, seal)
    story.change(Seal, deck_root=story.decks[0].root)
    story.records = story.records[: story.find(Seal) + 1]
    operator._deal(story, story.records[0].rules, None, {})
    story.records.append(operator._end(story, None))


@forgery("index", "index 1 after 0", shoes=1, index=2)
def an_index_skipped(operator, story):
    """Played from index 2 of the book after index 0."""


@forgery("index", "index 1 after 0", shoes=1, index=0)
def an_index_used_twice(operator, story):
    """Played from index 0 again."""


@forgery("index", "index 0 at a table's first shoe", index=1)
def a_first_shoe_that_does_not_begin_the_book(operator, story):
    """Played from index 1 of the book."""


@forgery("index", "records[0].index", shoes=1, index=1)
def a_new_book_begun_in_its_middle(operator, story):
    operator.new_book()
    story.change(Open, book=BookRef(parse_book(operator).root, operator.book_size))


def parse_book(operator: Operator) -> Book:
    return parse_as(Book, operator.book.record)


@forgery("index", "reveal.index")
def a_reveal_of_another_index(operator, story):
    story.change(Reveal, index=1)


@forgery("book", "reveal.book")
def a_reveal_of_another_book(operator, story):
    story.change(Reveal, book=BookRef(secret("another book"), 4))


@forgery("book", "book_record")
def a_book_that_was_never_logged(operator, story):
    story.change(Open, book=BookRef(secret("an unlogged book"), 4))


@forgery("book", "book_proof")
def a_commitment_outside_the_book(operator, story):
    story.change(Open, commitment=secret("a commitment made afterwards"))


@forgery("index", "previous_shoe", shoes=1)
def two_shoes_of_a_table_at_once(operator, story):
    last = story.previous.index
    story.previous = operator.placed(last - 1)  # the other shoe's last coup: it had not ended


@forgery("record_chain", "previous_shoe")
def the_shoe_before_kept_quiet(operator, story):
    other = Operator(name="other")
    other.publish(other.play_shoe(rules()))
    story.previous = None
    operator.hidden = other.last


@forgery("commitment", "server_seed")
def a_reveal_of_a_seed_never_committed_to(operator, story):
    story.change(Reveal, server_seed=secret("any seed"))


# --- entropy ----------------------------------------------------------------------------------------------------


@forgery("receipts", "another record", on="after", player=1)
def a_contribution_removed(operator, story):
    del story.records[story.find(CommittedEntropy, 1)]
    del story.records[story.find(Seed, 1)]
    story.change(Lock, count=1)
    reseal_and_deal(operator, story)


@forgery("receipts", "another record", on="after", player=0)
def a_contribution_added_after_the_lock_was_shown(operator, story):
    at, seed = story.find(Lock), "f" * 32
    extra = {**operator._next(), "position": 2, "client": "guest-2"}
    story.records.insert(at, CommittedEntropy(**extra, seed_commitment=commit_seed(seed)))
    story.records.insert(story.find(Seal), Seed(**operator._next(), position=2, seed=seed))
    story.change(Lock, count=3)
    for index, record in enumerate(story.records):
        story.records[index] = replace(record, time=operator.in_s(0))
    reseal_and_deal(operator, story)


def reseal_and_deal(operator: Operator, story: Story) -> None:
    """Play the shoe anew, honestly, from the contributions that the forged list has."""
    shoe = story.records[0].rules
    story.records = story.records[: story.find(Seal)]
    operator._seal(story, shoe)
    operator._deal(story, shoe, None, {})
    story.records.append(operator._end(story, None))


@forgery("order", "entropy can't come after lock")
def a_contribution_added_after_the_lock(operator, story):
    extra = {**operator._next(), "position": 2, "client": "guest-2", "seed_commitment": commit_seed("f" * 32)}
    story.records.insert(story.find(Lock) + 1, CommittedEntropy(**extra))


@forgery("lock", "count")
def a_lock_that_counts_one_more(operator, story):
    story.change(Lock, count=3)


@forgery("entropy", "does not open")
def a_seed_that_does_not_open_its_commitment(operator, story):
    story.change(Seed, seed="0" * 32)
    reseal_and_deal(operator, story)


@forgery("entropy", "opened twice")
def a_seed_opened_twice(operator, story):
    story.records.insert(story.find(Seal), story.records[story.find(Seed)])


@forgery("entropy", "nobody committed")
def a_seed_of_nobody(operator, story):
    story.records.insert(story.find(Seal), replace(story.records[story.find(Seed)], position=5))


@forgery("entropy", "without the seed of position 1")
def sealed_without_a_committed_seed(operator, story):
    del story.records[story.find(Seed, 1)]


@forgery("entropy", "client_seeds")
def a_seed_left_out_of_the_transcript(operator, story):
    transcript = story.records[story.find(Seal)].transcript
    reseal_with(story, client_seeds=transcript.client_seeds[:1])


@forgery("entropy", "client_seeds")
def seeds_exchanged_in_the_transcript(operator, story):
    transcript = story.records[story.find(Seal)].transcript
    reseal_with(story, client_seeds=transcript.client_seeds[::-1])


@forgery("entropy", "client_seeds", table=rules(entropy="house"))
def a_house_seed_in_a_shoe_without_players(operator, story):
    reseal_with(story, client_seeds=(ClientSeed("guest-0", "0" * 32),))


def reseal_with(story: Story, **changes: Any) -> None:
    """Seal a changed transcript, with its true hash."""
    seal = story.records[story.find(Seal)]
    transcript = replace(seal.transcript, **changes)
    story.change(Seal, transcript=transcript, seal=seal_transcript(transcript))


@forgery("entropy", "contributes twice")
def one_client_with_two_seeds(operator, story):
    story.change(CommittedEntropy, 1, client="guest-0")


@forgery("entropy", "position 1")
def positions_with_a_gap(operator, story):
    story.change(CommittedEntropy, 1, position=2)


@forgery("entropy", "mode house", table=rules(entropy="house"))
def entropy_where_the_house_is_alone(operator, story):
    extra = {**operator._next(), "position": 0, "client": "guest-0", "seed_commitment": commit_seed("f" * 32)}
    story.records.insert(1, CommittedEntropy(**extra))


@forgery("entropy", "mode two_phase")
def an_open_seed_where_it_must_be_committed_to(operator, story):
    at = story.find(CommittedEntropy)
    old = story.records[at]
    common = {"log": old.log, "time": old.time, "shoe": old.shoe, "seq": 0, "previous": old.previous}
    story.records[at] = OpenEntropy(**common, position=0, client=old.client, seed="0" * 32)


# --- beacon -----------------------------------------------------------------------------------------------------


@forgery("beacon", "round", table=BEACON_TABLE)
def another_round_mixed_in(operator, story):
    story.change(Open, beacon=BeaconPin(ROUND_657413.chain, ROUND_657413.round + 1))


@forgery("beacon", "beacon.chain", table=BEACON_TABLE)
def another_chain(operator, story):
    story.change(Open, beacon=BeaconPin(secret("my own chain"), ROUND_657413.round))


@forgery("beacon", "null", table=BEACON_TABLE)
def the_round_left_out(operator, story):
    reseal_with(story, beacon=None)


@forgery("beacon", "randomness", table=BEACON_TABLE)
def a_randomness_that_is_not_the_signatures(operator, story):
    reseal_with(story, beacon=replace(ROUND_657413, randomness=secret("chosen")))


@forgery("beacon", "compressed", table=BEACON_TABLE)
def a_point_in_another_form(operator, story):
    signature = bytes([ROUND_657413.signature[0] & 0x7F]) + ROUND_657413.signature[1:]
    reseal_with(story, beacon=replace(ROUND_657413, signature=signature))


@forgery("beacon", "lock_by", table=BEACON_TABLE)
def a_lock_allowed_after_the_round_is_due(operator, story):
    opened = story.records[0]
    story.change(Open, lock_by=opened.seal_by)


@forgery("beacon", "mode beacon only")
def a_round_where_the_mode_has_none(operator, story):
    story.change(Open, beacon=ROUND_657413.pin)


@forgery("beacon", "expected null")
def a_round_mixed_in_where_none_was_named(operator, story):
    reseal_with(story, beacon=ROUND_657413)


# --- seal -------------------------------------------------------------------------------------------------------


@forgery("seal", "transcript.table")
def a_transcript_of_another_table(operator, story):
    reseal_with(story, table="table-2")


@forgery("seal", "transcript.rules")
def a_transcript_of_other_rules(operator, story):
    reseal_with(story, rules=rules(cut={"from": 8, "to": 8}))


@forgery("seal", "transcript.commitment")
def a_transcript_of_another_commitment(operator, story):
    reseal_with(story, commitment=secret("another"))


@forgery("seal", "not the hash")
def a_seal_that_is_not_the_transcripts(operator, story):
    story.change(Seal, seal=secret("a seal"))


@forgery("record_bytes", "transcript", on="bundle")
def a_transcript_with_one_more_key(value):
    edit_record(value, '"type":"seal"', '"transcript":{', '"transcript":{"aside":1,')


# --- time -------------------------------------------------------------------------------------------------------


@forgery("deadlines", "lock.time")
def a_late_lock(operator, story):
    story.change(Open, lock_by=story.records[0].time)


@forgery("deadlines", "seal.time")
def a_late_seal(operator, story):
    lock = story.records[story.find(Lock)].time
    story.change(Open, lock_by=lock, seal_by=lock)


@forgery("deadlines", "reveal.time", late_s=100_000)
def a_late_reveal(operator, story):
    """Revealed after `reveal_by`."""


@forgery("deadlines", "lock_by ≤ seal_by")
def deadlines_out_of_order(operator, story):
    opened = story.records[0]
    story.change(Open, lock_by=opened.reveal_by, reveal_by=opened.lock_by)


@forgery("record_chain", "time")
def a_record_dated_back(operator, story):
    story.change(Coup, 3, time=story.records[0].time)


@forgery("deadlines", "seed_missing is not true", until="seeds", void="seed_missing", late_s=1000)
def a_seed_called_missing_that_was_there(operator, story):
    """Void although every seed was open."""


@forgery("deadlines", "deadline is not true", coups=3, void="deadline")
def a_deadline_called_past_that_was_not(operator, story):
    """Void long before `reveal_by`."""


@forgery("deadlines", "beacon_missing is not true", coups=3, void="beacon_missing")
def a_beacon_called_missing_where_none_is_needed(operator, story):
    """Void in mode two_phase."""


@forgery("deadlines", "in_row", coups=3, void="operator", voids=1)
def voids_in_a_row_counted_too_low(operator, story):
    story.change(Void, in_row=1)


@forgery("deadlines", "in_row", coups=3, void="operator")
def voids_in_a_row_counted_too_high(operator, story):
    story.change(Void, in_row=2)


# --- bets -------------------------------------------------------------------------------------------------------


@forgery("bets", "bets of coup 1", bets={0: 2})
def bets_closed_for_another_coup(operator, story):
    story.change(Bets, number=1)


@forgery("order", "void can't come after bets", coups=2, bets={0: 2})
def a_void_after_bets_were_accepted(operator, story):
    bets = story.records[story.find(Bets)]
    del story.records[story.find(Bets) :]
    story.records += [bets, operator._end(story, "operator")]


@forgery("bets", "bets[0]", bets={0: 3}, holder="guest-0")
def a_bet_line_that_was_never_accepted(operator, story):
    story.change(Bets, bets_root=Tree.of(story.lines[0][1:]).root, count=2)


@forgery("bets", "bets[1]", on="bundle", bets={0: 4}, holder="guest-0")
def a_bet_line_shown_twice(value):
    value["bets"].insert(1, value["bets"][0])


@forgery("bets", "guest-1", on="bundle", bets={0: 4}, holder="guest-0")
def a_bet_line_of_another_holder(value):
    value["bets"][1]["line"] = value["bets"][1]["line"].replace("guest-0", "guest-1")


@forgery("bets", "no bets were closed", on="bundle", bets={0: 4}, holder="guest-0")
def a_bet_line_for_a_coup_without_bets(value):
    value["bets"][0]["line"] = value["bets"][0]["line"].replace('"number":0', '"number":3')


# --- the log ----------------------------------------------------------------------------------------------------


@forgery("inclusion", "inclusion", on="after")
def a_shorter_log(operator, story):
    operator.forged_size = story.indices[-1]


@forgery("record_chain", "fairshoe.example/log")
def a_record_of_another_log(operator, story):
    story.change(Coup, 2, log="elsewhere.example/log")


@forgery("checkpoint", "elsewhere.example/log", on="after")
def a_whole_shoe_of_another_log(operator, story):
    other = Operator(name="other", origin="elsewhere.example/log")
    operator.instead = other, other.publish(other.play_shoe(rules()))


@forgery("checkpoint", "signature", on="after")
def a_checkpoint_of_another_key(operator, story):
    operator.signer = SignerKey.from_seed(operator.origin, secret("a key of the cheat's own"))


@forgery("format", "vkey", on="bundle")
def the_key_inside_the_bundle(value):
    value["vkey"] = "fairshoe.example/log+00000000+AAAA"


@forgery("inclusion", "inclusion[2]", on="bundle")
def a_proof_for_another_size(value):
    value["inclusion"][2] = value["inclusion"][2][:-1]


@forgery("inclusion", "inclusion[2]", on="bundle")
def a_record_never_logged(value):
    value["records"][2] = value["records"][2].replace("guest-1", "guest-9")


@forgery("inclusion", "inclusion[1]", on="bundle")
def two_log_indices_exchanged(value):
    indices = value["log_indices"]
    indices[1], indices[2] = indices[2], indices[1]


@forgery("consistency", "earlier", on="bundle", earlier=3)
def an_earlier_checkpoint_with_another_path(value):
    value["earlier"]["path"] = value["earlier"]["path"][::-1]


@forgery("inclusion", "book_record", on="bundle")
def a_book_record_of_another_place(value):
    value["book_record"]["index"] += 1


# --- bytes ------------------------------------------------------------------------------------------------------


def edit_record(value: Any, which: str, old: str, new: str) -> None:
    """Change the first record that holds `which`, as text; it must hold `old`."""
    at = next(i for i, record in enumerate(value["records"]) if which in record)
    assert old in value["records"][at]
    value["records"][at] = value["records"][at].replace(old, new, 1)


BYTES = {
    "a_space_after_a_colon": ('"seq":1', '"seq": 1'),
    "keys_out_of_order": ('"seq":1,"shoe":"shoe-1"', '"shoe":"shoe-1","seq":1'),
    "a_duplicate_key": ('"seq":1', '"seq":1,"seq":1'),
    "a_delete_character": ("guest-0", "guest-0\x7f"),
    "a_line_separator_u2028": ("guest-0", "guest-0\u2028"),
    "an_underscore_in_a_number": ('"position":0', '"position":0_0'),
    "a_number_1_000": ('"seq":1', '"seq":1_000'),
    "a_float": ('"seq":1', '"seq":1.0'),
    "an_exponent": ('"seq":1', '"seq":1e0'),
    "a_leading_zero": ('"seq":1', '"seq":01'),
    "a_plus_sign": ('"seq":1', '"seq":+1'),
    "a_minus_zero": ('"position":0', '"position":-0'),
    "two_to_the_53": ('"seq":1', '"seq":9007199254740992'),
    "an_arabic_digit": ('"seq":1', '"seq":١'),
    "an_escaped_letter": ("guest-0", "\\u0067uest-0"),
    "an_escaped_slash": ("fairshoe.example/log", "fairshoe.example\\/log"),
    "an_unknown_type": ('"type":"entropy"', '"type":"wish"'),
    "another_protocol": ('"fairshoe/1"', '"fairshoe/2"'),
    "a_final_newline": ('"type":"entropy"}', '"type":"entropy"}\n'),
    "a_byte_order_mark": ('{"client"', '\ufeff{"client"'),
    "a_true_for_a_one": ('"seq":1', '"seq":true'),
    "a_further_key": ('"seq":1', '"seq":1,"stake":5'),
    "a_missing_key": ('"seq":1,', ""),
    "a_lone_surrogate": ("guest-0", "guest-0\ud800"),
    "nothing_but_white_space": ('{"client"', '  {"client"'),
}  # fmt: skip


@pytest.mark.parametrize("name", BYTES)
def test_a_record_in_other_bytes_is_refused_even_if_it_was_logged_so(name):
    operator = Operator()
    story = operator.publish(operator.play_shoe(rules()))
    at = story.find(CommittedEntropy)
    old, new = BYTES[name]
    text = story.data[at].decode()
    assert old in text
    story.data[at] = text.replace(old, new, 1).encode("utf-8", "surrogatepass")
    operator.leaves[story.indices[at]] = story.data[at]
    answer = verify_bundle(operator.bundle(story), operator.evidence(story))
    assert answer.verdict == "invalid"
    assert answer.check("record_bytes").status == "INVALID"
    assert f"records[{at}]" in answer.check("record_bytes").detail
    assert answer.check("inclusion").status == "VALID", "the cheat has logged these very bytes"


# --- the test ---------------------------------------------------------------------------------------------------


def play(operator: Operator, how: dict[str, Any]) -> Story:
    how = dict(how)
    how.pop("earlier", None), how.pop("holder", None)
    for _ in range(how.pop("shoes", 0)):
        operator.publish(operator.play_shoe(rules()))
    for _ in range(how.pop("voids", 0)):
        operator.publish(operator.play_shoe(rules(), void="operator", until="open"))
    return operator.play_shoe(how.pop("table", rules()), **how)


@pytest.mark.parametrize("forged", FORGERIES, ids=lambda each: each.name)
def test_a_forgery_is_caught(forged):
    operator = Operator()
    story = play(operator, forged.how)
    evidence: dict[str, Any] = {}
    if forged.player is not None:
        # what the player was shown before the operator rewrote the shoe in another log of the same name
        shown = Operator()
        honest = shown.publish(play(shown, forged.how))
        evidence["receipts"] = shown.evidence(honest, forged.player).receipts
    if forged.after is not None and forged.player is not None:
        forged.after(operator, story)
    if forged.edit is not None:
        forged.edit(operator, story)
    vkey = operator.vkey
    operator.publish(story)
    if forged.after is not None and forged.player is None:
        forged.after(operator, story)
    signer, story = getattr(operator, "instead", (operator, story))
    bundle = signer.bundle(story, earlier=forged.how.get("earlier"), holder=forged.how.get("holder"))
    if hasattr(operator, "forged_size"):
        bundle = replace(bundle, checkpoint=operator.checkpoint(operator.forged_size))
    if hasattr(operator, "hidden"):
        bundle = replace(bundle, previous_shoe=operator.hidden)
    value = json.loads(print_bundle(bundle))
    if forged.bundle is not None:
        forged.bundle(value)
    answer = verify_bundle(value, operator.evidence(story, vkeys=(vkey,), **evidence))
    wrong = {check.name: check.detail for check in answer.checks if check.status == "INVALID"}
    assert answer.verdict == "invalid"
    assert answer.fairness is None
    assert forged.caught_by in wrong, wrong
    assert forged.place in wrong[forged.caught_by]


def test_two_heads_of_one_size_prove_fraud():
    honest, forked = Operator(), Operator()
    honest.publish(honest.play_shoe(rules()))
    story = forked.publish(forked.play_shoe(rules(), players=3))
    bundle = forked.bundle(story, earlier=len(honest.leaves))
    answer = verify_bundle(bundle, forked.evidence(story, held=HeldCheckpoint(honest.checkpoint())))
    assert answer.verdict == "invalid"
    assert "proves fraud" in answer.check("consistency").detail


def test_a_false_cosignature_of_a_named_witness_is_caught():
    operator = Operator()
    story = operator.publish(operator.play_shoe(rules()))
    witness = SignerKey.from_seed("witness.example/w", secret("a witness"), COSIGNATURE)
    bundle = operator.bundle(story)
    other = cosign(operator.checkpoint(3), witness, 1_700_000_000).splitlines()[-1]
    bundle = replace(bundle, checkpoint=bundle.checkpoint + other + "\n")
    answer = verify_bundle(bundle, operator.evidence(story, witnesses=(witness.vkey,)))
    assert (answer.verdict, answer.check("witnesses").status) == ("invalid", "INVALID")
    passed_over = verify_bundle(bundle, operator.evidence(story))
    assert passed_over.verdict == "verified", "keys that nobody named are passed over (protocol §9)"


def test_a_receipt_of_a_record_that_the_bundle_leaves_out():
    operator = Operator()
    story = operator.publish(operator.play_shoe(rules()))
    last = operator.receipt(story.indices[-1])
    cut = len(story.data) - 3
    story.records, story.data, story.indices = story.records[:cut], story.data[:cut], story.indices[:cut]
    answer = verify_bundle(operator.bundle(story), operator.evidence(story, receipts=(last,)))
    assert (answer.verdict, answer.check("receipts").status) == ("invalid", "INVALID")
    assert "left out" in answer.check("receipts").detail


def test_every_check_has_a_forgery_that_it_must_catch():
    elsewhere = {"witnesses", "record_bytes"}  # in tests of their own above
    assert {forged.caught_by for forged in FORGERIES} | elsewhere == {"format", *CHECKS}


@pytest.mark.parametrize("name", sorted({f.caught_by for f in FORGERIES} - {"format"}))
def test_a_verifier_without_the_check_would_be_fooled_or_lose_the_reason(name, monkeypatch):
    monkeypatch.setitem(CHECKS, name, lambda case: "switched off")
    missed = 0
    for forged in (each for each in FORGERIES if each.caught_by == name):
        with pytest.raises((AssertionError, FairshoeError, Missing)):
            test_a_forgery_is_caught(forged)
        missed += 1
    assert missed


def test_there_are_at_least_forty_forgeries_each_under_its_own_name():
    names = [forged.name for forged in FORGERIES]
    assert len(names) == len(set(names))
    assert len(names) >= 40


def test_the_honest_shoes_behind_the_forgeries_are_good():
    for forged in FORGERIES:
        if any(key in forged.how for key in ("index", "late_s", "void")) or forged.how.get("coups"):
            continue
        operator = Operator()
        story = operator.publish(play(operator, forged.how))
        bundle = operator.bundle(story, earlier=forged.how.get("earlier"), holder=forged.how.get("holder"))
        assert verify_bundle(bundle, operator.evidence(story)).verdict == "verified", forged.name


def test_the_keys_are_really_derived_anew():
    operator = Operator()
    story = operator.play_shoe(rules())
    seal = story.records[story.find(Seal)].seal
    assert derive_keys(story.server_seed, seal) != derive_keys(server_seed(operator.master, 1), seal)
