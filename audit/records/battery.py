"""The statistics of an audit of records: which are named follows from the sizes, before anything is counted.

A check is named where its reference law holds at the planned size. Names say the check, the decks, and ``fresh``
where each coup had a shuffle of its own; checks of bets say which terms, by their place in the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby
from operator import add
from typing import Final, Literal, NamedTuple

from audit.battery import LEAST_COUPS, LEAST_FOR_JOINT
from audit.checks import joint, neighbours, outcomes, own_bets, returns, sequence
from audit.checks.result import CheckResult
from audit.edges import MAIN_BETS
from audit.gains import sees_pairs, unit_gains
from audit.records.counts import Counts, singly, squared
from audit.tally import Tally
from shoe.game.bets.shown import Shown
from shoe.game.bets.terms import Terms
from shoe.game.bets.wagers import MAIN, Bet

_BY_DECKS: Final[Mapping[str, tuple[int, Callable[[Tally, int], CheckResult]]]] = {
    "structural_zeros": (1, outcomes.structural_zeros),
    "outcomes": (LEAST_COUPS, outcomes.outcomes),
    "rule_use": (LEAST_COUPS, outcomes.rule_use),
    "merged_rule_use": (LEAST_COUPS, outcomes.merged_rule_use),
    "joint_totals": (LEAST_FOR_JOINT, joint.joint_totals),
    "cards_used": (LEAST_COUPS, outcomes.cards_used),
    "naturals": (LEAST_COUPS, joint.naturals),
    "returns": (LEAST_COUPS, lambda tally, decks: returns.returns(tally, decks, MAIN_BETS)),
}


class Sizes(NamedTuple):
    """A stratum as a plan knows it: decks, way of shuffling, terms, judged coups."""

    decks: int
    shuffle: Literal["shoe", "coup"]
    terms: Terms | None
    coups: int


class Named(NamedTuple):
    """A check by its name, the strata that it judges, and how it judges their counts."""

    name: str
    strata: tuple[int, ...]
    judge: Callable[[Counts], CheckResult]


def checks_for(strata: Sequence[Sizes]) -> tuple[str, ...]:
    """Name the checks that the sizes of a plan's strata allow, in order."""
    return tuple(check.name for check in _named(strata))


def judge_all(strata: Sequence[Sizes], counts: Sequence[Counts]) -> tuple[CheckResult, ...]:
    """Make the checks that `checks_for` names, in that order; takes some seconds the first time, for exact laws.

    `counts` are the strata's, one each. A check of whose coups none is there is left out. Raises InputError where a
    shoe had more judged coups than its decks can promise.
    """
    sums: dict[tuple[int, ...], Counts] = {}
    results = []
    for name, chosen, judge in _named(strata):
        if chosen not in sums:
            sums[chosen] = reduce(add, (counts[place] for place in chosen))
        if sums[chosen].lengths.total():
            results.append(replace(judge(sums[chosen]), name=name))
    return tuple(results)


def needs_cards(terms: Terms | None) -> bool:
    """Say whether a stratum's bets look at pairs, which only cards tell."""
    return terms is not None and any(map(sees_pairs, terms.bets))


def _named(strata: Sequence[Sizes]) -> Iterator[Named]:
    places = sorted(range(len(strata)), key=lambda place: (*_kind(strata[place]), place))
    for (decks, shuffle), group in groupby(places, key=lambda place: _kind(strata[place])):
        chosen = tuple(group)
        label = f"{decks}_decks" + ("" if shuffle == "shoe" else "_fresh")
        yield from _dealing(label, decks, shuffle, chosen, sum(strata[place].coups for place in chosen))
        for place in chosen:
            yield from _betting(f"{label}_terms_{place}", strata[place], place)


def _kind(sizes: Sizes) -> tuple[int, str]:
    return sizes.decks, sizes.shuffle


def _dealing(label: str, decks: int, shuffle: str, chosen: tuple[int, ...], coups: int) -> Iterator[Named]:
    for name, (least, judge) in _BY_DECKS.items():
        if coups >= least:
            yield Named(f"{name}_{label}", chosen, _of_tally(judge, decks))
    if coups < LEAST_COUPS:
        return
    yield Named(f"runs_{label}", chosen, lambda counts: sequence.runs(counts.tally()))
    if shuffle == "shoe":
        yield Named(f"neighbour_pairs_{label}", chosen, lambda counts: _neighbours(counts, decks))
        yield Named(f"serial_correlation_{label}", chosen, lambda counts: _correlation(counts, decks))
    if coups >= 2 * LEAST_COUPS:
        yield Named(f"same_place_{label}", chosen, lambda counts: neighbours.same_place(squared(counts.same_place)))


def _betting(label: str, sizes: Sizes, place: int) -> Iterator[Named]:
    decks, terms, coups = sizes.decks, sizes.terms, sizes.coups
    if terms is None:
        return
    if needs_cards(terms) and coups >= own_bets.least_for_pairs(decks):
        yield Named(f"pair_classes_{label}", (place,), lambda counts: _pairs(counts, decks))
    bets = terms.bets
    if coups >= LEAST_COUPS and _beyond_main(decks, bets) and coups >= own_bets.least_for_returns(decks, bets):
        yield Named(f"bet_returns_{label}", (place,), lambda counts: _bets(counts, decks, bets))


def _beyond_main(decks: int, bets: tuple[Bet, ...]) -> bool:
    main = [unit_gains(decks, bet) for bet in MAIN]
    return any(unit_gains(decks, bet) not in main for bet in bets)


def _of_tally(judge: Callable[[Tally, int], CheckResult], decks: int) -> Callable[[Counts], CheckResult]:
    return lambda counts: judge(counts.tally(), decks)


def _neighbours(counts: Counts, decks: int) -> CheckResult:
    return neighbours.neighbour_pairs(squared(counts.neighbours), singly(counts.last), decks)


def _correlation(counts: Counts, decks: int) -> CheckResult:
    return neighbours.serial_correlation(squared(counts.neighbours), decks)


def _pairs(counts: Counts, decks: int) -> CheckResult:
    return own_bets.pair_classes(counts.shown, counts.tally(), decks)


def _bets(counts: Counts, decks: int, bets: tuple[Bet, ...]) -> CheckResult:
    seen: Mapping[Shown, int] = counts.shown
    return own_bets.bet_returns(seen, counts.tally(), decks, bets)
