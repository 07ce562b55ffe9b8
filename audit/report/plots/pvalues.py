"""All p-values in order, against the even spread that they have where nothing is wrong."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.stats import beta

from audit.battery import PATHS
from audit.report.document import Column, Figure, table
from audit.report.plots.axes import Scale, horizontal_axis, legend, vertical_axis
from audit.report.source import Source
from audit.report.svg import BAND, GREY, Canvas
from audit.report.words import check_words, short_p

_LEVEL: Final = 0.99
_SIDE: Final = 420


def p_values(source: Source) -> Figure:
    """Plot the m sorted p-values over (i - 1/2)/m, with the 99 % interval of each rank, one at a time."""
    ordered = sorted(source.checks, key=lambda check: (check.p_number, check.name))
    m = len(ordered)
    title = "All p-values in order, against an even spread"
    words = (
        f"The {m} p-values from the smallest to the largest, each over the place where an even spread would have it: "
        "about on the diagonal, within the band where each rank lies with 99 % alone. Checks that ask for a certainty, "
        "and combined ones, have p of 1 more often, and lie above at the right; some checks hang together. What "
        "matters is the lower left: p-values below the band."
    )
    canvas = Canvas("pvalues", 600, _SIDE + 76, title, words)
    across, up = Scale(0, 1, 60, 60 + _SIDE), Scale(0, 1, 30 + _SIDE, 30)
    ranks = np.arange(1, m + 1)
    low, high = (np.asarray(beta.ppf(tail, ranks, m + 1 - ranks)) for tail in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2))
    places = [(rank - 0.5) / m for rank in range(1, m + 1)]
    rim = [(across(x), up(y)) for x, y in zip(places, high.tolist(), strict=True)]
    back = [(across(x), up(y)) for x, y in zip(places, low.tolist(), strict=True)]
    canvas.polygon([*rim, *reversed(back)], BAND)
    horizontal_axis(canvas, across, 30 + _SIDE, "place in order, as a share", 30)
    vertical_axis(canvas, up, 60, "p", 60 + _SIDE)
    canvas.line((across(0), up(0)), (across(1), up(1)), GREY, 1, "4 3")
    for place, check in zip(places, ordered, strict=True):
        mark = (across(place), up(check.p_number))
        if check.path == "production":
            canvas.square(mark, 4.4)
        else:
            canvas.dot(mark, 2.2)
    legend(canvas, 76, 46, len({check.path for check in ordered}) == len(PATHS))
    rows = [
        (
            f"{rank}",
            check_words(check.kind),
            check.path,
            short_p(check.p),
            f"{place:.3f}",
            short_p(check.p_adjusted) + (", rejected" if check.rejected else ""),
        )
        for rank, (place, check) in enumerate(zip(places, ordered, strict=True), 1)
    ]
    columns = (
        Column("Rank", "number", 5),
        Column("Check", width=24),
        Column("Path", width=10),
        Column("p", "number", 8),
        Column("Even spread", "number", 8),
        Column("Adjusted", "number", 9),
    )
    return Figure("pvalues", title, words, canvas.print(), table("Numbers of the plot: p-values", columns, rows, 2))
