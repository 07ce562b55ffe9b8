"""Tables and their seed books as they are read."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import Cursor, Hash, LogIndex, Moment, Rules, ShoeId, TableId
from api.payloads import MAX_BOOK_SIZE, MAX_PAGE, Payload


class TableAnswer(Payload):
    """A table and its rules, which never change."""

    id: TableId
    preset: Annotated[
        str | None, Field(max_length=64, description="The preset its rules were made from; null for rules given whole.")
    ]
    rules: Rules
    guests: Annotated[bool, Field(description="Whether anyone may take a seat.")]
    created: Annotated[Moment, Field(description="When it was made, in UTC.")]


class TableShown(TableAnswer):
    """A table with its live shoe and the shoe it opened last."""

    live_shoe: Annotated[ShoeId | None, Field(description="The shoe that is neither revealed nor void; null if none.")]
    last_shoe: Annotated[ShoeId | None, Field(description="The shoe it opened last; null before its first.")]


class TablePage(Payload):
    """A page of tables, by id."""

    tables: Annotated[list[TableAnswer], Field(max_length=MAX_PAGE, description="The tables of this page.")]
    next: Cursor


class Book(Payload):
    """A seed book as it stands."""

    root: Annotated[Hash, Field(description="The root of the book's commitments, by which the book is named.")]
    size: Annotated[int, Field(ge=1, le=MAX_BOOK_SIZE, description="How many shoes the book serves.")]
    index: LogIndex
    next_index: Annotated[
        int, Field(ge=0, le=MAX_BOOK_SIZE, description="The seed that its next shoe uses; its size when it is used up.")
    ]
    state: Annotated[Literal["published", "ended"], Field(description="An ended book's master is in the log.")]
    master: Annotated[
        Hash | None, Field(description="What all its seeds are made from: a sandbox alone shows it here, else null.")
    ]


class BookPage(Payload):
    """A page of a table's seed books, in the order they are used."""

    books: Annotated[list[Book], Field(max_length=MAX_PAGE, description="The books of this page.")]
    next: Cursor
