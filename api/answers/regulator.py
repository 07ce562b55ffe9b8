"""What a regulator is told: the void rate with every void shoe, and the unused seeds of ended books."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import Cursor, Hash, LogIndex, Moment, ShoeId, TableId, count, whole
from api.payloads import MAX_BOOK_SIZE, MAX_PAGE, Payload
from shoe.game.rules import MAX_COUPS

Reason = Annotated[
    Literal["seed_missing", "beacon_missing", "deadline", "operator"], Field(description="Why the shoe was given up.")
]
InRow = Annotated[int, Field(ge=1, description="Voids in a row at the table up to this one, those before it included.")]
SeedIndex = Annotated[int, count("A seed's place in the book, from 0.", MAX_BOOK_SIZE)]


class OpenedScope(Payload):
    """Which shoes were counted, as asked: by where and when they were opened."""

    table: Annotated[TableId | None, Field(description="At this table; null for all.")]
    from_: Annotated[Moment | None, Field(alias="from", description="From this time on; null from the beginning.")]
    to: Annotated[Moment | None, Field(description="Before this time; null to the end.")]


class VoidReasons(Payload):
    """The void shoes by their reason."""

    seed_missing: Annotated[int, count("A committed seed was not opened in time.")]
    beacon_missing: Annotated[int, count("The beacon's round did not come in time.")]
    deadline: Annotated[int, count("A deadline of the shoe passed.")]
    operator: Annotated[int, count("The operator gave it up.")]


class VoidShown(Payload):
    """A void shoe, and where the log says so."""

    shoe: ShoeId
    table: TableId
    opened: Annotated[Moment, Field(description="When it was opened.")]
    voided: Annotated[Moment, Field(description="When it was given up.")]
    reason: Reason
    in_row: InRow
    coups: Annotated[int, count("How many coups it had dealt.", MAX_COUPS + 1)]
    open_index: Annotated[LogIndex, Field(description="The log index of its `open`.")]
    index: Annotated[LogIndex, Field(description="The log index of its `void`.")]


class VoidStatistics(Payload):
    """How often shoes are given up: of those opened in the scope, as they stand now; and a page of the void ones."""

    scope: Annotated[OpenedScope, Field(description="Which shoes were counted.")]
    opened: Annotated[int, count("Shoes opened.")]
    live: Annotated[int, count("Shoes that have not ended.")]
    revealed: Annotated[int, count("Shoes that came to the end that their rules set.")]
    void: Annotated[int, count("Shoes given up.")]
    by_reason: Annotated[VoidReasons, Field(description="Void shoes by the reason in their record.")]
    rate: Annotated[
        str | None, whole("[0-9]+(/[0-9]+)?", "Void among ended shoes, an exact fraction; null where none has ended.")
    ]
    rate_decimal: Annotated[str | None, whole(r"[01]\.[0-9]{12}", "The rate to 12 decimals, rounded exactly.")]
    longest_run: Annotated[
        VoidShown | None, Field(description="The void shoe with the most voids in a row up to it; null without any.")
    ]
    void_shoes: Annotated[list[VoidShown], Field(max_length=MAX_PAGE, description="The void shoes of this page.")]
    next: Cursor


class SeedRange(Payload):
    """Seeds that follow on each other in their book."""

    first: SeedIndex
    last: SeedIndex


class EndedBookShown(Payload):
    """An ended book, and which of its seeds no shoe opened."""

    root: Annotated[Hash, Field(description="The root of the book's commitments, by which the book is named.")]
    table: TableId
    size: Annotated[int, Field(ge=1, le=MAX_BOOK_SIZE, description="How many seeds the book has.")]
    index: Annotated[LogIndex, Field(description="The log index of its `book`.")]
    end_index: Annotated[LogIndex, Field(description="The log index of its `book_end`, which holds the master.")]
    unused_count: Annotated[int, count("How many seeds were never used.", MAX_BOOK_SIZE + 1)]
    unused: Annotated[list[SeedRange], Field(max_length=MAX_BOOK_SIZE, description="Which, in order.")]


class UnusedPage(Payload):
    """A page of ended books, in the order they were published."""

    books: Annotated[list[EndedBookShown], Field(max_length=MAX_PAGE, description="The books of this page.")]
    next: Cursor
