"""The log and the order of commitments, looked at first: heads, openings that the store hides, seeds passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from sqlalchemy import exists, func, not_, select
from sqlalchemy.orm import Session

from api.audits.planning import had_ended, in_scope
from api.beside import describe
from api.cases.regulating import EndedBook, list_ended_books
from api.cases.witnessing import cosigned_checkpoint
from api.db.tables import BookRow, LeafRow, ShoeRow
from api.log import prove_extension
from audit.records.plan import Held, Plan
from audit.records.wrong import Fault, Looked
from shoe.errors import FairshoeError, expected
from shoe.proof.checkpoint import check_checkpoint, cosignatures
from shoe.proof.merkle import check_consistency
from shoe.proof.note import parse_vkey
from shoe.proof.records import Open, parse_as

MOST: Final = 1000
"""So many hidden shoes, or passed-over seeds, are looked up in full: the first of them."""

_BOOKS_AT_ONCE: Final = 100


def check_head(session: Session, plan: Plan) -> Looked:
    """Check the plan's head: its signature, and that it extends the pinned checkpoint and the newest cosigned one."""
    looked, vkeys = Looked(), [parse_vkey(vkey) for vkey in plan.vkeys]
    found: list[str] = []
    try:
        head = check_checkpoint(cosigned_checkpoint(session, plan.size), vkeys, plan.log)
        if (head.size, head.root) != (plan.size, plan.root):
            found.append(expected(f"the root {plan.root.hex()} of {plan.size} records", head.root.hex(), "checkpoint"))
    except (FairshoeError, ValueError) as error:
        found.append(f"the checkpoint over {plan.size} records: {describe(error)}")
    looked.at["head"] = 1
    for name, held in (("pinned", plan.pinned), ("cosigned", plan.cosigned)):
        if held is not None:
            looked.at["head"] += 1
            found.extend(_held_faults(session, plan, name, held))
    for wrong in found:
        looked.add(Fault("head", wrong))
    return looked


def _held_faults(session: Session, plan: Plan, name: str, held: Held) -> Iterator[str]:
    if held.size > plan.size:
        yield expected(f"a log of {held.size} records or more, as the {name} checkpoint has", plan.size, "head")
        return
    try:
        path = prove_extension(session, held.size, plan.size)
        check_consistency(held.size, held.root, plan.size, plan.root, path)
    except (FairshoeError, KeyError) as error:
        yield f"the log of {plan.size} records does not extend the {name} checkpoint over {held.size}: {_said(error)}"
    try:
        if held.witnesses:
            witnesses = [parse_vkey(vkey) for vkey in held.witnesses]
            signed = {name for name, _ in cosignatures(cosigned_checkpoint(session, held.size), witnesses)}
            for lacking in sorted({key.name for key in witnesses} - signed):
                yield f"the checkpoint over {held.size} records: expected a cosignature of {lacking}, got none"
    except FairshoeError as error:
        yield f"the cosigned checkpoint over {held.size} records: {describe(error)}"


def _said(error: Exception) -> str:
    return "nodes of the tree are missing" if isinstance(error, KeyError) else describe(error)


def check_openings(session: Session, plan: Plan) -> Looked:
    """Find shoes that the log opened and the store does not know, and those whose end it does not know."""
    looked = Looked()
    for fault in (*_unknown(session, plan), *_unended(session, plan)):
        looked.add(fault)
    return looked


def _unknown(session: Session, plan: Plan) -> Iterator[Fault]:
    # The index over shoe and seq holds all that decides which these are.
    known = exists().where(ShoeRow.id == LeafRow.shoe, ShoeRow.open_index == LeafRow.log_index)
    query = select(LeafRow.log_index, LeafRow.record).where(
        LeafRow.seq == 0, LeafRow.shoe.is_not(None), LeafRow.log_index < plan.size, not_(known)
    )
    for index, record in session.execute(query.order_by(LeafRow.log_index).limit(MOST)):
        try:
            opened = parse_as(Open, record)
        except FairshoeError as error:
            yield Fault("openings", f"the first record of a shoe can't be read: {describe(error)}", index=index)
            continue
        elsewhere = plan.table not in (None, opened.table)
        if elsewhere or opened.time < (plan.since or "") or (plan.until is not None and opened.time >= plan.until):
            continue
        detail = f"the log opened this shoe at table {opened.table}, seed {opened.index} of its book; no row has it"
        yield Fault("openings", detail, opened.shoe, index=index)


def _unended(session: Session, plan: Plan) -> Iterator[Fault]:
    query = (
        select(ShoeRow.id, ShoeRow.state, LeafRow.type, LeafRow.log_index)
        .join(LeafRow, LeafRow.shoe == ShoeRow.id)
        .where(*in_scope(plan), not_(had_ended(plan.size)))
        .where(LeafRow.type.in_(("reveal", "void")), LeafRow.log_index < plan.size)
    )
    for shoe, state, ended, index in session.execute(query.order_by(LeafRow.log_index).limit(MOST)):
        detail = expected(f"an ended shoe, for the log has its {ended}", state, "state")
        yield Fault("openings", detail, shoe, index=index)


def check_books(session: Session, plan: Plan) -> tuple[Looked, list[dict[str, Any]]]:
    """Find seeds that were passed over, and list the ended books of the plan's table, each with its unused seeds."""
    looked, listed = Looked(), list[dict[str, Any]]()
    books = [BookRow.log_index < plan.size, *([] if plan.table is None else [BookRow.table_id == plan.table])]
    looked.at["books"] = session.scalar(select(func.count()).select_from(BookRow).where(*books)) or 0
    for fault in _passed_over(session, plan):
        looked.add(fault)
    try:
        listed.extend(map(_print_book, _ended_books(session, plan)))
    except KeyError as error:
        (root,) = error.args
        looked.add(Fault("books", f"the book {root.hex()} has ended, but the log has no end of it"))
    return looked, listed


def _print_book(ended: EndedBook) -> dict[str, Any]:
    return {
        "root": ended.book.root.hex(),
        "table": ended.book.table_id,
        "size": ended.book.size,
        "end_index": ended.end_index,
        "unused": ended.unused_count,
    }


def _ended_books(session: Session, plan: Plan) -> Iterator[EndedBook]:
    after = -1
    while page := list_ended_books(session, plan.table, after, _BOOKS_AT_ONCE):
        yield from (ended for ended in page if ended.end_index < plan.size)
        after = page[-1].book.log_index


def _passed_over(session: Session, plan: Plan) -> Iterator[Fault]:
    seed, opened = ShoeRow.seed_index, ShoeRow.open_index
    before = func.lag(seed, 1, -1).over(partition_by=ShoeRow.book_root, order_by=opened)
    mine = [opened < plan.size, *([] if plan.table is None else [ShoeRow.table_id == plan.table])]
    used = select(ShoeRow.id, seed, opened, before.label("before")).where(*mine).subquery()
    query = select(used).where(used.c.seed_index != used.c.before + 1).order_by(used.c.open_index).limit(MOST)
    for shoe, index, place, last in session.execute(query):
        yield Fault("books", expected(f"the seed of index {last + 1} next", index, "seed index"), shoe, index=place)
