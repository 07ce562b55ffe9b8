"""Accounts: who a request is from; API keys, and seats at tables."""

from __future__ import annotations

from typing import Any

from flask import Response

from api.access import ANYONE, CLIENT, OPERATOR, ROLES
from api.answers import KeyMade, KeyPage, KeyShown, Me, SeatMade, SeatShown
from api.cases.accounts import (
    Made,
    find_credential,
    list_keys,
    make_key,
    make_seat,
    print_key,
    print_known_key,
    revoke,
)
from api.db.tables import CredentialRow
from api.payloads import NewKey, NewSeat, PageQuery
from api.refusals import CREDENTIAL_REVOKED, FORBIDDEN, NO_BETS, UNAUTHENTICATED
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, commit, page, principal, service

blueprint = Resource("accounts", "/v1")


@blueprint.get("/me", access=ANYONE, answers={200: Me})
def show_me() -> Response:
    """Say who the request is from, and what it may do."""
    me = principal()
    roles = [role for role in ROLES if role in me.roles]
    return answer_privately({"id": me.id, "kind": me.kind, "roles": roles, "table": me.table})


@blueprint.post("/keys", access=OPERATOR, body=NewKey, answers={201: KeyMade}, claimed="may", secret=True)
def create_key(asked: NewKey) -> Response:
    """Make an API key; its token is in this answer alone."""
    step = make_key(service().world, principal(), asked.roles, asked.name, asked.expires_in_s)
    return commit(step, lambda made: {**print_key(made.row), "token": made.token})


@blueprint.get("/keys", access=OPERATOR, query=PageQuery, answers={200: KeyPage})
def show_keys(asked: PageQuery) -> Response:
    """List the API keys, the revoked ones too, oldest first."""
    with service().reading() as session:
        rows = list_keys(session, asked.after, asked.limit)
    return answer_privately(page("keys", [print_known_key(row) for row in rows], asked.limit, "id"))


@blueprint.get("/keys/{key_id}", access=OPERATOR, answers={200: KeyShown})
def show_key(key_id: str) -> Response:
    """Show an API key, without its token."""
    with service().reading() as session:
        return answer_privately(print_known_key(find_credential(session, "key", key_id)))


@blueprint.post(
    "/keys/{key_id}/revoke",
    access=OPERATOR,
    answers={201: KeyShown},
    refuses=(CREDENTIAL_REVOKED,),
    claimed="may",
)
def revoke_key(key_id: str) -> Response:
    """Revoke an API key, for good and at once."""
    return commit(revoke("key", key_id), print_known_key)


@blueprint.post(
    "/tables/{table_id}/seats",
    access=ANYONE,
    body=NewSeat,
    answers={201: SeatMade},
    refuses=(UNAUTHENTICATED, FORBIDDEN, NO_BETS),
    claimed="may",
    secret=True,
)
def create_seat(table_id: str, asked: NewSeat) -> Response:
    """Make a seat at a table: for a game client, or for anyone where the table is open to guests.

    Its token is in this answer alone: whoever holds it is the player.
    """
    step = make_seat(service().world, principal(), table_id, asked.purse_minor, asked.player)
    return commit(step, _print_seat_made)


@blueprint.post(
    "/seats/{seat_id}/revoke",
    access=CLIENT | OPERATOR,
    answers={201: SeatShown},
    refuses=(CREDENTIAL_REVOKED,),
    claimed="may",
)
def revoke_seat(seat_id: str) -> Response:
    """Revoke a seat, for good and at once."""
    return commit(revoke("seat", seat_id), _print_seat)


def _print_seat(row: CredentialRow) -> dict[str, Any]:
    return {
        "seat": row.id,
        "table": row.table_id,
        "player": row.player,
        "created": row.created,
        "revoked": row.revoked,
    }


def _print_seat_made(made: Made) -> dict[str, Any]:
    row = made.row
    return {
        "seat": row.id,
        "table": row.table_id,
        "player": row.player,
        "created": row.created,
        "purse_minor": made.purse_minor,
        "token": made.token,
    }
