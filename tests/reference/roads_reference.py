"""The roads drawn slowly, coup by coup, from the definitions a croupier would give; imports nothing of ours.

The derived roads use the croupier's wording, not lengths: look k columns to the left, at the cell of the same
height and the one above it; red if both are filled or both empty. At the head of a column the mark is the
opposite of what would have come had the column before gone on.
"""

from __future__ import annotations


def logical_columns(outcomes: str) -> list[list[list]]:
    """Columns of [winner, ties] pairs; ties before the first win are put on it."""
    columns: list[list[list]] = []
    waiting = 0
    for outcome in outcomes:
        if outcome == "T":
            if columns:
                columns[-1][-1][1] += 1
            else:
                waiting += 1
            continue
        if not columns or columns[-1][-1][0] != outcome:
            columns.append([])
        columns[-1].append([outcome, waiting])
        waiting = 0
    return columns


def grid(outcomes: str) -> list[tuple[int, int, str, int]]:
    """(column, row, winner, ties) of every win on a board of six rows, looking before each step."""
    board = [["" for _ in range(6)] for _ in range(2 * len(outcomes) + 2)]
    cells = []
    start = None
    for run in logical_columns(outcomes):
        x = 0 if start is None else start + 1
        while board[x][0]:
            x += 1
        start, y, direction = x, 0, "down"
        for index, (winner, ties) in enumerate(run):
            if index and direction == "down" and (y == 5 or board[x][y + 1]):
                direction = "right"
            if index:
                x, y = (x, y + 1) if direction == "down" else (x + 1, y)
            if board[x][y]:
                raise RuntimeError(f"two wins on column {x}, row {y}")
            board[x][y] = winner
            cells.append((x, y, winner, ties))
    return cells


def derived(outcomes: str, k: int) -> str:
    """The derived road of distance k as letters R and B."""
    heights = [len(column) for column in logical_columns(outcomes)]

    def filled(column: int, row: int) -> bool:
        return 1 <= row <= heights[column]

    def mark(column: int, row: int) -> str:
        """Row counts from 1 and is at least 2."""
        return "R" if filled(column - k, row) == filled(column - k, row - 1) else "B"

    marks = ""
    for column, height in enumerate(heights):
        for row in range(1, height + 1):
            if row >= 2 and column - k >= 0:
                marks += mark(column, row)
            elif row == 1 and column - 1 - k >= 0:
                marks += {"R": "B", "B": "R"}[mark(column - 1, heights[column - 1] + 1)]
    return marks


def winners_columns(outcomes: str) -> list[str]:
    """The B/P/- display, one coup at a time."""
    shown: list[str] = []
    for outcome in outcomes:
        winners = shown[-1].replace("-", "") if shown else ""
        if not shown or (outcome != "T" and winners and winners[0] != outcome):
            shown.append("")
        shown[-1] += "-" if outcome == "T" else outcome
    return shown


def bead_plate(outcomes: str) -> list[tuple[int, int, str]]:
    """The plate filled downwards, six beads a column."""
    plate = []
    column = row = 0
    for outcome in outcomes:
        plate.append((column, row, outcome))
        row += 1
        if row == 6:
            column, row = column + 1, 0
    return plate
