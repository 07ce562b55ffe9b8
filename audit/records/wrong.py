"""What an audit of records checks without chance: how much was looked at, what was wrong, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shoe.errors import InputError, expected

SHOWN: Final = 20
"""Of each check so many faults are quoted; all are counted."""

RECORD_CHECKS: Final[Mapping[str, str]] = {
    "head": "the log's head is signed, it extends the checkpoint pinned outside the database and the newest that "
    "witnesses signed, and those signatures are good",
    "openings": "the shoes that the log opened are those that the store knows, each with what its record fixed",
    "bundles": "every ended shoe's bundle verifies: records, order of commitments, book, seal, cards, tableau, log",
    "coups": "the coups as statistics count them are those of the records, and of the seed where a void shoe's are due",
    "bets": "the bets on every coup are those that its record closed, and were settled as the table's terms say",
    "receipts": "what the receipts that were handed in promised, the log has kept",
    "books": "no seed of a book was passed over, and what no shoe used of an ended book lies behind the last one used",
}
"""The checks in their order: the log and the order of commitments come first."""

_TYPOGRAPHY: Final = {"…": "...", "’": "'", "–": "-", "−": "-", "·": "*", "§": "section "}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong: by which check, and where: the shoe, the coup's number, the record's log index, if it has them.

    `unverified` says that it can't be told, for want of evidence.
    """

    check: str
    detail: str
    shoe: str | None = None
    coup: int | None = None
    index: int | None = None
    unverified: bool = False

    def to_json(self) -> dict[str, Any]:
        """List the fields under their names, all text ASCII; the check is named where these stand."""
        return {"shoe": self.shoe, "coup": self.coup, "index": self.index, "detail": in_ascii(self.detail)}


@dataclass(slots=True)
class Looked:
    """What all checks looked at, by name, and the faults that they found: the first of each in full."""

    at: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    unverified: Counter[str] = field(default_factory=Counter)
    quoted: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        """Count a fault, and quote it where there is room. Raises InputError for a check that isn't one."""
        if fault.check not in RECORD_CHECKS:
            raise InputError(expected(f"one of {', '.join(RECORD_CHECKS)}", fault.check, "check"))
        (self.unverified if fault.unverified else self.wrong)[fault.check] += 1
        quoted = self.quoted.setdefault(fault.check, [])
        if len(quoted) < SHOWN:
            quoted.append(fault.to_json())

    def merge(self, other: Looked) -> None:
        """Add what was found after this."""
        self.at.update(other.at)
        self.wrong.update(other.wrong)
        self.unverified.update(other.unverified)
        for check, faults in other.quoted.items():
            mine = self.quoted.setdefault(check, [])
            mine.extend(faults[: SHOWN - len(mine)])

    @property
    def failed(self) -> tuple[str, ...]:
        """Name the checks that found something wrong, in their order."""
        return tuple(name for name in RECORD_CHECKS if self.wrong[name])

    @property
    def wanting(self) -> tuple[str, ...]:
        """Name the checks for which evidence is wanting, in their order."""
        return tuple(name for name in RECORD_CHECKS if self.unverified[name])

    def to_json(self) -> dict[str, Any]:
        """List everything, to go on from."""
        counts = {name: dict(getattr(self, name)) for name in ("at", "wrong", "unverified")}
        return {**counts, "quoted": self.quoted}

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Looked:
        """Invert `to_json`."""
        at, wrong, unverified = (Counter[str](dict(value[name])) for name in ("at", "wrong", "unverified"))
        return cls(at, wrong, unverified, {check: list(faults) for check, faults in value["quoted"].items()})

    def print_checks(self) -> list[dict[str, Any]]:
        """List every check with what it looked at and what it found."""
        return [
            {
                "name": name,
                "what": what,
                "looked_at": self.at[name],
                "wrong": self.wrong[name],
                "unverified": self.unverified[name],
                "faults": self.quoted.get(name, []),
            }
            for name, what in RECORD_CHECKS.items()
        ]


def in_ascii(text: str) -> str:
    """Print a text in the characters that canonical JSON has; what it has no like of becomes a question mark."""
    for mark, plain in _TYPOGRAPHY.items():
        text = text.replace(mark, plain)
    return "".join(each if " " <= each <= "~" else "?" for each in text)
