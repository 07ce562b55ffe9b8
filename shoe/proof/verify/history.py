"""A bundle's records in the order that a shoe allows (protocol §8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from shoe.errors import ProofError, expected
from shoe.proof.records import (
    Bets,
    CommittedEntropy,
    Coup,
    End,
    Lock,
    Open,
    OpenEntropy,
    Record,
    Reveal,
    Seal,
    Seed,
    ShoeRecord,
    Void,
)

Entropy = CommittedEntropy | OpenEntropy


@dataclass(slots=True)
class History:
    """One shoe's records by kind; the order between them has been checked."""

    open: Open
    entropies: list[Entropy] = field(default_factory=list)
    lock: Lock | None = None
    seeds: list[Seed] = field(default_factory=list)
    seal: Seal | None = None
    bets: list[Bets] = field(default_factory=list)
    coups: list[Coup] = field(default_factory=list)
    end: End | None = None
    last: ShoeRecord = field(init=False)

    def __post_init__(self) -> None:
        """Begin with the opening."""
        self.last = self.open


def read_history(records: Sequence[Record]) -> History:
    """Sort a shoe's records: open, entropy*, lock, seed*, seal, ([bets] coup)*, reveal, or void after any but bets.

    Raises ProofError, naming the record, for any other order. Source: protocol §8.
    """
    if not isinstance(records[0], Open):
        raise ProofError(expected("an open record", records[0].type, "records[0]"))
    history = History(records[0])
    for index, record in enumerate(records[1:], start=1):
        if not isinstance(record, ShoeRecord) or not _take(history, record):
            after = f"after {history.last.type}"
            raise ProofError(f"records[{index}]: {record.type} can't come {after}")
        history.last = record
    return history


def _take(history: History, record: ShoeRecord) -> bool:
    if history.end is not None:
        return False
    match record:
        case CommittedEntropy() | OpenEntropy() if history.lock is None:
            history.entropies.append(record)
        case Lock() if history.lock is None:
            history.lock = record
        case Seed() if history.lock is not None and history.seal is None:
            history.seeds.append(record)
        case Seal() if history.lock is not None and history.seal is None:
            history.seal = record
        case Bets() if history.seal is not None and not isinstance(history.last, Bets):
            history.bets.append(record)
        case Coup() if history.seal is not None:
            history.coups.append(record)
        case Void() if not (isinstance(history.last, Bets) and history.last.count):
            history.end = record
        case Reveal() if history.seal is not None and not isinstance(history.last, Bets):
            history.end = record
        case _:
            return False
    return True
