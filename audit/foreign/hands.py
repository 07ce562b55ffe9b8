"""One logged coup held against the tableau: whether its cards could have been drawn, and what they make."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from audit.checks.tableau_cells import Decision
from audit.foreign.notation import Hand
from audit.tally import Seen
from shoe.game.tableau import Outcome, banker_draws, outcome_of, player_draws, rule_of

Drawn = tuple[int, int, int | None, int | None]
"""What decides a coup: both two-card totals, and the points of both third cards, None for none."""

_NATURAL_FROM = 8


class Fault(NamedTuple):
    """What is wrong with the cards of a coup: a sort, and what the tableau expects."""

    sort: str
    expected: str


def drawn_by(player: Hand, banker: Hand) -> Drawn | None:
    """Name what decides a coup; None for a hand of fewer than two or more than three cards."""
    p, b = player.points, banker.points
    if not (2 <= len(p) <= 3 and 2 <= len(b) <= 3):
        return None
    return (
        (p[0] + p[1]) % 10,
        (b[0] + b[1]) % 10,
        p[2] if len(p) > 2 else None,
        b[2] if len(b) > 2 else None,
    )


def size_fault(player: Hand, banker: Hand) -> Fault:
    """Say what is wrong with hands that `drawn_by` gives None for."""
    few = min(len(player.codes), len(banker.codes)) < 2
    return Fault("too_few_cards" if few else "too_many_cards", "two or three cards a hand")


@cache
def fault_of(drawn: Drawn) -> Fault | None:
    """Hold a coup of two or three cards a side against the tableau; None where it keeps it. 12,100 coups in all."""
    player, banker, third, last = drawn
    if max(player, banker) >= _NATURAL_FROM:
        wrong = third is not None or last is not None
        return Fault("drawn_after_natural", f"no third card after {player}:{banker}") if wrong else None
    if player_draws(player) != (third is not None):
        return _wrong_draw("player", player, draws=third is None, against="")
    if banker_draws(banker, third) != (last is not None):
        against = " against a player who stood" if third is None else f" against a third card of {third}"
        return _wrong_draw("banker", banker, draws=last is None, against=against)
    return None


def _wrong_draw(side: str, total: int, *, draws: bool, against: str) -> Fault:
    sort = f"{side}_third_card_missing" if draws else f"{side}_third_card_not_due"
    return Fault(sort, f"the {side} {'draws' if draws else 'stands'} on {total}{against}")


@cache
def seen_of(drawn: Drawn, outcome: Outcome) -> Seen:
    """Give a coup that keeps the tableau in the form that checks of frequencies take, `outcome` as it was claimed."""
    player, banker, third, last = drawn
    cards = 4 + (third is not None) + (last is not None)
    totals = (player + (third or 0)) % 10, (banker + (last or 0)) % 10
    return Seen(outcome, rule_of(player, banker, third), cards, *totals)


def decisions_in(drawn: Drawn) -> list[Decision]:
    """List the decisions that a coup shows, right or wrong."""
    player, banker, third, last = drawn
    if max(player, banker) >= _NATURAL_FROM:
        return [Decision("natural", player, banker, third is not None or last is not None)]
    return [
        Decision("player", player, None, third is not None),
        Decision("banker", banker, third, last is not None),
    ]


def winner(player: Hand, banker: Hand) -> Outcome:
    """Name the side whose cards make more, of however many cards."""
    return outcome_of(sum(player.points) % 10, sum(banker.points) % 10)
