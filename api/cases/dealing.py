"""Dealing: one coup a step, its bets closed before it and settled with it; the last one reveals the shoe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.cases.betting import lay_carried
from api.cases.coups import coup_row, progress_of
from api.cases.custody import deck_of
from api.cases.ending import reveal_ended
from api.cases.repeating import lay_preserved
from api.cases.settling import Settled, close_bets, settle_bets, wagers_on
from api.cases.standing import require_before, rules_at, shoe_in
from api.cases.window import require_chosen
from api.db.tables import ShoeRow
from api.service import Service
from api.writing import Finish, Step, Writing
from shoe.game.dealing import advance, next_coup
from shoe.game.tableau import Coup as Played
from shoe.proof.records import Coup
from shoe.proof.tlog import Receipt


@dataclass(frozen=True, slots=True)
class Dealt:
    """A coup dealt: its number and receipt, and its cards' audit paths in dealing order.

    `reveal` is the receipt of the shoe's `reveal` record where this coup was its last, `bets` that of the record that
    closed the coup's bets where there were any; `settlement` says what became of each.
    """

    number: int
    receipt: Receipt
    paths: tuple[tuple[bytes, ...], ...]
    reveal: Receipt | None
    bets: Receipt | None
    settlement: tuple[Settled, ...]


@dataclass(frozen=True, slots=True)
class Turned:
    """A coup as its step dealt it, before there are receipts.

    `closed` says that a record closed its bets, `index` is where the log holds the coup's own.
    """

    number: int
    index: int
    coup: Played
    paths: tuple[tuple[bytes, ...], ...]
    closed: bool
    ended: bool
    settlement: tuple[Settled, ...]


def deal_coup(
    service: Service, shoe_id: str, carried: Sequence[tuple[str, Sequence[tuple[str, int]]]] = ()
) -> Step[Dealt]:
    """Close the bets on the next coup of a sealed shoe, deal it, and settle them; the last one reveals the shoe too.

    `carried` are bets that are laid before all are closed, by seat: each by name and stake. Raises Refusal in any other
    state, after reveal_by (a shoe that can't be revealed any more deals no more), while the table waits for its
    players, and for carried bets as `lay_carried` does, BetError too.
    """

    def step(writing: Writing) -> Finish[Dealt]:
        shoe = shoe_in(writing.session, shoe_id, "sealed")
        require_before(writing, shoe, "reveal_by")
        if carried:
            lay_carried(service.world, writing, shoe, carried)
        require_chosen(writing.session, shoe, writing.time)
        turned = turn(service, writing, shoe)

        def finish(receipts: tuple[Receipt, ...]) -> Dealt:
            bets, (receipt, *rest) = receipts[: turned.closed], receipts[turned.closed :]
            reveal = rest[0] if turned.ended else None
            closed = bets[0] if bets else None
            return Dealt(turned.number, receipt, turned.paths, reveal, closed, turned.settlement)

        return finish

    return step


def turn(service: Service, writing: Writing, shoe: ShoeRow, *, by_itself: str | None = None) -> Turned:
    """Deal a sealed shoe's next coup with all that belongs to it, once nothing stands against that.

    `by_itself` is a seat whose bets are laid by whoever asks for the coup, and not preserved.
    """
    session = writing.session
    rules, progress, wagers = rules_at(shoe), progress_of(shoe), wagers_on(session, shoe)
    hand = progress.number if rules.shuffle == "coup" else 0
    deck = deck_of(service, session, shoe, rules, hand=hand)
    dealt = next_coup(progress, deck.cards, hand)
    after = advance(rules, deck.cut_position, progress, len(dealt.coup.cards))
    shown = deck.openings[dealt.start : dealt.start + len(dealt.coup.cards)]
    goes_on = rules.shuffle == "coup" and not after.ended
    following = deck_of(service, session, shoe, rules, hand=hand + 1) if goes_on else None
    if wagers is not None:
        close_bets(writing, shoe, wagers)
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
    settled: tuple[Settled, ...] = ()
    if wagers is not None:
        settled = settle_bets(service.world, writing, shoe, wagers, dealt.coup, ended=after.ended)
    if after.ended:
        reveal_ended(service, writing, shoe)
    elif wagers is not None:
        lay_preserved(service.world, writing, shoe, wagers, but=by_itself)
    paths = tuple(deck.tree.inclusion(opening.position) for opening in shown)
    return Turned(dealt.number, index, dealt.coup, paths, wagers is not None, after.ended, settled)
