"""Faults reported of public baccarat engines, each shown not to be here."""

from __future__ import annotations

import pytest

from shoe.game.bets.settling import settle
from shoe.game.bets.wagers import BANKER, CATALOGUE, PLAYER
from shoe.game.dealing import deal_shoe
from shoe.game.houses import HOUSES
from shoe.game.roads import draw_roads
from shoe.game.rules import CutRange, Rules
from shoe.game.tableau import play_coup
from shoe.proof.shuffle import shuffle_hand
from tests.shoe.witness_coups import deal

TERMS = HOUSES["np_punto_banco_three"].terms


def net(bet: str, player: str, banker: str) -> int:
    return settle(CATALOGUE[bet], 100, deal(player, banker), TERMS).net_minor


def test_a_winning_six_is_looked_for_in_the_bankers_hand() -> None:
    """Not in the player's: here the player has 6 and the banker wins with 7, and there the player wins with 6."""
    assert net("no_commission_banker", "6c Kd", "2s 3h 2d") == 100
    assert net("super_6", "6c Kd", "2s 3h 2d") == -100
    assert net("super_6", "6c Kd", "Ts Qd 5h") == -100
    assert net("no_commission_banker", "Tc 5d Kh", "6s Qd") == 50


def test_a_pair_is_seen_though_a_third_card_comes() -> None:
    assert net("player_pair", "6h 6h 6c", "4s 2d Kc") == 1100
    assert net("banker_pair", "Kc Qd 5h", "Ah As 3h") == 1100
    assert net("banker_doppelganger", "Kc Qd 5h", "Ah As 3h") == 600


def test_a_third_card_makes_no_pair() -> None:
    assert net("player_pair", "2c 3d 3h", "7s Qd") == -100


def test_ten_and_king_are_no_pair_though_both_are_worth_nothing() -> None:
    assert net("player_pair", "Tc Kc 9h", "7s Qd") == -100


def test_a_tie_is_no_loss_of_a_bet_on_a_side() -> None:
    for bet in ("player", "banker", "ez_banker", "no_commission_banker"):
        assert net(bet, "6c Td", "4s 2d") == 0


def test_commission_is_no_float_cut_off() -> None:
    """int(.95·bet) pays 8 on 9, and on 41 one minor unit less than a rounded commission leaves."""
    coup = deal("6c Kd", "2s 3h 2d")
    assert [settle(BANKER, stake, coup, TERMS).net_minor for stake in (9, 41, 100)] == [9, 39, 95]
    assert [int(0.95 * stake) for stake in (9, 41)] == [8, 38]


def test_pairs_of_both_sides_are_paid_each() -> None:
    coup = ("Qc Qd 8s", "3h 3s")
    assert [net(bet, *coup) for bet in ("player_pair", "banker_pair", "either_pair")] == [1100, 1100, 500]
    assert [net(f"{hand}_doppelganger", *coup) for hand in ("player", "banker")] == [600, 600]


def test_a_leading_tie_is_on_the_roads() -> None:
    roads = draw_roads("TTBP")
    assert roads.columns == ("--B", "P")
    assert roads.big_road_cells[0] == (0, 0, "B", 2)
    assert roads.sums.tie == 2


@pytest.mark.parametrize("last_coup", ["drawn_in", "one_more"])
def test_no_coup_takes_cards_from_a_refilled_shoe(last_coup: str) -> None:
    """Every card of every coup is the next of the one shuffled shoe, to the last coup behind the cut card."""
    least = 6 if last_coup == "drawn_in" else 11
    rules = Rules("first_card", None, CutRange(least, least), 1, "house", last_coup, "shoe")  # type: ignore[arg-type]
    ends = set()
    for hand in range(200):
        cards = list(shuffle_hand(bytes(32), rules, hand).cards)
        position = None
        for dealt in deal_shoe(rules, cards, rules.size - least):
            assert position in (None, dealt.start)
            position = dealt.start + len(dealt.coup.cards)
            assert list(dealt.coup.cards) == cards[dealt.start : position]
            assert dealt.coup == play_coup(cards[dealt.start :])
        assert position is not None
        assert position > rules.size - least
        ends.add(rules.size - position)
    assert min(ends) == 0  # some shoe was dealt to its very last card, and none beyond


def test_player_bets_pay_even_money_whatever_wins_them() -> None:
    assert settle(PLAYER, 1, deal("9s Kd", "7h Tc"), TERMS).net_minor == 1
