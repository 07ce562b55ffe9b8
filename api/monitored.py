"""Monitors in words, as HTTP and the command say them: decimal strings throughout."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any

from api.cases.monitoring import Monitor
from audit.monitor import MONITORS, print_log, threshold
from audit.report.monitored import Course
from audit.sequential import Evidence


def print_monitor(monitor: Monitor, tables: int) -> dict[str, Any]:
    """Print a monitor as it stands, where `tables` tables are monitored."""
    state = monitor.state
    return {
        "name": monitor.name,
        "words": MONITORS[monitor.name],
        "coups": monitor.coups,
        "evidence": print_log(state.log_e),
        "peak": print_log(state.log_peak),
        "threshold": print_log(threshold(monitor.name, max(tables, 1))),
        "p_value": print_log(-state.log_peak) if isinstance(state, Evidence) else None,
        "alarms": monitor.alarms,
        "alarm_index": monitor.alarm_index,
        "changed_after": monitor.changed_after,
    }


def print_path(path: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
    """Print a monitor's path: the evidence, and its logarithm to base 10, after so many coups."""
    return [{"coups": coups, "evidence": print_log(log_e), "log10": f"{log_e / log(10):.6f}"} for coups, log_e in path]


def course_of(monitor: Monitor, tables: int, path: Sequence[tuple[int, float]]) -> Course:
    """Give what a plot of a monitor shows, where `tables` tables are monitored."""
    bar = threshold(monitor.name, max(tables, 1))
    return Course(
        monitor.name, monitor.coups, monitor.state.log_e, bar, monitor.alarms, monitor.changed_after, tuple(path)
    )
