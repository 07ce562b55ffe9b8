"""What a log shows to be wrong: each violation with its place, all counted, the first of each sort kept."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

KINDS: Final = {
    "tableau": ("coup against the tableau", "coups against the tableau"),
    "outcome": ("outcome that the cards contradict", "outcomes that the cards contradict"),
    "composition": ("surplus of cards that the decks don't hold", "surpluses of cards that the decks don't hold"),
    "settlement": ("bet settled otherwise than the main bets pay", "bets settled otherwise than the main bets pay"),
    "numbering": ("coup or shoe out of its order", "coups or shoes out of their order"),
    "repeated_run": ("run of cards or outcomes that came before", "runs of cards or outcomes that came before"),
    "fresh_order": ("run in the order of an unshuffled pack", "runs in the order of an unshuffled pack"),
    "bundle": ("bundle that does not verify", "bundles that do not verify"),
}
"""Each kind of violation in words, of one and of several."""


class Violation(NamedTuple):
    """One thing wrong: the sort within its kind, where it stands, what was expected and what was found.

    `coup` is as the log numbers it; None where the whole shoe is meant. `line` is the line in `file`, from 1.
    """

    kind: str
    sort: str
    file: str
    shoe: str
    coup: str | None
    line: int
    expected: str
    found: str

    @property
    def place(self) -> str:
        """Say where it stands: file and line, shoe and coup."""
        coup = "" if self.coup is None else f", coup {self.coup}"
        return f"{self.file}:{self.line}: shoe {self.shoe}{coup}"

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, but for the kind."""
        return {name: value for name, value in self._asdict().items() if name != "kind"}


@dataclass(slots=True)
class Ledger:
    """All violations counted by kind and sort, of each sort the first `keep`; and by kind the shoes that have any."""

    keep: int
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    shoes: Counter[str] = field(default_factory=Counter)
    _latest: dict[str, tuple[str, str]] = field(default_factory=dict)
    first: dict[tuple[str, str], list[Violation]] = field(default_factory=dict)

    def add(self, violation: Violation) -> None:
        """Count a violation."""
        sort = violation.kind, violation.sort
        self.counts[sort] += 1
        shoe = violation.file, violation.shoe
        if self._latest.get(violation.kind) != shoe:
            self._latest[violation.kind] = shoe
            self.shoes[violation.kind] += 1
        if self.counts[sort] <= self.keep:
            self.first.setdefault(sort, []).append(violation)

    def count(self, kind: str) -> int:
        """Count the violations of a kind."""
        return sum(count for (of, _), count in self.counts.items() if of == kind)

    def words(self, kind: str) -> str:
        """Say how many violations there are of a kind, such as ``2 coups against the tableau``."""
        count = self.count(kind)
        return f"{count:,} {KINDS[kind][count != 1]}"

    def to_json(self) -> dict[str, Any]:
        """List each kind that occurs: its count, that of each sort, and the first examples in the log's order."""
        return {
            kind: {
                "count": self.count(kind),
                "shoes": self.shoes[kind],
                "words": several,
                "sorts": {sort: count for (of, sort), count in sorted(self.counts.items()) if of == kind},
                "examples": [each.to_json() for each in self.examples(kind)],
            }
            for kind, (_, several) in KINDS.items()
            if self.count(kind)
        }

    def examples(self, kind: str) -> list[Violation]:
        """List the kept violations of a kind, sort after sort, those of a sort in the log's order."""
        return [each for (of, _), kept in sorted(self.first.items()) if of == kind for each in kept]
