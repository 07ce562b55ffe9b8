"""Dealing: one coup a step; the coup that ends the shoe reveals it too (protocol §6, §7, §8)."""

from __future__ import annotations

from dataclasses import dataclass

from api.cases.coups import coup_row, progress_of
from api.cases.custody import deck_of
from api.cases.ending import reveal_ended
from api.cases.standing import require_before, rules_at, shoe_in
from api.service import Service
from api.writing import Finish, Step, Writing
from shoe.game.dealing import advance, next_coup
from shoe.proof.records import Coup
from shoe.proof.tlog import Receipt


@dataclass(frozen=True, slots=True)
class Dealt:
    """A coup dealt: its number and receipt, and its cards' audit paths in dealing order.

    `reveal` is the receipt of the shoe's `reveal` record where this coup was its last.
    """

    number: int
    receipt: Receipt
    paths: tuple[tuple[bytes, ...], ...]
    reveal: Receipt | None


def deal_coup(service: Service, shoe_id: str) -> Step[Dealt]:
    """Deal the next coup of a sealed shoe; where the rules say it was the last, reveal the shoe with it.

    Raises Refusal in any other state, and after reveal_by: a shoe that can't be revealed any more deals no more.
    """

    def step(writing: Writing) -> Finish[Dealt]:
        session = writing.session
        shoe = shoe_in(session, shoe_id, "sealed")
        require_before(writing, shoe, "reveal_by")
        rules, progress = rules_at(shoe), progress_of(shoe)
        hand = progress.number if rules.shuffle == "coup" else 0
        deck = deck_of(service, session, shoe, rules, hand=hand)
        dealt = next_coup(progress, deck.cards, hand)
        after = advance(rules, deck.cut_position, progress, len(dealt.coup.cards))
        shown = deck.openings[dealt.start : dealt.start + len(dealt.coup.cards)]
        goes_on = rules.shuffle == "coup" and not after.ended
        following = deck_of(service, session, shoe, rules, hand=hand + 1) if goes_on else None
        record = Coup(
            number=dealt.number,
            hand=hand,
            cards=shown,
            player_total=dealt.coup.player_total,
            banker_total=dealt.coup.banker_total,
            outcome=dealt.coup.outcome,
            rule=dealt.coup.rule,
            next_deck_root=following.root if following else None,
            **writing.link(shoe),
        )
        index = writing.add_to(shoe, record)
        writing.insert(coup_row(shoe, rules, dealt, writing.time, index))
        shoe.next_coup, shoe.position, shoe.cut_drawn = after.number, after.position, int(after.cut_drawn)
        if after.ended:
            reveal_ended(service, writing, shoe)
        paths = tuple(deck.tree.inclusion(opening.position) for opening in shown)
        return lambda receipts: Dealt(dealt.number, receipts[0], paths, receipts[1] if after.ended else None)

    return step
