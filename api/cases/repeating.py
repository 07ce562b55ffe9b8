"""Bets laid again: by ReBet, when the seat asks for it; by a preserved wager, whenever a coup is settled."""

from __future__ import annotations

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.access import Principal
from api.cases.betting import Choice, Standing, laid_on, lay, place, require_window, stand
from api.cases.holding import CLOSED
from api.cases.purses import Purse, purse_of_own, read_purse
from api.cases.settling import Wagers
from api.cases.tables import find_table, terms_at
from api.credentials import is_good
from api.db.tables import BetRow, CredentialRow, ShoeRow
from api.refusals import NOT_OFFERED, NOTHING_TO_REPEAT, Refusal
from api.service import Service
from api.world import World
from api.writing import Finish, Step, Writing
from shoe.errors import BetError


def rebet(service: Service, shoe_id: str, by: Principal, number: int | None = None) -> Step[Choice]:
    """Lay again what a seat had on the last coup at its table that was dealt with bets of it: all of it, or none.

    Raises Refusal and BetError as `lay_bets` does, where the table does not offer it, and where there is no such coup.
    """

    def step(writing: Writing) -> Finish[Choice]:
        standing = stand(writing, shoe_id, by, number)
        if not standing.terms.pace.rebet:
            raise Refusal(NOT_OFFERED, f"Table {standing.shoe.table_id!r} does not offer to repeat the last bets.")
        require_window(writing, standing)
        asked = _last_bets(writing.session, standing)
        if not asked:
            where = f"No coup at table {standing.shoe.table_id!r}"
            raise Refusal(NOTHING_TO_REPEAT, f"{where} was dealt with bets of the seat {standing.seat}.")
        return lay(service.world, writing, standing, asked)

    return step


def preserve_bets(seat_id: str, by: Principal, *, preserve: bool) -> Step[Purse]:
    """Say whether a seat's bets are laid again after every coup; what is settled next goes by it.

    Raises Refusal for another seat than the own, and at a table that does not offer it.
    """

    def step(writing: Writing) -> Finish[Purse]:
        session = writing.session
        seat, purse = purse_of_own(session, seat_id, by)
        terms = terms_at(find_table(session, seat.table_id or ""))
        if terms is None or not terms.pace.preserve:
            raise Refusal(NOT_OFFERED, f"Table {seat.table_id!r} does not offer to preserve a wager.")
        writing.touched = True
        purse.preserve = int(preserve)
        shown = read_purse(session, seat_id, by)
        return lambda _: shown

    return step


def lay_preserved(world: World, writing: Writing, shoe: ShoeRow, wagers: Wagers, *, but: str | None = None) -> None:
    """Lay a coup's bets again on the coup after it for seats that preserve them, but for one that plays by itself.

    A stake that stayed after a tie is one of them already. Each seat's are laid as a whole, so far as limits, purse and
    bank allow it; a seat that is revoked or expired bets no more.
    """
    session = writing.session
    preserving = [seat for seat, purse in wagers.purses.items() if purse.preserve and seat != but]
    if not preserving:
        return
    laid = laid_on(session, shoe)
    for seat in dict.fromkeys(row.seat_id for row in wagers.rows):
        if seat not in preserving or not is_good(session.get_one(CredentialRow, seat), writing.time):
            continue
        there = {row.bet for row in laid if row.seat_id == seat}
        own = [row for row in wagers.rows if row.seat_id == seat]
        asked = [(row.bet, row.stake_minor) for row in own if row.bet not in there]
        standing = Standing(shoe, wagers.terms, seat)
        try:
            laid += place(world, writing, standing, laid, asked, client=own[0].client)
        except (Refusal, BetError):
            continue


def _last_bets(session: Session, standing: Standing) -> list[tuple[str, int]]:
    """Read a seat's bets, by name and stake, on the last coup of its table that was dealt with any of them."""
    query = (
        select(BetRow.shoe_id, BetRow.number)
        .join(ShoeRow, ShoeRow.id == BetRow.shoe_id)
        .where(ShoeRow.table_id == standing.shoe.table_id, BetRow.seat_id == standing.seat, BetRow.state.in_(CLOSED))
        .order_by(ShoeRow.open_index.desc(), BetRow.number.desc())
        .limit(1)
    )
    last = session.execute(query).one_or_none()
    if last is None:
        return []
    shoe, number = last
    bets = select(BetRow.bet, BetRow.stake_minor).where(
        BetRow.shoe_id == shoe, BetRow.number == number, BetRow.seat_id == standing.seat, BetRow.state.in_(CLOSED)
    )
    return [(bet, stake) for bet, stake in session.execute(bets.order_by(BetRow.position))]
