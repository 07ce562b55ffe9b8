"""The odds of breaking a bank: closed forms, exact elimination on small banks, and a banded solve of the large one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import exp, floor, log, log10

import numpy as np
import pytest
from scipy.linalg import solve_banded
from scipy.optimize import brentq

from audit.bank import any_play_at_most, break_bank, reach, scientific
from audit.exact import exact_odds
from audit.showings import showings
from audit.wagers import edge_at
from shoe.errors import InputError
from shoe.game.houses import HOUSES

NP = HOUSES["np_punto_banco"]
LAW = showings(8)
ODDS = exact_odds(8).outcomes()


def close(found: Fraction, right: Fraction) -> bool:
    return abs(found / right - 1) < Fraction(1, 10**9)


def test_the_players_bet_by_the_closed_form_of_gamblers_ruin() -> None:
    """Steps of one: (r^z − 1)/(r^n − 1), r = q/p (Feller, volume 1, XIV.2), in fractions of half a million digits."""
    r = Fraction(ODDS["banker"], ODDS["player"])
    found = break_bank(LAW, NP.terms, NP.terms.bet("player"))
    assert found is not None
    assert (found.bet, found.stake_minor, found.purse_minor, found.bank_minor) == ("player", 100, 100_000, 1_000_000)
    assert close(found.probability, (r**1000 - 1) / (r**11_000 - 1))
    assert scientific(found.probability) == "2.71141953e-119"


@pytest.mark.parametrize(("purse", "bank"), [(1, 1), (2, 3), (5, 2), (7, 40)])
def test_a_small_purse_is_spent_when_it_holds_no_stake(purse: int, bank: int) -> None:
    terms = replace(NP.terms, money=replace(NP.terms.money, purse_minor=100 * purse, bank_minor=100 * bank))
    r = Fraction(ODDS["banker"], ODDS["player"])
    for spare in (0, 99):  # what is left below a stake helps neither side
        rich = replace(
            terms, money=replace(terms.money, purse_minor=100 * purse + spare, bank_minor=100 * bank + spare)
        )
        found = break_bank(LAW, rich, terms.bet("player"))
        assert found is not None
        assert close(found.probability, (r**purse - 1) / (r ** (purse + bank) - 1))


def test_the_ties_bet_by_an_exact_recurrence() -> None:
    """Down by ones only, the odds of ruin are f(y)/f(n) with q·f(y+1) = f(y) − p·f(y−8), f(1) = 1, f(≤ 0) = 0.

    y counts the steps below where the bank can't pay 8 any more.
    """
    win, lose = ODDS["tie"], ODDS["player"] + ODDS["banker"]
    values = [0] * 8 + [1]  # times lose^(y−1)
    powers = [lose**k for k in range(9)]
    start, room = 1000, 10_000 - 8 + 1
    for _ in range(start + room - 1):
        values.append((win + lose) * values[-1] - win * values[-9] * powers[8])
    after = Fraction(values[7 + room] * lose**start, values[7 + room + start])
    found = break_bank(LAW, NP.terms, NP.terms.bet("tie"))
    assert found is not None
    assert close(found.probability, 1 - after)


def test_the_bankers_bet_by_a_banded_solve_of_the_tilted_walk() -> None:
    """Weighed by e^(θx), which makes the walk's weights probabilities again, all odds are of one size."""
    p, q = (ODDS[side] / (ODDS["banker"] + ODDS["player"]) for side in ("banker", "player"))
    theta = brentq(lambda t: p * exp(19 * t) + q * exp(-20 * t) - 1, 1e-5, 1, xtol=1e-18, rtol=1e-15)
    up, down = p * exp(19 * theta), q * exp(-20 * theta)
    start = (100_000 - 100) // 5 + 1
    top = start + (1_000_000 - 95) // 5 + 1
    levels = top - 1
    band, right = np.zeros((40, levels)), np.zeros(levels)
    band[19], band[0, 19:], band[39, : levels - 20] = 1, -up, -down
    for level in range(levels - 19, levels):
        right[level] = up * exp(-theta * (level + 20 - top))
    tilted = solve_banded((20, 19), band, right)[start - 1]
    log_odds = (log(tilted) + theta * (start - top)) / log(10)
    found = break_bank(LAW, NP.terms, NP.terms.bet("banker"))
    assert found is not None
    text = scientific(found.probability)
    assert text.endswith(f"e{floor(log_odds)}")
    assert float(text.split("e")[0]) == pytest.approx(10 ** (log_odds - floor(log_odds)), rel=1e-8)


WALKS = [
    {1: 1, -1: 1},
    {1: 9, -1: 11, 0: 7},
    {19: 458, -20: 446, 0: 95},
    {8: 95, -1: 905},
    {2: 3, 1: 4, -2: 5, -3: 1},
    {3: 9, -1: 1},
    {95: 3, 50: 1, -100: 4, 0: 2},
]


@pytest.mark.parametrize("nets", WALKS, ids=range(len(WALKS)))
@pytest.mark.parametrize(
    ("below", "above"),
    [
        (0, 0),
        (5, 9),
        (0, 20),
        (20, 0),
        *(pytest.param(*far, marks=pytest.mark.slow) for far in [(30, 40), (41, 3), (0, 60), (60, 0)]),
    ],
)
def test_small_walks_by_exact_elimination(nets: Mapping[int, int], below: int, above: int) -> None:
    assert close(reach(nets, below, above), eliminated(nets, below, above))


def eliminated(nets: Mapping[int, int], below: int, above: int) -> Fraction:
    """Solve h(x) = Σ p·h(x + step) by Gauss and Jordan in fractions, one unknown for each level between the ends."""
    total, levels = sum(nets.values()), range(-below, above + 1)
    rows = []
    for x in levels:
        row = [Fraction(x == y) for y in levels] + [Fraction(0)]
        for step, weight in nets.items():
            if x + step > above:
                row[-1] += Fraction(weight, total)
            elif x + step >= -below:
                row[x + step + below] -= Fraction(weight, total)
        rows.append(row)
    for i in range(len(rows)):
        pivot = [value / rows[i][i] for value in rows[i]]
        rows = [[value - row[i] * mine for value, mine in zip(row, pivot, strict=True)] for row in rows]
        rows[i] = pivot
    return rows[below][-1]


def test_no_way_to_stake_comes_near_the_claim() -> None:
    """No stake that the table takes has an edge on the house, so that a purse of 1,000 is no more than 1 in 11."""
    assert all(edge_at(LAW, bet, stake, NP.terms) > 0 for bet in NP.terms.bets for stake in range(100, 400, 9))
    most = any_play_at_most(LAW, NP.terms)
    assert most == Fraction(100_000, 100_000 + 1_000_000 - 94)
    assert NP.claim is not None
    assert most < Fraction(NP.claim.percent, 100) / 10


def test_a_table_without_a_bank_or_purse_has_no_such_odds() -> None:
    for name in ("vip", "chance", "doppelganger"):
        terms = HOUSES[name].terms
        assert break_bank(LAW, terms, terms.bets[0]) is None
        assert any_play_at_most(LAW, terms) is None


def test_a_table_where_some_stake_may_gain_has_no_such_bound() -> None:
    """Without commission the bettor has the edge; from .01 up, rounding gives it to him; rounded up it never does."""
    free = replace(NP.terms, bets=HOUSES["intercasino_as_printed"].terms.bets)
    small = replace(NP.terms, limits=replace(NP.terms.limits, min_minor=9))
    assert any_play_at_most(LAW, free) is None
    assert any_play_at_most(LAW, small) is None
    assert any_play_at_most(LAW, replace(small, money=replace(NP.terms.money, rounding="up"))) is not None
    assert any_play_at_most(LAW, replace(NP.terms, money=replace(NP.terms.money, rounding="down"))) is None


def test_a_richer_purse_and_a_poorer_bank_break_more_often() -> None:
    nets = {19: 458, -20: 446, 0: 95}
    odds = [reach(nets, below, above) for below, above in ((100, 2000), (500, 2000), (500, 1000))]
    assert odds == sorted(odds)
    assert odds[0] < odds[-1]


@pytest.mark.parametrize(
    ("nets", "below", "above"), [({1: 1}, 5, 5), ({-1: 1, 0: 2}, 5, 5), ({1: 1, -1: 1}, -1, 5), ({1: 1, -1: 1}, 5, -1)]
)
def test_walks_that_go_one_way_and_ends_passed_already_are_refused(
    nets: dict[int, int], below: int, above: int
) -> None:
    with pytest.raises(InputError, match=r"^reach: expected bounds of 0 or more, and steps both up and down, got "):
        reach(nets, below, above)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (Fraction(1), 3, "1.00e0"),
        (Fraction(1, 3), 4, "3.333e-1"),
        (Fraction(2, 3), 4, "6.667e-1"),
        (Fraction(9999, 1000), 2, "1.0e1"),  # rounds up into another power
        (Fraction(1, 10**200), 2, "1.0e-200"),
        (Fraction(125, 10**9), 2, "1.3e-7"),  # a half goes up
        (Fraction(10**40 - 1), 9, "1.00000000e40"),
        (Fraction(123), 3, "1.23e2"),
    ],
)
def test_powers_of_ten_are_printed_exactly(value: Fraction, digits: int, text: str) -> None:
    assert scientific(value, digits) == text
    assert log10(float(value)) == pytest.approx(log10(float(text)), abs=0.02)


@pytest.mark.parametrize(("value", "digits"), [(Fraction(0), 9), (Fraction(-1), 9), (Fraction(1), 1)])
def test_nothing_and_less_have_no_power_of_ten(value: Fraction, digits: int) -> None:
    with pytest.raises(InputError, match=r"^scientific: expected "):
        scientific(value, digits)
