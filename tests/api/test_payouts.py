"""The pay-out table: every bet settled by hand from the cards, and sums held against published edges."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest

from audit.edges import percent
from audit.gains import unit_laws
from shoe.game.bets.wagers import MAIN
from shoe.game.houses import DOPPELGANGER
from shoe.proof.records import Coup, Seal, parse_record
from shoe.proof.seal import derive_keys
from shoe.proof.shuffle import shuffle_hand
from tests.api.installation import EVERY_COUP, HOUSE, SMALL, VECTORS, Installation
from tests.reference import bets_reference, tableau_reference

COLUMNS = (
    "wins", "losses", "ties", "games",
    "money_minor", "returns_minor", "in_minor", "out_minor", "sum_minor", "ties_minor", "total_minor",
)  # fmt: skip
Hands = list[tuple[list[str], list[str]]]


def part(house: Installation, query: str = "") -> Any:
    (only,) = house.get(f"/statistics/payouts{query}")["terms"]
    return only


def hands_of(house: Installation, *shoes: str) -> Hands:
    """Both hands of every dealt coup by its cards' names: player, banker, player, banker, then who draws."""
    found = []
    for shoe in shoes:
        for row in house.get(f"/shoes/{shoe}/coups?limit=1000")["coups"]:
            found.append(hands([card["card"] for card in json.loads(row["record"])["cards"]]))
    return found


def hands(cards: list[str]) -> tuple[list[str], list[str]]:
    player, banker, rest = [cards[0], cards[2]], [cards[1], cards[3]], cards[4:]
    p, b = bets_reference.total(player), bets_reference.total(banker)
    if max(p, b) < 8 and p <= 5:
        player.append(rest.pop(0))
    return player, banker + rest


def by_hand(dealt: Hands, name: str, stake: int) -> dict[str, int]:
    """The columns as the page tells them, one stake on a bet every time.

    “Returns = when you win, your wager is always returned”; in “the croupier pushed to you”, out “you pushed to the
    game board”; ties, where “your wager is returned”; total “after returns from ties are added”.
    """
    nets = [bets_reference.nets(*both)[name] for both in dealt]
    wins, ties = sum(net > 0 for net in nets), sum(net == 0 for net in nets)
    money = sum(stake * net for net in nets if net > 0)
    found = {"wins": wins, "ties": ties, "losses": len(nets) - wins - ties, "money_minor": int(money)}
    found |= {"returns_minor": stake * wins, "in_minor": int(money) + stake * wins, "out_minor": stake * len(nets)}
    before_ties = sum(stake * net if net > 0 else -stake for net in nets)
    found |= {"sum_minor": int(before_ties), "ties_minor": stake * ties, "games": len(nets)}
    return found | {"total_minor": int(stake * sum(nets))}


def columns(line: Any) -> dict[str, int]:
    return {name: line[name] for name in COLUMNS}


def added(lines: list[dict[str, int]]) -> dict[str, int]:
    return {name: sum(line[name] for line in lines) for name in COLUMNS}


# --- every bet by hand -------------------------------------------------------------------------


@pytest.mark.parametrize("preset", ["np_punto_banco", "doppelganger", "chance"])
def test_every_bet_every_time_by_hand(house: Installation, preset: str) -> None:
    house.post("/tables", {"id": "t", "preset": preset, "overrides": HOUSE})
    house.post("/tables/t/books", {"size": 10})
    shoe = house.sealed("t")
    house.deal_out(shoe)
    dealt, answer = hands_of(house, shoe), part(house, "?table=t")
    assert (answer["tables"], answer["stake_minor"], answer["minor_per_unit"]) == (1, 100, 100)
    names = [line["label"] for line in answer["dealt"]["bets"]]
    assert names[:3] == ["player", "banker", "tie"]
    assert (len(names) == 5) == (preset == "doppelganger")
    judged = {"np_punto_banco": 69, "chance": 68, "doppelganger": 51}[preset]
    for each, coups in (("dealt", dealt), ("judged", dealt[:judged])):
        wanted = [by_hand(coups, name, 100) for name in names]
        assert answer[each]["coups"] == len(coups)
        assert [columns(line) for line in answer[each]["bets"]] == wanted
        assert columns(answer[each]["sum"]) == added(wanted)
    assert answer["judged"]["shuffles"] == 1


def test_the_stake_is_the_tables_default_and_rounds_as_the_table_does(house: Installation) -> None:
    """Seven minor units at 19:20: 7 less .35, of which the house keeps a whole nothing, a half up."""
    bare = {"chips_minor": None, "limits": {"min_minor": 1, "max_minor": 10**6}}
    house.post("/tables", {"id": "t", "preset": "doppelganger",
                           "overrides": HOUSE | bare | {"money": {"default_stake_minor": 7}}})  # fmt: skip
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed("t")
    house.deal_out(shoe)
    answer = part(house)
    banker = next(line for line in answer["dealt"]["bets"] if line["label"] == "banker")
    assert answer["stake_minor"] == 7
    assert (banker["money_minor"], banker["out_minor"]) == (7 * banker["wins"], 7 * banker["games"])


def test_without_bets_in_the_rules_there_is_nothing_to_pay(house: Installation) -> None:
    rules = {"game": "punto_banco", "decks": 1, "cut": {"from": 7, "to": 7}, "burn": "none", "last_coup": "drawn_in",
             "entropy": "house", "shuffle": "shoe", "coups": None}  # fmt: skip
    house.post("/tables", {"id": "bare", "rules": rules})
    assert house.get("/statistics/payouts?table=bare")["terms"] == []
    assert house.get("/statistics/payouts")["terms"] == []


# --- beside the exact expectation --------------------------------------------------------------


def test_expectations_are_the_published_edges(house: Installation) -> None:
    """8 decks: banker 1.057905784, player 1.235081329, tie 14.359628779 % (Wizard of Odds), of 69 stakes of 100."""
    house.table(**HOUSE)
    house.deal_out(house.sealed())
    exact = json.loads((VECTORS / "exact_8decks.json").read_text())
    edges = {"player": "1.235081329", "banker": "1.057905784", "tie": "14.359628779"}
    for line in part(house)["judged"]["bets"]:
        total_minor, outcomes = Fraction(line["expected_total_minor"]), exact["outcomes"]
        assert percent(-total_minor / 6900, 9) == edges[line["label"]]
        assert Fraction(line["expected_wins"]) == 69 * Fraction(outcomes[line["label"]], exact["total"])
        ties = 0 if line["label"] == "tie" else 69 * Fraction(outcomes["tie"], exact["total"])
        assert Fraction(line["expected_ties"]) == ties
        assert float(line["expected_total_decimal"]) == pytest.approx(float(total_minor), rel=1e-9)


def test_deviations_are_in_standard_errors_of_dependent_coups(house: Installation) -> None:
    house.table(**HOUSE)
    house.deal_out(house.sealed())
    for line, law in zip(part(house)["judged"]["bets"], unit_laws(8, MAIN), strict=True):
        error = 100 * sqrt(69 * law.variance + 69 * 68 * law.between)
        wanted = (line["total_minor"] - float(Fraction(line["expected_total_minor"]))) / error
        assert float(line["deviation"]) == pytest.approx(wanted, rel=1e-6)
    tie = part(house)["judged"]["bets"][2]
    p = float(Fraction(tie["expected_wins"])) / 69
    error = 900 * sqrt(69 * p * (1 - p) + 69 * 68 * -1.7075e-6)  # Cov(TT) of two coups of a shoe of 8 decks
    assert float(tie["deviation"]) == pytest.approx(
        (tie["total_minor"] - float(Fraction(tie["expected_total_minor"]))) / error, rel=1e-6
    )


def test_where_each_coup_is_shuffled_anew_coups_are_independent(house: Installation) -> None:
    house.table(**{**EVERY_COUP, "coups": 40})
    house.deal_out(house.sealed())
    answer = part(house)["judged"]
    assert (answer["shuffles"], answer["coups"]) == (40, 40)
    tie = answer["bets"][2]
    p = float(Fraction(tie["expected_wins"])) / 40
    wanted = (tie["wins"] - 40 * p) / sqrt(40 * p * (1 - p))
    assert float(tie["deviation"]) == pytest.approx(wanted, rel=1e-6)


# --- what is judged, and of which coups ---------------------------------------------------------


@pytest.mark.parametrize("preset", ["np_punto_banco", "doppelganger"])
def test_live_shoes_wait(house: Installation, preset: str) -> None:
    house.post("/tables", {"id": "t", "preset": preset, "overrides": HOUSE})
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed("t")
    for _ in range(4):
        house.post(f"/shoes/{shoe}/coups")
    answer = part(house)
    assert (answer["judged"]["coups"], answer["dealt"]["coups"]) == (0, 4)
    assert {line["expected_total_minor"] for line in answer["judged"]["bets"]} == {"0"}
    assert {line["deviation"] for line in answer["judged"]["bets"]} == {"0"}


@pytest.mark.parametrize("dealt", [0, 3])
def test_a_void_shoe_is_completed_from_its_seed_cards_and_all(house: Installation, dealt: int) -> None:
    """Pairs of coups that were never dealt, told by the cards of the published seed."""
    house.post("/tables", {"id": "t", "preset": "doppelganger", "overrides": HOUSE})
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed("t")
    for _ in range(dealt):
        house.post(f"/shoes/{shoe}/coups")
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    records = [parse_record(record.encode()) for record in house.bundle(shoe)["records"]]
    seal = next(record for record in records if isinstance(record, Seal))
    keys = derive_keys(records[-1].server_seed, seal.seal)  # type: ignore[attr-defined]
    cards = [card_name(card) for card in shuffle_hand(keys.shuffle_key, DOPPELGANGER.rules).cards]
    position, wanted = 0, []
    for _ in range(51):
        points = tuple(bets_reference.WORTH[name[0]] for name in cards[position : position + 6])
        used = tableau_reference.coup(points)[0]
        wanted.append(hands(cards[position : position + used]))
        position += used
    answer = part(house)
    assert answer["dealt"]["coups"] == dealt == sum(isinstance(record, Coup) for record in records)
    for line in answer["judged"]["bets"]:
        assert columns(line) == by_hand(wanted, line["label"], 100)


def card_name(card: int) -> str:
    return "A23456789TJQK"[card % 13] + "cdhs"[card // 13]


def test_a_shoe_void_before_its_seal_counts_nothing(house: Installation) -> None:
    house.table(**SMALL)
    house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    assert house.get("/statistics/payouts")["terms"] == []


def test_tables_of_the_same_terms_are_counted_together_and_scopes_apart(house: Installation) -> None:
    for name, decks in (("a", 1), ("b", 1), ("c", 2)):
        house.table(name, **{**SMALL, "decks": decks})
    shoes = {name: house.sealed(name) for name in "ab"}
    for shoe in shoes.values():
        house.deal_out(shoe)
    house.clock.forward(3600)
    middle = "2026-01-31T12:30:00.000000Z"
    house.deal_out(house.sealed("c"))

    def judged(query: str) -> list[tuple[int, int, int]]:
        found = house.get(f"/statistics/payouts{query}")["terms"]
        return [(each["decks"], each["tables"], each["judged"]["coups"]) for each in found]

    assert judged("") == [(1, 2, 16), (2, 1, 17)]
    assert judged("?table=a") == [(1, 1, 8)]
    assert judged(f"?shoe={shoes['b']}") == [(1, 1, 8)]
    assert judged(f"?from={middle}") == [(2, 1, 17)]
    assert judged(f"?to={middle}") == [(1, 2, 16)]
    assert judged(f"?table=a&from={middle}") == [(1, 1, 0)]
    assert judged(f"?table=c&shoe={shoes['a']}") == [(1, 1, 0), (2, 1, 0)]
    scope = house.get(f"/statistics/payouts?table=a&to={middle}")["scope"]
    assert scope == {"table": "a", "shoe": None, "from": None, "to": middle}


@pytest.mark.parametrize("query", ["?table=nowhere", "?shoe=nowhere"])
def test_what_is_not_there_has_no_payouts(house: Installation, query: str) -> None:
    house.get(f"/statistics/payouts{query}", 404)


@pytest.mark.parametrize("query", ["?bet=tie", "?table=a&table=b", "?from=yesterday", "?table="])
def test_what_is_not_understood_is_refused(house: Installation, query: str) -> None:
    house.get(f"/statistics/payouts{query}", 422)


def test_the_four_kinds_of_pair_are_told_by_the_cards(house: Installation) -> None:
    """Two roads to the same counts: bets on pairs by the rows of records, and pairs by the names of cards."""
    house.post("/tables", {"id": "t", "preset": "doppelganger", "overrides": {**HOUSE, "shuffle": "coup", "cut": None,
                                                                             "coups": 200}})  # fmt: skip
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed("t")
    house.deal_out(shoe)
    seen = Counter(bets_reference.twins(player) for player, _ in hands_of(house, shoe))
    assert len(seen) == 4
    line = next(line for line in part(house)["dealt"]["bets"] if line["label"] == "player_doppelganger")
    assert line["wins"] == 200 - seen[""]
    assert line["money_minor"] == 100 * (6 * seen["mixed"] + 12 * seen["coloured"] + 25 * seen["pure"])
