"""Logs of one shoe a line: the cards in dealing order, or the outcomes alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from audit.foreign.hands import drawn_by
from audit.foreign.notation import CODE_POINTS, hand_of
from audit.foreign.rows import LoggedCoup
from shoe.errors import InputError, expected
from shoe.game.tableau import MAX_CARDS, Outcome, banker_draws, player_draws

_LETTERS: Final[dict[str, Outcome]] = {"P": "player", "B": "banker", "T": "tie"}
_BETWEEN: Final = re.compile(r"[\s,;]+")
_OUTCOMES: Final = re.compile(r"[PBTpbt\s,;]*[PBTpbt][PBTpbt\s,;]*")
_NATURAL_FROM: Final = 8


def is_outcomes(line: str) -> bool:
    """Say whether a line is outcomes and nothing else."""
    return _OUTCOMES.fullmatch(line) is not None


def outcomes_in(number: int, shoe: str, line: str) -> Iterator[LoggedCoup]:
    """Read a shoe of outcomes, B, P and T in either case, with or without blanks, commas or semicolons between.

    Raises InputError, before the first coup, for a line that holds anything else.
    """
    if not is_outcomes(line):
        letters = _BETWEEN.sub("", line)
        place, got = next((at, c) for at, c in enumerate(letters, 1) if c.upper() not in _LETTERS)
        raise InputError(expected("B, P or T", got, f"outcome {place}"))
    outcomes = [_LETTERS[letter] for letter in _BETWEEN.sub("", line).upper()]
    return (LoggedCoup(number, shoe, str(place), None, None, each) for place, each in enumerate(outcomes, 1))


def coups_in(number: int, shoe: str, codes: tuple[int, ...]) -> Iterator[LoggedCoup]:
    """Deal a shoe's cards by the tableau, from the first on: P B P B, the player's third, the banker's third.

    What is left at the end and is not enough for one more coup belongs to none.
    """
    at, place = 0, 1
    while at + 4 <= len(codes):
        used = _used(codes[at : at + MAX_CARDS])
        if used is None:
            return
        one, other = (hand_of(codes[at + card] for card in cards) for cards in used)
        yield LoggedCoup(number, shoe, str(place), one, other, None)
        at, place = at + len(used[0]) + len(used[1]), place + 1


def _used(codes: tuple[int, ...]) -> tuple[list[int], list[int]] | None:
    """Say which of the next cards go to which side; None where there are too few."""
    player, banker = [0, 2], [1, 3]
    decided = drawn_by(hand_of(codes[0:4:2]), hand_of(codes[1:4:2]))
    totals = decided[:2] if decided else (0, 0)
    third, used = None, 4
    if max(totals) < _NATURAL_FROM:
        if player_draws(totals[0]):
            player.append(used)
            third, used = used, used + 1
        if third is not None and third >= len(codes):
            return None
        if banker_draws(totals[1], None if third is None else CODE_POINTS[codes[third]]):
            banker.append(used)
            used += 1
    return (player, banker) if used <= len(codes) else None
