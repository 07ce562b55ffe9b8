"""Every verdict and every fairness of protocol §10 is reached by a shoe that deserves it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from api.beacon import check_quicknet_signature
from shoe.errors import ProofError
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.proof.bundle import parse_bundle, print_bundle
from shoe.proof.checkpoint import cosign
from shoe.proof.note import COSIGNATURE, SignerKey
from shoe.proof.records import Bets, Book, BookEnd, CommittedEntropy, Lock, Seed, parse_as
from shoe.proof.seeds import seed_book
from shoe.proof.verify import CHECKS, Evidence, HeldCheckpoint, verify_bundle
from tests.operator import ROUND_657413, Operator, rules, secret

WITNESS = SignerKey.from_seed("witness.example/w", secret("a witness"), COSIGNATURE)
BEFORE_DUE_S, AFTER_DUE_S = 1_694_775_570, 1_694_775_700  # round 657413 was due at 1694775603: 2023-09-15T11:00:03Z

COUP_TABLE = rules(shuffle="coup", cut=None, coups=5)
BURN_TABLE = rules(burn="first_card", cut={"from": 11, "to": 30}, last_coup="one_more", decks=2)


def played(table=None, **how):
    operator = Operator()
    return operator, operator.publish(operator.play_shoe(table or rules(), **how))


def verify(operator, story, player=None, **evidence):
    return verify_bundle(operator.bundle(story), operator.evidence(story, player, **evidence))


def statuses(verification):
    return {check.name: check.status for check in verification.checks}


@pytest.mark.parametrize(
    "table", [rules(), NP_PUNTO_BANCO.rules, COUP_TABLE, BURN_TABLE, rules(cut={"from": 8, "to": 16})]
)
def test_a_whole_honest_shoe_is_verified(table):
    operator, story = played(table)
    answer = verify(operator, story, player=0)
    assert (answer.verdict, answer.fairness) == ("verified", "provably_fair")
    open_checks = {name for name, status in statuses(answer).items() if status != "VALID"}
    assert open_checks == {"consistency", "witnesses"}


def test_the_checks_are_those_of_section_10_in_its_order():
    operator, story = played()
    # the list as protocol §10 prints it
    listed = (
        "format, record_bytes, record_chain, order, book, index, entropy, lock, beacon, seal, composition, deck_root, "
        "openings, positions, tableau, outcome, cut_card, deadlines, commitment, shuffle, bets, receipts, inclusion, "
        "checkpoint, consistency, witnesses"
    )
    assert [check.name for check in verify(operator, story).checks] == listed.split(", ")
    assert ["format", *CHECKS] == listed.split(", ")


def test_a_bundle_prints_and_parses_back():
    operator, story = played(BURN_TABLE, bets={0: 3})
    bundle = operator.bundle(story, earlier=3, holder="guest-0")
    assert parse_bundle(print_bundle(bundle)) == bundle
    assert verify_bundle(print_bundle(bundle), operator.evidence(story)).verdict == "verified"


@pytest.mark.parametrize("until", ["open", "entropy", "lock", "seeds", "seal"])
def test_a_shoe_on_its_way_is_consistent(until):
    operator, story = played(until=until)
    answer = verify(operator, story)
    assert answer.verdict == "consistent"
    assert not [check for check in answer.checks if check.status == "INVALID"]


@pytest.mark.parametrize("table", [rules(), COUP_TABLE, BURN_TABLE])
@pytest.mark.parametrize("coups", [0, 1, 3])
def test_a_shoe_in_play_is_consistent_after_every_coup(table, coups):
    operator, story = played(table, coups=coups)
    assert verify(operator, story, player=1).verdict == "consistent"
    assert verify(operator, story, player=1).fairness == "provably_fair"


@pytest.mark.parametrize(
    ("until", "deadline", "step"),
    [("entropy", "lock_by", "lock"), ("seeds", "seal_by", "seal"), ("seal", "reveal_by", "reveal")],
)
def test_a_shoe_whose_step_is_late_is_overdue(until, deadline, step):
    operator, story = played(until=until)
    due = getattr(story.records[0], deadline)
    assert verify(operator, story, now=due).verdict == "consistent"
    late = verify(operator, story, now=due.replace("Z", "").replace(".000000", ".000001") + "Z")
    assert late.verdict == "overdue"
    assert f"{step} was due by {due}" in late.why


def test_time_does_not_make_a_revealed_shoe_overdue():
    operator, story = played()
    assert verify(operator, story, now="2099-01-01T00:00:00.000000Z").verdict == "verified"


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"until": "open"}, "operator"),
        ({"until": "entropy", "late_s": 100}, "deadline"),
        ({"until": "seeds", "late_s": 1000}, "deadline"),
        ({"coups": 4, "late_s": 100_000}, "deadline"),
        ({"coups": 4}, "operator"),
        ({}, "operator"),
    ],
)
def test_a_shoe_given_up_for_a_true_reason_is_void(how, reason):
    operator, story = played(void=reason, **how)
    answer = verify(operator, story)
    assert answer.verdict == "void"
    assert reason in answer.why


def test_a_shoe_whose_seed_never_came_is_void():
    operator = Operator()
    story = operator.play_shoe(rules(), until="seeds", void="seed_missing", late_s=1000)
    del story.records[story.find(Seed, 1)]
    operator.publish(story)
    assert verify(operator, story).verdict == "void"


def test_a_shoe_whose_beacon_never_came_is_void():
    operator, story = played(rules(entropy="beacon"), until="lock", void="beacon_missing", late_s=1000)
    assert verify(operator, story).verdict == "void"


def test_a_void_after_bets_on_nothing_is_void():
    operator = Operator()
    story = operator.play_shoe(rules(), coups=2, bets={1: 2})
    story.records.append(Bets(**operator._next(), number=2, count=0, bets_root=operator.tree.of([]).root))
    story.records.append(operator._end(story, "operator"))
    assert verify(operator, operator.publish(story)).verdict == "void"


@pytest.mark.parametrize("part", ["book_record", "previous_shoe", "vkey"])
def test_a_bundle_that_lacks_a_part_is_incomplete(part):
    operator, _ = played()
    story = operator.publish(operator.play_shoe(rules()))
    value = operator.bundle(story)
    keys = () if part == "vkey" else operator.evidence(story).vkeys
    if part != "vkey":
        keys = operator.evidence(story).vkeys
        object.__setattr__(value, part, None)
    answer = verify_bundle(value, Evidence(vkeys=keys))
    assert answer.verdict == "incomplete"
    assert answer.fairness != "provably_fair"


def test_a_run_of_shoes_through_several_books_is_verified():
    operator = Operator(book_size=2)
    for _ in range(5):
        story = operator.publish(operator.play_shoe(rules()))
        assert verify(operator, story, player=0).fairness == "provably_fair"
    assert "new book" in verify(operator, story).check("index").detail


def test_a_book_left_early_needs_the_receipt_of_its_end():
    operator, _ = played()
    ended = operator.end_book()
    operator.new_book()
    story = operator.publish(operator.play_shoe(rules()))
    without = verify(operator, story)
    assert (without.verdict, without.check("index").status) == ("incomplete", "UNVERIFIABLE")
    answer = verify(operator, story, receipts=(operator.receipt(ended),))
    assert (answer.verdict, answer.check("index").status) == ("verified", "VALID")


def test_a_book_end_logged_after_the_next_book_was_begun_is_a_forgery():
    operator, _ = played()
    before = Operator(books=operator.books)
    operator.new_book()
    story = operator.publish(operator.play_shoe(rules()))
    late = operator.log(book_end_of(before, operator))
    answer = verify(operator, story, receipts=(operator.receipt(late),))
    assert (answer.verdict, answer.check("index").status) == ("invalid", "INVALID")
    assert "still open" in answer.check("index").detail


def book_end_of(of, operator):
    """The bytes of the record that ends the book that `of` plays from, at the operator's time."""
    root = seed_book(of.master, of.book_size).root
    ended = BookEnd(log=operator.origin, time=operator.now(), table=operator.table, root=root, master=of.master)
    return ended.to_bytes()


def test_a_book_end_with_another_master_is_a_forgery():
    operator, story = played()
    root = parse_as(Book, operator.book.record).root
    ended = BookEnd(log=operator.origin, time=operator.now(), table=operator.table, root=root, master=secret("other"))
    index = operator.log(ended.to_bytes())
    operator.new_book()
    story = operator.publish(operator.play_shoe(rules()))
    answer = verify(operator, story, receipts=(operator.receipt(index),))
    assert (answer.verdict, answer.check("index").status) == ("invalid", "INVALID")
    assert "master" in answer.check("index").detail


def test_the_end_of_another_book_does_not_stand_in():
    operator, _ = played()
    other = Operator(table="table-2")
    other.new_book()
    ended = BookEnd(log=operator.origin, time=operator.now(), table="table-2", root=secret("x"), master=secret("y"))
    index = operator.log(ended.to_bytes())
    operator.new_book()
    story = operator.publish(operator.play_shoe(rules()))
    assert verify(operator, story, receipts=(operator.receipt(index),)).verdict == "incomplete"


# --- fairness -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "players"), [(rules(entropy="house"), 0), (rules(), 0), (rules(entropy="beacon"), 0)]
)
def test_without_players_seeds_a_shoe_is_committed(table, players):
    operator, story = played(table, players=players)
    assert (verify(operator, story).verdict, verify(operator, story).fairness) == ("verified", "committed")


def test_a_sandbox_is_never_more_than_committed():
    operator = Operator(origin="fairshoe.example/log/sandbox")
    story = operator.publish(operator.play_shoe(rules()))
    assert verify(operator, story, player=0).fairness == "committed"


def test_without_the_callers_receipts_a_shoe_is_contributed():
    operator, story = played()
    answer = verify(operator, story)
    assert (answer.verdict, answer.fairness) == ("verified", "contributed")


@pytest.mark.parametrize("left_out", [CommittedEntropy, Lock])
def test_one_receipt_alone_does_not_make_a_shoe_provably_fair(left_out):
    operator, story = played()
    index = story.indices[story.find(Lock if left_out is CommittedEntropy else CommittedEntropy)]
    lock = story.indices[story.find(Lock)]
    answer = verify(operator, story, receipts=(operator.receipt(index, lock + 1),))
    assert (answer.verdict, answer.fairness) == ("verified", "contributed")


def test_a_lock_receipt_got_after_opening_does_not_count_as_held_before():
    operator, story = played()
    entropy, lock = story.indices[story.find(CommittedEntropy)], story.indices[story.find(Lock)]
    own_seed = story.indices[story.find(Seed)]
    held = operator.evidence(story, receipts=(operator.receipt(entropy), operator.receipt(lock, own_seed)))
    late = operator.evidence(story, receipts=(operator.receipt(entropy), operator.receipt(lock, own_seed + 1)))
    bundle = operator.bundle(story)
    assert verify_bundle(bundle, held).fairness == "provably_fair"
    assert verify_bundle(bundle, late).fairness == "contributed"


def test_after_a_void_a_shoe_is_contributed_and_the_next_provably_fair_again():
    operator, _ = played(void="operator", coups=3)
    second = operator.publish(operator.play_shoe(rules()))
    assert "void" in verify(operator, second, player=0).why
    assert verify(operator, second, player=0).fairness == "contributed"
    third = operator.publish(operator.play_shoe(rules()))
    assert verify(operator, third, player=0).fairness == "provably_fair"


def test_voids_in_a_row_are_counted():
    operator, _ = played(void="operator", coups=3)
    second = operator.publish(operator.play_shoe(rules(), void="operator", until="open"))
    assert verify(operator, second).check("deadlines").detail == "void: operator, 2 in a row"


def beacon_shoe():
    operator, story = played(rules(entropy="beacon"))
    return operator, story, operator.bundle(story, earlier=story.indices[story.find(Lock)] + 1)


def test_a_beacon_shoe_without_a_verifier_of_signatures_is_contributed():
    operator, story, bundle = beacon_shoe()
    answer = verify_bundle(bundle, operator.evidence(story))
    assert (answer.verdict, answer.fairness) == ("verified", "contributed")
    assert answer.check("beacon").status == "UNVERIFIABLE"


def test_a_beacon_shoe_whose_lock_the_caller_held_in_time_is_provably_fair():
    operator, story, bundle = beacon_shoe()

    def held(since):
        checkpoint = HeldCheckpoint(bundle.earlier.checkpoint, since)
        evidence = operator.evidence(story, held=checkpoint, check_signature=check_quicknet_signature)
        return verify_bundle(bundle, evidence)

    assert (held("2023-09-15T10:59:40.000000Z").verdict, held("2023-09-15T10:59:40.000000Z").fairness) == (
        "verified",
        "provably_fair",
    )
    assert held("2023-09-15T11:00:10.000000Z").fairness == "contributed"
    assert held(None).fairness == "contributed"


@pytest.mark.parametrize(("time_s", "fairness"), [(BEFORE_DUE_S, "provably_fair"), (AFTER_DUE_S, "contributed")])
def test_a_beacon_shoe_whose_lock_a_witness_saw_in_time_is_provably_fair(time_s, fairness):
    operator, story, bundle = beacon_shoe()
    object.__setattr__(bundle.earlier, "checkpoint", cosign(bundle.earlier.checkpoint, WITNESS, time_s))
    evidence = operator.evidence(story, witnesses=(WITNESS.vkey,), check_signature=check_quicknet_signature)
    assert verify_bundle(bundle, evidence).fairness == fairness
    unknown = operator.evidence(story, check_signature=check_quicknet_signature)
    assert verify_bundle(bundle, unknown).fairness == "contributed"


def test_a_witness_of_the_bundles_checkpoint_is_named():
    operator, story = played()
    bundle = operator.bundle(story)
    object.__setattr__(bundle, "checkpoint", cosign(bundle.checkpoint, WITNESS, AFTER_DUE_S))
    answer = verify_bundle(bundle, operator.evidence(story, witnesses=(WITNESS.vkey,)))
    assert answer.check("witnesses").status == "VALID"
    assert "witness.example/w" in answer.check("witnesses").detail


def test_a_false_beacon_signature_is_invalid():
    operator, story, bundle = beacon_shoe()

    def never(number, signature):
        raise ProofError("not signed by the beacon")

    answer = verify_bundle(bundle, operator.evidence(story, check_signature=never))
    assert (answer.verdict, answer.check("beacon").status) == ("invalid", "INVALID")


def test_an_older_checkpoint_of_the_caller_shows_consistency():
    operator, _ = played()
    older = operator.checkpoint()
    size = len(operator.leaves)
    operator.clock += timedelta(hours=1)
    story = operator.publish(operator.play_shoe(rules()))
    bundle = operator.bundle(story, earlier=size)
    answer = verify_bundle(bundle, operator.evidence(story, held=HeldCheckpoint(older)))
    assert answer.check("consistency").status == "VALID"
    other = operator.bundle(story, earlier=size - 1)
    assert (
        verify_bundle(other, operator.evidence(story, held=HeldCheckpoint(older))).check("consistency").status
        == "UNVERIFIABLE"
    )


def test_the_round_of_the_examples_is_the_real_one():
    check_quicknet_signature(ROUND_657413.round, ROUND_657413.signature)
