"""The formats of an export by name: media type, and the pieces that a planned span is printed in."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import BinaryIO, Final, Literal, NamedTuple

from sqlalchemy.orm import Session

from api.cases.exporting import Planned, print_archive, prove_span
from api.exports.parquet import installed, print_parquet
from api.exports.rows import read_rows
from api.exports.separated import print_separated
from api.refusals import Kind, Refusal
from shoe.proof.span import Span

FormatName = Literal["span", "csv", "parquet"]

NO_PARQUET: Final = Kind(
    "parquet-not-installed",
    409,
    "This service can't write Parquet",
    "Install the extra: pip install 'fairshoe[parquet]', and start the service again; or ask for csv.",
)
_PIECE_BYTES: Final = 2**16


class Format(NamedTuple):
    """A format: the media type of its files, and what prints a planned span in it."""

    media_type: str
    pieces: Callable[[Session, Planned], Iterator[bytes]]


FORMATS: Final[Mapping[FormatName, Format]] = {
    "span": Format("application/octet-stream", print_archive),
    "csv": Format("text/csv", lambda session, planned: print_separated(read_rows(session, planned))),
    "parquet": Format(
        "application/vnd.apache.parquet",
        lambda session, planned: print_parquet(read_rows(session, planned), planned.checkpoint),
    ),
}


def require_format(name: FormatName) -> Format:
    """Give a format by its name; raises Refusal for one whose extra is not installed."""
    if name == "parquet" and not installed():
        raise Refusal(NO_PARQUET, "The format is parquet, and the extra `parquet` is not installed.")
    return FORMATS[name]


def print_planned(session: Session, planned: Planned, name: FormatName) -> Generator[bytes, None, None]:
    """Print a planned span in pieces of some 64 kB; raises Refusal as `require_format` does.

    Who leaves before the end closes it while the session is open.
    """
    return _joined(require_format(name).pieces(session, planned))


def export_records(session: Session, file: BinaryIO, planned: Planned, name: FormatName) -> Span:
    """Prove a planned span and write it into a file in a format; the archive in the same reading that proves it.

    Raises ProofError as `prove_span` does, and Refusal as `require_format`.
    """
    require_format(name)
    if name == "span":
        return prove_span(session, planned, file)
    span = prove_span(session, planned)
    file.writelines(print_planned(session, planned, name))
    return span


def _joined(pieces: Iterable[bytes]) -> Generator[bytes, None, None]:
    waiting, length = [], 0
    for piece in pieces:
        waiting.append(piece)
        length += len(piece)
        if length >= _PIECE_BYTES:
            yield b"".join(waiting)
            waiting, length = [], 0
    if waiting:
        yield b"".join(waiting)
