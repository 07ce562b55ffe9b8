"""One coup by the printed chart, card by card; imports nothing of ours.

The chart is the usual casino card: a row for each banker total, a column for each third card of the player,
D draws and S stands; the last column is for a player who stood.
"""

from __future__ import annotations

CHART = {
    # third card: 0    1    2    3    4    5    6    7    8    9  stood
    0: "D D D D D D D D D D D",
    1: "D D D D D D D D D D D",
    2: "D D D D D D D D D D D",
    3: "D D D D D D D D S D D",
    4: "S S D D D D D D S S D",
    5: "S S S S D D D D S S D",
    6: "S S S S S S D D S S S",
    7: "S S S S S S S S S S S",
}
GROUP_OF_THIRD = {
    2: "t23",
    3: "t23",
    4: "t45",
    5: "t45",
    6: "t67",
    7: "t67",
    8: "t8",
    9: "t0_9a",
    0: "t0_9a",
    1: "t0_9a",
}


def units(points: int) -> int:
    """Only the last digit of a total counts."""
    return int(str(points)[-1])


def coup(points: tuple[int, ...]) -> tuple[int, int, int, str, str]:
    """Cards used, player's and banker's total, outcome and rule class of a run of six card points."""
    p1, b1, p2, b2, next_card, card_after = points
    player, banker = units(p1 + p2), units(b1 + b2)
    if player in (8, 9) or banker in (8, 9):
        used = 4
        if player in (8, 9) and banker in (8, 9):
            rule = "both_natural"
        elif player in (8, 9):
            rule = "player_natural"
        else:
            rule = "banker_natural"
    elif player in (6, 7):
        if CHART[banker].split()[10] == "D":
            used, rule, banker = 5, "stood_draws", units(banker + next_card)
        else:
            used, rule = 4, "stood_stands"
    else:
        group = GROUP_OF_THIRD[next_card]
        player = units(player + next_card)
        if CHART[banker].split()[next_card] == "D":
            used, rule, banker = 6, f"{group}_draws", units(banker + card_after)
        else:
            used, rule = 5, f"{group}_stands"
    winner = "tie"
    if player > banker:
        winner = "player"
    if banker > player:
        winner = "banker"
    return used, player, banker, winner, rule
