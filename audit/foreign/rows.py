"""What a line of a log says once it is read: one coup, with its shoe and its place."""

from __future__ import annotations

from typing import NamedTuple

from audit.foreign.notation import Hand
from audit.foreign.settlement import Settled
from shoe.game.tableau import Outcome


class LoggedCoup(NamedTuple):
    """One coup as logged: line, shoe and coup as they are named there, hands, claimed outcome, and a bet.

    `player` and `banker` are None where only outcomes are logged, `outcome` is None where it is not claimed.
    """

    line: int
    shoe: str
    coup: str | None
    player: Hand | None
    banker: Hand | None
    outcome: Outcome | None
    settled: Settled | None = None
