"""``fairshoe monitor``: the evidence against each table's coups so far, which may be looked at at any time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click
from sqlalchemy.orm import Session

from api.cases.monitoring import count_monitored, read_monitors, read_path
from api.cases.tables import list_tables
from api.cli.database import database
from api.cli.output import BadInput, EnvironmentFault, columns, examples, json_option, print_object, print_text
from api.log import holds_nothing
from api.monitored import print_monitor, print_path
from api.refusals import Refusal

_HEAD = ("table", "monitor", "coups", "evidence", "threshold", "p", "alarms", "last alarm", "changed after")
_KEYS = ("name", "coups", "evidence", "threshold", "p_value", "alarms", "alarm_index", "changed_after")
_MOST_TABLES = 1000


@click.command(epilog=examples("fairshoe monitor", "fairshoe monitor --table salon-1 --json"))
@click.option("--table", metavar="T", help="Of this table, with --json the evidence's path too; of all, if not given.")
@json_option
def monitor(*, table: str | None, as_json: bool) -> None:
    """Show the evidence against each table.

    Works on the installation of the environment, while servers run; the service's keeper goes past every coup within
    seconds. Exits with 1 where a monitor has alarmed.
    """
    with database() as (_, store), store.reading() as session:
        if holds_nothing(session):
            raise EnvironmentFault(f"{store.name}: there is no log in it; the first start of the service makes one")
        shown = list(_read(session, table))
    if as_json:
        print_object({"tables": shown})
    else:
        print_text(*_listing(shown))
    if any(each["alarms"] for of_table in shown for each in of_table["monitors"]):
        raise click.exceptions.Exit(1)


def _read(session: Session, table: str | None) -> Iterator[dict[str, Any]]:
    tables = count_monitored(session)
    names = [row.id for row in list_tables(session, None, _MOST_TABLES)] if table is None else [table]
    for name in names:
        try:
            monitors = read_monitors(session, name)
        except Refusal as error:
            raise BadInput(f"{error} Name one that is there.") from None
        printed = [print_monitor(each, tables) for each in monitors]
        if table is not None:
            for one, each in zip(printed, monitors, strict=True):
                one["points"] = print_path(read_path(session, name, each.name))
        yield {"table": name, "monitors": printed}


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
