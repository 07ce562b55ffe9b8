"""The bets of one ended shoe: those that its records closed, each settled anew by the table's terms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.cases.betting import line_of
from api.cases.tables import terms_at
from api.db.tables import BetRow, ShoeRow
from audit.records.wrong import Fault, Looked
from shoe.errors import BetError, expected
from shoe.game.bets.settling import settle_shown
from shoe.game.bets.shown import Shown, shown_by
from shoe.game.bets.terms import Terms
from shoe.game.tableau import play_coup
from shoe.proof.merkle import Tree
from shoe.proof.records import Bets, Coup, Record

_SETTLED = ("won", "lost", "pushed")


def bet_faults(
    session: Session, shoe: ShoeRow, records: Sequence[tuple[int, Record]], looked: Looked
) -> Iterator[Fault]:
    """Hold an ended shoe's bets against the roots that closed them, and settle each by what its coup showed.

    Bets that lay on a coup that was never dealt must be void; those that were withdrawn count for nothing.
    """
    query = select(BetRow).where(BetRow.shoe_id == shoe.id, BetRow.state != "withdrawn")
    rows = session.scalars(query.order_by(BetRow.number, BetRow.position)).all()
    by_coup = defaultdict[int, list[BetRow]](list)
    for row in rows:
        by_coup[row.number].append(row)
    closed = {record.number: (index, record) for index, record in records if isinstance(record, Bets)}
    shown = {record.number: _shown(record) for _, record in records if isinstance(record, Coup)}
    terms = terms_at(shoe.table)
    looked.at["bets"] += len(rows)
    for number in sorted({*by_coup, *closed}):
        laid = by_coup[number]
        if number not in shown:
            yield from _undealt(shoe, number, laid)
        elif number not in closed:
            yield Fault("bets", expected("no bets, for its record closed none", len(laid), "bets"), shoe.id, number)
        else:
            yield from _closed(shoe, *closed[number], laid)
            if terms is not None:
                yield from _settled(shoe, terms, laid, shown[number])


def _shown(record: Coup) -> Shown:
    return shown_by(play_coup([opening.card for opening in record.cards]))


def _undealt(shoe: ShoeRow, number: int, laid: Sequence[BetRow]) -> Iterator[Fault]:
    for row in laid:
        if row.state != "void":
            detail = expected("void, for the coup was not dealt", row.state, f"state of bet {row.position}")
            yield Fault("bets", detail, shoe.id, number)


def _closed(shoe: ShoeRow, index: int, record: Bets, laid: Sequence[BetRow]) -> Iterator[Fault]:
    root = Tree.of([line_of(row).to_bytes() for row in laid]).root
    if (len(laid), root) != (record.count, record.bets_root):
        wanted = f"{record.count} bets under the root {record.bets_root.hex()}"
        yield Fault("bets", expected(wanted, f"{len(laid)} under {root.hex()}", "bets"), shoe.id, record.number, index)


def _settled(shoe: ShoeRow, terms: Terms, laid: Sequence[BetRow], shown: Shown) -> Iterator[Fault]:
    for row in laid:
        try:
            made = settle_shown(terms.bet(row.bet), row.stake_minor, shown, terms)
        except BetError as error:
            yield Fault("bets", f"bet {row.position}: {error}", shoe.id, row.number)
            continue
        wanted = made.result, made.net_minor, made.commission_minor
        got = row.state, row.net_minor, row.commission_minor
        # A stake that a tie leaves on the table may have gone back instead: to the purse, or at the shoe's end.
        back = {made.returned_minor, made.returned_minor + made.left_minor}
        if wanted != got or row.returned_minor not in back:
            printed = f"{made.result}, net {made.net_minor}, commission {made.commission_minor}, back {min(back)}"
            stored = f"{row.state}, net {row.net_minor}, commission {row.commission_minor}, back {row.returned_minor}"
            yield Fault("bets", expected(printed, stored, f"{row.bet}, bet {row.position}"), shoe.id, row.number)
