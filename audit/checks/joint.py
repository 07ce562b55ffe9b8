"""The sharp checks: both totals and the cards used, told apart in all 198 ways that a coup can end."""

from __future__ import annotations

from functools import cache
from typing import Final

from audit.checks.result import CheckResult
from audit.checks.table import judge, tabulate
from audit.covariance import Joint, TwoCoupCovariance, joint_covariance
from audit.tally import Seen, Tally

Naturals = tuple[int, int]  # player's natural, banker's natural: 8, 9, or 0 for none

NATURALS: Final[tuple[Naturals, ...]] = tuple((player, banker) for player in (0, 8, 9) for banker in (0, 8, 9))


def joint_totals(tally: Tally, decks: int) -> CheckResult:
    """Test the counts by (player total, banker total, cards used) by Q = d′V⁻d ~ χ²(197).

    198 triples can occur; any other fails the check by itself. Raises InputError like
    `outcomes.structural_zeros`. The first call for a number of decks takes some seconds.
    """
    table = tabulate(tally, joint_covariance(decks), _joint, _joint_words)
    return judge("joint_totals", "player total, banker total and cards used", table, decks)


def naturals(tally: Tally, decks: int) -> CheckResult:
    """Test the counts of naturals, 8 and 9 of either side and both, by Q = d′V⁻d ~ χ²(8).

    Raises InputError like `outcomes.structural_zeros`.
    """
    table = tabulate(tally, _naturals_law(decks), lambda coup: naturals_of(_joint(coup)), _naturals_words)
    return judge("naturals", "naturals of 8 and 9 on either side", table, decks)


@cache
def _naturals_law(decks: int) -> TwoCoupCovariance[Naturals]:
    return joint_covariance(decks).merged(naturals_of, NATURALS)


def naturals_of(joint: Joint) -> Naturals:
    """Name the naturals of a coup: with four cards, totals of 8 and 9; with more, none."""
    player, banker, cards = joint
    return (player * (player >= 8), banker * (banker >= 8)) if cards == 4 else (0, 0)


def _joint(coup: Seen) -> Joint:
    return coup.player_total, coup.banker_total, coup.cards


def _joint_words(joint: Joint) -> str:
    player, banker, cards = joint
    return f"{player}:{banker}, {cards} cards"


def _naturals_words(pair: Naturals) -> str:
    return ", ".join(f"{side} {total or 'none'}" for side, total in zip(("player", "banker"), pair, strict=True))
