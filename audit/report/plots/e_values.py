"""Evidence as it grows, on a scale of powers of ten."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from audit.report.plots.axes import Scale, horizontal_axis, tick_text, vertical_axis
from audit.report.svg import BLUE, GREY, INK, Anchor, Canvas


def draw_evidence(
    titles: tuple[str, str, str],
    path: Sequence[tuple[int, float]],
    *,
    bar: float,
    ceiling: float,
    across: str,
    mark: int | None = None,
) -> str:
    """Draw evidence on a scale of powers of ten as SVG, from (coups, log10 of the e-value), the first of 0 coups.

    `titles` are the drawing's name, its title and what it shows in words; `bar` is what the evidence must reach for an
    alarm, `ceiling` what must be in the picture, `mark` the coup at which a change began. The infinite is drawn at the
    top.
    """
    name, title, words = titles
    canvas = Canvas(name, 720, 262, title, words)
    right = Scale(0, max(path[-1][0], 1), 60, 706)
    finite = [value for _, value in path if isfinite(value)]
    up = Scale(min(-1.0, *finite, ceiling) * 1.06, max(bar * 1.2, ceiling, *finite), 216, 34)
    vertical_axis(canvas, up, 60, "e-value, as a power of ten", 706)
    canvas.line((60, up(bar)), (706, up(bar)), INK, 1, "6 3")
    canvas.text((704, up(bar) - 4), f"alarm at {tick_text(round(10**bar))}", "end", 10)
    canvas.line((60, up(0)), (706, up(0)), GREY, 1)
    if mark is not None:
        x = right(mark)
        canvas.line((x, 34), (x, 216), INK, 1, "2 3")
        ends: Anchor = "start" if x < 383 else "end"
        canvas.text((x + (5 if x < 383 else -5), 30), f"change after {mark:,}", ends, 10)
    canvas.polyline([(right(x), up(y)) for x, y in path], BLUE, 1.8)
    horizontal_axis(canvas, right, 216, across)
    return canvas.print()
