"""A clause, the checks that speak to it, and what their results make of it: PASS, FAIL, PARTIAL or MANUAL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from audit.report.source import Check, Source

Status = Literal["PASS", "FAIL", "PARTIAL", "MANUAL"]

STATUSES: Final[tuple[Status, ...]] = ("PASS", "FAIL", "PARTIAL", "MANUAL")

ALL: Final[tuple[str, ...]] = ("*",)
"""Every check of the plan."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause: its number, what it asks in our words, and what stands behind our answer.

    `best` is the most that the evidence here can give: PASS where the named checks say all that the clause asks,
    PARTIAL where they, or what the evidence names, say some of it, MANUAL where a human must judge. `checks` are
    kinds of checks, ``name*`` for those that begin so; one that is rejected makes the clause FAIL.
    """

    number: str
    asks: str
    best: Literal["PASS", "PARTIAL", "MANUAL"]
    evidence: str
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Body:
    """One regulator's or standard's clauses, its source and a word on its scope."""

    name: str
    source: str
    scope: str
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """A clause with its status and the results behind it."""

    clause: Clause
    status: Status
    checks: tuple[Check, ...]
    missing: tuple[str, ...]


def judge(clause: Clause, source: Source) -> Judged:
    """Hold findings against a clause.

    FAIL where a named check is rejected. Else a clause that could pass is PARTIAL where only some of the kinds of
    checks that it needs are in the plan, whose size decides that, and MANUAL where none is.
    """
    by_kind = {kind: tuple(check for check in source.checks if _matches(check, kind)) for kind in clause.checks}
    found = tuple(check for check in source.checks if any(check in checks for checks in by_kind.values()))
    missing = tuple(kind for kind, checks in by_kind.items() if not checks)
    return Judged(clause, _status(clause, found, missing), found, missing)


def _matches(check: Check, kind: str) -> bool:
    return check.kind.startswith(kind[:-1]) if kind.endswith("*") else check.kind == kind


def _status(clause: Clause, found: tuple[Check, ...], missing: tuple[str, ...]) -> Status:
    if any(check.rejected for check in found):
        return "FAIL"
    if clause.checks and not found:
        return "MANUAL"
    if clause.best == "PASS" and missing:
        return "PARTIAL"
    return clause.best
