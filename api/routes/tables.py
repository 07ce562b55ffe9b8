"""Tables, their seed books, and the opening of their shoes."""

from __future__ import annotations

import json
from typing import Any

from flask import Blueprint, Response
from sqlalchemy.orm import Session

from api.cases.books import end_book, list_books, publish_book
from api.cases.opening import Plan, open_shoe
from api.cases.tables import find_table, last_shoe, list_tables, live_shoe, make_table
from api.db.tables import BookRow, TableRow
from api.payloads import NewBook, NewShoe, NewTable, NoBody, PageQuery
from api.routes.exchange import answer, commit, page, print_logged, read_body, read_cursor, read_query, service

blueprint = Blueprint("tables", __name__, url_prefix="/v1/tables")


@blueprint.post("")
def create() -> Response:
    """Make a table."""
    asked = read_body(NewTable)
    step = make_table(service(), asked.id, preset=asked.preset, rules=asked.rules, overrides=asked.overrides)
    return commit(step, _print_table)


@blueprint.get("")
def list_all() -> Response:
    """List the tables by id."""
    query = read_query(PageQuery)
    with service().reading() as session:
        rows = list_tables(session, query.after, query.limit)
    return answer(page("tables", [_print_table(row) for row in rows], query.limit, "id"))


@blueprint.get("/<table_id>")
def show(table_id: str) -> Response:
    """Show a table, its live shoe and its last."""
    with service().reading() as session:
        row = find_table(session, table_id)
        return answer({**_print_table(row), **_print_shoes(session, row)})


@blueprint.post("/<table_id>/books")
def publish(table_id: str) -> Response:
    """Publish a seed book."""
    asked = read_body(NewBook)
    return commit(
        publish_book(service(), table_id, asked.size),
        lambda made: print_logged(made[0], root=made[1].hex(), size=asked.size),
    )


@blueprint.get("/<table_id>/books")
def list_published(table_id: str) -> Response:
    """List a table's seed books in the order they are used."""
    query = read_query(PageQuery)
    with service().reading() as session:
        rows = list_books(session, table_id, read_cursor(query.after), query.limit)
    return answer(page("books", [_print_book(row) for row in rows], query.limit, "index"))


@blueprint.post("/<table_id>/books/<root>/end")
def end(table_id: str, root: str) -> Response:
    """End a seed book and publish its master."""
    read_body(NoBody)
    return commit(end_book(service(), table_id, root), print_logged)


@blueprint.post("/<table_id>/shoes")
def open_next(table_id: str) -> Response:
    """Open the table's next shoe."""
    asked = read_body(NewShoe)
    plan = Plan(asked.lock_in_s, asked.seal_in_s, asked.reveal_in_s, asked.beacon_round)
    return commit(open_shoe(service(), table_id, plan), lambda opened: print_logged(opened[1], shoe=opened[0]))


def _print_table(row: TableRow) -> dict[str, Any]:
    return {"id": row.id, "preset": row.preset, "rules": json.loads(row.rules), "created": row.created}


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
    }
