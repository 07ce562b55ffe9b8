"""What a verification answers: named checks, a verdict, and how fair the shoe was (protocol §10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

Status = Literal["VALID", "INVALID", "UNVERIFIABLE"]
Verdict = Literal["verified", "consistent", "void", "overdue", "incomplete", "invalid"]
Fairness = Literal["provably_fair", "contributed", "committed"]

ADVISORY: Final = frozenset({"beacon", "consistency", "witnesses", "receipts"})
"""Checks that may stay UNVERIFIABLE without making the verdict incomplete."""


class Missing(Exception):
    """A check can't be decided: the message names what is missing."""


class NotYet(Exception):
    """A check does not apply to this shoe as it stands: the message says why."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check's answer; `applies` is false where the shoe has not come so far."""

    name: str
    status: Status
    detail: str
    applies: bool = True

    def to_json(self) -> dict[str, str]:
        """Give the check as `fairshoe verify --json` prints it."""
        return {"name": self.name, "status": self.status, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class Verification:
    """A bundle's verdict and fairness, why in plain words, and every check behind them.

    `fairness` is None where the verdict is invalid: nothing can then be said of it.
    """

    verdict: Verdict
    fairness: Fairness | None
    why: str
    checks: tuple[Check, ...]

    def check(self, name: str) -> Check:
        """Find a check by its name; raises KeyError for none."""
        return next((check for check in self.checks if check.name == name), None) or _none_named(name)

    def to_json(self) -> dict[str, Any]:
        """Give the verification as `fairshoe verify --json` prints it."""
        checks = [check.to_json() for check in self.checks]
        return {"verdict": self.verdict, "fairness": self.fairness, "why": self.why, "checks": checks}


def _none_named(name: str) -> Check:
    raise KeyError(name)
