"""Burn, coups, cut card and end against a shoe dealt card by card off a pile (`dealing_reference`, protocol §6).

The mean coups of a shoe are figures handed to the project; `coups_per_shoe` finds them anew with another generator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import sqrt
from typing import Any

import pytest

from shoe.errors import ImpossibleError, InputError
from shoe.game.cards import POINTS
from shoe.game.dealing import DealtCoup, Progress, advance, begin, burned_cards, deal_shoe, next_coup
from shoe.game.rules import Rules, parse_rules
from shoe.proof.shuffle import shuffle_hand
from tests.reference import coups_per_shoe, dealing_reference

KEY = bytes(range(200, 232))
ENDS = [("none", "drawn_in"), ("none", "one_more"), ("first_card", "drawn_in"), ("first_card", "one_more")]
ACE, TEN, NINE = 0, 9, 8


def shoe_rules(decks: int, cut: int, burn: str = "none", last_coup: str = "drawn_in") -> Rules:
    return parse_rules(
        {
            "burn": burn,
            "coups": None,
            "cut": {"from": cut, "to": cut},
            "decks": decks,
            "entropy": "house",
            "game": "punto_banco",
            "last_coup": last_coup,
            "shuffle": "shoe",
        }
    )


def anew(coups: int) -> Rules:
    return parse_rules(
        {
            "burn": "none",
            "coups": coups,
            "cut": None,
            "decks": 8,
            "entropy": "house",
            "game": "punto_banco",
            "last_coup": "drawn_in",
            "shuffle": "coup",
        }
    )


# --- every shoe, dealt twice -------------------------------------------------------------------


def repeated(*pattern: int) -> Callable[[int], list[int]]:
    return lambda size: [pattern[at % len(pattern)] for at in range(size)]


def shuffled(hand: int) -> Callable[[int], list[int]]:
    return lambda size: list(shuffle_hand(KEY, shoe_rules(size // 52, 11), hand).cards)


def five_a_coup(first: int) -> Callable[[int], list[int]]:
    """0 7 0 0, then a ten: the player draws, the banker stands on 7; after one other card in front."""
    return lambda size: [first, *repeated(TEN, 6, TEN, TEN, TEN)(size - 1)]


ORDERS: dict[str, Callable[[int], list[int]]] = {
    "six cards a coup": repeated(TEN),
    "six cards a coup after a burned ace": lambda size: [ACE, *repeated(TEN)(size - 1)],
    "four cards a coup": repeated(NINE),  # 9 + 9 = 8 on both sides
    "four cards a coup after a burned ten": lambda size: [TEN, *repeated(NINE)(size - 1)],
    "five cards a coup": repeated(TEN, 6, TEN, TEN, TEN),
    "five cards a coup, one off": five_a_coup(ACE),
    "four, then six": repeated(*[NINE] * 4, *[TEN] * 6),
    "shuffled": shuffled(0),
    "shuffled again": shuffled(1),
}


def rows(dealt: Sequence[DealtCoup]) -> list[dealing_reference.Dealt]:
    return [
        (start, len(coup.cards), coup.player_total, coup.banker_total, coup.outcome, coup.rule)
        for start, coup in ((each.start, each.coup) for each in dealt)
    ]


def check_shoe(rules: Rules, cards: list[int]) -> int:
    """Deal a shoe by our code and by the reference, check what holds of any, and count its coups."""
    assert rules.cut is not None
    cut = rules.size - rules.cut.lowest
    dealt = list(deal_shoe(rules, cards, cut))
    assert rows(dealt) == dealing_reference.deal([POINTS[card] for card in cards], cut, rules.burn, rules.last_coup)
    position = burned_cards(rules, cards[0])
    for number, each in enumerate(dealt):
        assert (each.number, each.hand, each.start) == (number, 0, position)
        assert each.coup.cards == tuple(cards[position : position + len(each.coup.cards)])
        position += len(each.coup.cards)
    assert cut < position <= rules.size
    assert len(dealt) >= rules.judged_coups
    return len(dealt)


def cuts(decks: int, last_coup: str) -> list[int]:
    """Extremes, a dozen at the near end (two coups' worth), and some between."""
    least, most = (6 if last_coup == "drawn_in" else 11), 52 * decks - 11
    return sorted({*range(least, least + 12), (least + most) // 2, *range(most - 6, most + 1)})


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decks", range(1, 17))
def test_a_shoe_of_every_legal_kind_deals_without_running_out_of_cards(decks: int, order: str) -> None:
    """Every deck count, both burns, both end rules, cuts at both extremes."""
    cards = ORDERS[order](52 * decks)
    for burn, last_coup in ENDS:
        for cut in cuts(decks, last_coup):
            check_shoe(shoe_rules(decks, cut, burn, last_coup), cards)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("burn", "last_coup"), ENDS)
def test_one_deck_deals_with_the_cut_card_anywhere(order: str, burn: str, last_coup: str) -> None:
    """So that the cut falls in front of each card of a coup, its first among them, in every order."""
    cards = ORDERS[order](52)
    counts = [
        check_shoe(shoe_rules(1, cut, burn, last_coup), cards)
        for cut in range(6 if last_coup == "drawn_in" else 11, 42)
    ]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.parametrize("first", range(13))
@pytest.mark.parametrize("last_coup", ["drawn_in", "one_more"])
def test_the_cut_never_falls_among_the_burned_cards(first: int, last_coup: str) -> None:
    cards = [first, *range(1, 52)]
    rules = shoe_rules(1, 41, "first_card", last_coup)
    assert next(deal_shoe(rules, cards, 11)).start <= 11
    check_shoe(rules, cards)


def test_the_least_cut_leaves_no_card_to_spare() -> None:
    """Six cards a coup from the last place that the cut allows: the bounds of the rules are sharp."""
    shoe = [*[NINE] * 4, *[TEN] * 48]
    for rules, cut in ((shoe_rules(1, 6), 46), (shoe_rules(1, 11, last_coup="one_more"), 41)):
        last = list(deal_shoe(rules, shoe, cut))[-1]
        assert (last.start, last.start + len(last.coup.cards)) == (46, 52)


# --- the end, case by case ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "used", "cut", "ended"),
    [
        (36, 6, 42, False),  # its last card is the last in front of the cut
        (36, 6, 41, True),
        (36, 4, 41, False),
        (36, 5, 41, False),
        (37, 4, 41, False),
        (37, 5, 41, True),
        (41, 4, 41, True),  # starts at the cut
        (40, 4, 41, True),
    ],
)
def test_drawn_in_the_coup_that_takes_a_card_from_behind_the_cut_is_the_last(
    start: int, used: int, cut: int, ended: bool
) -> None:
    after = advance(shoe_rules(1, 52 - cut), cut, Progress(7, start), used)
    assert after == Progress(8, start + used, cut_drawn=ended, ended=ended)


@pytest.mark.parametrize(
    ("start", "used", "cut_drawn", "after"),
    [
        (35, 6, False, Progress(8, 41)),
        (36, 6, False, Progress(8, 42, cut_drawn=True)),
        (40, 6, False, Progress(8, 46, cut_drawn=True)),
        (41, 6, False, Progress(8, 47, cut_drawn=True, ended=True)),
        (42, 4, True, Progress(8, 46, cut_drawn=True, ended=True)),
        (45, 6, True, Progress(8, 51, cut_drawn=True, ended=True)),
    ],
)
def test_one_more_coup_follows_unless_the_coup_began_at_the_cut(
    start: int, used: int, cut_drawn: bool, after: Progress
) -> None:
    rules = shoe_rules(1, 11, last_coup="one_more")
    assert advance(rules, 41, Progress(7, start, cut_drawn=cut_drawn), used) == after


@pytest.mark.parametrize(
    ("card", "burned"), [(0, 2), (13, 2), (1, 3), (4, 6), (8, 10), (9, 11), (10, 11), (11, 11), (12, 11), (51, 11)]
)
def test_the_burn_is_the_shown_card_and_its_points(card: int, burned: int) -> None:
    rules = shoe_rules(8, 14, "first_card")
    assert burned_cards(rules, card) == burned
    assert begin(rules, card) == Progress(0, burned)
    assert begin(shoe_rules(8, 14), card) == Progress(0, 0)


def test_where_each_coup_is_shuffled_anew_the_number_of_coups_is_the_end() -> None:
    rules = anew(3)
    progress, steps = begin(rules, TEN), []
    while not progress.ended:
        steps.append((progress.number, progress.position))
        progress = advance(rules, None, progress, 6)
    assert steps == [(0, 0), (1, 0), (2, 0)]
    assert progress == Progress(3, 0, ended=True)


def test_a_coup_names_the_shuffle_it_came_from() -> None:
    dealt = next_coup(Progress(5, 0), [NINE] * 6, hand=5)
    assert (dealt.number, dealt.hand, dealt.start, dealt.coup.cards) == (5, 5, 0, (NINE,) * 4)


# --- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [shoe_rules(1, 7), shoe_rules(1, 11, last_coup="one_more"), anew(4)])
def test_no_coup_is_dealt_after_the_end(rules: Rules) -> None:
    with pytest.raises(InputError, match=r"^coup 4: the shoe ended with coup 3$"):
        advance(rules, 45, Progress(4, 50, cut_drawn=True, ended=True), 4)


def test_a_shoe_shuffled_once_needs_its_cut() -> None:
    with pytest.raises(InputError, match=r"^advance: expected the cut card's position, got None$"):
        advance(shoe_rules(1, 7), None, Progress(0, 0), 4)


@pytest.mark.parametrize("count", [0, 51, 53, 416])
def test_a_shoe_is_dealt_from_all_its_cards(count: int) -> None:
    with pytest.raises(InputError, match=rf"^deal_shoe: expected the 52 cards of a shoe shuffled once, got {count}$"):
        list(deal_shoe(shoe_rules(1, 7), [TEN] * count, 45))


def test_coups_shuffled_anew_are_not_dealt_as_one_shoe() -> None:
    with pytest.raises(InputError, match=r"^deal_shoe: expected the 416 cards of a shoe shuffled once, got 416$"):
        list(deal_shoe(anew(3), [TEN] * 416, 409))


@pytest.mark.parametrize("position", [47, 48, 52, 60])
def test_running_out_of_cards_is_our_fault(position: int) -> None:
    with pytest.raises(ImpossibleError, match=rf"^coup 9: the cards ran out at {position}$"):
        next_coup(Progress(9, position), [TEN] * 52)


def test_an_illegal_cut_would_run_out() -> None:
    """What the bounds of the rules keep away: five cards behind the cut, and a coup of six."""
    with pytest.raises(ImpossibleError, match=r"^coup 8: the cards ran out at 47$"):
        list(deal_shoe(shoe_rules(1, 7), [TEN, 6, *[TEN] * 50], 47))


# --- coups per shoe ----------------------------------------------------------------------------

# rules, shoes to deal, mean coups of a shoe
MEANS: list[tuple[dict[str, Any], int, float]] = [
    ({"decks": 8, "cut": 7}, 1500, 83.427),
    ({"decks": 8, "cut": 14, "burn": "first_card"}, 1500, 80.483),
    ({"decks": 8, "cut": 14, "burn": "first_card", "last_coup": "one_more"}, 1500, 81.281),
    ({"decks": 6, "cut": 7}, 1500, 62.372),
    ({"decks": 1, "cut": 7}, 6000, 9.734),
]
IDS = ["8 decks", "8 decks, burn", "8 decks, burn, one more", "6 decks", "1 deck"]


def shoes(rules: Rules, count: int) -> Iterator[list[DealtCoup]]:
    for hand in range(count):
        dealt = shuffle_hand(KEY, rules, hand)
        assert dealt.cut_position is not None
        yield list(deal_shoe(rules, dealt.cards, dealt.cut_position))


def deviation(counts: Sequence[int], published: float) -> float:
    """How many standard errors, taken from the sample, its mean lies from the published one."""
    mean = sum(counts) / len(counts)
    variance = sum((count - mean) ** 2 for count in counts) / (len(counts) - 1)
    return (mean - published) / sqrt(variance / len(counts))


@pytest.mark.parametrize(("given", "count", "published"), MEANS, ids=IDS)
def test_the_mean_number_of_coups_per_shoe_is_right_within_its_error(
    given: dict[str, Any], count: int, published: float
) -> None:
    """Standard errors are 0.03 to 0.04 for 8 and 6 decks and 0.007 for one; a fixed key, so the same sample always.

    The same shoes by wrong rules lie far outside: the coup that draws the cut card not dealt, or one coup too many.
    """
    rules = shoe_rules(**given)
    assert rules.cut is not None
    cut = rules.size - rules.cut.lowest
    sample = list(shoes(rules, count))
    counts = [len(dealt) for dealt in sample]
    assert abs(deviation(counts, published)) < 4
    assert min(counts) >= rules.judged_coups
    not_dealt = [sum(each.start + len(each.coup.cards) <= cut for each in dealt) for dealt in sample]
    assert deviation(not_dealt, published) < -20
    assert deviation([number + 1 for number in counts], published) > 20


@pytest.mark.slow
@pytest.mark.parametrize(("given", "published"), [(given, mean) for given, _, mean in MEANS], ids=IDS)
def test_another_generator_finds_the_same_mean(given: dict[str, Any], published: float) -> None:
    """100,000 shoes each; standard errors are 0.005 for 8 and 6 decks and 0.002 for one."""
    burn, one_more = "burn" in given, "last_coup" in given
    counts = coups_per_shoe.count(given["decks"], given["cut"], burn=burn, one_more=one_more, shoes=100_000, seed=1)
    assert abs(deviation(counts.tolist(), published)) < 4


@pytest.mark.parametrize("order", list(product((TEN, NINE), repeat=2)), ids=str)
def test_mean_of_shoes_that_are_all_alike(order: tuple[int, int]) -> None:
    """Cross-check by hand: 52 cards, cut at 45; 4 a coup end with the twelfth, 6 a coup with the eighth."""
    first, rest = order
    cards = [first] * 12 + [rest] * 40
    by_hand = {(TEN, TEN): 8, (NINE, NINE): 12, (TEN, NINE): 2 + 9, (NINE, TEN): 3 + 6}
    assert len(list(deal_shoe(shoe_rules(1, 7), cards, 45))) == by_hand[order]
