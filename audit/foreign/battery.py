"""The checks that a log's own form and size allow, and why each of the others is not made."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from audit.battery import LEAST_COUPS, LEAST_FOR_JOINT
from audit.checks import joint, neighbours, outcomes, returns, sequence
from audit.checks.own_bets import least_for_pairs
from audit.checks.result import CheckResult, LineItem
from audit.checks.table import Table, judge
from audit.checks.tableau_cells import tableau_cells
from audit.foreign.card_checks import LEAST_SHOES, by_place, card_counts, shoe_spread
from audit.foreign.counts import LogCounts, Types
from audit.pair_law import pair_covariance
from audit.tally import Tally

LEAST_CARDS: Final = 1_000
"""Cards seen, from which on each type has been expected often enough, 19 times at 52 types."""


class NotMade(NamedTuple):
    """A check that a log does not allow, and why."""

    name: str
    why: str


class Judged(NamedTuple):
    """What the battery found: every check that was made, and those that were not."""

    checks: tuple[CheckResult, ...]
    not_made: tuple[NotMade, ...]


class _Check(NamedTuple):
    name: str
    why_not: Callable[[LogCounts], str | None]
    make: Callable[[LogCounts, Tally], CheckResult]


def judge_counts(counts: LogCounts) -> Judged:
    """Make every check that the counts allow; takes some ten seconds where both totals are known, for exact laws."""
    tally = counts.tally()
    made, not_made = [], []
    for check in _CHECKS:
        why = check.why_not(counts)
        if why is None:
            made.append(check.make(counts, tally))
        else:
            not_made.append(NotMade(check.name, why))
    return Judged(tuple(made), tuple(not_made))


def structural_zeros(counts: LogCounts) -> CheckResult:
    """Count the coups that no right engine deals; one of them fails the check by itself."""
    found = counts.impossible()
    items = (LineItem("coups that cannot be", found, Fraction(0), float("inf") if found else 0.0),)
    return CheckResult(
        name="structural_zeros",
        null="every coup is one that the tableau can deal, with the outcome that its cards make",
        statistic=float(found),
        distribution="0 for certain",
        dof=None,
        n=counts.judged,
        p=0.0 if found else 1.0,
        effect=found / counts.judged,
        effect_name="share of impossible coups",
        items=items,
    )


def types_judged(counts: LogCounts) -> Types | None:
    """Choose the most exact level at which all shoes' cards are known; None where no cards are."""
    most = max(each.shoes for each in counts.types)
    return next((each for each in counts.types if each.shoes == most), None) if most else None


def _pair_classes(counts: LogCounts, tally: Tally) -> CheckResult:
    law = pair_covariance(counts.decks)
    table = Table(counts.pair_classes, tally, law, lambda both: f"player {both[0]}, banker {both[1]}")
    return judge("pair_classes", "the pairs of both hands", table, counts.decks)


def _needs_coups(least: int) -> Callable[[LogCounts], str | None]:
    return lambda counts: f"needs {least:,} coups, there are {counts.judged:,}" if counts.judged < least else None


def _needs_classes(least: int) -> Callable[[LogCounts], str | None]:
    def why_not(counts: LogCounts) -> str | None:
        if (why := _needs_both_hands(counts)) is not None:
            return why
        if wrong := counts.impossible():
            return f"{wrong:,} of the coups cannot be, and have no place in it"
        return _needs_coups(least)(counts) if counts.shown else "needs the cards of both hands in every coup"

    return why_not


def _needs_suits(counts: LogCounts) -> str | None:
    if not counts.suited:
        return "needs the suits of all cards"
    least = least_for_pairs(counts.decks)
    return _needs_coups(-int(-least // 1))(counts)


def _needs_both_hands(counts: LogCounts) -> str | None:
    return None if counts.drawn or counts.misshapen else "needs the cards of both hands"


def _needs_hands(counts: LogCounts) -> str | None:
    return None if counts.drawn else "needs both hands, of two or three cards each"


def _needs_winners(counts: LogCounts) -> str | None:
    return None if counts.wins else "needs a coup that is no tie"


def _needs_order(counts: LogCounts) -> str | None:
    if not any(counts.neighbours):
        return "needs more than one coup of a shoe"
    return _needs_coups(LEAST_COUPS)(counts)


def _needs_shoes(counts: LogCounts) -> str | None:
    if not any(counts.same_place):
        return "needs two shoes"
    return _needs_coups(2 * LEAST_COUPS)(counts)


def _needs_cards(counts: LogCounts) -> str | None:
    types = types_judged(counts)
    if types is None:
        what = "that its decks can hold" if counts.impossible_shoes else "that show their cards"
        return f"needs shoes {what}"
    return f"needs {LEAST_CARDS:,} cards, there are {types.cards:,}" if types.cards < LEAST_CARDS else None


def _needs_unseen(counts: LogCounts) -> str | None:
    types = types_judged(counts)
    if types is not None and not types.unseen_pairs:
        return "every shoe was seen whole: its cards are certain"
    return _needs_cards(counts)


def _needs_places(counts: LogCounts) -> str | None:
    types = types_judged(counts)
    if types is None:
        return _needs_cards(counts)
    shoes = int(types.first[0].sum())
    return f"needs {LEAST_SHOES} shoes of 52 cards or more, there are {shoes}" if shoes < LEAST_SHOES else None


def _of_types(make: Callable[[Types, int], CheckResult]) -> Callable[[LogCounts, Tally], CheckResult]:
    def of_counts(counts: LogCounts, _: Tally) -> CheckResult:
        types = types_judged(counts)
        return make(types if types is not None else counts.types[-1], counts.decks)

    return of_counts


def _of_tally(make: Callable[[Tally, int], CheckResult]) -> Callable[[LogCounts, Tally], CheckResult]:
    return lambda counts, tally: make(tally, counts.decks)


_CHECKS: Final = (
    _Check("structural_zeros", _needs_both_hands, lambda counts, _: structural_zeros(counts)),
    _Check("tableau_cells", _needs_hands, lambda counts, _: tableau_cells(counts.decisions())),
    _Check("outcomes", _needs_coups(LEAST_COUPS), _of_tally(outcomes.outcomes)),
    _Check("rule_use", _needs_classes(LEAST_COUPS), _of_tally(outcomes.rule_use)),
    _Check("joint_totals", _needs_classes(LEAST_FOR_JOINT), _of_tally(joint.joint_totals)),
    _Check("naturals", _needs_classes(LEAST_FOR_JOINT), _of_tally(joint.naturals)),
    _Check("cards_used", _needs_classes(LEAST_COUPS), _of_tally(outcomes.cards_used)),
    _Check("returns", _needs_coups(LEAST_COUPS), _of_tally(returns.returns)),
    _Check("pair_classes", _needs_suits, _pair_classes),
    _Check("runs", _needs_winners, lambda _, tally: sequence.runs(tally)),
    _Check(
        "neighbour_pairs",
        _needs_order,
        lambda counts, _: neighbours.neighbour_pairs(counts.neighbours, counts.last, counts.decks),
    ),
    _Check(
        "serial_correlation",
        _needs_order,
        lambda counts, _: neighbours.serial_correlation(counts.neighbours, counts.decks),
    ),
    _Check("same_place", _needs_shoes, lambda counts, _: neighbours.same_place(counts.same_place)),
    _Check("card_counts", _needs_cards, _of_types(card_counts)),
    _Check("shoe_spread", _needs_unseen, _of_types(shoe_spread)),
    _Check("types_by_position", _needs_places, _of_types(by_place)),
)
"""Every check of logs in the order in which they are made and reported; names are those of `audit/METHODS.md`."""
