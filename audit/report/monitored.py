"""The monitors of a table as a document: how each stands, and the path that its evidence took, with its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, log
from typing import Final

from audit.monitor import MONITORS, MonitorName, print_log
from audit.report.document import Column, Document, Fact, Facts, Figure, Paragraph, Section, table
from audit.report.plots.e_values import draw_evidence
from audit.report.words import label_of, signed

_FOLDS: Final = 4


@dataclass(frozen=True, slots=True)
class Course:
    """A monitor as it stands: `log_e` and `log_threshold` are natural logarithms, `path` has one after so many coups.

    `changed_after` is the coup after which the last alarm says that a change began.
    """

    name: MonitorName
    coups: int
    log_e: float
    log_threshold: float
    alarms: int
    changed_after: int | None
    path: Sequence[tuple[int, float]]


def plot_course(course: Course) -> Figure:
    """Plot a monitor's path, with its numbers as a table."""
    name, title, words = _titles(course)
    rows = [(f"{coups:,}", signed(value, 3) if isfinite(value) else "infinite") for coups, value in _points(course)]
    columns = (Column("Coups", "number", 8), Column("log10 of the e-value", "number", 12))
    numbers = table(f"Numbers of the plot: {label_of(course.name).lower()}", columns, rows, _FOLDS)
    return Figure(name, title, words, draw_course(course), numbers)


def draw_course(course: Course) -> str:
    """Draw a monitor's path as SVG."""
    return draw_evidence(
        _titles(course),
        _points(course),
        bar=course.log_threshold / log(10),
        ceiling=0,
        across="coups",
        mark=course.changed_after,
    )


def monitors_document(table_id: str, courses: Sequence[Course]) -> Document:
    """Make the document of a table's monitors."""
    alarmed = [course for course in courses if course.alarms]
    return Document(
        title="Monitors",
        subtitle=f"Table {table_id}",
        verdict="ALARM" if alarmed else "QUIET",
        words=_in_words(alarmed),
        sections=tuple(_section(course) for course in courses),
        foot=Fact("Table", table_id, "code"),
    )


def _in_words(alarmed: Sequence[Course]) -> str:
    if not alarmed:
        return "No monitor has alarmed. A sound table may be looked at after every coup, for ever, and rarely alarms."
    return f"Alarmed: {', '.join(course.name for course in alarmed)}. The log holds a record of each alarm."


def _section(course: Course) -> Section:
    facts = [
        Fact("Coups", f"{course.coups:,}", "number"),
        Fact("Evidence", print_log(course.log_e), "number"),
        Fact("Alarms at", print_log(course.log_threshold), "number"),
        Fact("Alarms", f"{course.alarms:,}", "number"),
    ]
    if course.changed_after is not None:
        facts.append(Fact("Changed after", f"{course.changed_after:,} coups", "number"))
    blocks = (Paragraph(MONITORS[course.name]), Facts(tuple(facts)), plot_course(course))
    return Section(course.name.replace("_", "-"), label_of(course.name), blocks)


def _points(course: Course) -> list[tuple[int, float]]:
    """List after how many coups the logarithm to base 10 was what, from the beginning on."""
    return [(0, 0.0), *((coups, log_e / log(10)) for coups, log_e in course.path)]


def _titles(course: Course) -> tuple[str, str, str]:
    title = f"{label_of(course.name)}: the evidence after so many coups"
    words = (
        f"{MONITORS[course.name]} On a scale of powers of ten, after {course.coups:,} coups; it starts at 1 and alarms "
        f"at {print_log(course.log_threshold)}, the dashed line."
    )
    if course.changed_after is not None:
        words += (
            f" The dotted line is where the last alarm says that a change began, after {course.changed_after:,} coups; "
            "from each alarm on the evidence begins anew."
        )
    return f"monitor-{course.name.replace('_', '-')}", title, words
