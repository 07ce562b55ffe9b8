"""Monitors of a table: evidence that grows coup by coup and may be looked at after each (`audit.sequential`).

Each coup is held against the law that follows from the cards not yet seen, so that every coup of a shoe counts, those
behind coup K too, and the evidence is strictly valid.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor, inf, log
from typing import Final, Literal

from audit.deals import deal_counts, outcome_law, rule_law
from audit.exact import multiplicities
from audit.multiple import log_threshold
from audit.sequential import (
    CHANGE_LOG_THRESHOLD,
    Change,
    Evidence,
    begin,
    begin_change,
    change_from_json,
    evidence_from_json,
    update,
    update_change,
)
from shoe.errors import ImpossibleError, InputError, expected
from shoe.game.cards import MAX_DECKS, card_points
from shoe.proof.canonical import parse_object, print_canonical

MonitorName = Literal["outcomes", "rule_use", "outcome_changes"]
MONITORS: Final[Mapping[MonitorName, str]] = {
    "outcomes": "Evidence against player, banker and tie coming as the cards not yet seen say.",
    "rule_use": "Evidence against the 15 rule classes coming as the cards not yet seen say.",
    "outcome_changes": "Evidence that player, banker and tie have come otherwise since some coup.",
}
"""What each monitor looks for."""

EVIDENCE_MONITORS: Final = 2
"""How many of them hold one e-process each, whose alarms are kept rare together over all tables."""

MOST_POINTS: Final = 512
State = Evidence | Change


@dataclass(frozen=True, slots=True)
class Laws:
    """The probabilities of a coup before it is dealt: of its outcome, and of its rule class."""

    outcomes: Mapping[str, Fraction]
    rules: Mapping[str, Fraction]


@dataclass(frozen=True, slots=True)
class Raised:
    """An alarm: evidence and threshold as natural logarithms, and the coup after which a change seems to begin.

    `changed_after` counts coups from the state's beginning; None where the monitor looks for no change.
    """

    log_e: float
    log_threshold: float
    changed_after: int | None


def without(unseen: Sequence[int], cards: Sequence[int]) -> tuple[int, ...]:
    """Take cards, numbers 0…51, out of the counts of what is unseen.

    Raises ImpossibleError where more of a value were shown than there are.
    """
    left = list(unseen)
    for card in cards:
        left[card_points(card)] -= 1
    if min(left) < 0:
        raise ImpossibleError("more cards of a value were shown than the shoe holds")
    return tuple(left)


def laws_of(unseen: Sequence[int]) -> Laws:
    """Compute a coup's laws from the unseen cards of each point value 0…9; some 10 ms, full shoes kept.

    Raises InputError for fewer than six cards.
    """
    return _laws_of_full(tuple(unseen)) if tuple(unseen) in _FULL_SHOES else _laws(unseen)


def begin_monitor(name: MonitorName, decks: int) -> State:
    """Start a monitor of a table of so many decks."""
    laws = laws_of(multiplicities(decks))
    if name == "outcome_changes":
        return begin_change(laws.outcomes)
    return begin(laws.outcomes if name == "outcomes" else laws.rules)


def go_past(name: MonitorName, state: State, coup: tuple[str, str], laws: Laws) -> State:
    """Go past one coup, an outcome and a rule class, dealt under these laws.

    Raises InputError for an outcome or rule that there isn't.
    """
    outcome, rule = coup
    if isinstance(state, Change):
        return update_change(state, outcome, laws.outcomes)
    return update(state, outcome, laws.outcomes) if name == "outcomes" else update(state, rule, laws.rules)


def threshold(name: MonitorName, tables: int) -> float:
    """Compute the natural logarithm of what the evidence must reach for an alarm, where `tables` tables are monitored.

    The chance that any sound table ever alarms by evidence is at most .01; a sound table alarms by a change once in
    10⁶ coups or less often. Raises InputError unless there is a table.
    """
    return CHANGE_LOG_THRESHOLD if name == "outcome_changes" else log_threshold(EVIDENCE_MONITORS * tables)


def raised(name: MonitorName, state: State, alarms: int, tables: int) -> Raised | None:
    """Say whether a state, after a coup, is an alarm; `alarms` counts this monitor's so far.

    Evidence that was once enough stays so, and alarms once. A monitor of changes is to be started anew after each.
    """
    bar = threshold(name, tables)
    if isinstance(state, Change):
        return Raised(state.log_e, bar, state.changed_after) if state.alarms(bar) else None
    return Raised(state.log_e, bar, None) if not alarms and state.log_e >= bar else None


def keeps_point(coups: int) -> bool:
    """Say whether the path keeps a point after so many coups: at most `MOST_POINTS` of them, evenly spread."""
    return coups % stride(coups) == 0


def stride(coups: int) -> int:
    """Compute how far apart the points of a path of so many coups lie: a power of 2."""
    return 1 << max(0, coups.bit_length() - MOST_POINTS.bit_length() + 1)


def print_state(state: State) -> str:
    """Print a state as canonical JSON, exactly."""
    return print_canonical(state.to_json()).decode()


def read_state(name: MonitorName, text: str) -> State:
    """Read what `print_state` printed; raises InputError, with the place, for anything else."""
    fields = parse_object(text.encode())
    return change_from_json(fields) if name == "outcome_changes" else evidence_from_json(fields)


def print_log(log_value: float) -> str:
    """Print e to the power of a natural logarithm as a decimal string of six digits, such as ``1.5e7``.

    The infinite, which an impossible outcome makes, is printed as ``1e999999``.
    """
    if log_value == inf:
        return "1e999999"
    exponent = floor(log_value / log(10))
    mantissa = f"{10 ** (log_value / log(10) - exponent):.5f}"
    if mantissa == "10.00000":
        mantissa, exponent = "1.00000", exponent + 1
    mantissa = mantissa.rstrip("0").rstrip(".")
    return mantissa if exponent == 0 else f"{mantissa}e{exponent}"


def find_monitor(name: str) -> MonitorName:
    """Find a monitor by its name; raises InputError naming those there are."""
    for known in MONITORS:
        if known == name:
            return known
    raise InputError(expected("one of " + ", ".join(MONITORS), name, "monitor"))


def _laws(unseen: Sequence[int]) -> Laws:
    deals = deal_counts(unseen)
    return Laws({str(outcome): p for outcome, p in outcome_law(deals).items()}, rule_law(deals))


_laws_of_full = cache(_laws)
_FULL_SHOES: Final = frozenset(multiplicities(decks) for decks in range(1, MAX_DECKS + 1))
