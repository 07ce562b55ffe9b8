"""Accounts: API keys and seats, made, listed and revoked; and the first key of an installation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import (
    CLIENT,
    KEY_ROLES,
    Kind,
    Principal,
    check_key_roles,
    make_token,
    parse_key,
    require,
    token_digest,
    token_prefix,
)
from api.cases.purses import open_purse, purse_at
from api.cases.tables import find_table
from api.db.tables import CredentialRow
from api.durable import turn
from api.newfile import PRIVATE, new_file
from api.refusals import CREDENTIAL_REVOKED, Refusal, no_such
from api.service import Service
from api.settings import Settings, SetupError
from api.world import World, make_id, seconds_after
from api.writing import Finish, Step, Writing
from shoe.errors import InputError

FIRST: Final = "first"
"""What the first API key of an installation is called."""


@dataclass(frozen=True, slots=True)
class Made:
    """A credential and its token, which is not kept: it can be shown only now; and what a seat's purse begins with."""

    row: CredentialRow
    token: str = field(repr=False)
    purse_minor: int | None = None


def make_key(world: World, by: Principal, roles: Sequence[str], name: str, expires_in_s: int | None) -> Step[Made]:
    """Make an API key with roles, which never expires without a number of seconds; raises InputError for its roles."""
    checked = check_key_roles(tuple(roles))

    def step(writing: Writing) -> Finish[Made]:
        token = make_token("key", world.random_bytes)
        row = _row(world, writing.time, "key", by, token)
        row.roles, row.name = " ".join(checked), name
        row.expires = None if expires_in_s is None else seconds_after(writing.time, expires_in_s)
        writing.insert(row)
        return lambda _: Made(row, token)

    return step


def make_seat(
    world: World, by: Principal, table_id: str, purse_minor: int | None = None, player: str | None = None
) -> Step[Made]:
    """Make a seat at a table, for a game client, or for anyone at a table open to guests.

    Where the table takes bets, the seat has a purse: of `purse_minor`, or of what the house gives. That and who the
    `player` is only a game client may say. Raises Refusal where there is no such table, for anybody else, and for a
    purse where nothing is bet.
    """

    def step(writing: Writing) -> Finish[Made]:
        table = find_table(writing.session, table_id)
        if not table.guests or purse_minor is not None or player is not None:
            require(by, CLIENT)
        balance = purse_at(table, purse_minor)
        token = make_token("seat", world.random_bytes)
        row = _row(world, writing.time, "seat", by, token)
        row.table_id, row.player = table_id, player
        writing.insert(row)
        if balance is not None:
            open_purse(writing, row, balance)
        return lambda _: Made(row, token, balance)

    return step


def revoke(kind: Kind, credential: str) -> Step[CredentialRow]:
    """Revoke an API key or a seat, for good; raises Refusal for one that is not there, or is revoked already."""

    def step(writing: Writing) -> Finish[CredentialRow]:
        row = find_credential(writing.session, kind, credential)
        if row.revoked is not None:
            raise Refusal(CREDENTIAL_REVOKED, f"The {kind} {row.id} was revoked at {row.revoked}.")
        writing.touched = True
        row.revoked = writing.time
        return lambda _: row

    return step


def find_credential(session: Session, kind: Kind, credential: str) -> CredentialRow:
    """Find an API key or a seat by its id; raises Refusal where there is none."""
    row = session.get(CredentialRow, credential)
    if row is None or row.kind != kind:
        raise no_such(kind, credential)
    return row


def print_key(row: CredentialRow) -> dict[str, Any]:
    """Print an API key as it is answered once it is made, but for its token."""
    return {
        "id": row.id,
        "prefix": row.prefix,
        "roles": row.roles.split(),
        "name": row.name,
        "created": row.created,
        "expires": row.expires,
    }


def print_known_key(row: CredentialRow) -> dict[str, Any]:
    """Print an API key as it is listed: whether it is revoked too."""
    return {**print_key(row), "revoked": row.revoked}


def list_keys(session: Session, after: str | None, limit: int) -> list[CredentialRow]:
    """List API keys by id, which is by age, from the first after a cursor."""
    query = select(CredentialRow).where(CredentialRow.kind == "key", CredentialRow.id > (after or ""))
    return list(session.scalars(query.order_by(CredentialRow.id).limit(limit)))


def found_operator(service: Service, settings: Settings) -> None:
    """Make the installation's first API key, with every role, where it has none; a file in the folder holds it.

    The file is written first: a start that was killed is completed by the next. Raises SetupError for a file that
    holds no API key.
    """
    if _has_keys(service):
        return
    path = settings.operator_key
    with turn(path):
        if not path.exists():
            with new_file(path, PRIVATE) as file:
                file.write(f"{make_token('key', service.world.random_bytes)}\n".encode())
        token = _read_token(path)
    service.write(_keep_first(service.world, token))


def _has_keys(service: Service) -> bool:
    with service.reading() as session:
        return session.scalar(select(CredentialRow.id).where(CredentialRow.kind == "key").limit(1)) is not None


def _read_token(path: Path) -> str:
    try:
        return parse_key(path.read_text("ascii").strip())
    except (ValueError, InputError):
        raise SetupError(f"{path}: expected an API key, got something else; put it away for a new one") from None


def _keep_first(world: World, token: str) -> Step[None]:
    def step(writing: Writing) -> Finish[None]:
        # Of two starts at once the second finds the first's.
        if not list_keys(writing.session, None, 1):
            row = _row(world, writing.time, "key", Principal(), token)
            row.roles, row.name = " ".join(KEY_ROLES), FIRST
            writing.insert(row)
        return lambda _: None

    return step


def _row(world: World, time: str, kind: Kind, by: Principal, token: str) -> CredentialRow:
    return CredentialRow(
        id=make_id(world),
        kind=kind,
        prefix=token_prefix(token),
        digest=token_digest(token),
        roles="player",
        name="",
        table_id=None,
        made_by=by.id,
        created=time,
        expires=None,
        revoked=None,
        player=None,
    )
