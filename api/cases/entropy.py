"""Players' entropy: contributions, the lock that closes their list, and the seeds opened after it (protocol §4)."""

from __future__ import annotations

from operator import itemgetter

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import Principal, require_table
from api.cases.standing import contributions, count_contributions, require_before, rules_at, shoe_in
from api.db.tables import ContributionRow, LeafRow, ShoeRow
from api.refusals import (
    CONTRIBUTIONS_FULL,
    FORBIDDEN,
    SEAT_CONTRIBUTED,
    SEED_OPENED,
    SEED_WITHHELD,
    WRONG_MODE,
    Refusal,
    no_such,
)
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected
from shoe.game.rules import Rules
from shoe.proof.records import CommittedEntropy, Lock, OpenEntropy, Seed, Void, parse_as
from shoe.proof.seeds import MAX_CONTRIBUTIONS, check_seed
from shoe.proof.tlog import Receipt


def contribute(
    shoe_id: str, by: Principal, *, seed_commitment: bytes | None, seed: str | None
) -> Step[tuple[ContributionRow, Receipt]]:
    """Take a seat's contribution to an open shoe: a commitment in mode two_phase, the seed itself in mode beacon.

    Raises Refusal in any other state, after lock_by, in mode house, with 64 contributions, at another table than the
    seat's, and for a seat that has contributed already or withheld its seed from the shoe before; InputError for the
    other mode's form.
    """

    def step(writing: Writing) -> Finish[tuple[ContributionRow, Receipt]]:
        shoe = shoe_in(writing.session, shoe_id, "open")
        require_table(by, shoe.table_id)
        require_before(writing, shoe, "lock_by")
        _require_form(rules_at(shoe), committed=seed_commitment is not None)
        _require_first(writing.session, shoe, by)
        _require_opened(writing.session, shoe, by)
        position = count_contributions(writing.session, shoe)
        if position == MAX_CONTRIBUTIONS:
            raise Refusal(CONTRIBUTIONS_FULL, f"The shoe {shoe.id} has {position} contributions.")
        client = f"guest-{position}"
        link = {**writing.link(shoe), "position": position, "client": client}
        if seed_commitment is not None:
            writing.add_to(shoe, CommittedEntropy(seed_commitment=seed_commitment, **link))
        elif seed is not None:
            writing.add_to(shoe, OpenEntropy(seed=seed, **link))
        row = ContributionRow(
            shoe_id=shoe.id,
            position=position,
            client=client,
            seed_commitment=seed_commitment,
            seed=seed,
            seat_id=by.seat,
        )
        writing.insert(row)
        return lambda receipts: (row, receipts[0])

    return step


def _require_first(session: Session, shoe: ShoeRow, by: Principal) -> None:
    if _of_seat(session, shoe.id, by) is not None:
        raise Refusal(SEAT_CONTRIBUTED, f"The seat {by.seat} has contributed to the shoe {shoe.id}.")


def _require_opened(session: Session, shoe: ShoeRow, by: Principal) -> None:
    """Refuse who let the table's last shoe become void: withholding a seed must cost the next turn."""
    last = None if shoe.previous_shoe is None else session.get_one(ShoeRow, shoe.previous_shoe)
    if last is None or last.state != "void":
        return
    own = _of_seat(session, last.id, by)
    if own is None or own.seed is not None:
        return
    if parse_as(Void, session.get_one(LeafRow, last.last_index).record).reason == "seed_missing":
        raise Refusal(SEED_WITHHELD, f"The shoe {last.id} became void for the seed of the seat {by.seat}.")


def _of_seat(session: Session, shoe_id: str, by: Principal) -> ContributionRow | None:
    query = select(ContributionRow).where(ContributionRow.shoe_id == shoe_id, ContributionRow.seat_id == by.seat)
    return session.scalars(query).one_or_none()


def _require_form(rules: Rules, *, committed: bool) -> None:
    if rules.entropy == "house":
        raise Refusal(WRONG_MODE, "In mode house nobody contributes.")
    if committed != (rules.entropy == "two_phase"):
        wanted, got = ("seed_commitment", "seed") if rules.entropy == "two_phase" else ("seed", "seed_commitment")
        raise InputError(expected(f"{wanted} in mode {rules.entropy}", got, "entropy"))


def lock_shoe(shoe_id: str) -> Step[Receipt]:
    """Close the list of contributions of an open shoe; raises Refusal in any other state and after lock_by."""

    def step(writing: Writing) -> Finish[Receipt]:
        shoe = shoe_in(writing.session, shoe_id, "open")
        require_before(writing, shoe, "lock_by")
        writing.add_to(shoe, Lock(count=count_contributions(writing.session, shoe), **writing.link(shoe)))
        shoe.state = "locked"
        return itemgetter(0)

    return step


def open_seed(
    shoe_id: str, by: Principal, author: str | int | None, seed: str
) -> Step[tuple[ContributionRow, Receipt]]:
    """Open the seed that a seat committed to, in a locked shoe of mode two_phase.

    `author`, a pseudonym or a position, need not be given; a contribution from before there were seats has no other
    name. Raises Refusal in any other state or mode, after seal_by, for a contribution that isn't there, is another
    seat's or is open already, and ProofError for a seed that doesn't open the commitment.
    """

    def step(writing: Writing) -> Finish[tuple[ContributionRow, Receipt]]:
        shoe = shoe_in(writing.session, shoe_id, "locked")
        require_table(by, shoe.table_id)
        require_before(writing, shoe, "seal_by")
        row = _find(writing.session, shoe, by, author)
        if row.seed_commitment is None:
            raise Refusal(WRONG_MODE, "Only seeds committed to, in mode two_phase, are opened.")
        if row.seed is not None:
            raise Refusal(SEED_OPENED, f"The seed of {row.client}, position {row.position}, is open.")
        opened = check_seed(seed, row.seed_commitment)
        writing.add_to(shoe, Seed(position=row.position, seed=opened, **writing.link(shoe)))
        row.seed = opened
        return lambda receipts: (row, receipts[0])

    return step


def _find(session: Session, shoe: ShoeRow, by: Principal, author: str | int | None) -> ContributionRow:
    row = _of_seat(session, shoe.id, by) if author is None else _by_author(session, shoe, author)
    if row is None:
        raise no_such("contribution to this shoe by", str(by.seat if author is None else author))
    if row.seat_id not in (None, by.seat):
        raise Refusal(FORBIDDEN, f"The contribution of {row.client} is another seat's.")
    return row


def _by_author(session: Session, shoe: ShoeRow, author: str | int) -> ContributionRow | None:
    return next((row for row in contributions(session, shoe) if author in (row.client, row.position)), None)
