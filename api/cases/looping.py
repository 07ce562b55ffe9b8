"""Loop play: many coups unattended, a seat's bets laid anew for each; what its purse lacks, the house lends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from api.cases.betting import (
    Standing,
    laid_on,
    place,
    pseudonym,
    require_bare,
    require_seat,
    require_undecided,
    terms_for,
)
from api.cases.dealing import Turned, turn
from api.cases.purses import find_purse
from api.cases.standing import require_before, shoe_in
from api.refusals import BANK_TOO_SMALL, NOT_OFFERED, Refusal
from api.service import Service
from api.writing import Finish, Step, Writing

Reason = Literal["coups", "shoe", "bank"]


@dataclass(frozen=True, slots=True)
class Round:
    """One coup of a loop: where the log holds it, who won, and what the seat staked and won or lost, in minor units."""

    number: int
    index: int
    outcome: str
    staked_minor: int
    net_minor: int


@dataclass(frozen=True, slots=True)
class Looped:
    """What a loop played: its coups in order, and the seat's money after it.

    `reason` says why it ended: all `coups` were dealt, the `shoe` came to its end, or the `bank` can't pay the bets.
    """

    shoe: str
    seat: str
    client: str
    rounds: tuple[Round, ...]
    reason: Reason
    balance_minor: int
    owed_minor: int


def play_loop(
    service: Service, shoe_id: str, seat_id: str, asked: Sequence[tuple[str, int]], coups: int
) -> Step[Looped]:
    """Deal up to so many coups of a sealed shoe, each with a seat's bets laid anew and settled, as if dealt singly.

    What the purse lacks is lent. A stake that stays after a tie is the next coup's bet. Raises Refusal as for bets,
    where the table does not offer it, for a seat that is not good or has a choice on the next coup, and where the bank
    can't pay the first coup's bets; BetError for what the table's terms don't take.
    """

    def step(writing: Writing) -> Finish[Looped]:
        session = writing.session
        standing = _stand(writing, shoe_id, seat_id)
        shoe = standing.shoe
        client = pseudonym(session, shoe, seat_id)
        rounds: list[Round] = []
        reason: Reason = "coups"
        while len(rounds) < coups:
            try:
                _lay(service, writing, standing, asked, client)
            except Refusal as refused:
                if refused.kind is not BANK_TOO_SMALL or not rounds:
                    raise
                reason = "bank"
                break
            turned = turn(service, writing, shoe, by_itself=seat_id)
            rounds.append(_round(turned, seat_id))
            if turned.ended:
                reason = "shoe"
                break
        purse = find_purse(session, seat_id)
        looped = Looped(shoe.id, seat_id, client, tuple(rounds), reason, purse.balance_minor, purse.owed_minor)
        return lambda _: looped

    return step


def _stand(writing: Writing, shoe_id: str, seat_id: str) -> Standing:
    session = writing.session
    shoe = shoe_in(session, shoe_id, "sealed")
    terms = terms_for(shoe)
    require_before(writing, shoe, "reveal_by")
    if not terms.pace.loop or terms.pace.deal != "asked":
        # Nobody plays by himself where a coup waits for everyone.
        raise Refusal(NOT_OFFERED, f"Table {shoe.table_id!r} does not offer to play many coups unattended.")
    require_seat(session, shoe, seat_id, writing.time)
    require_undecided(session, shoe, seat_id)
    require_bare(session, shoe, seat_id)
    return Standing(shoe, terms, seat_id)


def _lay(service: Service, writing: Writing, standing: Standing, asked: Sequence[tuple[str, int]], client: str) -> None:
    laid = laid_on(writing.session, standing.shoe)
    stayed = {row.bet for row in laid if row.seat_id == standing.seat}
    fresh = [(bet, stake) for bet, stake in asked if bet not in stayed]
    if fresh:
        place(service.world, writing, standing, laid, fresh, client=client, lends=True)


def _round(turned: Turned, seat: str) -> Round:
    own = [each.settlement for each in turned.settlement if each.seat == seat]
    staked, net = sum(each.stake_minor for each in own), sum(each.net_minor for each in own)
    return Round(turned.number, turned.index, turned.coup.outcome, staked, net)
