"""Seats as players and their houses keep them: the player's own limit, and money into a purse and out of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response

from api.access import CLIENT, OPERATOR, PLAYER
from api.answers.purses import LimitShown, MovePage, MoveShown
from api.cases.limits import Limit, lower_limit, read_limit
from api.cases.moves import list_moves, move_money
from api.db.tables import PurseMoveRow
from api.payloads import NewLimit, NewMove, PageQuery
from api.refusals import (
    CREDENTIAL_REVOKED,
    LIMIT_SET,
    NO_OWN_LIMITS,
    PURSE_FULL,
    PURSE_OVERDRAWN,
    WRONG_PIN,
    WRONG_PINS,
)
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, commit, page, principal, service

blueprint = Resource("purses", "/v1/seats")


@blueprint.get("/{seat_id}/limit", access=PLAYER | CLIENT | OPERATOR, answers={200: LimitShown})
def show_limit(seat_id: str) -> Response:
    """Show what a seat may stake on a bet at most, and whether its player may lower it; a seat sees its own alone."""
    with service().reading() as session:
        return answer_privately(_print_limit(read_limit(session, seat_id, principal(), service().world.now())))


@blueprint.post(
    "/{seat_id}/limit",
    access=PLAYER,
    body=NewLimit,
    answers={201: LimitShown},
    refuses=(NO_OWN_LIMITS, LIMIT_SET, WRONG_PIN, WRONG_PINS),
    claimed="may",
    secret=True,
)
def lower(seat_id: str, asked: NewLimit) -> Response:
    """Lower the greatest stake that the seat's player allows herself, at all tables where the rules say so.

    Confirmed by a PIN, the first being hers from then on, and done once a week at most. It counts from the next bet on:
    what is laid stays. After five wrong PINs in a week, each counted, none is looked at until the week turns.
    """
    return commit(lower_limit(service(), seat_id, principal(), asked.maximum_minor, asked.pin), _print_limit)


@blueprint.post(
    "/{seat_id}/purse/moves",
    access=CLIENT,
    body=NewMove,
    answers={201: MoveShown},
    refuses=(PURSE_OVERDRAWN, PURSE_FULL, CREDENTIAL_REVOKED),
    claimed="must",
)
def move(seat_id: str, asked: NewMove) -> Response:
    """Put money into a seat's purse from outside, or take it out; what lies on the table is not in the purse."""
    return commit(move_money(service().world, principal(), seat_id, asked.amount_minor, asked.note), _print_move)


@blueprint.get("/{seat_id}/purse/moves", access=PLAYER | CLIENT | OPERATOR, query=PageQuery, answers={200: MovePage})
def show_moves(seat_id: str, asked: PageQuery) -> Response:
    """List what came into a seat's purse from outside and left it, oldest first; a seat sees its own alone."""
    with service().reading() as session:
        moves = list_moves(session, seat_id, principal(), asked.after, asked.limit)
        items = [_print_move(row) for row in moves]
    return answer_privately(page("moves", items, asked.limit, "id"))


def _print_limit(limit: Limit) -> dict[str, Any]:
    return {**asdict(limit), "can_lower": limit.why_not is None}


def _print_move(row: PurseMoveRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "seat": row.seat_id,
        "amount_minor": row.amount_minor,
        "balance_minor": row.balance_minor,
        "time": row.time,
        "made_by": row.made_by,
        "note": row.note,
    }
