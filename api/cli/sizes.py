"""The size of sample that a certification needs, printed before anything is dealt."""

from __future__ import annotations

import re
from typing import Final

from api.cli.output import columns, print_object, print_text
from audit.battery import MAX_SHOES, PATHS
from audit.multiple import COLLECTIVE_LEVEL
from audit.plan import make_plan
from audit.sample_size import SampleSize, sample_sizes
from shoe.errors import InputError, expected
from shoe.game.houses import House

_POWER: Final = re.compile(r"0?\.[0-9]{1,6}")


def parse_power(text: str) -> float:
    """Read a power such as ``.9``; raises InputError for anything that is not a decimal below 1."""
    if not _POWER.fullmatch(text) or not float(COLLECTIVE_LEVEL) < float(text) < 1:
        raise InputError(expected(f"a decimal between {float(COLLECTIVE_LEVEL)} and 1, such as .9", text))
    return float(text)


def print_sizes(table: House, power: float, *, as_json: bool) -> None:
    """Print the judged coups and shoes that each fault of the catalogue needs at a table, the hardest to see last."""
    checks = len(make_plan(table.name, table.rules, MAX_SHOES, bytes(32)).checks)
    sizes = sample_sizes(table.rules, checks, power)
    if as_json:
        found = [
            {"fault": s.fault, "words": s.words, "coups": s.coups, "shoes": s.shoes, "impossible": s.impossible}
            for s in sizes
        ]
        print_object({"table": table.name, "power": str(power), "checks": checks, "sizes": found})
        return
    print_text(
        f"To catch one of these with power {power:g}, at the first step of Holm over {checks} checks of "
        f"{len(PATHS)} paths, {table.name} must deal on a path",
        "",
        *columns([("judged coups", "shoes", "if"), *map(_row, sizes)], ">><"),
        "",
        "* shown by a coup that cannot be, before frequencies show it",
    )


def _row(size: SampleSize) -> tuple[str, str, str]:
    if size.coups is None or size.shoes is None:
        return "-", "-", size.words
    return f"{size.coups:,}{'*' if size.impossible else ' '}", f"{size.shoes:,}", size.words
