"""A player's counters and money: of a seat, and of all seats of a player."""

from __future__ import annotations

from flask import Response

from api.access import CLIENT, OPERATOR, PLAYER
from api.answers import PlayerStatistics
from api.cases.counters import count_player, count_seat
from api.counted import print_counters
from api.payloads import CountersQuery
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, principal, service

blueprint = Resource("counters", "/v1")


@blueprint.get(
    "/seats/{seat_id}/statistics",
    access=PLAYER | CLIENT | OPERATOR,
    query=CountersQuery,
    answers={200: PlayerStatistics},
)
def count_bets_of_seat(seat_id: str, asked: CountersQuery) -> Response:
    """Count what became of a seat's bets, in games and in money; a seat asks for its own alone."""
    with service().reading() as session:
        return answer_privately(print_counters(count_seat(session, seat_id, asked.scope, principal())))


@blueprint.get("/players/{player}/statistics", access=CLIENT | OPERATOR, answers={200: PlayerStatistics})
def count_bets_of_player(player: str) -> Response:
    """Count what became of the bets of all seats of a player, by the name that the game client gave."""
    with service().reading() as session:
        return answer_privately(print_counters(count_player(session, player)))
