"""A player believes nothing: what does not hold is refused, and the own seed stays closed until the lock is proved."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.player import Player
from shoe.errors import FairshoeError, NoteError, ProofError, RecordError
from shoe.proof.note import SignerKey
from shoe.proof.records import CommittedEntropy, Coup, Lock, Open, Seal, Seed
from shoe.proof.seal import seal_transcript
from tests.operator import Operator, rules, secret

COUP_TABLE = rules(shuffle="coup", cut=None, coups=5)
BURN_TABLE = rules(burn="first_card", cut={"from": 11, "to": 11}, last_coup="one_more", decks=2)


class Table:
    """One shoe as an operator plays it, and the player at position 1."""

    def __init__(self, table=None, edit=None):
        self.operator = Operator()
        self.story = self.operator.play_shoe(table or rules(), players=3)
        seed = next(r.seed for r in self.story.records if isinstance(r, Seed) and r.position == 1)
        if edit is not None:
            edit(self.operator, self.story)
        self.operator.publish(self.story)
        self.player = Player(self.operator.vkey, seed, self.receipt(Open))

    def receipt(self, kind, which=0):
        return self.operator.receipt(self.story.indices[self.story.find(kind, which)])

    @property
    def records(self):
        return self.story.data[: self.story.find(Lock) + 1]

    def coups(self):
        paths = self.operator.paths(self.story).coups
        return [(self.receipt(Coup, number), path) for number, path in enumerate(paths)]

    def to_lock(self):
        self.player.accept_entropy(self.receipt(CommittedEntropy, 1))
        return self.player.accept_lock(self.receipt(Lock), self.records)

    def to_seal(self):
        self.to_lock()
        self.player.accept_seal(self.receipt(Seal))


@pytest.mark.parametrize("table", [rules(), COUP_TABLE, BURN_TABLE])
def test_a_player_follows_an_honest_shoe_to_its_end(table):
    at = Table(table)
    at.to_seal()
    for receipt, paths in at.coups():
        at.player.accept_coup(receipt, paths)
    assert at.player.number == len(at.coups())
    assert [receipt.record for receipt in at.player.receipts] == [
        at.receipt(CommittedEntropy, 1).record,
        at.receipt(Lock).record,
    ]


def test_the_seed_is_given_out_only_after_the_lock_is_proved():
    at = Table()
    assert at.player.seed not in repr(at.player)
    assert at.to_lock() == at.player.seed


@pytest.mark.parametrize("which", [0, 2])
def test_another_players_contribution_is_not_taken_for_the_own(which):
    at = Table()
    with pytest.raises(ProofError, match="another player's"):
        at.player.accept_entropy(at.receipt(CommittedEntropy, which))
    assert at.player.entropy is None


def test_a_contribution_of_another_shoe_is_refused():
    at = Table()
    later = at.operator.play_shoe(rules(), players=3)
    later.change(CommittedEntropy, seed_commitment=at.player.commitment)
    at.operator.publish(later)
    with pytest.raises(ProofError, match="another shoe's"):
        at.player.accept_entropy(at.operator.receipt(later.indices[later.find(CommittedEntropy)]))


@pytest.mark.parametrize("kind", [Lock, Open, Coup])
def test_a_record_of_another_type_is_refused(kind):
    at = Table()
    with pytest.raises(RecordError, match="type"):
        at.player.accept_entropy(at.receipt(kind))


def test_a_receipt_under_another_key_is_refused():
    at = Table()
    at.operator.signer = SignerKey.from_seed(at.operator.origin, secret("another key"))
    with pytest.raises(ProofError):
        at.player.accept_entropy(at.receipt(CommittedEntropy, 1))


def test_a_receipt_of_another_log_is_refused():
    at = Table()
    other = Operator(origin="elsewhere.example/log")
    story = other.publish(other.play_shoe(rules(), players=3))
    with pytest.raises(FairshoeError):
        at.player.accept_entropy(other.receipt(story.indices[story.find(CommittedEntropy, 1)]))


def test_a_receipt_whose_path_is_wrong_is_refused():
    at = Table()
    receipt = at.receipt(CommittedEntropy, 1)
    with pytest.raises((ProofError, NoteError)):
        at.player.accept_entropy(replace(receipt, proof=replace(receipt.proof, index=receipt.proof.index + 1)))


def test_a_chain_without_the_own_contribution_keeps_the_seed_closed():
    def leave_out(operator, story):
        del story.records[story.find(CommittedEntropy, 1)]

    honest, cheated = Table(), Table(edit=leave_out)
    cheated.player.entropy = honest.receipt(CommittedEntropy, 1)
    with pytest.raises(ProofError, match="the seed stays closed"):
        cheated.player.accept_lock(cheated.receipt(Lock), cheated.records)


def test_a_lock_before_any_own_contribution_keeps_the_seed_closed():
    at = Table()
    with pytest.raises(ProofError, match="the seed stays closed"):
        at.player.accept_lock(at.receipt(Lock), at.records)


@pytest.mark.parametrize("place", [0, 1, 3, 4])
def test_a_chain_with_a_record_missing_keeps_the_seed_closed(place):
    at = Table()
    at.player.accept_entropy(at.receipt(CommittedEntropy, 1))
    with pytest.raises(ProofError):
        at.player.accept_lock(at.receipt(Lock), [r for n, r in enumerate(at.records) if n != place])
    assert at.player.lock is None


def test_a_chain_with_a_record_exchanged_keeps_the_seed_closed():
    at = Table()
    at.player.accept_entropy(at.receipt(CommittedEntropy, 1))
    chain = at.records
    chain[1] = chain[1].replace(b"guest-0", b"guest-9")
    with pytest.raises(ProofError, match="chain is broken"):
        at.player.accept_lock(at.receipt(Lock), chain)


def seal_with(**changes):
    def edit(operator, story):
        seal = story.records[story.find(Seal)]
        transcript = replace(seal.transcript, **{key: make(seal.transcript) for key, make in changes.items()})
        story.change(Seal, transcript=transcript, seal=seal_transcript(transcript))

    return edit


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (
            seal_with(client_seeds=lambda t: t.client_seeds[::-1][:1] + t.client_seeds[:1] + t.client_seeds[:1]),
            "own seed",
        ),
        (seal_with(table=lambda t: "table-2"), "another table"),
        (seal_with(commitment=lambda t: secret("x")), "another commitment"),
        (seal_with(rules=lambda t: rules(cut={"from": 8, "to": 8})), "another rules"),
        (lambda operator, story: story.change(Seal, seal=secret("x")), "not the hash"),
    ],
)
def test_a_seal_of_another_transcript_is_refused(edit, why):
    at = Table(edit=edit)
    at.to_lock()
    with pytest.raises(ProofError, match=why):
        at.player.accept_seal(at.receipt(Seal))


def test_a_seal_with_fewer_seeds_than_players_is_refused():
    at = Table(edit=seal_with(client_seeds=lambda t: t.client_seeds[:1]))
    at.to_lock()
    with pytest.raises(ProofError, match="own seed"):
        at.player.accept_seal(at.receipt(Seal))


def test_coups_out_of_order_are_refused():
    at = Table()
    at.to_seal()
    (first, first_paths), (second, second_paths), *_ = at.coups()
    with pytest.raises(ProofError):
        at.player.accept_coup(second, second_paths)
    at.player.accept_coup(first, first_paths)
    with pytest.raises(ProofError):
        at.player.accept_coup(first, first_paths)
    at.player.accept_coup(second, second_paths)


def forge_first_coup(**changes):
    def edit(operator, story):
        coup = story.records[story.find(Coup)]
        story.change(Coup, **{key: make(coup) for key, make in changes.items()})

    return edit


@pytest.mark.parametrize(
    "edit",
    [
        forge_first_coup(player_total=lambda c: (c.player_total + 1) % 10),
        forge_first_coup(outcome=lambda c: "banker" if c.outcome != "banker" else "player"),
        forge_first_coup(rule=lambda c: "stood_stands" if c.rule != "stood_stands" else "both_natural"),
        forge_first_coup(number=lambda c: 1),
        forge_first_coup(cards=lambda c: (replace(c.cards[0], card=(c.cards[0].card + 13) % 52), *c.cards[1:])),
        forge_first_coup(cards=lambda c: (c.cards[1], c.cards[0], *c.cards[2:])),
    ],
    ids=["total", "outcome", "rule", "number", "card", "order"],
)
def test_a_coup_that_was_not_dealt_so_is_refused_while_the_shoe_is_in_play(edit):
    at = Table(edit=edit)
    at.to_seal()
    with pytest.raises(ProofError):
        at.player.accept_coup(*at.coups()[0])
    assert (at.player.number, at.player.position) == (0, 0)


def test_a_coup_without_a_path_for_each_card_is_refused():
    at = Table()
    at.to_seal()
    receipt, paths = at.coups()[0]
    with pytest.raises(ProofError, match="path"):
        at.player.accept_coup(receipt, paths[:-1])


def test_a_coup_of_a_hand_nobody_committed_to_is_refused():
    at = Table(COUP_TABLE, edit=forge_first_coup(hand=lambda c: 3))
    at.to_seal()
    with pytest.raises(ProofError, match="hand"):
        at.player.accept_coup(*at.coups()[0])
