"""Edges of every bet of every table, by two roads each: our enumeration, and counting over values or over cards."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import product
from math import perm, prod

import numpy as np
import pytest

from audit.edges import percent
from audit.exact import exact_odds
from audit.showings import Showings, showings
from audit.wagers import bet_edge, edge_at, net_law
from shoe.errors import RulesError
from shoe.game.bets.shown import Shown, reachable
from shoe.game.bets.wagers import BANKER, BANKER_19_20, BANKER_EVEN, CATALOGUE, Bet, Pay, doppelganger
from shoe.game.houses import HOUSES
from tests.reference import tableau_reference

# Percent, at 8 decks, as Wizard of Odds prints them ("Baccarat Side Bets", "EZ Baccarat", "Dragon Bonus", "Baccarat
# Odds"); more digits of pairs from the closed forms by cards.
PUBLISHED = {
    "player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779", "tie_9": "4.844031976",
    "player_pair": "10.361446", "banker_pair": "10.361446", "either_pair": "13.709877", "perfect_pair": "13.029391",
    "perfect_pair_25_250": "6.623517", "ez_banker": "1.018301", "dragon_7": "7.611334", "panda_8": "10.187632",
    "no_commission_banker": "1.458104", "super_6": "29.977169", "lucky_6": "16.683572",
    "player_dragon_bonus": "2.651675", "banker_dragon_bonus": "9.373074", "big": "4.345748", "small": "5.282877",
    "player_natural": "5.282669", "banker_natural": "5.282669",
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_edges_of_eight_decks_are_the_published_ones(name: str) -> None:
    places = len(PUBLISHED[name].split(".")[1])
    assert percent(bet_edge(showings(8), CATALOGUE[name]), places) == PUBLISHED[name]


def test_every_ready_made_bet_has_a_published_edge() -> None:
    """But DoppelGanger, whose pays the preset takes from another name, at six decks."""
    assert set(CATALOGUE) - set(PUBLISHED) == {"player_doppelganger", "banker_doppelganger"}
    for hand in ("player", "banker"):
        assert percent(bet_edge(showings(6), CATALOGUE[f"{hand}_doppelganger"]), 6) == "6.109325"


# --- the second road, over values: a million runs of six, weighed by how often the shoe deals them ---------------

ValueLaw = dict[tuple[int, int, int, int], int]


@cache
def law_of_values(decks: int) -> ValueLaw:
    """Six-card deals by player's cards, banker's cards, player's total, banker's total; by the printed chart."""
    of_value = [16 * decks, *[4 * decks] * 9]
    chart: dict[tuple[int, int, int, int], tuple[int, int, int, int]] = {}
    for player, banker, third, last in product(range(10), repeat=4):
        used, p, b, _, rule = tableau_reference.coup((player, banker, 0, 0, third, last))
        stood = used == 4 or (used == 5 and rule.startswith("stood"))
        chart[player, banker, third, last] = (2 if stood else 3, used - (2 if stood else 3), p, b)
    law: ValueLaw = {}
    for six in product(range(10), repeat=6):
        deals = prod(of_value[value] - six[:at].count(value) for at, value in enumerate(six))
        key = chart[(six[0] + six[2]) % 10, (six[1] + six[3]) % 10, six[4], six[5]]
        law[key] = law.get(key, 0) + deals
    return law


Net = Callable[[int, int, int, int], Fraction]
LOST = Fraction(-1)


def _dragon(mine: int, other: int, my_cards: int, both_two: bool) -> Fraction:
    if mine == other:
        return Fraction(0) if both_two and mine >= 8 else LOST
    if mine < other:
        return LOST
    if my_cards == 2 and mine >= 8:
        return Fraction(1)
    return Fraction({4: 1, 5: 2, 6: 4, 7: 6, 8: 10, 9: 30}.get(mine - other, -1))


def _sided(p: int, b: int, player: Fraction, banker: Fraction) -> Fraction:
    return Fraction(0) if p == b else player if p > b else banker


BY_VALUES: dict[str, Net] = {
    "player": lambda pc, bc, p, b: _sided(p, b, Fraction(1), LOST),
    "banker": lambda pc, bc, p, b: _sided(p, b, LOST, Fraction(19, 20)),
    "tie": lambda pc, bc, p, b: Fraction(8) if p == b else LOST,
    "tie_9": lambda pc, bc, p, b: Fraction(9) if p == b else LOST,
    "ez_banker": lambda pc, bc, p, b: _sided(p, b, LOST, Fraction(0 if (b, bc) == (7, 3) else 1)),
    "dragon_7": lambda pc, bc, p, b: Fraction(40) if b > p and (b, bc) == (7, 3) else LOST,
    "panda_8": lambda pc, bc, p, b: Fraction(25) if p > b and (p, pc) == (8, 3) else LOST,
    "no_commission_banker": lambda pc, bc, p, b: _sided(p, b, LOST, Fraction(1, 2) if b == 6 else Fraction(1)),
    "super_6": lambda pc, bc, p, b: Fraction(12) if b == 6 > p else LOST,
    "lucky_6": lambda pc, bc, p, b: Fraction({2: 12, 3: 20}[bc]) if b == 6 > p else LOST,
    "player_dragon_bonus": lambda pc, bc, p, b: _dragon(p, b, pc, pc + bc == 4),
    "banker_dragon_bonus": lambda pc, bc, p, b: _dragon(b, p, bc, pc + bc == 4),
    "big": lambda pc, bc, p, b: Fraction(54, 100) if pc + bc > 4 else LOST,
    "small": lambda pc, bc, p, b: Fraction(3, 2) if pc + bc == 4 else LOST,
    "player_natural": lambda pc, bc, p, b: Fraction(4) if pc == 2 and p >= 8 else LOST,
    "banker_natural": lambda pc, bc, p, b: Fraction(4) if bc == 2 and b >= 8 else LOST,
}


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_edges_on_totals_equal_those_counted_over_a_million_runs_of_values(decks: int) -> None:
    law = law_of_values(decks)
    assert sum(law.values()) == perm(52 * decks, 6)
    for name, net in BY_VALUES.items():
        edge = -sum(net(*key) * deals for key, deals in law.items()) / perm(52 * decks, 6)
        assert bet_edge(showings(decks), CATALOGUE[name]) == edge, name


# --- the second road, over cards: all draws of four of the 52 faces -----------------------------------------------


@cache
def law_of_pairs(decks: int) -> dict[tuple[str, str], int]:
    """Four-card deals by both sides' pairs, face by face; a face of which k lie out has decks − k left."""
    faces = np.arange(52, dtype=np.int64)
    a, b, c, d = np.ix_(faces, faces, faces, faces)
    deals = (
        decks
        * (decks - (b == a))
        * (decks - (c == a).astype(np.int64) - (c == b))
        * (decks - (d == a).astype(np.int64) - (d == b) - (d == c))
    )
    colours = np.array([0, 1, 1, 0])
    law = {}
    for (player, one), (banker, other) in product(_classes(a, b, colours).items(), _classes(c, d, colours).items()):
        law[player, banker] = int(np.where(one & other, deals, 0).sum())
    return law


def _classes(a: np.ndarray, b: np.ndarray, colours: np.ndarray) -> dict[str, np.ndarray]:
    twins, same = a % 13 == b % 13, colours[a // 13] == colours[b // 13]
    return {"": ~twins, "mixed": twins & ~same, "coloured": twins & same & (a != b), "pure": a == b}


BY_PAIRS: dict[str, Callable[[str, str], int]] = {
    "player_pair": lambda p, b: 11 if p else -1,
    "banker_pair": lambda p, b: 11 if b else -1,
    "either_pair": lambda p, b: 5 if p or b else -1,
    "perfect_pair": lambda p, b: 25 if "pure" in (p, b) else -1,
    "perfect_pair_25_250": lambda p, b: {0: -1, 1: 25, 2: 250}[(p, b).count("pure")],
    "player_doppelganger": lambda p, b: {"": -1, "mixed": 6, "coloured": 12, "pure": 25}[p],
    "banker_doppelganger": lambda p, b: {"": -1, "mixed": 6, "coloured": 12, "pure": 25}[b],
}


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_edges_on_pairs_equal_those_counted_over_all_draws_of_four_cards(decks: int) -> None:
    law = law_of_pairs(decks)
    assert sum(law.values()) == perm(52 * decks, 4)
    for name, net in BY_PAIRS.items():
        edge = Fraction(-sum(net(*key) * deals for key, deals in law.items()), perm(52 * decks, 4))
        assert bet_edge(showings(decks), CATALOGUE[name]) == edge, name


def test_both_roads_together_cover_every_ready_made_bet() -> None:
    assert set(BY_VALUES) | set(BY_PAIRS) == set(CATALOGUE)


@pytest.mark.parametrize(("decks", "pure", "coloured", "mixed"), [(6, 5, 6, 12), (8, 7, 8, 16), (1, 0, 1, 2)])
def test_pairs_of_one_hand_by_the_second_card(decks: int, pure: int, coloured: int, mixed: int) -> None:
    """Of the 52·D − 1 cards left, D − 1 equal the first, D have its rank and colour, 2·D the other colour."""
    others = 52 * decks - 1
    for pays in ((25, 12, 6), (1, 2, 3), (100, 0, 50)):
        won = pure * (pays[0] + 1) + coloured * (pays[1] + 1) + mixed * (pays[2] + 1)
        for hand in ("player", "banker"):
            assert bet_edge(showings(decks), doppelganger(hand, *pays)) == 1 - Fraction(won, others)


# --- the law itself --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decks", [1, 2, 6, 8, 16])
def test_the_law_is_that_of_the_cells_split_by_pairs(decks: int) -> None:
    law, cells = showings(decks), exact_odds(decks)
    assert sum(law.counts.values()) == law.total == cells.total
    assert set(law.counts) == reachable(decks)
    for key, of_cells in (("outcome", cells.outcomes()),):
        assert {o: sum(n for shown, n in law.counts.items() if getattr(shown, key) == o) for o in of_cells} == of_cells
    joint: dict[tuple[int, ...], int] = {}
    for cell, count in cells.cells.items():
        at = (cell.player_total, cell.banker_total, cell.player_cards, cell.banker_cards)
        joint[at] = joint.get(at, 0) + count
    found: dict[tuple[int, ...], int] = {}
    for shown, count in law.counts.items():
        found[shown[:4]] = found.get(shown[:4], 0) + count
    assert found == joint


def test_pairs_and_totals_hang_together() -> None:
    """A natural of two nines' kind: a player's pair makes the total even, so a pair never shows a two-card 9."""
    law = showings(8)
    assert not any(
        shown.player_pair != "none" and shown.player_natural and shown.player_total == 9 for shown in law.counts
    )
    twice = sum(n for s, n in law.counts.items() if s.player_pair != "none" and s.outcome == "tie")
    ties, pairs = law_sum(law, lambda s: s.outcome == "tie"), law_sum(law, lambda s: s.player_pair != "none")
    assert twice * law.total != ties * pairs


def law_sum(law: Showings, holds: Callable[[Shown], bool]) -> int:
    return sum(count for shown, count in law.counts.items() if holds(shown))


@pytest.mark.parametrize("decks", [0, 17, -1])
def test_a_shoe_of_no_or_too_many_decks_is_refused(decks: int) -> None:
    with pytest.raises(RulesError, match=r"^decks: expected 1 to 16 decks"):
        showings(decks)


def test_edges_load_neither_numpy_nor_scipy() -> None:
    code = "import sys, audit.bank, audit.wagers; print([m for m in sys.modules if m[:5] in ('numpy', 'scipy')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


# --- tables ----------------------------------------------------------------------------------------------------

# Percent to nine places, per unit and at the least stake: Wizard of Odds' edges for 8 decks; for 6 decks its
# counts (392220492728832, 403095751234560, 83552962932288 of 878869206895680) through each pay.
TABLES = {
    "np_punto_banco": {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"},
    "np_punto_banco_three": {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"},
    "chance": {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"},
    "intercasino": {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"},
    "intercasino_as_printed": {"player": "1.235081329", "banker": "-1.235081329", "tie": "14.359628779"},
    "doppelganger": {
        "player": "1.237414899", "banker": "1.055848695", "tie": "14.438159798",
        "player_doppelganger": "6.109324759", "banker_doppelganger": "6.109324759",
    },
    "vip": {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"},
}  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_edges_of_every_table_per_unit_and_at_its_least_stake(table: str) -> None:
    house = HOUSES[table]
    law, least = showings(house.rules.decks), house.terms.limits.min_minor
    assert {bet.name: percent(bet_edge(law, bet), 9) for bet in house.terms.bets} == TABLES[table]
    assert {bet.name: percent(edge_at(law, bet, least, house.terms), 9) for bet in house.terms.bets} == TABLES[table]


def test_every_table_is_here() -> None:
    assert set(TABLES) == set(HOUSES)


def test_below_ten_minor_units_the_commission_is_zero_and_the_bettor_has_the_edge() -> None:
    terms, law = HOUSES["intercasino"].terms, showings(8)
    for bet in (BANKER, BANKER_19_20):
        edges = [percent(edge_at(law, bet, stake, terms), 3) for stake in (1, 9, 10, 20)]
        assert edges == ["-1.235", "-1.235", "3.351", "1.058"]


def test_the_least_commission_of_a_quarter_makes_small_stakes_dear() -> None:
    """On 1.00 it takes a quarter of every win: P(banker)·¾ lost against P(player)."""
    terms, law = HOUSES["vip"].terms, showings(8)
    p = {outcome: Fraction(n, law.total) for outcome, n in exact_odds(8).outcomes().items()}
    assert edge_at(law, BANKER, 100, terms) == p["player"] - p["banker"] * Fraction(3, 4)
    assert edge_at(law, BANKER, 500, terms) == bet_edge(law, BANKER)
    assert edge_at(law, BANKER, 25, terms) == p["player"]


@pytest.mark.parametrize("stake", [1, 7, 13, 100, 499])
def test_rounding_can_move_an_edge_only_by_what_it_moves_a_win(stake: int) -> None:
    terms, law = HOUSES["intercasino"].terms, showings(8)
    for bet in CATALOGUE.values():
        assert abs(edge_at(law, bet, stake, terms) - bet_edge(law, bet)) <= Fraction(1, 2 * stake)


def test_nets_of_a_stake_add_up_to_all_deals() -> None:
    law = showings(8)
    nets = net_law(law, CATALOGUE["no_commission_banker"], 100, HOUSES["vip"].terms)
    assert sorted(nets) == [-100, 0, 50, 100]
    assert sum(nets.values()) == law.total


def test_a_banker_without_commission_is_the_players_edge_turned_round() -> None:
    assert bet_edge(showings(8), BANKER_EVEN) == -bet_edge(showings(8), CATALOGUE["player"])
    assert bet_edge(showings(8), Bet("free", (Pay("player", 0), Pay("banker", 0), Pay("tie", 0)))) == 0
