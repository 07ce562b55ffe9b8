"""What a database holds, as it is now and not as today's code declares it: schema, tables, columns, rows, log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from alembic.runtime.migration import MigrationContext
from sqlalchemy import BigInteger, ColumnElement, Connection, LargeBinary, MetaData, Row, Table, Text, select

from api.backup.manifest import Column
from api.db.tables import Base
from api.settings import SetupError
from shoe.errors import ProofError, expected
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.merkle import leaf_hash
from shoe.proof.note import parse_vkey
from shoe.proof.span import root_from_span

AT_ONCE: Final = 1000
"""Rows in memory at a time."""

_VERSION: Final = "alembic_version"
_KINDS: Final = ((BigInteger, "integer"), (Text, "text"), (LargeBinary, "bytes"))
_ORDER: Final = {"shoes": ("open_index",)}
"""Where rows can't be put back in the order of the primary key: a shoe names the one before it at its table."""


def schema_of(connection: Connection) -> str | None:
    """Name the revision of a database, None where it has none."""
    return MigrationContext.configure(connection).get_current_revision()


def tables_of(connection: Connection) -> dict[str, Table]:
    """Give the tables of a database by name, each behind those that it refers to.

    Raises SetupError for a table that is not ours: leaving it out would be losing it.
    """
    found = MetaData()
    found.reflect(connection)
    foreign = sorted(found.tables.keys() - Base.metadata.tables.keys() - {_VERSION})
    if foreign:
        raise SetupError(f"table {foreign[0]}: expected only fairshoe's tables; give each its own database")
    return {table.name: table for table in found.sorted_tables if table.name != _VERSION}


def columns_of(table: Table) -> tuple[Column, ...]:
    """List a table's columns in its order; raises SetupError for one of a type that none of ours has."""
    return tuple(Column(column.name, _kind(column)) for column in table.columns)


def rows_of(connection: Connection, table: Table) -> Iterator[Sequence[Row[Any]]]:
    """Read a table's rows, some at a time, in one order on every database."""
    query = select(table).order_by(*_order(connection, table))
    with connection.execute(query, execution_options={"yield_per": AT_ONCE}) as found:
        yield from found.partitions()


def prove_log(connection: Connection, tables: Mapping[str, Table]) -> str | None:
    """Recompute the log's root from its records' bytes, and give the head's checkpoint, None where there is no log.

    Raises ProofError where the records lead to another root than the one signed, or the log's keys did not sign it;
    NoteError where the checkpoint is none. Takes time in proportion to the records, and no memory.
    """
    head = tables["log_head"].columns if "log_head" in tables else None
    checkpoint = None if head is None else connection.scalar(select(head["checkpoint"]))
    if checkpoint is None:
        return None
    vkeys = map(parse_vkey, connection.scalars(select(tables["signing_keys"].columns["vkey"])))
    signed = check_checkpoint(str(checkpoint), vkeys)
    leaves = (leaf_hash(row.record) for rows in rows_of(connection, tables["leaves"]) for row in rows)
    reached = root_from_span(0, (), leaves, (), signed.size)
    if reached != signed.root:
        raise ProofError(expected(signed.root.hex(), reached.hex(), f"root of the {signed.size} records"))
    return str(checkpoint)


def _order(connection: Connection, table: Table) -> Iterator[ColumnElement[Any]]:
    for name in _ORDER.get(table.name) or table.primary_key.columns.keys():
        column = table.columns[name]
        # A language's order of words, which PostgreSQL may sort by, is not that of bytes.
        by_bytes = isinstance(column.type, Text) and connection.dialect.name == "postgresql"
        yield column.collate("C") if by_bytes else column


def _kind(column: ColumnElement[Any]) -> str:
    for cls, kind in _KINDS:
        if isinstance(column.type, cls):
            return kind
    raise SetupError(expected("integer, text or bytes", str(column.type), f"column {column}"))
