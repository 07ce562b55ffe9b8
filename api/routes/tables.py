"""Tables, their seed books, and the opening of their shoes."""

from __future__ import annotations

import json
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from api.access import ANYONE, CLIENT, OPERATOR
from api.answers import BookPage, Logged, OpenedShoe, PublishedBook, TableAnswer, TablePage, TableShown
from api.cases.books import end_book, list_books, publish_book, published_master
from api.cases.opening import Plan, open_shoe
from api.cases.tables import find_table, last_shoe, list_tables, live_shoe, make_table
from api.db.tables import BookRow, TableRow
from api.payloads import NewBook, NewShoe, NewTable, NumberedQuery, PageQuery
from api.refusals import BOOK_ENDED, NO_BEACON, NO_BOOK, NO_NEXT_BOOK, NO_SANDBOX, SHOE_LIVE, TABLE_EXISTS
from api.routes.endpoint import Resource
from api.routes.exchange import answer, commit, page, print_logged, read_cursor, service

blueprint = Resource("tables", "/v1/tables")


@blueprint.post("", access=OPERATOR, body=NewTable, answers={201: TableAnswer}, refuses=(TABLE_EXISTS,), claimed="may")
def create_table(asked: NewTable) -> Response:
    """Make a table, by a preset's rules or its own; they never change."""
    step = make_table(
        service(),
        asked.id,
        preset=asked.preset,
        rules=asked.rules,
        overrides=asked.overrides,
        guests=asked.guests,
    )
    return commit(step, _print_table)


@blueprint.get("", access=ANYONE, query=PageQuery, answers={200: TablePage})
def show_tables(asked: PageQuery) -> Response:
    """List the tables by id."""
    with service().reading() as session:
        rows = list_tables(session, asked.after, asked.limit)
    return answer(page("tables", [_print_table(row) for row in rows], asked.limit, "id"))


@blueprint.get("/{table_id}", access=ANYONE, answers={200: TableShown})
def show_table(table_id: str) -> Response:
    """Show a table, its live shoe and its last."""
    with service().reading() as session:
        row = find_table(session, table_id)
        return answer({**_print_table(row), **_print_shoes(session, row)})


@blueprint.post(
    "/{table_id}/books",
    access=OPERATOR,
    body=NewBook,
    answers={201: PublishedBook},
    refuses=(NO_SANDBOX,),
    claimed="may",
)
def publish(table_id: str, asked: NewBook) -> Response:
    """Publish a seed book: the root of the server seeds of a table's next shoes."""
    return commit(
        publish_book(service(), table_id, asked.size, None if asked.master is None else bytes.fromhex(asked.master)),
        lambda made: print_logged(made[0], root=made[1].hex(), size=asked.size),
    )


@blueprint.get("/{table_id}/books", access=ANYONE, query=NumberedQuery, answers={200: BookPage})
def show_books(table_id: str, asked: NumberedQuery) -> Response:
    """List a table's seed books in the order they are used; a sandbox shows their masters."""
    with service().reading() as session:
        rows = list_books(session, table_id, read_cursor(asked.after), asked.limit)
    return answer(page("books", [_print_book(row) for row in rows], asked.limit, "index"))


@blueprint.post(
    "/{table_id}/books/{root}/end",
    access=OPERATOR,
    answers={201: Logged},
    refuses=(BOOK_ENDED, SHOE_LIVE, NO_NEXT_BOOK),
    claimed="may",
)
def end_early(table_id: str, root: str) -> Response:
    """End a seed book and publish its master."""
    return commit(end_book(service(), table_id, root), print_logged)


@blueprint.post(
    "/{table_id}/shoes",
    access=OPERATOR | CLIENT,
    body=NewShoe,
    answers={201: OpenedShoe},
    refuses=(SHOE_LIVE, NO_BOOK, NO_BEACON),
    claimed="must",
)
def open_next(table_id: str, asked: NewShoe) -> Response:
    """Open the table's next shoe: its server seed is committed to before anybody's else is known."""
    plan = Plan(asked.lock_in_s, asked.seal_in_s, asked.reveal_in_s, asked.beacon_round)
    return commit(open_shoe(service(), table_id, plan), lambda opened: print_logged(opened[1], shoe=opened[0]))


def _print_table(row: TableRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "preset": row.preset,
        "rules": json.loads(row.rules),
        "guests": bool(row.guests),
        "created": row.created,
    }


def _print_shoes(session: Session, row: TableRow) -> dict[str, Any]:
    live, last = live_shoe(session, row.id), last_shoe(session, row.id)
    return {"live_shoe": live and live.id, "last_shoe": last and last.id}


def _print_book(row: BookRow) -> dict[str, Any]:
    return {
        "root": row.root.hex(),
        "size": row.size,
        "index": row.log_index,
        "next_index": row.next_index,
        "state": row.state,
        "master": published_master(service(), row),
    }
