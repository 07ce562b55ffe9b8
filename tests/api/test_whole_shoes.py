"""Whole shoes over HTTP, in every mode and both kinds of shuffle, each verified offline from its bundle alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shoe.game.rules import parse_rules
from shoe.proof.merkle import EMPTY_ROOT, check_consistency, check_inclusion, leaf_hash
from shoe.proof.note import parse_note
from shoe.proof.openings import check_opening
from shoe.proof.records import BookEnd, Coup, Open, Reveal, Seal, Void, parse_as, parse_record
from shoe.proof.seal import derive_keys
from shoe.proof.shuffle import shuffle_hand
from shoe.proof.verify import HeldCheckpoint
from tests.api.installation import (
    BEFORE_ROUND,
    EVERY_COUP,
    HOUSE,
    ROUND,
    SIGNATURE,
    SMALL,
    Clock,
    Found,
    Installation,
)
from tests.reference import merkle_reference, tableau_reference

BURNED = {"entropy": "house", "decks": 2, "burn": "first_card", "last_coup": "one_more", "cut": {"from": 11, "to": 30}}


def records(house: Installation, shoe: str) -> list[Any]:
    return [parse_record(item["record"].encode()) for item in house.get(f"/shoes/{shoe}/records")["records"]]


@pytest.mark.parametrize(
    "overrides",
    [HOUSE, SMALL, BURNED, EVERY_COUP, {**EVERY_COUP, "coups": 1}, {**SMALL, "cut": {"from": 6, "to": 41}}],
    ids=["8 decks", "1 deck", "burn, random cut, one more", "every coup", "one coup", "widest cut"],
)
def test_a_shoe_of_the_house_alone(house: Installation, overrides: dict[str, Any]) -> None:
    house.table(**overrides)
    for _ in range(2):
        shoe = house.sealed()
        answers = house.deal_out(shoe)
        verification = house.verify(shoe)
        assert (verification.verdict, verification.fairness) == ("verified", "committed"), verification.why
        assert [answer["number"] for answer in answers] == list(range(len(answers)))
        assert {answer["ended"] for answer in answers[:-1]} <= {False}


def test_a_two_phase_shoe_is_provably_fair_to_who_kept_the_receipts(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    given = [house.commit(shoe, seed) for seed in ("a" * 32, "17.b-B_c:d", "z")]
    assert [(each["client"], each["position"]) for each in given] == [(f"guest-{n}", n) for n in range(3)]
    lock = house.post(f"/shoes/{shoe}/lock")
    opened = [
        house.post(f"/shoes/{shoe}/seeds", {"position": 2, "seed": "z"}),
        house.post(f"/shoes/{shoe}/seeds", {"client": "guest-0", "seed": "a" * 32}),
        house.post(f"/shoes/{shoe}/seeds", {"client": "guest-1", "seed": "17.b-B_c:d"}),
    ]
    assert [(each["client"], each["position"]) for each in opened] == [("guest-2", 2), ("guest-0", 0), ("guest-1", 1)]
    sealed = house.post(f"/shoes/{shoe}/seal")
    seeds = [each.seed for each in parse_as(Seal, sealed["record"].encode()).transcript.client_seeds]
    assert seeds == ["a" * 32, "17.b-B_c:d", "z"]
    house.deal_out(shoe)
    held = house.verify(shoe, given[1]["receipt"], lock["receipt"])
    assert (held.verdict, held.fairness) == ("verified", "provably_fair"), held.why
    assert house.verify(shoe).fairness == "contributed"


def test_equal_commitments_are_taken(house: Installation) -> None:
    """Protocol §4: refusing them would let a copier shut out the original."""
    house.table(decks=1)
    shoe = house.open()
    assert [house.commit(shoe, "same")["position"] for _ in range(2)] == [0, 1]


def test_a_two_phase_shoe_may_have_no_players(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.sealed()
    house.deal_out(shoe)
    assert house.verify(shoe).fairness == "committed"


def beacon_house(found: Found, **more: Any) -> Installation:
    house = found(clock=Clock(BEFORE_ROUND), **more)
    house.table(decks=1, entropy="beacon")
    return house


def test_a_beacon_shoe_with_a_real_round(found: Found) -> None:
    """drand quicknet's round 657413, with the pairing check of api.beacon."""
    from api.beacon import check_quicknet_signature  # noqa: PLC0415  # loads py-ecc

    house = beacon_house(found, check_signature=check_quicknet_signature)
    shoe = house.open(lock_in_s=30, beacon_round=ROUND)
    house.post(f"/shoes/{shoe}/entropy", {"seed": "an-open-seed"})
    house.clock.forward(20)
    house.post(f"/shoes/{shoe}/lock")
    held = HeldCheckpoint(house.checkpoint(), "2023-09-15T11:00:00.000000Z")
    house.clock.forward(45)
    house.post(f"/shoes/{shoe}/seal", {"beacon_signature": SIGNATURE})
    house.deal_out(shoe)
    verification = house.verify(shoe, check_signature=check_quicknet_signature)
    assert (verification.verdict, verification.check("beacon").status) == ("verified", "VALID")
    assert verification.fairness == "contributed"
    # With the checkpoint that was held before the round was due, nobody can have chosen afterwards.
    size = int(held.text.split("\n")[1])
    with_path = house.post(
        "/verify",
        {"bundle": house.bundle(shoe, f"?earlier={size}"), "held": {"checkpoint": held.text, "since": held.since}},
        status=200,
    )
    assert (with_path["verdict"], with_path["fairness"]) == ("verified", "provably_fair"), with_path["why"]


def test_without_a_wish_the_first_round_late_enough_is_pinned(found: Found) -> None:
    house = beacon_house(found)
    for seconds, round_number in ((57, ROUND), (58, ROUND + 1), (60, ROUND + 1), (61, ROUND + 2)):
        shoe = house.open(lock_in_s=seconds)
        assert house.get(f"/shoes/{shoe}")["beacon"]["round"] == round_number
        assert records(house, shoe)[0].beacon.round == round_number
        assert house.verify(shoe).check("beacon").applies is False
        house.post(f"/shoes/{shoe}/void", {"reason": "operator"})


# --- in play -----------------------------------------------------------------------------------


def test_every_step_is_consistent_while_the_shoe_is_in_play(house: Installation) -> None:
    house.table(**BURNED)
    shoe = house.open()
    verdicts = [house.verify(shoe).verdict]
    for step in ("lock", "seal", "coups", "coups"):
        house.post(f"/shoes/{shoe}/{step}")
        verdicts.append(house.verify(shoe).verdict)
    assert set(verdicts) == {"consistent"}


@pytest.mark.parametrize("overrides", [BURNED, EVERY_COUP], ids=["burned", "every coup"])
def test_cards_open_against_the_root_that_was_signed_before_the_first_bet(
    house: Installation, overrides: dict[str, Any]
) -> None:
    house.table(**overrides)
    shoe = house.open()
    house.post(f"/shoes/{shoe}/lock")
    answer = house.post(f"/shoes/{shoe}/seal")
    seal = parse_as(Seal, house.receipt(answer).record)
    rules, root = seal.transcript.rules, seal.deck_root
    if seal.burn is None:
        assert answer["burn_path"] is None
    else:
        check_opening(seal.burn, 0, tuple(map(bytes.fromhex, answer["burn_path"])), rules, root)
    for number in range(3):
        dealt = house.post(f"/shoes/{shoe}/coups")
        coup = parse_as(Coup, house.receipt(dealt).record)
        for opening, path in zip(coup.cards, dealt["paths"], strict=True):
            check_opening(opening, coup.hand, tuple(map(bytes.fromhex, path)), rules, root)
        root = coup.next_deck_root or root
        shown = house.get(f"/shoes/{shoe}/coups/{number}")
        assert (shown["record"], shown["paths"]) == (dealt["record"], dealt["paths"])
        house.receipt(shown)


def test_the_cards_are_the_shuffle_of_the_published_seed_and_the_coups_the_tableaus(house: Installation) -> None:
    """The second road: seed → keys → shuffle outside the service, each coup by the reference's own tableau."""
    house.table(**HOUSE)
    shoe = house.sealed()
    house.deal_out(shoe)
    chain = records(house, shoe)
    seal = next(record for record in chain if isinstance(record, Seal))
    shuffled = shuffle_hand(derive_keys(chain[-1].server_seed, seal.seal).shuffle_key, chain[0].rules)
    position = 0
    for coup in (record for record in chain if isinstance(record, Coup)):
        cards = [opening.card for opening in coup.cards]
        assert cards == list(shuffled.cards[position : position + len(cards)])
        points = tuple(min(card % 13 + 1, 10) % 10 for card in shuffled.cards[position : position + 6])
        played = (len(cards), coup.player_total, coup.banker_total, coup.outcome, coup.rule)
        assert played == tableau_reference.coup(points)
        position += len(cards)


def test_every_record_is_a_leaf_and_every_answer_has_its_receipt(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    answers = [house.post(f"/shoes/{shoe}/{step}") for step in ("lock", "seal")]
    for answer in answers:
        house.receipt(answer)
    last = house.deal_out(shoe)[-1]
    house.receipt(last)
    house.receipt(last["reveal"])
    size, leaves = int(house.checkpoint().split("\n")[1]), []
    for index in range(size):
        leaves.append(house.client.get(f"/v1/log/entries/{index}").data)
    root = merkle_reference.mth(leaves)
    listed = house.get(f"/shoes/{shoe}/records")["records"]
    assert [leaves[item["index"]].decode() for item in listed] == [item["record"] for item in listed]
    for index in range(size):
        path = tuple(map(bytes.fromhex, house.get(f"/log/proof/inclusion?index={index}")["path"]))
        check_inclusion(leaf_hash(leaves[index]), index, size, path, root)


# --- the end -----------------------------------------------------------------------------------


def test_the_last_coup_reveals_the_shoe(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.sealed()
    last = house.deal_out(shoe)[-1]
    reveal = parse_as(Reveal, house.receipt(last["reveal"]).record)
    assert (reveal.coups, last["reveal"]["index"]) == (last["number"] + 1, last["index"] + 1)
    state = house.get(f"/shoes/{shoe}/state")
    assert (state["state"], state["ended"], state["last_record"]) == ("revealed", True, last["reveal"]["record"])
    again = house.post(f"/shoes/{shoe}/reveal", status=200)
    assert (again["record"], again["index"]) == (last["reveal"]["record"], last["reveal"]["index"])
    house.receipt(again)


def test_the_next_shoe_hangs_on_the_one_before(house: Installation) -> None:
    house.table(**SMALL)
    first = house.sealed()
    house.deal_out(first)
    second = house.open()
    bundle = house.bundle(second)
    assert bundle["previous_shoe"]["record"] == house.get(f"/shoes/{first}/state")["last_record"]
    assert house.verify(second).check("index").detail == "index 1 follows 0 in the same book"
    assert house.get(f"/shoes/{second}")["previous_shoe"] == first


def void(house: Installation, shoe: str, reason: str) -> Void:
    answer = house.post(f"/shoes/{shoe}/void", {"reason": reason})
    return parse_as(Void, house.receipt(answer).record)


@pytest.mark.parametrize("steps", [(), ("lock",), ("lock", "seal"), ("lock", "seal", "coups", "coups")])
@pytest.mark.parametrize("overrides", [BURNED, EVERY_COUP], ids=["burned", "every coup"])
def test_the_operator_may_void_at_any_step(
    house: Installation, steps: tuple[str, ...], overrides: dict[str, Any]
) -> None:
    house.table(**overrides)
    shoe = house.open()
    for step in steps:
        house.post(f"/shoes/{shoe}/{step}")
    record = void(house, shoe, "operator")
    assert (record.coups, record.in_row) == (steps.count("coups"), 1)
    assert house.verify(shoe).verdict == "void"


@pytest.mark.parametrize(
    ("steps", "seconds", "reason"),
    [
        ((), 61, "deadline"),
        ((), 121, "deadline"),
        (("lock",), 121, "deadline"),
        (("lock",), 3601, "deadline"),
        (("lock", "seal"), 3601, "deadline"),
        (("lock", "seal", "coups"), 3601, "deadline"),
    ],
)
def test_a_shoe_whose_deadline_passed_is_void_for_that_reason(
    house: Installation, steps: tuple[str, ...], seconds: float, reason: str
) -> None:
    house.table(**SMALL)
    shoe = house.open()
    for step in steps:
        house.post(f"/shoes/{shoe}/{step}")
    house.clock.forward(seconds)
    assert house.verify(shoe, now="2030-01-01T00:00:00.000000Z").verdict == "overdue"
    void(house, shoe, reason)
    assert house.verify(shoe).verdict == "void"


def test_a_missing_seed_voids_a_two_phase_shoe(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    house.commit(shoe, "one")
    house.commit(shoe, "two")
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seeds", {"client": "guest-1", "seed": "two"})
    house.clock.forward(121)
    assert void(house, shoe, "seed_missing").reason == "seed_missing"
    assert house.verify(shoe).verdict == "void"


def test_a_missing_round_voids_a_beacon_shoe(found: Found) -> None:
    house = beacon_house(found)
    shoe = house.open(lock_in_s=30, beacon_round=ROUND)
    house.post(f"/shoes/{shoe}/lock")
    house.clock.forward(121)
    void(house, shoe, "beacon_missing")
    assert house.verify(shoe).verdict == "void"


def test_voids_in_a_row_are_counted_and_a_reveal_ends_the_row(house: Installation) -> None:
    house.table(**EVERY_COUP, book=9)
    rows = [void(house, house.open(), "operator").in_row for _ in range(3)]
    between = house.sealed()
    house.deal_out(between)
    rows.append(void(house, house.open(), "operator").in_row)
    assert rows == [1, 2, 3, 1]
    assert house.verify(between).verdict == "verified"


# --- books -------------------------------------------------------------------------------------


def test_the_next_book_follows_the_last_index_and_the_old_master_is_published(house: Installation) -> None:
    house.table(**EVERY_COUP, book=2)
    masters = [drawn for drawn in house.chance.drawn if len(drawn) == 32]
    second = house.post("/tables/t/books", {"size": 3})["root"]
    for _ in range(2):
        shoe = house.sealed()
        house.deal_out(shoe)
    books = house.get("/tables/t/books")["books"]
    assert [(book["state"], book["next_index"]) for book in books] == [("ended", 2), ("published", 0)]
    # The last reveal of the old book and its master are one transaction, and neighbours in the log.
    reveal_index = house.get(f"/shoes/{shoe}/state")["last_index"]
    end = parse_as(BookEnd, house.client.get(f"/v1/log/entries/{reveal_index + 1}").data)
    assert (end.root.hex(), end.master) == (books[0]["root"], masters[-1])
    shoe = house.sealed()
    opened = parse_as(Open, house.bundle(shoe)["records"][0].encode())
    assert (opened.book.root.hex(), opened.index) == (second, 0)
    house.deal_out(shoe)
    assert house.verify(shoe).check("index").detail == "index 0 of a new book, after the old one's last"
    assert house.verify(shoe).verdict == "verified"


def test_a_book_given_up_early_shows_in_the_next_shoes_proof(house: Installation) -> None:
    """Protocol §3: `book_end` may come early while no shoe is open, and unused indices are then dead."""
    house.table(**EVERY_COUP, book=5)
    root = house.get("/tables/t/books")["books"][0]["root"]
    house.deal_out(house.sealed())
    second = house.post("/tables/t/books", {"size": 2})["root"]
    ended = house.post(f"/tables/t/books/{root}/end")
    shoe = house.sealed()
    assert house.get(f"/shoes/{shoe}")["book"] == second
    house.deal_out(shoe)
    assert house.verify(shoe).verdict == "incomplete"
    assert house.verify(shoe, ended["receipt"]).verdict == "verified"


# --- bundles -----------------------------------------------------------------------------------


def test_a_bundle_shows_that_the_log_extends_an_older_checkpoint(house: Installation) -> None:
    house.table(**SMALL)
    held = house.checkpoint()
    shoe = house.sealed()
    house.deal_out(shoe)
    size = int(held.split("\n")[1])
    bundle = house.bundle(shoe, f"?earlier={size}")
    assert bundle["earlier"]["checkpoint"] == held
    answer = house.post("/verify", {"bundle": bundle, "held": {"checkpoint": held}}, status=200)
    assert {check["name"]: check["status"] for check in answer["checks"]}["consistency"] == "VALID"


def test_consistency_paths_lead_from_any_size_to_any_later_one(house: Installation) -> None:
    house.table(**EVERY_COUP)
    house.deal_out(house.sealed())
    size = int(house.checkpoint().split("\n")[1])
    leaves = [house.client.get(f"/v1/log/entries/{index}").data for index in range(size)]
    roots = {n: merkle_reference.mth(leaves[:n]) for n in range(1, size + 1)} | {0: EMPTY_ROOT}
    for old in range(size):
        for new in (old + 1, size):
            answer = house.get(f"/log/proof/consistency?old={old}&new={new}")
            path = tuple(map(bytes.fromhex, answer["path"]))
            check_consistency(old, roots[old], new, roots[new], path)
    assert house.get("/log/proof/consistency?old=3")["new"] == size


def test_a_bundle_is_whole_json_that_anyone_can_read(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.sealed()
    response = house.client.get(f"/v1/shoes/{shoe}/bundle")
    assert response.content_type == "application/json"
    bundle = json.loads(response.text)
    assert bundle["format"] == "fairshoe-bundle/1"
    assert parse_rules(json.loads(bundle["records"][0])["rules"]).decks == 1
    assert parse_note(bundle["checkpoint"]).signatures[0].name == "fairshoe.example/log"


@pytest.mark.parametrize("overrides", [SMALL, EVERY_COUP], ids=["shoe", "every coup"])
def test_a_sealed_shoe_is_given_up_after_a_new_start_too(house: Installation, overrides: dict[str, Any]) -> None:
    """Nothing of it is in memory then: what voiding reads must not write the half of what it changes."""
    house.table(book=1, **overrides)
    shoe = house.sealed()
    house.post(f"/shoes/{shoe}/coups")
    house.stop()
    house.start()
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert house.verify(shoe).verdict == "void"
