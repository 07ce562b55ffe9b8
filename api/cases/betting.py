"""Bets on the next coup, until it is dealt: laid, passed, withdrawn; stakes leave the purse as they are laid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session

from api.access import Principal, require_table
from api.cases.limits import own_limit_minor
from api.cases.purses import find_bank, find_purse
from api.cases.standing import find_shoe, require_before, rules_at, shoe_in
from api.cases.tables import terms_at
from api.db.tables import BetRow, ContributionRow, PassRow, ShoeRow
from api.refusals import (
    BANK_TOO_SMALL,
    BET_LAID,
    COUP_PASSED,
    NO_BETS,
    NOTHING_LAID,
    PURSE_TOO_SMALL,
    Refusal,
)
from api.service import Service
from api.world import World
from api.writing import Finish, Step, Writing
from shoe.errors import BetError, ImpossibleError, expected
from shoe.game.bets.layout import accept_stake, accept_stakes, check_bank
from shoe.game.bets.terms import Terms
from shoe.proof.records import BetLine

SALT_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Choice:
    """What a seat chose for the next coup: bets that were accepted or withdrawn, or none, and its purse after it."""

    shoe: str
    number: int
    client: str
    lines: tuple[BetLine, ...]
    balance_minor: int


def lay_bets(service: Service, shoe_id: str, by: Principal, asked: Sequence[tuple[str, int]]) -> Step[Choice]:
    """Take a seat's bets on the next coup of a sealed shoe, by name and stake: all of them, or none.

    Raises Refusal in any other state, after reveal_by, at another table than the seat's or one that takes no bets, for
    a bet that is laid already, for a seat that passed, and where purse or bank do not suffice; BetError for what the
    table's terms or the player's own limit don't take.
    """

    def step(writing: Writing) -> Finish[Choice]:
        session = writing.session
        shoe, terms, seat = _standing(writing, shoe_id, by)
        laid = laid_on(session, shoe)
        if _passed(session, shoe, seat) is not None:
            raise Refusal(COUP_PASSED, f"The seat {seat} passed coup {shoe.next_coup}.")
        own_limit = own_limit_minor(session, seat, shoe.table_id)
        stakes = _accept(terms, [row for row in laid if row.seat_id == seat], asked, own_limit)
        purse, total = find_purse(session, seat), sum(stakes.values())
        if total > purse.balance_minor:
            raise Refusal(PURSE_TOO_SMALL, f"The purse holds {purse.balance_minor}, the stakes are {total}.")
        _require_bank(session, shoe, terms, [*({row.bet: row.stake_minor} for row in laid), stakes])
        whose, first = Whose(seat, pseudonym(session, shoe, seat)), _next_position(session, shoe)
        rows = [
            new_bet(service.world, shoe, (shoe.next_coup, position), whose, bet, time=writing.time, carried=0)
            for position, bet in enumerate(stakes.items(), first)
        ]
        for row in rows:
            writing.insert(row)
        purse.balance_minor -= total
        # Who deals in the same transaction asks for bets without a flush.
        session.flush()
        choice = Choice(shoe.id, shoe.next_coup, whose.client, tuple(map(line_of, rows)), purse.balance_minor)
        return lambda _: choice

    return step


def pass_coup(shoe_id: str, by: Principal) -> Step[Choice]:
    """Let a seat sit the next coup out; raises Refusal as `lay_bets` does, and for a seat that has bets on it."""

    def step(writing: Writing) -> Finish[Choice]:
        session = writing.session
        shoe, _, seat = _standing(writing, shoe_id, by)
        if any(row.seat_id == seat for row in laid_on(session, shoe)):
            raise Refusal(BET_LAID, f"The seat {seat} has bets on coup {shoe.next_coup}.")
        if _passed(session, shoe, seat) is not None:
            raise Refusal(COUP_PASSED, f"The seat {seat} passed coup {shoe.next_coup}.")
        client = pseudonym(session, shoe, seat)
        row = session.get(PassRow, (shoe.id, shoe.next_coup, seat))
        if row is None:
            row = PassRow(shoe_id=shoe.id, number=shoe.next_coup, seat_id=seat, client=client)
        row.time, row.state = writing.time, "stands"
        writing.insert(row)
        session.flush()
        choice = Choice(shoe.id, shoe.next_coup, client, (), find_purse(session, seat).balance_minor)
        return lambda _: choice

    return step


def withdraw(shoe_id: str, by: Principal) -> Step[Choice]:
    """Take back all that a seat has on the next coup, a pass too, but for stakes that the table keeps after a tie.

    Raises Refusal as `lay_bets` does, and where there is nothing to take back.
    """

    def step(writing: Writing) -> Finish[Choice]:
        session = writing.session
        shoe, terms, seat = _standing(writing, shoe_id, by)
        fixed = terms.on_tie == "stays"
        rows = [row for row in laid_on(session, shoe) if row.seat_id == seat and not (fixed and row.carried)]
        passed = _passed(session, shoe, seat)
        if not rows and passed is None:
            raise Refusal(NOTHING_LAID, f"The seat {seat} has nothing to take back from coup {shoe.next_coup}.")
        writing.touched = True
        purse = find_purse(session, seat)
        for row in rows:
            row.state = "withdrawn"
            purse.balance_minor += row.stake_minor
        if passed is not None:
            passed.state = "withdrawn"
        session.flush()
        client = rows[0].client if passed is None else passed.client
        choice = Choice(shoe.id, shoe.next_coup, client, tuple(map(line_of, rows)), purse.balance_minor)
        return lambda _: choice

    return step


def laid_on(session: Session, shoe: ShoeRow) -> list[BetRow]:
    """List the bets that lie on a shoe's next coup, in order of acceptance: one query, no flush before it."""
    query = select(BetRow).where(BetRow.shoe_id == shoe.id, BetRow.number == shoe.next_coup, BetRow.state == "laid")
    with session.no_autoflush:
        return list(session.scalars(query.order_by(BetRow.position)))


class Whose(NamedTuple):
    """Whose a bet is: the seat, and its pseudonym in the shoe."""

    seat: str
    client: str


def new_bet(
    world: World, shoe: ShoeRow, place: tuple[int, int], whose: Whose, bet: tuple[str, int], *, time: str, carried: int
) -> BetRow:
    """Make a bet's row with a salt of its own: `place` is coup and position, `bet` its name and stake."""
    number, position = place
    name, stake = bet
    return BetRow(
        shoe_id=shoe.id,
        number=number,
        position=position,
        seat_id=whose.seat,
        client=whose.client,
        bet=name,
        stake_minor=stake,
        salt=world.random_bytes(SALT_BYTES).hex(),
        time=time,
        carried=carried,
        state="laid",
    )


def line_of(row: BetRow) -> BetLine:
    """Give a bet's line, as the root over its coup's bets covers it (protocol §8)."""
    return BetLine(
        bet=row.bet, client=row.client, number=row.number, salt=row.salt, shoe=row.shoe_id, stake=row.stake_minor
    )


def pseudonym(session: Session, shoe: ShoeRow, seat: str) -> str:
    """Name a seat for a shoe: as its contribution does, else as its first choice did, else by the next number."""
    contributed = select(ContributionRow.client).where(
        ContributionRow.shoe_id == shoe.id, ContributionRow.seat_id == seat
    )
    known = session.scalars(contributed).one_or_none()
    if known is not None:
        return known
    chosen = union(*(select(row.seat_id, row.client).where(row.shoe_id == shoe.id) for row in (BetRow, PassRow)))
    clients = {seat_id: client for seat_id, client in session.execute(chosen)}  # noqa: C416  # rows are no pairs
    numbered = sum(client.startswith("seat-") for client in clients.values())
    return clients.get(seat, f"seat-{numbered}")


def _standing(writing: Writing, shoe_id: str, by: Principal) -> tuple[ShoeRow, Terms, str]:
    """Find a shoe that the seat may bet on now, with its table's terms."""
    if by.seat is None:
        raise ImpossibleError("who bets is a seat")
    require_table(by, find_shoe(writing.session, shoe_id).table_id)
    shoe = shoe_in(writing.session, shoe_id, "sealed")
    terms = terms_at(shoe.table)
    if terms is None:
        raise Refusal(NO_BETS, f"The rules of table {shoe.table_id!r} say nothing of bets.")
    require_before(writing, shoe, "reveal_by")
    return shoe, terms, by.seat


def _passed(session: Session, shoe: ShoeRow, seat: str) -> PassRow | None:
    row = session.get(PassRow, (shoe.id, shoe.next_coup, seat))
    return row if row is not None and row.state == "stands" else None


def _accept(
    terms: Terms, own: Sequence[BetRow], asked: Sequence[tuple[str, int]], own_limit_minor: int | None
) -> dict[str, int]:
    """Take stakes beside those that the seat has laid; give the new ones as they count.

    The player's own limit binds the new ones alone: what lay before it was lowered, or stayed after a tie, stays.
    """
    twice = [name for name, times in Counter(name for name, _ in asked).items() if times > 1]
    if twice:
        raise BetError(expected("each bet once", ", ".join(twice), "bets"))
    before = {row.bet: row.stake_minor for row in own}
    again = [name for name, _ in asked if name in before]
    if again:
        raise Refusal(BET_LAID, f"The seat has {', '.join(again)} on this coup already.")
    accept_stakes(terms, {**before, **dict(asked)})
    return {name: accept_stake(terms, name, stake, own_limit_minor) for name, stake in asked}


def _require_bank(session: Session, shoe: ShoeRow, terms: Terms, stakes: Sequence[dict[str, int]]) -> None:
    bank = find_bank(session, shoe.table_id)
    if bank is None:
        return
    try:
        check_bank(terms, bank.balance_minor, stakes, rules_at(shoe).decks)
    except BetError as error:
        raise Refusal(BANK_TOO_SMALL, f"{error}.") from None


def _next_position(session: Session, shoe: ShoeRow) -> int:
    query = select(func.count()).where(BetRow.shoe_id == shoe.id, BetRow.number == shoe.next_coup)
    return int(session.scalar(query) or 0)
