"""Making a backup: two passes over one snapshot, the first to count, the second to write; in flat memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Table

from api.backup.archive import write_archive
from api.backup.manifest import FORMAT, MANIFEST, Manifest, Member, print_manifest, read_signed
from api.backup.rows import print_row
from api.backup.stored import columns_of, prove_log, rows_of, schema_of, tables_of
from api.db.sessions import Store
from api.newfile import PRIVATE, new_file
from api.settings import SetupError
from shoe.errors import NoteError, ProofError

if TYPE_CHECKING:
    from hashlib import _Hash


@dataclass(slots=True)
class Tally:
    """Rows, bytes and SHA-256 of the lines that went through."""

    rows: int = 0
    size: int = 0
    _hash: _Hash = field(default_factory=hashlib.sha256)

    def count(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """Pass lines on, counted."""
        for line in lines:
            self.rows += 1
            self.size += len(line)
            self._hash.update(line)
            yield line

    @property
    def sha256(self) -> bytes:
        """The hash of all lines so far."""
        return self._hash.digest()


def make_backup(store: Store, path: Path) -> Manifest:
    """Write all that the database holds at one moment into a new file of mode 0600; give its manifest.

    The service may run on. Raises SetupError for a database without a log, with one that does not prove its head,
    or with tables that are not ours, and OSError where the file is there already or can't be written.
    """
    with new_file(path, PRIVATE) as file, store.reading() as session:
        connection = session.connection()
        tables = tables_of(connection)
        manifest = _take_stock(connection, tables)
        printed = print_manifest(manifest)
        with write_archive(file) as archive:
            archive.add(MANIFEST, len(printed), [printed])
            for member in manifest.tables:
                archive.add(member.name, member.size, _lines(connection, tables[member.table]))
    return manifest


def _take_stock(connection: Connection, tables: dict[str, Table]) -> Manifest:
    schema = schema_of(connection)
    try:
        checkpoint = prove_log(connection, tables)
    except (NoteError, ProofError) as error:
        # A backup that could not be restored is none, and it is better to know today.
        raise SetupError(f"the log does not prove its head: {error}; run: fairshoe log check") from None
    if schema is None or checkpoint is None:
        raise SetupError("the database holds no log yet: there is nothing to back up")
    signed = read_signed(checkpoint)
    members = tuple(_count(connection, table) for table in tables.values())
    return Manifest(FORMAT, schema, signed.origin, signed.size, signed.root, checkpoint, members)


def _count(connection: Connection, table: Table) -> Member:
    tally = Tally()
    for _ in tally.count(_lines(connection, table)):
        pass
    return Member(table.name, columns_of(table), tally.rows, tally.size, tally.sha256)


def _lines(connection: Connection, table: Table) -> Iterator[bytes]:
    columns = columns_of(table)
    for rows in rows_of(connection, table):
        for row in rows:
            yield print_row(columns, row)
