"""Monitors: laws from the cards not yet seen, evidence by its definition in fractions, alarms, points, texts."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import pytest

from audit.exact import exact_odds, multiplicities
from audit.monitor import (
    MONITORS,
    MOST_POINTS,
    MonitorName,
    begin_monitor,
    find_monitor,
    go_past,
    keeps_point,
    laws_of,
    print_log,
    print_state,
    raised,
    read_state,
    stride,
    threshold,
    without,
)
from audit.sequential import Change
from shoe.errors import CanonicalError, ImpossibleError, InputError
from shoe.game.cards import parse_card

NAMES: tuple[MonitorName, ...] = tuple(MONITORS)
COUPS = [
    ("banker", "t0_9a_draws"),
    ("tie", "player_natural"),
    ("player", "stood_draws"),
    ("banker", "t67_stands"),
    ("banker", "both_natural"),
]


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_the_law_of_a_full_shoe_is_the_one_that_is_enumerated(decks: int) -> None:
    """Two roads: six ordered cards by arrays, and audit.exact's enumeration card by card."""
    laws, odds = laws_of(multiplicities(decks)), exact_odds(decks)
    total = sum(odds.outcomes().values())
    assert laws.outcomes == {name: Fraction(count, total) for name, count in odds.outcomes().items()}
    assert laws.rules == {name: Fraction(count, total) for name, count in odds.rules().items()}


def test_cards_that_were_shown_are_taken_out_by_their_points() -> None:
    shown = [parse_card(card) for card in ("As", "Td", "Kc", "9h", "9d")]
    assert without(multiplicities(1), shown) == (14, 3, 4, 4, 4, 4, 4, 4, 4, 2)
    with pytest.raises(ImpossibleError, match="more cards of a value"):
        without((0,) * 10, shown[:1])


@pytest.mark.parametrize("name", ["outcomes", "rule_use"])
def test_evidence_is_what_its_definition_gives_in_fractions(name: MonitorName) -> None:
    """The gambler's wealth, multiplied out: r(x) / Σ π·r with r(y) = (w·p(y) + s(y)) / ((w + n)·p(y)); a mean of 3."""
    full = multiplicities(2)
    null = laws_of(full)
    p = null.outcomes if name == "outcomes" else null.rules
    state, unseen = begin_monitor(name, 2), full
    counts, wealth = dict.fromkeys(p, 0), {10: Fraction(1), 100: Fraction(1), 1000: Fraction(1)}
    for n, coup in enumerate(COUPS):
        laws = laws_of(unseen)
        pi, x = (laws.outcomes, coup[0]) if name == "outcomes" else (laws.rules, coup[1])
        for w in wealth:
            r = {y: (w * p[y] + counts[y]) / ((w + n) * p[y]) for y in p}
            wealth[w] *= r[x] / sum(pi[y] * r[y] for y in p)
        counts[x] += 1
        state = go_past(name, state, coup, laws)
        unseen = without(unseen, [4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3, 40 + n])
        assert exp(state.log_e) == pytest.approx(float(sum(wealth.values()) / 3), rel=1e-12)


def test_an_impossible_outcome_is_an_alarm_by_itself() -> None:
    """With only cards of value 0 left every coup is a tie."""
    laws = laws_of((20, *[0] * 9))
    assert laws.outcomes == {"player": 0, "banker": 0, "tie": 1}
    state = go_past("outcomes", begin_monitor("outcomes", 1), ("player", "stood_draws"), laws)
    alarm = raised("outcomes", state, 0, 1000)
    assert alarm is not None
    assert alarm.log_e == inf


@pytest.mark.parametrize(("tables", "least"), [(1, 200), (7, 1400)])
def test_evidence_alarms_once_it_has_reached_what_two_monitors_a_table_and_a_level_of_1_percent_ask(
    tables: int, least: int
) -> None:
    laws, state, before = laws_of(multiplicities(8)), begin_monitor("outcomes", 8), 0.0
    while (alarm := raised("outcomes", state, 0, tables)) is None:
        before, state = state.log_e, go_past("outcomes", state, ("tie", "both_natural"), laws)
    assert before < log(least) <= alarm.log_e == state.log_e
    assert (alarm.log_threshold, alarm.changed_after) == (pytest.approx(log(least)), None)
    assert raised("outcomes", state, 1, tables) is None


def test_a_change_is_dated_and_alarms_again_once_it_is_started_anew() -> None:
    laws, state = laws_of(multiplicities(8)), begin_monitor("outcome_changes", 8)
    usual = [*["banker", "player"] * 5, "tie", *["banker", "player"] * 4, "tie", "banker"] * 20
    for outcome in usual:
        state = go_past("outcome_changes", state, (outcome, "both_natural"), laws)
        assert raised("outcome_changes", state, 0, 1) is None
    while (alarm := raised("outcome_changes", state, 0, 1)) is None:
        state = go_past("outcome_changes", state, ("tie", "both_natural"), laws)
    assert alarm.log_threshold == pytest.approx(log(10**6))
    assert alarm.changed_after is not None
    assert abs(alarm.changed_after - len(usual)) <= 7
    assert isinstance(state, Change)
    assert raised("outcome_changes", state, 1, 1) is not None
    assert raised("outcome_changes", begin_monitor("outcome_changes", 8), 1, 1) is None


@pytest.mark.parametrize("name", NAMES)
def test_a_state_comes_back_as_it_was(name: MonitorName) -> None:
    state = begin_monitor(name, 6)
    for coup in COUPS:
        state = go_past(name, state, coup, laws_of(multiplicities(6)))
    assert read_state(name, print_state(state)) == state


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"labels":1}', "null", "{"])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_no_state_is_refused(name: MonitorName, text: str) -> None:
    with pytest.raises((InputError, CanonicalError)):
        read_state(name, text)


@pytest.mark.parametrize(("outcome", "rule"), [("egalite", "both_natural"), ("", "both_natural")])
def test_an_outcome_that_there_is_not_is_refused(outcome: str, rule: str) -> None:
    laws = laws_of(multiplicities(8))
    for name in ("outcomes", "outcome_changes"):
        with pytest.raises(InputError, match="outcome"):
            go_past(find_monitor(name), begin_monitor(find_monitor(name), 8), (outcome, rule), laws)
    with pytest.raises(InputError):
        go_past("rule_use", begin_monitor("rule_use", 8), ("tie", "no_rule"), laws)


@pytest.mark.parametrize("name", ["", "outcome", "Outcomes", "rule use"])
def test_a_monitor_that_there_is_not_is_named(name: str) -> None:
    with pytest.raises(InputError, match="expected one of outcomes, rule_use, outcome_changes"):
        find_monitor(name)


def test_a_path_keeps_its_points_evenly_and_at_most_so_many() -> None:
    kept: list[int] = []
    for coups in range(1, 5000):
        kept = [point for point in kept if point % stride(coups) == 0]
        kept += [coups] if keeps_point(coups) else []
        assert len(kept) <= MOST_POINTS
        assert kept == list(range(stride(coups), coups + 1, stride(coups)))
    assert len(kept) > MOST_POINTS // 2


@pytest.mark.parametrize(
    ("value", "printed"),
    [(1, "1"), (200, "2e2"), (15_000_000, "1.5e7"), (0.001, "1e-3"), (123.456789, "1.23457e2"), (9.999999, "1e1"),
     (0.5, "5e-1"), (1400, "1.4e3")],
)  # fmt: skip
def test_numbers_are_printed_as_decimal_texts(value: float, printed: str) -> None:
    assert print_log(log(value)) == printed


def test_the_infinite_and_the_enormous_are_printed_too() -> None:
    assert print_log(inf) == "1e999999"
    assert print_log(1000 * log(10)) == "1e1000"


def test_the_bar_of_changes_is_a_million_whatever_the_tables() -> None:
    assert threshold("outcome_changes", 50) == threshold("outcome_changes", 1) == pytest.approx(log(10**6))
    with pytest.raises(InputError):
        threshold("outcomes", 0)
