"""Statistics as they are printed: counts beside their exact expectation, for HTTP and for the command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from api.cases.counters import Counted, PlayerCounts
from api.cases.payouts import Payable
from api.cases.statistics import Counts
from audit.checks.result import LineItem
from audit.payouts import added_up, expectations, payouts
from shoe.game.roads import Roads
from shoe.game.tableau import MERGED_RULES, OUTCOMES, RULE_WORDS, RULES, merged_rule

JUDGED: Final = "coups 1…K of ended shoes, void ones completed from their seed: these have the exact probabilities"
ALL: Final = "all"
DEALT: Final = "every coup dealt, live shoes' too: not judged, for where a shoe ends depends on its cards"


def print_rules(counts: Counts) -> dict[str, Any]:
    """Print the use of each rule."""
    use, merged = counts.all_dealt(lambda coup: coup.rule), counts.all_dealt(lambda coup: merged_rule(coup.rule))
    return {
        "decks": counts.decks,
        "judged": {
            **_print_size(counts),
            "rules": _print_lines(counts.rules()),
            "merged_rules": _print_lines(counts.rules(merged=True)),
        },
        "dealt": {
            "coups": use.total(),
            "rules": _print_counts(use, RULES),
            "merged_rules": _print_counts(merged, MERGED_RULES),
        },
    }


def print_outcomes(counts: Counts) -> dict[str, Any]:
    """Print player, banker and tie."""
    seen = counts.all_dealt(lambda coup: coup.outcome)
    return {
        "decks": counts.decks,
        "judged": {**_print_size(counts), "outcomes": _print_lines(counts.outcomes())},
        "dealt": {"coups": seen.total(), "outcomes": _print_counts(seen, OUTCOMES)},
    }


def print_payouts(payable: Payable) -> dict[str, Any]:
    """Print the pay-out table of tables of the same terms."""
    terms, coups = payable.terms, payable.judged.total()
    judged, dealt = payouts(payable.judged, terms), payouts(payable.dealt, terms)
    exact = expectations(judged, payable.decks, terms, coups, payable.pairs)
    return {
        "decks": payable.decks,
        "tables": payable.tables,
        "stake_minor": terms.money.default_stake_minor,
        "minor_per_unit": terms.money.minor_per_unit,
        "judged": {
            "shuffles": payable.lengths.total(),
            "coups": coups,
            "bets": [{**line.to_json(), **each.to_json()} for line, each in zip(judged, exact, strict=True)],
            "sum": added_up(judged).to_json(),
        },
        "dealt": {
            "coups": payable.dealt.total(),
            "bets": [line.to_json() for line in dealt],
            "sum": added_up(dealt).to_json(),
        },
    }


def print_roads(shoe: str, outcomes: str, roads: Roads) -> dict[str, Any]:
    """Print the roads of a shoe, its outcomes so far, and their sums."""
    return {"shoe": shoe, "outcomes": outcomes, **roads.to_json(), "sums": roads.sums._asdict()}


def print_counters(counts: PlayerCounts) -> dict[str, Any]:
    """Print a player's counters and money."""
    whose = {name: getattr(counts, name) for name in ("seat", "player", "seats", "since")}
    return {"scope": counts.span, **whose, "money": [_print_counted(counted) for counted in counts.money]}


def _print_counted(counted: Counted) -> dict[str, Any]:
    lines = {**counted.bets, ALL: counted.total}
    bets = [{"label": label, **asdict(counter)} for label, counter in lines.items()]
    return {
        "minor_per_unit": counted.minor_per_unit,
        "coups": counted.coups,
        "bets": bets[:-1],
        "sum": bets[-1],
    }


def _print_size(counts: Counts) -> dict[str, int]:
    return {"shuffles": counts.lengths.total(), "coups": counts.judged.total()}


def _print_lines(items: Iterable[LineItem]) -> list[dict[str, Any]]:
    return [{**_words(item.label), **item.to_json()} for item in items]


def _print_counts(counts: Counter[str], labels: Iterable[str]) -> list[dict[str, Any]]:
    return [{**_words(label), "label": label, "observed": counts[label]} for label in labels]


def _words(label: str) -> dict[str, str]:
    return {"words": RULE_WORDS[label]} if label in RULE_WORDS else {}
