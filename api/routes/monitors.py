"""Monitors of a table, for anyone to look at, after whichever coup."""

from __future__ import annotations

from flask import Response

from api.access import ANYONE
from api.answers import MonitorPath, MonitorsShown
from api.cases.monitoring import count_monitored, read_monitors, read_path
from api.monitored import print_monitor, print_path
from api.refusals import no_such
from api.routes.endpoint import Resource
from api.routes.exchange import answer, service
from audit.monitor import MONITORS

blueprint = Resource("monitors", "/v1/tables")


@blueprint.get("/{table_id}/monitors", access=ANYONE, answers={200: MonitorsShown})
def show_monitors(table_id: str) -> Response:
    """Show the evidence against a table's coups so far, which may be looked at as often as one likes."""
    with service().reading() as session:
        monitors, tables = read_monitors(session, table_id), count_monitored(session)
    return answer({"table": table_id, "monitors": [print_monitor(monitor, tables) for monitor in monitors]})


@blueprint.get("/{table_id}/monitors/{monitor}", access=ANYONE, answers={200: MonitorPath})
def show_monitor(table_id: str, monitor: str) -> Response:
    """Show a monitor of a table, with the path that its evidence took."""
    if monitor not in MONITORS:
        raise no_such("monitor", monitor)
    with service().reading() as session:
        found = {each.name: each for each in read_monitors(session, table_id)}
        tables = count_monitored(session)
        name = next(name for name in found if name == monitor)
        path = read_path(session, table_id, name)
    return answer({"table": table_id, **print_monitor(found[name], tables), "points": print_path(path)})
