"""The log's records one after another: what each holds, what its row repeats of it, and its shoe's chain (§8)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from api.integrity.complaints import Complaints
from api.integrity.keys import KeyHistory
from api.integrity.tree import Leaf
from shoe.errors import InputError, expected
from shoe.proof.records import FIRST, Key, Open, Reveal, Void, parse_record, record_hash

_ENDS: Final = (Reveal.type, Void.type)
_COLUMNS: Final = ("type", "shoe", "seq")
_READ: Final = json.JSONDecoder().decode


@dataclass(slots=True)
class _Chain:
    """A live shoe's chain: its table where that is known, the next seq, and the hash of its last record as hex."""

    table: str | None
    seq: Any
    last: Any


class LeafCheck:
    """Walks the records from the first on, or from a later one; holds live shoes and a hash for each table."""

    def __init__(self, complaints: Complaints, origin: str, *, first: int = 0, strict: bool = False) -> None:
        """Begin at leaf `first`; `strict` parses every record as a verifier does, which takes ten times as long.

        Without it a record must be JSON with the fields that chain it: its bytes are those of the signed tree, and
        nothing enters that which a verifier would not read.
        """
        self._complaints, self._origin, self._strict = complaints, origin, strict
        self._whole = first == 0
        self._live: dict[str, _Chain] = {}
        self._tables: dict[str, str] = {}
        self.keys = KeyHistory()
        self.time = ""

    def take(self, leaf: Leaf) -> None:
        """Go on by the next record."""
        try:
            record = self._parse(leaf.record)
        except (ValueError, RecursionError) as error:
            self._complaints.add(f"leaf {leaf.log_index}: {error}")
            return
        held, repeated = (record.get("type"), record.get("shoe"), record.get("seq")), leaf[2:]
        for name, wanted, got in zip(_COLUMNS, held, repeated, strict=True) if held != repeated else ():
            self._complaints.differ(wanted, got, f"leaf {leaf.log_index}: column {name}")
        if record.get("log") != self._origin:
            self._complaints.differ(self._origin, record.get("log"), f"leaf {leaf.log_index}: log")
        self._go_on(leaf.log_index, str(record.get("time")))
        if record.get("type") == Key.type:
            for wrong in self.keys.take(leaf.log_index, leaf.record) if self._whole else ():
                self._complaints.add(wrong)
        if "shoe" in record:
            self._chain(leaf, record)

    def _go_on(self, index: int, time: str) -> None:
        # Against the one before alone: a single wrong time is then two complaints at most.
        if time < self.time:
            self._complaints.add(expected(f"{self.time} or later", time, f"leaf {index}: time"))
        self.time = time

    def _parse(self, data: bytes) -> dict[str, Any]:
        if self._strict:
            parse_record(data)
        record = _READ(data.decode("ascii"))
        if not isinstance(record, dict):
            raise InputError(expected("an object", record))
        return record

    def _chain(self, leaf: Leaf, record: dict[str, Any]) -> None:
        shoe, seq = str(record["shoe"]), record.get("seq")
        chain = self._begin(record) if record.get("type") == Open.type else self._live.get(shoe)
        if chain is None or (chain.seq == 0 and shoe in self._live):
            if self._whole:
                self._complaints.add(
                    f"leaf {leaf.log_index}: shoe {shoe}: expected one open record before all others of it"
                )
            chain = _Chain(None, seq, record.get("previous"))
        if (seq, record.get("previous")) != (chain.seq, chain.last):
            self._complaints.differ(chain.seq, seq, f"leaf {leaf.log_index}: shoe {shoe}: seq")
            self._complaints.differ(chain.last, record.get("previous"), f"leaf {leaf.log_index}: shoe {shoe}: previous")
        last = record_hash(leaf.record).hex()
        if record.get("type") not in _ENDS:
            self._live[shoe] = _Chain(chain.table, seq + 1 if isinstance(seq, int) else 0, last)
            return
        self._live.pop(shoe, None)
        if chain.table is not None:
            self._tables[chain.table] = last

    def _begin(self, record: dict[str, Any]) -> _Chain:
        """A shoe's first record follows the last of its table's previous shoe, which a later walk may not know."""
        table = str(record.get("table"))
        return _Chain(table, 0, self._tables.get(table, FIRST.hex() if self._whole else record.get("previous")))
