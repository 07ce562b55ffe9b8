"""An audit of logs: all of them read one after another, judged together, with what their size could have shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from audit.cutcard import cut_card_bias
from audit.foreign.battery import Judged, judge_counts
from audit.foreign.book import ShoeBook
from audit.foreign.counts import LogCounts
from audit.foreign.order import Repeats
from audit.foreign.power import Need, needs
from audit.foreign.reading import Kind, LogFile, read_log
from audit.foreign.violations import KINDS, Ledger
from audit.multiple import Verdict, holm
from shoe.errors import RulesError, expected
from shoe.game.cards import MAX_DECKS
from shoe.game.tableau import RULES
from shoe.proof.verify import Evidence

KEPT: Final = 3
"""Examples of each sort of violation and of bad line that are kept, if no other number is asked for."""

TYPICAL_CUT: Final = 14
"""Cards behind the cut card for which the bias is printed; it hardly hangs on their number."""

Word = Literal["pass", "fail", "not judged"]


@dataclass(slots=True)
class LogAudit:
    """Reads logs of shoes of `decks` decks one by one by `read`; `judge` then gives what they show together.

    Raises RulesError unless 1 ≤ decks ≤ 16.
    """

    decks: int
    evidence: Evidence
    keep: int = KEPT
    files: list[LogFile] = field(default_factory=list)
    book: ShoeBook = field(init=False)

    def __post_init__(self) -> None:
        """Begin with nothing read."""
        if not 1 <= self.decks <= MAX_DECKS:
            raise RulesError(expected(f"1 to {MAX_DECKS} decks", self.decks, "decks"))
        self.book = ShoeBook(self.decks, Ledger(self.keep), LogCounts(self.decks), Repeats())

    def read(self, name: str, chunks: Iterable[bytes], kind: Kind | None = None) -> LogFile:
        """Read one log, as `reading.read_log` does."""
        log = read_log(name, chunks, self.book, self.evidence, keep=self.keep, kind=kind)
        self.files.append(log)
        return log

    def judge(self) -> LogFindings:
        """Judge all that was read; takes some ten seconds the first time in a process, for exact laws."""
        counts = self.book.counts
        judged = judge_counts(counts)
        verdict = holm({check.name: check.p for check in judged.checks}) if judged.checks else None
        return LogFindings(
            files=tuple(self.files),
            ledger=self.book.ledger,
            counts=counts,
            judged=judged,
            verdict=verdict,
            needs=needs(counts, len(judged.checks)) if judged.checks else (),
            remembered=self.book.repeats.share,
        )


@dataclass(frozen=True, slots=True)
class LogFindings:
    """What logs show: files, violations, the checks with Holm's verdict over them, and what their size can show."""

    files: tuple[LogFile, ...]
    ledger: Ledger
    counts: LogCounts
    judged: Judged
    verdict: Verdict | None
    needs: tuple[Need, ...]
    remembered: float

    @property
    def bad_lines(self) -> int:
        """Count the lines that could not be read."""
        return sum(log.bad.total() for log in self.files)

    @property
    def failed(self) -> tuple[str, ...]:
        """Name the checks that are rejected, the smallest p first."""
        return self.verdict.rejected if self.verdict else ()

    @property
    def word(self) -> Word:
        """Say fail where anything contradicts, not judged where nothing does but not all could be read, else pass."""
        if self.ledger.counts or self.failed:
            return "fail"
        return "not judged" if self.bad_lines or not self.counts.coups else "pass"

    def reasons(self) -> list[str]:
        """Say why, a sentence each."""
        ledger = self.ledger
        reasons = [
            f"{ledger.words(kind)}, in {_some(ledger.shoes[kind], 'shoe')}" for kind in KINDS if ledger.count(kind)
        ]
        if self.verdict:
            reasons.append(self.verdict.words)
        if self.bad_lines:
            reasons.append(f"{_some(self.bad_lines, 'line')} could not be read: what stands there is not judged")
        if not self.counts.coups:
            reasons.append("no coup was found")
        return reasons

    def bias(self) -> float:
        """Compute by how much the cut card raises χ² over the rule classes where all coups of cut shoes are judged."""
        bias = cut_card_bias(self.counts.decks, TYPICAL_CUT, lambda kind: kind[0], RULES)
        return bias.noncentrality(self.counts.judged)

    def to_json(self) -> dict[str, Any]:
        """List everything under its name, reals as text."""
        adjusted = {check.name: check for check in self.verdict.checks} if self.verdict else {}
        return {
            "verdict": self.word,
            "reasons": self.reasons(),
            "decks": self.counts.decks,
            "shoes": self.counts.shoes,
            "coups": self.counts.coups,
            "judged_coups": self.counts.judged,
            "violations": self.ledger.to_json(),
            "checks": [
                {
                    **check.to_json(),
                    "p_adjusted": f"{float(adjusted[check.name].adjusted):.10g}",
                    "rejected": adjusted[check.name].rejected,
                }
                for check in self.judged.checks
            ],
            "not_made": [each._asdict() for each in self.judged.not_made],
            "failed": list(self.failed),
            "cut_card_noncentrality": f"{self.bias():.6g}" if self.counts.judged else None,
            "power": [need.to_json() for need in self.needs],
            "runs_remembered": f"{self.remembered:.6g}",
            "bad_lines": self.bad_lines,
            "files": [log.to_json() for log in self.files],
        }


def _some(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
