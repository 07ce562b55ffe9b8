"""Statistics against counting by hand and the published exact laws; what is judged, and what is only shown."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from math import sqrt
from typing import Any

import pytest

from shoe.game.rules import parse_rules
from shoe.game.tableau import MERGED_RULES, OUTCOMES, RULE_WORDS, RULES, merged_rule
from shoe.proof.openings import deal_deck
from shoe.proof.records import Coup, Seal, parse_record
from shoe.proof.seal import derive_keys
from tests.api.installation import EVERY_COUP, HOUSE, SMALL, VECTORS, Installation
from tests.reference import tableau_reference

EXACT = json.loads((VECTORS / "exact_rule_classes.json").read_text())


def exact_rules(decks: int) -> list[Fraction]:
    """The published frequencies of the 15 classes, in the order that RULES has too; the file names its source."""
    exact = EXACT[str(decks)]
    return [Fraction(count, exact["total"]) for count in exact["classes"].values()]


def part(house: Installation, what: str, query: str = "") -> Any:
    (only,) = house.get(f"/statistics/{what}{query}")["decks"]
    return only


def observed(lines: list[Any]) -> dict[str, int]:
    return {line["label"]: line["observed"] for line in lines}


def rows(house: Installation, *shoes: str) -> list[Any]:
    return [row for shoe in shoes for row in house.get(f"/shoes/{shoe}/coups")["coups"]]


# --- counts ------------------------------------------------------------------------------------


def test_counts_are_those_of_the_coups(house: Installation) -> None:
    house.table(**SMALL)
    shoes = [house.sealed()]
    house.deal_out(shoes[0])
    shoes.append(house.sealed())
    house.deal_out(shoes[1])
    coups = rows(house, *shoes)
    judged = [row for row in coups if row["number"] < 8]  # K = 8 for 1 deck and cut 7 (audit.md)
    for what, key, labels in (("rules", "rule", RULES), ("outcomes", "outcome", OUTCOMES)):
        answer = part(house, what)
        assert (answer["decks"], answer["judged"]["coups"], answer["dealt"]["coups"]) == (1, 16, len(coups))
        assert answer["judged"]["shuffles"] == 2
        for each, counted in (("judged", judged), ("dealt", coups)):
            wanted = Counter(row[key] for row in counted)
            assert observed(answer[each][what]) == {label: wanted[label] for label in labels}
    merged = part(house, "rules")["judged"]["merged_rules"]
    wanted = Counter(merged_rule(row["rule"]) for row in judged)
    assert observed(merged) == {label: wanted[label] for label in MERGED_RULES}


def test_expectations_are_the_published_laws(house: Installation) -> None:
    house.table(**HOUSE)
    house.deal_out(house.sealed())
    answer = part(house, "rules")
    assert answer["judged"]["coups"] == 69  # K for 8 decks and cut 7 (audit.md)
    lines = answer["judged"]["rules"]
    assert [Fraction(line["expected"]) / 69 for line in lines] == exact_rules(8)
    for line in lines:
        assert float(line["expected_decimal"]) == pytest.approx(float(Fraction(line["expected"])), rel=1e-9)
        assert line["words"] == RULE_WORDS[line["label"]]
    assert sum(Fraction(line["expected"]) for line in answer["judged"]["merged_rules"]) == 69
    exact = json.loads((VECTORS / "exact_8decks.json").read_text())
    for line in part(house, "outcomes")["judged"]["outcomes"]:
        assert Fraction(line["expected"]) == 69 * Fraction(exact["outcomes"][line["label"]], exact["total"])


def test_deviations_are_in_standard_errors_of_dependent_coups(house: Installation) -> None:
    """8 decks, audit.md: Cov(BB) −5.3745e-7, Cov(PP) −1.1809e-6, Cov(TT) −1.7075e-6 for two coups of a shoe."""
    house.table(**HOUSE)
    house.deal_out(house.sealed())
    pair = {"banker": -5.3745e-7, "player": -1.1809e-6, "tie": -1.7075e-6}
    for line in part(house, "outcomes")["judged"]["outcomes"]:
        p = Fraction(line["expected"]) / 69
        error = sqrt(69 * float(p * (1 - p)) + 69 * 68 * pair[line["label"]])
        assert float(line["deviation"]) == pytest.approx((line["observed"] - 69 * float(p)) / error, rel=1e-6)


def test_where_each_coup_is_shuffled_anew_all_are_judged_and_independent(house: Installation) -> None:
    house.table(**{**EVERY_COUP, "coups": 40})
    house.deal_out(house.sealed())
    answer = part(house, "outcomes")["judged"]
    assert (answer["shuffles"], answer["coups"]) == (40, 40)
    for line in answer["outcomes"]:
        p = float(Fraction(line["expected"])) / 40
        wanted = (line["observed"] - 40 * p) / sqrt(40 * p * (1 - p))
        assert float(line["deviation"]) == pytest.approx(wanted, rel=1e-9)


# --- what is judged ----------------------------------------------------------------------------


def test_live_shoes_wait(house: Installation) -> None:
    """Who decides when to go on must not decide what is judged."""
    house.table(**SMALL)
    shoe = house.sealed()
    for _ in range(4):
        house.post(f"/shoes/{shoe}/coups")
    for what in ("rules", "outcomes"):
        answer = part(house, what)
        assert (answer["judged"]["coups"], answer["dealt"]["coups"]) == (0, 4)
        assert {line["expected"] for line in answer["judged"][what]} == {"0"}
        assert {line["deviation"] for line in answer["judged"][what]} == {"0"}


@pytest.mark.parametrize("dealt", [0, 3, 7])
def test_a_void_shoe_is_completed_from_its_seed(house: Installation, dealt: int) -> None:
    """A shoe may be given up because of its outcomes: coups to K count as they would have been dealt (audit.md)."""
    house.table(**SMALL)
    shoe = house.sealed()
    for _ in range(dealt):
        house.post(f"/shoes/{shoe}/coups")
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    records = [parse_record(record.encode()) for record in house.bundle(shoe)["records"]]
    seal = next(record for record in records if isinstance(record, Seal))
    deck = deal_deck(derive_keys(records[-1].server_seed, seal.seal), seal.transcript.rules)  # type: ignore[attr-defined]
    position, wanted = 0, []
    for _ in range(8):
        points = tuple(min(card % 13 + 1, 10) % 10 for card in deck.cards[position : position + 6])
        used, _, _, winner, _ = tableau_reference.coup(points)
        position += used
        wanted.append(winner)
    answer = part(house, "outcomes")
    assert observed(answer["judged"]["outcomes"]) == {name: wanted.count(name) for name in OUTCOMES}
    assert answer["dealt"]["coups"] == dealt == sum(isinstance(record, Coup) for record in records)
    assert len(rows(house, shoe)) == dealt
    assert house.client.get(f"/v1/shoes/{shoe}/coups/{dealt}").status_code == 404
    assert house.get(f"/shoes/{shoe}/roads")["sums"]["coups"] == dealt


def test_a_shoe_void_before_its_seal_counts_nothing(house: Installation) -> None:
    house.table(**SMALL)
    house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    assert house.get("/statistics/outcomes")["decks"] == []


# --- scopes ------------------------------------------------------------------------------------


def test_tables_shoes_and_times_are_counted_apart(house: Installation) -> None:
    house.table("a", **SMALL)
    house.table("b", **EVERY_COUP)
    first = house.sealed("a")
    house.deal_out(first)
    house.clock.forward(3600)
    middle = "2026-01-31T12:30:00.000000Z"
    second = house.sealed("a")
    house.deal_out(second)
    house.deal_out(house.sealed("b"))

    def judged(query: str) -> list[tuple[int, int]]:
        found = house.get(f"/statistics/outcomes{query}")["decks"]
        return [(each["decks"], each["judged"]["coups"]) for each in found]

    assert judged("") == [(1, 16), (8, 5)]
    assert judged("?table=a") == [(1, 16)]
    assert judged("?table=b") == [(8, 5)]
    assert judged(f"?shoe={first}") == [(1, 8)]
    assert judged(f"?table=a&from={middle}") == [(1, 8)]
    assert judged(f"?to={middle}") == [(1, 8)]
    assert judged(f"?shoe={first}&from={middle}") == [(1, 0)]
    assert judged(f"?table=b&shoe={first}") == [(1, 0), (8, 0)]
    assert judged("?from=2026-01-31T12:00:00.000000Z&to=2026-01-31T13:00:00.000000Z") == [(1, 8)]


def test_the_scope_is_echoed(house: Installation) -> None:
    house.table()
    time = "2026-01-31T12:30:00.000000Z"
    answer = house.get(f"/statistics/rules?table=t&from={time}")
    assert answer["scope"] == {"table": "t", "shoe": None, "from": time, "to": None}
    (only,) = answer["decks"]
    assert (only["judged"]["coups"], len(only["judged"]["rules"]), len(only["judged"]["merged_rules"])) == (0, 15, 14)


@pytest.mark.parametrize("query", ["?table=nowhere", "?shoe=nowhere"])
@pytest.mark.parametrize("what", ["rules", "outcomes"])
def test_what_is_not_there_has_no_statistics(house: Installation, query: str, what: str) -> None:
    house.get(f"/statistics/{what}{query}", 404)


def test_roads_are_those_of_the_outcomes(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.sealed()
    assert house.get(f"/shoes/{shoe}/roads")["outcomes"] == ""
    house.deal_out(shoe)
    answer = house.get(f"/shoes/{shoe}/roads")
    letters = "".join({"player": "P", "banker": "B", "tie": "T"}[row["outcome"]] for row in rows(house, shoe))
    assert answer["outcomes"] == letters
    assert answer["sums"] == {
        "banker": letters.count("B"),
        "player": letters.count("P"),
        "tie": letters.count("T"),
        "coups": len(letters),
    }
    assert "".join(answer["columns"]) == letters.replace("T", "-")
    assert parse_rules(house.get("/tables/t")["rules"]).decks == 1
