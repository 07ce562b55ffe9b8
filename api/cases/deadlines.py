"""Deadlines act by themselves: a shoe whose next step is past its time is void (protocol §4, §8).

An open shoe is never locked by itself, however many have contributed: only its operator knows whether all have spoken.
What comes after a deadline is refused at once; the void comes with the keeper's next round, or when someone asks.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import bindparam, exists, or_, select
from sqlalchemy.orm import Session

from api.cases.ending import Reason, void_shoe
from api.cases.standing import rules_at
from api.db.tables import LIVE_STATES, ContributionRow, ShoeRow
from api.refusals import READ_ONLY, Refusal
from api.service import Service
from api.world import print_time


class Overdue(NamedTuple):
    """A live shoe whose next step is past its deadline, and the reason that is true of its void."""

    shoe_id: str
    reason: Reason


def overdue(session: Session, now: str) -> list[Overdue]:
    """List the shoes that are overdue at a time, a record's: one query over live shoes, at most one a table.

    `seed_missing` where a committed seed was not opened, `beacon_missing` where a beacon was waited for, else
    `deadline`. Source: protocol §8, `void`.
    """
    # Written out and in no order, so that both databases see that the index of live shoes is the way to them.
    live = ShoeRow.state.in_(bindparam("live", LIVE_STATES, expanding=True, literal_execute=True))
    past = or_(
        (ShoeRow.state == "open") & (ShoeRow.lock_by < now),
        (ShoeRow.state == "locked") & (ShoeRow.seal_by < now),
        (ShoeRow.state == "sealed") & (ShoeRow.reveal_by < now),
    )
    lacking = exists().where(ContributionRow.shoe_id == ShoeRow.id, ContributionRow.seed.is_(None))
    rows = session.execute(select(ShoeRow, lacking).where(live, past))
    return sorted(Overdue(shoe.id, _reason(shoe, lacks_seed)) for shoe, lacks_seed in rows)


def _reason(shoe: ShoeRow, lacks_seed: bool) -> Reason:
    mode = rules_at(shoe).entropy
    if shoe.state == "locked" and mode == "beacon":
        return "beacon_missing"
    if shoe.state == "locked" and mode == "two_phase" and lacks_seed:
        return "seed_missing"
    return "deadline"


def void_overdue(service: Service) -> int:
    """Void every shoe that is overdue now, each in a step of its own; give their number.

    Who was there first, a client or another keeper, has done it: its refusal is passed over. Raises Refusal where
    nothing may be signed; any other failure is raised once all shoes have had their turn.
    """
    with service.reading() as session:
        found = overdue(session, print_time(service.world.now()))
    voided, failures = 0, []
    for shoe in found:
        try:
            service.write(void_shoe(service, shoe.shoe_id, shoe.reason))
            voided += 1
        except Refusal as refusal:
            if refusal.kind is READ_ONLY:
                raise
        except Exception as error:  # noqa: BLE001  # one shoe that can't be voided must not keep the others open
            failures.append(error)
    if failures:
        raise failures[0]
    return voided
