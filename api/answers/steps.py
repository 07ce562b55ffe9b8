"""What a step answers: the record that it put into the log, the receipt for it, and what else the caller needs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.answers.terms import Client, CoupNumber, Hash, LogIndex, Path, Position, Receipt, Record, ShoeId
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


class DealtCoupAnswer(Logged):
    """A coup's record with its cards' audit paths; the shoe's last coup brings the reveal with it."""

    number: CoupNumber
    paths: Annotated[list[Path], Field(min_length=4, max_length=6, description="The cards' paths in dealing order.")]
    ended: Annotated[bool, Field(description="Whether this was the shoe's last coup.")]
    reveal: Annotated[Logged | None, Field(description="The reveal's record, with the last coup; null before.")]
