"""Which cards came at which positions: a map of standardised deviations, from the counts of a certification."""

from __future__ import annotations

from itertools import pairwise
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from audit.battery import PathName
from audit.report.document import Column, Figure, table
from audit.report.svg import GREY, INK, Canvas
from audit.report.words import PATH_WORDS, signed
from audit.shuffle_counts import ShuffleCounts
from shoe.game.cards import DECK, card_name

STRETCHES: Final = 16
_SHADES: Final = ((1.0, "#e6e6e6"), (2.0, "#b0b0b0"), (3.0, "#5a5a5a"))
"""From so many standard errors on, a cell has this shade; from 2 on a sign too."""

_CELL: Final = (38.0, 11.0)
_LEFT: Final = 44
_TOP: Final = 44


def heat_map(path: PathName, counts: ShuffleCounts) -> Figure:
    """Plot 52 types of card over 16 stretches of positions: how far each count lies from its mean, in standard errors.

    Of the D cards of a type, the number in a stretch of b of n positions is hypergeometric: mean D*b/n, variance
    D(b/n)(1 - b/n)(n - D)/(n - 1), exact for every shoe.
    """
    edges = [round(counts.size * k / STRETCHES) for k in range(STRETCHES + 1)]
    deviations = _deviations(counts, edges)
    name = f"heat-{path}"
    title = f"Cards by position, {PATH_WORDS[path]}"
    words = (
        f"For each of 52 cards and each of {STRETCHES} stretches of positions in {counts.shoes:,} sampled orders: how "
        "far the count lies from its mean, in standard errors. White is within 1, then ever darker from 1, 2 and 3 on; "
        f"a plus or minus sign marks 2 or more. Of {deviations.size} cells about {deviations.size * 0.0455:.0f} have "
        "a sign and two or three are darkest where all is well. The check card positions judges every card at every "
        "single position."
    )
    canvas = Canvas(name, _LEFT + _CELL[0] * STRETCHES + 10, _TOP + _CELL[1] * DECK + 34, title, words)
    _draw(canvas, deviations, edges)
    columns = (
        Column("Card", width=6),
        *(Column(f"{low + 1}-{high}", "number", 6) for low, high in pairwise(edges)),
    )
    rows = [(card_name(card), *(signed(float(z), 1) for z in deviations[card])) for card in range(DECK)]
    return Figure(name, title, words, canvas.print(), table(f"Numbers of the plot: {title.lower()}", columns, rows))


def _deviations(counts: ShuffleCounts, edges: list[int]) -> npt.NDArray[np.float64]:
    size, decks = counts.size, counts.size // DECK
    types = counts.table.reshape(size, -1, DECK).sum(axis=1)
    result = np.empty((DECK, STRETCHES))
    for stretch, (low, high) in enumerate(pairwise(edges)):
        share = (high - low) / size
        variance = decks * share * (1 - share) * (size - decks) / (size - 1)
        seen = types[low:high].sum(axis=0)
        result[:, stretch] = (seen - counts.shoes * decks * share) / sqrt(counts.shoes * variance)
    return result


def _draw(canvas: Canvas, deviations: npt.NDArray[np.float64], edges: list[int]) -> None:
    width, height = _CELL
    size = np.abs(deviations)
    for rank, (least, shade) in enumerate(_SHADES):
        below = _SHADES[rank + 1][0] if rank + 1 < len(_SHADES) else float("inf")
        places = np.argwhere((size >= least) & (size < below)).tolist()
        canvas.cells([(_LEFT + width * x, _TOP + height * y) for y, x in places], _CELL, shade)
    for y, x in np.argwhere(size >= _SHADES[1][0]).tolist():
        fill = "#ffffff" if size[y, x] >= _SHADES[2][0] else INK
        sign = "+" if deviations[y, x] > 0 else "\u2212"
        canvas.text((_LEFT + width * (x + 0.5), _TOP + height * (y + 0.85)), sign, "middle", 11, fill=fill, bold=True)
    for card in range(DECK):
        canvas.text((_LEFT - 8, _TOP + height * (card + 0.8)), card_name(card), "end", 9)
        if card and card % 13 == 0:
            canvas.line(
                (_LEFT - 26, _TOP + height * card), (_LEFT + width * STRETCHES, _TOP + height * card), GREY, 0.6
            )
    canvas.box((_LEFT, _TOP), (width * STRETCHES, height * DECK), stroke=INK)
    for stretch in range(STRETCHES):
        words = f"{edges[stretch] + 1}\u2013{edges[stretch + 1]}"
        canvas.text((_LEFT + width * (stretch + 0.5), _TOP + height * DECK + 14), words, "middle", 8.5)
    canvas.text(
        (_LEFT + width * STRETCHES / 2, _TOP + height * DECK + 29), "positions in the shoe", "middle", fill=GREY
    )
    for place, (shade, words) in enumerate(
        (("#ffffff", "within 1"), (_SHADES[0][1], "1 to 2"), (_SHADES[1][1], "2 to 3"), (_SHADES[2][1], "3 and more"))
    ):
        canvas.box((_LEFT + 100 * place, 18), (14, 12), shade, INK)
        canvas.text((_LEFT + 19 + 100 * place, 28), words, size=10)
    canvas.text((_LEFT + 410, 28), "standard errors off the mean", size=10, fill=GREY)
