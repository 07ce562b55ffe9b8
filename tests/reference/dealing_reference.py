"""A shoe dealt card by card off a pile, as protocol §6 tells it; imports nothing of the project.

The cut card is a thing that lies in the pile: who takes a card from behind it has drawn it. Coups come from the
printed chart of `tableau_reference`.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.reference import tableau_reference

Dealt = tuple[int, int, int, int, str, str]  # start, cards used, player's and banker's total, outcome, rule class


def burned(points: Sequence[int], burn: str) -> int:
    """How many cards are gone before coup 0: the shown card, and as many unseen as it is worth (ace 1, ten 10)."""
    if burn == "none":
        return 0
    worth = 10 if points[0] == 0 else points[0]
    return 1 + worth


def deal(points: Sequence[int], cut: int, burn: str, last_coup: str) -> list[Dealt]:
    """Every coup of a shoe whose cards have these points; the cut card lies in front of position `cut`."""
    coups: list[Dealt] = []
    next_card = burned(points, burn)
    coups_left = None
    while coups_left != 0:
        start = next_card
        six = [points[at] if at < len(points) else -1 for at in range(start, start + 6)]
        used, player, banker, outcome, rule = tableau_reference.coup(tuple(six))
        if -1 in six[:used]:
            raise RuntimeError(f"no card left for the coup that starts at {start}")
        coups.append((start, used, player, banker, outcome, rule))
        next_card = start + used
        if coups_left is not None:
            coups_left -= 1
        elif any(position >= cut for position in range(start, next_card)):
            coups_left = 1 if last_coup == "one_more" and start != cut else 0
    return coups
