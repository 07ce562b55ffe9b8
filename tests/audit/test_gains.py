"""The law of a gain: against edges, against fractions added up by hand, and against the spread of real shoes."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from audit.cells import CELLS
from audit.gains import gain_laws, sees_pairs, settled_gains, settled_laws, unit_gains, unit_laws, unit_skewness
from audit.kernel import orders
from audit.showings import showings
from audit.wagers import bet_edge, net_law
from shoe.errors import RulesError
from shoe.game.bets.shown import PAIRS, Shown
from shoe.game.bets.wagers import BANKER, CATALOGUE, MAIN, PLAYER, TIE, Bet, Pay
from shoe.game.houses import HOUSES
from tests.audit.scalar_block import key, shoe_rules
from tests.audit.wrong_suits import pair_cells, right

BETS = tuple(CATALOGUE.values())
MIXED = Bet("mixed", (Pay("player_pair", 5), Pay("tie", 3)), side=True)
ON_PAIRS = {"player_pair", "banker_pair", "either_pair", "perfect_pair", "perfect_pair_25_250"}
ON_PAIRS |= {"player_doppelganger", "banker_doppelganger"}


@pytest.mark.parametrize("decks", [1, 8])
def test_means_are_the_edges_and_moments_those_of_the_definition(decks: int) -> None:
    bets = tuple(bet for bet in BETS if decks > 1 or "pure" not in str(bet.pays))
    law = showings(decks)
    for bet, found in zip(bets, unit_laws(decks, bets), strict=True):
        gains = unit_gains(decks, bet)
        assert found.mean == -bet_edge(law, bet)
        for power, moment in ((2, found.variance), (3, found.third)):
            by_hand = sum((gains[shown] - found.mean) ** power * n for shown, n in law.counts.items())
            assert moment == by_hand / law.total
        assert unit_skewness(decks, bet) == found.third**2 / found.variance**3


def test_variances_of_the_published_sort() -> None:
    """8 decks. Player and tie from the exact outcomes: E g² − (E g)², g = ±1 or 0; g = 8 or −1."""
    exact = {"player": Fraction(2230518282592256, 4998398275503360), "tie": Fraction(475627426473216, 4998398275503360)}
    player, banker, tie = unit_laws(8, MAIN)
    win, push = exact["player"], exact["tie"]
    lost = 1 - win - push
    assert player.variance == win + lost - (win - lost) ** 2
    assert tie.variance == 81 * push * (1 - push)
    assert banker.variance == Fraction(361, 400) * lost + win - (Fraction(19, 20) * lost - win) ** 2
    assert float(tie.between) == pytest.approx(81 * -1.7075e-6, rel=1e-4)  # Cov(TT) of two coups, 8 decks
    assert player.error(1, 0) == pytest.approx(float(player.variance) ** 0.5)


def test_bets_on_pairs_are_told_from_others() -> None:
    assert {bet.name for bet in BETS if sees_pairs(bet)} == ON_PAIRS
    assert sees_pairs(MIXED)


@pytest.mark.parametrize("decks", [1, 2])
def test_the_spread_over_coups_of_one_shoe(decks: int) -> None:
    """The covariance of two coups, by 60,000 shoes: the variance of the gain of K coups, within four of its errors."""
    rules = shoe_rules(decks, (7, 7))
    judged, shoes = rules.judged_coups, 60_000
    cards = right(decks)[orders(rules, key("spread"), range(shoes))]
    bets = (PLAYER, BANKER, TIE, CATALOGUE["big"], CATALOGUE["either_pair"], CATALOGUE["lucky_6"])
    per_coup = [per_shoe_gains(cards, judged, decks, bet) for bet in bets]
    for bet, law, gains in zip(bets, unit_laws(decks, bets), per_coup, strict=True):
        totals = gains.sum(axis=1)
        assert abs(totals.mean() - judged * float(law.mean)) < 4 * law.error(judged, judged * (judged - 1)) / sqrt(
            shoes
        )
        mine = law.error(judged, judged * (judged - 1)) ** 2
        spread = (totals - totals.mean()) ** 2
        assert abs(spread.mean() - mine) < 4 * spread.std() / sqrt(shoes), bet.name
    big = unit_laws(decks, (CATALOGUE["big"],))[0]
    assert big.between < 0 < unit_laws(decks, (CATALOGUE["either_pair"],))[0].between
    # it can fail: without the covariance, the spread of cards used is out by far more
    spread = (per_coup[3].sum(axis=1) - per_coup[3].sum(axis=1).mean()) ** 2
    assert abs(spread.mean() - judged * float(big.variance)) > 5 * spread.std() / sqrt(shoes)


def per_shoe_gains(cards: np.ndarray, judged: int, decks: int, bet: Bet) -> np.ndarray:
    table = np.zeros(len(CELLS) * 16)
    gains = unit_gains(decks, bet)
    for place, cell in enumerate(CELLS):
        for both in range(16):
            at = cell.player_total, cell.banker_total, cell.player_cards, cell.banker_cards
            shown = Shown(*at, PAIRS[both // 4], PAIRS[both % 4])
            table[16 * place + both] = float(gains.get(shown, 0))
    return table[pair_cells(cards, judged, shoe_by_shoe=True)]


def test_a_bet_on_pairs_and_outcome_is_taken_as_if_coups_were_independent() -> None:
    (law,) = unit_laws(8, (MIXED,))
    assert (law.between, law.mean) == (0, -bet_edge(showings(8), MIXED))


def test_several_gains_at_once_are_each_alone() -> None:
    bets = (TIE, CATALOGUE["player_pair"], CATALOGUE["small"])
    together = unit_laws(2, bets)
    assert together == tuple(gain_laws(2, [unit_gains(2, bet)])[0] for bet in bets)


@pytest.mark.parametrize("table", ["vip", "doppelganger"])
def test_settled_gains_are_as_the_table_rounds(table: str) -> None:
    house = HOUSES[table]
    decks, terms, stake = house.rules.decks, house.terms, 7
    for bet, law in zip(terms.bets, settled_laws(decks, stake, terms), strict=True):
        nets = net_law(showings(decks), bet, stake, terms)
        assert law.mean * showings(decks).total == sum(net * count for net, count in nets.items())
        assert set(settled_gains(decks, bet, stake, terms).values()) == set(nets)


@pytest.mark.parametrize("decks", [0, 17])
def test_a_shoe_of_no_or_too_many_decks_is_refused(decks: int) -> None:
    with pytest.raises(RulesError, match="decks: expected 1 to 16 decks"):
        unit_laws(decks, MAIN)
