"""Tables: made once, with rules that can be played, and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.db.tables import LIVE_STATES, BankRow, ShoeRow, TableRow
from api.refusals import TABLE_EXISTS, Refusal, no_such
from api.service import Service
from api.world import make_id
from api.writing import Finish, Step, Writing
from shoe.errors import RulesError, expected
from shoe.game.bets.record import terms_of
from shoe.game.bets.terms import Terms
from shoe.game.houses import house, vary
from shoe.game.rules import Rules, parse_rules
from shoe.proof.canonical import parse_object, print_canonical

MAX_RULES_BYTES: Final = 8192
"""A seal holds the rules and up to 64 seeds, and no record may have over 65,535 bytes."""


def make_table(
    service: Service,
    table_id: str | None,
    *,
    preset: str | None = None,
    rules: Mapping[str, Any] | None = None,
    overrides: Mapping[str, Any] | None = None,
    guests: bool = False,
) -> Step[TableRow]:
    """Make a table of a preset's rules with some keys overridden, or of whole rules; open to guests or not.

    A bank that can be broken begins with what its rules say. Raises RulesError for rules that can't be played or
    printed, for bets that can't be paid, and for guests in mode two_phase, Refusal where the id is taken.
    """
    played = parse_rules(rules) if preset is None else vary(house(preset).rules, overrides or {})
    terms = terms_of(played)
    if guests and played.entropy == "two_phase":
        # Whoever may come back under another name could withhold seed after seed.
        raise RulesError(expected("beacon or house at a table open to guests", "two_phase", "rules.entropy"))
    printed = print_canonical(played.to_json())
    if len(printed) > MAX_RULES_BYTES:
        raise RulesError(expected(f"rules of at most {MAX_RULES_BYTES} bytes", len(printed), "rules"))
    made_id = table_id or make_id(service.world)

    def step(writing: Writing) -> Finish[TableRow]:
        if writing.session.get(TableRow, made_id) is not None:
            raise Refusal(TABLE_EXISTS, f"The table {made_id!r} exists.")
        row = TableRow(
            id=made_id,
            preset=preset,
            rules=printed.decode(),
            decks=played.decks,
            shuffle=played.shuffle,
            created=writing.time,
            guests=int(guests),
        )
        writing.insert(row)
        if terms is not None and terms.money.bank_minor is not None:
            # The bank refers to the table, and the session orders rows by relationships alone.
            writing.session.flush()
            writing.insert(BankRow(table_id=made_id, balance_minor=terms.money.bank_minor))
        return lambda _: row

    return step


def list_tables(session: Session, after: str | None = None, limit: int | None = None) -> list[TableRow]:
    """List tables by id, from the first after a cursor; all of them without a limit."""
    return list(session.scalars(select(TableRow).where(TableRow.id > (after or "")).order_by(TableRow.id).limit(limit)))


def find_table(session: Session, table_id: str) -> TableRow:
    """Find a table; raises Refusal where there is none."""
    row = session.get(TableRow, table_id)
    if row is None:
        raise no_such("table", table_id)
    return row


def rules_of(row: TableRow) -> Rules:
    """Read a table's rules."""
    return _parsed(row.rules)


def terms_at(row: TableRow) -> Terms | None:
    """Read a table's terms; None where it takes no bets."""
    return _terms(row.rules)


@lru_cache(maxsize=1024)
def _terms(rules: str) -> Terms | None:
    try:
        return terms_of(_parsed(rules))
    except RulesError:
        # A table from before there were terms may carry further keys of its own meaning.
        return None


@lru_cache(maxsize=1024)
def _parsed(rules: str) -> Rules:
    return parse_rules(parse_object(rules.encode()))


def live_shoe(session: Session, table_id: str) -> ShoeRow | None:
    """Find the one shoe of a table that is neither revealed nor void."""
    query = select(ShoeRow).where(ShoeRow.table_id == table_id, ShoeRow.state.in_(LIVE_STATES))
    return session.scalars(query).one_or_none()


def last_shoe(session: Session, table_id: str) -> ShoeRow | None:
    """Find the shoe that a table opened last."""
    query = select(ShoeRow).where(ShoeRow.table_id == table_id).order_by(ShoeRow.open_index.desc()).limit(1)
    return session.scalars(query).one_or_none()
