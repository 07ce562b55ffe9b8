"""A seat's Deal, and what everyone at a table has chosen for the next coup: what a game client runs the table by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.betting import (
    Choice,
    Whose,
    decide,
    laid_on,
    line_of,
    pseudonym,
    require_undecided,
    require_window,
    stand,
    terms_for,
)
from api.cases.purses import find_purse
from api.cases.standing import shoe_in
from api.cases.window import Gathering, Window, choices_on, gather, missing_of
from api.db.tables import CredentialRow, PassRow
from api.refusals import NOT_OFFERED, NOTHING_LAID, Refusal
from api.writing import Finish, Step, Writing

State = Literal["waiting", "bets", "ready", "passed", "joined_late"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a seat chose for the next coup, with its stakes in minor units by bet; it is waited for where `missing`."""

    seat: str
    player: str | None
    state: State
    stakes: Mapping[str, int]
    missing: bool


@dataclass(frozen=True, slots=True)
class Choices:
    """What everyone at a shoe's table chose for its next coup; `may_deal` says whether that may be dealt now.

    `window` is None where no time is kept, and where nobody is at the table.
    """

    shoe: str
    number: int
    window: Window | None
    may_deal: bool
    seats: tuple[Chosen, ...]


def press_deal(shoe_id: str, by: Principal, number: int | None = None) -> Step[Choice]:
    """Put down that a seat's bets on the next coup are made: nothing of them changes any more.

    Raises Refusal as `lay_bets` does, where nothing is laid, and at a table where the player's Deal deals.
    """

    def step(writing: Writing) -> Finish[Choice]:
        standing = stand(writing, shoe_id, by, number)
        session, (shoe, terms, seat) = writing.session, standing
        if terms.pace.deal == "asked":
            raise Refusal(NOT_OFFERED, f"At table {shoe.table_id!r} a coup is dealt when it is asked for.")
        require_window(writing, standing)
        require_undecided(session, shoe, seat)
        rows = [row for row in laid_on(session, shoe) if row.seat_id == seat]
        if not rows:
            raise Refusal(NOTHING_LAID, f"The seat {seat} has no bets on coup {shoe.next_coup}: it may bet, or pass.")
        client = pseudonym(session, shoe, seat)
        decide(writing, shoe, Whose(seat, client), "deal")
        balance = find_purse(session, seat).balance_minor
        choice = Choice(shoe.id, shoe.next_coup, client, tuple(map(line_of, rows)), balance)
        return lambda _: choice

    return step


def read_choices(session: Session, shoe_id: str, time: str) -> Choices:
    """Read what everyone chose for a sealed shoe's next coup, as of a time.

    Whoever has something on the coup is listed, a seat that was revoked since too. Raises Refusal in any other state,
    and where nothing is bet.
    """
    shoe = shoe_in(session, shoe_id, "sealed")
    terms = terms_for(shoe)
    gathering, chosen = gather(session, shoe, terms, time), choices_on(session, shoe)
    stakes: dict[str, dict[str, int]] = defaultdict(dict)
    for row in laid_on(session, shoe):
        stakes[row.seat_id][row.bet] = row.stake_minor
    present = {seat.id for seat in gathering.seats}
    gone = [session.get_one(CredentialRow, seat) for seat in sorted({*stakes, *chosen} - present)]
    waits = terms.pace.deal == "all_chosen"
    missing = set(missing_of(gathering, chosen)) if waits else set()
    seats = tuple(
        Chosen(
            seat.id, seat.player, _state(gathering, seat, stakes, chosen), stakes.get(seat.id, {}), seat.id in missing
        )
        for seat in (*gathering.seats, *gone)
    )
    may_deal = time <= shoe.reveal_by and (not missing or gathering.is_closed(time))
    return Choices(shoe.id, shoe.next_coup, gathering.window, may_deal, seats)


def _state(
    gathering: Gathering, seat: CredentialRow, stakes: Mapping[str, object], chosen: Mapping[str, PassRow]
) -> State:
    choice = chosen.get(seat.id)
    if choice is not None:
        return "ready" if choice.choice == "deal" else "passed"
    if seat.id in stakes:
        return "bets"
    return "joined_late" if gathering.is_late(seat) else "waiting"
