"""Estimates with their intervals about an exact value: one row a quantity, one mark a path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from scipy.stats import norm

from audit.battery import PATHS, PathName
from audit.report.document import Column, Figure, table
from audit.report.plots.axes import Scale, horizontal_axis, legend
from audit.report.source import Check, Source
from audit.report.svg import BAND, GREY, INK, Canvas
from audit.report.words import label_of, percent, signed
from shoe.game.tableau import OUTCOMES, RULES

LEVEL: Final = 0.99
_STEP: Final = 22
_LEFT: Final = 318
_WIDTH: Final = 720


@dataclass(frozen=True, slots=True)
class Whisker:
    """One path's estimate of one quantity: by how much it lies above the exact value, and half its interval."""

    path: PathName
    distance: float
    half: float


@dataclass(frozen=True, slots=True)
class Row:
    """A quantity and what each path says of it."""

    label: str
    whiskers: tuple[Whisker, ...]


def frequencies(source: Source) -> Figure | None:
    """Plot outcomes and rule classes: each frequency over its exact value, with a 99 % interval.

    The intervals come from the exact variances that the checks used, dependence within a shoe included, a
    count at a time. None where the plan has neither check.
    """
    rows, cells = [], []
    half_width = float(norm.ppf((1 + LEVEL) / 2))
    for kind, labels in (("outcomes", OUTCOMES), ("rule_use", RULES)):
        for label in labels:
            whiskers = []
            for check in source.of(kind):
                item = next((item for item in check.items if item.label == label), None)
                if item is None:
                    continue
                exact = float(Fraction(item.expected))
                distance, half = item.observed / exact - 1, half_width * _error(item.error, exact, check.n) / exact
                whiskers.append(Whisker(check.path, 100 * distance, 100 * half))
                cells.append(
                    (
                        label_of(label),
                        check.path,
                        f"{item.observed:,}",
                        f"{exact:,.1f}",
                        percent(item.observed / check.n),
                        percent(exact / check.n),
                        signed(100 * distance, 3),
                        f"+-{100 * half:.3f}",
                        signed(float(item.deviation), 2),
                    )
                )
            if whiskers:
                rows.append(Row(label_of(label), tuple(whiskers)))
    if not rows:
        return None
    title = "Outcomes and rule classes against their exact frequencies"
    words = (
        "For each outcome and each rule class, how far its frequency in the judged coups lies from the exact one, in "
        "percent of the exact one, with an interval that holds the true value with 99 % for each mark alone. Of "
        f"{2 * len(rows)} intervals about one in a hundred misses zero where all is well."
    )
    columns = (
        Column("What came", width=34),
        Column("Path", width=13),
        *(Column(name, "number", 11) for name in ("Seen", "Exact", "Seen, %", "Exact, %", "Off, %", "99 %", "Sigma")),
    )
    return Figure(
        "frequencies",
        title,
        words,
        draw(rows, "frequencies", title, words, "off the exact frequency, in percent of it"),
        table("Numbers of the plot: outcomes and rule classes", columns, cells),
    )


def returns(source: Source) -> Figure | None:
    """Plot the return to player of every bet judged, less the exact one, with its joint interval; None without any."""
    checks = [check for kind in ("returns", "bet_returns") for check in source.of(kind) if check.intervals]
    by_label: dict[str, list[Whisker]] = {}
    cells = []
    for check in checks:
        for interval in check.intervals:
            estimate, low, high, exact = map(float, (interval.estimate, interval.low, interval.high, interval.exact))
            whisker = Whisker(check.path, 100 * (estimate - exact), 50 * (high - low))
            by_label.setdefault(interval.label, []).append(whisker)
            cells.append(
                (
                    interval.label,
                    check.path,
                    f"{check.n:,}",
                    percent(estimate, 4),
                    percent(low, 4),
                    percent(high, 4),
                    percent(exact, 4),
                    signed(100 * (estimate - exact), 4),
                )
            )
    if not by_label:
        return None
    rows = [Row(label, tuple(whiskers)) for label, whiskers in by_label.items()]
    title = "Return to player of each bet against its exact value"
    words = (
        "For each bet, what a unit staked on every judged coup gave back, less the exact return, in percentage points "
        "of the stake, with intervals that hold all together at 99 % within one check. The bets of one check hang "
        "together, for they are paid on the same coups."
    )
    columns = (
        Column("Bet", width=24),
        Column("Path", width=14),
        *(
            Column(name, "number", 12)
            for name in ("Coups", "Return, %", "Low, %", "High, %", "Exact, %", "Off, points")
        ),
    )
    drawing = draw(rows, "returns", title, words, "return less the exact return, in percentage points")
    return Figure("returns", title, words, drawing, table("Numbers of the plot: return to player", columns, cells))


def draw(rows: Sequence[Row], name: str, title: str, words: str, axis: str) -> str:
    """Draw the rows below one another about a line at zero."""
    height = 34 + _STEP * len(rows) + 44
    canvas = Canvas(name, _WIDTH, height, title, words)
    reach = max(abs(w.distance) + w.half for row in rows for w in row.whiskers) * 1.04
    scale = Scale(-reach, reach, _LEFT, _WIDTH - 14)
    bottom = 30 + _STEP * len(rows)
    for index, _ in enumerate(rows):
        if index % 2 == 0:
            canvas.box((0, 30 + _STEP * index), (_WIDTH, _STEP), BAND)
    horizontal_axis(canvas, scale, bottom, axis, 30)
    canvas.line((scale(0), 30), (scale(0), bottom), INK, 1)
    both = len({w.path for row in rows for w in row.whiskers}) == len(PATHS)
    for index, row in enumerate(rows):
        middle = 30 + _STEP * (index + 0.5)
        canvas.text((6, middle + 4), row.label, size=10.5)
        for whisker in row.whiskers:
            y = middle + (4.5 if whisker.path == "production" else -4.5 if both else 0)
            ends = scale(whisker.distance - whisker.half), scale(whisker.distance + whisker.half)
            canvas.line((ends[0], y), (ends[1], y), GREY, 1.1)
            for end in ends:
                canvas.line((end, y - 2.5), (end, y + 2.5), GREY, 1.1)
            (canvas.square if whisker.path == "production" else canvas.dot)((scale(whisker.distance), y))
    legend(canvas, _LEFT + 4, 16, both)
    return canvas.print()


def _error(error: float | None, exact: float, n: int) -> float:
    """Take the check's own standard error; where a count met its expectation exactly, that of independent coups."""
    return error if error is not None else float((exact * (1 - exact / n)) ** 0.5)


def worst(checks: Sequence[Check]) -> Check:
    """Find the check with the smallest p, the first of equals."""
    return min(checks, key=lambda check: check.p_number)
