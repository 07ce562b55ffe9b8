"""Power: published tables of the noncentral χ², the figures of the audit's design, and real multinomials."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2 as chi2_law
from scipy.stats import chi2_contingency, ncx2

from audit.covariance import TwoCoupCovariance, rule_covariance, two_coup_covariance
from audit.deals import merged
from audit.exact import Cell, exact_odds
from audit.faults import Fault, banker_six_never_draws, catalogue, honest_law
from audit.power import LEAST_EXPECTED, compare, effect, effect_within_shoes, needed_noncentrality
from shoe.errors import InputError
from shoe.game.tableau import OUTCOMES, RULES

FAULTS = {fault.name: fault for fault in (*catalogue(8), banker_six_never_draws(8))}
LEVEL = 1e-6
HALF = {"a": Fraction(1, 2), "b": Fraction(1, 2)}


def joint(cell: Cell) -> tuple[int, int, int]:
    return cell.player_total, cell.banker_total, cell.cards


def joint_effect(fault: Fault) -> Any:
    return effect(merged(honest_law(8), joint), merged(fault.law(), joint))


# --- the noncentral χ² ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dof", "level", "power", "noncentrality"),
    [
        (1, 0.05, 0.8, 7.849),
        (1, 0.05, 0.9, 10.507),
        (1, 0.01, 0.9, 14.879),
        (2, 0.05, 0.8, 9.635),
        (2, 0.05, 0.9, 12.654),
    ],
)
def test_needed_noncentrality_equals_the_printed_tables(
    dof: int, level: float, power: float, noncentrality: float
) -> None:
    """Haynam, Govindarajulu and Leone, Selected Tables in Mathematical Statistics 1 (1970), to three places."""
    assert needed_noncentrality(dof, level, power) == pytest.approx(noncentrality, abs=6e-4)


@pytest.mark.parametrize("dof", [1, 14, 197])
@pytest.mark.parametrize("level", [1e-6, 0.01])
@pytest.mark.parametrize("power", [0.5, 0.9, 0.999])
def test_needed_noncentrality_gives_that_power(dof: int, level: float, power: float) -> None:
    needed = needed_noncentrality(dof, level, power)
    assert ncx2.sf(chi2_law.isf(level, dof), dof, needed) == pytest.approx(power, abs=1e-9)


@pytest.mark.parametrize(("level", "power"), [(0.0, 0.9), (0.1, 0.1), (0.5, 0.1), (0.01, 1.0), (-1, 0.5)])
def test_a_power_that_is_none_is_refused(level: float, power: float) -> None:
    with pytest.raises(InputError, match=r"^level, power: expected 0 < level < power < 1"):
        needed_noncentrality(2, level, power)
    with pytest.raises(InputError, match=r"^level, power: "):
        joint_effect(FAULTS["6_decks"]).need_by_moments(level, power)


def test_needs_are_the_first_number_of_coups_with_that_power() -> None:
    for name in ("banker_3_draws_against_8", "banker_3_stands_against_0", "player_0_stands"):
        fault = joint_effect(FAULTS[name])
        local, moments = fault.need(LEVEL, 0.9), fault.need_by_moments(LEVEL, 0.9)
        assert fault.power(local, LEVEL) >= 0.9 > fault.power(local - 1, LEVEL)
        assert fault.power_by_moments(moments, LEVEL) >= 0.9 > fault.power_by_moments(moments - 1, LEVEL)


# --- effects --------------------------------------------------------------------------------------


def test_an_effect_by_hand() -> None:
    """Even chances against ¾ and ¼, where χ² = 4(X − n/2)²/n with X binomial(n, ¾)."""
    fault = effect(HALF, {"a": Fraction(3, 4), "b": Fraction(1, 4)})
    assert (fault.cells, fault.noncentrality, fault.w, fault.impossible) == (2, 0.25, 0.5, 0.0)
    assert fault.mean == pytest.approx(0.75)  # E[χ²] = 4·(n·3/16)/n + n/4
    assert fault.spread == pytest.approx(3 / 16)  # the linear part 2(X − 3n/4) has variance 4n·3/16
    assert fault.variance == pytest.approx(2 * 0.75**2)  # of the square, 4(X − 3n/4)²/n, for large n


@pytest.mark.parametrize("q", [(0.5, 0.3, 0.2), (0.2, 0.2, 0.6)])
def test_moments_of_chi_square_equal_those_of_many_multinomials(q: tuple[float, ...]) -> None:
    null = {0: Fraction(1, 2), 1: Fraction(1, 4), 2: Fraction(1, 4)}
    fault = effect(null, {cell: Fraction(p).limit_denominator(10) for cell, p in enumerate(q)})
    n, p = 400, np.array([0.5, 0.25, 0.25])
    counts = np.random.Generator(np.random.PCG64(1)).multinomial(n, q, size=200_000)
    statistic = ((counts - n * p) ** 2 / (n * p)).sum(axis=1)
    error = statistic.std() / sqrt(200_000)
    assert abs(statistic.mean() - fault.mean - n * fault.noncentrality) < 4 * error
    assert statistic.var() == pytest.approx(fault.variance + 4 * n * fault.spread, rel=0.02)


def test_cells_that_the_null_rules_out_are_kept_apart() -> None:
    fault = effect(HALF, {"a": Fraction(1, 2), "b": Fraction(2, 5), "c": Fraction(1, 10)})
    assert fault.impossible == 0.1
    assert fault.noncentrality == pytest.approx(0.01 / 0.5)
    assert fault.impossible_need(0.9) == 22  # .9²² = .0985
    assert fault.impossible_need(0.5) == 7  # .9⁷ = .478
    with pytest.raises(InputError, match=r"^power: expected a power between 0 and 1, got 1$"):
        fault.impossible_need(1)


def test_no_fault_is_never_seen() -> None:
    """So it is with player, player, banker, banker, whose law is the very same."""
    none = effect(HALF, HALF)
    assert (none.need(0.01, 0.9), none.need_by_moments(0.01, 0.9), none.impossible_need(0.9)) == (None, None, None)
    assert none.power(10**9, 0.01) == pytest.approx(0.01)


@pytest.mark.parametrize("null", [{}, {"a": Fraction(1)}, {"a": Fraction(1), "b": Fraction(0)}])
def test_a_null_without_two_cells_is_refused(null: dict[str, Fraction]) -> None:
    with pytest.raises(InputError, match=r"^null: expected two or more cells of positive probability"):
        effect(null, HALF)


# --- the figures of the design --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "at_ninety", "in_the_design"),
    [
        ("banker_3_draws_against_8", 31_611, 3.6e4),
        ("banker_6_never_draws", 47_130, 5.4e4),
        ("banker_3_stands_against_0", 2_400, 2.7e3),
    ],
)
def test_needs_of_the_joint_histogram(name: str, at_ninety: int, in_the_design: float) -> None:
    """198 cells at 10⁻⁶. The design's figures are 12 to 15 % larger, for what power is not said; .972 fits all."""
    fault = joint_effect(FAULTS[name])
    assert fault.cells == 198
    assert fault.need(LEVEL, 0.9) == at_ninety
    assert float(f"{fault.need(LEVEL, 0.972):.1e}") == in_the_design


@pytest.mark.parametrize(
    ("name", "coups"),
    [("banker_6_never_draws", 2_950), ("6_decks", 136e6), ("one_0_missing", 6e6)],
)
def test_needs_of_the_rule_classes_within_shoes(name: str, coups: float) -> None:
    """The figures of METHODS.md for 15 classes, level .01, power .9, K = 69."""
    law = FAULTS[name].law()
    fault = effect_within_shoes(rule_covariance(8), merged(law, lambda cell: cell.rule), 69)
    assert fault.cells == 15
    assert fault.need(0.01, 0.9) == pytest.approx(coups, rel=0.04)


def test_one_coup_a_shoe_is_independence() -> None:
    outcomes = two_coup_covariance(8).merged(lambda kind: kind[1], OUTCOMES)
    law = merged(FAULTS["player_5_stands"].law(), lambda cell: cell.outcome)
    honest = merged(honest_law(8), lambda cell: cell.outcome)
    alone = effect_within_shoes(outcomes, law, 1)
    assert alone.noncentrality == pytest.approx(effect(honest, law).noncentrality, rel=1e-9)
    assert effect_within_shoes(outcomes, law, 69).noncentrality != alone.noncentrality
    with pytest.raises(InputError, match=r"^judged: expected 1 or more judged coups a shoe, got 0$"):
        effect_within_shoes(outcomes, law, 0)


def test_what_a_class_covariance_rules_out_is_impossible_too() -> None:
    law = TwoCoupCovariance(("a", "b"), (Fraction(1, 2),) * 2, ((Fraction(0),) * 2,) * 2)
    assert effect_within_shoes(law, {"a": Fraction(1, 2), "c": Fraction(1, 2)}, 2).impossible == 0.5


def test_every_fault_shows_in_the_cells() -> None:
    """All 96 flips are caught within 510,000 coups at 10⁻⁶; those that leave impossible coups within 830."""
    honest = honest_law(8)
    for name, fault in FAULTS.items():
        cells, law = effect(honest, fault.law()), joint_effect(fault)
        assert cells.impossible >= law.impossible, name  # a finer partition sees no less
        assert cells.impossible or cells.noncentrality > law.noncentrality, name
        if name.endswith(("decks", "missing", "shoe")):
            assert 3.5e6 < law.need(LEVEL, 0.9) < 1.2e8
        elif cells.impossible:
            assert cells.impossible_need(0.9) < 830, name
        else:
            assert law.need(LEVEL, 0.9) < 214_000, name


# --- one finding against another ------------------------------------------------------------------


def test_comparison_equals_the_contingency_table() -> None:
    one, other = {"a": 50, "b": 30, "c": 20}, {"a": 30, "b": 35, "c": 60}
    result = compare(one, other)
    table = chi2_contingency([[50, 30, 20], [30, 35, 60]], correction=False)
    assert result.statistic == pytest.approx(table.statistic)
    assert result.p == pytest.approx(table.pvalue)
    assert (result.dof, result.n) == (2, 225)
    assert [(item.label, item.observed, float(item.expected)) for item in result.items] == [
        ("a", 50, pytest.approx(80 * 100 / 225)),
        ("b", 30, pytest.approx(65 * 100 / 225)),
        ("c", 20, pytest.approx(80 * 100 / 225)),
    ]
    assert result.items[2].deviation < -3 < 2 < result.items[0].deviation


def test_comparison_is_the_same_the_other_way_round() -> None:
    one, other = {"a": 500, "b": 310, "c": 2}, {"a": 30, "b": 35, "d": 1}
    assert compare(one, other).p == compare(other, one).p
    assert compare(one, one).statistic == 0


def test_rare_cells_are_compared_together() -> None:
    one = {"a": 100, "b": 100, "rare 1": 4, "rare 2": 3}
    other = {"a": 100, "b": 100, "rare 3": 2, "rare 2": 2}
    result = compare(one, other)
    assert [(item.label, item.observed) for item in result.items] == [("a", 100), ("b", 100), ("the rare ones", 7)]
    assert all(float(item.expected) >= LEAST_EXPECTED for item in result.items)


def test_too_few_rare_ones_take_the_next_cell_along() -> None:
    result = compare({"a": 100, "b": 90, "c": 40, "d": 1}, {"a": 100, "b": 90, "c": 40})
    assert [(item.label, item.observed) for item in result.items] == [("a", 100), ("b", 90), ("the rare ones", 41)]


def test_comparison_of_findings_from_one_law_rejects_as_often_as_it_says() -> None:
    generator = np.random.Generator(np.random.PCG64(4))
    law = exact_odds(8)
    p = np.array([float(q) for q in law.probabilities(law.rules()).values()])
    counts = generator.multinomial(30_000, p, size=(1000, 2))
    small = [
        compare(dict(zip(RULES, one.tolist(), strict=True)), dict(zip(RULES, other.tolist(), strict=True))).p
        for one, other in counts
    ]
    assert 30 <= sum(p <= 0.05 for p in small) <= 72
    assert compare({"a": 1000, "b": 1000}, {"a": 1200, "b": 800}).p < 1e-9


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ({}, {"a": 1}, r"^counts: expected 1 or more coups in both findings, got \(0, 1\)$"),
        ({"a": 1}, {"a": 0}, r"^counts: expected 1 or more coups in both findings, got \(1, 0\)$"),
        ({"a": -1, "b": 5}, {"a": 1}, r"^counts: expected counts of 0 or more"),
        ({"a": 10}, {"a": 10}, r"^counts: expected two or more cells to compare, got 1$"),
        ({"a": 1, "b": 1}, {"a": 1, "b": 1}, r"^counts: expected two or more cells to compare, got 1$"),
    ],
)
def test_what_cannot_be_compared_is_refused(one: dict[str, int], other: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(one, other)
