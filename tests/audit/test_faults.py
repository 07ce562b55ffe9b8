"""The catalogue of faults: complete, and every law equal to all 10⁶ runs of values by a chart of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from audit.deals import CHART, merged
from audit.exact import Cell, exact_odds, multiplicities
from audit.faults import (
    Fault,
    banker_flips,
    banker_six_never_draws,
    catalogue,
    honest_law,
    player_flips,
    wrong_shoes,
)
from shoe.errors import RulesError
from tests.reference import bulk_dealer, million_deals


@cache
def starts(cards: tuple[int, ...], endless: bool) -> np.ndarray:
    return million_deals.by_start(million_deals.deals(cards, endless=endless))


def code(cell: Cell) -> int:
    rule = bulk_dealer.RULES.index(cell.rule)
    return 300 * rule + 30 * cell.player_total + 3 * cell.banker_total + cell.cards - 4


def laws_by_hand(fault: Fault, chart: bulk_dealer.Chart) -> dict[int, Fraction]:
    counts = million_deals.by_code(starts(fault.cards, fault.endless), chart)
    return {number: Fraction(count, sum(counts.values())) for number, count in counts.items()}


def flipped(total: int, third: int | None) -> bulk_dealer.Chart:
    """The printed chart with one cell turned over: the player's, or with `third` (10: stood) the banker's."""
    player, banker = [*bulk_dealer.PLAYER_DRAWS], [[*row] for row in bulk_dealer.BANKER_DRAWS]
    if third is None:
        player[total] = not player[total]
    else:
        banker[total][third] = not banker[total][third]
    return tuple(player), tuple(map(tuple, banker))


def test_every_banker_flip_has_the_law_of_all_runs() -> None:
    faults = iter(banker_flips(8))
    for total in range(8):
        for third in range(11):
            fault = next(faults)
            assert merged(fault.law(), code) == laws_by_hand(fault, flipped(total, third)), fault.name
    assert next(faults, None) is None


def test_every_player_flip_has_the_law_of_all_runs() -> None:
    for total, fault in enumerate(player_flips(8)):
        assert merged(fault.law(), code) == laws_by_hand(fault, flipped(total, None)), fault.name


def test_every_wrong_shoe_has_the_law_of_all_runs() -> None:
    for fault in wrong_shoes(8):
        assert merged(fault.law(), code) == laws_by_hand(fault, bulk_dealer.CHART), fault.name


def test_the_catalogue_is_complete() -> None:
    names = [fault.name for fault in catalogue(8)]
    assert len(names) == len(set(names)) == 8 + 88 + 12
    assert len({(fault.chart, fault.cards, fault.endless) for fault in catalogue(8)}) == 108
    assert all(fault.chart != CHART for fault in catalogue(8)[:96])
    assert {"banker_3_draws_against_8", "banker_6_draws_against_stood", "player_5_stands", "6_decks"} <= set(names)
    assert all(" " <= character <= "~" for fault in catalogue(8) for character in fault.name + fault.words)


def test_every_fault_changes_the_law() -> None:
    honest = honest_law(8)
    assert honest == exact_odds(8).probabilities(exact_odds(8).cells)
    for fault in (*catalogue(8), banker_six_never_draws(8)):
        law = fault.law()
        assert law != honest
        assert sum(law.values()) == 1


def test_names_say_what_is_done() -> None:
    by_name = {fault.name: fault for fault in catalogue(8)}
    assert by_name["banker_3_draws_against_8"].chart.banker[3][8]
    assert by_name["banker_3_draws_against_8"].words == "the banker draws on 3 against a third card of 8"
    assert not by_name["player_5_stands"].chart.player[5]
    assert by_name["banker_0_stands_against_stood"].words == "the banker stands on 0 against a player who stood"
    assert not any(draws for draws in banker_six_never_draws(8).chart.banker[6])


@pytest.mark.parametrize(("decks", "other"), [(8, 6), (6, 4), (2, 3), (1, 2)])
def test_other_decks_are_two_fewer_where_there_are_any(decks: int, other: int) -> None:
    (fault,) = (fault for fault in wrong_shoes(decks) if fault.name.endswith("_decks"))
    assert fault.cards == multiplicities(other)


def test_one_missing_card_is_one() -> None:
    missing = [fault for fault in wrong_shoes(8) if fault.name.endswith("_missing")]
    assert [sum(fault.cards) for fault in missing] == [415] * 10
    assert len({fault.cards for fault in missing}) == 10


def test_a_banker_who_stands_where_he_should_draw_leaves_impossible_coups() -> None:
    """Deterministic: the class says that he stood, with a total on which he never may."""
    possible = set(honest_law(8))
    seen: Counter[bool] = Counter()
    for fault in banker_flips(8):
        seen[fault.name.split("_")[2] == "stands"] += bool(impossible(fault.law(), possible))
    assert seen == {True: sum(draws for row in CHART.banker for draws in row), False: 0}


def impossible(law: Mapping[Cell, Fraction], possible: set[Cell]) -> Fraction:
    return sum((p for cell, p in law.items() if cell not in possible), Fraction(0))


@pytest.mark.parametrize("decks", [0, 17])
def test_a_shoe_of_no_or_too_many_decks_is_refused(decks: int) -> None:
    for build in (catalogue, honest_law, player_flips, banker_flips, wrong_shoes, banker_six_never_draws):
        with pytest.raises(RulesError, match=r"^decks: expected 1 to 16 decks"):
            build(decks)
