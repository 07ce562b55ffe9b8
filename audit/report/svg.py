"""A small writer of SVG: shapes, text and hatchings, with numbers to a hundredth, the same bytes every time.

A library that draws plots brings its own fonts, clip paths and identifiers; what a report needs is a few hundred lines
that a reader of the page's source can follow, with names that do not clash where several stand in one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, Literal

FONT: Final = "Libertinus Serif, Charter, Georgia, serif"
INK: Final = "#1a1a1a"
GREY: Final = "#6b6b6b"
FAINT: Final = "#cfcfcf"
BLUE: Final = "#1f4e79"
BAND: Final = "#e9edf2"

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]


def number(value: float) -> str:
    """Print a coordinate to a hundredth, without zeros behind."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


class Canvas:
    """A drawing that grows shape by shape; `name` begins every identifier in it."""

    def __init__(self, name: str, width: float, height: float, title: str, description: str) -> None:
        self.name, self.width, self.height = name, width, height
        self._title, self._description = title, description
        self._parts: list[str] = []

    @property
    def hatch(self) -> str:
        """The fill of what is hatched."""
        return f"url(#{self.name}-hatch)"

    def line(self, one: Point, other: Point, stroke: str = INK, width: float = 1, dash: str = "") -> None:
        """Draw a line; `dash` as SVG's stroke-dasharray."""
        ends = _attributes(x1=one[0], y1=one[1], x2=other[0], y2=other[1])
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(f'<line{ends} stroke="{stroke}" stroke-width="{number(width)}"{dashed}/>')

    def polyline(self, points: Iterable[Point], stroke: str = INK, width: float = 1.4, dash: str = "") -> None:
        """Draw a line through points."""
        through = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._parts.append(
            f'<polyline points="{through}" fill="none" stroke="{stroke}" stroke-width="{number(width)}"{dashed}/>'
        )

    def polygon(self, points: Iterable[Point], fill: str) -> None:
        """Fill a polygon."""
        through = " ".join(f"{number(x)},{number(y)}" for x, y in points)
        self._parts.append(f'<polygon points="{through}" fill="{fill}"/>')

    def box(self, corner: Point, size: Point, fill: str = "none", stroke: str = "none") -> None:
        """Draw a rectangle by its upper left corner and its width and height."""
        sides = _attributes(x=corner[0], y=corner[1], width=size[0], height=size[1])
        self._parts.append(f'<rect{sides} fill="{fill}" stroke="{stroke}"/>')

    def cells(self, corners: Sequence[Point], size: Point, fill: str) -> None:
        """Fill many rectangles of one size as one shape."""
        width, height = (number(side) for side in size)
        shape = "".join(f"M{number(x)} {number(y)}h{width}v{height}h-{width}z" for x, y in corners)
        if shape:
            self._parts.append(f'<path d="{shape}" fill="{fill}"/>')

    def dot(self, centre: Point, radius: float = 3, filled: bool = True) -> None:
        """Draw a circle, filled or hollow."""
        place = _attributes(cx=centre[0], cy=centre[1], r=radius)
        self._parts.append(f'<circle{place} fill="{INK if filled else "#ffffff"}" stroke="{INK}"/>')

    def square(self, centre: Point, side: float = 6) -> None:
        """Draw a hollow square about a point."""
        corner = (centre[0] - side / 2, centre[1] - side / 2)
        self.box(corner, (side, side), fill="#ffffff", stroke=INK)

    def text(
        self,
        place: Point,
        words: str,
        anchor: Anchor = "start",
        size: float = 11,
        *,
        fill: str = INK,
        bold: bool = False,
    ) -> None:
        """Write words with their base line at a point."""
        at = _attributes(x=place[0], y=place[1])
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text{at} text-anchor="{anchor}" font-size="{number(size)}" fill="{fill}"{weight}>{escape(words)}</text>'
        )

    def print(self) -> str:
        """Print the drawing, its title and description first for those who do not see it."""
        size = f"{number(self.width)} {number(self.height)}"
        hatch = (
            f'<defs><pattern id="{self.name}-hatch" width="4" height="4" patternUnits="userSpaceOnUse">'
            f'<rect width="4" height="4" fill="#ffffff"/><path d="M0 4L4 0" stroke="{INK}" stroke-width="1"/>'
            "</pattern></defs>"
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img" font-family="{FONT}"'
            f' aria-labelledby="{self.name}-title {self.name}-words">'
            f'<title id="{self.name}-title">{escape(self._title)}</title>'
            f'<desc id="{self.name}-words">{escape(self._description)}</desc>'
            f"{hatch if self.hatch in ''.join(self._parts) else ''}{''.join(self._parts)}</svg>"
        )


def _attributes(**values: float) -> str:
    return "".join(f' {name}="{number(value)}"' for name, value in values.items())
