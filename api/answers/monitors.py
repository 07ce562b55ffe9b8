"""Monitors: evidence that may be looked at after every coup."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from api.answers.terms import LogIndex, TableId, count, whole
from api.payloads import Payload
from audit.monitor import MONITORS, MOST_POINTS

_Decimal = Annotated[str, whole(r"[0-9](\.[0-9]+)?(e-?[1-9][0-9]*)?", "A number above 0 as decimal text.")]


class MonitorShown(Payload):
    """A monitor as it stands."""

    name: Annotated[str, Field(description="Its name.", json_schema_extra={"enum": [*MONITORS]})]
    words: Annotated[str, Field(description="What it looks for.", json_schema_extra={"enum": [*MONITORS.values()]})]
    coups: Annotated[int, count("The coups that it went past.")]
    evidence: Annotated[_Decimal, Field(description="Its e-value now: expected to stay at 1 while all is well.")]
    peak: Annotated[_Decimal, Field(description="The greatest e-value so far; of changes, since the last alarm.")]
    threshold: Annotated[_Decimal, Field(description="What the e-value must reach for an alarm.")]
    p_value: Annotated[
        _Decimal | None, Field(description="The p-value, valid whenever one looks; null where changes are looked for.")
    ]
    alarms: Annotated[int, count("Its alarms so far.")]
    alarm_index: Annotated[LogIndex | None, Field(description="Where the log holds its last alarm; null without one.")]
    changed_after: Annotated[
        int | None, Field(ge=0, description="After so many coups a change seems to have begun, by the last alarm.")
    ]


class MonitorsShown(Payload):
    """A table's monitors."""

    table: TableId
    monitors: Annotated[list[MonitorShown], Field(description="All that look at a table.")]


class MonitorPoint(Payload):
    """A point of a monitor's path."""

    coups: Annotated[int, Field(ge=1, description="After so many coups.")]
    evidence: Annotated[_Decimal, Field(description="The e-value.")]
    log10: Annotated[str, whole(r"-?[0-9]+\.[0-9]{6}|inf", "Its logarithm to base 10.")]


class MonitorPath(MonitorShown):
    """A monitor and the path that its evidence took, evenly spread."""

    table: TableId
    points: Annotated[list[MonitorPoint], Field(max_length=MOST_POINTS, description="In the order of coups.")]
