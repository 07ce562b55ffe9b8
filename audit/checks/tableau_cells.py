"""Every decision of the tableau by itself: who drew, cell by cell, with no chance in the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf
from typing import Final, NamedTuple

from audit.checks.result import CheckResult, LineItem
from shoe.errors import InputError, expected
from shoe.game.cards import card_points
from shoe.game.tableau import BANKER_DRAWS_UP_TO, Coup, player_draws

STOOD: Final = None


class Decision(NamedTuple):
    """What a side had to decide on, and whether it drew.

    A player decides on the own two-card total 0…7, a banker on the own 0…7 and on the points of the player's
    third card (None where the player stood). With a natural, 8 or 9 on two cards, both decide nothing: side
    ``natural``, the totals of player and banker, and whether either drew.
    """

    side: str
    total: int
    other: int | None
    drew: bool


def tableau_cells(decisions: Mapping[Decision, int]) -> CheckResult:
    """Check all decisions against the chart: 8 cells of the player, 88 of the banker, 36 naturals.

    One wrong decision fails the check by itself: p is 1 without, 0 with any. The items list every cell, also those
    that never came; `observed` counts decisions by the chart, `expected` all in that cell. Raises InputError where
    there are none, and for one that belongs to no cell.
    """
    n = sum(decisions.values())
    if n == 0:
        raise InputError(expected("1 or more decisions", 0, "decisions"))
    for decision in decisions:
        if decision[:3] not in CHART:
            raise InputError(expected("a cell of the tableau", decision, "decisions"))
    items = tuple(_item(cell, drawn, decisions) for cell, drawn in CHART.items())
    wrong = n - sum(item.observed for item in items)
    return CheckResult(
        name="tableau_cells",
        null="every decision is the one that the tableau makes (n: decisions)",
        statistic=float(wrong),
        distribution="0 for certain",
        dof=None,
        n=n,
        p=0.0 if wrong else 1.0,
        effect=wrong / n,
        effect_name="share of wrong decisions",
        items=items,
    )


def decisions_of(coups: Iterable[Coup]) -> Counter[Decision]:
    """Count the decisions of coups, read off their cards alone: totals, outcome and rule are not looked at."""
    return Counter(decision for coup in coups for decision in _decisions(coup))


def _decisions(coup: Coup) -> list[Decision]:
    player, banker = ([card_points(card) for card in cards] for cards in (coup.player_cards, coup.banker_cards))
    player_total, banker_total = sum(player[:2]) % 10, sum(banker[:2]) % 10
    player_drew, banker_drew = len(player) > 2, len(banker) > 2
    if max(player_total, banker_total) >= 8:
        return [Decision("natural", player_total, banker_total, player_drew or banker_drew)]
    third = player[2] if player_drew else STOOD
    return [Decision("player", player_total, None, player_drew), Decision("banker", banker_total, third, banker_drew)]


def _chart() -> dict[tuple[str, int, int | None], bool]:
    chart: dict[tuple[str, int, int | None], bool] = {}
    for total in range(8):
        chart["player", total, None] = player_draws(total)
    for total in range(8):
        chart["banker", total, STOOD] = player_draws(total)
        chart |= {("banker", total, third): total <= BANKER_DRAWS_UP_TO[third] for third in range(10)}
    for player in range(10):
        chart |= {("natural", player, banker): False for banker in range(10) if max(player, banker) >= 8}
    return chart


CHART: Final = _chart()
"""Whether a card is drawn, by (side, total, other); protocol §6."""


def _item(cell: tuple[str, int, int | None], drawn: bool, decisions: Mapping[Decision, int]) -> LineItem:
    right, wrong = decisions.get(Decision(*cell, drawn), 0), decisions.get(Decision(*cell, not drawn), 0)
    side, total, other = cell
    against = {"player": "", "natural": f":{other}", "banker": f", third {'none' if other is STOOD else other}"}[side]
    label = f"{side} {total}{against}: {'draws' if drawn else 'stands'}"
    return LineItem(label, right, Fraction(right + wrong), -inf if wrong else 0.0)
