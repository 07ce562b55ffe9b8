"""The numbers behind the plots, each by a second road; how texts are set in type; the writer of drawings."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import groupby, permutations
from math import comb, log10

import numpy as np
import pytest

from audit.exact import exact_odds
from audit.paths import production_keys
from audit.report.document import Column, Figure, table
from audit.report.plots.axes import Scale
from audit.report.plots.evidence import LONGEST, evidence, expected_runs, runs
from audit.report.plots.heat import STRETCHES, heat_map
from audit.report.sample import Sample, deal_sample
from audit.report.sections.game import order_bits
from audit.report.svg import Canvas, number
from audit.report.words import plain, short, signed, typeset
from audit.sequential import begin, update
from shoe.errors import InputError
from shoe.game.cards import card_name
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.game.tableau import OUTCOMES
from shoe.proof.shuffle import shuffle_hand
from tests.audit.reported import PLAN, counts, report
from tests.audit.scalar_block import coup_rules

PLAYER, BANKER, TIE = (OUTCOMES.index(name) for name in ("player", "banker", "tie"))


# --- runs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("b", "p"), [(0, 0), (1, 0), (0, 3), (2, 2), (4, 3), (1, 6)])
def test_expected_runs_are_those_of_all_orders(b: int, p: int) -> None:
    """Every order of so many winners listed, and its runs counted."""
    lengths: Counter[int] = Counter()
    orders = set(permutations("B" * b + "P" * p))
    for order in orders:
        lengths.update(len(list(run)) for _, run in groupby(order))
    means = expected_runs([(b, p)])
    assert means == [Fraction(lengths[k], len(orders)) for k in range(1, LONGEST + 1)]


def test_long_runs_are_counted_together() -> None:
    assert expected_runs([(20, 0)])[-1] == 1
    assert sum(expected_runs([(20, 0)])) == 1
    b, p = 25, 20
    total = sum(expected_runs([(b, p)]))
    assert total == 1 + Fraction(2 * b * p, b + p)


def test_runs_of_the_sample_end_with_the_shoe() -> None:
    sample = Sample(((BANKER, TIE, BANKER), (BANKER, PLAYER)))
    by_shoe = runs(sample, "shoe")
    assert by_shoe is not None
    assert [row[1] for row in by_shoe.table.rows[:3]] == ["2", "1", "0"]
    as_one = runs(sample, "coup")
    assert as_one is not None
    assert [row[1] for row in as_one.table.rows[:3]] == ["1", "0", "1"]
    assert runs(Sample(((TIE,),)), "shoe") is None


# --- evidence ----------------------------------------------------------------------------------


def test_evidence_is_that_of_the_process_coup_by_coup() -> None:
    sample = deal_sample(PLAN)
    odds = exact_odds(1)
    exact = odds.counts((lambda cell: cell.outcome), OUTCOMES)
    state = begin({name: Fraction(exact[name], odds.total) for name in OUTCOMES})
    path = []
    for outcome in sample.outcomes:
        state = update(state, OUTCOMES[outcome])
        path.append(state.log_e / np.log(10))
    figure = evidence(sample, 1)
    assert figure is not None
    for coups, value, peak in figure.table.rows:
        at = int(coups.replace(",", ""))
        assert abs(float(value) - path[at - 1]) < 0.00051
        assert abs(float(peak) - max(path[:at])) < 0.00051
    assert int(figure.table.rows[-1][0].replace(",", "")) == len(path) == 100 * 8


def test_a_table_that_is_wrong_raises_the_alarm_in_the_plot() -> None:
    figure = evidence(Sample(((TIE,) * 400,)), 8)
    assert figure is not None
    assert float(figure.table.rows[-1][2]) > log10(100)


def test_the_sample_is_the_first_shoes_of_the_plan() -> None:
    sample = deal_sample(PLAN)
    assert len(sample.shoes) == 100
    assert {len(shoe) for shoe in sample.shoes} == {PLAN.rules.judged_coups}
    key = production_keys(PLAN, [3])[0]
    points = [min(card % 13 + 1, 10) % 10 for card in shuffle_hand(key, PLAN.rules, 0).cards]
    player, banker = (points[0] + points[2]) % 10, (points[1] + points[3]) % 10
    if max(player, banker) >= 8:
        winner = TIE if player == banker else PLAYER if player > banker else BANKER
        assert sample.shoes[3][0] == winner


# --- the map -----------------------------------------------------------------------------------


def test_the_map_counts_cards_by_the_definition() -> None:
    shuffles = counts().batch.shuffles
    assert shuffles is not None
    figure = heat_map("batch", shuffles)
    edges = [round(52 * k / STRETCHES) for k in range(STRETCHES + 1)]
    for card, row in ((0, figure.table.rows[0]), (51, figure.table.rows[51])):
        assert row[0] == card_name(card)
        for stretch in range(STRETCHES):
            low, high = edges[stretch : stretch + 2]
            b = high - low
            seen = sum(int(shuffles.table[position, card]) for position in range(low, high))
            law = {k: Fraction(comb(1, k) * comb(51, b - k), comb(52, b)) for k in (0, 1)}
            mean = sum(k * p for k, p in law.items())
            variance = sum(k * k * p for k, p in law.items()) - mean**2
            z = (seen - 100 * float(mean)) / float(100 * variance) ** 0.5
            assert abs(float(row[1 + stretch]) - z) < 0.0501


# --- frequencies and returns -------------------------------------------------------------------


def figure_named(name: str) -> Figure:
    (found,) = (
        block
        for section in report().document.sections
        for block in section.blocks
        if isinstance(block, Figure) and block.name == name
    )
    return found


def test_frequencies_are_those_of_the_findings() -> None:
    rows = {(row[0], row[1]): row for row in figure_named("frequencies").table.rows}
    check = next(check for check in report().source.checks if check.name == "batch_outcomes")
    for item in check.items:
        row = rows[item.label.capitalize(), "batch"]
        assert int(row[2].replace(",", "")) == item.observed
        exact = Fraction(item.expected)
        assert abs(float(row[6]) - 100 * (item.observed / float(exact) - 1)) < 0.00051
        half = float(row[7].removeprefix("+-"))
        distance = 100 * abs(item.observed / float(exact) - 1)
        assert half == pytest.approx(2.5758 * distance / abs(float(item.deviation)), rel=0.001)
    assert len(rows) == 2 * 18


def test_returns_are_those_of_the_findings() -> None:
    rows = figure_named("returns").table.rows
    check = next(check for check in report().source.checks if check.name == "production_returns")
    shown = {row[0]: row for row in rows if row[1] == "production"}
    for interval in check.intervals:
        row = shown[interval.label]
        assert [float(cell) for cell in row[3:7]] == pytest.approx(
            [100 * float(x) for x in (interval.estimate, interval.low, interval.high, interval.exact)], abs=0.00006
        )


def test_orders_are_counted_in_bits() -> None:
    """2,229.3 bits for 8 decks are in the binding text; six of 416 cards by multiplication."""
    assert f"{order_bits(NP_PUNTO_BANCO.rules):.1f}" == "2229.3"
    rules = coup_rules(8)
    assert order_bits(rules) == pytest.approx(sum(np.log2(416 - k) for k in range(6)))


# --- words and drawings ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("p = -1.5", "p = \u22121.5"),
        ("draws on 0-5", "draws on 0\u20135"),
        ("SP 800-22 and SHA-256, fairshoe certify --emit raw", "SP 800-22 and SHA-256, fairshoe certify --emit raw"),
        ("1.5e-07", "1.5\u00b710\u207b\u2077"),
        ("<1e-300", "<1\u00b710\u207b\u00b3\u2070\u2070"),
        ("10^6 bits, 2^2229.3", "10\u2076 bits, 2\u00b2\u00b2\u00b2\u2079.3"),
        ('house\'s "word"', "house\u2019s \u201cword\u201d"),
        ("+-0.5 >= 3 - 2...", "\u00b10.5 \u2265 3 \u2013 2\u2026"),
        ("99 %", "99\u00a0%"),
        ("+0.3", "+0.3"),
    ],
)
def test_texts_are_set_in_type(text: str, shown: str) -> None:
    assert typeset(text) == shown


def test_what_is_not_ascii_is_spelled() -> None:
    assert plain("0\u20135 \u201cx\u201d \u00e4") == '0-5 "x" ?'


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.00"), (-0.001, "0.00"), (1.005, "+1.00"), (-2.346, "-2.35"), (0.006, "+0.01")]
)
def test_signs_are_not_put_before_zero(value: float, shown: str) -> None:
    assert signed(value, 2) == shown


def test_numbers_of_the_findings_are_shortened() -> None:
    assert [short(text) for text in ("1234567.8", "0.123456789", "inf", "<1e-300")] == [
        "1,234,568",
        "0.123457",
        "inf",
        "<1e-300",
    ]


def test_ticks_are_round_and_within() -> None:
    assert list(Scale(0, 10, 0, 100).ticks()) == [0, 2, 4, 6, 8, 10]
    assert list(Scale(-0.9, 0.9, 0, 1).ticks()) == pytest.approx([-0.5, 0, 0.5])
    scale = Scale(0, 10, 100, 0)
    assert [scale(value) for value in (-5, 0, 5, 10, 99)] == [100, 100, 50, 0, 0]


def test_a_drawing_escapes_its_words_and_rounds_its_numbers() -> None:
    canvas = Canvas("x", 10, 10, "<title>", "a & b")
    canvas.text((1 / 3, -0.001), "</svg><script>")
    drawn = canvas.print()
    assert "&lt;title&gt;" in drawn
    assert "a &amp; b" in drawn
    assert "<script" not in drawn
    assert 'x="0.33" y="0"' in drawn
    assert "pattern" not in drawn
    assert number(100.0) == "100"


def test_a_ragged_table_is_refused() -> None:
    with pytest.raises(InputError, match="Caption: expected 2 cells"):
        table("Caption", (Column("a"), Column("b")), [("1",)])
