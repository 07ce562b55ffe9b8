"""Opening a shoe: its seed committed to, its deadlines fixed, its beacon round pinned (protocol §3, §4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from uuid import UUID

from sqlalchemy.orm import Session

from api.cases.books import book_in_use, open_master
from api.cases.tables import find_table, last_shoe, live_shoe, rules_of
from api.db.tables import BookRow, ShoeRow
from api.refusals import NO_BEACON, SHOE_LIVE, Refusal
from api.service import Service
from api.world import make_id, read_time, seconds_after
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected
from shoe.game.rules import Rules
from shoe.proof.beacon import GENESIS_S, PERIOD_S, QUICKNET, due_s, lock_before_s, time_of
from shoe.proof.notation import sha256
from shoe.proof.records import FIRST, Open
from shoe.proof.seal import BeaconPin, BookRef
from shoe.proof.seeds import commit_server_seed, seed_book, server_seed
from shoe.proof.tlog import Receipt
from shoe.proof.verify.fairness import is_sandbox


@dataclass(frozen=True, slots=True)
class Plan:
    """What the operator asks for: each deadline in seconds from the opening, in order, and a beacon round."""

    lock_in_s: int
    seal_in_s: int
    reveal_in_s: int
    beacon_round: int | None = None


@dataclass(frozen=True, slots=True)
class _Deadlines:
    lock_by: str
    seal_by: str
    reveal_by: str


def open_shoe(service: Service, table_id: str, plan: Plan) -> Step[tuple[str, Receipt]]:
    """Open the table's next shoe under the next seed of its book; give its id and the receipt of `open`.

    Raises Refusal where the table has a live shoe, no seed left, or needs a beacon that can't be checked, and
    InputError for a round that doesn't fit the deadlines.
    """

    def step(writing: Writing) -> Finish[tuple[str, Receipt]]:
        session = writing.session
        table = find_table(session, table_id)
        live = live_shoe(session, table_id)
        if live is not None:
            raise Refusal(SHOE_LIVE, f"The shoe {live.id} of table {table_id!r} is {live.state}.")
        book, rules = book_in_use(session, table_id), rules_of(table)
        deadlines = _Deadlines(
            lock_by=seconds_after(writing.time, plan.lock_in_s),
            seal_by=seconds_after(writing.time, plan.seal_in_s),
            reveal_by=seconds_after(writing.time, plan.reveal_in_s),
        )
        pin = _pin(service, rules, plan.beacon_round, deadlines)
        shoe = _new_shoe(service, session, book, deadlines, pin)
        _record(writing, shoe, rules, book, pin)
        writing.insert(shoe)
        book.next_index += 1
        return lambda receipts: (shoe.id, receipts[0])

    return step


def _new_shoe(
    service: Service, session: Session, book: BookRow, deadlines: _Deadlines, pin: BeaconPin | None
) -> ShoeRow:
    previous, master, index = last_shoe(session, book.table_id), open_master(service, book), book.next_index
    return ShoeRow(
        id=_make_shoe_id(service, book.root, index),
        table_id=book.table_id,
        book_root=book.root,
        seed_index=index,
        commitment=commit_server_seed(server_seed(master, index)),
        book_proof=b"".join(seed_book(master, book.size).inclusion(index)),
        previous_shoe=None if previous is None else previous.id,
        lock_by=deadlines.lock_by,
        seal_by=deadlines.seal_by,
        reveal_by=deadlines.reveal_by,
        beacon_round=None if pin is None else pin.round,
        state="open",
        next_seq=0,
        last_hash=FIRST if previous is None else previous.last_hash,
        next_coup=0,
        position=0,
        cut_drawn=0,
        in_row=0,
    )


def _make_shoe_id(service: Service, root: bytes, index: int) -> str:
    """Make a shoe's id; in a sandbox of its book's root and its index, for the id is in the seal (protocol §4)."""
    if not is_sandbox(service.log.origin):
        return make_id(service.world)
    # RFC 9562 §5.8: version 8 is for what an application makes its own way.
    drawn = int.from_bytes(sha256(root + index.to_bytes(4, "big"))[:16], "big")
    return str(UUID(int=drawn & ~(0xF << 76 | 0b11 << 62) | 0x8 << 76 | 0b10 << 62))


def _record(writing: Writing, shoe: ShoeRow, rules: Rules, book: BookRow, pin: BeaconPin | None) -> None:
    opened = Open(
        table=shoe.table_id,
        rules=rules,
        book=BookRef(book.root, book.size),
        index=shoe.seed_index,
        commitment=shoe.commitment,
        beacon=pin,
        lock_by=shoe.lock_by,
        seal_by=shoe.seal_by,
        reveal_by=shoe.reveal_by,
        **writing.link(shoe),
    )
    shoe.opened, shoe.open_index = writing.time, writing.add_to(shoe, opened)


def _pin(service: Service, rules: Rules, wanted: int | None, deadlines: _Deadlines) -> BeaconPin | None:
    """Pin the round asked for, or the first that the lock comes early enough for (protocol §4)."""
    if rules.entropy != "beacon":
        if wanted is not None:
            raise InputError(expected(f"no round in mode {rules.entropy}", wanted, "beacon_round"))
        return None
    if service.check_signature is None:
        raise Refusal(NO_BEACON, "The table's mode is beacon, and the extra `beacon` is not installed.")
    pin = BeaconPin(QUICKNET, wanted or _first_round_for(deadlines.lock_by))
    lock_before, due = time_of(lock_before_s(pin)), time_of(due_s(pin))
    if deadlines.lock_by > lock_before:
        raise InputError(expected(f"lock_by up to {lock_before} for round {pin.round}", deadlines.lock_by, "lock_in_s"))
    if due > deadlines.seal_by:
        raise InputError(expected(f"seal_by from {due} for round {pin.round}", deadlines.seal_by, "seal_in_s"))
    return pin


def _first_round_for(lock_by: str) -> int:
    """Number the first round that is due at least one period after the lock's deadline."""
    periods = ceil((read_time(lock_by).timestamp() - GENESIS_S) / PERIOD_S)
    return max(1, periods + 2)
