"""Plans: canonical, hashed, cut into blocks that cover all and nothing twice; and keys by the real derivation."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.battery import PATHS, Sizes
from audit.paths import batch_key, keys_of, production_keys, transcript_of
from audit.plan import COUPS_A_BLOCK, KEYS_A_BLOCK, SHOES_A_BLOCK, Blocks, Plan, Task, make_plan, parse_plan
from shoe.errors import CanonicalError, InputError, RecordError
from shoe.proof.seeds import MAX_BOOK
from tests.audit.plans import EIGHT_DECKS, NOTHING, ONE_DECK, SEED, SMALL, plan_of
from tests.audit.scalar_block import coup_rules
from tests.reference import merkle_reference
from tests.reference.hkdf_reference import hkdf

FULL = make_plan("np_punto_banco", EIGHT_DECKS, 1_450_000, SEED)


# --- canonical, hashed -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "plan", [SMALL, FULL, make_plan("coups", coup_rules(6), 5000, SEED)], ids=["small", "full", "coup"]
)
def test_a_plan_reads_back_from_its_bytes(plan: Plan) -> None:
    assert parse_plan(plan.to_bytes()) == plan


def test_the_hash_is_that_of_the_bytes_and_the_bytes_are_sorted_json_without_blanks() -> None:
    text = FULL.to_bytes()
    assert FULL.hash == hashlib.sha256(text).digest()
    assert json.dumps(json.loads(text), sort_keys=True, separators=(",", ":")).encode() == text


def test_the_plan_says_all_that_could_be_tuned() -> None:
    assert set(json.loads(FULL.to_bytes())) == {
        *("form", "table", "rules", "seed", "batch", "production", "blocks"),
        *("checks", "level", "correction", "confirms"),
    }


CHANGES: dict[str, dict[str, Any]] = {
    "table": {"table": "other"},
    "rules": {"rules": replace(ONE_DECK, last_coup="drawn_in", entropy="beacon")},
    "seed": {"seed": bytes(32)},
    "shoes": {"batch": replace(SMALL.batch, shoes=702)},
    "sample": {"batch": replace(SMALL.batch, sampled=151)},
    "production": {"production": replace(SMALL.production, shoes=202)},
    "blocks": {"blocks": Blocks(130, 64)},
    "checks": {"checks": SMALL.checks[1:]},
    "order_of_checks": {"checks": SMALL.checks[::-1]},
    "confirms": {"confirms": bytes(32)},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_changes_the_hash(change: dict[str, Any]) -> None:
    assert replace(SMALL, **change).hash != SMALL.hash


def put(key: str, value: object) -> Callable[[dict[str, Any]], object]:
    return lambda plan: plan.__setitem__(key, value)


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], object], type[Exception], str]] = {
    "missing_key": (lambda plan: plan.pop("seed"), RecordError, "the key seed"),
    "further_key": (put("workers", 2), RecordError, "got 'workers'"),
    "other_form": (put("form", "fairshoe/certification/2"), RecordError, "form: expected"),
    "other_level": (put("level", "1/20"), RecordError, "level: expected 1/100"),
    "other_correction": (put("correction", "none"), RecordError, "correction: expected holm"),
    "short_seed": (put("seed", "00"), RecordError, "seed: expected 64 characters"),
    "no_checks": (put("checks", []), RecordError, "checks: expected a list of 1"),
    "unknown_check": (put("checks", ["batch_luck"]), InputError, "checks: expected the name of a check"),
    "check_of_no_path": (put("checks", ["outcomes"]), InputError, "checks: expected the name of a check"),
    "check_twice": (put("checks", ["batch_runs"] * 2), InputError, "checks: expected each check once"),
    "check_that_does_not_fit": (put("checks", ["production_bits_rank"]), InputError, "checks: expected checks that"),
    "odd_block": (put("blocks", {"batch": 127, "production": 64}), InputError, "blocks: expected an even number"),
    "empty_block": (put("blocks", {"batch": 0, "production": 64}), RecordError, "blocks.batch: expected an integer 2"),
    "sample_of_more": (lambda plan: plan["batch"].update(sampled=701), InputError, "batch: expected at most 700"),
    "bits_of_more": (lambda plan: plan["batch"].update(sequences=2), InputError, "batch: expected sequences that"),
    "odd_replay": (lambda plan: plan["batch"].update(replayed=21), InputError, "batch: expected an even number of rep"),
    "negative_shoes": (lambda plan: plan["batch"].update(shoes=-1), RecordError, "batch.shoes: expected an integer 0"),
    "more_than_a_book": (
        lambda plan: plan["production"].update(shoes=MAX_BOOK + 2),
        InputError,
        f"production: expected at most {MAX_BOOK}",
    ),
    "rules_unplayable": (lambda plan: plan["rules"].update(decks=0), InputError, "rules.decks: expected"),
}


@pytest.mark.parametrize(("spoil", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_a_spoilt_plan_is_refused(
    spoil: Callable[[dict[str, Any]], object], error: type[Exception], message: str
) -> None:
    plan = json.loads(SMALL.to_bytes())
    spoil(plan)
    with pytest.raises(error, match=message):
        parse_plan(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode())


@pytest.mark.parametrize("spoil", [lambda t: t + b"\n", lambda t: t.replace(b":", b": ", 1), lambda t: t[:-1]])
def test_bytes_that_are_not_canonical_are_refused(spoil: Callable[[bytes], bytes]) -> None:
    with pytest.raises(CanonicalError):
        parse_plan(spoil(SMALL.to_bytes()))


# --- sizes -------------------------------------------------------------------------------------


def test_a_full_certification_has_100_000_shoes_of_production_and_capped_samples() -> None:
    assert FULL.batch == Sizes(1_450_000, 10_000, 60, 1_000)
    assert FULL.production == Sizes(100_000, 10_000, 60, 1_000)
    assert FULL.blocks == Blocks(SHOES_A_BLOCK, KEYS_A_BLOCK)
    assert FULL.batch.shoes * EIGHT_DECKS.judged_coups >= 100_000_000


def test_a_short_plan_takes_all_it_can() -> None:
    plan = make_plan("np_punto_banco", EIGHT_DECKS, 2001, SEED)
    assert plan.batch == plan.production == Sizes(2001, 2001, 5, 1000)


def test_coups_shuffled_anew_have_their_own_blocks() -> None:
    plan = make_plan("coups", coup_rules(8), 100_000, SEED)
    assert plan.blocks.batch == COUPS_A_BLOCK
    assert plan.batch.sequences == 100_000 // (5 * 5209)  # 192 bits a coup: 5,209 coups a sequence


@pytest.mark.parametrize(("decks", "shoes"), [(8, 9), (8, 0), (8, -1), (8, 2**40 + 1), (1, 86)])
def test_too_few_or_too_many_shoes_are_refused(decks: int, shoes: int) -> None:
    rules = EIGHT_DECKS if decks == 8 else ONE_DECK
    with pytest.raises(InputError, match="shoes: expected"):
        make_plan("test", rules, shoes, SEED)


def test_the_least_number_of_shoes_is_planned() -> None:
    assert "batch_rule_use" in make_plan("test", EIGHT_DECKS, 10, SEED).checks
    assert "batch_rule_use" in make_plan("test", ONE_DECK, 87, SEED).checks


# --- blocks ------------------------------------------------------------------------------------


@given(st.integers(1000, 3_000_000), st.sampled_from([EIGHT_DECKS, ONE_DECK]))
def test_blocks_cover_every_part_once_and_begin_at_even_shoes(shoes: int, rules: Any) -> None:
    plan = make_plan("test", rules, shoes, SEED)
    tasks = plan.tasks()
    for path in PATHS:
        for kind in ("shoes", "sampled", "sequences", "replayed"):
            mine = [task for task in tasks if (task.path, task.kind) == (path, kind)]
            assert [task.first for task in mine] == _starts(mine)
            assert sum(task.count for task in mine) == getattr(plan.sizes(path), kind)
            assert all(task.first % 2 == 0 for task in mine if kind in ("shoes", "replayed"))


def _starts(tasks: list[Task]) -> list[int]:
    return [sum(task.count for task in tasks[:n]) for n in range(len(tasks))]


def test_only_what_a_check_needs_is_worked_on() -> None:
    plan = replace(SMALL, checks=("batch_replay", "production_runs"))
    assert {(task.path, task.kind) for task in plan.tasks()} == {("batch", "replayed"), ("production", "shoes")}


# --- the confirmatory plan ---------------------------------------------------------------------


def test_a_confirmation_has_a_new_seed_four_times_the_size_and_the_failed_checks_in_their_order() -> None:
    plan = SMALL.confirm(["production_cycles", "batch_runs"], bytes(32), b"\1" * 32)
    assert (plan.seed, plan.confirms) == (b"\1" * 32, bytes(32))
    assert plan.batch == Sizes(2800, 600, 4, 80)
    assert plan.production == Sizes(800, 400, 0, 40)
    assert plan.checks == ("batch_runs", "production_cycles")
    assert parse_plan(plan.to_bytes()) == plan


def test_a_confirmation_stays_within_one_book() -> None:
    large = replace(FULL, production=Sizes(500_000, 10, 1, 2), checks=("production_runs",))
    assert large.confirm(["production_runs"], bytes(32), bytes(32)).production.shoes == 1_000_000


CONFIRMED = SMALL.confirm(["batch_runs"], bytes(32), b"\1" * 32)


@pytest.mark.parametrize(
    ("plan", "failed", "seed", "message"),
    [
        (SMALL, [], bytes(32), "failed: expected failed checks"),
        (SMALL, ["production_bits_rank"], bytes(32), "failed: expected failed checks"),
        (SMALL, ["batch_runs"], SEED, "seed: expected a new one"),
        (CONFIRMED, ["batch_runs"], bytes(32), "confirms: expected a first run"),
    ],
    ids=["none_failed", "not_in_the_plan", "same_seed", "a_third_run"],
)
def test_no_other_run_may_follow(plan: Plan, failed: list[str], seed: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan.confirm(failed, bytes(32), seed)


# --- keys --------------------------------------------------------------------------------------


def key_by_hand(plan: Plan, path: str, size: int, index: int) -> bytes:
    """Master, book, transcript, seal and HKDF of protocol §3 and §4, by the standard library alone."""
    master = hashlib.sha256(f"fairshoe/1/certify/{path}\0".encode() + plan.seed).digest()
    seeds = [hmac.digest(master, b"fairshoe/1/seed\0" + i.to_bytes(8, "big"), "sha256") for i in range(size)]
    commitments = [hashlib.sha256(b"fairshoe/1/commit\0" + seed).digest() for seed in seeds]
    transcript = {
        "protocol": "fairshoe/1",
        "log": "certification.fairshoe",
        "shoe": f"test-{index}",
        "table": "test",
        "rules": json.loads(plan.to_bytes())["rules"],
        "book": {"root": merkle_reference.mth(commitments).hex(), "size": size},
        "index": index,
        "commitment": commitments[index].hex(),
        "client_seeds": [],
        "beacon": None,
    }
    text = json.dumps(transcript, sort_keys=True, separators=(",", ":")).encode()
    seal = hashlib.sha256(b"fairshoe/1/seal\0" + text).digest()
    return hkdf(seeds[index], seal, b"fairshoe/1/shuffle", 32)


def test_the_batch_key_is_that_of_a_sealed_shoe() -> None:
    assert batch_key(SMALL) == key_by_hand(SMALL, "batch", 1, 0)


@pytest.mark.parametrize("index", [0, 1, 199])
def test_production_keys_are_those_of_a_book_of_sealed_shoes(index: int) -> None:
    assert production_keys(SMALL, [index]) == [key_by_hand(SMALL, "production", 200, index)]


def test_no_two_keys_are_the_same() -> None:
    keys = [batch_key(SMALL), *production_keys(SMALL, range(200)), batch_key(replace(SMALL, seed=bytes(32)))]
    assert len(set(keys)) == len(keys)


def test_places_are_shoes_of_the_batch_and_places_among_keys_in_production() -> None:
    key, places = keys_of(SMALL, "batch", range(10, 14))
    assert (key, list(places)) == (batch_key(SMALL), [10, 11, 12, 13])
    keys, places = keys_of(SMALL, "production", [5, 7])
    assert (keys, list(places)) == (production_keys(SMALL, [5, 7]), [0, 1])


def test_a_shoe_of_production_is_in_its_book() -> None:
    transcript = transcript_of("test", ONE_DECK, bytes(32), 4, 3)
    assert (transcript.index, transcript.book.size, transcript.client_seeds, transcript.beacon) == (3, 4, (), None)


def test_a_plan_without_production_is_a_plan() -> None:
    assert all(name.startswith("batch_") for name in plan_of(Sizes(100, 100, 0, 2), NOTHING).checks)
