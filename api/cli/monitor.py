"""``fairshoe monitor``: the evidence against each table's coups so far, which may be looked at at any time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from api.cases.monitoring import count_monitored, read_monitors, read_path
from api.cases.tables import list_tables
from api.cli.database import database
from api.cli.output import BadInput, EnvironmentFault, columns, examples, json_option, print_object, print_text
from api.log import holds_nothing
from api.monitored import course_of, print_monitor, print_path
from api.newfile import replace_file
from api.refusals import Refusal
from audit.report.monitored import Course, monitors_document
from audit.report.page import print_page

_HEAD = ("table", "monitor", "coups", "evidence", "threshold", "p", "alarms", "last alarm", "changed after")
_KEYS = ("name", "coups", "evidence", "threshold", "p_value", "alarms", "alarm_index", "changed_after")


@dataclass(frozen=True, slots=True)
class _Shown:
    """A table's monitors, as they are printed and as they are plotted."""

    table: str
    printed: list[dict[str, Any]]
    courses: list[Course]


@click.command(
    epilog=examples(
        "fairshoe monitor",
        "fairshoe monitor --table salon-1 --json",
        "fairshoe monitor --table salon-1 --page salon.html",
    )
)
@click.option("--table", metavar="T", help="Of this table, with --json the evidence's path too; of all, if not given.")
@click.option(
    "--page",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the table's monitors there too, as a page with plots.",
)
@json_option
def monitor(*, table: str | None, page: Path | None, as_json: bool) -> None:
    """Show the evidence against each table so far.

    Works on the installation of the environment, while servers run; the service's keeper goes past every coup within
    seconds. Exits with 1 where a monitor has alarmed.
    """
    if page is not None and table is None:
        raise BadInput("--page: expected --table beside it, for a page is of one table")
    with database() as (_, store), store.reading() as session:
        if holds_nothing(session):
            raise EnvironmentFault(f"{store.name}: there is no log in it; the first start of the service makes one")
        shown = _read(session, table)
    if page is not None:
        _write_page(page, shown[0])
    printed = [_print(each, paths=table is not None) for each in shown]
    if as_json:
        print_object({"tables": printed})
    else:
        print_text(*_listing(printed))
    if any(each.alarms for of_table in shown for each in of_table.courses):
        raise click.exceptions.Exit(1)


def _read(session: Session, table: str | None) -> list[_Shown]:
    tables = count_monitored(session)
    names = [row.id for row in list_tables(session)] if table is None else [table]
    try:
        monitors = {name: read_monitors(session, name) for name in names}
    except Refusal as error:
        raise BadInput(f"{error} Name one that is there.") from None
    return [
        _Shown(
            name,
            [print_monitor(each, tables) for each in of_table],
            [course_of(each, tables, read_path(session, name, each.name) if table else ()) for each in of_table],
        )
        for name, of_table in monitors.items()
    ]


def _print(shown: _Shown, *, paths: bool) -> dict[str, Any]:
    monitors = [
        {**printed, "points": print_path(course.path)} if paths else printed
        for printed, course in zip(shown.printed, shown.courses, strict=True)
    ]
    return {"table": shown.table, "monitors": monitors}


def _write_page(path: Path, shown: _Shown) -> None:
    try:
        replace_file(path, print_page(monitors_document(shown.table, shown.courses)))
    except OSError as error:
        raise EnvironmentFault(f"{path}: {error.strerror}; name a file that can be written with --page") from None


def _listing(shown: list[dict[str, Any]]) -> Iterator[str]:
    if not shown:
        yield "No tables yet."
        return
    rows = [
        (each["table"], *("" if one[key] is None else str(one[key]) for key in _KEYS))
        for each in shown
        for one in each["monitors"]
    ]
    yield from columns([_HEAD, *rows], "<<" + ">" * (len(_HEAD) - 2))
