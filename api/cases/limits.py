"""Own limits: the greatest stake that a player allows herself, kept for all her seats, and asked for at every bet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import ColumnElement, case, func, literal, select
from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.tables import find_table, terms_at
from api.db.tables import CredentialRow, OwnLimitRow
from api.own_limit import Asked, Held, ask_lower, blocked_until, kept_under, try_pin
from api.refusals import FORBIDDEN, LIMIT_SET, NO_OWN_LIMITS, WRONG_PIN, WRONG_PINS, Refusal, no_such
from api.service import Service
from api.weeks import turns_at, week_of
from api.world import print_time, read_time
from api.writing import Finish, Step, Writing
from shoe.game.bets.layout import greatest_stake
from shoe.game.bets.terms import Terms

_ALL_TABLES: Final = ""
_PLAYER: Final = "player:"
_SEAT: Final = "seat:"


@dataclass(frozen=True, slots=True)
class Limit:
    """What a seat may stake on a bet at most, and whether its player may lower that now.

    A maximum is None where there is none. `why_not` says what stands against lowering it, None where nothing does, and
    `turns` when the week turns, None at a table without own limits.
    """

    seat: str
    table: str
    table_maximum_minor: int | None
    own_maximum_minor: int | None
    maximum_minor: int | None
    why_not: str | None
    turns: str | None


@dataclass(frozen=True, slots=True)
class _Holder:
    """A seat, its table's terms, and the name that limits are kept under: its player's, or else its own."""

    seat: CredentialRow
    table: str
    terms: Terms

    @property
    def name(self) -> str:
        # Both kinds of name are marked: no player's is a seat's.
        return f"{_SEAT}{self.seat.id}" if self.seat.player is None else f"{_PLAYER}{self.seat.player}"


def read_limit(session: Session, seat_id: str, by: Principal, moment: datetime) -> Limit:
    """Show a seat's limit at a moment to itself, and to whoever is no seat.

    Raises Refusal for other seats, and where no seat of this id bets.
    """
    holder = _holder_of(session, seat_id, by)
    limits = holder.terms.own_limit
    own = own_limit_minor(session, seat_id, holder.table)
    if limits is None:
        return _print(holder, own, "no_own_limits", None)
    held = _held(_find(session, holder))
    blocked = blocked_until(held, moment)
    turns = turns_at(moment, limits) if blocked is None else blocked
    why_not = None
    if blocked is not None:
        why_not = "too_many_wrong_pins"
    elif held.week == week_of(moment, limits):
        why_not = "already_this_week"
    elif _nothing_lower(holder.terms, own):
        why_not = "at_the_least"
    return _print(holder, own, why_not, turns)


def own_limit_minor(session: Session, seat_id: str, table_id: str) -> int | None:
    """Find the greatest stake that a seat's player allows herself at a table, None for any; one query, no flush."""
    holder = select(_name()).where(CredentialRow.id == seat_id).scalar_subquery()
    kept = (OwnLimitRow.holder == holder, OwnLimitRow.table_id.in_((_ALL_TABLES, table_id)))
    with session.no_autoflush:
        return session.scalar(select(func.min(OwnLimitRow.maximum_minor)).where(*kept))


def lower_limit(service: Service, seat_id: str, by: Principal, asked_minor: int, pin: str) -> Step[Limit | Refusal]:
    """Lower the limit of a seat's player, for the seat itself; a wrong PIN is counted, and then refused as the result.

    The PIN is tried here, before the step has the log's head, and again in it where another was confirmed meanwhile.
    The step raises Refusal for another seat, a table without own limits, in a week in which the limit was lowered, and
    after too many wrong PINs; BetError for a limit that is no lower one.
    """
    random_bytes = service.world.random_bytes
    with service.reading() as session:
        beforehand = _pin_to_try(session, seat_id, by, service.world.now())
    tried = None if beforehand is None else try_pin(pin, beforehand.pin, random_bytes)

    def step(writing: Writing) -> Finish[Limit | Refusal]:
        session, moment = writing.session, read_time(writing.time)
        holder = _holder_of(session, seat_id, by)
        if holder.terms.own_limit is None:
            raise Refusal(NO_OWN_LIMITS, f"The rules of table {holder.table!r} say nothing of own limits.")
        row = _find(session, holder)
        held = _held(row)
        _require_tries(blocked_until(held, moment))
        known = tried if tried is not None and tried.on == held.pin else try_pin(pin, held.pin, random_bytes)
        asked = ask_lower(held, holder.terms, asked_minor, known, moment=moment)
        _require_unset(asked)
        _keep(writing, holder, row, asked.held)
        # Who bets in the same transaction asks for limits without a flush.
        session.flush()
        wrong = Refusal(WRONG_PIN, "pin: expected the PIN that the first limit was set by, got another.")
        result = wrong if asked.answer == "wrong_pin" else read_limit(session, seat_id, by, moment)
        return lambda _: result

    return step


def _pin_to_try(session: Session, seat_id: str, by: Principal, moment: datetime) -> Held | None:
    """Give what is held where a PIN is worth trying on it; None where the step is going to refuse without."""
    try:
        holder = _holder_of(session, seat_id, by)
    except Refusal:
        return None
    if holder.terms.own_limit is None:
        return None
    held = _held(_find(session, holder))
    return None if blocked_until(held, moment) is not None else held


def _holder_of(session: Session, seat_id: str, by: Principal) -> _Holder:
    seat = session.get(CredentialRow, seat_id)
    if seat is None or seat.table_id is None:
        raise no_such("seat", seat_id)
    if by.seat not in (None, seat_id):
        raise Refusal(FORBIDDEN, f"The limit is another seat's than {by.seat}.")
    terms = terms_at(find_table(session, seat.table_id))
    if terms is None:
        raise no_such("seat that bets", seat_id)
    return _Holder(seat, seat.table_id, terms)


def _name() -> ColumnElement[str]:
    """The name that limits are kept under, as the database makes it of a credential."""
    own = literal(_SEAT) + CredentialRow.id
    return case((CredentialRow.player.is_(None), own), else_=literal(_PLAYER) + CredentialRow.player)


def _place(holder: _Holder) -> tuple[str, str]:
    name, table = kept_under(holder.terms, holder.name, holder.table)
    return name, _ALL_TABLES if table is None else table


def _find(session: Session, holder: _Holder) -> OwnLimitRow | None:
    return session.get(OwnLimitRow, _place(holder))


def _held(row: OwnLimitRow | None) -> Held:
    return Held() if row is None else Held(row.maximum_minor, row.week, row.pin, row.wrong, row.wrong_week)


def _keep(writing: Writing, holder: _Holder, row: OwnLimitRow | None, held: Held) -> None:
    writing.touched = True
    if row is None:
        name, table = _place(holder)
        row = OwnLimitRow(holder=name, table_id=table)
        writing.insert(row)
    row.maximum_minor, row.week, row.pin = held.maximum_minor, held.week, held.pin
    row.wrong, row.wrong_week = held.wrong, held.wrong_week


def _require_tries(blocked: datetime | None) -> None:
    if blocked is not None:
        raise Refusal(WRONG_PINS, f"Too many wrong PINs came in this week; it turns at {print_time(blocked)}.")


def _require_unset(asked: Asked) -> None:
    if asked.answer == "already_this_week" and asked.again is not None:
        raise Refusal(LIMIT_SET, f"The limit was lowered in this week, which turns at {print_time(asked.again)}.")


def _nothing_lower(terms: Terms, own: int | None) -> bool:
    greatest = greatest_stake(terms, own)
    return greatest is not None and greatest <= terms.limits.min_minor


def _print(holder: _Holder, own: int | None, why_not: str | None, turns: datetime | None) -> Limit:
    terms = holder.terms
    return Limit(
        seat=holder.seat.id,
        table=holder.table,
        table_maximum_minor=terms.limits.max_minor,
        own_maximum_minor=own,
        maximum_minor=greatest_stake(terms, own),
        why_not=why_not,
        turns=None if turns is None else print_time(turns),
    )
