"""Bets and purses, as the seat that they belong to sees them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import (
    BetName,
    Client,
    CoupNumber,
    Cursor,
    LogIndex,
    Path,
    ShoeId,
    StakeMinor,
    TableId,
    Uuid,
    amount,
    count,
    whole,
)
from api.payloads import MAX_PAGE, Payload
from shoe.game.bets.record import MAX_BETS

Salt = Annotated[str, whole("[0-9a-f]{32}", "The salt that hides the line from others.")]
Line = Annotated[str, Field(min_length=2, description="The bet's line, canonical JSON (protocol §8): keep it.")]


class AcceptedBet(Payload):
    """A bet that was accepted, or withdrawn: the line that the root over the coup's bets covers, its salt included."""

    bet: BetName
    stake: StakeMinor
    salt: Salt
    line: Line


class Choice(Payload):
    """What a seat chose for the next coup, and what its purse holds after it."""

    shoe: ShoeId
    number: CoupNumber
    client: Client
    bets: Annotated[list[AcceptedBet], Field(max_length=MAX_BETS, description="The bets accepted, or withdrawn.")]
    balance_minor: Annotated[int, amount("What the purse holds now.")]


class OwnBet(AcceptedBet):
    """A bet of the seat, with its place under the coup's root once the bets are closed, and what became of it."""

    state: Annotated[
        Literal["laid", "withdrawn", "void", "won", "lost", "pushed"],
        Field(description="What became of it: laid until the coup is dealt; void where the shoe was given up before."),
    ]
    carried: Annotated[bool, Field(description="Whether the stake stayed on the table after a tie.")]
    index: Annotated[int | None, count("Its place among the coup's bets, from 0; null while it has none.")]
    path: Annotated[
        Path | None, Field(description="Its path to the root over the coup's bets; null while it has none.")
    ]
    net_minor: Annotated[int | None, amount("What it won or lost; null until the coup is dealt.", least=None)]
    returned_minor: Annotated[int | None, amount("What went to the purse; null until the coup is dealt.")]
    commission_minor: Annotated[int | None, amount("The commission; null until the coup is dealt.")]


class CoupOfBets(Payload):
    """A seat's bets on one coup, the withdrawn ones too, in the order of acceptance."""

    number: CoupNumber
    bets_index: Annotated[
        LogIndex | None, Field(description="Where the log holds the record that closed them; null before.")
    ]
    bets: Annotated[list[OwnBet], Field(min_length=1, description="The seat's bets.")]
    message: Annotated[
        str | None, Field(description="What it won on the coup, in a sentence; null where no bet of it won.")
    ]


class OwnBetPage(Payload):
    """A page of the coups of a shoe that the seat bet on."""

    coups: Annotated[list[CoupOfBets], Field(max_length=MAX_PAGE, description="The coups of this page.")]
    next: Cursor


class PurseShown(Payload):
    """A seat's money."""

    seat: Annotated[Uuid, Field(description="The seat's id.")]
    table: TableId
    balance_minor: Annotated[int, amount("What it may stake.")]
    staked_minor: Annotated[int, amount("What it has on the table, which the purse does not hold.")]
    owed_minor: Annotated[
        int, amount("What the house lent it for loop play; what comes back from the table pays this first.")
    ]
    preserve: Annotated[bool, Field(description="Whether its bets are laid again after every coup.")]
