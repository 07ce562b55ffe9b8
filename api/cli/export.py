"""``fairshoe export``: the records of a stretch of time as one file, and ``fairshoe export check`` offline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal

import click

from api.cli.group import Group, Listed
from api.cli.inputs import joined, parse_log_keys, read_by, whole
from api.cli.output import BadInput, columns, examples, json_option, print_object, print_text
from shoe.errors import FairshoeError
from shoe.proof.canonical import MAX_BYTES, parse_object
from shoe.proof.forms import parse_time
from shoe.proof.note import VerifierKey
from shoe.proof.span import Span, check_span

FORMATS: Final = ("span", "csv", "parquet")
Keys = tuple[tuple[VerifierKey, ...], ...]

_LINE_BYTES: Final = MAX_BYTES + 1
"""The longest record and its newline: a longer line is read in parts, and refused at the first of them."""


@click.command(
    epilog=examples(
        "fairshoe export check january.span --vkey vkey",
        "fairshoe export check - --vkey vkey --origin fairshoe.example/log --json < january.span",
    )
)
@click.argument("file", metavar="FILE")
@click.option("--vkey", multiple=True, required=True, metavar="VKEY", callback=read_by(parse_log_keys),
              help="The log's key, or a file that holds it; may be repeated.")  # fmt: skip
@click.option("--origin", metavar="O", help="The log's name; that of the key, if not given.")
@json_option
def check(*, file: str, vkey: Keys, origin: str | None, as_json: bool) -> int:
    """Check an archive offline.

    FILE is an archive that fairshoe export wrote, or - for standard input. Nothing but the log's key is needed: that no
    record of the time is missing, changed, moved or put in follows from the archive alone. Exits with 1 where it isn't.
    """
    kinds: Counter[str] = Counter()

    def take(_: int, record: bytes) -> None:
        kinds[str(parse_object(record)["type"])] += 1

    try:
        with _lines_of(file) as lines:
            span = check_span(lines, joined(vkey), origin, take)
    except FairshoeError as error:
        if as_json:
            print_object({"verdict": "invalid", "why": str(error)})
        else:
            print_text(f"Verdict  {click.style('invalid', bold=True)}", f"Why      {error}")
        return 1
    by_type = dict(sorted(kinds.items()))
    if as_json:
        print_object({"verdict": "verified", **_described(span), "by_type": by_type})
    else:
        print_text(f"Verdict  {click.style('verified', bold=True)}", *_report(span), "")
        print_text(*columns([("type", "records"), *by_type.items()], "<>"))
    return 0


@click.group(
    cls=Group,
    listed={"check": Listed("Check an archive offline.", lambda: check)},
    invoke_without_command=True,
    epilog=examples(
        "fairshoe export --from 2026-01-01T00:00:00.000000Z --to 2026-02-01T00:00:00.000000Z --out january.span",
        "fairshoe export --out everything.span --checkpoint 120000 --json",
        "fairshoe export --format csv --out everything.csv",
        "fairshoe export check january.span --vkey vkey",
    ),
)
@click.option("--from", "since", metavar="TIME", callback=read_by(parse_time),
              help="The first moment, as 2026-01-31T09:30:00.000000Z; the log's beginning, if not given.")  # fmt: skip
@click.option("--to", "until", metavar="TIME", callback=read_by(parse_time),
              help="The first moment after; the log's end, if not given.")  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="The file to write, a new one.")
@click.option("--format", "format_name", type=click.Choice(FORMATS), default="span", show_default=True,
              help="The archive, or a row a record; parquet needs the extra of that name.")  # fmt: skip
@click.option("--checkpoint", "size", metavar="SIZE", callback=read_by(whole(1, 10**15)),
              help="The size of a checkpoint that was signed, for the same bytes again; else the newest.")  # fmt: skip
@json_option
@click.pass_context
def export(
    ctx: click.Context,
    *,
    since: str | None,
    until: str | None,
    out: Path | None,
    format_name: Literal["span", "csv", "parquet"],
    size: int | None,
    as_json: bool,
) -> int | None:
    """Export all records of a stretch of time.

    The archive holds every record with from ≤ time < to, with what it takes to check without the database that none is
    missing or changed. CSV and Parquet hold the same records, a row each: log_index, time, type, table, shoe, seq and
    record. An export holds what the log holds, which is public: no seed before its reveal.
    """
    if ctx.invoked_subcommand is not None:
        if any((since, until, out, size, as_json, format_name != FORMATS[0])):
            raise BadInput("expected check with options of its own behind it, got options before it")
        return None
    if out is None:
        raise click.MissingParameter(ctx=ctx, param_hint="'--out'", param_type="option")
    # Only here is there a database: checking needs none.
    from api.cli.exported import write_span  # noqa: PLC0415

    span = write_span(out, since, until, size, format_name)
    if as_json:
        print_object({"file": str(out), **_described(span), "bytes": out.stat().st_size})
    else:
        print_text(*_report(span), f"Written  {out}, {out.stat().st_size} bytes")
    return 0


@contextmanager
def _lines_of(name: str) -> Iterator[Iterator[bytes]]:
    try:
        with click.open_file(name, "rb") as file:
            yield iter(partial(file.readline, _LINE_BYTES), b"")
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}; name a file that can be read, or - for standard input") from None


def _described(span: Span) -> dict[str, Any]:
    return {
        "log": span.checkpoint.origin,
        "from": span.header.since,
        "to": span.header.until,
        "records": span.inside,
        "first_time": span.first_time,
        "last_time": span.last_time,
        "first": span.header.first,
        "count": span.header.count,
        "size": span.checkpoint.size,
        "root": span.checkpoint.root.hex(),
    }


def _report(span: Span) -> Iterator[str]:
    header, checkpoint = span.header, span.checkpoint
    yield f"Span     {header.since or 'the beginning'} to {header.until or 'the end'}"
    within = f", from {span.first_time} to {span.last_time}" if span.inside else ""
    yield f"Records  {span.inside}{within}"
    yield f"Log      {checkpoint.origin}: {checkpoint.size} records, root {checkpoint.root.hex()}"
