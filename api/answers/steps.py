"""What a step answers: the record that it put into the log, the receipt for it, and what else the caller needs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import (
    BetName,
    Client,
    CoupNumber,
    Hash,
    LogIndex,
    Path,
    Position,
    Receipt,
    Record,
    ShoeId,
    StakeMinor,
    Uuid,
    amount,
)
from api.payloads import MAX_BOOK_SIZE, Payload


class Logged(Payload):
    """A record of the log: its bytes, its index, and the receipt that shows it to be there."""

    record: Record
    index: LogIndex
    receipt: Receipt


class PublishedBook(Logged):
    """A seed book's record, and the book."""

    root: Annotated[Hash, Field(description="The root of the book's commitments, by which the book is named.")]
    size: Annotated[int, Field(ge=1, le=MAX_BOOK_SIZE, description="How many shoes the book serves.")]


class OpenedShoe(Logged):
    """The record that opens a shoe, and the shoe's id."""

    shoe: ShoeId


class Contribution(Logged):
    """The record of a contribution or of its opened seed, and whose it is."""

    client: Client
    position: Position


class SealedShoe(Logged):
    """The record that seals a shoe; with the burn card's audit path, null where no card is burnt."""

    burn_path: Annotated[Path | None, Field(description="The burn card's audit path; null where no card is burnt.")]


class SettledBet(Payload):
    """What a coup made of one bet."""

    seat: Annotated[Uuid, Field(description="The seat whose bet it was.")]
    client: Client
    bet: BetName
    stake: StakeMinor
    result: Annotated[
        Literal["won", "lost", "pushed"], Field(description="Whether it won, lost, or is neither paid nor taken.")
    ]
    net_minor: Annotated[int, amount("What the seat won, commission taken off; what it lost, below 0.", least=None)]
    commission_minor: Annotated[int, amount("The house's part of the win, taken off already.")]
    returned_minor: Annotated[int, amount("What went to the purse.")]
    left_minor: Annotated[int, amount("The stake that stays on the table for the next coup.")]
    balance_minor: Annotated[int, amount("What the purse held after this bet was paid.")]


class WinTold(Payload):
    """What to tell a seat that won something on the coup."""

    seat: Annotated[Uuid, Field(description="The seat.")]
    client: Client
    message: Annotated[str, Field(min_length=1, description="A sentence with the amounts.")]


class DealtCoupAnswer(Logged):
    """A coup's record with its cards' audit paths, and its bets settled; the last coup brings the reveal with it."""

    number: CoupNumber
    paths: Annotated[list[Path], Field(min_length=4, max_length=6, description="The cards' paths in dealing order.")]
    ended: Annotated[bool, Field(description="Whether this was the shoe's last coup.")]
    reveal: Annotated[Logged | None, Field(description="The reveal's record, with the last coup; null before.")]
    bets: Annotated[Logged | None, Field(description="The record that closed the coup's bets; null without any.")]
    settlement: Annotated[list[SettledBet], Field(description="Every bet on the coup, in the order of acceptance.")]
    messages: Annotated[list[WinTold], Field(description="A message for each seat that won a bet on the coup.")]
