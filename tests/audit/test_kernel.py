"""The compiled kernel: bit for bit the scalar shuffle and dealer of `shoe`, and the reference that deals off a pile."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.block import Block
from audit.cells import CELLS
from audit.kernel import Draws, _draw, _hash, _weights, compiled, deal_block, orders
from shoe.errors import InputError
from shoe.game.cards import card_name, fresh_shoe
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.rules import Rules
from shoe.proof.seal import parse_transcript
from shoe.proof.shuffle import forward_shuffle, shuffle_hand
from shoe.proof.stream import words
from tests.audit.scalar_block import (
    added,
    counts_of,
    coup_rules,
    key,
    legal_shoe_rules,
    points_of,
    scalar_counts,
    shoe_rules,
)
from tests.reference import dealing_reference, shuffle_reference, stream_reference

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "protocol.json").read_text())
ROOT = Path(__file__).parents[2]
KEY = key("kernel")
EIGHT = NP_PUNTO_BANCO.rules


def scalar_orders(rules: Rules, shoes: list[tuple[bytes, int]]) -> list[bytes]:
    return [bytes(forward_shuffle(words(*shoe), rules.decks)) for shoe in shoes]


def card_numbers(ids: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in (ids % 52).astype(np.uint8)]


# --- orders ------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"h{vector['hand']}")
def test_the_vectors_shoes(vector: dict) -> None:
    rules = parse_transcript(vector["transcript"].encode()).rules
    order = orders(rules, bytes.fromhex(vector["shuffle_key"]), [vector["hand"]])[0]
    assert " ".join(card_name(card % 52) for card in order.tolist()) == vector["cards"]
    assert sorted(order.tolist()) == list(range(52 * vector["decks"]))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"h{vector['hand']}")
def test_the_vectors_coups(vector: dict) -> None:
    """Also of the two shoes with a rejected word, and of their neighbours, whom that must not touch."""
    rules, shuffle_key = parse_transcript(vector["transcript"].encode()).rules, bytes.fromhex(vector["shuffle_key"])
    first = vector["hand"] & ~1
    expected = scalar_counts(rules, [(shuffle_key, hand) for hand in range(first, first + 3)])
    assert counts_of(deal_block(rules, shuffle_key, first, 3)) == expected


def test_the_vectors_with_a_rejection_are_there() -> None:
    assert {v["hand"] for v in VECTORS if v["words_used_by_shuffle"] > 52 * v["decks"] - 1} == {128872, 10002}


@pytest.mark.parametrize("decks", range(1, 17))
def test_physical_cards_are_those_of_the_definition(decks: int) -> None:
    hands = [0, 1, 2, 77, 2**32, 2**64 - 1]
    for hand, order in zip(hands, orders(coup_rules(decks), KEY, hands).tolist(), strict=True):
        source = iter(stream_reference.words(KEY, hand, 52 * decks + 20))
        draw = lambda bound, source=source: stream_reference.below(source, bound)  # noqa: E731
        assert order == shuffle_reference.shuffle(range(52 * decks), draw)


@pytest.mark.parametrize(("decks", "count"), [(1, 2001), (8, 1001), (16, 301)])
def test_thousands_of_shuffles_are_the_scalar_ones(decks: int, count: int) -> None:
    hands = [number * 0x9E3779B97F4A7C15 % 2**64 for number in range(count)]
    rules = coup_rules(decks)
    assert card_numbers(orders(rules, KEY, hands)) == scalar_orders(rules, [(KEY, hand) for hand in hands])
    keys = [key((decks, number)) for number in range(count)]
    assert card_numbers(orders(rules, keys, range(count))) == scalar_orders(rules, [(one, 0) for one in keys])


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_a_million_shuffles_are_the_scalar_ones(part: int) -> None:
    """50,000 (key, h) a part, under 50 keys, of 1 to 16 decks; some 20 of the million meet a rejection."""
    rng = np.random.Generator(np.random.PCG64([2024, part]))
    for _ in range(50):
        shuffle_key, rules = rng.bytes(32), coup_rules(int(rng.choice([1, 1, 1, 1, 2, 4, 6, 8, 8, 16])))
        hands = rng.integers(0, 2**64, 1000, dtype=np.uint64).tolist()
        shoes = [(shuffle_key, hand) for hand in hands]
        assert card_numbers(orders(rules, shuffle_key, hands)) == scalar_orders(rules, shoes)


def test_no_hands_no_orders() -> None:
    assert orders(EIGHT, KEY, []).shape == (0, 416)


@pytest.mark.parametrize("bound", [2, 3, 51, 255, 415, 416, 793, 831, 832])
def test_a_word_is_rejected_exactly_below_the_threshold(bound: int) -> None:
    """Words whose product with the bound comes to lie at, or next to, 2^32 mod bound (protocol §5)."""
    threshold = 2**32 % bound
    multiples = [-(-(2**32 * result + threshold) // bound) for result in range(bound)]
    candidates = {word + step for word in multiples for step in (-1, 0, 1) if 0 <= word + step < 2**32} | {0, 2**32 - 1}
    batch = np.array([[word] for word in sorted(candidates)], np.uint32)
    given, rejected = batch.ravel().tolist(), np.empty(len(batch), np.bool_)
    _draw(batch, Draws(*(np.array([value], np.uint32) for value in (bound, threshold, 7))), rejected)
    assert rejected.tolist() == [word * bound % 2**32 < threshold for word in given]
    assert batch.ravel().tolist() == [7 + word * bound // 2**32 for word in given]
    assert rejected.any() == (threshold > 0)


# --- counts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [r for decks in (1, 2, 8) for r in legal_shoe_rules(decks)], ids=str)
def test_a_shoe_table_counts_what_the_scalar_dealer_deals(rules: Rules) -> None:
    expected = scalar_counts(rules, [(KEY, hand) for hand in range(6, 6 + 45)])
    assert counts_of(deal_block(rules, KEY, 6, 45)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("decks", range(1, 17))
def test_every_legal_table_counts_what_the_scalar_dealer_deals(decks: int) -> None:
    for number, rules in enumerate(legal_shoe_rules(decks)):
        count = 700 // decks
        expected = scalar_counts(rules, [(key(number), hand) for hand in range(count)])
        assert counts_of(deal_block(rules, key(number), 0, count)) == expected


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_legal_cut(data: st.DataObject) -> None:
    decks, last_coup = data.draw(st.integers(1, 3)), data.draw(st.sampled_from(["drawn_in", "one_more"]))
    low = data.draw(st.integers(6 if last_coup == "drawn_in" else 11, 52 * decks - 11))
    high = data.draw(st.integers(low, 52 * decks - 11))
    rules = shoe_rules(decks, (low, high), data.draw(st.sampled_from(["none", "first_card"])), last_coup)
    first = 2 * data.draw(st.integers(0, 2**62))
    shoes = [(KEY, hand) for hand in range(first, first + 21)]
    assert counts_of(deal_block(rules, KEY, first, 21)) == scalar_counts(rules, shoes)


@pytest.mark.parametrize("rules", legal_shoe_rules(1), ids=str)
def test_coups_off_a_pile_of_cards(rules: Rules) -> None:
    """Orders by the kernel, dealt by a dealer that imports nothing of the project."""
    block = deal_block(rules, KEY, 0, 500)
    seen: dict[tuple[int, int, int, str, str], int] = {}
    lengths = [0] * len(block.coups_per_shoe)
    for hand, order in enumerate(orders(rules, KEY, range(500))):
        cut = shuffle_hand(KEY, rules, hand).cut_position
        coups = dealing_reference.deal(points_of(order), cut, rules.burn, rules.last_coup)
        lengths[len(coups)] += 1
        for coup in coups:
            seen[coup[1:]] = seen.get(coup[1:], 0) + 1
    counted = {
        (cell.cards, cell.player_total, cell.banker_total, cell.outcome, cell.rule): count
        for cell, count in zip(CELLS, block.all_cells.tolist(), strict=True)
        if count
    }
    assert (counted, block.coups_per_shoe.tolist()) == (seen, lengths)


@pytest.mark.parametrize(("decks", "count"), [(1, 4099), (2, 300), (8, 4099), (16, 301)])
def test_a_table_shuffled_for_every_coup(decks: int, count: int) -> None:
    rules = coup_rules(decks)
    expected = scalar_counts(rules, [(KEY, hand) for hand in range(2, 2 + count)])
    block = deal_block(rules, KEY, 2, count)
    assert counts_of(block) == expected
    assert block.judged_cells.tolist() == block.all_cells.tolist()


@pytest.mark.parametrize("rules", [EIGHT, shoe_rules(1, (11, 40), "first_card", "one_more"), coup_rules(8)], ids=str)
def test_a_key_for_each_shoe(rules: Rules) -> None:
    keys = [key(number) for number in range(301)]
    block = deal_block(rules, keys, 100, 201)
    assert counts_of(block) == scalar_counts(rules, [(one, 0) for one in keys[100:]])
    assert block.order_hashes[7] == deal_block(rules, keys[107], 0, 1).order_hashes[0]


# Found by looking through the shuffles under KEY, of which one in some 2,000,000 (six draws from 16 decks) and one in
# 5,400,000 (a cut card in 793 places, 2^32 mod 793 = 789) rejects a word.
@pytest.mark.parametrize(("hand", "draw"), [(229_679, 5), (3_313_205, 3)])
def test_a_rejected_word_among_a_coup_s_six(hand: int, draw: int) -> None:
    rules, bound = coup_rules(16), 832 - draw
    assert stream_reference.words(KEY, hand, 6)[draw] * bound % 2**32 < 2**32 % bound
    first = hand & ~1
    expected = scalar_counts(rules, [(KEY, first), (KEY, first + 1)])
    assert counts_of(deal_block(rules, KEY, first, 2)) == expected


def test_a_rejected_word_for_the_cut_card() -> None:
    rules, hand = shoe_rules(16, (6, 798)), 1_235_248
    assert stream_reference.words(KEY, hand, 832)[831] * 793 % 2**32 < 2**32 % 793
    assert counts_of(deal_block(rules, KEY, hand, 1)) == scalar_counts(rules, [(KEY, hand)])


# --- adding up ---------------------------------------------------------------------------------

SPLIT = [shoe_rules(2, (14, 30), "first_card", "one_more"), EIGHT, coup_rules(8)]


@pytest.mark.parametrize("rules", SPLIT, ids=str)
@pytest.mark.parametrize("at", [2, 254, 256, 258, 600])
def test_any_split_of_the_work_adds_up(rules: Rules, at: int) -> None:
    whole, one, other = (deal_block(rules, KEY, *run) for run in ((10, 601), (10, at), (10 + at, 601 - at)))
    assert counts_of(whole) == added(one, other)
    assert whole.order_hashes.tolist() == [*one.order_hashes.tolist(), *other.order_hashes.tolist()]
    assert whole.shoes == one.shoes + other.shoes == 601


def test_other_processes_give_the_same_block() -> None:
    here = [deal_block(rules, KEY, 0, 300) for rules in SPLIT]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as workers:
        there = [work.result() for work in [workers.submit(deal_block, rules, KEY, 0, 300) for rules in SPLIT]]
    assert [counts_of(block) for block in here] == [counts_of(block) for block in there]
    assert [block.order_hashes.tolist() for block in here] == [block.order_hashes.tolist() for block in there]


def test_the_mean_number_of_coups() -> None:
    """83.429 ± .003 for 8 decks, cut 7: `coups_per_shoe` by numpy's shuffle."""
    block = deal_block(EIGHT, KEY, 0, 20_000)
    lengths = np.arange(len(block.coups_per_shoe))
    mean = (block.coups_per_shoe * lengths).sum() / 20_000
    assert abs(mean - 83.429) < 4 * 1.6 / 20_000**0.5
    assert block.coups_per_shoe.sum() == 20_000
    assert block.judged_cells.sum() == 69 * 20_000


# --- hashes of orders --------------------------------------------------------------------------


def bits_are_even(block: Block) -> bool:
    ones = [int((block.order_hashes >> np.uint64(bit) & np.uint64(1)).sum()) for bit in range(64)]
    return max(abs(one - block.shoes / 2) for one in ones) < 4.5 * block.shoes**0.5 / 2


@pytest.mark.parametrize("decks", [1, 2, 8, 16])
def test_different_orders_have_different_hashes(decks: int) -> None:
    block = deal_block(shoe_rules(decks, (7, 7)), KEY, 0, 10_000)
    assert len(set(block.order_hashes.tolist())) == 10_000
    assert bits_are_even(block)


@pytest.mark.parametrize("rules", [EIGHT, shoe_rules(1, (7, 7)), coup_rules(1)], ids=str)
def test_a_repeated_shoe_shows(rules: Rules) -> None:
    """A generator of 50 seeds: hashes agree exactly where the keys do, wherever in a batch they stand."""
    labels = [number * number % 97 for number in range(800)]
    hashes = deal_block(rules, [key(label) for label in labels], 0, 800).order_hashes.tolist()
    assert [hashes.index(value) for value in hashes] == [labels.index(label) for label in labels]


def test_a_coup_s_hash_stands_for_its_first_six_physical_cards() -> None:
    block, six = deal_block(coup_rules(1), KEY, 0, 200_000), orders(coup_rules(1), KEY, range(200_000))[:, :6]
    assert len(np.unique(block.order_hashes)) == len(np.unique(six, axis=0))
    assert bits_are_even(block)


@given(st.integers(0, 51), st.integers(0, 51))
@settings(max_examples=50, deadline=None)
def test_exchanging_two_cards_changes_the_hash(one: int, other: int) -> None:
    cards = np.array(fresh_shoe(1), np.uint16)
    before = _hash(cards.view(np.uint64), _weights(13))
    cards[[one, other]] = cards[[other, one]]
    assert (before == _hash(cards.view(np.uint64), _weights(13))) == (one == other)


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "count"), [(1, 2), (-1, 1), (0, 0), (0, -2), (2**64 + 1, 1)])
def test_odd_and_empty_blocks_are_refused(first: int, count: int) -> None:
    with pytest.raises(InputError, match="deal_block: expected an even first shoe, and 1 or more shoes"):
        deal_block(EIGHT, KEY, first, count)


@pytest.mark.parametrize(("first", "count"), [(-2, 1), (2**64 - 2, 3), (2**64, 1)])
def test_shuffles_beyond_64_bits_are_refused(first: int, count: int) -> None:
    with pytest.raises(InputError, match="shoes: expected shoes within 0…18446744073709551615, got"):
        deal_block(EIGHT, KEY, first, count)


def test_the_last_shuffle_there_is() -> None:
    last = 2**64 - 2
    expected = scalar_counts(EIGHT, [(KEY, last), (KEY, last + 1)])
    assert counts_of(deal_block(EIGHT, KEY, last, 2)) == expected


@pytest.mark.parametrize(("first", "count"), [(0, 4), (2, 2), (4, 1)])
def test_shoes_without_a_key_are_refused(first: int, count: int) -> None:
    with pytest.raises(InputError, match="shoes: expected shoes within 0…2, got"):
        deal_block(EIGHT, [KEY] * 3, first, count)


@pytest.mark.parametrize("bad", [[KEY, KEY[:31]], [KEY, b""], KEY + b"\0", b""])
def test_keys_of_another_length_are_refused(bad: bytes | list[bytes]) -> None:
    with pytest.raises(InputError, match="keys: expected a shuffle key of 32 bytes"):
        deal_block(EIGHT, bad, 0, 2)


@pytest.mark.parametrize("hands", [[-1], [0, 2**64], [5, -3]])
def test_orders_of_no_shuffle_are_refused(hands: list[int]) -> None:
    with pytest.raises(InputError, match="shoes: expected shoes within 0…18446744073709551615, got"):
        orders(EIGHT, KEY, hands)
    with pytest.raises(InputError, match="shoes: expected shoes within 0…1, got"):
        orders(EIGHT, [KEY, KEY], hands)


# --- compiling ---------------------------------------------------------------------------------

PREPARE = """
from audit.kernel import deal_block, prepare
from shoe.game.houses import NP_PUNTO_BANCO
prepare(lambda text: print("SAID", text))
print(deal_block(NP_PUNTO_BANCO.rules, bytes(32), 0, 4).all_cells.sum())
"""


def test_compiling_is_told_once_and_kept(tmp_path: Path) -> None:
    def run() -> list[str]:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", PREPARE], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return done.stdout.splitlines()

    told, dealt = run()
    assert told.startswith("SAID compiling the dealing kernel")
    assert list(tmp_path.rglob("*.nbc"))
    assert run() == [dealt]


def test_without_a_place_for_the_cache_it_compiles_all_the_same() -> None:
    """Code that is in no file has no cache: numba refuses to keep it, which must not stop a run."""
    scope: dict = {}
    exec("def double(x):\n    return 2 * x", scope)  # noqa: S102
    assert compiled(scope["double"])(21) == 42
