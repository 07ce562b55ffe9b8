"""What a seat's own limit and the moves of its purse look like."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import Cursor, Moment, TableId, Uuid, amount
from api.payloads import MAX_PAGE, MAX_PURSE, Payload
from shoe.game.bets.settling import MAX_STAKE_MINOR

SeatId = Annotated[Uuid, Field(description="The seat's id.")]


def _stake(description: str) -> object:
    return Field(ge=1, le=MAX_STAKE_MINOR, description=f"{description} In minor units; null for any.")


class LimitShown(Payload):
    """What a seat may stake on a bet at most, and whether its player may lower that now."""

    seat: SeatId
    table: TableId
    table_maximum_minor: Annotated[int | None, _stake("The table's greatest stake.")]
    own_maximum_minor: Annotated[int | None, _stake("The greatest stake that the player allows herself.")]
    maximum_minor: Annotated[int | None, _stake("The greatest stake that is taken now.")]
    can_lower: Annotated[bool, Field(description="Whether the player's own may be lowered now.")]
    why_not: Annotated[
        Literal["no_own_limits", "too_many_wrong_pins", "already_this_week", "at_the_least"] | None,
        Field(description="What stands against that; null where nothing does."),
    ]
    turns: Annotated[
        Moment | None, Field(description="When the week turns; null at a table whose players set no limits.")
    ]


class MoveShown(Payload):
    """Money that came into a purse from outside, or left it."""

    id: Uuid
    seat: SeatId
    amount_minor: Annotated[
        int, Field(ge=-MAX_PURSE, le=MAX_PURSE, description="What came in, in minor units; below 0, what went out.")
    ]
    balance_minor: Annotated[int, amount("What the purse held after it.")]
    time: Moment
    made_by: Annotated[Uuid, Field(description="The id of the API key that moved it.")]
    note: Annotated[str, Field(max_length=128, description="What the game client knows it by.")]


class MovePage(Payload):
    """A page of the moves of a purse."""

    moves: Annotated[list[MoveShown], Field(max_length=MAX_PAGE, description="The moves of this page.")]
    next: Cursor
