"""What an audit of records found: what is wrong, every check, what stands beside, and the verdict; canonical, hashed.

Nothing of the machine or the time is in it: the same plan over the same records gives the same bytes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib.metadata import version
from typing import Any, Final, Literal

from audit.checks.result import SMALLEST_P, CheckResult
from audit.edges import percent
from audit.exact import exact_odds
from audit.multiple import Verdict as Corrected
from audit.multiple import holm
from audit.power import compare
from audit.records.battery import judge_all
from audit.records.counts import Counts
from audit.records.live import NOTE as LIVE_NOTE
from audit.records.live import live_returns
from audit.records.plan import MOST_BYTES, Plan, Stratum
from audit.records.wrong import Looked, in_ascii
from shoe.errors import InputError, expected
from shoe.game.tableau import OUTCOMES
from shoe.proof.canonical import print_canonical
from shoe.proof.forms import write_fields
from shoe.proof.notation import sha256

FORM: Final = "fairshoe/audit/1"

Verdict = Literal["pass", "fail", "not_judged"]

LIMITATIONS: Final = (
    "A pass says that every record is what it should be and that no named check rejects, not that the table is fair: "
    "each statistic sees what it is for, and with more coups it sees more.",
    "An operator who picks among seeds after the fact passes every statistic. The order of commitments shows that, "
    "and it is checked first; it shows no more than the log's witnesses and the readers of its heads have seen.",
    "Shoes that had not ended under the plan's head are not judged: who decides when a shoe goes on must not decide "
    "what is judged. A void shoe is judged to coup K, completed from its published seed.",
    "Only receipts that were handed in are held against the log: those that players hold are not in the store.",
    "Witnesses are those that the store names; whether they are anybody's but the operator's is for the reader to ask.",
)


@dataclass(slots=True)
class Ended:
    """How the shoes of an audit stood under its head: by state, the void ones by reason, and the most voids in a row.

    `waiting` had not ended. `books` are ended books: each one's root, size, and how many seeds no shoe used.
    """

    states: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    in_row: int = 0
    waiting: int = 0
    books: list[dict[str, Any]] = field(default_factory=list)

    @property
    def rate(self) -> Fraction | None:
        """The void shoes among those that have ended; None where none has."""
        ended = self.states["revealed"] + self.states["void"]
        return Fraction(self.states["void"], ended) if ended else None


@dataclass(frozen=True)
class Findings:
    """What was looked at without chance, the results of the plan's statistics, and the verdict over both."""

    plan: Plan
    looked: Looked
    ended: Ended
    counts: Sequence[Counts]
    checks: tuple[CheckResult, ...]

    @cached_property
    def corrected(self) -> Corrected | None:
        """Holm's verdict over the statistics, None where there are none."""
        level = Fraction(self.plan.level)
        return holm({check.name: check.p for check in self.checks}, level) if self.checks else None

    @property
    def failed(self) -> tuple[str, ...]:
        """Name what fails: the checks of records, then the statistics, the smallest p first."""
        return (*self.looked.failed, *(self.corrected.rejected if self.corrected else ()))

    @property
    def verdict(self) -> Verdict:
        """Say whether all is as it should be; `not_judged` where nothing is, or where evidence is wanting."""
        if self.failed:
            return "fail"
        return "pass" if self.checks and not self.looked.wanting else "not_judged"

    @property
    def words(self) -> str:
        """Say the verdict in a sentence."""
        if self.failed:
            tried = f"statistics by Holm at {self.plan.level}, checks: {len(self.checks)}"
            return f"Fails: {', '.join(self.failed)}; {tried}."
        if self.looked.wanting:
            return f"Not judged: evidence is wanting for {', '.join(self.looked.wanting)}."
        if self.corrected is None:
            return "Not judged: no sealed shoe of the scope has ended."
        return f"All records are as they should be, and {self.corrected.words}."

    @property
    def judged_coups(self) -> int:
        """Count the coups 1…K of all shoes."""
        return sum(counts.revealed.total() + counts.void.total() for counts in self.counts)

    def to_json(self) -> dict[str, Any]:
        """List everything under its name, without floats."""
        return {
            "form": FORM,
            "version": version("fairshoe"),
            "plan": write_fields(self.plan),
            "plan_hash": self.plan.hash.hex(),
            "verdict": self.verdict,
            "verdict_in_words": self.words,
            "failed": list(self.failed),
            "judged_coups": self.judged_coups,
            "records": self.looked.print_checks(),
            "shoes": self._shoes(),
            "books": self._books(),
            "checks": self._checks(),
            "strata": [self._stratum(*each) for each in zip(self.plan.strata, self.counts, strict=True)],
            "limitations": [in_ascii(each) for each in LIMITATIONS],
        }

    def to_bytes(self) -> bytes:
        """Print the findings as canonical JSON (protocol §8, but for its limit of 65,535 bytes)."""
        return print_canonical(self.to_json(), MOST_BYTES)

    @cached_property
    def hash(self) -> bytes:
        """Hash the canonical bytes: SHA-256."""
        return sha256(self.to_bytes())

    def _shoes(self) -> dict[str, Any]:
        ended, rate = self.ended, self.ended.rate
        return {
            "ended": ended.states["revealed"] + ended.states["void"],
            "revealed": ended.states["revealed"],
            "void": ended.states["void"],
            "waiting": ended.waiting,
            "void_rate": None if rate is None else str(rate),
            "void_rate_decimal": None if rate is None else percent(rate / 100),
            "by_reason": dict(sorted(ended.reasons.items())),
            "longest_run_of_voids": ended.in_row,
        }

    def _books(self) -> dict[str, Any]:
        return {"ended": self.ended.books, "unused": sum(book["unused"] for book in self.ended.books)}

    def _checks(self) -> list[dict[str, Any]]:
        adjusted = {each.name: each for each in self.corrected.checks} if self.corrected else {}
        return [
            {
                **check.to_json(),
                "p_adjusted": _p_text(adjusted[check.name].adjusted),
                "rejected": adjusted[check.name].rejected,
            }
            for check in self.checks
        ]

    def _stratum(self, stratum: Stratum, counts: Counts) -> dict[str, Any]:
        terms = stratum.read_terms()
        return {
            "decks": stratum.decks,
            "shuffle": stratum.shuffle,
            "judged_coups": counts.revealed.total() + counts.void.total(),
            "shuffles": counts.lengths.total(),
            "void": _void(stratum, counts),
            "live_returns": [] if terms is None else live_returns(counts.live, stratum.decks, terms),
            "live_note": LIVE_NOTE,
        }


def find(plan: Plan, looked: Looked, ended: Ended, counts: Sequence[Counts]) -> Findings:
    """Judge what was looked at and counted under a plan; takes some seconds the first time, for exact laws.

    Raises InputError where the counts are not those of the plan's strata.
    """
    if len(counts) != len(plan.strata):
        raise InputError(expected(f"counts of {len(plan.strata)} strata", len(counts), "counts"))
    return Findings(plan, looked, ended, counts, judge_all([stratum.sizes for stratum in plan.strata], counts))


def _void(stratum: Stratum, counts: Counts) -> dict[str, Any]:
    """List the outcomes of void shoes as they would have been, and whether they differ from those of the others."""
    void, rest = _by_outcome(counts.void), _by_outcome(counts.revealed)
    exact = exact_odds(stratum.decks)
    share = exact.outcomes()
    coups = void.total()
    compared = _compare(void, rest)
    return {
        "coups": coups,
        "outcomes": [
            {
                "label": outcome,
                "observed": void[outcome],
                "of_the_others": rest[outcome],
                "expected_decimal": f"{float(Fraction(coups * share[outcome], exact.total)):.10g}",
            }
            for outcome in OUTCOMES
        ],
        "statistic": None if compared is None else f"{compared.statistic:.10g}",
        "p": None if compared is None else compared.p_text,
        "null": "void shoes' coups, as they would have been, have the law of the others; shown beside, not judged",
    }


def _compare(void: Mapping[str, int], rest: Mapping[str, int]) -> CheckResult | None:
    try:
        return compare(void, rest)
    except InputError:
        return None


def _by_outcome(coups: Mapping[Any, int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for coup, count in coups.items():
        found[coup[0]] += count
    return found


def _p_text(p: Fraction) -> str:
    return f"<{SMALLEST_P:g}" if p < Fraction(SMALLEST_P) else f"{float(p):.10g}"
