"""What an audit is of: the shoes, and the plan that is fixed before any of them is looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, func, not_, select
from sqlalchemy.orm import Session

from api.cases.regulating import Opened
from api.cases.tables import find_table, rules_of, terms_at
from api.cases.witnessing import cosigned_checkpoint
from api.db.tables import ENDED_STATES, CosignatureRow, ShoeRow, TableRow
from api.keyring import active_vkeys, retired_vkeys
from api.log import name_of_log, read_head
from api.pin import read_pinned
from audit.records.plan import Held, Plan, Stratum, make_plan
from shoe.errors import NoteError
from shoe.game.bets.record import print_terms
from shoe.proof.canonical import print_canonical
from shoe.proof.notation import sha256
from shoe.proof.tlog import Receipt, print_receipt

Kind = tuple[int, str, bytes]
"""Decks, way of shuffling, and the canonical bytes of the terms: what tells strata apart, and their order."""


def in_scope(plan: Plan) -> list[ColumnElement[bool]]:
    """The plan's shoes as conditions, whether they have ended or not."""
    return [ShoeRow.open_index < plan.size, *Opened(plan.table, plan.since, plan.until).conditions()]


def had_ended(size: int) -> ColumnElement[bool]:
    """The shoes that had ended under a head of so many records, as a condition: it stays true of them for good."""
    return and_(ShoeRow.state.in_(ENDED_STATES), ShoeRow.last_index < size)


def planned_shoes(plan: Plan, after: int) -> Select[ShoeRow]:
    """Select the plan's ended shoes whose `open` lies behind log index `after`, in the order they were opened."""
    query = select(ShoeRow).where(*in_scope(plan), had_ended(plan.size), ShoeRow.open_index > after)
    return query.order_by(ShoeRow.open_index)


def count_waiting(session: Session, plan: Plan) -> int:
    """Count the shoes of the scope that had not ended."""
    query = select(func.count()).select_from(ShoeRow)
    return session.scalar(query.where(*in_scope(plan), not_(had_ended(plan.size)))) or 0


def make_audit_plan(session: Session, scope: Opened, pinned: str | None, receipts: Sequence[Receipt] = ()) -> Plan:
    """Plan an audit of the shoes that have ended, and of receipts, under the log's head.

    `pinned` is the text of the checkpoint outside of the database, had before the session began. Looks at shoes and
    tables only: at no card. Raises Refusal for a table that isn't there, NoteError for a pinned text that is none.
    """
    if scope.table is not None:
        find_table(session, scope.table)
    head = read_head(session)
    conditions = [ShoeRow.open_index < head.size, *scope.conditions(), had_ended(head.size)]
    strata = _strata(session, conditions)
    held = None if pinned is None else read_pinned(pinned)
    return make_plan(
        log=name_of_log(session),
        size=head.size,
        root=head.root,
        vkeys=tuple(map(str, active_vkeys(session))),
        retired=tuple(map(str, retired_vkeys(session))),
        pinned=None if held is None else Held(held.size, held.root),
        cosigned=_newest_cosigned(session, head.size),
        table=scope.table,
        since=scope.start,
        until=scope.end,
        shoes=session.scalar(select(func.count()).select_from(ShoeRow).where(*conditions)) or 0,
        receipts=tuple(sha256(print_receipt(receipt).encode()) for receipt in receipts),
        strata=strata,
    )


@dataclass(slots=True)
class _Size:
    terms: Mapping[str, Any] | None
    tables: int = 0
    shoes: int = 0
    coups: int = 0


def _strata(session: Session, conditions: list[ColumnElement[bool]]) -> tuple[Stratum, ...]:
    found: dict[Kind, _Size] = {}
    query = select(ShoeRow.table_id, func.count()).where(*conditions, ShoeRow.seal.is_not(None))
    for table_id, shoes in session.execute(query.group_by(ShoeRow.table_id)):
        table = find_table(session, table_id)
        terms = terms_at(table)
        size = found.setdefault(kind_of(table), _Size(None if terms is None else print_terms(terms)))
        size.tables += 1
        size.shoes += shoes
        size.coups += shoes * judged_a_shoe(table)
    return tuple(
        Stratum(decks, shuffle, size.terms, size.tables, size.shoes, size.coups)
        for (decks, shuffle, _), size in sorted(found.items(), key=lambda each: each[0])
    )


def kind_of(table: TableRow) -> Kind:
    """Say in which stratum a table's coups are counted; raises RulesError for rules that nobody can play."""
    terms = terms_at(table)
    return table.decks, table.shuffle, b"" if terms is None else print_canonical(print_terms(terms))


def judged_a_shoe(table: TableRow) -> int:
    """Count the judged coups of each sealed shoe of a table: K, or all where each has a shuffle of its own."""
    rules = rules_of(table)
    return (rules.coups or 0) if rules.shuffle == "coup" else rules.judged_coups


def kinds_of(plan: Plan) -> dict[Kind, int]:
    """Give the place of each of a plan's strata."""
    return {
        (stratum.decks, stratum.shuffle, b"" if stratum.terms is None else print_canonical(dict(stratum.terms))): place
        for place, stratum in enumerate(plan.strata)
    }


def _newest_cosigned(session: Session, size: int) -> Held | None:
    """Find the newest checkpoint, of at most so many records, that a witness has cosigned.

    Raises NoteError, with its size, where it is stored in another form.
    """
    newest = session.scalar(select(func.max(CosignatureRow.size)).where(CosignatureRow.size <= size))
    if newest is None:
        return None
    vkeys = session.scalars(select(CosignatureRow.vkey).where(CosignatureRow.size == newest))
    try:
        root = read_pinned(cosigned_checkpoint(session, newest)).root
    except NoteError as error:
        raise NoteError(f"the cosigned checkpoint over {newest} records: {error}; see fairshoe log check") from None
    return Held(newest, root, tuple(sorted(vkeys)))
