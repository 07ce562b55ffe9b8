"""How results print: no float in JSON, no p of 0, every input echoed."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import inf
from typing import Any

import pytest

from audit.checks.outcomes import outcomes, rule_use, structural_zeros
from audit.checks.result import CheckResult, LineItem
from audit.checks.sequence import runs
from audit.tally import Seen, tally_shoe

LINE = LineItem("t8_draws", 7, Fraction(22, 3), -0.125)
RESULT = CheckResult(
    name="rule_use",
    null="as often as it should",
    statistic=12.5,
    distribution="chi-square",
    dof=14,
    n=1000,
    p=0.5664,
    effect=0.1118,
    effect_name="w",
    items=(LINE,),
)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)] + list(value)
    if isinstance(value, list):
        return [leaf for inner in value for leaf in leaves(inner)]
    return [value]


def test_json_echoes_everything() -> None:
    assert RESULT.to_json() == {
        "name": "rule_use",
        "null": "as often as it should",
        "statistic": "12.5",
        "distribution": "chi-square",
        "dof": 14,
        "n": 1000,
        "p": "0.5664",
        "effect": "0.1118",
        "effect_name": "w",
        "items": [
            {
                "label": "t8_draws",
                "observed": 7,
                "expected": "22/3",
                "expected_decimal": "7.333333333",
                "deviation": "-0.125",
            }
        ],
    }


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1"),
        (0.05, "0.05"),
        (1e-299, "1e-299"),
        (1e-300, "1e-300"),
        (9.9e-301, "<1e-300"),
        (5e-324, "<1e-300"),  # the smallest double
        (0.0, "<1e-300"),
    ],
)
def test_p_is_never_printed_as_nothing(p: float, text: str) -> None:
    result = replace(RESULT, p=p)
    assert result.p_text == text
    assert result.to_json()["p"] == text


def test_an_infinite_deviation_prints_as_such() -> None:
    assert LineItem("impossible", 1, Fraction(0), inf).to_json()["deviation"] == "inf"


def test_results_of_real_checks_fit_canonical_json() -> None:
    """Protocol §8: integers below 2⁵³, no floats, strings of 0x20–0x7e, keys of a–z, digits and underscores."""
    coups = [Seen("tie", "both_natural", 4, 8, 8), Seen("player", "player_natural", 4, 8, 0)]
    tally = tally_shoe([*coups, Seen("tie", "both_natural", 4, 1, 1)], 69)
    for result in (structural_zeros(tally, 8), outcomes(tally, 8), rule_use(tally, 8), runs(tally)):
        printed = result.to_json()
        for leaf in leaves(printed):
            assert leaf is None or type(leaf) in (str, int)
            if isinstance(leaf, str):
                assert all(" " <= character <= "~" for character in leaf), leaf
        assert json.loads(json.dumps(printed)) == printed


def test_results_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        RESULT.n = 1  # type: ignore[misc]
    with pytest.raises(AttributeError):
        LINE.observed = 1  # type: ignore[misc]
