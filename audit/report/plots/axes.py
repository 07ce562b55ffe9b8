"""Scales, ticks and the frames that plots share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import ceil, floor, log10

from audit.report.svg import FAINT, GREY, INK, Canvas


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from values low…high to coordinates start…end."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Map a value; one outside is put at the end that it lies beyond."""
        inside = min(max(value, self.low), self.high)
        return self.start + (inside - self.low) * (self.end - self.start) / (self.high - self.low)

    def ticks(self, about: int = 5) -> Iterator[float]:
        """List round values, some `about` of them."""
        step = _round_step((self.high - self.low) / about)
        for k in range(ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9) + 1):
            yield k * step


def tick_text(value: float, step_digits: int | None = None) -> str:
    """Print a tick's value shortly, thousands grouped and with a real minus."""
    text = f"{value:,.{step_digits}f}" if step_digits is not None else f"{value:,.10g}"
    return text.replace("-", "\u2212")


def horizontal_axis(
    canvas: Canvas,
    scale: Scale,
    y: float,
    title: str,
    top: float | None = None,
    *,
    ticks: Iterable[float] | None = None,
) -> None:
    """Draw an axis below a plot, with faint lines up to `top`, and ticks where told or at round values."""
    for tick in scale.ticks() if ticks is None else ticks:
        x = scale(tick)
        if top is not None:
            canvas.line((x, top), (x, y), FAINT, 0.5)
        canvas.line((x, y), (x, y + 4))
        canvas.text((x, y + 16), tick_text(tick), "middle", 10)
    canvas.line((scale.start, y), (scale.end, y))
    canvas.text(((scale.start + scale.end) / 2, y + 32), title, "middle", fill=GREY)


def vertical_axis(canvas: Canvas, scale: Scale, x: float, title: str, right: float | None = None) -> None:
    """Draw an axis left of a plot, its title above it, with faint lines up to `right`."""
    for tick in scale.ticks():
        y = scale(tick)
        if right is not None:
            canvas.line((x, y), (right, y), FAINT, 0.5)
        canvas.line((x - 4, y), (x, y))
        canvas.text((x - 7, y + 3.5), tick_text(tick), "end", 10)
    canvas.line((x, scale.start), (x, scale.end))
    canvas.text((x - 30, min(scale.start, scale.end) - 10), title, fill=GREY)


def legend(canvas: Canvas, x: float, y: float, both: bool) -> None:
    """Name the marks of the two paths."""
    canvas.dot((x, y - 3.5))
    canvas.text((x + 9, y), "batch path", size=10, fill=INK)
    if both:
        canvas.square((x + 90, y - 3.5))
        canvas.text((x + 99, y), "production path", size=10, fill=INK)


def _round_step(rough: float) -> float:
    power: float = 10.0 ** floor(log10(rough))
    return next(m * power for m in (1, 2, 2.5, 5, 10) if rough <= m * power * (1 + 1e-9))
