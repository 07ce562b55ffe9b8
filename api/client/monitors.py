"""Monitors of tables, as the service shows them."""

from __future__ import annotations

from api.client.calls import Calls, part
from api.client.fields import Fields
from api.client.results import MonitorPoint, TableMonitor
from api.client.transport import DRAWING


class Monitors(Calls):
    """The calls at ``/v1/tables/{table}/monitors``."""

    def monitors(self, table: str) -> tuple[TableMonitor, ...]:
        """Show a table's monitors as they stand."""
        return tuple(map(_monitor, self._get(f"/v1/tables/{part(table)}/monitors").parts("monitors")))

    def monitor_path(self, table: str, monitor: str) -> tuple[MonitorPoint, ...]:
        """List the points of the path that a monitor's evidence took."""
        points = self._get(f"/v1/tables/{part(table)}/monitors/{part(monitor)}").parts("points")
        return tuple(
            MonitorPoint(point.number("coups"), point.text("evidence"), point.text("log10")) for point in points
        )

    def monitor_plot(self, table: str, monitor: str) -> str:
        """Fetch the plot of that path, as SVG."""
        return self._transport.get(f"/v1/tables/{part(table)}/monitors/{part(monitor)}/plot", media_type=DRAWING)


def _monitor(answer: Fields) -> TableMonitor:
    return TableMonitor(
        answer.text("name"),
        answer.number("coups"),
        answer.text("evidence"),
        answer.text("threshold"),
        answer.maybe("p_value", answer.text),
        answer.number("alarms"),
        answer.maybe("alarm_index", answer.number),
        answer.maybe("changed_after", answer.number),
    )
