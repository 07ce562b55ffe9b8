"""A store with as many coups as one likes: real deals of the kernel's shuffles, put down as rows past the log.

Whoever counts rows finds what a service of years would have; nothing of it can be verified.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import insert, select, text, update

from api.db.tables import BookRow, CoupRow, LogHeadRow, ShoeRow
from audit.kernel import orders
from shoe.game.dealing import deal_shoe
from shoe.game.rules import Rules, parse_rules
from tests.api.installation import Installation
from tests.api.tampering import full_rights

KEY = b"the key of many coups: 32 bytes!"
TIME = "2026-01-31T12:00:00.000000Z"
BEHIND = 10**9
"""A log index behind all that a test's log holds."""

_AT_ONCE = 500


def add_shoes(house: Installation, table: str, shoes: int) -> int:
    """Add revealed shoes to a table that has a book, dealt whole; give the number of their coups.

    The head says a size that covers them all. What a database notes of its tables by itself, once they have grown, it
    is made to note.
    """
    rules = parse_rules(house.get(f"/tables/{table}")["rules"])
    with house.service.reading() as session:
        book = session.scalars(select(BookRow.root).where(BookRow.table_id == table)).first()
    coups = 0
    for first in range(0, shoes, _AT_ONCE):
        count = min(_AT_ONCE, shoes - first)
        dealt = list(_deal(rules, first, count))
        with full_rights(house) as connection:
            connection.execute(insert(ShoeRow), [_shoe(table, book, first + at, each) for at, each in enumerate(dealt)])
            rows = [row for at, each in enumerate(dealt) for row in _rows(table, rules, first + at, each)]
            connection.execute(insert(CoupRow), rows)
        coups += len(rows)
    with full_rights(house) as connection:
        connection.execute(update(LogHeadRow).values(size=2 * BEHIND))
        connection.execute(text("ANALYZE"))
    return coups


def _deal(rules: Rules, first: int, count: int) -> Iterator[list[Any]]:
    for order in orders(rules, KEY, range(first, first + count)):
        cards = [int(card) % 52 for card in order]
        yield list(deal_shoe(rules, cards, rules.size - (rules.cut.highest if rules.cut else 0)))


def _id(shoe: int) -> str:
    return f"019c1000-0000-7000-8000-{shoe:012x}"


def _shoe(table: str, book: bytes | None, shoe: int, dealt: list[Any]) -> dict[str, Any]:
    at = BEHIND + 100 * shoe
    times = dict.fromkeys(("opened", "lock_by", "seal_by", "reveal_by"), TIME)
    return {
        **times,
        "id": _id(shoe),
        "table_id": table,
        "book_root": book,
        "seed_index": 1000 + shoe,
        "commitment": bytes(32),
        "book_proof": b"",
        "previous_shoe": None,
        "open_index": at,
        "beacon_round": None,
        "state": "revealed",
        "seal": bytes(32),
        "next_seq": 0,
        "last_hash": bytes(32),
        "last_index": at + 99,
        "next_coup": len(dealt),
        "position": 0,
        "cut_drawn": 0,
        "in_row": 0,
    }


def _rows(table: str, rules: Rules, shoe: int, dealt: list[Any]) -> Iterator[dict[str, Any]]:
    for each in dealt:
        coup = each.coup
        yield {
            "shoe_id": _id(shoe),
            "number": each.number,
            "table_id": table,
            "time": TIME,
            "log_index": BEHIND + 100 * shoe + 1 + each.number,
            "rule": coup.rule,
            "outcome": coup.outcome,
            "player_total": coup.player_total,
            "banker_total": coup.banker_total,
            "cards_used": len(coup.cards),
            "judged": int(each.number < rules.judged_coups),
        }
