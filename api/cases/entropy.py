"""Players' entropy: contributions, the lock that closes their list, and the seeds opened after it (protocol §4)."""

from __future__ import annotations

from operator import itemgetter

from sqlalchemy.orm import Session

from api.cases.standing import contributions, count_contributions, require_before, rules_at, shoe_in
from api.db.tables import ContributionRow, ShoeRow
from api.refusals import CONTRIBUTIONS_FULL, SEED_OPENED, WRONG_MODE, Refusal, no_such
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected
from shoe.game.rules import Rules
from shoe.proof.records import CommittedEntropy, Lock, OpenEntropy, Seed
from shoe.proof.seeds import MAX_CONTRIBUTIONS, check_seed
from shoe.proof.tlog import Receipt


def contribute(
    shoe_id: str, *, seed_commitment: bytes | None, seed: str | None
) -> Step[tuple[ContributionRow, Receipt]]:
    """Take a contribution to an open shoe: a commitment in mode two_phase, the seed itself in mode beacon.

    Raises Refusal in any other state, after lock_by, in mode house and with 64 contributions; InputError for the
    other mode's form.
    """

    def step(writing: Writing) -> Finish[tuple[ContributionRow, Receipt]]:
        shoe = shoe_in(writing.session, shoe_id, "open")
        require_before(writing, shoe, "lock_by")
        _require_form(rules_at(shoe), committed=seed_commitment is not None)
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
            shoe_id=shoe.id, position=position, client=client, seed_commitment=seed_commitment, seed=seed
        )
        writing.insert(row)
        return lambda receipts: (row, receipts[0])

    return step


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


def open_seed(shoe_id: str, author: str | int, seed: str) -> Step[tuple[ContributionRow, Receipt]]:
    """Open the seed that `author`, a pseudonym or a position, committed to, in a locked shoe of mode two_phase.

    Raises Refusal in any other state or mode, after seal_by, for a contribution that isn't there or is open
    already, and ProofError for a seed that doesn't open the commitment.
    """

    def step(writing: Writing) -> Finish[tuple[ContributionRow, Receipt]]:
        shoe = shoe_in(writing.session, shoe_id, "locked")
        require_before(writing, shoe, "seal_by")
        row = _find(writing.session, shoe, author)
        if row.seed_commitment is None:
            raise Refusal(WRONG_MODE, "Only seeds committed to, in mode two_phase, are opened.")
        if row.seed is not None:
            raise Refusal(SEED_OPENED, f"The seed of {row.client}, position {row.position}, is open.")
        opened = check_seed(seed, row.seed_commitment)
        writing.add_to(shoe, Seed(position=row.position, seed=opened, **writing.link(shoe)))
        row.seed = opened
        return lambda receipts: (row, receipts[0])

    return step


def _find(session: Session, shoe: ShoeRow, author: str | int) -> ContributionRow:
    for row in contributions(session, shoe):
        if author in (row.client, row.position):
            return row
    raise no_such("contribution to this shoe by", str(author))
