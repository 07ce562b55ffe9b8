"""API keys, seats, and who a request is from. A token is in one answer only: the first."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.access import KEY_ROLES, PREFIX_CHARACTERS, ROLES, Role
from api.answers.terms import Cursor, Moment, TableId, Uuid, whole
from api.payloads import MAX_PAGE, MAX_PURSE, PLAYER_PATTERN, Payload

KeyRole = Annotated[Role, Field(json_schema_extra={"enum": [*KEY_ROLES]}, description="A role.")]


class _Key(Payload):
    id: Annotated[Uuid, Field(description="The key's id, not secret.")]
    prefix: Annotated[
        str, whole(f"fsk_.{{{PREFIX_CHARACTERS - 4}}}", "The beginning of its token, by which its owner recognises it.")
    ]
    roles: Annotated[list[KeyRole], Field(min_length=1, max_length=3, description="What it may be used for.")]
    name: Annotated[str, Field(max_length=128, description="What its maker called it.")]
    created: Annotated[Moment, Field(description="When it was made, in UTC.")]
    expires: Annotated[Moment | None, Field(description="Until when it is good; null for always.")]


class KeyMade(_Key):
    """A new API key, and its token, which is never shown again."""

    token: Annotated[str, whole("fsk_[0-9A-Za-z_-]{43}", "Send it as `Authorization: Bearer`; keep it secret.")]


class KeyShown(_Key):
    """An API key without its token."""

    revoked: Annotated[Moment | None, Field(description="When it was revoked; null while it is good.")]


class KeyPage(Payload):
    """A page of API keys."""

    keys: Annotated[list[KeyShown], Field(max_length=MAX_PAGE, description="The keys of this page.")]
    next: Cursor


Player = Annotated[
    Annotated[str, whole(PLAYER_PATTERN, "A player's name.")] | None,
    Field(description="Who sits there, by the name that the game client gave; null where it gave none."),
]


class SeatMade(Payload):
    """A new seat, and its token, which is never shown again."""

    seat: Annotated[Uuid, Field(description="The seat's id.")]
    table: TableId
    player: Player
    created: Annotated[Moment, Field(description="When it was taken, in UTC.")]
    purse_minor: Annotated[
        int | None,
        Field(ge=0, le=MAX_PURSE, description="What its purse begins with, in minor units; null where nothing is bet."),
    ]
    token: Annotated[str, whole("fst_[0-9A-Za-z_-]{43}", "Send it as `Authorization: Bearer`; keep it secret.")]


class SeatShown(Payload):
    """A seat without its token."""

    seat: Annotated[Uuid, Field(description="The seat's id.")]
    table: TableId
    player: Player
    created: Annotated[Moment, Field(description="When it was taken, in UTC.")]
    revoked: Annotated[Moment | None, Field(description="When it was revoked; null while it is good.")]


class Me(Payload):
    """Who a request is from."""

    id: Annotated[str, Field(max_length=64, description="The credential's id; empty without one.")]
    kind: Annotated[Literal["key", "seat"] | None, Field(description="What the credential is; null without one.")]
    roles: Annotated[
        list[Annotated[Role, Field(description="A role.")]],
        Field(max_length=len(ROLES), description="What the request may do beyond reading."),
    ]
    table: Annotated[TableId | None, Field(description="A seat's table; null for others.")]
