"""What every bet pays: a table made by hand, a slow reference on all that a coup can show, and rounding by Decimal."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import BetError, CardError, InputError
from shoe.game.bets.events import EVENTS
from shoe.game.bets.settling import MAX_STAKE_MINOR, rounded, settle, settle_shown
from shoe.game.bets.shown import PAIRS, Shown, pair_of, reachable, shown_by
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import BANKER, BANKER_19_20, CATALOGUE, PLAYER, Bet, Pay
from shoe.game.cards import parse_card
from shoe.game.houses import HOUSES
from shoe.game.tableau import Coup
from tests.reference import bets_reference
from tests.shoe.witness_coups import deal, hands, witnesses

TERMS, VIP = HOUSES["intercasino"].terms, HOUSES["vip"].terms

# Nets of 100 minor units, reckoned by hand from the pay tables that Wizard of Odds prints; a bet not named loses.
BY_HAND: dict[tuple[str, str], dict[str, int]] = {
    # a natural 9 against 7
    ("9s Kd", "7h Tc"): {"player": 100, "player_dragon_bonus": 100, "small": 150, "player_natural": 400},
    # a natural 8 of one suit against a pair of kings of one colour
    ("4s 4s", "Kh Kd"): {
        "player": 100, "player_pair": 1100, "banker_pair": 1100, "either_pair": 500, "perfect_pair": 2500,
        "perfect_pair_25_250": 2500, "player_dragon_bonus": 100, "small": 150, "player_natural": 400,
        "player_doppelganger": 2500, "banker_doppelganger": 1200,
    },
    # 9 to 0 without a natural; ten and queen, both worth nothing, are no pair
    ("2c 3d 4h", "Ts Qd Jc"): {"player": 100, "player_dragon_bonus": 3000, "big": 54},
    ("2c Ad 5h", "7s Qd"): {"player": 100, "panda_8": 2500, "big": 54},
    # a third card that equals the second makes no pair
    ("2c 3d 3h", "7s Qd"): {"player": 100, "panda_8": 2500, "big": 54},
    # the banker's three-card 7 beats 6
    ("6c Kd", "2s 3h 2d"): {
        "banker": 95, "ez_banker": 0, "dragon_7": 4000, "no_commission_banker": 100, "big": 54,
    },
    # the banker's two-card 6 beats 5
    ("Tc 5d Kh", "6s Qd"): {
        "banker": 95, "ez_banker": 100, "no_commission_banker": 50, "super_6": 1200, "lucky_6": 1200, "big": 54,
    },
    # the banker's three-card 6 beats 5
    ("Kc Qd 5h", "2s Ad 3h"): {
        "banker": 95, "ez_banker": 100, "no_commission_banker": 50, "super_6": 1200, "lucky_6": 2000, "big": 54,
    },
    # a pair stays one though a third card comes; the banker draws on 6 against a 6
    ("6h 6h 6c", "4s 2d Kc"): {
        "player": 100, "panda_8": 2500, "player_pair": 1100, "either_pair": 500, "perfect_pair": 2500,
        "perfect_pair_25_250": 2500, "big": 54, "player_doppelganger": 2500,
    },
    # 8 to 8 on two cards each
    ("5c 3d", "6s 2d"): {
        "player": 0, "banker": 0, "tie": 800, "ez_banker": 0, "no_commission_banker": 0, "player_dragon_bonus": 0,
        "banker_dragon_bonus": 0, "small": 150, "player_natural": 400, "banker_natural": 400, "tie_9": 900,
    },
    # 6 to 6 on two cards each: a tie, but of no naturals
    ("6c Td", "4s 2d"): {
        "player": 0, "banker": 0, "tie": 800, "ez_banker": 0, "no_commission_banker": 0, "small": 150, "tie_9": 900,
    },
    # 9 beats 8, both natural
    ("4h 4d", "5s 4c"): {
        "banker": 95, "player_pair": 1100, "either_pair": 500, "ez_banker": 100, "no_commission_banker": 100,
        "banker_dragon_bonus": 100, "small": 150, "player_natural": 400, "banker_natural": 400,
        "player_doppelganger": 1200,
    },
    # pairs of one suit on both sides, 4 to 4 on five cards
    ("7s 7s Td", "2c 2c"): {
        "player": 0, "banker": 0, "tie": 800, "player_pair": 1100, "banker_pair": 1100, "either_pair": 500,
        "perfect_pair": 2500, "perfect_pair_25_250": 25_000, "ez_banker": 0, "no_commission_banker": 0, "big": 54,
        "tie_9": 900, "player_doppelganger": 2500, "banker_doppelganger": 2500,
    },
    # the banker wins by 9 without a natural
    ("Kc Qd Th", "Ts 2d 7c"): {
        "banker": 95, "ez_banker": 100, "no_commission_banker": 100, "banker_dragon_bonus": 3000, "big": 54,
    },
    # 9 beats 8, both natural, the other way round
    ("9s Kd", "5h 3c"): {
        "player": 100, "player_dragon_bonus": 100, "small": 150, "player_natural": 400, "banker_natural": 400,
    },
    # 7 beats 6, both standing
    ("7s Td", "2h 4c"): {"player": 100, "small": 150},
    # the banker's two-card 7 beats 6: no Dragon 7
    ("6s Td", "3h 4c"): {"banker": 95, "ez_banker": 100, "no_commission_banker": 100, "small": 150},
    # the banker's natural alone
    ("2s 3d", "9h Kc"): {
        "banker": 95, "ez_banker": 100, "no_commission_banker": 100, "banker_dragon_bonus": 100, "small": 150,
        "banker_natural": 400,
    },
    # 9 to 9 on six cards: a tie, but of no naturals
    ("2s 3d 4h", "5c Kd 4s"): {
        "player": 0, "banker": 0, "tie": 800, "ez_banker": 0, "no_commission_banker": 0, "big": 54, "tie_9": 900,
    },
    # pairs of both colours on both sides, a three-card 8 beats 6
    ("Qc Qd 8s", "3h 3s"): {
        "player": 100, "panda_8": 2500, "player_pair": 1100, "banker_pair": 1100, "either_pair": 500, "big": 54,
        "player_doppelganger": 600, "banker_doppelganger": 600,
    },
}  # fmt: skip


@pytest.mark.parametrize(("player", "banker"), BY_HAND)
def test_every_bet_on_coups_reckoned_by_hand(player: str, banker: str) -> None:
    coup = deal(player, banker)
    found = {name: settle(bet, 100, coup, TERMS).net_minor for name, bet in CATALOGUE.items()}
    assert found == dict.fromkeys(CATALOGUE, -100) | BY_HAND[player, banker]


def test_the_coups_reckoned_by_hand_win_every_bet_at_least_once() -> None:
    assert {name for won in BY_HAND.values() for name, net in won.items() if net > 0} == set(CATALOGUE)


def test_the_coups_reckoned_by_hand_are_of_every_kind() -> None:
    """Outcome, naturals and number of cards; and each class of pair on each side."""
    by_hand = {shown_by(deal(*both)) for both in BY_HAND}

    def kind(shown: Shown) -> tuple[str, bool, bool, int]:
        cards = shown.player_cards + shown.banker_cards
        return shown.outcome, shown.player_natural, shown.banker_natural, cards

    assert {kind(shown) for shown in by_hand} == {kind(shown) for shown in reachable(8)}
    assert {shown.player_pair for shown in by_hand} == {shown.banker_pair for shown in by_hand} == set(PAIRS)


def test_witnesses_show_all_that_can_be_shown() -> None:
    assert set(witnesses()) == reachable(8)
    assert len(witnesses()) == 2437
    assert reachable(1) == {shown for shown in reachable(8) if "pure" not in shown[4:]}


def test_every_bet_on_everything_that_a_coup_can_show_equals_the_slow_reference() -> None:
    """100 minor units need no rounding but for Big, so that all ratios come out whole."""
    for shown, coup in witnesses().items():
        right = bets_reference.nets(*hands(coup))
        assert set(right) == set(CATALOGUE)
        for name, bet in CATALOGUE.items():
            assert settle_shown(bet, 100, shown, TERMS).net_minor == 100 * right[name], (name, hands(coup))


def test_every_event_happens_and_fails_to_happen() -> None:
    for name, event in EVENTS.items():
        assert {event.holds(shown) for shown in reachable(8)} == {True, False}, name
        assert event.words


@pytest.mark.parametrize(("player", "banker"), BY_HAND)
def test_rounding_equals_the_decimal_reference(player: str, banker: str) -> None:
    coup = deal(player, banker)
    right = bets_reference.nets(*hands(coup))
    for stake in (*range(1, 250), 999, 1001, 2060, 123_457, 10**9 + 7):
        for name, bet in CATALOGUE.items():
            if bet.commission_bp and right[name] > 0:
                expected = bets_reference.banker_win(stake)
            elif right[name] > 0:
                expected = bets_reference.keeps_the_half(right[name], stake)
            else:
                expected = int(right[name]) * stake
            assert settle(bet, stake, coup, TERMS).net_minor == expected, (name, stake)


def test_every_line_of_every_bet_is_rounded_as_the_decimal_reference_from_one_minor_unit_up() -> None:
    """A coup for each line that a bet can win by, at the house of the least commission and at one without."""
    lines: dict[tuple[str, str | None], Coup] = {}
    for shown, coup in witnesses().items():
        for name, bet in CATALOGUE.items():
            pay = bet.pay_on(shown)
            lines.setdefault((name, pay and pay.event), coup)
    wanted = {(name, pay.event) for name, bet in CATALOGUE.items() for pay in bet.pays}
    assert {line for line in lines if line[1]} == wanted  # no line of a pay table is out of reach
    for (name, _), coup in lines.items():
        net, bet = bets_reference.nets(*hands(coup))[name], CATALOGUE[name]
        for stake, (terms, least) in product((*range(1, 121), 499, 509, 510, 529, 530), ((TERMS, 0), (VIP, 25))):
            if net <= 0:
                expected = int(net) * stake
            elif bet.commission_bp:
                expected = bets_reference.banker_win(stake, least)
            else:
                expected = bets_reference.keeps_the_half(net, stake)
            assert settle(bet, stake, coup, terms).net_minor == expected, (name, stake)


def test_nineteen_to_twenty_and_five_percent_are_one() -> None:
    """A payout never rounds in another direction than the commission does."""
    coup = deal("6c Kd", "2s 3h 2d")
    for stake in (*range(1, 2500), 99_999):
        by_ratio, by_commission = settle(BANKER_19_20, stake, coup, TERMS), settle(BANKER, stake, coup, TERMS)
        assert by_ratio.net_minor == by_commission.net_minor == bets_reference.banker_win(stake)
        assert by_ratio.commission_minor == 0
        assert by_commission.commission_minor == stake - by_commission.net_minor


# Stake, commission, net at 5 % and at least 25 minor units, by hand.
LEAST_COMMISSION = [
    (1, 1, 0), (2, 2, 0), (24, 24, 0), (25, 25, 0), (26, 25, 1), (100, 25, 75), (499, 25, 474), (500, 25, 475),
    (509, 25, 484), (510, 26, 484), (529, 26, 503), (530, 27, 503), (1000, 50, 950), (30_000, 1500, 28_500),
]  # fmt: skip


@pytest.mark.parametrize(("stake", "commission", "net"), LEAST_COMMISSION)
def test_the_least_commission_of_a_quarter(stake: int, commission: int, net: int) -> None:
    done = settle(BANKER, stake, deal("6c Kd", "2s 3h 2d"), HOUSES["vip"].terms)
    assert (done.commission_minor, done.net_minor) == (commission, net)


def test_the_least_commission_equals_the_decimal_reference() -> None:
    coup, terms = deal("6c Kd", "2s 3h 2d"), HOUSES["vip"].terms
    for stake in range(1, 2500):
        assert settle(BANKER, stake, coup, terms).net_minor == bets_reference.banker_win(stake, 25)


def test_no_commission_is_due_on_a_loss_a_push_or_another_bet() -> None:
    terms = HOUSES["vip"].terms
    assert settle(BANKER, 100, deal("9s Kd", "7h Tc"), terms).commission_minor == 0
    assert settle(BANKER, 100, deal("6c Td", "4s 2d"), terms).commission_minor == 0
    assert settle(PLAYER, 100, deal("9s Kd", "7h Tc"), terms).commission_minor == 0


@pytest.mark.parametrize(
    ("rounding", "commissions"),
    [("half_up", (0, 1, 1, 1, 2)), ("up", (1, 1, 1, 2, 2)), ("down", (0, 0, 1, 1, 1))],
)
def test_rounding_is_as_the_table_names_it(rounding: Any, commissions: tuple[int, ...]) -> None:
    """5 % of 9, 10, 20, 29 and 30 are .45, .5, 1, 1.45 and 1.5."""
    terms = replace(TERMS, money=replace(TERMS.money, rounding=rounding))
    coup = deal("6c Kd", "2s 3h 2d")
    for stake, commission in zip((9, 10, 20, 29, 30), commissions, strict=True):
        assert settle(BANKER, stake, coup, terms).commission_minor == commission
        assert settle(BANKER_19_20, stake, coup, terms).net_minor == stake - commission


@given(st.integers(0, 10**12), st.integers(1, 10**6))
def test_rounding_is_within_one_of_the_fraction(numerator: int, denominator: int) -> None:
    exact = Fraction(numerator, denominator)
    assert rounded(numerator, denominator, "down") <= exact <= rounded(numerator, denominator, "up")
    assert -Fraction(1, 2) < rounded(numerator, denominator, "half_up") - exact <= Fraction(1, 2)


# --- ties and pushes ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "left", "movable"),
    [("intercasino", 0, False), ("vip", 0, False), ("doppelganger", 0, False), ("chance", 100, False),
     ("np_punto_banco", 100, True), ("np_punto_banco_three", 100, True)],
)  # fmt: skip
def test_a_tied_stake_goes_where_the_house_says(table: str, left: int, movable: bool) -> None:
    terms = HOUSES[table].terms
    for name in ("player", "banker"):
        done = settle(terms.bet(name), 100, deal("6c Td", "4s 2d"), terms)
        assert (done.result, done.net_minor, done.returned_minor) == ("pushed", 0, 100 - left)
        assert (done.left_minor, done.movable) == (left, movable)
    tie = settle(terms.bet("tie"), 100, deal("6c Td", "4s 2d"), terms)
    assert (tie.result, tie.returned_minor, tie.left_minor) == ("won", 900, 0)


def test_a_push_that_is_no_tie_goes_back_even_where_ties_stay() -> None:
    terms = HOUSES["chance"].terms
    done = settle(CATALOGUE["ez_banker"], 100, deal("6c Kd", "2s 3h 2d"), terms)
    assert (done.result, done.event, done.returned_minor, done.left_minor) == ("pushed", "banker_three_card_7", 100, 0)


def test_a_side_bet_pushed_by_a_tie_goes_back_even_where_ties_stay() -> None:
    done = settle(CATALOGUE["player_dragon_bonus"], 100, deal("5c 3d", "6s 2d"), HOUSES["chance"].terms)
    assert (done.result, done.returned_minor, done.left_minor) == ("pushed", 100, 0)


def test_lines_are_read_from_the_top() -> None:
    bet = Bet("two", (Pay("both_pure", 250), Pay("either_pure", 25)))
    turned = Bet("two", bet.pays[::-1])
    coup = deal("7s 7s Td", "2c 2c")
    assert settle(bet, 1, coup, TERMS).net_minor == 250
    assert settle(turned, 1, coup, TERMS).net_minor == 25


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize("stake", [0, -1, 1.0, "1", True, None, MAX_STAKE_MINOR + 1])
def test_a_stake_that_is_no_whole_number_within_bounds_is_refused(stake: Any) -> None:
    with pytest.raises(BetError, match=r"^banker: expected a stake of 1…1099511627776 minor units, got "):
        settle(BANKER, stake, deal("9s Kd", "7h Tc"), TERMS)


def test_the_greatest_stake_on_the_greatest_pay_stays_a_number_that_records_hold() -> None:
    net = settle(Bet("most", (Pay("player", 1000),)), MAX_STAKE_MINOR, deal("9s Kd", "7h Tc"), TERMS).net_minor
    assert net < 2**53


@pytest.mark.parametrize(
    ("cards", "pair"),
    [("As Ad", "mixed"), ("As Ac", "coloured"), ("Ad Ah", "coloured"), ("Ah Ah", "pure"), ("Ts Js", "none"),
     ("Ts Jd Td", "none"), ("9c 9d 9h", "mixed")],
)  # fmt: skip
def test_pairs_are_classed_by_the_first_two_cards(cards: str, pair: str) -> None:
    assert pair_of([parse_card(card) for card in cards.split()]) == pair
    assert pair in PAIRS


def test_no_hand_and_no_card_have_no_pair() -> None:
    with pytest.raises(InputError, match=r"^pair_of: expected a hand of two or three cards, got 1$"):
        pair_of([3])
    with pytest.raises(CardError):
        pair_of([3, 52])


def test_what_a_coup_shows() -> None:
    shown = shown_by(deal("7s 7s Td", "2c 2c"))
    assert shown == Shown(4, 4, 3, 2, "pure", "pure")
    assert (shown.outcome, shown.player_natural, shown.banker_natural) == ("tie", False, False)
    assert shown_by(deal("5c 3d", "6s 2d")).player_natural


@given(st.sampled_from(sorted(CATALOGUE)), st.integers(1, 10**7), st.integers(0, 2436), st.sampled_from(sorted(HOUSES)))
def test_what_comes_back_and_stays_is_the_stake_and_the_net(name: str, stake: int, at: int, table: str) -> None:
    terms: Terms = HOUSES[table].terms
    done = settle(CATALOGUE[name], stake, list(witnesses().values())[at], terms)
    assert done.returned_minor + done.left_minor == stake + done.net_minor
    assert done.net_minor >= -stake
    assert 0 <= done.left_minor <= stake
    assert (done.net_minor == -stake) == (done.result == "lost")
