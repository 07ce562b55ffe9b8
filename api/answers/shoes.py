"""Shoes as they are read: where they stand, their records, their coups, their roads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.steps import Logged
from api.answers.terms import (
    CoupNumber,
    Cursor,
    Hash,
    LogIndex,
    Moment,
    Path,
    Record,
    ShoeId,
    TableId,
    Total,
    count,
    whole,
)
from api.payloads import MAX_BOOK_SIZE, MAX_PAGE, MAX_ROUND, Payload
from shoe.game.roads import ROWS
from shoe.game.rules import MAX_COUPS
from shoe.game.tableau import RULES, Outcome
from shoe.proof.seeds import MAX_CONTRIBUTIONS

State = Annotated[
    Literal["open", "locked", "sealed", "revealed", "void"],
    Field(description="Where the shoe stands: open → locked → sealed → revealed; or void."),
]
Rule = Annotated[str, Field(description="The rule class of the coup, one of 15.", json_schema_extra={"enum": [*RULES]})]
Letter = Literal["B", "P", "T"]
Column = Annotated[int, count("A column, from 0.", MAX_COUPS)]
Row = Annotated[int, count("A row, from 0.", ROWS)]
Derived = Annotated[str, whole("[RB]*", "R where the pattern repeats (red), B where it breaks (blue).")]


class Beacon(Payload):
    """The public randomness that a shoe waits for."""

    chain: Annotated[Hash, Field(description="The drand chain, by its hash.")]
    round: Annotated[int, Field(ge=1, le=MAX_ROUND, description="The round whose signature seals the shoe.")]


class ShoeSummary(Payload):
    """A shoe summed up."""

    id: ShoeId
    table: TableId
    state: State
    opened: Annotated[Moment, Field(description="When it was opened, in UTC.")]
    book: Annotated[Hash, Field(description="The root of the seed book that its seed comes from.")]
    seed_index: Annotated[int, count("Which seed of the book it has.", MAX_BOOK_SIZE)]
    commitment: Annotated[Hash, Field(description="The commitment that its server seed must open.")]
    lock_by: Annotated[Moment, Field(description="Until when contributions are taken.")]
    seal_by: Annotated[Moment, Field(description="Until when it may be sealed.")]
    reveal_by: Annotated[Moment, Field(description="Until when its seed must be shown.")]
    beacon: Annotated[Beacon | None, Field(description="The beacon's round, in mode beacon; null in the others.")]
    contributions: Annotated[int, Field(ge=0, le=MAX_CONTRIBUTIONS, description="How many players contributed.")]
    seal: Annotated[Hash | None, Field(description="The hash over all that fixes the deck; null before the seal.")]
    coups: Annotated[int, Field(ge=0, le=MAX_COUPS, description="How many coups are dealt.")]
    previous_shoe: Annotated[ShoeId | None, Field(description="The table's shoe before; null for its first.")]


class ShoeState(Payload):
    """Where a shoe stands, for a game client that resumes."""

    shoe: ShoeId
    state: State
    next_seq: Annotated[int, count("The number that its next record has in its chain.")]
    next_coup: Annotated[int, Field(ge=0, le=MAX_COUPS, description="The number that its next coup has.")]
    last_record: Annotated[Record, Field(description="The last record of its chain.")]
    last_index: Annotated[int, count("Where that record lies in the log.")]
    ended: Annotated[bool, Field(description="Whether it is revealed or void.")]


class RecordShown(Payload):
    """A record in its shoe's chain."""

    seq: Annotated[int, count("The record's number in its shoe's chain, from 0.")]
    index: LogIndex
    record: Record


class RecordPage(Payload):
    """A page of a shoe's records, in the order of its chain."""

    records: Annotated[list[RecordShown], Field(max_length=MAX_PAGE, description="The records of this page.")]
    next: Cursor


class CoupListed(Payload):
    """A coup with its outcome and its record."""

    number: CoupNumber
    outcome: Annotated[Outcome, Field(description="Who won.")]
    rule: Rule
    player_total: Annotated[Total, Field(description="The points of the player's hand.")]
    banker_total: Annotated[Total, Field(description="The points of the banker's hand.")]
    index: LogIndex
    record: Record


class CoupPage(Payload):
    """A page of a shoe's coups, in dealing order."""

    coups: Annotated[list[CoupListed], Field(max_length=MAX_PAGE, description="The coups of this page.")]
    next: Cursor


class CoupShown(Logged):
    """A coup's record with its receipt and the audit paths of its cards."""

    number: CoupNumber
    paths: Annotated[list[Path], Field(min_length=4, max_length=6, description="The cards' paths in dealing order.")]


class Sums(Payload):
    """How many coups each outcome took, and how many there were."""

    banker: Annotated[int, count("Coups that the banker won.")]
    player: Annotated[int, count("Coups that the player won.")]
    tie: Annotated[int, count("Ties.")]
    coups: Annotated[int, count("All coups.")]


class RoadsAnswer(Payload):
    """The roads of a shoe's coups so far."""

    shoe: ShoeId
    outcomes: Annotated[str, whole("[BPT]*", "Every coup's outcome in dealing order: B, P, T.")]
    big_road: Annotated[
        list[tuple[Literal["B", "P"], CoupNumber]], Field(description="The columns: who won, and how often in a row.")
    ]
    big_road_cells: Annotated[
        list[tuple[Column, Row, Literal["B", "P"], CoupNumber]],
        Field(description="The grid of six rows: column, row, who won, and how many ties hang on the win."),
    ]
    bead_plate: Annotated[
        list[tuple[Column, Row, Letter]], Field(description="The bead plate: column, row, outcome of every coup.")
    ]
    columns: Annotated[
        list[Annotated[str, whole("[BP-]+", "One column.")]],
        Field(description="The winners' columns, a tie being a hyphen."),
    ]
    big_eye_boy: Annotated[Derived, Field(description="The first derived road: R repeats, B breaks.")]
    small_road: Annotated[Derived, Field(description="The second derived road.")]
    cockroach_pig: Annotated[Derived, Field(description="The third derived road.")]
    sums: Annotated[Sums, Field(description="The outcomes counted.")]
