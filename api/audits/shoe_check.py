"""One ended shoe, looked at whole: its bundle, then the store's own rows beside its records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.orm import Session

from api.audits.bet_check import bet_faults
from api.audits.dealt_again import dealt_again
from api.beside import describe
from api.cases.bundles import Decks, make_ended_bundle
from api.cases.regulating import ends_of
from api.cases.standing import rules_at
from api.db.sessions import out_of_reach
from api.db.tables import BookRow, CoupRow, LeafRow, ShoeRow
from api.log import prove_all, read_records
from audit.records.plan import Plan
from audit.records.wrong import Fault, Looked
from shoe.errors import FairshoeError, ProofError, expected
from shoe.game.rules import Rules
from shoe.proof.beacon import CheckSignature
from shoe.proof.bundle import Bundle
from shoe.proof.note import parse_vkey
from shoe.proof.records import Coup, End, Open, Record, Seal, parse_record
from shoe.proof.tlog import Receipt, TlogProof
from shoe.proof.verify import Evidence, verify_bundle

_FINE: Final = ("verified", "void")
_PLACE: Final = re.compile(r"(?:records|inclusion)\[(\d+)\]")
_COUP: Final = re.compile(r"\bcoup (\d+)\b")
_COLUMNS: Final = (
    *("log_index", "time", "rule", "outcome", "player_total", "banker_total", "cards_used", "judged", "table_id"),
)

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What the log says of one ended shoe: its records with their log indices, in order of the chain."""

    records: tuple[tuple[int, Record], ...]

    @property
    def end(self) -> tuple[int, End]:
        """The record that ended it; raises ProofError where the last is another."""
        index, last = self.records[-1] if self.records else (None, None)
        if index is None or not isinstance(last, End):
            raise ProofError(expected("a reveal or void as its last record", getattr(last, "type", None), "records"))
        return index, last

    def coups(self) -> dict[int, tuple[int, Coup]]:
        """The coups that were dealt, by number."""
        return {record.number: (index, record) for index, record in self.records if isinstance(record, Coup)}

    def first(self, cls: type[Any]) -> tuple[int, Any] | None:
        """The first record of a class."""
        return next(((index, record) for index, record in self.records if isinstance(record, cls)), None)


def check_shoe(session: Session, shoe: ShoeRow, plan: Plan, check_signature: CheckSignature | None) -> Looked:
    """Verify an ended shoe's bundle under the plan's head, and hold every row of it against its records.

    Takes some 60 ms for a shoe of 8 decks. What can't be read is a fault like any other; raises DBAPIError where the
    database is out of reach.
    """
    looked = Looked()
    looked.at.update(("openings", "bundles"))
    try:
        _check(session, shoe, plan, check_signature, looked)
    except (FairshoeError, SQLAlchemyError, KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        if isinstance(error, DBAPIError) and out_of_reach(error):
            raise
        # SQLite keeps text where numbers belong, if it is told to; a row that a shoe needs may be gone.
        looked.add(Fault("bundles", f"what is stored of it can't be put together: {describe(error)}", shoe.id))
    return looked


def _check(session: Session, shoe: ShoeRow, plan: Plan, check_signature: CheckSignature | None, looked: Looked) -> None:
    leaves = session.execute(
        select(LeafRow.log_index, LeafRow.record).where(LeafRow.shoe == shoe.id).order_by(LeafRow.seq)
    )
    told = Told(tuple((index, parse_record(record)) for index, record in leaves))
    _, end = told.end
    bundle, decks = make_ended_bundle(session, shoe, end, plan.size)
    found = chain(
        _bundle_faults(session, shoe, plan, bundle, check_signature),
        _opening_faults(shoe, told),
        _coup_faults(session, shoe, told, decks, looked),
        bet_faults(session, shoe, told.records, looked),
    )
    for fault in found:
        looked.add(fault)


# --- the bundle --------------------------------------------------------------------------------


def _bundle_faults(
    session: Session, shoe: ShoeRow, plan: Plan, bundle: Bundle, check_signature: CheckSignature | None
) -> Iterator[Fault]:
    evidence = Evidence(
        vkeys=tuple(map(parse_vkey, plan.vkeys)),
        receipts=_book_receipts(session, shoe, plan, bundle.checkpoint),
        check_signature=check_signature,
    )
    found = verify_bundle(bundle, evidence)
    if found.verdict in _FINE:
        return
    if found.verdict != "invalid":
        yield Fault("bundles", f"{found.verdict}: {found.why}", shoe.id, unverified=True)
        return
    for check in found.checks:
        if check.status == "INVALID":
            index, coup = _placed(check.detail, bundle)
            yield Fault("bundles", f"{check.name}: {check.detail}", shoe.id, coup, index)


def _placed(detail: str, bundle: Bundle) -> tuple[int | None, int | None]:
    """Find the log index, and the coup if it is one, of what a complaint names by its place or by its coup."""
    coups = dict(_coups_in(bundle))
    if named := _PLACE.search(detail):
        place = int(named[1])
        index = bundle.log_indices[place] if place < len(bundle.log_indices) else None
        return index, next((number for number, at in coups.items() if at == index), None)
    if named := _COUP.search(detail):
        return coups.get(int(named[1])), int(named[1])
    return None, None


def _coups_in(bundle: Bundle) -> Iterator[tuple[int, int]]:
    """List the coups of a bundle by number, each with its log index; what can't be read is none."""
    for data, index in zip(bundle.records, bundle.log_indices, strict=False):
        with suppress(FairshoeError):
            if isinstance(record := parse_record(data), Coup):
                yield record.number, index


def _book_receipts(session: Session, shoe: ShoeRow, plan: Plan, checkpoint: str) -> tuple[Receipt, ...]:
    """Give the receipt of the end of the book before, where the shoe is a new book's first."""
    if shoe.previous_shoe is None:
        return ()
    previous = session.get_one(ShoeRow, shoe.previous_shoe)
    if previous.book_root == shoe.book_root:
        return ()
    book = session.get_one(BookRow, previous.book_root)
    index = ends_of(session, [book]).get(book.root)
    if index is None or index >= plan.size:
        return ()
    record = read_records(session, [index])[index]
    return (Receipt(record, TlogProof(index, prove_all(session, [index], plan.size)[0], checkpoint)),)


# --- rows beside records -----------------------------------------------------------------------


def _opening_faults(shoe: ShoeRow, told: Told) -> Iterator[Fault]:
    opened, sealed, (last, end) = told.first(Open), told.first(Seal), told.end
    if opened is None:
        yield Fault("openings", "the log has no opening of it", shoe.id)
        return
    index, record = opened
    seal = None if sealed is None else sealed[1].seal
    state = "revealed" if end.type == "reveal" else "void"
    rules: Rules = rules_at(shoe)
    said: dict[str, tuple[object, object]] = {
        "table": (record.table, shoe.table_id),
        "rules": (record.rules, rules),
        "book": (record.book.root.hex(), shoe.book_root.hex()),
        "seed index": (record.index, shoe.seed_index),
        "commitment": (record.commitment.hex(), shoe.commitment.hex()),
        "opened": (record.time, shoe.opened),
        "log index of its open": (index, shoe.open_index),
        "log index of its end": (last, shoe.last_index),
        "state": (state, shoe.state),
        "seal": (seal and seal.hex(), shoe.seal and shoe.seal.hex()),
        "coups": (end.coups, shoe.next_coup),
    }
    for name, (wanted, got) in said.items():
        if wanted != got:
            shown = (wanted, got) if name != "rules" else ("those of its open", "others at the table")
            yield Fault("openings", expected(f"{shown[0]}, as the log has it", shown[1], name), shoe.id, index=index)


def _coup_faults(session: Session, shoe: ShoeRow, told: Told, decks: Decks, looked: Looked) -> Iterator[Fault]:
    columns = [getattr(CoupRow, name) for name in _COLUMNS]
    query = select(CoupRow.number, *columns).where(CoupRow.shoe_id == shoe.id).order_by(CoupRow.number)
    stored: dict[int, Row] = {row[0]: tuple(row[1:]) for row in session.execute(query)}
    wanted = _wanted_rows(shoe, told, decks)
    looked.at["coups"] += len(wanted)
    for number in sorted(wanted.keys() | stored.keys()):
        row, got = wanted.get(number), stored.get(number)
        if row == got:
            continue
        index = row[0] if row is not None else None
        if row is None or got is None:
            detail = expected("no such coup", "a row", "row") if row is None else expected("a row of it", None, "row")
        else:
            detail = "; ".join(_differences(row, got))
        yield Fault("coups", detail, shoe.id, number, index)


def _differences(wanted: Row, got: Row) -> Iterable[str]:
    for name, one, other in zip(_COLUMNS, wanted, got, strict=True):
        if one != other:
            yield expected(one, other, name)


def _wanted_rows(shoe: ShoeRow, told: Told, decks: Decks) -> Mapping[int, Row]:
    """Say what the rows of a shoe's coups must be: the records', then what a void shoe owes to coup K."""
    rules, (_, end), table = rules_at(shoe), told.end, shoe.table_id
    rows: dict[int, Row] = {}
    for number, (index, record) in told.coups().items():
        totals = record.player_total, record.banker_total, len(record.cards)
        judged = int(rules.shuffle == "coup" or number < rules.judged_coups)
        rows[number] = (index, record.time, record.rule, record.outcome, *totals, judged, table)
    if end.type == "void" and shoe.seal is not None and rules.shuffle == "shoe":
        for number, coup in dealt_again(rules, decks, end.coups):
            totals = coup.player_total, coup.banker_total, len(coup.cards)
            rows[number] = (None, end.time, coup.rule, coup.outcome, *totals, 1, table)
    return rows
