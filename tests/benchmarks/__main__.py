"""Speed as ratios within one run: ``make bench``.

Each line is a piece of work beside a yardstick timed in the same run, so that the machine drops out.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
from collections.abc import Callable
from time import perf_counter

from audit.exact import exact_odds
from shoe.game.houses import NP_PUNTO_BANCO
from shoe.proof.bundle import print_bundle
from shoe.proof.shuffle import first_cards, shuffle_hand
from shoe.proof.verify import verify_bundle
from tests.benchmarks.certification import certification
from tests.benchmarks.growth import growth
from tests.benchmarks.throughput import throughput
from tests.operator import Operator, rules, secret
from tests.reference.tableau_reference import coup

RUNS = 15
GROWN = 2000
"""Coups dealt to see how a database grows."""


def median_s(work: Callable[[], object], runs: int = RUNS) -> float:
    """The median time of some work, in seconds, after one run that is not counted."""
    work()
    times = []
    for _ in range(runs):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return statistics.median(times)


def line(what: str, seconds: float, yardstick: str, yard_s: float) -> None:
    sys.stdout.write(f"{what:<46} {seconds * 1e3:9.2f} ms = {seconds / yard_s:8.3f} × {yardstick}\n")


def verification() -> None:
    operator = Operator()
    story = operator.publish(operator.play_shoe(NP_PUNTO_BANCO.rules, players=3))
    text, evidence = print_bundle(operator.bundle(story)), operator.evidence(story, 0)
    block = bytes(64)
    hashes = median_s(lambda: [hashlib.sha256(block).digest() for _ in range(10_000)])
    line(
        "verify a whole 8-deck shoe's bundle", median_s(lambda: verify_bundle(text, evidence)), "10,000 hashes", hashes
    )


def odds() -> None:
    def slow_definition() -> None:
        for number in range(100_000):
            coup(tuple(number // 10**place % 10 for place in range(6)))

    exact_odds.cache_clear()
    fast = median_s(lambda: (exact_odds.cache_clear(), exact_odds(8)), runs=5)
    line("exact odds of 8 decks, cold", fast, "100,000 coups of the slow tableau", median_s(slow_definition, runs=3))


def shuffling() -> None:
    key, table = secret("bench"), rules(decks=8, shuffle="coup", cut=None, coups=1000)
    full = median_s(lambda: shuffle_hand(key, table, 0))
    line("a coup's six cards, dealt lazily", median_s(lambda: first_cards(key, table, 0, 6)), "a full shuffle", full)


if __name__ == "__main__":
    verification()
    odds()
    shuffling()
    certification()
    throughput()
    growth(GROWN)
