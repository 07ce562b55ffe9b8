"""The pay-out table's arithmetic, without a service: columns by hand, exact laws, and a table that rounds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import sqrt

import pytest

from audit.gains import settled_laws
from audit.payouts import added_up, expectations, payouts
from audit.showings import showings
from shoe.errors import RulesError
from shoe.game.bets.shown import Shown
from shoe.game.houses import HOUSES

VIP = HOUSES["vip"].terms
NATURAL = Shown(9, 3, 2, 2, "pure", "none")
SIX = Shown(4, 6, 2, 2, "none", "mixed")
TIE = Shown(7, 7, 2, 2, "none", "none")
SEEN = {NATURAL: 3, SIX: 2, TIE: 1}


def test_columns_by_hand() -> None:
    """A stake of 5.00: player wins 3 of 6, banker 2 less 5 %, tie 1 at 8:1."""
    player, banker, tie = (line.to_json() for line in payouts(SEEN, VIP))
    assert player == {"label": "player", "wins": 3, "money_minor": 1500, "returns_minor": 1500, "in_minor": 3000,
                      "out_minor": 3000, "sum_minor": 0, "ties_minor": 500, "total_minor": 500, "ties": 1,
                      "losses": 2, "games": 6}  # fmt: skip
    assert (banker["money_minor"], banker["returns_minor"], banker["total_minor"]) == (950, 1000, -550)
    assert (tie["wins"], tie["ties"], tie["money_minor"], tie["total_minor"]) == (1, 0, 4000, 4000 - 2500)


def test_all_bets_add_up() -> None:
    lines = payouts(SEEN, VIP)
    total = added_up(lines)
    assert (total.label, total.games, total.wins, total.ties, total.losses) == ("all", 18, 6, 2, 10)
    assert (total.money_minor, total.out_minor) == (1500 + 950 + 4000, 9000)
    assert total.total_minor == sum(line.total_minor for line in lines) == 6450 + 3000 - 9000 + total.ties_minor


def test_a_stake_that_stays_on_a_tie_is_the_bettors() -> None:
    chance = HOUSES["chance"].terms
    assert chance.on_tie != "returned"
    assert payouts({TIE: 4}, chance)[0].ties_minor == 4 * chance.money.default_stake_minor


def test_a_win_that_the_least_commission_takes_whole_is_a_win_of_nothing() -> None:
    """VIP's quarter on a stake of one minor unit."""
    tiny = replace(VIP, chips_minor=None, limits=replace(VIP.limits, min_minor=1),
                   money=replace(VIP.money, default_stake_minor=1))  # fmt: skip
    banker = payouts({SIX: 5}, tiny)[1]
    assert (banker.wins, banker.money_minor, banker.total_minor) == (5, 0, 0)


def test_the_law_itself_deviates_by_nothing() -> None:
    """As many coups of each kind as the exact law has deals: every line is its expectation."""
    law, doppelganger = showings(6), HOUSES["doppelganger"].terms
    lines = payouts(law.counts, doppelganger)
    for line, each in zip(lines, expectations(lines, 6, doppelganger, law.total, 0), strict=True):
        assert (line.wins, line.ties, line.total_minor) == (each.wins, each.ties, each.total_minor)
        assert each.deviation == 0
        assert each.to_json()["expected_wins"] == str(line.wins)


def test_deviations_by_the_definition() -> None:
    lines, stake = payouts(SEEN, VIP), 500
    for line, each, law in zip(lines, expectations(lines, 8, VIP, 6, 12), settled_laws(8, stake, VIP), strict=True):
        error = sqrt(6 * law.variance + 12 * law.between)
        assert each.total_minor == 6 * law.mean
        assert each.deviation == pytest.approx(float(line.total_minor - 6 * law.mean) / error)
    nothing = payouts({}, VIP)
    for each in expectations(nothing, 8, VIP, 0, 0):
        assert (each.wins, each.total_minor, each.deviation) == (0, 0, 0.0)
        assert each.to_json()["deviation"] == "0"


def test_the_exact_part_of_one_coup() -> None:
    """8 decks, banker less 5 %: what a stake of 500 loses on one coup, 1.057905784 %."""
    (_, banker, _) = expectations(payouts({NATURAL: 1}, VIP), 8, VIP, 1, 0)
    assert round(-banker.total_minor / 500 * 10**11) == 1057905784
    assert isinstance(banker.wins, Fraction)


def test_a_shoe_of_too_many_decks_is_refused() -> None:
    with pytest.raises(RulesError, match="decks: expected 1 to 16 decks"):
        expectations(payouts(SEEN, VIP), 17, VIP, 6, 0)
