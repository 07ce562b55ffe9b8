"""A played shoe in a house's statistics over HTTP, every count made here anew from the shoe's records.

Counters and money of both seats, the pay-out table, the rules (15, and 14 as the house shows them) beside their
published law, outcomes, and the roads.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from audit.edges import percent
from tests.api.betting import Seat
from tests.api.installation import VECTORS, Installation
from tests.audit.test_bet_edges import TABLES
from tests.reference import bets_reference, roads_reference, tableau_reference

Record = dict[str, Any]
Nets = Callable[[str, int, Record], int]
LAWS = json.loads((VECTORS / "exact_rule_classes.json").read_text())
MAIN = ("player", "banker", "tie")


def check_counters(seat: Seat, lines: Iterable[Record], nets: Nets, records: Sequence[Record]) -> None:
    """A seat's counters and money by bet, from its settled lines (each with its coup's number)."""
    lines = [{**line, "net": nets(line["bet"], line["stake"], records[line["number"]])} for line in lines]
    (part,) = seat.get(f"/seats/{seat.id}/statistics?scope=all_time")["money"]
    for shown in (*part["bets"], part["sum"]):
        own = [line for line in lines if shown["label"] in (line["bet"], "all")]
        won = [line for line in own if line["net"] > 0]
        tied = [line["stake"] for line in own if line["net"] == 0]
        assert [shown[key] for key in ("games", "wins", "ties", "losses")] == [
            len(own), len(won), len(tied), len(own) - len(won) - len(tied),
        ]  # fmt: skip
        assert [shown[key] for key in ("wins_minor", "ties_minor", "bets_minor", "total_minor")] == [
            sum(line["stake"] + line["net"] for line in won), sum(tied),
            sum(line["stake"] for line in own), sum(line["net"] for line in own),
        ]  # fmt: skip
    assert part["sum"]["games"] > 0


def check_payouts(house: Installation, preset: str, nets: Nets, records: Sequence[Record], judged: int) -> None:
    """One stake on every bet every time, over the coups dealt and the judged ones; and the published edge."""
    (part,) = house.get("/statistics/payouts?table=t")["terms"]
    stake = part["stake_minor"]
    assert {line["label"] for line in part["judged"]["bets"]} == set(TABLES[preset])
    for each, coups in (("judged", records[:judged]), ("dealt", records)):
        assert part[each]["coups"] == len(coups)
        for line in part[each]["bets"]:
            gained = [nets(line["label"], stake, record) for record in coups]
            wins, ties = [net for net in gained if net > 0], gained.count(0)
            assert (line["wins"], line["ties"], line["games"]) == (len(wins), ties, len(coups))
            assert (line["money_minor"], line["returns_minor"]) == (sum(wins), stake * len(wins))
            assert (line["in_minor"], line["out_minor"]) == (sum(wins) + stake * len(wins), stake * len(coups))
            assert (line["ties_minor"], line["total_minor"]) == (stake * ties, sum(gained))
            assert line["sum_minor"] == sum(gained) - stake * ties
    for line in part["judged"]["bets"]:
        assert percent(-Fraction(line["expected_total_minor"]) / (stake * judged), 9) == TABLES[preset][line["label"]]


def check_rules(house: Installation, decks: int, records: Sequence[Record], judged: int) -> None:
    """Every rule and outcome, counted by the printed chart from points, beside its published frequency."""
    chart = [of_cards(record) for record in records]
    law = LAWS[str(decks)]
    p = [Fraction(count, law["total"]) for count in law["classes"].values()]
    (part,), (outcomes,) = (house.get(f"/statistics/{what}?table=t")["decks"] for what in ("rules", "outcomes"))
    seen = Counter(rule for _, rule in chart[:judged])
    assert [line["observed"] for line in part["judged"]["rules"]] == [
        seen[line["label"]] for line in part["judged"]["rules"]
    ]
    assert [Fraction(line["expected"]) for line in part["judged"]["rules"]] == [judged * each for each in p]
    merged = part["judged"]["merged_rules"]
    assert (len(merged), len(part["judged"]["rules"])) == (14, 15)
    one_sided = seen["player_natural"] + seen["banker_natural"]
    assert merged[0]["observed"] == one_sided
    assert Fraction(merged[0]["expected"]) == judged * (p[0] + p[1])
    assert [line["observed"] for line in merged[1:]] == [seen[line["label"]] for line in merged[1:]]
    assert all(line["words"] for line in merged)
    dealt = Counter(rule for _, rule in chart)
    assert {line["label"]: line["observed"] for line in part["dealt"]["rules"] if line["observed"]} == dealt
    won = Counter(outcome for outcome, _ in chart[:judged])
    assert {line["label"]: line["observed"] for line in outcomes["judged"]["outcomes"]} == {
        side: won[side] for side in MAIN
    }


def of_cards(record: Record) -> tuple[str, str]:
    """Outcome and rule class of a coup from its cards' points, by the printed chart."""
    points = [bets_reference.WORTH[opening["card"][0]] for opening in record["cards"]]
    used, _, _, outcome, rule = tableau_reference.coup((*points, *[0] * (6 - len(points))))  # type: ignore[arg-type]
    assert used == len(points)
    return outcome, rule


def check_roads(house: Installation, shoe: str, records: Sequence[Record]) -> None:
    """All roads, the winners' columns and the sums, by slow definitions."""
    outcomes = "".join(of_cards(record)[0][0].upper() for record in records)
    told = house.get(f"/shoes/{shoe}/roads")
    assert told["outcomes"] == outcomes
    assert told["columns"] == roads_reference.winners_columns(outcomes)
    assert [tuple(cell) for cell in told["big_road_cells"]] == roads_reference.grid(outcomes)
    assert [tuple(bead) for bead in told["bead_plate"]] == roads_reference.bead_plate(outcomes)
    for k, road in enumerate(("big_eye_boy", "small_road", "cockroach_pig"), 1):
        assert told[road] == roads_reference.derived(outcomes, k)
    assert told["sums"] == {
        "banker": outcomes.count("B"), "player": outcomes.count("P"), "tie": outcomes.count("T"),
        "coups": len(outcomes),
    }  # fmt: skip
