"""Tallies: what they count, and that any split of the work gives the same sum."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.tally import Seen, Tally, add_up, seen, tally_fresh_shuffles, tally_shoe
from shoe.errors import InputError
from shoe.game.cards import parse_card
from shoe.game.tableau import play_coup
from tests.audit import seen_shoes

PLAYER = Seen("player", "player_natural", 4, 9, 3)
BANKER = Seen("banker", "stood_stands", 4, 6, 7)
TIE = Seen("tie", "both_natural", 4, 8, 8)

shoes = st.lists(st.lists(st.sampled_from([PLAYER, BANKER, TIE]), max_size=6), max_size=4)


def counted(dealt: list[list[Seen]]) -> Tally:
    return add_up(tally_shoe(shoe, 5) for shoe in dealt)


def test_a_coup_is_seen_as_its_totals_cards_and_class() -> None:
    cards = [parse_card(name) for name in ("2c", "Td", "3s", "6h", "8c", "As")]
    assert seen(play_coup(cards)) == Seen("banker", "t8_stands", 5, 3, 6)


def test_a_shoe_counts_coups_length_wins_and_runs() -> None:
    tally = tally_shoe([BANKER, TIE, BANKER, PLAYER, BANKER], 69)
    assert tally.coups == {BANKER: 3, TIE: 1, PLAYER: 1}
    assert tally.lengths == {5: 1}
    assert tally.wins == {(3, 1): 1}
    assert tally.runs == 3  # the tie within the first run does not break it
    assert (tally.n, tally.pairs) == (5, 20)


def test_coups_after_the_judged_ones_are_left_out() -> None:
    judged = [BANKER, PLAYER]
    assert tally_shoe([*judged, TIE, PLAYER], 2) == tally_shoe(judged, 2)


def test_runs_do_not_go_over_from_shoe_to_shoe() -> None:
    tally = counted([[BANKER, BANKER], [BANKER], [PLAYER]])
    assert tally.runs == 3
    assert tally.wins == {(2, 0): 1, (1, 0): 1, (0, 1): 1}
    assert tally.pairs == 2


def test_a_shoe_of_ties_alone_has_length_but_no_wins() -> None:
    tally = tally_shoe([TIE, TIE], 69)
    assert (tally.lengths, tally.wins, tally.runs) == ({2: 1}, {}, 0)


def test_an_outcome_that_is_none_is_counted_but_wins_nothing() -> None:
    tally = tally_shoe([BANKER, PLAYER._replace(outcome="void"), BANKER], 69)  # type: ignore[arg-type]
    assert (tally.n, tally.wins, tally.runs) == (3, {(2, 0): 1}, 1)


def test_fresh_shuffles_are_shoes_of_one_coup_and_one_sequence() -> None:
    tally = tally_fresh_shuffles([BANKER, PLAYER, TIE, PLAYER])
    assert tally.lengths == {1: 4}
    assert tally.pairs == 0
    assert (tally.wins, tally.runs) == ({(1, 2): 1}, 2)


def test_nothing_dealt_counts_nothing() -> None:
    assert tally_shoe([], 69) == tally_fresh_shuffles([]) == add_up([]) == Tally()
    assert Tally().n == Tally().pairs == Tally().runs == 0


@given(shoes, shoes, shoes)
def test_sums_are_associative_and_commutative(
    one: list[list[Seen]], two: list[list[Seen]], three: list[list[Seen]]
) -> None:
    a, b, c = counted(one), counted(two), counted(three)
    assert (a + b) + c == a + (b + c) == counted([*one, *two, *three])
    assert a + b == b + a
    assert a + Tally() == a


@given(shoes)
def test_runs_are_those_of_grouping_the_winners(dealt: list[list[Seen]]) -> None:
    winners = [[coup.outcome for coup in shoe[:5] if coup.outcome != "tie"] for shoe in dealt]
    tally = counted(dealt)
    assert tally.runs == sum(len(list(groupby(shoe))) for shoe in winners)
    assert tally.wins == Counter((w.count("banker"), w.count("player")) for w in winners if w)


def test_any_split_and_order_of_real_shoes_gives_the_same_sum() -> None:
    dealt = seen_shoes.deal(8, 30, 69, seed=1)
    whole = seen_shoes.tally(dealt, 69)
    mixed = dealt[20:] + dealt[1:20:2] + dealt[:20:2]
    blocks = [seen_shoes.tally(mixed[start : start + 7], 69) for start in range(0, 30, 7)]
    assert add_up(reversed(blocks)) == whole
    assert whole.n == 30 * 69
    assert whole.pairs == 30 * 69 * 68


def test_a_tally_goes_to_another_process_and_back() -> None:
    tally = counted([[BANKER, TIE], [PLAYER]])
    assert pickle.loads(pickle.dumps(tally)) == tally  # noqa: S301 (our own bytes)


def test_adding_leaves_both_sides_as_they_were() -> None:
    one, other = counted([[BANKER]]), counted([[PLAYER, BANKER]])
    assert (one + other).n == 3
    assert (one, other) == (counted([[BANKER]]), counted([[PLAYER, BANKER]]))


@pytest.mark.parametrize("judged", [0, -1])
def test_no_judged_coups_are_refused(judged: int) -> None:
    with pytest.raises(InputError, match=r"^judged: expected 1 or more judged coups a shoe, got"):
        tally_shoe([BANKER], judged)


def test_a_tally_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Tally().runs = 1  # type: ignore[misc]
