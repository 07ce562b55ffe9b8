"""What a run found: every check, the verdict over all of them, and what it does not show; canonical and hashed.

Nothing of the machine or the time is in it, so that one process, many, or a resumed run come to the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import version
from typing import Any, Final

from audit.battery import PATHS, PathName, judge_all
from audit.checks.result import SMALLEST_P, CheckResult
from audit.counts import Dealt, PathCounts, RunCounts
from audit.encoding import digest
from audit.health import KNOWN_ANSWERS
from audit.multiple import Verdict, holm
from audit.plan import Plan
from audit.power import compare
from audit.whole_shoe import whole_shoe
from shoe.errors import InputError, expected
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.forms import write_fields
from shoe.proof.notation import sha256

FORM: Final = "fairshoe/findings/1"
MOST_BYTES: Final = 2**26

LIMITATIONS: Final = (
    "A pass says that no named check of the plan rejects, not that the table is fair: each check sees what it is for.",
    "An operator who picks among seeds after the fact passes every statistic; the order of commitments and the log "
    "show that, and an audit of records looks there first.",
    "An order of dealing that has the same law, such as player, player, banker, banker, shows in the replay alone.",
    "A shoe of 8 decks has 2,229.3 bits of distinguishable orders, more than a seed of 256 bits can tell apart.",
    "The seed of this run was drawn and published by who ran it; another seed, or a run of one's own, is the answer.",
    "This is no certificate under ISO 17025, and the clauses it is held against are yardsticks.",
)


@dataclass(frozen=True, slots=True)
class Findings:
    """The results of a plan's checks in the plan's order, Holm's verdict over them, and the counts behind both."""

    plan: Plan
    version: str
    counts_digest: bytes
    checks: tuple[CheckResult, ...]
    verdict: Verdict
    beside: tuple[Mapping[str, Any], ...]
    judged_coups: int
    coups: int

    @property
    def passed(self) -> bool:
        """Say whether all checks pass collectively."""
        return self.verdict.passed

    def to_json(self) -> dict[str, Any]:
        """List everything under its name, without floats."""
        adjusted = {check.name: check for check in self.verdict.checks}
        return {
            "form": FORM,
            "version": self.version,
            "plan": write_fields(self.plan),
            "plan_hash": self.plan.hash.hex(),
            "counts_digest": self.counts_digest.hex(),
            "coups": self.coups,
            "judged_coups": self.judged_coups,
            "verdict": "pass" if self.passed else "fail",
            "verdict_in_words": self.words,
            "failed": list(self.verdict.rejected),
            "checks": [
                {
                    **check.to_json(),
                    "p_adjusted": _p_text(adjusted[check.name].adjusted),
                    "rejected": adjusted[check.name].rejected,
                }
                for check in self.checks
            ],
            "whole_shoe": list(self.beside),
            "self_tests": [f"{test.name} ({test.source})" for test in KNOWN_ANSWERS],
            "limitations": list(LIMITATIONS),
        }

    @property
    def words(self) -> str:
        """Say the verdict in a sentence."""
        words = self.verdict.words
        return f"{words[0].upper()}{words[1:]}."

    def to_bytes(self) -> bytes:
        """Print the findings as canonical JSON (protocol §8, but for its limit of 65,535 bytes)."""
        return print_canonical(self.to_json(), MOST_BYTES)

    @property
    def hash(self) -> bytes:
        """Hash the canonical bytes: SHA-256."""
        return sha256(self.to_bytes())


def find(plan: Plan, counts: RunCounts) -> Findings:
    """Judge the counts of a plan's run; takes some ten seconds the first time in a process, for exact laws.

    Raises InputError where a part that the plan names was not counted.
    """
    checks = judge_all(plan.checks, counts, plan.rules)
    dealt = {path: _counts_of(counts, path).dealt for path in PATHS}
    return Findings(
        plan=plan,
        version=version("fairshoe"),
        counts_digest=digest(counts),
        checks=checks,
        verdict=holm({check.name: check.p for check in checks}, Fraction(plan.level)),
        beside=tuple({"path": path, **whole_shoe(part, plan.rules)} for path, part in dealt.items() if part),
        judged_coups=_total(dealt, "judged_coups"),
        coups=_total(dealt, "all_coups"),
    )


def compare_findings(one: bytes, other: bytes, check: str = "batch_joint_totals") -> CheckResult:
    """Test whether two findings' counts of one check come from one law, whatever that law is.

    Takes their canonical bytes. Raises CanonicalError, and InputError where one lacks the check or it has no counts.
    """
    return compare(_observed(one, check), _observed(other, check))


def _observed(findings: bytes, name: str) -> dict[str, int]:
    printed: Any = parse_object(findings, MOST_BYTES)
    try:
        (items,) = (check["items"] for check in printed["checks"] if check["name"] == name)
        return {item["label"]: item["observed"] + 0 for item in items}
    except (KeyError, TypeError, ValueError):
        raise InputError(expected(f"findings with the counts of {name}", "none", "findings")) from None


def _counts_of(counts: RunCounts, path: PathName) -> PathCounts:
    return counts.batch if path == "batch" else counts.production


def _total(dealt: Mapping[PathName, Dealt | None], what: str) -> int:
    return sum(getattr(part, what) for part in dealt.values() if part is not None)


def _p_text(p: Fraction) -> str:
    return f"<{SMALLEST_P:g}" if p < Fraction(SMALLEST_P) else f"{float(p):.10g}"
