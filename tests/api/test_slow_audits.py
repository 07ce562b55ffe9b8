"""The statistics of an audit over a million stored coups: in less than ten seconds, in flat memory, on either store."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import text

from api.audits.counting import Counting
from api.audits.planning import make_audit_plan
from api.cases.regulating import Opened
from audit.records.findings import Findings, find
from audit.records.plan import Plan
from audit.records.wrong import Looked
from tests.api.installation import Found, Installation
from tests.api.many_coups import add_shoes

pytestmark = pytest.mark.slow

SHOES = 12_200
SECONDS = 10
GROWTH = 192 * 1024
"""Bytes that may be held more behind all shoes than behind a tenth of them: sixteen a shoe, less than any hash."""


@pytest.fixture
def house(found: Found) -> Installation:
    house = found()
    house.table("t", entropy="house")
    return house


def plan_of(house: Installation) -> Plan:
    with house.service.reading() as session:
        return make_audit_plan(session, Opened(), None)


def count(house: Installation, plan: Plan, each: Callable[[Counting], None] = lambda _: None) -> Counting:
    """Count as an audit does, a snapshot a step."""
    counting, ended = Counting.begin(plan), False
    while not ended:
        with house.service.reading() as session:
            ended = counting.step(session)
        each(counting)
    return counting


def judge(plan: Plan, counting: Counting) -> Findings:
    findings = find(plan, Looked(), counting.ended, counting.counts)
    assert findings.to_bytes()
    return findings


def test_a_million_coups_take_less_than_ten_seconds_in_flat_memory(house: Installation) -> None:
    """Planned, counted and judged, exact laws included where this process has not computed them yet."""
    assert add_shoes(house, "t", SHOES) >= 1_000_000
    begun = time.monotonic()
    plan = plan_of(house)
    findings = judge(plan, count(house, plan))
    took = time.monotonic() - begun
    print(f"{findings.judged_coups} judged coups: {took:.1f} s")
    assert took < SECONDS
    assert findings.verdict == "pass"
    assert seen_by_hand(house) == Counter(
        {kind: n for counts in findings.counts for kind, n in (counts.revealed + counts.void).items()}
    )
    tenth, whole = memory(house, plan)
    print(f"bytes held, and the most that were: after a tenth {tenth}, after all {whole}")
    assert whole[0] - tenth[0] < GROWTH
    assert whole[1] < 2 * tenth[1]  # that counts garbage too, which is collected now and then


def memory(house: Installation, plan: Plan) -> tuple[tuple[int, int], tuple[int, int]]:
    """Bytes held, and the most that were, behind a tenth of the shoes and behind all."""
    found: dict[bool, tuple[int, int]] = {}

    def look(counting: Counting) -> None:
        counted = counting.ended.states.total()
        if counted == SHOES or (counted >= SHOES // 10 and not found):
            gc.collect()
            found[counted == SHOES] = tracemalloc.get_traced_memory()

    tracemalloc.start()
    try:
        count(house, plan, look)
    finally:
        tracemalloc.stop()
    return found[False], found[True]


def seen_by_hand(house: Installation) -> Counter[tuple[str, str, int, int, int]]:
    """The same counts by one statement of SQL over all rows."""
    with house.service.reading() as session:
        rows = session.execute(
            text(
                "SELECT outcome, rule, cards_used, player_total, banker_total, COUNT(*) FROM coups"
                " WHERE judged = 1 GROUP BY outcome, rule, cards_used, player_total, banker_total"
            )
        )
        return Counter({tuple(kind): int(n) for *kind, n in rows})
