"""Seed books: published before their first shoe, used in order, ended by publishing their master (protocol §3)."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.cases.tables import find_table, live_shoe
from api.db.tables import BookRow
from api.refusals import BOOK_ENDED, NO_BOOK, NO_NEXT_BOOK, NO_SANDBOX, SHOE_LIVE, Refusal, no_such
from api.service import Service
from api.vault import of_book
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected
from shoe.proof.records import Book, BookEnd
from shoe.proof.seeds import SEED_BYTES, seed_book
from shoe.proof.tlog import Receipt
from shoe.proof.verify.fairness import is_sandbox

_ROOT: Final = re.compile(r"[0-9a-f]{64}")


def publish_book(
    service: Service, table_id: str, size: int, master: bytes | None = None
) -> Step[tuple[Receipt, bytes]]:
    """Make a book of `size` seeds from fresh entropy and log its root (given too); the master stays in the vault.

    A book whose last shoe ended before this one was there ends behind it in the log, in the same transaction. A master
    (32 bytes) from outside is for a sandbox, where shoes must come out as a test wants them: raises Refusal elsewhere,
    and InputError for one that was used.
    """
    if master is not None and not is_sandbox(service.log.origin):
        raise Refusal(NO_SANDBOX, f"The log {service.log.origin} is no sandbox's.")
    master = master or service.world.random_bytes(SEED_BYTES)
    root = seed_book(master, size).root

    def step(writing: Writing) -> Finish[tuple[Receipt, bytes]]:
        find_table(writing.session, table_id)
        if writing.session.get(BookRow, root) is not None:
            raise InputError(expected("a master that no book of this size was made of", "one that was", "master"))
        waiting = _waiting(writing.session, table_id)
        index = writing.add(Book(table=table_id, root=root, size=size, **writing.stamp()))
        book = BookRow(
            root=root,
            table_id=table_id,
            size=size,
            sealed_master=service.vault.seal(master, of_book(table_id, root)),
            log_index=index,
            next_index=0,
            state="published",
        )
        writing.insert(book)
        for used_up in waiting:
            _end(service, writing, used_up)
        return lambda receipts: (receipts[0], root)

    return step


def list_books(session: Session, table_id: str, after: int, limit: int) -> list[BookRow]:
    """List a table's books in the order of their log indices, from the first over `after`."""
    find_table(session, table_id)
    query = select(BookRow).where(BookRow.table_id == table_id, BookRow.log_index > after)
    return list(session.scalars(query.order_by(BookRow.log_index).limit(limit)))


def published_master(service: Service, book: BookRow) -> str | None:
    """Give a book's master as hex where it is published: in a sandbox, whose seeds are no secret."""
    if not is_sandbox(service.log.origin):
        return None
    return service.vault.open(book.sealed_master, of_book(book.table_id, book.root)).hex()


def book_in_use(session: Session, table_id: str) -> BookRow:
    """Find the book that the table's next seed comes from; raises Refusal where every seed is used or dead."""
    query = select(BookRow).where(
        BookRow.table_id == table_id, BookRow.state == "published", BookRow.next_index < BookRow.size
    )
    found = session.scalars(query.order_by(BookRow.log_index).limit(1)).one_or_none()
    if found is None:
        raise Refusal(NO_BOOK, f"Every seed of the books of table {table_id!r} is used, or none was published.")
    return found


def end_book(service: Service, table_id: str, root: str) -> Step[Receipt]:
    """End a book and publish its master: used up, or early while the table has no live shoe.

    Raises Refusal for a book that isn't the table's or is ended, for a live shoe, and where no next book is logged.
    """

    def step(writing: Writing) -> Finish[Receipt]:
        book = _find_book(writing.session, table_id, root)
        if book.state == "ended":
            raise Refusal(BOOK_ENDED, f"The book {root} is ended.")
        live = live_shoe(writing.session, table_id)
        if live is not None and (live.book_root == book.root or book.next_index < book.size):
            raise Refusal(SHOE_LIVE, f"The shoe {live.id} is {live.state}; this book's master can't be published yet.")
        if not _has_next(writing.session, book):
            raise Refusal(NO_NEXT_BOOK, f"No book of table {table_id!r} was published after {root}.")
        _end(service, writing, book)
        return itemgetter(0)

    return step


def end_used_up(service: Service, writing: Writing, book_root: bytes) -> None:
    """End a book with the last of its shoes, if its seeds are used and the next book is published.

    Part of the transaction that ends the shoe; where the next book is missing, `publish_book` does it later.
    """
    book = writing.session.get_one(BookRow, book_root)
    if book.next_index == book.size and _has_next(writing.session, book):
        _end(service, writing, book)


def _waiting(session: Session, table_id: str) -> list[BookRow]:
    """Find the books that wait for the next one to end: every seed used, and no shoe of theirs live."""
    live = live_shoe(session, table_id)
    query = select(BookRow).where(
        BookRow.table_id == table_id, BookRow.state == "published", BookRow.next_index == BookRow.size
    )
    used_up = session.scalars(query.order_by(BookRow.log_index))
    return [book for book in used_up if live is None or live.book_root != book.root]


def _end(service: Service, writing: Writing, book: BookRow) -> None:
    master = open_master(service, book)
    writing.add(BookEnd(table=book.table_id, root=book.root, master=master, **writing.stamp()))
    book.state = "ended"


def open_master(service: Service, book: BookRow) -> bytes:
    """Take a book's master out of the vault: 32 bytes that must not be shown before the book's end."""
    return service.vault.open(book.sealed_master, of_book(book.table_id, book.root))


def _find_book(session: Session, table_id: str, root: str) -> BookRow:
    find_table(session, table_id)
    found = session.get(BookRow, bytes.fromhex(root)) if _ROOT.fullmatch(root) else None
    if found is None or found.table_id != table_id:
        raise no_such("book of this table with the root", root)
    return found


def _has_next(session: Session, book: BookRow) -> bool:
    later = select(BookRow.root).where(
        BookRow.table_id == book.table_id, BookRow.state == "published", BookRow.log_index > book.log_index
    )
    return session.scalars(later.limit(1)).first() is not None
