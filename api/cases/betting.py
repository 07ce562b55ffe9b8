"""Bets on the next coup, until it is dealt: laid, passed, withdrawn; stakes leave the purse as they are laid.

A choice may name the coup that it is meant for: it is refused where that is not the next one any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session

from api.access import Principal, require_table
from api.cases.limits import own_limit_minor
from api.cases.purses import credit, find_bank, find_purse
from api.cases.standing import find_shoe, require_before, rules_at, shoe_in
from api.cases.tables import terms_at
from api.cases.window import require_open
from api.credentials import is_good
from api.db.tables import BetRow, ContributionRow, CredentialRow, PassRow, ShoeRow
from api.refusals import (
    ANOTHER_COUP,
    BANK_TOO_SMALL,
    BET_LAID,
    BETS_LOCKED,
    COUP_PASSED,
    NO_BETS,
    NOTHING_LAID,
    PURSE_TOO_SMALL,
    Refusal,
    no_such,
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


def lay_bets(
    service: Service, shoe_id: str, by: Principal, asked: Sequence[tuple[str, int]], number: int | None = None
) -> Step[Choice]:
    """Take a seat's bets on the next coup of a sealed shoe, by name and stake: all of them, or none.

    Raises Refusal in any other state, after reveal_by, at another table than the seat's or one that takes no bets, for
    another coup than the next, outside of its window, for a bet that is laid already, for a seat that chose Deal or
    Pass, and where purse or bank do not suffice; BetError for what the table's terms or the player's own limit don't
    take.
    """

    def step(writing: Writing) -> Finish[Choice]:
        standing = stand(writing, shoe_id, by, number)
        require_window(writing, standing)
        return lay(service.world, writing, standing, asked)

    return step


def lay(world: World, writing: Writing, standing: Standing, asked: Sequence[tuple[str, int]]) -> Finish[Choice]:
    """Lay a seat's bets in its step, once its time is looked at; raises as `lay_bets` does."""
    session, shoe, seat = writing.session, standing.shoe, standing.seat
    require_undecided(session, shoe, seat)
    client = pseudonym(session, shoe, seat)
    rows = place(world, writing, standing, laid_on(session, shoe), asked, client=client)
    balance = find_purse(session, seat).balance_minor
    choice = Choice(shoe.id, shoe.next_coup, client, tuple(map(line_of, rows)), balance)
    return lambda _: choice


def place(
    world: World,
    writing: Writing,
    standing: Standing,
    laid: Sequence[BetRow],
    asked: Sequence[tuple[str, int]],
    *,
    client: str,
    lends: bool = False,
) -> list[BetRow]:
    """Put a seat's bets down beside all that are `laid`, and take their stakes from its purse: all of them, or none.

    Every way to bet comes by here. `client` is the seat's pseudonym; `lends` lets the house lend what the purse lacks.
    Raises Refusal and BetError as `lay_bets` does, before anything is changed.
    """
    session, (shoe, terms, seat) = writing.session, standing
    stakes = _accept(session, standing, [row for row in laid if row.seat_id == seat], asked)
    purse, total = find_purse(session, seat), sum(stakes.values())
    lacking = max(0, total - purse.balance_minor)
    if lacking and not lends:
        raise Refusal(PURSE_TOO_SMALL, f"The purse holds {purse.balance_minor}, the stakes are {total}.")
    _require_bank(session, shoe, terms, [*({row.bet: row.stake_minor} for row in laid), stakes])
    whose = Whose(seat, client)
    rows = [
        new_bet(world, shoe, (shoe.next_coup, position), whose, bet, time=writing.time, carried=0)
        for position, bet in enumerate(stakes.items(), _next_position(session, shoe))
    ]
    for row in rows:
        writing.insert(row)
    purse.owed_minor += lacking
    purse.balance_minor += lacking - total
    # Who deals in the same transaction asks for bets without a flush.
    session.flush()
    return rows


def lay_carried(
    world: World, writing: Writing, shoe: ShoeRow, carried: Sequence[tuple[str, Sequence[tuple[str, int]]]]
) -> None:
    """Lay bets that came with the asking for the coup, by seat: all of all seats, or none; where Deal is chosen, it is.

    Raises Refusal and BetError as `lay_bets` does, naming the seat, and for a seat that is none of the table's.
    """
    terms = terms_for(shoe)
    for seat, asked in carried:
        try:
            _lay_for(world, writing, Standing(shoe, terms, seat), asked)
        except Refusal as error:
            raise Refusal(error.kind, f"Bets of seat {seat}: {error}") from None
        except BetError as error:
            raise BetError(f"seat {seat}: {error}") from None


def _lay_for(world: World, writing: Writing, standing: Standing, asked: Sequence[tuple[str, int]]) -> None:
    session, (shoe, terms, seat) = writing.session, standing
    require_seat(session, shoe, seat, writing.time)
    require_window(writing, standing)
    require_undecided(session, shoe, seat)
    client = pseudonym(session, shoe, seat)
    place(world, writing, standing, laid_on(session, shoe), asked, client=client)
    if terms.pace.deal == "all_chosen":
        decide(writing, shoe, Whose(seat, client), "deal")


def pass_coup(shoe_id: str, by: Principal, number: int | None = None) -> Step[Choice]:
    """Let a seat sit the next coup out; raises Refusal as `lay_bets` does, and for a seat that has bets on it."""

    def step(writing: Writing) -> Finish[Choice]:
        standing = stand(writing, shoe_id, by, number)
        session, (shoe, _, seat) = writing.session, standing
        require_window(writing, standing)
        require_undecided(session, shoe, seat)
        require_bare(session, shoe, seat)
        client = pseudonym(session, shoe, seat)
        decide(writing, shoe, Whose(seat, client), "pass")
        choice = Choice(shoe.id, shoe.next_coup, client, (), find_purse(session, seat).balance_minor)
        return lambda _: choice

    return step


def decide(writing: Writing, shoe: ShoeRow, whose: Whose, choice: Literal["pass", "deal"]) -> None:
    """Put down that a seat chose Pass or Deal for the next coup, anew where it took a pass back."""
    row = writing.session.get(PassRow, (shoe.id, shoe.next_coup, whose.seat))
    if row is None:
        row = PassRow(shoe_id=shoe.id, number=shoe.next_coup, seat_id=whose.seat, client=whose.client)
    row.time, row.state, row.choice = writing.time, "stands", choice
    writing.insert(row)
    writing.session.flush()


def withdraw(shoe_id: str, by: Principal, number: int | None = None) -> Step[Choice]:
    """Take back all that a seat has on the next coup, a pass too, but for stakes that the table keeps after a tie.

    That goes on after the coup's window, until it is dealt. Raises Refusal as `lay_bets` does, and where there is
    nothing to take back.
    """

    def step(writing: Writing) -> Finish[Choice]:
        session, (shoe, terms, seat) = writing.session, stand(writing, shoe_id, by, number)
        fixed = terms.on_tie == "stays"
        rows = [row for row in laid_on(session, shoe) if row.seat_id == seat and not (fixed and row.carried)]
        passed = _chosen(session, shoe, seat)
        if passed is not None and passed.choice == "deal":
            raise _locked(shoe, seat)
        if not rows and passed is None:
            raise Refusal(NOTHING_LAID, f"The seat {seat} has nothing to take back from coup {shoe.next_coup}.")
        writing.touched = True
        purse = find_purse(session, seat)
        for row in rows:
            row.state = "withdrawn"
            credit(purse, row.stake_minor)
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


class Standing(NamedTuple):
    """What a seat's choice is made on: a sealed shoe's next coup, by its table's terms."""

    shoe: ShoeRow
    terms: Terms
    seat: str


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


def stand(writing: Writing, shoe_id: str, by: Principal, number: int | None = None) -> Standing:
    """Find a shoe whose next coup a seat may choose for; raises Refusal as `lay_bets` does."""
    if by.seat is None:
        raise ImpossibleError("who bets is a seat")
    require_table(by, find_shoe(writing.session, shoe_id).table_id)
    shoe = shoe_in(writing.session, shoe_id, "sealed")
    terms = terms_for(shoe)
    require_before(writing, shoe, "reveal_by")
    if number not in (None, shoe.next_coup):
        raise Refusal(ANOTHER_COUP, f"The next coup of shoe {shoe.id} is {shoe.next_coup}; this was for {number}.")
    return Standing(shoe, terms, by.seat)


def terms_for(shoe: ShoeRow) -> Terms:
    """Read the terms of a shoe's table; raises Refusal where it takes no bets."""
    terms = terms_at(shoe.table)
    if terms is None:
        raise Refusal(NO_BETS, f"The rules of table {shoe.table_id!r} say nothing of bets.")
    return terms


def require_window(writing: Writing, standing: Standing) -> None:
    """Refuse a choice that comes outside of its coup's window."""
    require_open(writing.session, standing.shoe, standing.terms, standing.seat, writing.time)


def require_seat(session: Session, shoe: ShoeRow, seat: str, time: str) -> None:
    """Refuse a name that is no seat's, another table's seat, and one that is revoked or expired at a record's time."""
    row = session.get(CredentialRow, seat)
    if row is None or row.table_id != shoe.table_id or not is_good(row, time):
        raise no_such(f"seat at table {shoe.table_id} that is good and is called", seat)


def require_undecided(session: Session, shoe: ShoeRow, seat: str) -> None:
    """Refuse a seat that chose Deal or Pass for the next coup."""
    chosen = _chosen(session, shoe, seat)
    if chosen is None:
        return
    if chosen.choice == "deal":
        raise _locked(shoe, seat)
    raise Refusal(COUP_PASSED, f"The seat {seat} passed coup {shoe.next_coup}.")


def require_bare(session: Session, shoe: ShoeRow, seat: str) -> None:
    """Refuse a seat that has bets on the next coup."""
    if any(row.seat_id == seat for row in laid_on(session, shoe)):
        raise Refusal(BET_LAID, f"The seat {seat} has bets on coup {shoe.next_coup}.")


def _chosen(session: Session, shoe: ShoeRow, seat: str) -> PassRow | None:
    row = session.get(PassRow, (shoe.id, shoe.next_coup, seat))
    return row if row is not None and row.state == "stands" else None


def _locked(shoe: ShoeRow, seat: str) -> Refusal:
    return Refusal(BETS_LOCKED, f"The seat {seat} chose Deal for coup {shoe.next_coup}.")


def _accept(
    session: Session, standing: Standing, own: Sequence[BetRow], asked: Sequence[tuple[str, int]]
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
    shoe, terms, seat = standing
    own_limit = own_limit_minor(session, seat, shoe.table_id)
    accept_stakes(terms, {**before, **dict(asked)})
    return {name: accept_stake(terms, name, stake, own_limit) for name, stake in asked}


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
