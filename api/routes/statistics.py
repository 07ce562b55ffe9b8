"""Statistics: counts with their exact expectation and deviation beside them."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.access import ANYONE
from api.answers import OutcomeStatistics, PayoutStatistics, RuleStatistics
from api.cases.payouts import count_payable
from api.cases.statistics import Scope, count_coups
from api.counted import DEALT, JUDGED, print_outcomes, print_payouts, print_rules
from api.payloads import StatisticsQuery
from api.refusals import NOT_FOUND
from api.routes.endpoint import Resource
from api.routes.exchange import answer, service

blueprint = Resource("statistics", "/v1/statistics")


@blueprint.get("/rules", access=ANYONE, query=StatisticsQuery, answers={200: RuleStatistics}, refuses=(NOT_FOUND,))
def count_rules(asked: StatisticsQuery) -> Response:
    """Count the use of each rule: 15 classes, and the 14 of a house that merges the one-sided naturals."""
    return _answer(asked, print_rules)


@blueprint.get(
    "/outcomes", access=ANYONE, query=StatisticsQuery, answers={200: OutcomeStatistics}, refuses=(NOT_FOUND,)
)
def count_outcomes(asked: StatisticsQuery) -> Response:
    """Count player, banker and tie."""
    return _answer(asked, print_outcomes)


@blueprint.get("/payouts", access=ANYONE, query=StatisticsQuery, answers={200: PayoutStatistics}, refuses=(NOT_FOUND,))
def count_payouts(asked: StatisticsQuery) -> Response:
    """Add up what every bet would have given, as if one stake had been on each of them every time."""
    with service().reading() as session:
        counted = count_payable(session, _scope(asked))
    return answer({**_print_scope(asked), "terms": [print_payouts(each) for each in counted]})


def _answer(query: StatisticsQuery, print_counts: Any) -> Response:
    with service().reading() as session:
        counted = count_coups(session, _scope(query))
    return answer({**_print_scope(query), "decks": [print_counts(each) for each in counted]})


def _scope(query: StatisticsQuery) -> Scope:
    return Scope(query.table, query.shoe, query.from_, query.to)


def _print_scope(query: StatisticsQuery) -> dict[str, Any]:
    return {"scope": query.model_dump(by_alias=True), "judged": JUDGED, "dealt": DEALT}
