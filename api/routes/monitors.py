"""Monitors of a table, for anyone to look at, after whichever coup."""

from __future__ import annotations

from flask import Response

from api.access import ANYONE
from api.answers import MonitorPath, MonitorsShown
from api.cases.monitoring import Monitor, count_monitored, read_monitors, read_path
from api.monitored import course_of, print_monitor, print_path
from api.refusals import no_such
from api.routes.endpoint import Resource
from api.routes.exchange import answer, service
from audit.monitor import MONITORS
from audit.report.monitored import draw_course

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
    found, tables, path = _read(table_id, monitor)
    return answer({"table": table_id, **print_monitor(found, tables), "points": print_path(path)})


@blueprint.get("/{table_id}/monitors/{monitor}/plot", access=ANYONE, answers={200: "image/svg+xml"})
def plot_monitor(table_id: str, monitor: str) -> Response:
    """Plot the path of a monitor's evidence on a scale of powers of ten; its numbers are the points of the monitor."""
    found, tables, path = _read(table_id, monitor)
    return Response(draw_course(course_of(found, tables, path)), content_type="image/svg+xml")


def _read(table_id: str, monitor: str) -> tuple[Monitor, int, list[tuple[int, float]]]:
    """Read a monitor, how many tables are monitored, and the monitor's path; raises Refusal where there is none."""
    if monitor not in MONITORS:
        raise no_such("monitor", monitor)
    with service().reading() as session:
        found = next(each for each in read_monitors(session, table_id) if each.name == monitor)
        return found, count_monitored(session), read_path(session, table_id, found.name)
