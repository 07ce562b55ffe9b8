"""The log: the only writer of leaves, nodes, head and checkpoints, and the reader of their proofs (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from sqlalchemy import insert, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from api.db.tables import CheckpointRow, LeafRow, LogHeadRow, LogNodeRow, SigningKeyRow
from api.keyring import Keyring, active_vkeys
from api.refusals import READ_ONLY, Refusal
from api.settings import SetupError
from api.vault import Vault
from api.world import World, print_time, seconds_after
from shoe.errors import ImpossibleError, InputError, expected
from shoe.proof.checkpoint import Checkpoint, print_checkpoint
from shoe.proof.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    Frontier,
    Node,
    appended_nodes,
    frontier_nodes,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    root_of_frontier,
)
from shoe.proof.note import VerifierKey, parse_vkey, sign_note
from shoe.proof.records import Key, Record, ShoeRecord, parse_as, parse_record
from shoe.proof.tlog import Receipt, TlogProof
from shoe.proof.verify.fairness import SANDBOX, is_sandbox

HEAD: Final = 1
CLOCK_TOLERANCE_S: Final = 5
"""How far the clock may be behind the last record: what daemons that keep the time correct in one step."""

_PARTS: Final = (LogHeadRow.id, LeafRow.log_index, CheckpointRow.size, SigningKeyRow.log_index)
_SEED_BYTES: Final = 32
_VARIABLES: Final = 10_000
"""Keys in one query: below what any database takes as bound values."""


class Succeeds(Protocol):
    """Judges heads: whether another may follow."""

    def require(self, origin: str, head: LogHeadRow, vkeys: Sequence[VerifierKey]) -> None:
        """Raise Refusal for a head of a log that no other may follow: none of these keys signed it, say."""

    def vouch(self, checkpoint: str) -> None:
        """Be told of a checkpoint that was signed here."""


class Entry(NamedTuple):
    """A record to be logged, and its bytes."""

    record: Record
    data: bytes


@dataclass(frozen=True, slots=True)
class Log:
    """The log under its signing keys; all state is in the session. `succession` judges the head to be followed."""

    origin: str
    keyring: Keyring
    succession: Succeeds | None = field(default=None, repr=False)

    def append(self, session: Session, head: LogHeadRow, entries: Sequence[Entry]) -> tuple[Receipt, ...]:
        """Add records as the next leaves, and sign one checkpoint over them; give a receipt for each.

        Part of the caller's write transaction, which must hold the head by `lock_head`; the receipts are good once it
        is durable. Costs two nodes a record over many, one row each of head and checkpoints, and no read but of
        the keys. Raises ImpossibleError for a record that is no record, of another log, or older than the last, and
        Refusal where the head is not one to be followed.
        """
        # The log's first key has none before it.
        logged = [entry.record for entry in entries if isinstance(entry.record, Key)] if head.size else []
        with session.no_autoflush:
            signers = self.keyring.signers(session, logged)
        if self.succession is not None:
            # A key that is given up here, or was added by the head itself, may still be all that signed the head.
            before = [key.vkey for key in signers] + [parse_vkey(record.vkey) for record in logged]
            self.succession.require(self.origin, head, before)
        size, time, frontier = head.size, head.time, split_frontier(head.frontier)
        known = {node.position: found for node, found in zip(frontier_nodes(size), frontier, strict=True)}
        leaves: list[dict[str, object]] = []
        nodes: list[dict[str, object]] = []
        for entry in entries:
            leaves.append(self._leaf(entry, size, time))
            complete, frontier = appended_nodes(frontier, size, leaf_hash(entry.data))
            nodes += [{"position": node.position, "hash": found} for node, found in complete]
            known |= {node.position: found for node, found in complete}
            size, time = size + 1, entry.record.time
        session.execute(insert(LeafRow), leaves)
        session.execute(insert(LogNodeRow), nodes)
        first, head.size, head.time, head.frontier = head.size, size, time, b"".join(frontier)
        head.root = root_of_frontier(frontier, size)
        head.checkpoint = sign_note(print_checkpoint(Checkpoint(self.origin, size, head.root)), signers)
        session.add(CheckpointRow(size=size, text=head.checkpoint))
        if self.succession is not None:
            self.succession.vouch(head.checkpoint)
        return _receipts(known, [entry.data for entry in entries], first, head.checkpoint)

    def _leaf(self, entry: Entry, index: int, since: str) -> dict[str, object]:
        record = entry.record
        # What is logged can never be taken back: nothing enters that a verifier would refuse to read.
        if parse_record(entry.data) != record or record.log != self.origin or record.time < since:
            raise ImpossibleError(f"record {index}: not a record of {self.origin} from {since} on")
        shoe, seq = (record.shoe, record.seq) if isinstance(record, ShoeRecord) else (None, None)
        return {"log_index": index, "record": entry.data, "type": record.type, "shoe": shoe, "seq": seq}


def _receipts(known: Mapping[int, bytes], records: Sequence[bytes], first: int, checkpoint: str) -> tuple[Receipt, ...]:
    """Make the receipts of new leaves: the old frontier and the new nodes are all that their paths need."""

    def read(nodes: Sequence[Node]) -> list[bytes]:
        return [known[node.position] for node in nodes]

    size = first + len(records)
    return tuple(
        Receipt(record, TlogProof(index, prove_inclusion(read, index, size), checkpoint))
        for index, record in enumerate(records, first)
    )


def open_log(session: Session, vault: Vault, world: World, origin: str | None, *, sandbox: bool = False) -> Log:
    """Open the log that the database holds; on the first start make log and key.

    The first leaf is the `key` record of the log's own key. Part of the caller's write transaction, alone among those
    that found. Raises SetupError where the log in the database has another origin than asked for, or no name at all,
    and where its name does not say whether it is a sandbox's (protocol §9).
    """
    keyring = Keyring(vault)
    if holds_nothing(session):
        name = origin or f"localhost/fairshoe-{world.random_bytes(8).hex()}{SANDBOX if sandbox else ''}"
        return _found_log(session, keyring, world, _require_mark(name, sandbox))
    name = name_of_log(session)
    if origin not in (None, name):
        raise SetupError(expected(f"{name}, the log's name since its first start", origin, "origin"))
    return Log(_require_mark(name, sandbox), keyring)


def _require_mark(origin: str, sandbox: bool) -> str:
    if is_sandbox(origin) != sandbox:
        kind = "a sandbox's" if is_sandbox(origin) else "no sandbox's"
        wanted = f"a name that ends with {SANDBOX}" if sandbox else f"no name that ends with {SANDBOX}"
        raise SetupError(f"FAIRSHOE_SANDBOX is {int(sandbox)}: expected {wanted}, got {origin}, {kind}")
    return origin


def holds_nothing(session: Session) -> bool:
    """Say whether the database has never held a log: not even a part of one, that somebody left."""
    return all(session.execute(select(row).limit(1)).first() is None for row in _PARTS)


def name_of_log(session: Session) -> str:
    """Give the log's origin: its first record's, else that of a checkpoint where somebody has spoilt the record.

    Raises SetupError where neither can be read.
    """
    try:
        return parse_as(Key, read_records(session, [0])[0]).log
    except (InputError, KeyError, TypeError, DBAPIError):  # SQLite keeps text for bytes, if it is told to
        kept = session.scalar(select(CheckpointRow.text).order_by(CheckpointRow.size).limit(1))
        origin, newline, _ = (kept or "").partition("\n")
        if not newline:
            raise SetupError("the database holds a log without its first record: restore a backup") from None
        return origin


def _found_log(session: Session, keyring: Keyring, world: World, origin: str) -> Log:
    keyring.vault.make()
    seed, time = world.random_bytes(_SEED_BYTES), print_time(world.now())
    head = LogHeadRow(id=HEAD, size=0, frontier=b"", root=EMPTY_ROOT, time=time, checkpoint="")
    session.add_all([head, keyring.new_row(origin, seed, 0)])
    session.flush()
    log = Log(origin, keyring)
    (vkey,) = active_vkeys(session)
    key = Key(log=origin, time=time, vkey=str(vkey), status="added")
    log.append(session, head, [Entry(key, key.to_bytes())])
    return log


def lock_head(session: Session, world: World) -> tuple[LogHeadRow, str]:
    """Hold the head for one write transaction, and give it with the transaction's time.

    The time is the clock's once the head is held; a clock that is a little behind the last record stands still. Every
    writer starts here, so that a database with finer locks than SQLite's lets one at a time through too. Raises
    Refusal where the clock is further behind: what it says can't be signed.
    """
    head = session.scalars(select(LogHeadRow).where(LogHeadRow.id == HEAD).with_for_update()).one()
    now = print_time(world.now())
    if seconds_after(now, CLOCK_TOLERANCE_S) < head.time:
        raise Refusal(READ_ONLY, clock_behind(now, head.time))
    return head, max(now, head.time)


def clock_behind(now: str, last: str) -> str:
    """Say that the clock is behind the log."""
    return f"The clock says {now}, which is before the log's last record of {last}: set the clock right."


def read_head(session: Session) -> LogHeadRow:
    """Read the head: size, root and signed checkpoint; raises Refusal where somebody took it away."""
    head = session.get(LogHeadRow, HEAD)
    if head is None:
        raise Refusal(READ_ONLY, "log_head: expected one row, got none.")
    return head


def prove_all(session: Session, indices: Iterable[int], size: int) -> list[tuple[bytes, ...]]:
    """List the audit paths of several leaves in the tree of `size` leaves: O(log size) nodes each, read together.

    Raises InputError unless each index is below `size`, which must be no more than the head's.
    """
    indices = list(indices)
    wanted: dict[int, None] = {}

    def note(nodes: Sequence[Node]) -> list[bytes]:
        wanted.update(dict.fromkeys(node.position for node in nodes))
        return [bytes(HASH_BYTES)] * len(nodes)

    for index in indices:
        prove_inclusion(note, index, size)
    found = _read_hashes(session, list(wanted))
    return [prove_inclusion(lambda nodes: [found[node.position] for node in nodes], index, size) for index in indices]


def prove_extension(session: Session, old: int, new: int) -> tuple[bytes, ...]:
    """List the consistency path from the first `old` to the first `new` leaves: O(log new) nodes, one query.

    Raises InputError unless 0 ≤ old ≤ new; `new` must be no more than the head's size.
    """

    def read(nodes: Sequence[Node]) -> list[bytes]:
        found = _read_hashes(session, [node.position for node in nodes])
        return [found[node.position] for node in nodes]

    return prove_consistency(read, old, new)


def make_receipts(session: Session, indices: Iterable[int]) -> tuple[Receipt, ...]:
    """Give receipts of several records, all under the current head's checkpoint."""
    indices, head = list(indices), read_head(session)
    records = read_records(session, indices)
    paths = prove_all(session, indices, head.size)
    return tuple(
        Receipt(records[index], TlogProof(index, path, head.checkpoint))
        for index, path in zip(indices, paths, strict=True)
    )


def read_records(session: Session, indices: Iterable[int]) -> dict[int, bytes]:
    """Read records' bytes by log index; an index that the log doesn't have is left out."""
    query = select(LeafRow.log_index, LeafRow.record)
    rows = session.execute(query.where(LeafRow.log_index.in_(list(indices))))
    return {index: record for index, record in rows}  # noqa: C416  # a row is no pair to the type checker


def _read_hashes(session: Session, positions: Sequence[int]) -> dict[int, bytes]:
    found: dict[int, bytes] = {}
    for start in range(0, len(positions), _VARIABLES):
        some = positions[start : start + _VARIABLES]
        query = select(LogNodeRow.position, LogNodeRow.hash).where(LogNodeRow.position.in_(some))
        found.update({position: stored for position, stored in session.execute(query)})  # noqa: C416  # as above
    return found


def split_frontier(hashes: bytes) -> Frontier:
    """Split a head's frontier, hashes end to end, into the hashes."""
    return tuple(hashes[start : start + HASH_BYTES] for start in range(0, len(hashes), HASH_BYTES))
