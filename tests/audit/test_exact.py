"""Exact odds against published counts, and edges against published edges."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from itertools import product
from math import perm
from pathlib import Path
from typing import Any

import pytest

from audit.edges import BANKER, MAIN_BETS, PLAYER, TIE, MainBet, edge, percent
from audit.exact import Cell, exact_odds, multiplicities, patterns
from shoe.errors import InputError, RulesError
from shoe.game.tableau import MERGED_RULES, RULES
from tests.reference import tableau_reference

VECTORS = Path(__file__).parents[1] / "vectors"


def vectors(name: str) -> Any:
    return json.loads((VECTORS / name).read_text())


# Wizard of Odds, "Baccarat Odds for 1 to 12 Decks": player, banker, tie, total. From 7 decks on the page has a
# spreadsheet's 15 digits, of which the last may be off by one.
PUBLISHED = {
    1: (6548674432, 6737232640, 1372227328, 14658134400),
    2: (487816735232, 501543728128, 103154274240, 1092514737600),
    3: (5837305562496, 6000349195008, 1238768922816, 13076423680320),
    4: (33608344225792, 34543624867840, 7145601996928, 75297571090560),
    5: (130087780016000, 133700037548800, 27690387926400, 291478205491200),
    6: (392220492728832, 403095751234560, 83552962932288, 878869206895680),
    7: (995884732700032, 1023469376328440, 212268385833280, 2231622494861750),
    8: (2230518282592250, 2292252566437880, 475627426473216, 4998398275503350),
    9: (4540095442933630, 4665676262757120, 968435421769728, 10174207127460500),
    10: (8570454841408000, 8807402586035200, 1828629499384000, 19206486926827200),
    11: (15222978065896800, 15643682376129200, 3248754169011640, 34115414611037600),
    12: (25714619121272800, 26425038379143100, 5488795281294720, 57628452781710600),
}


@pytest.mark.parametrize("decks", PUBLISHED)
def test_outcomes_are_those_of_wizard_of_odds(decks: int) -> None:
    odds = exact_odds(decks)
    counts = odds.outcomes()
    found = (counts["player"], counts["banker"], counts["tie"], odds.total)
    for count, published in zip(found, PUBLISHED[decks], strict=True):
        unknown = max(len(str(count)) - 15, 0)
        assert abs(count - published) < (2 * 10**unknown if unknown else 1)


@pytest.mark.parametrize("decks", [1, 8])
def test_every_partition_equals_the_published_one(decks: int) -> None:
    odds, published = exact_odds(decks), vectors(f"exact_{decks}decks.json")
    assert odds.total == published["total"]
    assert odds.outcomes() == published["outcomes"]
    assert {str(cards): count for cards, count in odds.cards().items()} == published["cards_used"]
    assert list(odds.rules().values()) == list(published["rule_classes_15"].values())
    assert list(odds.merged_rules().values()) == list(published["rule_classes_14"].values())
    joint = odds.joint_totals()
    assert [[joint[p, b] for b in range(10)] for p in range(10)] == published["joint_totals"]
    split: Counter[str] = Counter()
    cells: Counter[str] = Counter()
    for cell, count in odds.cells.items():
        split[f"{cell.player_cards}+{cell.banker_cards}"] += count
        cells[",".join(map(str, cell[1:]))] += count
    assert split == published["cards_split"]
    assert cells == published["joint_cards_totals"]


@pytest.mark.parametrize("decks", [1, 8])
def test_outcomes_within_each_rule_class_equal_the_published_ones(decks: int) -> None:
    published = vectors(f"exact_{decks}decks.json")["rule_class_outcomes"]
    found: Counter[tuple[str, str]] = Counter()
    for cell, count in exact_odds(decks).cells.items():
        found[cell.rule, cell.outcome] += count
    expected = {
        (rule, outcome): count
        for rule, by_outcome in zip(RULES, published.values(), strict=True)
        for outcome, count in by_outcome.items()
        if count
    }
    assert found == expected


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_rule_classes_equal_the_published_ones(decks: int) -> None:
    published = vectors("exact_rule_classes.json")[str(decks)]
    odds = exact_odds(decks)
    assert list(odds.rules()) == list(RULES)
    assert list(odds.rules().values()) == list(published["classes"].values())
    assert list(odds.merged_rules()) == list(MERGED_RULES)
    assert odds.merged_rules()["one_sided_natural"] == published["merged"]


@pytest.mark.parametrize("decks", range(1, 17))
def test_every_partition_of_every_shoe_adds_up_to_all_deals(decks: int) -> None:
    odds = exact_odds(decks)
    assert odds.total == perm(52 * decks, 6)
    for counts in (odds.outcomes(), odds.rules(), odds.merged_rules(), odds.cards(), odds.joint_totals()):
        assert sum(counts.values()) == odds.total
        assert min(counts.values()) > 0
    probabilities = odds.probabilities(odds.joint_cells())
    assert sum(probabilities.values()) == 1
    assert len(probabilities) == 198
    assert all(type(p) is Fraction and p > 0 for p in probabilities.values())


def test_patterns_are_the_million_runs_of_six_values_by_the_printed_chart() -> None:
    """All 10⁶ runs of six values by tests/reference; a pattern of c cards stands for 10^(6−c) of them."""
    by_chart: Counter[tuple[int, int, int, str, str]] = Counter()
    for first_four in product(range(10), repeat=4):
        for rest in product(range(10), repeat=2):
            by_chart[tableau_reference.coup((*first_four, *rest))] += 1
    found: Counter[tuple[int, int, int, str, str]] = Counter()
    for values, orders, cell in patterns():
        assert len(values) == cell.cards
        seen = (cell.cards, cell.player_total, cell.banker_total, cell.outcome, cell.rule)
        found[seen] += orders * 10 ** (6 - cell.cards)
    assert found == by_chart
    assert found.total() == 10**6


@pytest.mark.parametrize("decks", [1, 6, 8])
def test_the_banker_wins_oftener_because_of_its_draws(decks: int) -> None:
    """Where the banker has no choice by the third card the sides are alike, but that it draws on a player who stood."""
    law = exact_odds(decks)
    assert law.outcomes()["banker"] > law.outcomes()["player"]
    won = {rule: {"banker": 0, "player": 0, "tie": 0} for rule in RULES}
    for cell, count in law.cells.items():
        won[cell.rule][cell.outcome] += count
    assert won["player_natural"]["player"] == won["banker_natural"]["banker"]
    for rule in ("both_natural", "stood_stands"):
        assert won[rule]["banker"] == won[rule]["player"]


def test_cells_know_their_outcome_and_cards() -> None:
    cell = Cell("t8_stands", 3, 2, 4, 7)
    assert (cell.outcome, cell.cards) == ("banker", 5)


def test_multiplicities_of_eight_decks() -> None:
    assert multiplicities(8) == (128, 32, 32, 32, 32, 32, 32, 32, 32, 32)


@pytest.mark.parametrize("decks", [0, -1, 17, 1000])
def test_a_shoe_of_no_or_too_many_decks_is_refused(decks: int) -> None:
    with pytest.raises(RulesError, match=r"^decks: expected 1 to 16 decks"):
        exact_odds(decks)
    with pytest.raises(RulesError, match=r"^decks: "):
        multiplicities(decks)


def test_results_cannot_be_changed() -> None:
    odds = exact_odds(8)
    assert exact_odds(8) is odds
    with pytest.raises(TypeError, match="item assignment"):
        odds.cells[Cell("both_natural", 2, 2, 8, 8)] = 0  # type: ignore[index]
    with pytest.raises(AttributeError):
        odds.decks = 6  # type: ignore[misc]


def test_counts_refuse_an_order_that_leaves_a_value_out() -> None:
    with pytest.raises(KeyError, match="6"):
        exact_odds(8).counts(lambda cell: cell.cards, (4, 5))


def test_odds_load_neither_numpy_nor_scipy() -> None:
    """The command `fairshoe odds` stays quick: design, CLI."""
    code = "import sys, audit.exact, audit.edges; print([m for m in sys.modules if m[:5] in ('numpy', 'scipy')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize("decks", [1, 8])
def test_edges_equal_the_published_ones_to_twelve_places(decks: int) -> None:
    published = vectors(f"exact_{decks}decks.json")["house_edge_pct"]
    odds = exact_odds(decks)
    bets = {
        "player_1:1": PLAYER,
        "banker_5pct (19:20)": BANKER,
        "tie_8:1": TIE,
        "tie_9:1": MainBet("tie 9:1", Fraction(-1), Fraction(-1), Fraction(9)),
        "banker_4pct": MainBet("banker 24:25", Fraction(-1), Fraction(24, 25), Fraction(0)),
        "banker_no_commission_1:1 (InterCasino text)": MainBet("banker 1:1", Fraction(-1), Fraction(1), Fraction(0)),
    }
    assert {name: percent(edge(odds, bet)) for name, bet in bets.items()} == published


def test_edges_of_eight_decks_as_every_table_of_odds_prints_them() -> None:
    """Wizard of Odds, baccarat basics, 8 decks: 1.06, 1.24 and 14.36 %."""
    assert [percent(edge(exact_odds(8), bet), 2) for bet in MAIN_BETS] == ["1.24", "1.06", "14.36"]


def test_a_bet_that_always_pushes_has_no_edge() -> None:
    free = MainBet("push", Fraction(0), Fraction(0), Fraction(0))
    assert edge(exact_odds(1), free) == 0
    assert edge(exact_odds(1), MainBet("lost", *[Fraction(-1)] * 3)) == 1


@pytest.mark.parametrize(
    ("fraction", "places", "text"),
    [
        (Fraction(0), 3, "0.000"),
        (Fraction(1, 800), 2, "0.13"),  # 0.125 %: a half goes away from zero; floats and half-even give 0.12
        (Fraction(-1, 800), 2, "-0.13"),
        (Fraction(1249999, 10**9), 2, "0.12"),
        (Fraction(-1, 10**9), 2, "0.00"),  # no negative nothing
        (Fraction(1, 3), 0, "33"),
        (Fraction(199, 200), 0, "100"),  # 99.5 %
        (Fraction(99999999, 10**8), 4, "100.0000"),
        (Fraction(-3, 2), 1, "-150.0"),
        (Fraction(1, 7), 20, "14.28571428571428571429"),  # more digits than a float has
    ],
)
def test_percent_rounds_exactly(fraction: Fraction, places: int, text: str) -> None:
    assert percent(fraction, places) == text


def test_percent_refuses_a_negative_number_of_places() -> None:
    with pytest.raises(InputError, match=r"^places: expected 0 or more decimal places, got -1$"):
        percent(Fraction(1), -1)
