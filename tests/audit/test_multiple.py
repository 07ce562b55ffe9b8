"""Many p-values: worked examples of the literature, closed testing as a second road, and exact borders."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise
from math import inf, log, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.multiple import COLLECTIVE_LEVEL, bonferroni, e_bh, holm, log_threshold, simes
from shoe.errors import InputError

P = st.integers(0, 64).map(lambda sixty_fourths: sixty_fourths / 64)
FIVE = Fraction(5, 100)


def test_the_worked_example_of_four_hypotheses() -> None:
    """Wikipedia, "Holm–Bonferroni method": .01 .04 .03 .005 at .05 reject the fourth and the first alone."""
    verdict = holm({"h1": 0.01, "h2": 0.04, "h3": 0.03, "h4": 0.005}, FIVE)
    assert verdict.rejected == ("h4", "h1")
    assert not verdict.passed
    assert [(check.name, round(float(check.adjusted), 12)) for check in verdict.checks] == [
        ("h4", 0.02),
        ("h1", 0.03),
        ("h3", 0.06),
        ("h2", 0.06),  # 1 · .04 is raised to what the one before it has
    ]


@given(st.lists(P, min_size=1, max_size=6), st.sampled_from([Fraction(1, 64), Fraction(1, 16), Fraction(1, 4)]))
def test_holm_is_the_closed_test_of_bonferroni(ps: list[float], level: Fraction) -> None:
    """Marcus, Peritz and Gabriel (1976): reject what every intersection that it belongs to rejects."""
    closed = {
        str(i)
        for i in range(len(ps))
        if all(
            min(Fraction(ps[j]) for j in subset) * size <= level
            for size in range(1, len(ps) + 1)
            for subset in combinations(range(len(ps)), size)
            if i in subset
        )
    }
    assert set(holm({str(i): p for i, p in enumerate(ps)}, level).rejected) == closed


@given(st.lists(P, min_size=1, max_size=12))
def test_adjusted_values_rise_and_equal_ones_stay_equal(ps: list[float]) -> None:
    checks = holm({f"check {i:02}": p for i, p in enumerate(ps)}).checks
    for before, after in pairwise(checks):
        assert (before.p, before.name) < (after.p, after.name)
        assert before.adjusted <= after.adjusted
        assert before.p != after.p or before.adjusted == after.adjusted
    assert all(Fraction(check.p) <= check.adjusted <= 1 for check in checks)


def test_borders_are_exact() -> None:
    """1/64 of 4 checks adjusts to exactly 1/16: rejected there, not below; no rounding tips the scale."""
    ps = {"a": 1 / 64, "b": 1.0, "c": 1.0, "d": 1.0}
    assert holm(ps, Fraction(1, 16)).rejected == ("a",)
    assert holm(ps, Fraction(1, 16) - Fraction(1, 10**30)).passed
    # The double next to .01 is a little more than 1/100: it is not rejected at exactly 1/100.
    assert holm({"a": 0.01}).passed
    assert holm({"a": 0.01}, Fraction(0.01)).rejected == ("a",)


def test_collectively_at_99_percent() -> None:
    assert float(COLLECTIVE_LEVEL) == 0.01
    assert holm({f"check {i}": 0.001 for i in range(11)}).passed  # 11 · .001 > .01
    assert len(holm({f"check {i}": 0.001 for i in range(9)}).rejected) == 9
    assert holm({"impossible": 0.0, **{f"check {i}": 0.5 for i in range(40)}}).rejected == ("impossible",)


def test_order_of_the_input_makes_no_difference() -> None:
    ps = {"a": 0.3, "b": 0.002, "c": 0.002, "d": 1.0}
    assert holm(ps) == holm(dict(reversed(ps.items())))
    assert [check.name for check in holm(ps).checks] == ["b", "c", "a", "d"]


@pytest.mark.parametrize(
    ("p", "message"),
    [
        (nan, r"^p_values\[runs\]: expected a number from 0 to 1, got nan$"),
        (-1e-9, r"^p_values\[runs\]: expected a number from 0 to 1, got -1e-09$"),
        (1.0000001, r"^p_values\[runs\]: expected a number from 0 to 1"),
        (inf, r"^p_values\[runs\]: expected a number from 0 to 1, got inf$"),
    ],
)
def test_no_probability_is_refused(p: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        holm({"outcomes": 0.5, "runs": p})
    for combine in (bonferroni, simes):
        with pytest.raises(InputError, match=r"^p_values\[1\]: expected a number from 0 to 1"):
            combine([0.5, p])


def test_a_family_of_none_is_refused() -> None:
    with pytest.raises(InputError, match=r"^p_values: expected 1 or more p-values, got 0$"):
        holm({})
    for combine in (bonferroni, simes):
        with pytest.raises(InputError, match=r"^p_values: expected 1 or more p-values"):
            combine([])
    with pytest.raises(InputError, match=r"^log_e_values: expected 1 or more e-values"):
        e_bh({})


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(99)])
def test_no_level_is_refused(level: Fraction) -> None:
    for call in (lambda: holm({"a": 0.5}, level), lambda: e_bh({"a": 0.5}, level), lambda: log_threshold(1, level)):
        with pytest.raises(InputError, match=r"^level: expected a level between 0 and 1"):
            call()


def test_simes_rejects_two_independent_at_exactly_the_level() -> None:
    """Of all 64² pairs of equally likely p, the share with combined p ≤ a is a: Simes' theorem for m = 2."""
    grid = [i / 64 for i in range(1, 65)]
    combined = [simes([p, q]) for p in grid for q in grid]
    for even in range(2, 65, 2):
        assert sum(p <= even / 64 for p in combined) == even * 64


@given(st.lists(P, min_size=1, max_size=8))
def test_simes_lies_between_the_smallest_and_bonferroni(ps: list[float]) -> None:
    assert min(ps) <= simes(ps) <= bonferroni(ps) <= 1
    assert simes(ps) <= max(ps)


def test_bonferroni_by_hand() -> None:
    assert bonferroni([0.25, 0.0625, 0.5]) == 0.1875
    assert bonferroni([0.5, 0.75, 1.0]) == 1.0


def test_e_bh_by_hand() -> None:
    """Four tables at 1/4: bars 16/k for the k-th. 9 ≥ 16/2 and 8 ≥ 16/2, 5 < 16/3."""
    logs = {name: log(e) for name, e in {"a": 5, "b": 9, "c": 8.0001, "d": 1}.items()}
    assert e_bh(logs, Fraction(1, 4)) == ("b", "c")
    assert e_bh({**logs, "a": log(5.34)}, Fraction(1, 4)) == ("b", "c", "a")
    assert e_bh({**logs, "c": log(7.9)}, Fraction(1, 4)) == ()
    assert e_bh({"a": inf, "b": -inf}) == ("a",)


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-5, 12), min_size=1))
def test_e_bh_is_benjamini_and_hochberg_on_inverse_e(logs: dict[str, float]) -> None:
    level = Fraction(1, 10)
    ordered = sorted(logs, key=lambda name: (-logs[name], name))
    most = max((k for k, name in enumerate(ordered, 1) if -logs[name] <= log(k * level / len(logs)) + 1e-12), default=0)
    assert e_bh(logs, level) == tuple(ordered[:most])


def test_e_bh_refuses_what_is_no_number() -> None:
    with pytest.raises(InputError, match=r"^log_e_values\[b\]: expected a number, got nan$"):
        e_bh({"a": 1.0, "b": nan})


def test_threshold_of_many_tables() -> None:
    assert log_threshold(1) == pytest.approx(log(100))
    assert log_threshold(50, FIVE) == pytest.approx(log(1000))
    with pytest.raises(InputError, match=r"^tables: expected 1 or more tables, got 0$"):
        log_threshold(0)


@pytest.mark.parametrize(
    ("p_values", "words"),
    [
        ({"a": 0.5, "b": 0.5}, "all 2 checks pass collectively at 99 % (Holm at 1/100)"),
        ({"a": 0.5}, "the one check passes at 99 % (Holm at 1/100)"),
        ({"a": 0.5, "b": 0.001, "c": 0.0}, "2 of 3 checks fail, Holm at 1/100: c, b"),
    ],
)
def test_a_verdict_in_words(p_values: dict[str, float], words: str) -> None:
    assert holm(p_values).words == words
