"""The regulator's: exports of all records of a time, how often shoes are given up, and what was not used of books."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import BoundedSemaphore
from typing import Any, Final

from flask import Response, current_app
from sqlalchemy.orm import Session

from api.access import REGULATOR
from api.answers import UnusedPage, VoidStatistics
from api.cases.exporting import Planned, plan_span, prove_span
from api.cases.regulating import EndedBook, Opened, VoidShoe, count_voids, list_ended_books, list_voids
from api.exports.formats import FORMATS, NO_PARQUET, FormatName, print_planned, require_format
from api.payloads import ExportQuery, UnusedQuery, VoidsQuery
from api.refusals import NOT_FOUND, Kind, Refusal
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, page, read_cursor, service
from api.world import print_time, seconds_after
from audit.edges import percent
from shoe.errors import FairshoeError, InputError, ProofError, expected
from shoe.proof.records import VOID_REASONS

MAX_RECORDS: Final = 1_000_000
EXPORTS_AT_ONCE: Final = 2
EXPORT_S: Final = 3600

EXPORTS_BUSY: Final = Kind(
    "exports-busy", 503, "As many exports run as may at once", "Wait for the seconds in Retry-After, then ask again."
)
LOG_UNPROVEN: Final = Kind(
    "log-unproven",
    503,
    "The log in the database does not prove its signed head",
    "Nothing of it can be relied on; the operator finds what is wrong by: fairshoe log check.",
)
_BUSY_S: Final = 30
_SLOTS: Final = "fairshoe exports"

blueprint = Resource("regulator", "/v1")


class TooSlow(FairshoeError):
    """Whoever reads an export has not read it in the time that a snapshot is held for."""


class Streamed(Response):
    """An answer that nobody may put together in memory, not even to know its length."""

    implicit_sequence_conversion = False


@blueprint.get(
    "/exports/records",
    access=REGULATOR,
    query=ExportQuery,
    answers={200: tuple(made.media_type for made in FORMATS.values())},
    refuses=(NOT_FOUND, NO_PARQUET, EXPORTS_BUSY, LOG_UNPROVEN),
)
def export_records(asked: ExportQuery) -> Response:
    """Export all records of a stretch of time, as one file.

    It holds every record with from ≤ time < to, null standing for the log's beginning or end. `span` is the canonical
    archive, the same bytes as `fairshoe export` writes, which anyone checks by `fairshoe export check`. `csv` (RFC
    4180) and `parquet` have the columns `log_index`, `time`, `type`, `table`, `shoe`, `seq` and `record`, the last the
    record's bytes. Every format is proved under the log's signed checkpoint before its first byte is sent.

    One export has at most a million records; two run at once in each process of the service. An export that fails on
    its way, or is not read within an hour, breaks off: it is whole only where the transfer ended as HTTP has it.
    """
    require_format(asked.format)
    with ExitStack() as held:
        held.enter_context(_slot())
        session = held.enter_context(service().reading())
        planned = plan_span(session, asked.from_, asked.to, asked.size)
        _require_bounded(planned)
        _prove(session, planned)
        pieces = print_planned(session, planned, asked.format)
        held.callback(pieces.close)
        response = Streamed(_in_time(pieces), content_type=FORMATS[asked.format].media_type)
        name = _name(planned, asked.format)
        response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        # The snapshot is held until the last piece is out, or whoever reads is gone.
        response.call_on_close(held.pop_all().close)
    return response


@blueprint.get(
    "/statistics/voids", access=REGULATOR, query=VoidsQuery, answers={200: VoidStatistics}, refuses=(NOT_FOUND,)
)
def show_voids(asked: VoidsQuery) -> Response:
    """Count how often shoes are given up, and list the void ones.

    Of the shoes opened in the scope, as they stand now. The rate is of those that have ended.
    """
    scope = Opened(asked.table, asked.from_, asked.to)
    with service().reading() as session:
        found = count_voids(session, scope)
        shown = [_print_void(each) for each in list_voids(session, scope, read_cursor(asked.after), asked.limit)]
    states, rate = found.states, found.rate
    return answer_privately(
        {
            "scope": asked.model_dump(by_alias=True, include={"table", "from_", "to"}),
            "opened": states.total(),
            "live": states.total() - states["revealed"] - states["void"],
            "revealed": states["revealed"],
            "void": states["void"],
            "by_reason": {reason: found.reasons[reason] for reason in VOID_REASONS},
            "rate": None if rate is None else str(rate),
            "rate_decimal": None if rate is None else percent(rate / 100),
            "longest_run": None if found.longest is None else _print_void(found.longest),
            **page("void_shoes", shown, asked.limit, "open_index"),
        }
    )


@blueprint.get("/books/unused", access=REGULATOR, query=UnusedQuery, answers={200: UnusedPage}, refuses=(NOT_FOUND,))
def show_unused(asked: UnusedQuery) -> Response:
    """List the ended books, each with the seeds that no shoe opened.

    Their master is published with the book's end, so that nobody can use them any more, and anybody sees what they are.
    """
    with service().reading() as session:
        books = list_ended_books(session, asked.table, read_cursor(asked.after), asked.limit)
    return answer_privately(page("books", [_print_book(each) for each in books], asked.limit, "index"))


@contextmanager
def _slot() -> Iterator[None]:
    """Be one of the exports that run at once in this process; raises Refusal where there are as many as may."""
    slots: BoundedSemaphore = current_app.extensions.setdefault(_SLOTS, BoundedSemaphore(EXPORTS_AT_ONCE))
    if not slots.acquire(blocking=False):
        raise Refusal(EXPORTS_BUSY, f"{EXPORTS_AT_ONCE} exports run in this process.", _BUSY_S)
    try:
        yield
    finally:
        slots.release()


def _require_bounded(planned: Planned) -> None:
    count = planned.header.count
    if count > MAX_RECORDS:
        raise InputError(
            f"from, to: {expected(f'a time of at most {MAX_RECORDS} records', count)}; ask for parts of it"
        )


def _prove(session: Session, planned: Planned) -> None:
    try:
        prove_span(session, planned)
    except ProofError as error:
        current_app.logger.error("an export was refused: %s", error)
        raise Refusal(LOG_UNPROVEN, f"{error}.") from None


def _in_time(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Pass pieces on as long as they are read within `EXPORT_S` seconds; raises TooSlow behind that."""
    world = service().world
    latest = seconds_after(print_time(world.now()), EXPORT_S)

    def passed() -> Iterator[bytes]:
        for piece in pieces:
            if print_time(world.now()) > latest:
                raise TooSlow(f"an export was not read within {EXPORT_S} seconds")
            yield piece

    return passed()


def _name(planned: Planned, name: FormatName) -> str:
    """Name an export's file after its time, in characters that any system takes."""
    since, until = planned.header.since or "start", planned.header.until or "end"
    return f"records-{since}-{until}.{name}".replace(":", "")


def _print_void(found: VoidShoe) -> dict[str, Any]:
    shoe, record = found.shoe, found.record
    return {
        "shoe": shoe.id,
        "table": shoe.table_id,
        "opened": shoe.opened,
        "voided": record.time,
        "reason": record.reason,
        "in_row": record.in_row,
        "coups": record.coups,
        "open_index": shoe.open_index,
        "index": found.index,
    }


def _print_book(found: EndedBook) -> dict[str, Any]:
    book = found.book
    return {
        "root": book.root.hex(),
        "table": book.table_id,
        "size": book.size,
        "index": book.log_index,
        "end_index": found.end_index,
        "unused_count": found.unused_count,
        "unused": [{"first": first, "last": last} for first, last in found.unused],
    }
