"""One coup's bets: which may lie together and for how much; the bank that can be broken; no money made or lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import BetError
from shoe.game.bets.layout import (
    accept_stakes,
    bank_after,
    check_bank,
    greatest_stake,
    is_broken,
    lower_own_limit,
    settle_stakes,
    worst_minor,
)
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import reachable
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import CATALOGUE
from shoe.game.houses import HOUSES
from tests.shoe.witness_coups import deal, witnesses

NP, THREE, VIP = (HOUSES[name].terms for name in ("np_punto_banco", "np_punto_banco_three", "vip"))
INTERCASINO, CHANCE, DOPPELGANGER = (HOUSES[name].terms for name in ("intercasino", "chance", "doppelganger"))


@pytest.mark.parametrize(
    ("terms", "stakes"),
    [
        (NP, {}),  # a pass
        (DOPPELGANGER, {}),
        (NP, {"tie": 100}),
        (NP, {"banker": 12_345}),
        (THREE, {"player": 100, "banker": 100, "tie": 100}),
        (CHANCE, {"player": 50_000_000, "banker": 100}),  # no greatest stake
        (INTERCASINO, {"player": 3_000}),  # 30 units, which no chip is
        (INTERCASINO, {"player": 30_000, "banker": 500, "tie": 500}),
        (DOPPELGANGER, {"tie": 100, "player_doppelganger": 50_000, "banker_doppelganger": 100}),
        (DOPPELGANGER, {"player_doppelganger": 100, "banker": 100}),  # whichever is named first
    ],
)
def test_bets_that_a_table_takes(terms: Terms, stakes: dict[str, int]) -> None:
    assert accept_stakes(terms, stakes) == stakes


@pytest.mark.parametrize(
    ("terms", "stakes", "message"),
    [
        (NP, {"player": 100, "tie": 100}, "bets: expected one bet on the outcome per coup, got 'player, tie'"),
        (NP, {"dragon_7": 100}, "bet: expected one of this table's bets, player, banker, tie, got 'dragon_7'"),
        (NP, {"player": 99}, "player: expected a stake of at least 100, got 99"),
        (NP, {"player": 0}, "player: expected a stake of 1…"),
        (NP, {"player": 1.5}, "player: expected a stake of 1…"),
        (NP, {"player": True}, "player: expected a stake of 1…"),
        (INTERCASINO, {"tie": 30_100}, "tie: expected a stake of at most 30000, the table's limit, got 30100"),
        (INTERCASINO, {"tie": 550}, "tie: expected a multiple of the least chip, 100, got 550"),
        (VIP, {"tie": 400}, "tie: expected a stake of at least 500, got 400"),
        (CHANCE, {"banker": 150}, "banker: expected a multiple of the least chip, 100, got 150"),
        (CHANCE, {"banker": 50}, "banker: expected a stake of at least 100, got 50"),
        (
            DOPPELGANGER,
            {"player_doppelganger": 100},
            "bets: expected a bet on the outcome beside a side bet, got 'player_doppelganger'",
        ),
        (
            DOPPELGANGER,
            {"tie": 100, "banker_doppelganger": 50_100},
            "banker_doppelganger: expected a stake of at most 50000, the table's limit, got 50100",
        ),
    ],
)
def test_bets_that_a_table_refuses(terms: Terms, stakes: dict[str, Any], message: str) -> None:
    with pytest.raises(BetError) as refused:
        accept_stakes(terms, stakes)
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize("stake", [1, 100, 499, 500])
def test_intercasino_raises_a_lower_stake_to_its_least(stake: int) -> None:
    assert accept_stakes(INTERCASINO, {"banker": stake}) == {"banker": 500}


def test_a_side_bet_may_stand_alone_where_the_table_lets_it() -> None:
    free = replace(DOPPELGANGER, side_bets="alone")
    assert accept_stakes(free, {"player_doppelganger": 100}) == {"player_doppelganger": 100}


def test_one_bet_on_the_outcome_leaves_side_bets_free() -> None:
    one = replace(DOPPELGANGER, combine="one")
    accept_stakes(one, {"tie": 100, "player_doppelganger": 100, "banker_doppelganger": 100})
    with pytest.raises(BetError, match="one bet on the outcome"):
        accept_stakes(one, {"tie": 100, "player": 100, "player_doppelganger": 100})


# --- the player's own limit --------------------------------------------------------------------


def test_a_players_own_limit_bounds_the_stake() -> None:
    assert accept_stakes(VIP, {"tie": 10_000}, own_limit_minor=10_000) == {"tie": 10_000}
    with pytest.raises(BetError, match=r"^tie: expected a stake of at most 10000, the player's own limit, got 10100$"):
        accept_stakes(VIP, {"tie": 10_100}, own_limit_minor=10_000)


def test_an_own_limit_above_the_tables_changes_nothing() -> None:
    with pytest.raises(BetError, match="the table's limit"):
        accept_stakes(VIP, {"tie": 30_100}, own_limit_minor=90_000)
    assert greatest_stake(VIP, 90_000) == 30_000
    assert greatest_stake(VIP, None) == 30_000
    assert greatest_stake(CHANCE) is None
    assert greatest_stake(CHANCE, 700) == 700


def test_an_own_limit_can_only_be_lowered() -> None:
    assert lower_own_limit(VIP, None, 29_900) == 29_900
    assert lower_own_limit(VIP, 29_900, 500) == 500
    for present, asked in ((None, 30_000), (None, 30_001), (29_900, 29_900), (29_900, 29_901), (700, 499), (None, 0)):
        with pytest.raises(BetError, match=r"^own limit: expected a "):
            lower_own_limit(VIP, present, asked)


def test_an_own_limit_where_the_table_has_no_greatest_stake() -> None:
    free = replace(VIP, limits=replace(VIP.limits, max_minor=None))
    assert lower_own_limit(free, None, 10**9) == 10**9
    with pytest.raises(BetError, match=r"^own limit: expected a limit any, and at least 500, got 100$"):
        lower_own_limit(free, None, 100)


def test_a_house_without_own_limits_takes_none() -> None:
    with pytest.raises(BetError, match=r"^own limit: expected a table that has own limits, got "):
        lower_own_limit(NP, None, 500)


# --- the bank ----------------------------------------------------------------------------------


def test_the_worst_that_bets_can_cost_by_hand() -> None:
    """Tie 8:1 beside a player's bet that pushes; a tie and both pure pairs at 25:1; opposite bets never both win."""
    assert worst_minor(THREE, [{"player": 100, "tie": 100}], 8) == 800
    assert worst_minor(THREE, [{"player": 100}, {"banker": 100}], 8) == 0
    assert worst_minor(THREE, [{"player": 100}, {"banker": 200}], 8) == 90
    stakes = {"tie": 100, "player_doppelganger": 100, "banker_doppelganger": 100}
    assert worst_minor(DOPPELGANGER, [stakes], 6) == 800 + 2500 + 2500
    assert worst_minor(THREE, [], 8) == 0


@settings(deadline=None, max_examples=40)
@given(st.dictionaries(st.sampled_from(sorted(CATALOGUE)), st.integers(1, 10**6), max_size=6))
def test_the_worst_is_the_worst_of_everything_that_can_be_shown(stakes: dict[str, int]) -> None:
    terms = replace(THREE, bets=tuple(CATALOGUE.values()))
    sums = [
        sum(settle_shown(CATALOGUE[b], s, shown, terms).net_minor for b, s in stakes.items()) for shown in reachable(8)
    ]
    assert worst_minor(terms, [stakes], 8) == max(sums)


def test_a_bet_that_the_bank_could_not_pay_is_refused() -> None:
    check_bank(NP, 800, [{"tie": 100}], 8)
    with pytest.raises(
        BetError, match=r"^bets: expected bets that a bank of 799 can pay, got 'bets that may win 800'$"
    ):
        check_bank(NP, 799, [{"tie": 100}], 8)
    check_bank(NP, 95, [{"banker": 100}], 8)
    with pytest.raises(BetError, match="bank of 94 can pay"):
        check_bank(NP, 94, [{"banker": 100}], 8)
    with pytest.raises(BetError, match="may win 1600"):
        check_bank(NP, 800, [{"tie": 100}, {"tie": 100}, {"banker": 700}], 8)


def test_a_bank_that_can_not_be_broken_pays_everything() -> None:
    check_bank(VIP, 0, [{"tie": 30_000}], 8)
    assert not is_broken(VIP, 0, 8)


def test_the_bank_is_broken_when_it_could_pay_no_bet() -> None:
    """The least it can owe is .95 on a banker's bet of 1."""
    assert [is_broken(NP, funds, 8) for funds in (0, 94, 95, 100, 10**6)] == [True, True, False, False, False]


def test_a_bank_is_broken_by_play() -> None:
    bank, won = NP.money.bank_minor, 0
    assert bank == 1_000_000
    while not is_broken(NP, bank, 8):
        stakes = accept_stakes(NP, {"player": min(100_000, bank)})
        check_bank(NP, bank, [stakes], 8)
        done = settle_stakes(NP, stakes, deal("9s Kd", "7h Tc"))
        bank, won = bank_after(bank, done), won + sum(each.net_minor for each in done)
    assert (bank, won) == (0, 1_000_000)


@settings(deadline=None)
@given(
    st.sampled_from(["np_punto_banco_three", "vip", "doppelganger", "chance"]),
    st.lists(st.dictionaries(st.sampled_from(sorted(CATALOGUE)), st.integers(1, 10**7), max_size=8), max_size=5),
    st.lists(st.integers(0, 2436), min_size=1, max_size=5),
    st.integers(0, 10**9),
)
def test_money_is_neither_made_nor_lost(table: str, players: list[dict[str, int]], dealt: list[int], bank: int) -> None:
    """Purses, what lies on the table, and the bank are one sum before and after every coup."""
    terms = replace(HOUSES[table].terms, bets=tuple(CATALOGUE.values()))
    purses = [0] * len(players)
    for at in dealt:
        coup = list(witnesses().values())[at]
        before = bank + sum(purses)
        for n, stakes in enumerate(players):
            purses[n] -= sum(stakes.values())
            done = settle_stakes(terms, stakes, coup)
            bank = bank_after(bank, done)
            lying = sum(each.left_minor for each in done)
            purses[n] += sum(each.returned_minor for each in done) + lying
        assert bank + sum(purses) == before
