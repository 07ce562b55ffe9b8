"""The roads: a shoe's outcomes as punters write them down.

Nothing is proved here and nothing predicted: the roads only redraw what was dealt. Outcomes are the letters B
(banker), P (player) and T (tie) in dealing order; columns and rows count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

from shoe.errors import InputError, expected

OUTCOME_LETTERS: Final = ("B", "P", "T")
ROWS: Final = 6

# A tie belongs to the win before it, so these patterns meet a leading T only at the head of the shoe.
_COLUMN: Final = re.compile("T*B[BT]*|T*P[PT]*|T+")
_WIN: Final = re.compile("T*[BP]T*")


class Run(NamedTuple):
    """A logical column of the big road: its winner, B or P, and how many wins it holds."""

    winner: str
    length: int


class Cell(NamedTuple):
    """One win on the big road's grid of six rows, with the number of ties that hang on it."""

    column: int
    row: int
    winner: str
    ties: int


class Bead(NamedTuple):
    """One coup on the bead plate."""

    column: int
    row: int
    outcome: str


class Sums(NamedTuple):
    """How many coups each outcome took, and how many there were."""

    banker: int
    player: int
    tie: int
    coups: int


@dataclass(frozen=True, slots=True)
class Roads:
    """All roads of one shoe.

    `columns` holds the winners' columns as strings such as ``BB-B``, a tie being ``-``. The derived roads are
    strings of R (red: the pattern repeats) and B (blue: it breaks).
    """

    big_road: tuple[Run, ...]
    big_road_cells: tuple[Cell, ...]
    bead_plate: tuple[Bead, ...]
    columns: tuple[str, ...]
    big_eye_boy: str
    small_road: str
    cockroach_pig: str
    sums: Sums

    def to_json(self) -> dict[str, object]:
        """List the roads as the command ``roads --json`` prints them; every tuple is a list."""
        return {
            "big_road": [list(run) for run in self.big_road],
            "big_road_cells": [list(cell) for cell in self.big_road_cells],
            "bead_plate": [list(bead) for bead in self.bead_plate],
            "columns": list(self.columns),
            "big_eye_boy": self.big_eye_boy,
            "small_road": self.small_road,
            "cockroach_pig": self.cockroach_pig,
        }


def parse_outcomes(outcomes: Iterable[str]) -> tuple[str, ...]:
    """Read a text or sequence of the letters B, P and T.

    Raises InputError for anything else, lower case and blanks included; the message names the position,
    counted from 0.
    """
    letters = tuple(outcomes)
    for position, letter in enumerate(letters):
        if letter not in OUTCOME_LETTERS:
            raise InputError(expected("B, P or T", letter, f"outcome {position}"))
    return letters


def draw_roads(outcomes: Iterable[str]) -> Roads:
    """Draw every road of a shoe from its outcomes so far, a text or sequence of B, P and T.

    A tie hangs on the win before it, a leading one on the first win; with no win at all the big road is empty
    and the ties are seen on the bead plate, in `columns` and in `sums`. Raises InputError as `parse_outcomes`
    does.
    """
    letters = parse_outcomes(outcomes)
    columns = _COLUMN.findall("".join(letters))
    wins = [win for column in columns for win in _WIN.findall(column)]
    runs = tuple(Run(won[0], len(won)) for won in (column.replace("T", "") for column in columns) if won)
    lengths = [run.length for run in runs]
    return Roads(
        big_road=runs,
        big_road_cells=tuple(
            Cell(*place, win.strip("T"), win.count("T")) for place, win in zip(_places(lengths), wins, strict=True)
        ),
        bead_plate=tuple(Bead(*divmod(i, ROWS), letter) for i, letter in enumerate(letters)),
        columns=tuple(column.replace("T", "-") for column in columns),
        big_eye_boy=_derived_road(lengths, 1),
        small_road=_derived_road(lengths, 2),
        cockroach_pig=_derived_road(lengths, 3),
        sums=Sums(letters.count("B"), letters.count("P"), letters.count("T"), len(letters)),
    )


def big_road_text(roads: Roads) -> str:
    """Print the big road as six lines of letters for a terminal, without a newline at the end.

    One letter a win, in lower case where at least one tie hangs on it; so no line is longer than the shoe
    has coups.
    """
    printed = {(c.column, c.row): c.winner.lower() if c.ties else c.winner for c in roads.big_road_cells}
    width = max((column for column, _ in printed), default=-1) + 1
    lines = ("".join(printed.get((column, row), " ") for column in range(width)) for row in range(ROWS))
    return "\n".join(line.rstrip() for line in lines)


def _places(lengths: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Walk the big road's grid: (column, row) of every win of the runs of these lengths."""
    taken: set[tuple[int, int]] = set()
    start = -1
    for length in lengths:
        start = next(column for column in count(start + 1) if (column, 0) not in taken)
        column, row, falling = start, 0, True
        for _ in range(length):
            taken.add((column, row))
            yield column, row
            # A run that has turned never falls again, even where the cell below it is free.
            falling = falling and row + 1 < ROWS and (column, row + 1) not in taken
            column, row = (column, row + 1) if falling else (column + 1, row)


def _derived_road(lengths: Sequence[int], k: int) -> str:
    """Compare each logical column with the k-th to its left: big eye boy 1, small road 2, cockroach pig 3."""
    hues = []
    for n, length in enumerate(lengths):
        if n > k:
            hues.append("R" if lengths[n - 1] == lengths[n - 1 - k] else "B")
        if n >= k:
            hues += ["B" if m == lengths[n - k] + 1 else "R" for m in range(2, length + 1)]
    return "".join(hues)
