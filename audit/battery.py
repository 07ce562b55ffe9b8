"""The battery: every named check of one path, in order, with what it needs to be named in a plan at all.

A check is named where its reference law holds at the plan's size, so that each p can be trusted; which these are
follows from the plan alone, before the first shoe. Names in a plan are ``batch_`` or ``production_`` and the name here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import factorial, perm
from typing import Annotated, Final, Literal, NamedTuple

import numpy as np

from audit.checks import draws, joint, neighbours, outcomes, own_bets, positions, returns, sequence, shuffles
from audit.checks import tableau_cells as cells
from audit.checks.bits import SP80022
from audit.checks.bits.second_level import BitsTally, judge_bits
from audit.checks.result import CheckResult
from audit.counts import Dealt, PathCounts, RunCounts, require
from audit.draw_counts import STEPS, DrawCounts
from audit.own_bets import bets_of, beyond_main, looks_at_pairs
from audit.replay import replay
from audit.shuffle_counts import ShuffleCounts
from audit.tally import Tally
from shoe.errors import InputError, expected
from shoe.game.cards import DECK
from shoe.game.rules import Rules
from shoe.game.tableau import MAX_CARDS
from shoe.proof.forms import integer

PathName = Literal["batch", "production"]
PATHS: Final[tuple[PathName, ...]] = ("batch", "production")

MAX_SHOES: Final = 2**40
LEAST_COUPS: Final = 690
"""So many judged coups give every rule class an expected count of 5."""

LEAST_FOR_JOINT: Final = 7_300
"""So many judged coups give each of the 198 joint totals an expected count of 5, whatever the number of decks."""

LEAST_SAMPLE: Final = 100
LEAST_A_CARD: Final = 5


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of one path is counted: shoes dealt; of these, orders and draws of a sample, bits, and replayed ones.

    `sequences` are of 10^6 bits each; `replayed` is even.
    """

    shoes: Annotated[int, integer(0, MAX_SHOES)]
    sampled: Annotated[int, integer(0, MAX_SHOES)]
    sequences: Annotated[int, integer(0, MAX_SHOES)]
    replayed: Annotated[int, integer(0, MAX_SHOES)]


class Check(NamedTuple):
    """A named check: which part it judges, whether it suits a table and a size, and how it judges."""

    part: Literal["shoes", "sampled", "sequences", "replayed"]
    fits: Callable[[Rules, Sizes], bool]
    judge: Callable[[PathCounts, Rules], CheckResult]


def _named() -> dict[str, Check]:
    return {**_dealing(), **_betting(), **_order(), **_shuffling(), **_drawing(), **_bits(), **_replaying()}


def checks_for(rules: Rules, sizes: Mapping[PathName, Sizes]) -> tuple[str, ...]:
    """Name the checks that suit a table and the sizes of its paths, in order."""
    return tuple(
        f"{path}_{name}" for path in PATHS for name, check in BATTERY.items() if check.fits(rules, sizes[path])
    )


def find_check(name: str) -> tuple[PathName, Check]:
    """Find the path and the check that a plan's name stands for; raises InputError for an unknown one."""
    for path in PATHS:
        if name.startswith(f"{path}_") and (check := BATTERY.get(name.removeprefix(f"{path}_"))):
            return path, check
    raise InputError(expected("the name of a check", name, "checks"))


def judge_all(names: tuple[str, ...], counts: RunCounts, rules: Rules) -> tuple[CheckResult, ...]:
    """Make the named checks, in the order given, each result under the plan's name.

    Raises InputError for an unknown name, or where a check's part was not counted.
    """
    results = []
    for name in names:
        path, check = find_check(name)
        results.append(replace(check.judge(getattr(counts, path), rules), name=name))
    return tuple(results)


# --- what was dealt ----------------------------------------------------------------------------


def _dealing() -> dict[str, Check]:
    by_decks: dict[str, tuple[int, Callable[[Tally, int], CheckResult]]] = {
        "structural_zeros": (1, outcomes.structural_zeros),
        "outcomes": (LEAST_COUPS, outcomes.outcomes),
        "rule_use": (LEAST_COUPS, outcomes.rule_use),
        "merged_rule_use": (LEAST_COUPS, outcomes.merged_rule_use),
        "joint_totals": (LEAST_FOR_JOINT, joint.joint_totals),
        "naturals": (LEAST_COUPS, joint.naturals),
        "cards_used": (LEAST_COUPS, outcomes.cards_used),
        "returns": (LEAST_COUPS, returns.returns),
    }
    return {
        name: Check("shoes", partial(_coups, least), partial(_judge_tally, judge))
        for name, (least, judge) in by_decks.items()
    }


def _betting() -> dict[str, Check]:
    return {
        "pair_classes": Check("shoes", _has_pairs, _judge_pairs),
        "bet_returns": Check("shoes", _has_bets, _judge_bets),
    }


def _has_pairs(rules: Rules, sizes: Sizes) -> bool:
    return looks_at_pairs(rules) and sizes.shoes * rules.judged_coups >= own_bets.least_for_pairs(rules.decks)


def _has_bets(rules: Rules, sizes: Sizes) -> bool:
    """Say whether `returns` leaves a bet of the table unjudged, and all of them can be."""
    if not _coups(LEAST_COUPS, rules, sizes) or not beyond_main(rules):
        return False
    return sizes.shoes * rules.judged_coups >= own_bets.least_for_returns(rules.decks, bets_of(rules))


def _judge_pairs(counts: PathCounts, rules: Rules) -> CheckResult:
    dealt = _dealt(counts)
    seen = own_bets.seen_by_bets(dealt.judged_cells, dealt.pair_cells)
    return own_bets.pair_classes(seen, dealt.tally(), rules.decks)


def _judge_bets(counts: PathCounts, rules: Rules) -> CheckResult:
    dealt = _dealt(counts)
    seen = own_bets.seen_by_bets(dealt.judged_cells, dealt.pair_cells)
    return own_bets.bet_returns(seen, dealt.tally(), rules.decks, bets_of(rules))


def _order() -> dict[str, Check]:
    return {
        "runs": Check("shoes", _has_order, lambda counts, _: sequence.runs(_dealt(counts).tally())),
        "neighbour_pairs": Check("shoes", _has_order, _judge_neighbours),
        "serial_correlation": Check("shoes", _has_order, _judge_correlation),
        "same_place": Check("shoes", partial(_coups, 2 * LEAST_COUPS), _judge_same_place),
        "duplicate_shoes": Check("shoes", partial(_coups, 1), _judge_duplicates),
    }


def _coups(least: int, rules: Rules, sizes: Sizes) -> bool:
    return sizes.shoes * rules.judged_coups >= least


def _has_order(rules: Rules, sizes: Sizes) -> bool:
    return rules.judged_coups > 1 and _coups(LEAST_COUPS, rules, sizes)


def _dealt(counts: PathCounts) -> Dealt:
    return require(counts.dealt, "shoes dealt")


def _judge_tally(judge: Callable[[Tally, int], CheckResult], counts: PathCounts, rules: Rules) -> CheckResult:
    return judge(_dealt(counts).tally(), rules.decks)


def _judge_neighbours(counts: PathCounts, rules: Rules) -> CheckResult:
    dealt = _dealt(counts)
    return neighbours.neighbour_pairs(dealt.pairs.tolist(), dealt.last.tolist(), rules.decks)


def _judge_correlation(counts: PathCounts, rules: Rules) -> CheckResult:
    return neighbours.serial_correlation(_dealt(counts).pairs.tolist(), rules.decks)


def _judge_same_place(counts: PathCounts, _: Rules) -> CheckResult:
    return neighbours.same_place(_dealt(counts).same_place.tolist())


def _judge_duplicates(counts: PathCounts, rules: Rules) -> CheckResult:
    orders = perm(rules.size, MAX_CARDS) if rules.shuffle == "coup" else factorial(rules.size)
    return shuffles.duplicate_shoes(_dealt(counts).order_hashes(), orders)


# --- the sampled orders and their draws --------------------------------------------------------


def _shuffling() -> dict[str, Check]:
    checks = {
        judge.__name__: Check("sampled", _sampled, partial(_judge_shuffles, judge)) for judge in shuffles.SHUFFLE_CHECKS
    }
    return {
        **checks,
        "worst_position": checks["worst_position"]._replace(fits=_well_sampled),
        "types_by_position": Check("sampled", _sampled, _judge_types),
        "pooled_types": Check("sampled", _sampled, _judge_pooled_types),
    }


def _drawing() -> dict[str, Check]:
    return {
        judge.__name__ + (f"_every_{step}" if step > 1 else ""): Check(
            "sampled", _sampled, partial(_judge_draws, judge, step)
        )
        for judge in draws.DRAW_CHECKS
        for step in STEPS
    }


def _sampled(_: Rules, sizes: Sizes) -> bool:
    return sizes.sampled >= LEAST_SAMPLE


def _well_sampled(rules: Rules, sizes: Sizes) -> bool:
    return sizes.sampled >= LEAST_A_CARD * rules.size


def _judge_shuffles(judge: Callable[[ShuffleCounts], CheckResult], counts: PathCounts, _: Rules) -> CheckResult:
    return judge(require(counts.shuffles, "sampled orders"))


def _judge_types(counts: PathCounts, rules: Rules) -> CheckResult:
    return positions.types_by_position(_types(counts), _composition(rules))


def _judge_pooled_types(counts: PathCounts, rules: Rules) -> CheckResult:
    seen = rules.size - rules.cut.highest if rules.cut else MAX_CARDS
    return positions.pooled_types(_types(counts)[:seen], _composition(rules))


def _types(counts: PathCounts) -> positions.Ints:
    """Add the cards of every type up: int64[n, 52], how often each type came at each position."""
    table = require(counts.shuffles, "sampled orders").table
    return np.asarray(table.reshape(len(table), -1, DECK).sum(axis=1), dtype=np.int64)


def _composition(rules: Rules) -> list[int]:
    return [rules.decks] * DECK


def _judge_draws(
    judge: Callable[[DrawCounts, int], CheckResult], step: int, counts: PathCounts, _: Rules
) -> CheckResult:
    return judge(require(counts.draws, "sampled draws"), step)


# --- bits and replay ---------------------------------------------------------------------------


def _bits() -> dict[str, Check]:
    return {f"bits_{name}": Check("sequences", _has_bits, partial(_judge_bits, name)) for name in SP80022}


def _has_bits(_: Rules, sizes: Sizes) -> bool:
    return sizes.sequences > 0


def _judge_bits(name: str, counts: PathCounts, _: Rules) -> CheckResult:
    tally = require(counts.bits, "bits")
    (result,) = judge_bits(BitsTally(tally.bits, {name: dict(sorted(tally.tests[name].items()))}))
    return result


def _replaying() -> dict[str, Check]:
    return {
        "replay": Check("replayed", _has_replay, lambda counts, _: replay(require(counts.replayed, "replayed shoes"))),
        "tableau_cells": Check("replayed", _has_replay, _judge_decisions),
    }


def _has_replay(_: Rules, sizes: Sizes) -> bool:
    return sizes.replayed > 0


def _judge_decisions(counts: PathCounts, _: Rules) -> CheckResult:
    return cells.tableau_cells(require(counts.replayed, "replayed shoes").decisions)


BATTERY: Final[Mapping[str, Check]] = _named()
"""The checks of one path by name, in the order in which they are made and reported."""
