"""The monitors of a table as a document: every number of a plot stands in its table, and the drawing is of them."""

from __future__ import annotations

import re
from math import inf, log
from xml.etree import ElementTree as ET

import pytest

from audit.monitor import MONITORS, MonitorName
from audit.report.document import Figure
from audit.report.monitored import Course, draw_course, monitors_document, plot_course
from audit.report.page import print_page
from tests.audit.page_reader import read_page

PATH = ((1, 0.5), (2, -1.0), (3, log(1000)))
SVG = "{http://www.w3.org/2000/svg}"


def read_svg(text: str) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314  our own


def course(
    name: MonitorName = "outcomes",
    path: tuple[tuple[int, float], ...] = PATH,
    alarms: int = 0,
    changed_after: int | None = None,
) -> Course:
    last = path[-1] if path else (0, 0.0)
    return Course(name, last[0], last[1], log(400), alarms, changed_after, path)


def drawn(of: Course) -> list[tuple[float, float]]:
    """The corners of the one line of a drawing."""
    (line,) = read_svg(draw_course(of)).iter(f"{SVG}polyline")
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in line.attrib["points"].split())]


def test_the_table_has_every_point_from_one_on() -> None:
    figure = plot_course(course())
    assert figure.table.rows == (("0", "0.000"), ("1", "+0.217"), ("2", "-0.434"), ("3", "+3.000"))


def test_the_line_goes_through_every_point_as_far_apart_as_they_are() -> None:
    corners = drawn(course())
    assert [x for x, _ in corners] == pytest.approx([60 + 646 * k / 3 for k in range(4)], abs=0.01)
    heights = [0, 0.5 / log(10), -1 / log(10), 3]
    unit = (corners[0][1] - corners[3][1]) / 3
    assert [(corners[0][1] - y) / unit for _, y in corners] == pytest.approx(heights, abs=1e-3)


def test_what_has_reached_the_bar_lies_above_it() -> None:
    """400 is 2.6 powers of ten: the last point, 1,000, is above the dashed line and the others below."""
    (bar,) = [
        float(line.attrib["y1"])
        for line in read_svg(draw_course(course())).iter(f"{SVG}line")
        if line.attrib.get("stroke-dasharray") == "6 3"
    ]
    assert [y < bar for _, y in drawn(course())] == [False, False, False, True]


def test_the_infinite_is_drawn_at_the_top_and_named() -> None:
    of = course(path=(*PATH, (4, inf)))
    assert drawn(of)[-1][1] == 34
    assert plot_course(of).table.rows[-1] == ("4", "infinite")


def test_before_the_first_coup_there_is_a_beginning_alone() -> None:
    of = course(path=())
    assert plot_course(of).table.rows == (("0", "0.000"),)
    assert drawn(of)[0][0] == 60


def test_a_change_is_marked_where_it_began() -> None:
    words = draw_course(course("outcome_changes", alarms=1, changed_after=2))
    (mark,) = re.findall(r'<line x1="([\d.]+)"[^>]*stroke-dasharray="2 3"', words)
    assert float(mark) == pytest.approx(60 + 646 * 2 / 3, abs=0.01)
    assert "change after 2" in words
    assert "2 3" not in draw_course(course())


@pytest.mark.parametrize(("alarms", "verdict"), [(0, "QUIET"), (2, "ALARM")])
def test_the_page_shows_every_monitor_with_its_plot_and_numbers(alarms: int, verdict: str) -> None:
    courses = [course(name, alarms=alarms if name == "rule_use" else 0) for name in MONITORS]
    document = monitors_document("salon-1", courses)
    assert document.verdict == verdict
    assert ("rule_use" in document.words) == bool(alarms)
    figures = [block for section in document.sections for block in section.blocks if isinstance(block, Figure)]
    assert [figure.name for figure in figures] == ["monitor-outcomes", "monitor-rule-use", "monitor-outcome-changes"]
    page = print_page(document).decode()
    assert page.count("<svg ") == 3
    assert f'<span class="status {verdict}">{verdict}</span>' in page
    read_page(page.encode())


def test_a_tables_name_is_no_markup() -> None:
    page = print_page(monitors_document("<script>", [course()])).decode()
    assert "<script" not in page
