"""A player's counters and money: what became of the bets of one seat, or of all seats of one player.

A stake that stays on the table after a tie is a game of each coup that it lies on: there it was staked, and there it
is won, lost, or tied and still the bettor's. What is not settled yet, was taken back or was void counts nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, Final, Literal

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.accounts import find_credential
from api.cases.holding import CLOSED
from api.cases.tables import terms_at
from api.db.tables import BetRow, CredentialRow, ShoeRow, TableRow
from api.refusals import FORBIDDEN, Refusal, no_such
from shoe.game.bets.terms import Terms

Span = Literal["session", "all_time"]


@dataclass(frozen=True, slots=True)
class BetCounter:
    """What became of the bets on one thing, in games and in minor units.

    `wins_minor` came back with wins, stakes and `winnings_minor` together; `ties_minor` are stakes that ties gave back
    or left on the table; `bets_minor` was staked, `carried_minor` of it with stakes that lay there from a tie before.
    """

    games: int = 0
    wins: int = 0
    ties: int = 0
    losses: int = 0
    carried: int = 0
    wins_minor: int = 0
    winnings_minor: int = 0
    ties_minor: int = 0
    bets_minor: int = 0
    carried_minor: int = 0
    total_minor: int = 0

    def __add__(self, other: BetCounter) -> BetCounter:
        """Add each column to the same of another."""
        return BetCounter(*(getattr(self, name) + getattr(other, name) for name in COLUMNS))


COLUMNS: Final = tuple(column.name for column in fields(BetCounter))


@dataclass(frozen=True, slots=True)
class Counted:
    """Counters of all bets of tables that count money alike, by the bet's name, those never bet on too.

    `coups` counts coups with a bet on any of them, however many bets.
    """

    minor_per_unit: int
    coups: int
    bets: dict[str, BetCounter]

    @property
    def total(self) -> BetCounter:
        """Add up each column."""
        return reduce(BetCounter.__add__, self.bets.values(), BetCounter())


@dataclass(frozen=True, slots=True)
class PlayerCounts:
    """Whose bets were counted: of one seat or of all of a player's, taken first at `since`; one part a money."""

    span: Span
    seat: str | None
    player: str | None
    seats: int
    since: str
    money: tuple[Counted, ...]


def count_seat(session: Session, seat_id: str, span: Span, by: Principal | None) -> PlayerCounts:
    """Count the bets of a seat, or of all seats of the player who sits there; a nameless seat is a player of its own.

    Whoever is no seat may ask, and `by` None is the house's own command. Raises Refusal for another seat, and where
    there is none.
    """
    if by is not None and by.seat not in (None, seat_id):
        raise Refusal(FORBIDDEN, f"The statistics are another seat's than {by.seat}.")
    seat = find_credential(session, "seat", seat_id)
    if span == "all_time" and seat.player is not None:
        return _count(session, CredentialRow.player == seat.player, span, seat.id, seat.player)
    return _count(session, CredentialRow.id == seat.id, span, seat.id, seat.player)


def count_player(session: Session, player: str) -> PlayerCounts:
    """Count the bets of all seats of a player; raises Refusal where nobody of that name ever sat down."""
    return _count(session, CredentialRow.player == player, "all_time", None, player)


def _count(
    session: Session, whose: ColumnElement[bool], span: Span, seat: str | None, player: str | None
) -> PlayerCounts:
    seats = and_(whose, CredentialRow.kind == "seat")
    number, since = session.execute(select(func.count(), func.min(CredentialRow.created)).where(seats)).one()
    if since is None:
        raise no_such("player", str(player))
    by_money = _terms_by_money(session, seats)
    counted = [_count_tables(session, seats, unit, by_money[unit]) for unit in sorted(by_money)]
    return PlayerCounts(span, seat, player, number, since, tuple(counted))


def _terms_by_money(session: Session, seats: ColumnElement[bool]) -> dict[int, dict[str, Terms]]:
    """Give the terms of the tables that take bets by their minor units: amounts in different ones can't be added."""
    found: dict[int, dict[str, Terms]] = {}
    at = select(CredentialRow.table_id).where(seats)
    for table in session.scalars(select(TableRow).where(TableRow.id.in_(at)).order_by(TableRow.id)):
        terms = terms_at(table)
        if terms is not None:
            found.setdefault(terms.money.minor_per_unit, {})[table.id] = terms
    return found


def _count_tables(session: Session, seats: ColumnElement[bool], unit: int, tables: Mapping[str, Terms]) -> Counted:
    bets = {bet.name: BetCounter() for terms in tables.values() for bet in terms.bets}
    query = _of([BetRow.bet, *_sums()], seats, tables).group_by(BetRow.bet)
    bets |= {bet: BetCounter(*map(int, sums)) for bet, *sums in session.execute(query)}
    coups = _of([BetRow.shoe_id, BetRow.number], seats, tables).distinct().subquery()
    return Counted(unit, int(session.scalar(select(func.count()).select_from(coups)) or 0), bets)


def _of(columns: Iterable[Any], seats: ColumnElement[bool], tables: Iterable[str]) -> Select[*tuple[Any, ...]]:
    """Choose from the settled bets of seats at tables: by table and shoe, which have the indices."""
    return (
        select(*columns)
        .select_from(CredentialRow)
        .join(ShoeRow, ShoeRow.table_id == CredentialRow.table_id)
        .join(BetRow, and_(BetRow.shoe_id == ShoeRow.id, BetRow.seat_id == CredentialRow.id))
        .where(seats, CredentialRow.table_id.in_(list(tables)), BetRow.state.in_(CLOSED))
    )


def _sums() -> list[ColumnElement[int]]:
    """Give the columns of `BetCounter` as aggregates, in its order."""
    won, tied, lost = (BetRow.state == state for state in ("won", "pushed", "lost"))
    carried = BetRow.carried == 1
    return [
        func.count(),
        *(_add(1, where) for where in (won, tied, lost, carried)),
        _add(BetRow.stake_minor + BetRow.net_minor, won),
        _add(BetRow.net_minor, won),
        _add(BetRow.stake_minor, tied),
        func.sum(BetRow.stake_minor),
        _add(BetRow.stake_minor, carried),
        _add(BetRow.net_minor, BetRow.net_minor.is_not(None)),
    ]


def _add(amount: Any, where: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((where, amount), else_=0))
