"""The cut-card effect: closed form against measured means, and strict about its shoe."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from audit.cutcard import BURN_MEAN, cut_card_bias
from audit.exact import exact_odds
from shoe.errors import InputError, RulesError
from shoe.game.cards import POINTS
from shoe.game.tableau import OUTCOMES, RULES


def by_rule(kind: tuple[str, str, int]) -> str:
    return kind[0]


@pytest.mark.parametrize(
    ("decks", "cut", "burned", "coups"),
    [(8, 7, Fraction(0), 83.429), (8, 14, BURN_MEAN, 80.484), (6, 7, Fraction(0), 62.370), (1, 7, Fraction(0), 9.734)],
)
def test_mean_coups_equal_those_of_400_000_shoes(decks: int, cut: int, burned: Fraction, coups: float) -> None:
    """tests/reference/coups_per_shoe.py gives the means, with standard errors of 0.001 to 0.003."""
    assert cut_card_bias(decks, cut, by_rule, RULES, burned).coups == pytest.approx(coups, abs=0.006)


@pytest.mark.parametrize(("decks", "noncentrality"), [(8, 32.0), (6, 56.2), (1, 1638)])
def test_noncentrality_of_a_billion_coups(decks: int, noncentrality: float) -> None:
    """The design measured about 27 and 1,700 at 8 decks and 1."""
    assert cut_card_bias(decks, 7, by_rule, RULES).noncentrality(1e9) == pytest.approx(noncentrality, rel=0.002)


def test_excesses_add_up_to_nothing() -> None:
    for key, order in ((by_rule, RULES), (lambda kind: kind[1], OUTCOMES), (lambda kind: kind[2], (4, 5, 6))):
        bias = cut_card_bias(1, 7, key, order)
        assert sum(bias.excess) == pytest.approx(0, abs=1e-15)
        assert sum(bias.p) == pytest.approx(1)
        assert bias.labels == tuple(order)


def test_short_coups_make_late_coups_likelier_and_use_up_their_own_kind() -> None:
    bias = cut_card_bias(8, 7, lambda kind: kind[2], (4, 5, 6))
    assert bias.excess[0] < 0 < bias.excess[2]
    assert dict(zip(bias.labels, bias.p, strict=True)) == pytest.approx(
        {cards: float(p) for cards, p in exact_odds(8).probabilities(exact_odds(8).cards()).items()}
    )


def test_mean_burn() -> None:
    """One shown card and as many as its points, a zero counting ten."""
    assert 1 + Fraction(sum(points or 10 for points in POINTS), 52) == BURN_MEAN


def test_effect_shrinks_with_the_shoe() -> None:
    sizes = [cut_card_bias(decks, 7, by_rule, RULES).noncentrality(1e9) for decks in (1, 2, 4, 6, 8, 16)]
    assert sizes == sorted(sizes, reverse=True)
    assert np.log(sizes[0] / sizes[-1]) / np.log(16) == pytest.approx(2, abs=0.15)  # about as 1/decks²


@pytest.mark.parametrize(("cut", "burned"), [(416, 0), (-1, 0), (410, 6)])
def test_a_cut_card_that_leaves_no_coup_is_refused(cut: int, burned: int) -> None:
    with pytest.raises(InputError, match=r"^cut: expected a cut of 0 to 415 cards"):
        cut_card_bias(8, cut, by_rule, RULES, Fraction(burned))


def test_a_shoe_of_no_decks_is_refused() -> None:
    with pytest.raises(RulesError, match=r"^decks: "):
        cut_card_bias(0, 7, by_rule, RULES)
