"""What depends on the order of coups: evidence as it grows, and how long winners repeat."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from math import log, perm
from typing import Final

import numpy as np

from audit.exact import exact_odds
from audit.report.document import Column, Figure, table
from audit.report.plots.axes import Scale, vertical_axis
from audit.report.plots.e_values import draw_evidence
from audit.report.sample import Sample
from audit.report.svg import GREY, INK, Canvas
from audit.report.words import signed
from audit.sequential import log_e_path
from shoe.game.tableau import OUTCOMES

STOPS: Final = 48
THRESHOLD: Final = 100
LONGEST: Final = 12
_BANKER: Final = OUTCOMES.index("banker")
_PLAYER: Final = OUTCOMES.index("player")


def evidence(sample: Sample, decks: int) -> Figure | None:
    """Plot the e-value against the exact law of outcomes over the sample's coups; None without any."""
    outcomes = np.array(sample.outcomes, dtype=np.int64)
    if not outcomes.size:
        return None
    odds = exact_odds(decks)
    exact = odds.counts((lambda cell: cell.outcome), OUTCOMES)
    path = log_e_path(outcomes, [exact[outcome] / odds.total for outcome in OUTCOMES]) / log(10)
    stops = sorted({round(len(path) * k / STOPS) for k in range(1, STOPS + 1)} - {0})
    values = [(stop, float(path[stop - 1]), float(path[:stop].max())) for stop in stops]
    title = "Evidence against the exact law, coup by coup"
    words = (
        f"The e-value over the {len(path):,} judged coups of the first {len(sample.shoes):,} shoes of the production "
        "path, dealt once more from the plan, on a scale of powers of ten. It starts at 1 and falls where all is "
        f"well; it ever reaches {THRESHOLD} with a chance of at most 1 % then, whenever one looks. The line's "
        "height is drawn at the coups of the table; the highest value in between is in the table too. "
        "Shown, not judged."
    )
    drawing = draw_evidence(
        ("evidence", title, words),
        [(0, 0), *((stop, value) for stop, value, _ in values)],
        bar=log(THRESHOLD, 10),
        ceiling=max(peak for *_, peak in values),
        across="judged coups",
    )
    rows = [(f"{stop:,}", signed(value, 3), signed(peak, 3)) for stop, value, peak in values]
    columns = (
        Column("Coups", "number", 8),
        Column("log10 of the e-value", "number", 12),
        Column("Highest so far", "number", 12),
    )
    numbers = table("Numbers of the plot: evidence over time", columns, rows, folds=3)
    return Figure("evidence", title, words, drawing, numbers)


def runs(sample: Sample, shuffle: str) -> Figure | None:
    """Plot how many runs of equal winners have each length, beside the exact expectation; None without winners."""
    sequences = [[one for one in shoe if one in (_BANKER, _PLAYER)] for shoe in sample.sequences(shuffle)]
    seen = Counter(min(len(list(run)), LONGEST) for winners in sequences for _, run in groupby(winners))
    if not seen:
        return None
    wins = [(winners.count(_BANKER), winners.count(_PLAYER)) for winners in sequences]
    means = expected_runs(wins)
    title = "Runs of equal winners by their length"
    words = (
        f"In the first {len(sample.shoes):,} shoes of the production path, dealt once more from the plan, ties left "
        "out: how many runs of banker or of player have each length (filled), beside the exact expectation given how "
        "often either won in each shoe (hatched). Shown, not judged: the checks named runs judge the number of runs."
    )
    canvas = Canvas("runs", 720, 262, title, words)
    across = Scale(0.4, LONGEST + 0.6, 60, 706)
    up = Scale(0, max(*seen.values(), *map(float, means)) * 1.06, 216, 34)
    vertical_axis(canvas, up, 60, "runs", 706)
    for length in range(1, LONGEST + 1):
        for left, value, fill in ((-18, seen[length], INK), (0, float(means[length - 1]), canvas.hatch)):
            if up(value) < up(0):
                canvas.box((across(length) + left, up(value)), (18, up(0) - up(value)), fill, INK)
        canvas.text((across(length), 232), f"{length}{' or more' if length == LONGEST else ''}", "middle", 10)
    canvas.line((60, 216), (706, 216))
    canvas.text((383, 248), "length of the run, in winners", "middle", fill=GREY)
    for place, (name, fill) in enumerate((("seen", INK), ("expected", canvas.hatch))):
        canvas.box((580 + 52 * place, 12), (10, 10), fill, INK)
        canvas.text((594 + 52 * place, 21), name, size=10)
    rows = [
        (
            f"{length}{' or more' if length == LONGEST else ''}",
            f"{seen[length]:,}",
            f"{float(means[length - 1]):,.2f}",
            signed(seen[length] - float(means[length - 1]), 2),
        )
        for length in range(1, LONGEST + 1)
    ]
    columns = (Column("Length", width=10), *(Column(name, "number", 10) for name in ("Seen", "Expected", "Above")))
    return Figure("runs", title, words, canvas.print(), table("Numbers of the plot: runs by length", columns, rows, 2))


def expected_runs(wins: Sequence[tuple[int, int]]) -> list[Fraction]:
    """Compute the expected number of runs of length 1 ... `LONGEST` or more, given the wins of both in each sequence.

    Every order of b bankers and p players is equally likely. A run of at least k bankers begins at the first place
    with probability b(b-1)...(b-k+1) / n(n-1)...(n-k+1), and at each of the n - k later places where a player stands
    before it; runs of exactly k are those of at least k without those of at least k + 1.
    """
    at_least = [Fraction(0)] * (LONGEST + 1)
    for (b, p), times in Counter(wins).items():
        for k in range(1, LONGEST + 1):
            at_least[k] += times * (_at_least(k, b, p) + _at_least(k, p, b))
    exactly = [at_least[k] - at_least[k + 1] for k in range(1, LONGEST)]
    return [*exactly, at_least[LONGEST]]


def _at_least(k: int, own: int, other: int) -> Fraction:
    n = own + other
    if k > own:
        return Fraction(0)
    first = Fraction(perm(own, k), perm(n, k))
    later = Fraction((n - k) * other * perm(own, k), perm(n, k + 1)) if n > k else Fraction(0)
    return first + later
