"""What somebody with every right on the database and the folder may do to a log behind the service's back."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, delete, insert, select, text, update

from api.db import triggers
from api.db.tables import CheckpointRow, LeafRow, LogHeadRow, LogNodeRow, SigningKeyRow
from api.vault import of_signing_key
from shoe.proof.checkpoint import Checkpoint, print_checkpoint
from shoe.proof.merkle import Node, appended_nodes, leaf_hash, root_of_frontier
from shoe.proof.note import SignerKey, sign_note
from tests.api.installation import EVERY_COUP, ORIGIN, Chance, Clock, Installation
from tests.api.postgres import Postgres

LONG_AGO = datetime(2020, 1, 31, 12, tzinfo=UTC)
"""The logs here are from then, so that the machine's own clock, which commands look at, is never before them."""

SIZE = 11
FRONTIER = [Node(3, 0), Node(1, 4), Node(0, 10)]
"""Perfect subtrees of 8, 2 and 1 leaves: 11 in binary."""

Tamper = Callable[[Installation], None]


class Originals:
    """One log on each database, made once, and copies of it to tamper with.

    Eleven leaves under ten checkpoints: key, book, open, lock, seal, five coups, the last of them with the reveal.
    """

    def __init__(
        self, folder: Path, server: Callable[[], Postgres], further: Callable[[Installation], None] = lambda house: None
    ) -> None:
        """Make originals in a folder and on a server; `further` goes on with the log of eleven leaves."""
        self._folder, self._server, self._further = folder, server, further
        self._made: dict[str, Installation] = {}

    @contextmanager
    def copy(self, database: str, folder: Path) -> Iterator[Installation]:
        """A running installation of its own, with the same log, keys and pin."""
        original = self._made.get(database) or self._make(database)
        shutil.copytree(original.folder, folder)
        url = None if database == "sqlite" else self._server().create_database(original.database_url)
        house = Installation(folder, Clock(LONG_AGO), Chance(1000), database_url=url)
        try:
            yield house
        finally:
            house.stop()
            if house.database_url is not None:
                self._server().drop_database(house.database_url)

    def _make(self, database: str) -> Installation:
        url = None if database == "sqlite" else self._server().create_database()
        house = Installation(self._folder / database, Clock(LONG_AGO), database_url=url)
        house.table(**EVERY_COUP)
        house.deal_out(house.sealed())
        assert house.size() == SIZE
        self._further(house)
        house.stop()
        self._made[database] = house
        return house


def restart(house: Installation) -> None:
    house.stop()
    house.start()


@contextmanager
def full_rights(house: Installation) -> Iterator[Connection]:
    """Write past the triggers, which are away meanwhile and as they were afterwards."""
    with house.service.store.writers.begin() as connection:
        triggers.remove(connection)
        yield connection
        triggers.install(connection)


def set_row(house: Installation, row: type[Any], key: Any, **values: object) -> None:
    """Change columns of one row, found by its primary key."""
    (column,) = row.__table__.primary_key
    with full_rights(house) as connection:
        assert connection.execute(update(row).where(column == key).values(**values)).rowcount == 1


def record_of(house: Installation, index: int) -> bytes:
    with house.service.reading() as session:
        return session.get_one(LeafRow, index).record


def node_of(house: Installation, position: int) -> bytes:
    with house.service.reading() as session:
        return session.get_one(LogNodeRow, position).hash


def head_of(house: Installation) -> LogHeadRow:
    with house.service.reading() as session:
        head = session.get_one(LogHeadRow, 1)
        session.expunge(head)
        return head


def flipped(data: bytes, bit: int = 0) -> bytes:
    """The same bytes with one bit turned over."""
    at = bit // 8
    return data[:at] + bytes([data[at] ^ (1 << bit % 8)]) + data[at + 1 :]


def edit_record(house: Installation, index: int = 5) -> None:
    """Another winner in a coup: the record stays canonical and parses."""
    record = record_of(house, index)
    winner = next(each for each in (b"banker", b"player", b"tie") if b'"outcome":"%s"' % each in record)
    other = b"tie" if winner != b"tie" else b"banker"
    edited = record.replace(b'"outcome":"%s"' % winner, b'"outcome":"%s"' % other)
    assert edited != record
    set_row(house, LeafRow, index, record=edited)


def edit_record_and_its_hash(house: Installation, index: int = 5) -> None:
    edit_record(house, index)
    set_row(house, LogNodeRow, 2 * index, hash=leaf_hash(record_of(house, index)))


def edit_record_and_rebuild(house: Installation, index: int = 5) -> None:
    """The edited record under a tree and a head that are right for it; nobody can sign that."""
    edit_record(house, index)
    with full_rights(house) as connection:
        rebuild(connection)


def rebuild(connection: Connection) -> bytes:
    """Compute every node and the head anew from the records; give the root."""
    connection.execute(delete(LogNodeRow))
    frontier: tuple[bytes, ...] = ()
    size = 0
    for record in connection.scalars(select(LeafRow.record).order_by(LeafRow.log_index)).all():
        nodes, frontier = appended_nodes(frontier, size, leaf_hash(record))
        connection.execute(insert(LogNodeRow), [{"position": node.position, "hash": made} for node, made in nodes])
        size += 1
    root = root_of_frontier(frontier, size)
    connection.execute(update(LogHeadRow).values(size=size, frontier=b"".join(frontier), root=root))
    return root


def swap_leaves(house: Installation, one: int = 5, other: int = 6) -> None:
    records = [record_of(house, index) for index in (other, one)]
    for index, record in zip((one, other), records, strict=True):
        set_row(house, LeafRow, index, record=record)


def cut_off(house: Installation, size: int = 6) -> None:
    """Delete the log's tail, and set everything back to what it was at that size: nothing in the database tells."""
    with full_rights(house) as connection:
        last = connection.scalar(select(LeafRow.record).where(LeafRow.log_index == size - 1)) or b""
        connection.execute(delete(CheckpointRow).where(CheckpointRow.size > size))
        connection.execute(delete(LeafRow).where(LeafRow.log_index >= size))
        rebuild(connection)
        kept = connection.scalar(select(CheckpointRow.text).where(CheckpointRow.size == size))
        time = last.split(b'"time":"')[1][:27].decode()
        connection.execute(update(LogHeadRow).values(checkpoint=kept, time=time))


def flip_node(position: int) -> Tamper:
    def tamper(house: Installation) -> None:
        set_row(house, LogNodeRow, position, hash=flipped(node_of(house, position), 100))

    return tamper


def attackers_key(house: Installation) -> SignerKey:
    return SignerKey.from_seed(ORIGIN, b"attacker" * 4)


def attackers_row(house: Installation, log_index: int) -> dict[str, object]:
    """A key of the attacker's, who even has the vault's key."""
    key = attackers_key(house)
    sealed = house.service.vault.seal(b"attacker" * 4, of_signing_key(str(key.vkey)))
    return {"vkey": str(key.vkey), "sealed_seed": sealed, "status": "active", "log_index": log_index}


def replace_key(house: Installation) -> None:
    row = attackers_row(house, 0)
    with full_rights(house) as connection:
        connection.execute(update(SigningKeyRow).values(**row))


def add_key(house: Installation) -> None:
    row = attackers_row(house, 99)
    with full_rights(house) as connection:
        connection.execute(insert(SigningKeyRow).values(**row))


def end_key(house: Installation) -> None:
    with full_rights(house) as connection:
        connection.execute(update(SigningKeyRow).values(status="retired"))


def sign_by_another(house: Installation) -> None:
    """The head's own text under a signature of another key."""
    head = head_of(house)
    forged = sign_note(print_checkpoint(Checkpoint(ORIGIN, head.size, head.root)), [attackers_key(house)])
    set_row(house, LogHeadRow, 1, checkpoint=forged)
    set_row(house, CheckpointRow, head.size, text=forged)


def forge_growth(house: Installation) -> None:
    """A record more, under a head signed by another key, which whoever pins heads has pinned."""
    more = {"record": record_of(house, 1), "type": "book", "shoe": None, "seq": None}
    with full_rights(house) as connection:
        connection.execute(insert(LeafRow).values(log_index=SIZE, **more))
        root = rebuild(connection)
        forged = sign_note(print_checkpoint(Checkpoint(ORIGIN, SIZE + 1, root)), [attackers_key(house)])
        connection.execute(update(LogHeadRow).values(checkpoint=forged))
        connection.execute(insert(CheckpointRow).values(size=SIZE + 1, text=forged))
    house.service.permit.pinned.keep(SIZE + 1, forged)


def show_older_checkpoint(house: Installation) -> None:
    """A good signature, but of the log as it was."""
    with house.service.reading() as session:
        older = session.get_one(CheckpointRow, 8).text
    set_row(house, LogHeadRow, 1, checkpoint=older)
    set_row(house, CheckpointRow, SIZE, text=older)


def execute(*statements: str) -> Tamper:
    """Statements of SQL, with the triggers left as these leave them."""

    def tamper(house: Installation) -> None:
        with house.service.store.writers.begin() as connection:
            for statement in statements:
                connection.execute(text(statement))

    return tamper


def past_triggers(*statements: str) -> Tamper:
    """Statements of SQL with full rights."""

    def tamper(house: Installation) -> None:
        with full_rights(house) as connection:
            for statement in statements:
                connection.execute(text(statement))

    return tamper


def alter_trigger(house: Installation) -> None:
    """The trigger that keeps records from being changed, now letting every change pass."""
    if house.database_url is None:
        does_nothing = "BEFORE UPDATE ON leaves WHEN FALSE BEGIN SELECT RAISE(ABORT, ''); END"
        made = f"CREATE TRIGGER guard_leaves_no_update {does_nothing}"
        execute("DROP TRIGGER guard_leaves_no_update", made)(house)
    else:
        body = "BEGIN RETURN NEW; END"
        execute(f"CREATE OR REPLACE FUNCTION guard_leaves_no_update() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")(
            house
        )


def drop_trigger(house: Installation) -> None:
    table = "" if house.database_url is None else " ON leaves"
    execute(f"DROP TRIGGER guard_leaves_no_update{table}")(house)


def pin_of(house: Installation) -> Path:
    return house.folder / "checkpoint.pinned"


def delete_pin(house: Installation) -> None:
    pin_of(house).unlink()


def write_pin(content: bytes) -> Tamper:
    def tamper(house: Installation) -> None:
        pin_of(house).write_bytes(content)

    return tamper


def flip_pin(house: Installation) -> None:
    """One bit of the root that it says: the signature is not good any more."""
    pinned = pin_of(house).read_text()
    origin, size, root, *rest = pinned.split("\n")
    other = "A" if root[0] != "A" else "B"
    pin_of(house).write_text("\n".join([origin, size, other + root[1:], *rest]))


def pin_another_log(house: Installation) -> None:
    key = SignerKey.from_seed("other.example/log", bytes(32))
    pin_of(house).write_text(sign_note(print_checkpoint(Checkpoint("other.example/log", 3, bytes(32))), [key]))


def another_vault_key(house: Installation) -> None:
    (house.folder / "vault.key").write_bytes(bytes(32))


def no_vault_key(house: Installation) -> None:
    (house.folder / "vault.key").unlink()


def set_clock_back(house: Installation) -> None:
    house.clock.forward(-3600)
