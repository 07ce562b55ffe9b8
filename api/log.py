"""The log: the only writer of leaves, nodes, head and checkpoints, and the reader of their proofs (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from api.db.tables import CheckpointRow, LeafRow, LogHeadRow, LogNodeRow, SigningKeyRow
from api.settings import SetupError
from api.vault import Vault, of_signing_key
from api.world import World, print_time
from shoe.errors import ImpossibleError, expected
from shoe.proof.checkpoint import Checkpoint, print_checkpoint
from shoe.proof.merkle import (
    EMPTY_ROOT,
    HASH_BYTES,
    Frontier,
    Node,
    appended_nodes,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    root_of_frontier,
)
from shoe.proof.note import SignerKey, parse_vkey, sign_note
from shoe.proof.records import Key, Record, ShoeRecord, parse_record
from shoe.proof.tlog import Receipt, TlogProof

HEAD: Final = 1
_SEED_BYTES: Final = 32
_VARIABLES: Final = 10_000
"""Keys in one query: below what any database takes as bound values."""


@dataclass(frozen=True, slots=True)
class Log:
    """The log under its signing key; all state is in the caller's session."""

    signer: SignerKey

    @property
    def origin(self) -> str:
        """The log's name, as every record and checkpoint bears it."""
        return self.signer.vkey.name

    def append(self, session: Session, records: Sequence[Record]) -> tuple[int, ...]:
        """Add records as the next leaves, and sign one checkpoint over them; give their indices.

        Part of the caller's write transaction, which must hold the head by `lock_head`. Costs two nodes a record
        over many, and one row each of head and checkpoints. Raises ImpossibleError for a record that is no record,
        of another log, or older than the last.
        """
        head = session.get_one(LogHeadRow, HEAD)
        first, size, time, frontier = head.size, head.size, head.time, _split(head.frontier)
        leaves: list[dict[str, object]] = []
        nodes: list[dict[str, object]] = []
        for record in records:
            leaves.append(self._leaf(record, size, time))
            complete, frontier = appended_nodes(frontier, size, leaf_hash(record.to_bytes()))
            nodes += [{"position": node.position, "hash": found} for node, found in complete]
            size, time = size + 1, record.time
        session.execute(insert(LeafRow), leaves)
        session.execute(insert(LogNodeRow), nodes)
        head.size, head.time, head.frontier = size, time, b"".join(frontier)
        head.root = root_of_frontier(frontier, size)
        head.checkpoint = self._sign(size, head.root)
        session.add(CheckpointRow(size=size, text=head.checkpoint))
        return tuple(range(first, size))

    def _leaf(self, record: Record, index: int, since: str) -> dict[str, object]:
        data = record.to_bytes()
        # What is logged can never be taken back: nothing enters that a verifier would refuse to read.
        if parse_record(data) != record or record.log != self.origin or record.time < since:
            raise ImpossibleError(f"record {index}: not a record of {self.origin} from {since} on")
        shoe, seq = (record.shoe, record.seq) if isinstance(record, ShoeRecord) else (None, None)
        return {"log_index": index, "record": data, "type": record.type, "shoe": shoe, "seq": seq}

    def _sign(self, size: int, root: bytes) -> str:
        return sign_note(print_checkpoint(Checkpoint(self.origin, size, root)), [self.signer])


def open_log(session: Session, vault: Vault, world: World, origin: str | None) -> Log:
    """Open the log with the key that the database holds; on the first start make key and log.

    The first leaf is the `key` record of the log's own key. Part of the caller's write transaction. Raises
    SetupError where the log in the database has another origin than asked for, or the vault doesn't open its key.
    """
    held = session.scalars(select(SigningKeyRow)).one_or_none()
    if held is None:
        return _found_log(session, vault, world, origin or f"localhost/fairshoe-{world.random_bytes(8).hex()}")
    name = parse_vkey(held.vkey).name
    if origin not in (None, name):
        raise SetupError(expected(f"{name}, the log's name since its first start", origin, "origin"))
    return Log(SignerKey.from_seed(name, vault.open(held.sealed_seed, of_signing_key(held.vkey))))


def _found_log(session: Session, vault: Vault, world: World, origin: str) -> Log:
    seed = world.random_bytes(_SEED_BYTES)
    log = Log(SignerKey.from_seed(origin, seed))
    vkey, time = str(log.signer.vkey), print_time(world.now())
    session.add(SigningKeyRow(vkey=vkey, sealed_seed=vault.seal(seed, of_signing_key(vkey))))
    session.add(LogHeadRow(id=HEAD, size=0, frontier=b"", root=EMPTY_ROOT, time=time, checkpoint=""))
    session.flush()
    log.append(session, [Key(log=origin, time=time, vkey=vkey, status="added")])
    return log


def lock_head(session: Session, world: World) -> tuple[LogHeadRow, str]:
    """Hold the head for one write transaction, and give it with the transaction's time.

    The time is the clock's once the head is held, but never before the last record's: a clock set back stands still.
    Every writer starts here, so that a database with finer locks than SQLite's lets one at a time through too.
    """
    head = session.scalars(select(LogHeadRow).where(LogHeadRow.id == HEAD).with_for_update()).one()
    return head, max(print_time(world.now()), head.time)


def read_head(session: Session) -> LogHeadRow:
    """Read the head: size, root and signed checkpoint."""
    return session.get_one(LogHeadRow, HEAD)


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


def _split(hashes: bytes) -> Frontier:
    return tuple(hashes[start : start + HASH_BYTES] for start in range(0, len(hashes), HASH_BYTES))
