"""The end of a shoe: revealed where its rules end it, void everywhere else; its seed is public either way."""

from __future__ import annotations

from operator import itemgetter
from typing import Any, Literal

from sqlalchemy.orm import Session

from api.cases.books import end_used_up
from api.cases.coups import coup_row, progress_of
from api.cases.custody import deck_of, seed_of
from api.cases.settling import return_stakes, wagers_on
from api.cases.standing import contributions, rules_at, shoe_in
from api.db.tables import BookRow, ShoeRow
from api.log import make_receipts
from api.refusals import NOT_ENDED, REASON_UNTRUE, Refusal
from api.service import Service
from api.writing import Finish, Step, Writing
from shoe.game.dealing import DealtCoup, advance, next_coup
from shoe.game.rules import Rules
from shoe.proof.records import Reveal, Void
from shoe.proof.seal import BookRef
from shoe.proof.tlog import Receipt

Reason = Literal["seed_missing", "beacon_missing", "deadline", "operator"]


def reveal_ended(service: Service, writing: Writing, shoe: ShoeRow) -> None:
    """Reveal a shoe whose last coup is dealt, and end its book with it where that is used up.

    Part of the transaction that deals the last coup, so that no shoe stays unrevealed because its client went away.
    """
    writing.add_to(shoe, Reveal(**_end(service, writing, shoe)))
    shoe.state = "revealed"
    end_used_up(service, writing, shoe.book_root)


def read_reveal(session: Session, shoe_id: str) -> Receipt:
    """Give the receipt of a revealed shoe's `reveal`; raises Refusal where the shoe has not come to its end."""
    shoe = shoe_in(session, shoe_id, "sealed", "revealed")
    if shoe.state == "sealed":
        raise Refusal(NOT_ENDED, f"The shoe {shoe.id} goes on after {shoe.next_coup} coups; its last reveals it.")
    return make_receipts(session, [shoe.last_index])[0]


def void_shoe(service: Service, shoe_id: str, reason: Reason) -> Step[Receipt]:
    """Give up a live shoe for a reason that is true of it; publish its seed, and give back what is staked on it.

    Of a sealed shoe the coups up to K are counted as they would have been dealt: who could void a shoe for what it
    dealt must not bend the statistics. Raises Refusal for an ended shoe and a reason that isn't true.
    """

    def step(writing: Writing) -> Finish[Receipt]:
        session = writing.session
        shoe = shoe_in(session, shoe_id, "open", "locked", "sealed")
        rules = rules_at(shoe)
        _require_true(writing, shoe, rules, reason)
        previous = None if shoe.previous_shoe is None else session.get_one(ShoeRow, shoe.previous_shoe)
        in_row = 1 + (0 if previous is None else previous.in_row)
        wagers = wagers_on(session, shoe)
        undealt = _undealt(service, session, shoe, rules) if shoe.state == "sealed" and rules.shuffle == "shoe" else []
        writing.add_to(shoe, Void(reason=reason, in_row=in_row, **_end(service, writing, shoe)))
        # A row of an ended shoe is written once: no query may come between, for it would write what there is so far.
        shoe.state, shoe.in_row = "void", in_row
        if wagers is not None:
            return_stakes(wagers)
        for dealt in undealt:
            writing.insert(coup_row(shoe, rules, dealt, writing.time, None))
        end_used_up(service, writing, shoe.book_root)
        return itemgetter(0)

    return step


def _end(service: Service, writing: Writing, shoe: ShoeRow) -> dict[str, Any]:
    book = writing.session.get_one(BookRow, shoe.book_root)
    return {
        "server_seed": seed_of(service, writing.session, shoe),
        "coups": shoe.next_coup,
        "book": BookRef(book.root, book.size),
        "index": shoe.seed_index,
        **writing.link(shoe),
    }


def _require_true(writing: Writing, shoe: ShoeRow, rules: Rules, reason: Reason) -> None:
    """Refuse a reason that a verifier would not accept: protocol §8, as `shoe.proof.verify` checks it."""
    unlocked, unsealed = shoe.state == "open", shoe.state in ("open", "locked")
    seal_late = unsealed and writing.time > shoe.seal_by
    late = (unlocked and writing.time > shoe.lock_by) or seal_late or writing.time > shoe.reveal_by
    waits = shoe.state == "locked" and seal_late
    lacking = any(row.seed is None for row in contributions(writing.session, shoe))
    holds = {
        "operator": True,
        "deadline": late,
        "seed_missing": waits and lacking and rules.entropy == "two_phase",
        "beacon_missing": waits and rules.entropy == "beacon",
    }
    if not holds[reason]:
        raise Refusal(REASON_UNTRUE, f"{reason} is not true of shoe {shoe.id}, {shoe.state} at {writing.time}.")


def _undealt(service: Service, session: Session, shoe: ShoeRow, rules: Rules) -> list[DealtCoup]:
    """Deal the coups up to K that a sealed shoe would still have dealt."""
    deck, progress, coups = deck_of(service, session, shoe, rules), progress_of(shoe), []
    while progress.number < rules.judged_coups:
        coups.append(next_coup(progress, deck.cards))
        progress = advance(rules, deck.cut_position, progress, len(coups[-1].coup.cards))
    return coups
