"""Bad shuffles are caught with the sample that theory names, and sound ones are not; eight decks, Holm at .01."""

from __future__ import annotations

from math import expm1, sqrt

import pytest

from audit.multiple import holm
from tests.audit.bad_shuffle_power import (
    CHECKS,
    LEAST_SAMPLE,
    LEVEL,
    POWER,
    SAMPLED,
    Power,
    fair,
    interplay_need,
    modulo_power,
    modulo_shift,
    normal_need,
    order_power,
    riffle_need,
    single_cycle_need,
    small_seed_need,
    small_seed_power,
    swap_shift,
)
from tests.reference import bad_shuffles

pytestmark = pytest.mark.slow

ORDERS = {
    "one riffle": bad_shuffles.one_riffle,
    "off by one": bad_shuffles.off_by_one,
    "swap with any card": bad_shuffles.swap_with_any_card,
    "rotated digest": bad_shuffles.rotated_digest,
}


def share(power: Power, shoes: int) -> float:
    return power.caught[shoes] / power.tables


def test_holm_rejects_something_where_the_smallest_p_is_small() -> None:
    rest = {f"check {place}": 0.5 for place in range(CHECKS - 1)}
    assert holm({**rest, "smallest": LEVEL * 0.999}).rejected == ("smallest",)
    assert holm({**rest, "smallest": LEVEL * 1.001}).passed


@pytest.mark.parametrize("name", ORDERS)
def test_the_least_sample_that_a_plan_names_is_enough(name: str) -> None:
    assert share(order_power(ORDERS[name], SAMPLED, (LEAST_SAMPLE,), 50), LEAST_SAMPLE) == 1


def test_sound_shuffles_are_not_caught_by_the_same_means() -> None:
    """55 checks at .01/144 reject at most .4 % of tables: 3 or more of 100 do once in 100."""
    assert order_power(fair, SAMPLED, (LEAST_SAMPLE,), 100).caught[LEAST_SAMPLE] <= 2
    for check, shoes in (("draw_mean", 7), ("cycles", 3), ("rising_sequences", 1), ("interplay", 48)):
        assert order_power(fair, (f"batch_{check}",), (shoes,), 100).caught[shoes] <= 1


def test_one_riffle_shows_in_one_shoe() -> None:
    assert riffle_need() == 1
    assert order_power(bad_shuffles.one_riffle, ("batch_rising_sequences",), (1,), 100).caught == {1: 100}


def test_orders_of_one_cycle_show_in_three_shoes_and_not_in_two() -> None:
    assert single_cycle_need() == 3
    assert order_power(bad_shuffles.off_by_one, ("batch_cycles",), (2, 3), 100).caught == {2: 0, 3: 100}


def test_swapping_with_any_card_shows_in_seven_shoes() -> None:
    assert normal_need(*swap_shift()) == 7
    power = order_power(bad_shuffles.swap_with_any_card, ("batch_draw_mean",), (5, 6, 7, 8), 400)
    assert share(power, 5) < POWER - 0.1
    assert share(power, 8) > POWER
    assert abs(power.need() - 7) <= 1


def test_rotated_digests_show_about_where_the_noncentral_law_says() -> None:
    """The correlations of so few shoes spread more than those of sound ones: up to a quarter more shoes."""
    _, need = interplay_need()
    power = order_power(bad_shuffles.rotated_digest, ("batch_interplay",), (need * 2 // 3, need * 5 // 4), 400)
    assert share(power, need * 2 // 3) < POWER - 0.15
    assert share(power, need * 5 // 4) > POWER - 0.03


def test_a_seed_of_32_bits_shows_by_the_birthday_law() -> None:
    """One half at 77,164 shoes; nine tenths at 140,639."""
    assert (small_seed_need(0.5), small_seed_need(POWER)) == (77_164, 140_639)
    power = small_seed_power((40_000, 77_164, 140_639), 1_000)
    for shoes in power.caught:
        theory = -expm1(-shoes * (shoes - 1) / 2**33)
        assert abs(share(power, shoes) - theory) < 4 * sqrt(theory * (1 - theory) / power.tables)


def test_16_bit_words_modulo_the_bound_show_where_the_exact_shift_says() -> None:
    need = normal_need(*modulo_shift())
    assert 61_000 < need < 63_000
    sizes = tuple(int(need * by) for by in (0.6, 0.8, 1.0, 1.2))
    power = modulo_power(sizes, 400)
    assert share(power, sizes[0]) < 0.62
    assert abs(share(power, sizes[2]) - POWER) < 4 * sqrt(POWER * (1 - POWER) / power.tables)
    assert share(power, sizes[3]) > 0.94
