"""Each thing that can be wrong with a log: put into a right one, and told with its kind, shoe, coup and line."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from audit.foreign.audit import LogFindings
from audit.foreign.violations import Violation
from tests.audit.foreign_logs import HEADER, audited, deal, dealt, hand, orders, row, table, total

Lines = list[str]


@cache
def right() -> tuple[str, ...]:
    """Three shoes of eight decks: few coups, so that no law of frequencies has to be computed."""
    return tuple(table(shoes=3, seed=11))


def fields(line: str) -> list[str]:
    return line.split(",")


def changed(at: int, **new: str) -> Lines:
    """The right log with some columns of a line, counted from 1, put otherwise."""
    lines = list(right())
    found = dict(zip(fields(HEADER), fields(lines[at - 1]), strict=True))
    lines[at - 1] = ",".join({**found, **new}.values())
    return lines


def only(found: LogFindings) -> Violation:
    (violation,) = [each for kept in found.ledger.first.values() for each in kept]
    assert found.ledger.counts.total() == 1
    assert found.word == "fail"
    return violation


def test_a_right_log_passes() -> None:
    found = audited(list(right()))
    assert (found.word, found.bad_lines, found.counts.shoes) == ("pass", 0, 3)
    assert found.counts.coups == len(right()) - 1
    assert not found.ledger.counts


def line_where(wanted: Callable[[list[str], list[str], str], bool]) -> int:
    """The first line of the right log whose hands and outcome are as wanted."""
    for at, line in enumerate(right()[1:], 2):
        _, _, player, banker, outcome = fields(line)
        if wanted(player.split(), banker.split(), outcome):
            return at
    raise LookupError


def points(cards: list[str]) -> list[int]:
    return [min("A23456789TJQK".index(card[0]) + 1, 10) % 10 for card in cards]


def is_natural(player: list[str], banker: list[str]) -> bool:
    return max(sum(points(player[:2])) % 10, sum(points(banker[:2])) % 10) >= 8


NATURAL = line_where(lambda p, b, _: len(p) == len(b) == 2 and is_natural(p, b))
PLAYER_DREW = line_where(lambda p, b, _: len(p) == 3)
STOOD = line_where(lambda p, b, _: len(p) == 2 and not is_natural(p, b))
BANKER_DREW = line_where(lambda p, b, _: len(p) == 3 and len(b) == 3)
BANKER_STOOD = line_where(lambda p, b, _: len(p) == 3 and len(b) == 2)


def outcome_of(player: str, banker: str) -> str:
    one, other = (sum(points(cards.split())) % 10 for cards in (player, banker))
    return "P" if one > other else "B" if one < other else "T"


def with_hands(at: int, player: str | None = None, banker: str | None = None) -> Lines:
    """The right log with other cards in a line, and the outcome that they make."""
    _, _, one, other, _ = fields(right()[at - 1])
    player, banker = player or one, banker or other
    return changed(at, player=player, banker=banker, outcome=outcome_of(player, banker))


def hands(at: int) -> tuple[str, str]:
    _, _, player, banker, _ = fields(right()[at - 1])
    return player, banker


@pytest.mark.parametrize(
    ("at", "player", "banker", "sort", "words"),
    [
        (NATURAL, lambda p: f"{p} 2c", None, "drawn_after_natural", "no third card after "),
        (NATURAL, None, lambda b: f"{b} 2c", "drawn_after_natural", "no third card after "),
        (PLAYER_DREW, lambda p: p.rpartition(" ")[0], None, "player_third_card_missing", "the player draws on "),
        (STOOD, lambda p: f"{p} 2c", None, "player_third_card_not_due", "the player stands on "),
        (BANKER_DREW, None, lambda b: b.rpartition(" ")[0], "banker_third_card_missing", "the banker draws on "),
        (BANKER_STOOD, None, lambda b: f"{b} 2c", "banker_third_card_not_due", "the banker stands on "),
        (STOOD, lambda p: p.split()[0], None, "too_few_cards", "two or three cards a hand"),
        (BANKER_DREW, None, lambda b: f"{b} 2c", "too_many_cards", "two or three cards a hand"),
    ],
    ids=["natural-player", "natural-banker", "player-missing", "player-extra", "banker-missing", "banker-extra",
         "one-card", "four-cards"],
)  # fmt: skip
def test_a_coup_against_the_tableau(
    at: int,
    player: Callable[[str], str] | None,
    banker: Callable[[str], str] | None,
    sort: str,
    words: str,
) -> None:
    one, other = hands(at)
    one, other = player(one) if player else one, banker(other) if banker else other
    violation = only(audited(with_hands(at, one, other)))
    shoe, coup, *_ = fields(right()[at - 1])
    assert (violation.kind, violation.sort, violation.line) == ("tableau", sort, at)
    assert (violation.file, violation.shoe, violation.coup) == ("log0", shoe, coup)
    assert violation.expected.startswith(words)
    assert violation.found == f"player {one}, banker {other}"


def test_a_wrong_outcome() -> None:
    *_, outcome = fields(right()[39])
    wrong = "T" if outcome != "T" else "P"
    violation = only(audited(changed(40, outcome=wrong)))
    assert (violation.kind, violation.line, violation.shoe, violation.coup) == ("outcome", 40, "1", "39")
    names = {"P": "player", "B": "banker", "T": "tie"}
    assert violation.sort == f"{names[wrong]}_claimed"
    assert violation.expected.startswith(f"{names[outcome]}, for the cards make ")
    assert violation.found == names[wrong]


def shoe_of(cards: list[int]) -> Lines:
    return [HEADER, *(row(7, number, coup) for number, coup in enumerate(dealt(cards), 1))]


def as_ranks(lines: Lines) -> Lines:
    return [lines[0], *(line.translate(str.maketrans("", "", "cdhs")) for line in lines[1:])]


def as_points(lines: Lines) -> Lines:
    found = [lines[0]]
    for line in as_ranks(lines)[1:]:
        before, outcome = line.rsplit(",", 1)
        found.append(f"{before.translate(str.maketrans('ATJQK', '10000'))},{outcome}")
    return found


def coup_of_card(lines: Lines, place: int) -> int:
    """The number of the coup, from 1, that holds a card."""
    for number, line in enumerate(lines[1:], 1):
        place -= sum(len(cards.split()) for cards in fields(line)[2:4])
        if place < 0:
            return number
    raise LookupError


def test_a_card_too_often_is_told_where_it_first_shows() -> None:
    (cards,) = orders(8, 1, seed=3)
    places = [place for place, card in enumerate(cards) if card == 51]
    other = next(place for place in range(100) if cards[place] != 51)
    cards[other] = 51
    ninth = sorted([*places, other])[8]
    lines = shoe_of(cards)
    violation = only(audited(lines))
    assert (violation.kind, violation.sort) == ("composition", "card_too_often")
    assert (violation.shoe, violation.coup) == ("7", str(coup_of_card(lines, ninth)))
    assert violation.line == int(violation.coup or 0) + 1
    assert violation.expected == "at most 8 times card Ks in 8 decks"
    assert violation.found == "9"


@pytest.mark.parametrize(
    ("written", "sort", "gone", "many", "expected"),
    [(as_ranks, "rank_too_often", 0, 33, "at most 32 times rank K in 8 decks"),
     (as_points, "point_too_often", 0, 129, "at most 128 times point 0 in 8 decks")],
)  # fmt: skip
def test_a_surplus_shows_by_ranks_and_by_points(
    written: Callable[[Lines], Lines], sort: str, gone: int, many: int, expected: str
) -> None:
    """A whole shoe is dealt but for the last cards, with one card more of the sort than there are."""
    (cards,) = orders(8, 1, seed=4)
    behind = [place for place in range(300, 416) if cards[place] % 13 in (9, 10, 11, 12)]
    front = [place for place in range(300) if cards[place] % 13 not in (9, 10, 11, 12)]
    for one, other in zip(behind, front[::3], strict=False):
        cards[one], cards[other] = cards[other], cards[one]
    assert [card % 13 for card in cards[400:] if card % 13 == 12] == []
    cards[next(place for place in range(300) if cards[place] % 13 == gone)] = 12
    violation = only(audited(written(shoe_of(cards))))
    assert (violation.kind, violation.sort) == ("composition", sort)
    assert (violation.expected, violation.found) == (expected, str(many))


def test_more_cards_than_the_shoe_has() -> None:
    """Two decks, shown as one of points: 104 cards in a shoe of 52."""
    (cards,) = orders(2, 1, seed=5)
    lines = as_points(shoe_of(cards))
    found = audited(lines, decks=1)
    sorts = dict(found.ledger.counts)
    assert sorts["composition", "too_many_cards"] == 1
    (violation,) = found.ledger.first["composition", "too_many_cards"]
    assert violation.coup == str(coup_of_card(lines, 52))
    assert violation.expected == "at most 52 cards in 1 decks"


def test_more_coups_than_the_shoe_can_deal() -> None:
    violation = only(audited("BPTBPPBBP\n" + "BP" * 52 + "T\n" + "PBBPT\n"))
    assert (violation.kind, violation.sort, violation.line, violation.shoe, violation.coup) == (
        "composition", "too_many_coups", 2, "2", "105")  # fmt: skip
    assert (violation.expected, violation.found) == ("at most 104 coups of four cards from 8 decks", "105")
    assert audited("BP" * 52).ledger.counts.total() == 0


# --- order of lines ----------------------------------------------------------------------------


def test_a_missing_coup_is_told() -> None:
    lines = list(right())
    del lines[20]
    violation = only(audited(lines))
    assert (violation.kind, violation.sort, violation.line) == ("numbering", "coups_missing", 21)
    assert (violation.expected, violation.found) == ("coup 20", "coup 21")


def test_a_shoe_without_its_first_coups_is_told() -> None:
    lines = list(right())
    del lines[1:3]
    violation = only(audited(lines))
    assert (violation.sort, violation.expected, violation.found) == (
        "coups_missing", "the shoe's first coup, 0 or 1", "3")  # fmt: skip


def test_a_coup_twice_is_told() -> None:
    lines = list(right())
    lines.insert(6, lines[5])
    found = audited(lines)
    (violation,) = found.ledger.first["numbering", "coup_again"]
    assert (violation.line, violation.coup, violation.expected) == (7, "5", "coup 6")
    assert {kind for kind, _ in found.ledger.counts} == {"numbering", "composition"}


def test_a_shoe_that_goes_on_later_is_told() -> None:
    lines = list(right())
    lines = [*lines[:-1], *lines[1:3]]
    found = audited(lines)
    assert found.ledger.first["numbering", "shoe_resumed"][0].line == len(lines) - 1
    assert found.word == "fail"


def test_numbering_from_0_and_names_that_are_no_numbers_are_right() -> None:
    from_0 = [HEADER, *(",".join([s, str(int(c) - 1), *rest]) for s, c, *rest in map(fields, right()[1:]))]
    named = [HEADER, *(",".join([s, f"g{c}", *rest]) for s, c, *rest in map(fields, right()[1:]))]
    assert audited(from_0).word == audited(named).word == "pass"


# --- bets --------------------------------------------------------------------------------------


def test_bets_are_settled_anew_and_several_bets_are_one_coup() -> None:
    lines = ["shoe;coup;player;banker;outcome;bet;stake;paid;net",
             "1;1;9s Kd;2c 5d;P;player;10;20;10",
             "1;1;9s Kd;2c 5d;P;banker;10;0;-10",
             "1;2;2c Kd;9c Jh;B;banker;10;19.50;9.50",
             "1;3;9s Kc;9c Kh;T;tie;1;9;8",
             "1;3;9s Kc;9c Kh;T;player;10;10;0",
             "1;4;Ks 8d;2c 6h;T;;;;"]  # fmt: skip
    found = audited(lines)
    assert (found.word, found.counts.coups) == ("pass", 4)
    lines[2] = lines[2].replace(";0;-10", ";10;0")
    lines[3] = lines[3].replace(";9.50", ";10.00")
    found = audited(lines)
    first, second = found.ledger.first["settlement", "banker_net"]
    assert found.ledger.counts.total() == 2
    assert (first.line, first.expected, first.found) == (3, "-10 for 10 on banker at player", "0")
    assert (second.coup, second.expected, second.found) == ("2", "9.5 for 10 on banker at banker", "10.00")


def test_a_bet_is_held_against_the_cards_and_not_the_claim() -> None:
    lines = ["shoe,coup,player,banker,outcome,bet,stake,net", "1,1,9s Kd,2c 5d,B,banker,100,95"]
    found = audited(lines)
    assert dict(found.ledger.counts) == {("outcome", "banker_claimed"): 1, ("settlement", "banker_net"): 1}


# --- repeats and fresh order -------------------------------------------------------------------


def test_a_shoe_that_comes_again_is_told_wherever_it_begins() -> None:
    first, second, third = (list(cards) for cards in orders(8, 3, seed=6))
    third = [*third[:50], *second[100:300]]
    lines = [HEADER]
    for shoe, cards in enumerate((first, second, third), 1):
        lines += [row(shoe, number, coup) for number, coup in enumerate(dealt(cards, 20), 1)]
    found = audited(lines)
    (violation,) = found.ledger.first["repeated_run", "card"]
    assert violation.shoe == "3"
    assert violation.found.startswith("16 cards or more from card 51 on that came from card 101 on in shoe 2 of log0")
    assert found.ledger.count("repeated_run") == 1


def test_outcomes_that_come_again_are_told() -> None:
    shoes = ["".join(coup.outcome for coup in dealt(cards)) for cards in orders(8, 4, seed=7)]
    found = audited([*shoes, shoes[1]])
    (violation,) = found.ledger.first["repeated_run", "outcome"]
    assert (violation.line, violation.shoe) == (5, "5")
    assert "in shoe 2 of log0, which begins at line 2" in violation.found
    assert audited(shoes).word == "pass"


def test_two_files_of_the_same_shoes_are_told() -> None:
    found = audited(list(right()), list(right()))
    assert found.ledger.shoes["repeated_run"] == 3


@pytest.mark.parametrize("in_turn", [True, False], ids=["PBPB", "PPBB"])
@pytest.mark.parametrize("written", [list, as_ranks, as_points])
def test_an_unshuffled_pack_is_told(written: Callable[[Lines], Lines], in_turn: bool) -> None:
    (cards,) = orders(8, 1, seed=8)
    pack = [*range(13), *range(13)]
    cards = [*cards[:101], *pack, *cards[101:300]]
    lines, at, number = [HEADER], 0, 1
    while at + 6 <= len(cards):
        six = cards[at : at + 6]
        coup = deal(six if in_turn else [six[0], six[2], six[1], six[3], *six[4:]])
        lines.append(row(1, number, coup))
        at, number = at + len(coup.player) + len(coup.banker), number + 1
    found = audited(written(lines), decks=16)
    assert found.ledger.count("fresh_order") == 1
    assert {sort for kind, sort in found.ledger.counts if kind == "fresh_order"} <= {"card", "rank", "point"}


def test_a_shoe_of_many_thousand_coups_is_one_shoe_in_bounded_memory() -> None:
    lines = [HEADER]
    for cards in orders(8, 60, seed=9):
        lines += [row("all", len(lines), coup) for coup in dealt(cards)]
    found = audited(lines)
    assert (found.counts.shoes, found.counts.coups) == (1, len(lines) - 1)
    assert {sort: count for (kind, sort), count in found.ledger.counts.items() if kind == "composition"} == {
        "card_too_often": 1, "too_many_cards": 1}  # fmt: skip
    assert set(found.counts.lengths) == {1}


def test_totals_are_counted_as_the_reference_has_them() -> None:
    """The tally, made from texts, against the cards that were dealt."""
    coups = [coup for cards in orders(8, 2, seed=12) for coup in dealt(cards)]
    lines = [HEADER]
    for shoe, cards in enumerate(orders(8, 2, seed=12), 1):
        lines += [row(shoe, number, coup) for number, coup in enumerate(dealt(cards), 1)]
    tally = audited(lines).counts.tally()
    for seen, count in tally.coups.items():
        same = [
            coup
            for coup in coups
            if (total(coup.player), total(coup.banker), len(coup.player) + len(coup.banker))
            == (seen.player_total, seen.banker_total, seen.cards)
            and seen.outcome[0].upper() == coup.outcome
        ]
        assert len(same) >= count
    assert tally.n == len(coups)
    assert hand(coups[0].player) == fields(lines[1])[2]
