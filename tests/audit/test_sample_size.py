"""How many shoes a run needs, before it is made: against the laws of independent coups, and against real shoes."""

from __future__ import annotations

import pytest

from audit.deals import merged
from audit.faults import catalogue, honest_law
from audit.power import effect
from audit.sample_size import sample_sizes
from shoe.errors import InputError
from tests.operator import rules

EIGHT = rules(decks=8)
CHECKS = 144


def joint(cell):
    return cell.player_total, cell.banker_total, cell.cards


@pytest.fixture(scope="module")
def sizes():
    return {size.fault: size for size in sample_sizes(EIGHT, CHECKS, 0.9)}


def test_every_fault_of_the_catalogue_is_listed_once_the_hardest_last(sizes):
    assert len(sizes) == len(catalogue(8)) + 1 == 109
    coups = [size.coups for size in sizes.values()]
    assert coups == sorted(coups)
    assert list(sizes)[-1] == "6_decks"


@pytest.mark.parametrize("name", ["banker_3_draws_against_8", "banker_6_stands_against_6", "6_decks", "endless_shoe"])
def test_a_size_is_that_of_independent_coups_to_within_the_covariance(sizes, name):
    # second road: the effect without the covariance of coups of one shoe, which moves it by up to 14 % (METHODS)
    fault = next(each for each in catalogue(8) if each.name == name)
    alone = effect(merged(honest_law(8), joint), merged(fault.law(), joint))
    need = alone.need(0.01 / CHECKS, 0.9)
    wanted = min(need, alone.impossible_need(0.9) or need)
    assert sizes[name].coups == pytest.approx(wanted, rel=0.14)
    assert sizes[name].shoes == -(-sizes[name].coups // 69)


def test_six_decks_for_eight_need_more_than_any_table_plays_in_a_year(sizes):
    # METHODS: 60 million judged coups at level .01; the first step of Holm over 144 checks asks for more
    assert 60_000_000 < sizes["6_decks"].coups < 120_000_000
    assert not sizes["6_decks"].impossible


def test_a_player_who_stands_on_a_total_below_six_is_seen_in_the_first_shoe(sizes):
    for total in range(6):
        size = sizes[f"player_{total}_stands"]
        assert (size.shoes, size.impossible) == (1, True)


def test_fewer_checks_and_less_power_need_fewer_coups(sizes):
    few = {size.fault: size for size in sample_sizes(EIGHT, 1, 0.8)}
    for fault, size in few.items():
        many = sizes[fault]
        assert size.coups < many.coups


@pytest.mark.parametrize(("checks", "power"), [(0, 0.9), (-1, 0.9), (1, 0.0), (1, 1.0), (1, 0.005), (1, float("nan"))])
def test_a_power_or_number_of_checks_that_is_none_is_refused(checks, power):
    with pytest.raises(InputError):
        sample_sizes(rules(decks=1), checks, power)
