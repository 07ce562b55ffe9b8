"""Where a shoe stands: what a step needs before it may be taken."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.cases.tables import rules_of
from api.db.tables import ContributionRow, ShoeRow
from api.refusals import DEADLINE_PASSED, WRONG_STATE, Refusal, no_such
from api.writing import Writing
from shoe.game.rules import Rules

State = Literal["open", "locked", "sealed", "revealed", "void"]
Deadline = Literal["lock_by", "seal_by", "reveal_by"]


def find_shoe(session: Session, shoe_id: str) -> ShoeRow:
    """Find a shoe; raises Refusal where there is none."""
    # Rows by their key need no flush before: several steps of a transaction then write theirs in one statement.
    with session.no_autoflush:
        shoe = session.get(ShoeRow, shoe_id)
    if shoe is None:
        raise no_such("shoe", shoe_id)
    return shoe


def shoe_in(session: Session, shoe_id: str, *states: State) -> ShoeRow:
    """Find a shoe that stands in one of some states; raises Refusal where there is none, or it stands elsewhere."""
    shoe = find_shoe(session, shoe_id)
    if shoe.state not in states:
        raise Refusal(WRONG_STATE, f"The shoe {shoe.id} is {shoe.state}; this needs one that is {' or '.join(states)}.")
    return shoe


def require_before(writing: Writing, shoe: ShoeRow, deadline: Deadline) -> None:
    """Refuse a step after its deadline: a verifier would not accept it (protocol §10, deadlines)."""
    by: str = getattr(shoe, deadline)
    if writing.time > by:
        raise Refusal(DEADLINE_PASSED, f"{deadline} of shoe {shoe.id} was {by}; it is {writing.time}.")


def rules_at(shoe: ShoeRow) -> Rules:
    """Read the rules that a shoe is played by: its table's."""
    return rules_of(shoe.table)


def contributions(session: Session, shoe: ShoeRow) -> list[ContributionRow]:
    """List a shoe's contributions in order of position."""
    query = select(ContributionRow).where(ContributionRow.shoe_id == shoe.id)
    return list(session.scalars(query.order_by(ContributionRow.position)))


def count_contributions(session: Session, shoe: ShoeRow) -> int:
    """Count a shoe's contributions."""
    query = select(func.count()).select_from(ContributionRow).where(ContributionRow.shoe_id == shoe.id)
    return session.scalar(query) or 0
