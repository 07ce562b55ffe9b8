"""Before a run: how many shoes it takes to catch each fault of the catalogue with a wanted power."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from audit.covariance import Joint, joint_covariance
from audit.deals import merged
from audit.exact import Cell
from audit.faults import Fault, banker_six_never_draws, catalogue
from audit.multiple import COLLECTIVE_LEVEL
from audit.power import effect_within_shoes
from shoe.errors import InputError, expected
from shoe.game.rules import Rules


@dataclass(frozen=True, slots=True)
class SampleSize:
    """The judged coups, and the shoes that hold them, after which a fault is caught with the power asked for.

    `impossible` says whether that is by a coup that no shoe can deal, before the frequencies show it; `coups` and
    `shoes` are None where the fault leaves every frequency as it is.
    """

    fault: str
    words: str
    coups: int | None
    shoes: int | None
    impossible: bool


def sample_sizes(rules: Rules, checks: int, power: float) -> tuple[SampleSize, ...]:
    """Say what every fault of the catalogue needs, the hardest to see last.

    By the histogram of both totals and cards used, in the first step of Holm's rule over `checks` checks, or by an
    impossible coup where that comes sooner. Takes some ten seconds. Raises InputError unless `checks` is 1 or more and
    the power lies between the level and 1.
    """
    if checks < 1:
        raise InputError(expected("1 or more checks", checks, "checks"))
    faults = (*catalogue(rules.decks), banker_six_never_draws(rules.decks))
    sizes = [_size(fault, rules, float(COLLECTIVE_LEVEL / checks), power) for fault in faults]
    return tuple(sorted(sizes, key=lambda size: (size.coups is None, size.coups or 0)))


def _size(fault: Fault, rules: Rules, level: float, power: float) -> SampleSize:
    law = joint_covariance(rules.decks)
    effect = effect_within_shoes(law, merged(fault.law(), _joint), rules.judged_coups)
    by_frequency, by_one = effect.need(level, power), effect.impossible_need(power)
    impossible = by_one is not None and (by_frequency is None or by_one < by_frequency)
    coups = by_one if impossible else by_frequency
    shoes = None if coups is None else ceil(coups / rules.judged_coups)
    return SampleSize(fault.name, fault.words, coups, shoes, impossible)


def _joint(cell: Cell) -> Joint:
    return cell.player_total, cell.banker_total, cell.cards
