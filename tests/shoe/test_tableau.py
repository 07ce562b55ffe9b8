"""The tableau (protocol §6) cell by cell, against the printed chart, and against faults of other engines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from shoe.errors import CardError, InputError
from shoe.game.cards import parse_card
from shoe.game.tableau import (
    MERGED_RULES,
    OUTCOMES,
    RULE_WORDS,
    RULES,
    Coup,
    merged_rule,
    outcome_of,
    play_coup,
)
from tests.reference import tableau_reference

# Two real cards for each two-card total, and two cards of each value.
TWO_CARDS = {
    0: ("Th", "Ks"),
    1: ("Ac", "Qd"),
    2: ("As", "Ah"),
    3: ("2d", "Ac"),
    4: ("7h", "7s"),  # 14
    5: ("9c", "6d"),  # 15
    6: ("8s", "8d"),  # 16
    7: ("9h", "8c"),  # 17
    8: ("4d", "4s"),
    9: ("Jc", "9d"),
}
ONE_CARD = {0: "Qh", 1: "Ad", 2: "2s", 3: "3c", 4: "4h", 5: "5d", 6: "6s", 7: "7c", 8: "8h", 9: "9s"}
ALSO = {0: "Tc", 1: "As", 2: "2h", 3: "3d", 4: "4c", 5: "5s", 6: "6h", 7: "7d", 8: "8c", 9: "9h"}


def deal(player: int, banker: int, *more: int) -> Coup:
    """Play two-card totals and further points with real cards."""
    (p1, p2), (b1, b2) = TWO_CARDS[player], TWO_CARDS[banker]
    return play(" ".join([p1, b1, p2, b2, *(ONE_CARD[points] for points in more)]))


def play(cards: str) -> Coup:
    return play_coup([parse_card(card) for card in cards.split()])


# --- the banker, 88 cells --------------------------------------------------------------------

# Written out from the printed table: the banker's two-card total, the player's third card, what follows.
BANKER_CELLS = """
B0|stood draws
B0|p3=0 draws
B0|p3=1 draws
B0|p3=2 draws
B0|p3=3 draws
B0|p3=4 draws
B0|p3=5 draws
B0|p3=6 draws
B0|p3=7 draws
B0|p3=8 draws
B0|p3=9 draws
B1|stood draws
B1|p3=0 draws
B1|p3=1 draws
B1|p3=2 draws
B1|p3=3 draws
B1|p3=4 draws
B1|p3=5 draws
B1|p3=6 draws
B1|p3=7 draws
B1|p3=8 draws
B1|p3=9 draws
B2|stood draws
B2|p3=0 draws
B2|p3=1 draws
B2|p3=2 draws
B2|p3=3 draws
B2|p3=4 draws
B2|p3=5 draws
B2|p3=6 draws
B2|p3=7 draws
B2|p3=8 draws
B2|p3=9 draws
B3|stood draws
B3|p3=0 draws
B3|p3=1 draws
B3|p3=2 draws
B3|p3=3 draws
B3|p3=4 draws
B3|p3=5 draws
B3|p3=6 draws
B3|p3=7 draws
B3|p3=8 stands
B3|p3=9 draws
B4|stood draws
B4|p3=0 stands
B4|p3=1 stands
B4|p3=2 draws
B4|p3=3 draws
B4|p3=4 draws
B4|p3=5 draws
B4|p3=6 draws
B4|p3=7 draws
B4|p3=8 stands
B4|p3=9 stands
B5|stood draws
B5|p3=0 stands
B5|p3=1 stands
B5|p3=2 stands
B5|p3=3 stands
B5|p3=4 draws
B5|p3=5 draws
B5|p3=6 draws
B5|p3=7 draws
B5|p3=8 stands
B5|p3=9 stands
B6|stood stands
B6|p3=0 stands
B6|p3=1 stands
B6|p3=2 stands
B6|p3=3 stands
B6|p3=4 stands
B6|p3=5 stands
B6|p3=6 draws
B6|p3=7 draws
B6|p3=8 stands
B6|p3=9 stands
B7|stood stands
B7|p3=0 stands
B7|p3=1 stands
B7|p3=2 stands
B7|p3=3 stands
B7|p3=4 stands
B7|p3=5 stands
B7|p3=6 stands
B7|p3=7 stands
B7|p3=8 stands
B7|p3=9 stands
""".strip().splitlines()


@pytest.mark.parametrize("cell", BANKER_CELLS)
def test_banker_cell(cell: str) -> None:
    situation, action = cell.split()
    banker = int(situation[1])
    stood = situation.endswith("stood")
    for player in (6, 7) if stood else range(6):
        third = () if stood else (int(situation[-1]),)
        coup = deal(player, banker, *third, 9)
        assert len(coup.player_cards) == 2 + len(third)
        assert len(coup.banker_cards) == {"draws": 3, "stands": 2}[action]
        assert coup.banker_total == (banker + {"draws": 9, "stands": 0}[action]) % 10


def test_all_88_banker_cells_are_written() -> None:
    wanted = {f"B{b}|{third}" for b in range(8) for third in ["stood", *(f"p3={t}" for t in range(10))]}
    assert len(BANKER_CELLS) == 88
    assert {cell.split()[0] for cell in BANKER_CELLS} == wanted


# --- the player, every total against every two-card total of the banker ------------------------

PLAYER_CELLS = """
P0|banker_0-7 draws
P1|banker_0-7 draws
P2|banker_0-7 draws
P3|banker_0-7 draws
P4|banker_0-7 draws
P5|banker_0-7 draws
P6|banker_0-7 stands
P7|banker_0-7 stands
P8|banker_0-7 stands
P9|banker_0-7 stands
P0|banker_8-9 stands
P1|banker_8-9 stands
P2|banker_8-9 stands
P3|banker_8-9 stands
P4|banker_8-9 stands
P5|banker_8-9 stands
P6|banker_8-9 stands
P7|banker_8-9 stands
P8|banker_8-9 stands
P9|banker_8-9 stands
""".strip().splitlines()


@pytest.mark.parametrize("cell", PLAYER_CELLS)
def test_player_cell(cell: str) -> None:
    situation, action = cell.split()
    player = int(situation[1])
    for banker in (8, 9) if situation.endswith("8-9") else range(8):
        coup = deal(player, banker, 3, 2)
        assert len(coup.player_cards) == {"draws": 3, "stands": 2}[action]
        assert coup.player_total == (player + {"draws": 3, "stands": 0}[action]) % 10


# --- naturals --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "banker", "outcome", "rule"),
    [
        *((8, banker, "player", "player_natural") for banker in range(8)),
        *((9, banker, "player", "player_natural") for banker in range(8)),
        *((player, 8, "banker", "banker_natural") for player in range(8)),
        *((player, 9, "banker", "banker_natural") for player in range(8)),
        (8, 8, "tie", "both_natural"),
        (9, 9, "tie", "both_natural"),
        (8, 9, "banker", "both_natural"),
        (9, 8, "player", "both_natural"),
    ],
)
def test_a_natural_ends_the_coup_after_four_cards(player: int, banker: int, outcome: str, rule: str) -> None:
    coup = deal(player, banker, 5, 5)
    assert (len(coup.cards), coup.player_total, coup.banker_total) == (4, player, banker)
    assert (coup.outcome, coup.rule) == (outcome, rule)


def test_a_three_card_nine_is_no_natural() -> None:
    coup = deal(4, 3, 5, 6)
    assert (coup.player_total, coup.banker_total, coup.rule) == (9, 9, "t45_draws")


# --- order of dealing and what a coup holds ----------------------------------------------------


def test_cards_go_to_player_and_banker_by_turns_then_the_players_third() -> None:
    coup = play("Ac 2d 3h Ts 7c 5d 9h")
    assert coup.player_cards == tuple(map(parse_card, ("Ac", "3h", "7c")))
    assert coup.banker_cards == tuple(map(parse_card, ("2d", "Ts", "5d")))
    assert coup.cards == tuple(map(parse_card, ("Ac", "2d", "3h", "Ts", "7c", "5d")))
    assert (coup.player_total, coup.banker_total, coup.outcome) == (1, 7, "banker")


def test_the_banker_takes_the_fifth_card_where_the_player_stands() -> None:
    coup = play("2c As 4d 2h 5s 9c")
    assert coup.banker_cards == tuple(map(parse_card, ("As", "2h", "5s")))
    assert (len(coup.cards), coup.outcome, coup.rule) == (5, "banker", "stood_draws")


@pytest.mark.parametrize(
    ("player", "banker", "outcome"),
    [(p, b, "player" if p > b else "banker" if b > p else "tie") for p, b in product(range(10), repeat=2)],
)
def test_the_higher_total_wins(player: int, banker: int, outcome: str) -> None:
    assert outcome_of(player, banker) == outcome


# --- the printed chart, every distinct course of a coup ----------------------------------------


def courses() -> Iterator[tuple[int, ...]]:
    """Every run of five points, each with one sixth point; all sixth points occur equally often."""
    return ((*five, (sum(five) + 3 * five[0]) % 10) for five in product(range(10), repeat=5))


def check_against_the_chart(runs: Iterator[tuple[int, ...]]) -> Counter[str]:
    numbers = [(parse_card(ONE_CARD[points]), parse_card(ALSO[points])) for points in range(10)]
    rules: Counter[str] = Counter()
    for points in runs:
        coup = play_coup([numbers[value][place % 2] for place, value in enumerate(points)])
        found = (len(coup.cards), coup.player_total, coup.banker_total, coup.outcome, coup.rule)
        assert found == tableau_reference.coup(points), points
        rules[coup.rule] += 1
    return rules


def test_every_decision_equals_the_printed_chart_and_reaches_the_15_rules_only() -> None:
    rules = check_against_the_chart(courses())
    assert set(rules) == set(RULES)
    assert sum(rules.values()) == 10**5


@pytest.mark.slow
def test_all_million_runs_of_points_equal_the_printed_chart() -> None:
    assert sum(check_against_the_chart(product(range(10), repeat=6)).values()) == 10**6


# --- rule classes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("player", "banker", "third", "rule"),
    [
        (8, 7, (), "player_natural"),
        (7, 9, (), "banker_natural"),
        (9, 8, (), "both_natural"),
        (6, 5, (), "stood_draws"),
        (7, 6, (), "stood_stands"),
        (0, 4, (2,), "t23_draws"),
        (5, 5, (3,), "t23_stands"),
        (1, 5, (4,), "t45_draws"),
        (2, 6, (5,), "t45_stands"),
        (3, 6, (6,), "t67_draws"),
        (4, 7, (7,), "t67_stands"),
        (5, 2, (8,), "t8_draws"),
        (0, 3, (8,), "t8_stands"),
        (1, 3, (0,), "t0_9a_draws"),
        (1, 3, (1,), "t0_9a_draws"),
        (1, 3, (9,), "t0_9a_draws"),
        (2, 4, (0,), "t0_9a_stands"),
        (2, 4, (1,), "t0_9a_stands"),
        (2, 4, (9,), "t0_9a_stands"),
    ],
)
def test_rule_class_by_hand(player: int, banker: int, third: tuple[int, ...], rule: str) -> None:
    assert deal(player, banker, *third, 1, 2).rule == rule


@pytest.mark.parametrize("face", ["Tc", "Jd", "Qh", "Ks"])
def test_ten_and_faces_as_third_card_are_one_class(face: str) -> None:
    assert play(f"Ac 2d Kh 2s {face} 5c").rule == "t0_9a_stands"
    assert play(f"Ac 2d Kh As {face} 5c").rule == "t0_9a_draws"


def test_there_are_15_rules_and_14_where_one_sided_naturals_are_merged() -> None:
    assert len(RULES) == len(set(RULES)) == 15
    assert len(MERGED_RULES) == len(set(MERGED_RULES)) == 14
    assert MERGED_RULES[0] == "one_sided_natural"
    assert set(RULES) - set(MERGED_RULES) == {"player_natural", "banker_natural"}


def test_merging_joins_the_one_sided_naturals_and_nothing_else() -> None:
    assert merged_rule("player_natural") == merged_rule("banker_natural") == "one_sided_natural"
    assert [merged_rule(rule) for rule in RULES[2:]] == list(RULES[2:])


def test_each_rule_has_words() -> None:
    assert set(RULE_WORDS) == {*RULES, *MERGED_RULES}
    assert len(set(RULE_WORDS.values())) == 16
    assert OUTCOMES == ("player", "banker", "tie")


# --- faults known from other engines -----------------------------------------------------------


@pytest.mark.parametrize("player", range(6))
def test_banker_6_looks_at_the_third_card_not_at_the_players_total(player: int) -> None:
    for third in range(10):
        assert (len(deal(player, 6, third, 1).banker_cards) == 3) == (third in (6, 7))


def test_banker_6_stands_where_only_the_players_total_is_6() -> None:
    assert len(deal(4, 6, 2, 1).banker_cards) == 2


def test_banker_6_stands_where_the_player_stood_on_6() -> None:
    assert deal(6, 6, 1).rule == "stood_stands"


@pytest.mark.parametrize(("player", "banker"), [(0, 8), (5, 9), (8, 0), (9, 5), (8, 2), (3, 8)])
def test_no_third_card_after_a_natural_of_either_side(player: int, banker: int) -> None:
    assert len(deal(player, banker, 7, 7).cards) == 4


def test_the_third_card_of_the_coup_before_is_forgotten() -> None:
    assert deal(0, 3, 8, 1).rule == "t8_stands"
    for banker in range(6):
        assert deal(6, banker, 1).rule == "stood_draws"


def test_banker_3_stands_against_8_alone() -> None:
    assert [third for third in range(10) if len(deal(2, 3, third, 1).banker_cards) == 2] == [8]


@pytest.mark.parametrize("face", ["Ts", "Jc", "Qd", "Kh"])
def test_banker_3_draws_against_0_though_two_printed_tables_leave_it_out(face: str) -> None:
    assert len(play(f"2c Ad 3h 2s {face} 5c").banker_cards) == 3


def test_banker_stands_on_6_and_draws_on_5_where_the_player_stood() -> None:
    assert [b for b in range(8) if len(deal(7, b, 1).banker_cards) == 3] == [0, 1, 2, 3, 4, 5]


def test_totals_drop_the_tens_before_the_decision() -> None:
    assert play("9c 9d 6h 5s 2c 4d").rule == "t23_draws"  # 15 is 5 and draws, 14 is 4


# --- refusals --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", range(4))
def test_fewer_than_four_cards_are_no_coup(count: int) -> None:
    with pytest.raises(InputError, match=rf"^cards of a coup: expected cards enough for one coup, got {count}$"):
        play_coup([parse_card(card) for card in ("Ac", "2c", "3c", "4c")[:count]])


@pytest.mark.parametrize(
    ("cards", "count"),
    [
        ("Ac 2c Kc Kd", 4),  # player 1 draws
        ("Ac 2c Kc Kd 5h", 5),  # then banker 2 draws
        ("6c 2c Kc Kd", 4),  # player stood, banker 2 draws
    ],
)
def test_a_needed_card_that_is_missing_is_refused(cards: str, count: int) -> None:
    with pytest.raises(InputError, match=rf"^cards of a coup: expected cards enough for one coup, got {count}$"):
        play(cards)


@pytest.mark.parametrize(
    ("cards", "rule"),
    [
        ("9c 2c Kc Kd", "player_natural"),
        ("7c 7d Kc Kd", "stood_stands"),
        ("6c 2c Kc Kd 5h", "stood_draws"),
        ("Ac 7c Kc Kd 5h", "t45_stands"),
    ],
)
def test_cards_that_are_not_needed_may_be_missing(cards: str, rule: str) -> None:
    assert play(cards).rule == rule


@pytest.mark.parametrize("number", [-1, -52, 52, 99])
@pytest.mark.parametrize("place", range(6))
def test_a_number_that_is_no_card_is_refused_at_every_place(number: int, place: int) -> None:
    cards = [9, 9, 9, 9, 9, 9]
    cards[place] = number
    with pytest.raises(CardError, match=rf"^expected a card number 0…51, got {number}$"):
        play_coup(cards)


def test_cards_behind_the_coup_are_not_looked_at() -> None:
    assert play_coup([8, 9, 9, 9, 99, -1]) == play_coup([8, 9, 9, 9])
