"""Deals by array: against the enumeration without arrays, against all 10⁶ runs, and against orders of small shoes."""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations, product

import pytest

from audit.deals import CHART, STOOD, cell_law, deal_counts, endless_deal_counts, next_outcome
from audit.exact import VALUES, exact_odds, multiplicities
from shoe.errors import InputError
from tests.reference import bulk_dealer, million_deals, tableau_reference, two_coups_reference

ODD_SHOE = (5, 3, 0, 4, 1, 2, 2, 1, 0, 6)


@pytest.mark.parametrize("decks", [1, 2, 6, 8, 16])
def test_every_cell_of_a_full_shoe_equals_the_exact_odds(decks: int) -> None:
    odds = exact_odds(decks)
    deals = deal_counts(multiplicities(decks))
    assert int(deals.sum()) == odds.total
    assert cell_law(deals) == odds.probabilities(odds.cells)


@pytest.mark.parametrize("shoe", [ODD_SHOE, multiplicities(8), (0, 0, 0, 0, 0, 0, 0, 3, 3, 0)])
def test_every_start_equals_all_runs_of_six_values(shoe: tuple[int, ...]) -> None:
    assert (deal_counts(shoe).ravel() == million_deals.by_start(million_deals.deals(shoe))).all()


def test_an_endless_shoe_equals_all_runs_with_every_card_put_back() -> None:
    weights = (4, *[1] * 9)
    deals = endless_deal_counts(weights)
    assert int(deals.sum()) == 13**6
    assert (deals.ravel() == million_deals.by_start(million_deals.deals(weights, endless=True))).all()


def test_dealing_player_player_banker_banker_has_the_same_law() -> None:
    """No statistic of coups can tell: the counts of all 10,000 starts are equal, in any shoe."""
    ways = million_deals.deals(ODD_SHOE)
    assert (million_deals.by_start(ways, player_first=True) == million_deals.by_start(ways)).all()
    assert (deal_counts(ODD_SHOE).ravel() == million_deals.by_start(ways, player_first=True)).all()


def test_next_outcome_equals_all_orders_of_a_small_rest() -> None:
    rest = (2, 1, 0, 1, 0, 1, 1, 0, 2, 0)
    cards = [value for value, count in enumerate(rest) for _ in range(count)]
    seen = Counter(tableau_reference.coup(order)[3] for order in permutations(cards, 6))
    assert next_outcome(rest) == {name: Fraction(seen[name], seen.total()) for name in ("player", "banker", "tie")}


def test_next_outcome_given_the_first_coups_cards_equals_all_orders_of_a_small_shoe() -> None:
    """Summed over the cards that the first coup can take: the joint law of both outcomes, by the slow definition."""
    shoe = (4, 0, 0, 3, 0, 2, 0, 0, 4, 0)
    rests: dict[tuple[str, tuple[int, ...]], Fraction] = defaultdict(Fraction)
    for run in product((0, 3, 5, 8), repeat=6):
        ways = Fraction(1)
        for place, value in enumerate(run):
            ways *= Fraction(shoe[value] - run[:place].count(value), sum(shoe) - place)
        if ways:
            used, _, _, first, _ = tableau_reference.coup(run)
            rest = tuple(count - run[:used].count(value) for value, count in enumerate(shoe))
            rests[first, rest] += ways
    joint: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for (first, rest), chance in rests.items():
        for second, p in next_outcome(rest).items():
            joint[first, second] += chance * p
    slow: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for ((_, first, _), (_, second, _)), p in two_coups_reference.first_two(shoe).items():
        slow[first, second] += p
    assert {pair: p for pair, p in joint.items() if p} == slow


def test_next_outcome_of_a_full_shoe_is_the_exact_one() -> None:
    odds = exact_odds(8)
    assert next_outcome(multiplicities(8)) == odds.probabilities(odds.outcomes())


@pytest.mark.parametrize("shoe", [ODD_SHOE, multiplicities(1)])
def test_a_card_burned_face_down_counts_as_unseen(shoe: tuple[int, ...]) -> None:
    """Averaged over the hidden card, the outcome's law is that of the shoe with the card still in it."""
    averaged: dict[str, Fraction] = dict.fromkeys(("player", "banker", "tie"), Fraction(0))
    for value, count in enumerate(shoe):
        if count:
            rest = tuple(left - (v == value) for v, left in enumerate(shoe))
            for outcome, p in next_outcome(rest).items():
                averaged[outcome] += Fraction(count, sum(shoe)) * p
    assert averaged == next_outcome(shoe)


def test_a_rest_can_rule_outcomes_out() -> None:
    assert next_outcome((12, 0, 0, 0, 0, 0, 0, 0, 0, 0)) == {"player": 0, "banker": 0, "tie": 1}


def test_the_chart_is_the_printed_one() -> None:
    assert (CHART.player, CHART.banker) == bulk_dealer.CHART


def test_a_flip_changes_one_cell_and_back() -> None:
    flipped = CHART.with_banker_flipped(3, 8)
    assert [
        (total, third)
        for total in range(8)
        for third in (*VALUES, STOOD)
        if flipped.banker[total][third] != CHART.banker[total][third]
    ] == [(3, 8)]
    assert flipped.player == CHART.player
    assert flipped.with_banker_flipped(3, 8) == CHART
    assert CHART.with_player_flipped(5).player == (True,) * 5 + (False,) * 3
    assert CHART.with_player_flipped(5).banker == CHART.banker


def test_sixteen_decks_stay_within_64_bits() -> None:
    assert 832**6 < 2**63
    assert int(endless_deal_counts((832, *[0] * 9)).sum()) == 832**6


@pytest.mark.parametrize(
    ("unseen", "message"),
    [
        ((1, 2, 3), r"^unseen: expected ten counts of 0 or more cards, got \(1, 2, 3\)$"),
        ((9, 9, 9, -1, 9, 9, 9, 9, 9, 9), r"^unseen: expected ten counts of 0 or more cards"),
        ((5, 0, 0, 0, 0, 0, 0, 0, 0, 0), r"^unseen: expected 6 to 832 cards, got 5$"),
        ((833, 0, 0, 0, 0, 0, 0, 0, 0, 0), r"^unseen: expected 6 to 832 cards, got 833$"),
    ],
)
def test_no_shoe_at_all_is_refused(unseen: tuple[int, ...], message: str) -> None:
    for count in (deal_counts, endless_deal_counts, next_outcome):
        with pytest.raises(InputError, match=message):
            count(unseen)
