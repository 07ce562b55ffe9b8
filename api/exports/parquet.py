"""Parquet, by the optional extra `parquet`: typed columns, in row groups of a few megabytes; the checkpoint beside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from importlib.util import find_spec
from typing import Any, Final

from api.exports.rows import Row

CHECKPOINT: Final = "checkpoint"
"""The key in the file's metadata under which the log's signed checkpoint stands, as text."""

_GROUP_ROWS: Final = 4096
_GROUP_CHARACTERS: Final = 2**22


def installed() -> bool:
    """Say whether the extra is installed."""
    return find_spec("pyarrow") is not None


def print_parquet(rows: Iterable[Row], checkpoint: str) -> Iterator[bytes]:
    """Print rows as a Parquet file, a row group a piece; needs the extra.

    Times are timestamps of microseconds in UTC, indices 64-bit integers, all else strings; compressed by zstd.
    """
    import pyarrow  # noqa: PLC0415  an extra
    from pyarrow.parquet import ParquetWriter  # noqa: PLC0415  as above

    schema = _schema(pyarrow, checkpoint)
    sink = _Sink()
    with ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(pyarrow.table(_columns(group), schema=schema))
            group.clear()  # or it would stay while the next is read
            yield sink.take()
    yield sink.take()


class _Sink:
    """A file that keeps what is written only until it is taken."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        """Do nothing: whoever takes the pieces writes them."""

    def close(self) -> None:
        """Do nothing: what is left is still to be taken."""

    def take(self) -> bytes:
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def _schema(pyarrow: Any, checkpoint: str) -> Any:
    number, text = pyarrow.int64(), pyarrow.string()
    return pyarrow.schema(
        [
            pyarrow.field("log_index", number, nullable=False),
            pyarrow.field("time", pyarrow.timestamp("us", tz="UTC"), nullable=False),
            pyarrow.field("type", text, nullable=False),
            pyarrow.field("table", text),
            pyarrow.field("shoe", text),
            pyarrow.field("seq", number),
            pyarrow.field("record", text, nullable=False),
        ],
        metadata={CHECKPOINT: checkpoint},
    )


def _columns(group: list[Row]) -> list[list[Any]]:
    columns: list[list[Any]] = [list(column) for column in zip(*group, strict=True)]
    columns[1] = [datetime.fromisoformat(time) for time in columns[1]]
    return columns


def _groups(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """Cut rows into groups that are bounded by their number and by their records' length."""
    group: list[Row] = []
    length = 0
    for row in rows:
        group.append(row)
        length += len(row.record)
        if len(group) == _GROUP_ROWS or length >= _GROUP_CHARACTERS:
            yield group
            group, length = [], 0
    if group:
        yield group
