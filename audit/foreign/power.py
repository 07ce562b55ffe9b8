"""Which faults logs of this form and size would have shown: the coups in which nine logs of ten show each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, log, log1p, prod
from typing import Any, Final, NamedTuple

from scipy.special import ndtri, pdtr

from audit.battery import LEAST_FOR_JOINT
from audit.checks.returns import outcome_law
from audit.covariance import Joint, joint_covariance
from audit.deals import CHART, STOOD, deal_counts, merged
from audit.exact import Cell, multiplicities
from audit.faults import Fault, banker_flips, player_flips, wrong_shoes
from audit.foreign.battery import types_judged
from audit.foreign.composition import LEVELS
from audit.foreign.counts import LogCounts, Types
from audit.multiple import COLLECTIVE_LEVEL
from audit.power import effect_within_shoes, needed_noncentrality
from shoe.game.cards import DECK
from shoe.game.tableau import MAX_CARDS, Outcome

POWER: Final = 0.9
_TOTALS: Final = range(8)


@dataclass(frozen=True, slots=True)
class Need:
    """A fault, the coups of such a log in which nine of ten show it, by what, and whether this log has so many."""

    fault: str
    words: str
    coups: int | None
    shown_by: str
    reached: bool

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names."""
        return {name: getattr(self, name) for name in ("fault", "words", "coups", "shown_by", "reached")}


class _Way(NamedTuple):
    """So many coups it takes by one check; None where it never shows."""

    coups: int | None
    shown_by: str


def needs(counts: LogCounts, checks: int) -> tuple[Need, ...]:
    """Say what every fault of the catalogue needs in the first step of Holm's rule, the easiest to see first.

    Where both hands are logged a wrong decision shows in the first coup that has it, and a wrong shoe by the check that
    sees it first; where they are not, everything shows by player, banker and tie alone. Takes a few seconds.
    """
    level = float(COLLECTIVE_LEVEL / checks)
    ways = _of_hands(counts, level) if counts.drawn else _of_outcomes(counts, level)
    found = [
        Need(fault.name, fault.words, way.coups, way.shown_by, way.coups is not None and way.coups <= counts.judged)
        for fault, way in ways
    ]
    return tuple(sorted(found, key=lambda need: (need.coups is None, need.coups or 0, need.fault)))


def _of_hands(counts: LogCounts, level: float) -> Iterator[tuple[Fault, _Way]]:
    for fault, chance in decision_chances(counts.decks):
        yield fault, _Way(ceil(log1p(-POWER) / log1p(-float(chance))), "decision")
    if counts.impossible() or not counts.shown:
        return
    for fault in wrong_shoes(counts.decks):
        ways = [*_by_totals(fault, counts, level), *_by_cards(fault, counts, level)]
        if ways:
            yield fault, min(ways, key=lambda way: (way.coups is None, way.coups or 0))


def _of_outcomes(counts: LogCounts, level: float) -> Iterator[tuple[Fault, _Way]]:
    law = outcome_law(counts.decks)
    for fault, outcomes in _outcome_laws(counts.decks):
        yield fault, _Way(effect_within_shoes(law, outcomes, _within(counts)).need(level, POWER), "outcomes")


@cache
def _outcome_laws(decks: int) -> tuple[tuple[Fault, dict[Outcome, Fraction]], ...]:
    faults = (*player_flips(decks), *banker_flips(decks), *wrong_shoes(decks))
    return tuple((fault, merged(fault.law(), lambda cell: cell.outcome)) for fault in faults)


@cache
def decision_chances(decks: int) -> tuple[tuple[Fault, Fraction], ...]:
    """List the 96 faults of a single decision, each with the probability that a coup comes to it.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """
    deals = deal_counts(multiplicities(decks))
    total = int(deals.sum())
    by_player = [int(deals[player, :8].sum()) for player in _TOTALS]
    drawn = [player for player in _TOTALS if CHART.player[player]]
    stood = [player for player in _TOTALS if not CHART.player[player]]
    by_banker = [
        int(deals[stood, banker].sum() if third == STOOD else deals[drawn, banker, third].sum())
        for banker in _TOTALS
        for third in range(STOOD + 1)
    ]
    ways = zip((*player_flips(decks), *banker_flips(decks)), by_player + by_banker, strict=True)
    return tuple((fault, Fraction(count, total)) for fault, count in ways)


def _by_totals(fault: Fault, counts: LogCounts, level: float) -> Iterator[_Way]:
    if counts.judged >= LEAST_FOR_JOINT:
        effect = effect_within_shoes(joint_covariance(counts.decks), merged(fault.law(), _joint), _within(counts))
        yield _Way(effect.need(level, POWER), "joint_totals")


def _by_cards(fault: Fault, counts: LogCounts, level: float) -> Iterator[_Way]:
    """Say what the checks of cards need: of a missing card by the pooled counts, of an endless shoe by each one's."""
    if fault.endless:
        yield _by_surplus(counts)
    types = types_judged(counts)
    if types is None or not types.unseen_pairs:
        return
    size, per_coup = DECK * counts.decks, Fraction(types.cards, max(counts.judged, 1))
    unseen = Fraction(types.unseen_pairs, (size - 1) * types.cards)
    if fault.endless:
        shoes = _endless_need(len(types.level.labels) - 1, 1 / float(unseen), level)
        yield _Way(ceil(shoes * Fraction(types.cards, types.shoes) / per_coup), "shoe_spread")
    elif sum(fault.cards) == size - 1:
        noncentrality = needed_noncentrality(len(types.level.labels) - 1, level, POWER)
        cards = noncentrality * float(unseen) / float(_missing_effect(types, fault, counts.decks))
        yield _Way(ceil(cards / float(per_coup)), "card_counts")


def _by_surplus(counts: LogCounts) -> _Way:
    """Say in how many coups an endless shoe shows a card more often than the decks hold it, Poisson counts taken."""
    full = LEVELS[counts.coarsest].shoe(counts.decks)
    cards = counts.shown_cards / counts.shown_shoes
    none = prod(float(pdtr(count, cards * count / sum(full))) for count in full)
    if none == 1:
        return _Way(None, "composition")
    shoes = 1 if none <= 1 - POWER else ceil(log1p(-POWER) / log(none))
    return _Way(ceil(shoes * counts.judged / counts.shoes), "composition")


def _endless_need(dof: int, ratio: float, level: float) -> int:
    """Count the shoes whose spread, `ratio` times as large as it should be, exceeds the critical value."""
    reach = -float(ndtri(level)) + ratio * float(ndtri(POWER))
    return ceil(2 * (reach / (ratio - 1)) ** 2 / dof)


def _missing_effect(types: Types, fault: Fault, decks: int) -> Fraction:
    """Compute Σ (q−p)²/p over the types of cards, one card of the fault's points missing."""
    full = types.level.shoe(decks)
    size = sum(full)
    value = next(v for v, (count, m) in enumerate(zip(fault.cards, multiplicities(decks), strict=True)) if count < m)
    places = types.level.types.tolist()
    gone = places[(value - 1) % 10] if value else places[9]
    return sum(
        (Fraction(count - (kind == gone), size - 1) - Fraction(count, size)) ** 2 * Fraction(size, count)
        for kind, count in enumerate(full)
    ) + Fraction(0)


def _within(counts: LogCounts) -> int:
    """Say how many coups of a shoe are judged on average, at most so many as are dealt whatever the cards are."""
    mean = round(counts.judged / max(counts.lengths.total(), 1))
    return max(1, min(mean, DECK * counts.decks // MAX_CARDS))


def _joint(cell: Cell) -> Joint:
    return cell.player_total, cell.banker_total, cell.cards
