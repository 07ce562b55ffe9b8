"""A small certification and its report for tests: 1 deck, some hundred shoes; and the same findings with changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from audit.battery import Sizes
from audit.counts import RunCounts
from audit.findings import MOST_BYTES, Findings, find
from audit.report.build import Report, build
from audit.report.provenance import Digest, Provenance
from audit.report.source import read_findings
from audit.run import run
from shoe.proof.canonical import print_canonical
from tests.audit.plans import plan_of

PLAN = plan_of(Sizes(400, 100, 0, 20), Sizes(100, 100, 0, 10))
MADE_BY = Provenance(
    version="1.2.3",
    code=(Digest("shoe", 40, b"\1" * 32), Digest("audit", 90, b"\2" * 32)),
    libraries=(("numpy", "2.4.6"), ("typst", "0.15.2")),
    inputs=(Digest("findings.json", 1_234, b"\3" * 32),),
)

Json = dict[str, Any]


@cache
def counts() -> RunCounts:
    return run(PLAN)


@cache
def findings() -> Findings:
    return find(PLAN, counts())


@cache
def report() -> Report:
    """The report on the findings, with the counts beside them."""
    return build(read_findings(findings().to_bytes()), MADE_BY, counts())


def changed(change: Callable[[Json], object]) -> bytes:
    """The findings with a change made to them, in canonical form again."""
    content = json.loads(findings().to_bytes())
    change(content)
    return print_canonical(content, MOST_BYTES)


def reject(*names: str) -> Callable[[Json], None]:
    """A change by which the named checks fail, and the verdict with them as Holm's rule has it."""

    def change(content: Json) -> None:
        for check in content["checks"]:
            if check["name"] in names:
                check |= {"p": "1e-12", "p_adjusted": "1.09e-10", "rejected": True}
        words = f"{len(names)} of {len(content['checks'])} checks fail, Holm at 1/100: {', '.join(names)}."
        content |= {"verdict": "fail", "failed": sorted(names), "verdict_in_words": words}

    return change


def check_in(content: Json, name: str) -> Json:
    (found,) = (check for check in content["checks"] if check["name"] == name)
    assert isinstance(found, dict)
    return found
