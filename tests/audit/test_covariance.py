"""The covariance of two coups of a shoe: published figures, and every order of small shoes."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import perm

import numpy as np
import pytest

from audit.covariance import (
    TwoCoupCovariance,
    class_covariance_matrix,
    covariance_from,
    rule_covariance,
    two_coup_covariance,
)
from audit.exact import exact_odds
from shoe.errors import InputError, RulesError
from shoe.game.tableau import OUTCOMES, RULES
from tests.reference import two_coups_reference as slow

# Shoes of 12 to 14 cards of two to four point values: together they make all 15 classes.
SMALL = {
    "zeros, threes, sixes": (6, 0, 0, 4, 0, 0, 3, 0, 0, 0),
    "twos and fives": (0, 0, 7, 0, 0, 6, 0, 0, 0, 0),
    "zeros, fours, fives": (7, 0, 0, 0, 3, 2, 0, 0, 0, 0),
    "threes, sevens, eights": (0, 0, 0, 5, 0, 0, 0, 4, 3, 0),
    "aces, sixes, eights": (0, 5, 0, 0, 0, 0, 4, 0, 4, 0),
    "zeros, nines, twos": (5, 0, 4, 0, 0, 0, 0, 0, 0, 4),
    "one of some": (8, 1, 0, 0, 0, 0, 1, 0, 2, 0),
}


@pytest.mark.parametrize("shoe", SMALL.values(), ids=SMALL.keys())
def test_every_pair_of_kinds_equals_all_orders_of_a_small_shoe(shoe: tuple[int, ...]) -> None:
    law = covariance_from(shoe)
    both = slow.first_two(shoe)
    first: dict[slow.Kind, Fraction] = defaultdict(Fraction)
    second: dict[slow.Kind, Fraction] = defaultdict(Fraction)
    for (one, other), p in both.items():
        first[one] += p
        second[other] += p
    assert first == second  # the coups of a prefix are exchangeable
    assert {kind: p for kind, p in zip(law.labels, law.p, strict=True) if p} == first
    for a, row in zip(law.labels, law.s12, strict=True):
        for b, covariance in zip(law.labels, row, strict=True):
            assert covariance == both.get((a, b), 0) - first.get(a, 0) * first.get(b, 0)


def test_the_small_shoes_make_all_classes() -> None:
    laws = [covariance_from(shoe) for shoe in SMALL.values()]
    dealt = {kind[0] for law in laws for kind, p in zip(law.labels, law.p, strict=True) if p}
    assert dealt == set(RULES)


@pytest.mark.parametrize("decks", [1, 8])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("both_natural", "both_natural"),
        ("both_natural", "stood_stands"),
        ("stood_stands", "stood_stands"),
    ],
)
def test_pairs_of_coups_without_third_cards_equal_a_count_hand_by_hand(decks: int, first: str, second: str) -> None:
    totals = {"both_natural": {8, 9}, "stood_stands": {6, 7}}
    law = rule_covariance(decks)
    a, b = RULES.index(first), RULES.index(second)
    together = slow.both_stand_twice(decks, totals[first], totals[second])
    assert law.s12[a][b] + law.p[a] * law.p[b] == together


def test_outcomes_of_eight_decks_as_published() -> None:
    """The six indicator covariances of the audit's design, to five digits."""
    published = {
        ("banker", "banker"): -5.3745e-7,
        ("banker", "player"): 5.4077e-9,
        ("banker", "tie"): 5.3204e-7,
        ("player", "player"): -1.1809e-6,
        ("player", "tie"): 1.1754e-6,
        ("tie", "tie"): -1.7075e-6,
    }
    law = two_coup_covariance(8).merged(lambda kind: kind[1], OUTCOMES)
    for (one, other), covariance in published.items():
        exact = law.s12[OUTCOMES.index(one)][OUTCOMES.index(other)]
        assert float(f"{float(exact):.4e}") == covariance


def test_mean_of_the_plain_chi_square_of_outcomes_as_published() -> None:
    """2 − 2.176·10⁻⁵·(K−1) at 8 decks: the trace of diag(1/p)·V, less what p itself takes."""
    law = two_coup_covariance(8).merged(lambda kind: kind[1], OUTCOMES)
    slope = sum(law.s12[a][a] / law.p[a] for a in range(3))
    assert float(f"{float(slope):.3e}") == -2.176e-5


@pytest.mark.parametrize("decks", [1, 6, 8, 16])
def test_matrices_are_symmetric_and_every_row_adds_up_to_nothing(decks: int) -> None:
    law = two_coup_covariance(decks)
    assert law.s12 == tuple(zip(*law.s12, strict=True))
    assert {sum(row) for row in law.s12} == {Fraction(0)}
    assert sum(law.p) == 1
    rules = rule_covariance(decks)
    assert rules.labels == RULES
    assert {sum(row) for row in rules.s12} == {Fraction(0)}


@pytest.mark.parametrize("decks", [1, 6, 8, 16])
def test_probabilities_are_those_of_the_exact_odds(decks: int) -> None:
    odds, law = exact_odds(decks), two_coup_covariance(decks)
    assert dict(zip(RULES, rule_covariance(decks).p, strict=True)) == odds.probabilities(odds.rules())
    cards = law.merged(lambda kind: kind[2], (4, 5, 6))
    assert dict(zip(cards.labels, cards.p, strict=True)) == odds.probabilities(odds.cards())


def test_merging_twice_is_merging_once() -> None:
    law = two_coup_covariance(6)
    by_rule = law.merged(lambda kind: kind[0], RULES)
    natural = by_rule.merged(lambda rule: rule.endswith("natural"), (True, False))
    assert natural == law.merged(lambda kind: kind[0].endswith("natural"), (True, False))
    assert natural.s12[0][0] == natural.s12[1][1] == -natural.s12[0][1]


def test_merging_refuses_an_order_that_leaves_a_label_out() -> None:
    with pytest.raises(KeyError, match="tie"):
        two_coup_covariance(8).merged(lambda kind: kind[1], ("player", "banker"))


def test_counts_of_one_coup_are_multinomial() -> None:
    law = TwoCoupCovariance(("a", "b"), (Fraction(1, 4), Fraction(3, 4)), ((Fraction(9),) * 2,) * 2)
    assert law.of_counts(1, 0).tolist() == [[3 / 16, -3 / 16], [-3 / 16, 3 / 16]]
    assert law.of_counts(4, 2).tolist() == [[18.75, 17.25], [17.25, 18.75]]


def test_a_shoe_of_equal_cards_leaves_nothing_to_chance() -> None:
    """Twelve zeros: both coups draw both third cards and tie."""
    law = covariance_from((12, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    assert [kind for kind, p in zip(law.labels, law.p, strict=True) if p] == [("t0_9a_draws", "tie", 6)]
    assert {covariance for row in law.s12 for covariance in row} == {Fraction(0)}


def test_class_matrix_of_a_shoe() -> None:
    law, v = rule_covariance(8), class_covariance_matrix(8, 69)
    p, s = law.p[3], law.s12[3][3]
    assert v.shape == (15, 15)
    assert v[3, 3] == pytest.approx(float(69 * (p * (1 - p) + 68 * s)), rel=1e-15)
    assert np.abs(v.sum(axis=1)).max() < 1e-12
    assert np.linalg.matrix_rank(v) == 14
    assert np.linalg.eigvalsh(v)[1] > 0


def test_whole_numbers_stay_within_64_bits_at_sixteen_decks() -> None:
    """The bound that the enumeration relies on."""
    assert perm(832, 6) * 20 < 2**63


@pytest.mark.parametrize("decks", [0, 17, -8])
def test_a_shoe_of_no_or_too_many_decks_is_refused(decks: int) -> None:
    for compute in (two_coup_covariance, rule_covariance, lambda d: class_covariance_matrix(d, 1)):
        with pytest.raises(RulesError, match=r"^decks: expected 1 to 16 decks"):
            compute(decks)


def test_a_shoe_too_small_for_two_coups_is_refused() -> None:
    with pytest.raises(InputError, match=r"^full: expected 12 or more cards for two coups, got 11$"):
        covariance_from((2, 1, 1, 1, 1, 1, 1, 1, 1, 1))
