"""Restoring a backup into an empty database, at the schema it was made at; then to today's by the migrations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic.util import CommandError
from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import DBAPIError

from api.backup.archive import ArchiveReader, BackupError, read_archive
from api.backup.making import Tally
from api.backup.manifest import MANIFEST, MANIFEST_MOST_BYTES, Manifest, Member, parse_manifest
from api.backup.rows import parse_row
from api.backup.stored import AT_ONCE, columns_of, prove_log, schema_of, tables_of
from api.db import triggers
from api.db.migrate import newest_revision, upgrade
from api.db.sessions import Store, out_of_reach
from api.settings import SetupError
from shoe.errors import NoteError, ProofError, expected


def check_backup(path: Path) -> Manifest:
    """Read a whole backup, and give its manifest once every member has the size, rows and hash that it says.

    Raises BackupError for a file that is damaged, cut off, or has anything else in it; OSError where it can't be read.
    """
    with _opened(path) as (manifest, archive):
        for member in manifest.tables:
            for _ in _lines(archive, member):
                pass
        archive.end()
    return manifest


def restore_backup(store: Store, path: Path) -> Manifest:
    """Put a backup into an empty database and bring it to the newest schema; give its manifest.

    The file is read to its end before anything is written; all rows come in by one transaction, which stands only where
    the records lead to the checkpoint's root. Raises BackupError for what `check_backup` refuses, a schema that this
    version doesn't know, rows that don't fit it and records that don't prove the checkpoint; SetupError for a database
    that holds anything.
    """
    manifest = check_backup(path)
    _require_room(store, manifest)
    _make_tables(store, manifest, path)
    with _opened(path) as (again, archive):
        if again != manifest:
            raise BackupError("expected the file to stay as it is while it is read, got another manifest")
        _fill_all(store, manifest, archive)
    upgrade(store)
    return manifest


@contextmanager
def _opened(path: Path) -> Iterator[tuple[Manifest, ArchiveReader]]:
    with path.open("rb") as file, read_archive(file) as archive:
        try:
            yield parse_manifest(archive.first(MANIFEST, MANIFEST_MOST_BYTES)), archive
        except BackupError as error:
            raise BackupError(f"{path}: {error}; take another backup") from None


def _lines(archive: ArchiveReader, member: Member) -> Iterator[bytes]:
    tally = Tally()
    yield from tally.count(archive.lines(member.name, member.size))
    wanted = f"{member.rows} rows of SHA-256 {member.sha256.hex()}"
    got = f"{tally.rows} rows of SHA-256 {tally.sha256.hex()}"
    if got != wanted:
        raise BackupError(f"{member.name}: expected {wanted}, got {got}")


def _make_tables(store: Store, manifest: Manifest, path: Path) -> None:
    try:
        upgrade(store, manifest.schema)
    except CommandError:
        known = f"a schema that this version knows, up to {newest_revision()}"
        where = f"{path}: {MANIFEST}"
        raise BackupError(
            f"{expected(known, manifest.schema, where)}; restore it by the version that made it"
        ) from None


def _fill_all(store: Store, manifest: Manifest, archive: ArchiveReader) -> None:
    with store.founding() as session:
        connection = session.connection()
        tables = tables_of(connection)
        _require_empty(store, connection, tables)
        _require_tables(manifest, tables)
        triggers.remove(connection)
        for member in manifest.tables:
            _fill(connection, tables[member.table], member, _lines(archive, member))
        archive.end()
        _require_log(connection, tables, manifest)
        if manifest.schema == newest_revision():
            triggers.install(connection)


def _require_room(store: Store, manifest: Manifest) -> None:
    with store.reading() as session:
        connection = session.connection()
        schema = schema_of(connection)
        _require_empty(store, connection, tables_of(connection))
    if schema is not None and schema > manifest.schema:
        wanted = f"no tables yet, for a backup of schema {manifest.schema}"
        raise SetupError(f"{expected(wanted, f'schema {schema}', store.name)}; restore into a new database")


def _require_empty(store: Store, connection: Connection, tables: dict[str, Table]) -> None:
    for table in tables.values():
        if connection.execute(select(table).limit(1)).first() is not None:
            raise SetupError(
                f"{store.name}: expected an empty database, got rows in table {table.name}; restore into a new database"
            )


def _require_tables(manifest: Manifest, tables: dict[str, Table]) -> None:
    said = {member.table: sorted(member.columns) for member in manifest.tables}
    wanted = {name: sorted(columns_of(table)) for name, table in tables.items()}
    for name in sorted(said.keys() | wanted.keys()):
        if name not in wanted:
            raise BackupError(expected(f"only tables of schema {manifest.schema}", name, MANIFEST))
        if said.get(name) != wanted[name]:
            columns, got = (", ".join(map(" ".join, each)) for each in (wanted[name], said.get(name, [])))
            raise BackupError(f"{MANIFEST}: expected the table {name} with {columns}, got {got or 'no such table'}")


def _fill(connection: Connection, table: Table, member: Member, lines: Iterator[bytes]) -> None:
    rows = []
    for number, line in enumerate(lines, start=1):
        rows.append(parse_row(member.columns, line, f"{member.name} line {number}"))
        if len(rows) == AT_ONCE:
            _insert(connection, table, rows)
            rows = []
    _insert(connection, table, rows)


def _insert(connection: Connection, table: Table, rows: list[dict[str, object]]) -> None:
    try:
        if rows:
            connection.execute(table.insert(), rows)
    except DBAPIError as error:
        if out_of_reach(error):
            raise
        # The driver's own words show values of the rows.
        raise BackupError(
            f"table {table.name}: expected rows that fit together, got {type(error.orig).__name__}"
        ) from None


def _require_log(connection: Connection, tables: dict[str, Table], manifest: Manifest) -> None:
    try:
        checkpoint = prove_log(connection, tables)
    except (NoteError, ProofError) as error:
        raise BackupError(f"the log in it: {error}") from None
    if checkpoint != manifest.checkpoint:
        raise BackupError(f"log_head: expected the manifest's checkpoint over {manifest.size} records, got another")
