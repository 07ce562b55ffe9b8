"""Statistics: counts with their exact expectation and deviation beside them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from flask import Response

from api.access import ANYONE
from api.answers import OutcomeStatistics, RuleStatistics
from api.cases.statistics import Counts, Scope, count_coups
from api.payloads import StatisticsQuery
from api.refusals import NOT_FOUND
from api.routes.endpoint import Resource
from api.routes.exchange import answer, service
from audit.checks.result import LineItem
from shoe.game.tableau import MERGED_RULES, OUTCOMES, RULE_WORDS, RULES, merged_rule

blueprint = Resource("statistics", "/v1/statistics")

_JUDGED: Final = "coups 1…K of ended shoes, void ones completed from their seed: these have the exact probabilities"
_DEALT: Final = "every coup dealt, live shoes' too: not judged, for where a shoe ends depends on its cards"


@blueprint.get("/rules", access=ANYONE, query=StatisticsQuery, answers={200: RuleStatistics}, refuses=(NOT_FOUND,))
def count_rules(asked: StatisticsQuery) -> Response:
    """Count the use of each rule: 15 classes, and the 14 of a house that merges the one-sided naturals."""
    return _answer(asked, _print_rules)


@blueprint.get(
    "/outcomes", access=ANYONE, query=StatisticsQuery, answers={200: OutcomeStatistics}, refuses=(NOT_FOUND,)
)
def count_outcomes(asked: StatisticsQuery) -> Response:
    """Count player, banker and tie."""
    return _answer(asked, _print_outcomes)


def _answer(query: StatisticsQuery, print_counts: Any) -> Response:
    scope = Scope(query.table, query.shoe, query.from_, query.to)
    with service().reading() as session:
        counted = count_coups(session, scope)
    shown = query.model_dump(by_alias=True)
    return answer({"scope": shown, "judged": _JUDGED, "dealt": _DEALT, "decks": [print_counts(c) for c in counted]})


def _print_rules(counts: Counts) -> dict[str, Any]:
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


def _print_outcomes(counts: Counts) -> dict[str, Any]:
    seen = counts.all_dealt(lambda coup: coup.outcome)
    return {
        "decks": counts.decks,
        "judged": {**_print_size(counts), "outcomes": _print_lines(counts.outcomes())},
        "dealt": {"coups": seen.total(), "outcomes": _print_counts(seen, OUTCOMES)},
    }


def _print_size(counts: Counts) -> dict[str, int]:
    return {"shuffles": counts.lengths.total(), "coups": counts.judged.total()}


def _print_lines(items: Iterable[LineItem]) -> list[dict[str, Any]]:
    return [{**_words(item.label), **item.to_json()} for item in items]


def _print_counts(counts: Counter[str], labels: Iterable[str]) -> list[dict[str, Any]]:
    return [{**_words(label), "label": label, "observed": counts[label]} for label in labels]


def _words(label: str) -> dict[str, str]:
    return {"words": RULE_WORDS[label]} if label in RULE_WORDS else {}
