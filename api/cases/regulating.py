"""What a regulator asks: how often shoes are given up, and which seeds of ended books were never used."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from api.cases.tables import find_table
from api.db.tables import BookRow, LeafRow, ShoeRow
from shoe.proof.records import BookEnd, Void, parse_as

_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Opened:
    """Which shoes are meant: those opened at a table (any, without one), from a time on, before a time."""

    table: str | None = None
    start: str | None = None
    end: str | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """The scope as conditions on shoes."""
        found: list[ColumnElement[bool]] = []
        if self.table is not None:
            found.append(ShoeRow.table_id == self.table)
        if self.start is not None:
            found.append(ShoeRow.opened >= self.start)
        if self.end is not None:
            found.append(ShoeRow.opened < self.end)
        return found


@dataclass(frozen=True, slots=True)
class VoidShoe:
    """A shoe that was given up, with the record that says so and its log index."""

    shoe: ShoeRow
    index: int
    record: Void


@dataclass(frozen=True, slots=True)
class Voids:
    """How the shoes of a scope stand now, by state and the void ones by reason too; the longest run of voids.

    `longest` is the void shoe with the most voids in a row up to it at its table, the earliest of several. Voids just
    before the scope count into the run, as they do in the records.
    """

    states: Counter[str]
    reasons: Counter[str]
    longest: VoidShoe | None

    @property
    def rate(self) -> Fraction | None:
        """The void shoes among those that have ended, which live ones have not; None where none has."""
        ended = self.states["revealed"] + self.states["void"]
        return Fraction(self.states["void"], ended) if ended else None


def count_voids(session: Session, scope: Opened) -> Voids:
    """Count how the shoes of a scope ended; raises Refusal for a table that isn't there.

    Reads the record of every void shoe of the scope, in flat memory.
    """
    if scope.table is not None:
        find_table(session, scope.table)
    by_state = select(ShoeRow.state, func.count()).where(*scope.conditions()).group_by(ShoeRow.state)
    states = Counter({state: count for state, count in session.execute(by_state)})  # noqa: C416  # rows are no pairs
    reasons: Counter[str] = Counter()
    records = _void(scope).with_only_columns(LeafRow.record)
    for record in session.scalars(records, execution_options={"yield_per": _AT_ONCE}):
        reasons[parse_as(Void, record).reason] += 1
    longest = _void(scope).order_by(ShoeRow.in_row.desc(), ShoeRow.open_index).limit(1)
    return Voids(states, reasons, next(iter(_read_void(session, longest)), None))


def list_voids(session: Session, scope: Opened, after: int, limit: int) -> list[VoidShoe]:
    """List a scope's void shoes in the order they were opened, from the first whose `open` lies over index `after`."""
    query = _void(scope).where(ShoeRow.open_index > after).order_by(ShoeRow.open_index).limit(limit)
    return _read_void(session, query)


def _void(scope: Opened) -> Select[ShoeRow, bytes]:
    there = LeafRow.log_index == ShoeRow.last_index
    return select(ShoeRow, LeafRow.record).join(LeafRow, there).where(ShoeRow.state == "void", *scope.conditions())


def _read_void(session: Session, query: Select[ShoeRow, bytes]) -> list[VoidShoe]:
    return [VoidShoe(shoe, shoe.last_index, parse_as(Void, record)) for shoe, record in session.execute(query)]


Range = tuple[int, int]
"""The first and the last of indices that follow on each other."""


@dataclass(frozen=True, slots=True)
class EndedBook:
    """A book whose master is published: the log index of its `book_end`, and the seed indices that no shoe opened."""

    book: BookRow
    end_index: int
    unused: tuple[Range, ...]

    @property
    def unused_count(self) -> int:
        """How many seeds were never used."""
        return sum(last - first + 1 for first, last in self.unused)


def list_ended_books(session: Session, table_id: str | None, after: int, limit: int) -> list[EndedBook]:
    """List ended books, of one table or all, by log index from the first over `after`, with what was not used of each.

    What was used is what shoes say, not what the book says. Raises Refusal for a table that isn't there.
    """
    query = select(BookRow).where(BookRow.state == "ended", BookRow.log_index > after)
    if table_id is not None:
        find_table(session, table_id)
        query = query.where(BookRow.table_id == table_id)
    books = session.scalars(query.order_by(BookRow.log_index).limit(limit)).all()
    ends, unused = ends_of(session, books), _unused(session, books)
    return [EndedBook(book, ends[book.root], tuple(unused[book.root])) for book in books]


def ends_of(session: Session, books: Sequence[BookRow]) -> dict[bytes, int]:
    """Find the log index of each book's end, by the bytes of all `book_end` records behind the first book."""
    if not books:
        return {}
    wanted = {book.root for book in books}
    # Records outside of a shoe are few, and the index over shoe and seq finds them.
    query = select(LeafRow.log_index, LeafRow.record).where(
        LeafRow.shoe.is_(None), LeafRow.type == BookEnd.type, LeafRow.log_index > books[0].log_index
    )
    rows = session.execute(query, execution_options={"yield_per": _AT_ONCE})
    ended = ((parse_as(BookEnd, record).root, index) for index, record in rows)
    return {root: index for root, index in ended if root in wanted}


def _unused(session: Session, books: Sequence[BookRow]) -> defaultdict[bytes, list[Range]]:
    """Find the gaps between the seed indices that shoes opened of each book, the one behind the last included."""
    found: defaultdict[bytes, list[Range]] = defaultdict(list)
    following = {book.root: 0 for book in books}
    for root, index, before in _jumps(session, [book.root for book in books]):
        if index > before + 1:
            found[root].append((before + 1, index - 1))
        following[root] = index + 1
    for book in books:
        if following[book.root] < book.size:
            found[book.root].append((following[book.root], book.size - 1))
    return found


def _jumps(session: Session, roots: Iterable[bytes]) -> Iterator[tuple[bytes, int, int]]:
    """Give the used seed indices of books that don't follow on the one before, and each book's last: few rows."""
    root, index = ShoeRow.book_root, ShoeRow.seed_index
    used = (
        select(
            root,
            index,
            func.lag(index, 1, -1).over(partition_by=root, order_by=index).label("before"),
            func.lead(index).over(partition_by=root, order_by=index).label("behind"),
        )
        .where(root.in_(list(roots)))
        .subquery()
    )
    query = (
        select(used.c.book_root, used.c.seed_index, used.c.before)
        .where((used.c.seed_index > used.c.before + 1) | used.c.behind.is_(None))
        .order_by(used.c.book_root, used.c.seed_index)
    )
    yield from ((book, seed, before) for book, seed, before in session.execute(query))
