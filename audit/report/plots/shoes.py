"""How many coups a shoe gave, on each path."""

from __future__ import annotations

from audit.report.document import Column, Figure, table
from audit.report.plots.axes import Scale, horizontal_axis, vertical_axis
from audit.report.source import Source
from audit.report.svg import INK, Canvas
from audit.report.words import percent


def coups_per_shoe(source: Source) -> Figure | None:
    """Plot the shares of shoes by their number of coups; None where every coup has a shuffle of its own."""
    if source.plan.rules.shuffle == "coup":
        return None
    counted = {path: dict(part["coups_per_shoe"]) for path, part in source.whole_shoes().items()}
    shoes = {path: sum(counts.values()) for path, counts in counted.items()}
    lengths = sorted({coups for counts in counted.values() for coups in counts})
    if not lengths:
        return None
    title = "Coups per shoe"
    words = (
        "The share of shoes that gave so many coups until the cut card came: filled bars for the batch path, hatched "
        "ones for that of production. Reported, not judged."
    )
    canvas = Canvas("coups", 720, 262, title, words)
    across = Scale(lengths[0] - 0.6, lengths[-1] + 0.6, 60, 706)
    top = max(count / shoes[path] for path, counts in counted.items() for count in counts.values())
    up = Scale(0, 100 * top * 1.05, 216, 34)
    vertical_axis(canvas, up, 60, "percent of shoes", 706)
    bar = min(14.0, 0.4 * (across(1 + lengths[0]) - across(lengths[0])))
    for coups in lengths:
        for path, counts in counted.items():
            y = up(100 * counts.get(coups, 0) / shoes[path])
            left = across(coups) - (bar if path == "batch" else 0)
            fill = INK if path == "batch" else canvas.hatch
            if y < up(0):
                canvas.box((left, y), (bar, up(0) - y), fill, INK)
    horizontal_axis(canvas, across, 216, "coups in a shoe", ticks=lengths[:: 1 + len(lengths) // 24])
    for place, (path, fill) in enumerate((("batch", INK), ("production", canvas.hatch))):
        if path in counted:
            canvas.box((540 + 72 * place, 12), (10, 10), fill, INK)
            canvas.text((554 + 72 * place, 21), path, size=10)
    rows = [
        (
            f"{coups}",
            *(f"{counts.get(coups, 0):,}" for counts in counted.values()),
            *(percent(counts.get(coups, 0) / shoes[path], 2) for path, counts in counted.items()),
        )
        for coups in lengths
    ]
    columns = (
        Column("Coups", "number", 6),
        *(Column(f"Shoes, {path}", "number", 10) for path in counted),
        *(Column(f"Percent, {path}", "number", 10) for path in counted),
    )
    return Figure("coups", title, words, canvas.print(), table("Numbers of the plot: coups per shoe", columns, rows))
