"""Cards, hands, outcomes and bets as other people write them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from audit.foreign.notation import CODE_POINTS, CODES, parse_cards, parse_hand, parse_outcome, print_cards
from audit.foreign.settlement import Settled, gain, parse_settled, settlement_fault
from shoe.errors import CardError, InputError
from shoe.game.cards import NAMES, parse_card

KD = parse_card("Kd")
TD = parse_card("Td")


@pytest.mark.parametrize("text", ["Kd", "kd", "KD", "K♦", "K♢", "K♦\ufe0f", " Kd "])
def test_ways_to_write_a_card(text: str) -> None:
    assert parse_cards(text) == (KD,)


@pytest.mark.parametrize("text", ["10D", "TD", "Td", "10♦", "T♦"])
def test_ways_to_write_a_ten(text: str) -> None:
    assert parse_cards(text) == (TD,)


@pytest.mark.parametrize("between", [" ", ", ", ";", "/", "|", "-", "+", ".", "&", "_", "\t", ""])
def test_ways_to_part_cards(between: str) -> None:
    assert parse_cards(between.join(["Kd", "10D", "Kd"])) == (KD, TD, KD)


def test_every_card_is_read_as_the_protocol_has_it() -> None:
    assert parse_cards("".join(NAMES)) == parse_cards(" ".join(NAMES)) == tuple(range(52))


def test_ranks_and_points_are_other_codes_with_the_same_points() -> None:
    assert print_cards(parse_cards("A 2 9 T 10 J Q K")) == "A 2 9 T T J Q K"
    assert [CODE_POINTS[code] for code in parse_cards("A 2 9 T 10 J Q K")] == [1, 2, 9, 0, 0, 0, 0, 0]
    assert [CODE_POINTS[code] for code in parse_cards("0 1 2 9")] == [0, 1, 2, 9]
    assert {code >= 65 for code in parse_cards("0 1")} == {True}
    assert len(CODE_POINTS) == CODES == 75


@pytest.mark.parametrize(
    "text", ["Kx", "1d", "0d", "11", "KK", "AsK", "sA", "Kd?", "joker", "K d", "١", "²", "-1x", "ＫＤ", "Ks" * 3 + "d"]
)
def test_what_is_no_card(text: str) -> None:
    with pytest.raises(CardError, match=r"^expected cards such as Kd, 10D, K♦, K or points 0–9, got '"):
        parse_cards(text)


@pytest.mark.parametrize("text", ["", " ", ",", "--"])
def test_a_hand_has_cards(text: str) -> None:
    with pytest.raises(InputError, match="expected the cards of a hand"):
        parse_hand(text)


def test_a_hand_knows_its_pair_where_suits_are_known() -> None:
    assert [parse_hand(text).pair for text in ("Ks Ks", "Ks Kc", "Ks Kd 2d", "Ks Qs", "K K", "Ks", "Ks K")] == [
        "pure",
        "coloured",
        "mixed",
        "none",
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("player", ["P", "p", "player", "Player", "PLAYER WINS", "punto", " p "]),
        ("banker", ["B", "banker", "Banker win", "banco", "bank", "Bank won"]),
        ("tie", ["T", "tie", "TIE", "draw", "Égalité"]),
    ],
)
def test_ways_to_write_an_outcome(outcome: str, words: list[str]) -> None:
    assert [parse_outcome(word) for word in words] == [outcome] * len(words)


@pytest.mark.parametrize("word", ["", "X", "PB", "playerwins", "wins", " wins", "1"])
def test_what_is_no_outcome(word: str) -> None:
    with pytest.raises(InputError, match="expected P, B or T, player, banker or tie"):
        parse_outcome(word)


# --- bets --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bet", "outcome", "net"),
    [
        ("player", "player", 100), ("player", "banker", -100), ("player", "tie", 0),
        ("banker", "banker", 95), ("banker", "player", -100), ("banker", "tie", 0),
        ("tie", "tie", 800), ("tie", "player", -100), ("tie", "banker", -100),
    ],
)  # fmt: skip
def test_what_bets_gain(bet: str, outcome: str, net: int) -> None:
    """The table of main bets, by hand: 1:1, 19:20, 8:1, stakes back on a tie."""
    assert gain(bet, Decimal(100), outcome) == net  # type: ignore[arg-type]
    settled = parse_settled(bet, "100", str(100 + net), str(net))
    assert settled is not None
    assert settlement_fault(settled, outcome) is None  # type: ignore[arg-type]
    for wrong in (Decimal(net + 1), Decimal(net - 1)):
        assert settlement_fault(settled._replace(net=wrong), outcome)  # type: ignore[arg-type]
    assert settlement_fault(settled._replace(paid=settled.stake + net + 1), outcome)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("net", "right"),
    [*((net, True) for net in ("23", "24", "23.75", "23.7", "23.8", "23.750")),
     *((net, False) for net in ("22", "25", "23.74", "23.6", "-23.75"))],
)  # fmt: skip
def test_a_commission_may_be_rounded_at_the_last_digit(net: str, right: bool) -> None:
    fault = settlement_fault(Settled("banker", Decimal(25), None, Decimal(net)), "banker")
    assert (fault is None) == right
    assert fault in (None, ("net", "23.75 for 25 on banker at banker", net))


def test_a_coup_without_a_bet() -> None:
    assert parse_settled("", "", "", "") is None


@pytest.mark.parametrize(
    "fields",
    [("player", "", "", "1"), ("", "1", "", "1"), ("player", "1", "", ""), ("side", "1", "", "1"),
     ("player", "x", "", "1"), ("player", "1", "", "NaN"), ("player", "1", "Infinity", ""),
     ("player", "1e999999", "", "1"), ("player", "1", "", "1" * 41), ("player", "0", "0", ""),
     ("player", "-1", "", "1")],
)  # fmt: skip
def test_what_is_no_bet(fields: tuple[str, str, str, str]) -> None:
    with pytest.raises(InputError, match=r"^expected "):
        parse_settled(*fields)


def test_amounts_are_exact() -> None:
    assert gain("banker", Decimal("0.1"), "banker") == Fraction(19, 200)
