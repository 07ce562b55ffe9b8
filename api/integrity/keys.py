"""The log's keys as its own `key` records tell them, and who has to have signed a checkpoint (protocol §8, §9)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import select
from sqlalchemy.orm import Session

from api.db.tables import LeafRow, SigningKeyRow
from api.keyring import ACTIVE
from shoe.errors import InputError, NoteError, ProofError, expected
from shoe.proof.checkpoint import Checkpoint, parse_checkpoint
from shoe.proof.note import Note, VerifierKey, check_note, parse_note, parse_vkey
from shoe.proof.records import Key, parse_as

ADDED: Final = "added"


@dataclass(slots=True)
class KeyHistory:
    """Which key the log added, retired or gave up for compromised, and at which leaf."""

    _added: dict[str, tuple[int, VerifierKey]] = field(default_factory=dict)
    _ended: dict[str, tuple[int, str]] = field(default_factory=dict)

    def take(self, index: int, data: bytes) -> list[str]:
        """Take the `key` record at an index; say what is wrong where it is none or can't follow those before it."""
        try:
            record = parse_as(Key, data)
        except InputError as error:
            return [f"leaf {index}: {error}"]
        if record.status == ADDED:
            if record.vkey in self._added:
                return [expected("a key that was not added before", record.vkey, f"leaf {index}")]
            self._added[record.vkey] = index, parse_vkey(record.vkey)
        elif record.vkey not in self._added or record.vkey in self._ended:
            return [expected("a key that was added, and not ended before", record.vkey, f"leaf {index}")]
        else:
            self._ended[record.vkey] = index, record.status
        return []

    @classmethod
    def read(cls, session: Session) -> tuple[KeyHistory, list[str]]:
        """Read all `key` records, and say what is wrong with them; they are among the few that belong to no shoe."""
        history, wrong = cls(), []
        query = select(LeafRow.log_index, LeafRow.record).where(LeafRow.shoe.is_(None), LeafRow.type == Key.type)
        for index, data in session.execute(query.order_by(LeafRow.log_index)):
            wrong += history.take(index, data)
        return history, wrong

    def known(self, size: int) -> tuple[VerifierKey, ...]:
        """List the keys that the first `size` leaves add."""
        return tuple(key for index, key in self._added.values() if index < size)

    def due(self, before: int, size: int) -> tuple[VerifierKey, ...]:
        """List the keys that have to have signed the checkpoint over `size` leaves, the one before it over `before`.

        They are those that were active before: a key is added under these, but for the log's first, and a retired one
        still signs that it is. A compromised one signs nothing any more.
        """
        return tuple(
            key
            for vkey, (index, key) in self._added.items()
            if index < (before or size) and self._signs(vkey, before, size)
        )

    def _signs(self, vkey: str, before: int, size: int) -> bool:
        index, status = self._ended.get(vkey, (size, ACTIVE))
        return index >= size or (index >= before and status == "retired")

    def differences(self, rows: Iterable[SigningKeyRow]) -> Iterator[str]:
        """Say where the database's keys are not those of the log's records: in key, place or status."""
        by_vkey = {row.vkey: row for row in rows}
        for vkey, (index, _) in self._added.items():
            row = by_vkey.pop(vkey, None)
            status = self._ended.get(vkey, (index, ACTIVE))[1]
            wanted = f"{status}, added at leaf {index}"
            got = None if row is None else f"{row.status}, added at leaf {row.log_index}"
            if got != wanted:
                yield expected(wanted, got, f"signing_keys: {vkey}")
        for vkey in by_vkey:
            yield expected("a key that a record of the log adds", vkey, "signing_keys")


def signature_complaints(
    text: str, wanted: Checkpoint, due: Iterable[VerifierKey], known: Iterable[VerifierKey]
) -> Iterator[str]:
    """Say what is wrong with a signed checkpoint: its text, a line of a known key, a line of another, one that is due.

    Costs a check of a signature for each line.
    """
    where, known = f"checkpoint over {wanted.size} leaves", tuple(known)
    try:
        found = parse_checkpoint(parse_note(text).text)
        for name in ("origin", "size"):
            if getattr(found, name) != getattr(wanted, name):
                yield expected(str(getattr(wanted, name)), getattr(found, name), f"{where}: {name}")
        if found.root != wanted.root:
            yield expected(wanted.root.hex(), found.root.hex(), f"{where}: root")
        note, signers = check_note(text, known)
    except (NoteError, ProofError) as error:
        yield f"{where}: {error}"
        return
    for key in due:
        if key not in signers:
            yield expected(f"a signature of {key}", [line.name for line in note.signatures], where)
    yield from _lines_of_others(note, known, where)


def _lines_of_others(note: Note, known: Iterable[VerifierKey], where: str) -> Iterator[str]:
    ours = {(key.name, key.key_id) for key in known}
    for name, key_id, _ in note.signatures:
        if (name, key_id) not in ours:
            yield expected("lines of the log's own keys alone", f"{name}, key id {key_id.hex()}", where)
