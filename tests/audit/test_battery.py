"""The battery: its names, when each check fits, and counts that add up whatever the split and the order."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.battery import (
    BATTERY,
    LEAST_COUPS,
    LEAST_FOR_JOINT,
    Sizes,
    checks_for,
    find_check,
    judge_all,
)
from audit.checks.bits import SP80022
from audit.checks.draws import DRAW_CHECKS
from audit.checks.shuffles import SHUFFLE_CHECKS
from audit.counts import Dealt, PathCounts, RunCounts, seen_in
from audit.encoding import decode, digest, encode
from audit.exact import exact_odds
from audit.kernel import deal_block
from audit.plan import Plan, make_plan
from audit.tally import add_up, seen, tally_shoe
from audit.work import count_task, sequence_of_bits
from shoe.errors import InputError
from shoe.game.houses import DOPPELGANGER
from shoe.proof.stream import keystream
from tests.audit.plans import EIGHT_DECKS, NOTHING, ONE_DECK, SEED, SMALL
from tests.audit.scalar_block import coup_rules, scalar_coups
from tests.audit.wrong_order import RIGHT, engine

SUMS = ("judged_cells", "all_cells", "coups_per_shoe", "wins", "pairs", "first", "last", "same_place")
KEY = bytes(range(32))
ON_OWN_BETS = {"pair_classes", "bet_returns"}
"""Of tables that have bets other houses have not."""


@pytest.fixture(scope="module")
def pieces() -> list[RunCounts]:
    return [count_task(SMALL, task) for task in SMALL.tasks()]


@pytest.fixture(scope="module")
def counts(pieces: list[RunCounts]) -> RunCounts:
    return reduce(add, pieces)


# --- names and fitness -------------------------------------------------------------------------


def test_the_battery_has_every_check_there_is() -> None:
    assert {f"bits_{name}" for name in SP80022} <= BATTERY.keys()
    assert {check.__name__ for check in SHUFFLE_CHECKS} <= BATTERY.keys()
    for check in DRAW_CHECKS:
        assert {check.__name__, f"{check.__name__}_every_2", f"{check.__name__}_every_5"} <= BATTERY.keys()
    dealt = "structural_zeros outcomes rule_use merged_rule_use joint_totals naturals cards_used returns runs"
    assert set(dealt.split()) <= BATTERY.keys()
    assert {"neighbour_pairs", "serial_correlation", "same_place", "duplicate_shoes", "replay"} <= BATTERY.keys()


def test_a_full_certification_makes_every_check_on_both_paths() -> None:
    full = make_plan("np_punto_banco", EIGHT_DECKS, 1_450_000, SEED)
    common = [name for name in BATTERY if name not in ON_OWN_BETS]
    assert full.checks == tuple(f"{path}_{name}" for path in ("batch", "production") for name in common)
    own = make_plan("doppelganger", DOPPELGANGER.rules, 1_450_000, SEED)
    assert own.checks == tuple(f"{path}_{name}" for path in ("batch", "production") for name in BATTERY)


def test_what_has_no_order_is_not_tested_for_it() -> None:
    names = {name.removeprefix("batch_") for name in make_plan("coups", coup_rules(8), 10**6, SEED).checks}
    assert set(BATTERY) - names - ON_OWN_BETS == {"runs", "neighbour_pairs", "serial_correlation"}


@pytest.mark.parametrize("decks", [1, 2, 8, 16])
def test_so_many_coups_give_every_class_five(decks: int) -> None:
    """By the exact law: Cochran's rule for each of the 15 rule classes and of the 198 joint totals."""
    odds = exact_odds(decks)
    assert LEAST_COUPS * min(odds.rules().values()) >= 5 * odds.total * (1 if decks > 1 else 0.98)
    joint: dict[tuple[int, int, int], int] = {}
    for cell, ways in odds.cells.items():
        name = cell.player_total, cell.banker_total, cell.cards
        joint[name] = joint.get(name, 0) + ways
    assert len([ways for ways in joint.values() if ways]) == 198
    assert LEAST_FOR_JOINT * min(ways for ways in joint.values() if ways) >= 5 * odds.total


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("batch_rule_use", Sizes(10, 0, 0, 0)),
        ("batch_joint_totals", Sizes(106, 0, 0, 0)),
        ("batch_runs", Sizes(10, 0, 0, 0)),
        ("batch_same_place", Sizes(20, 0, 0, 0)),
        ("batch_duplicate_shoes", Sizes(1, 0, 0, 0)),
        ("batch_cycles", Sizes(100, 100, 0, 0)),
        ("batch_worst_position", Sizes(2080, 2080, 0, 0)),
        ("batch_draw_gaps", Sizes(100, 100, 0, 0)),
        ("batch_bits_rank", Sizes(76, 0, 1, 0)),
        ("batch_replay", Sizes(2, 0, 0, 1)),
    ],
)
def test_a_check_is_named_from_its_least_size_on(name: str, least: Sizes) -> None:
    assert name in checks_for(EIGHT_DECKS, {"batch": least, "production": NOTHING})
    for part in fields(Sizes):
        if value := getattr(least, part.name):
            fewer = replace(least, **{part.name: value - 1})
            part_named = find_check(name)[1].part == part.name
            assert (name in checks_for(EIGHT_DECKS, {"batch": fewer, "production": NOTHING})) != part_named


@pytest.mark.parametrize(
    "name", ["", "runs", "batch_", "batch", "Batch_runs", "batch_runs ", "lazy_runs", "batch__runs"]
)
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="checks: expected the name of a check"):
        find_check(name)


# --- judging -----------------------------------------------------------------------------------


def test_every_check_of_a_plan_judges_its_counts_under_its_own_name(counts: RunCounts) -> None:
    results = judge_all(SMALL.checks, counts, ONE_DECK)
    assert tuple(result.name for result in results) == SMALL.checks
    assert all(0 <= result.p <= 1 and result.n > 0 and result.null.isascii() for result in results)
    assert min(result.p for result in results) * len(results) > 0.001


@pytest.mark.parametrize("name", SMALL.checks)
def test_a_part_that_was_not_counted_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="counts: expected counts of"):
        judge_all((name,), RunCounts(), ONE_DECK)


# --- counts ------------------------------------------------------------------------------------


def test_the_tally_is_the_one_made_coup_by_coup() -> None:
    """Against `audit.tally` over coups from the scalar shuffle and dealer."""
    block = Dealt.of(deal_block(EIGHT_DECKS, KEY, 0, 6), 0)
    shoes = [[seen(coup) for coup in scalar_coups(EIGHT_DECKS, KEY, hand)] for hand in range(6)]
    assert block.tally() == add_up(tally_shoe(shoe, EIGHT_DECKS.judged_coups) for shoe in shoes)
    assert block.all_coups == sum(map(len, shoes))


def test_cells_are_named_as_the_tally_names_coups() -> None:
    coup = scalar_coups(EIGHT_DECKS, KEY, 0)[0]
    cells = [cell for cell in exact_odds(8).cells if seen_in(cell) == seen(coup)]
    assert cells
    assert all((cell.outcome, cell.cards) == (coup.outcome, len(coup.cards)) for cell in cells)


@given(st.lists(st.integers(1, 40), max_size=12), st.randoms())
@settings(max_examples=20, deadline=None)
def test_dealt_shoes_add_up_whatever_the_split_and_the_order(cuts: list[int], random: object) -> None:
    firsts = sorted({0, *(2 * cut for cut in cuts)})
    whole = Dealt.of(deal_block(ONE_DECK, KEY, 0, 82), 0)
    ends = [*firsts[1:], 82]
    parts = [Dealt.of(deal_block(ONE_DECK, KEY, a, b - a), a) for a, b in zip(firsts, ends, strict=True)]
    random.shuffle(parts)  # type: ignore[attr-defined]
    total = reduce(add, parts)
    for name in SUMS:
        assert (getattr(total, name) == getattr(whole, name)).all(), name
    assert (total.shoes, total.runs) == (82, whole.runs)
    assert (total.order_hashes() == whole.order_hashes()).all()


@given(st.randoms(), st.data())
@settings(max_examples=25, deadline=None)
def test_addition_is_associative_and_commutative(pieces: list[RunCounts], random: object, data: st.DataObject) -> None:
    """Any order and any bracketing of a plan's blocks have one digest."""
    parts = list(pieces)
    random.shuffle(parts)  # type: ignore[attr-defined]
    while len(parts) > 1:
        at = data.draw(st.integers(0, len(parts) - 2))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    assert digest(parts[0]) == digest(reduce(add, pieces))


def test_a_block_counted_twice_is_refused(pieces: list[RunCounts]) -> None:
    with pytest.raises(InputError, match="dealt: expected each block once, got 'two from shoe 0 on'"):
        pieces[0] + pieces[0]


def test_nothing_added_changes_nothing(counts: RunCounts) -> None:
    assert digest(RunCounts() + counts) == digest(counts + RunCounts()) == digest(counts)


def test_the_digest_sees_every_count(counts: RunCounts) -> None:
    dealt = counts.batch.dealt
    assert dealt is not None
    for name in SUMS:
        array = getattr(dealt, name).copy()
        array.flat[-1] += 1
        other = replace(counts, batch=replace(counts.batch, dealt=replace(dealt, **{name: array})))
        assert digest(other) != digest(counts), name
    hashes = {first: array ^ np.uint64(1) for first, array in dealt.hashes.items()}
    other = replace(counts, batch=replace(counts.batch, dealt=replace(dealt, hashes=hashes)))
    assert digest(other) != digest(counts)


def test_counts_read_back_from_their_encoding(counts: RunCounts) -> None:
    arrays: dict[str, np.ndarray] = {}
    again = decode(encode(counts, arrays), arrays)
    assert digest(again) == digest(counts)
    assert [r.to_json() for r in judge_all(SMALL.checks[::7], again, ONE_DECK)] == [
        r.to_json() for r in judge_all(SMALL.checks[::7], counts, ONE_DECK)
    ]


@pytest.mark.parametrize("value", [object(), b"bytes", [1], {1, 2}, np.int64(1), Plan])
def test_only_what_counts_are_made_of_is_encoded(value: object) -> None:
    with pytest.raises(InputError, match="encode: expected a value that counts are made of"):
        encode(value, {})


@pytest.mark.parametrize("encoded", [{"pickle": "x"}, {"class": "Popen", "fields": {}}, {}, {"a": 1, "b": 2}])
def test_nothing_else_is_decoded(encoded: object) -> None:
    with pytest.raises((InputError, KeyError, ValueError)):
        decode(encoded, {})


# --- bits and the wrong engine -----------------------------------------------------------------


def test_bits_are_the_words_that_shuffles_draw_from() -> None:
    """Read off the protocol's scalar keystream: 51 words of each shoe of one deck, one shoe after the other."""
    from audit.paths import batch_key  # noqa: PLC0415

    bits = sequence_of_bits(SMALL, "batch", 0)
    stream = b"".join(keystream(batch_key(SMALL), hand, 4 * 51) for hand in range(613))
    text = "".join(f"{byte:08b}" for byte in stream)[:1_000_000]
    assert bits.tobytes() == bytes(map(int, text))


def test_the_test_engine_in_the_right_order_is_the_kernel() -> None:
    ours, theirs = engine(RIGHT).deal_block(ONE_DECK, KEY, 0, 101), deal_block(ONE_DECK, KEY, 0, 101)
    for name in SUMS:
        assert (getattr(ours, name) == getattr(theirs, name)).all(), name
    assert ours.runs == theirs.runs


def test_missing_parts_take_over_the_others() -> None:
    assert (PathCounts() + PathCounts()).dealt is None
