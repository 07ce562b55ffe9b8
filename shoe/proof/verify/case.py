"""A verification's case: the bundle, and what the caller knows from elsewhere (protocol §10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from shoe.errors import ProofError, expected
from shoe.proof.beacon import CheckSignature
from shoe.proof.bundle import Bundle, Placed
from shoe.proof.canonical import parse_object
from shoe.proof.checkpoint import Checkpoint, check_checkpoint
from shoe.proof.note import VerifierKey
from shoe.proof.openings import Deck, deal_deck
from shoe.proof.records import End, Record, Seal, parse_record
from shoe.proof.seal import Keys, derive_keys
from shoe.proof.tlog import Receipt
from shoe.proof.verify.history import History, read_history
from shoe.proof.verify.result import Missing, NotYet


@dataclass(frozen=True, slots=True)
class HeldCheckpoint:
    """An older checkpoint that the caller holds, and since when (a record's time), if known."""

    text: str
    since: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verifier gets from outside the bundle.

    `vkeys` are the log's, never taken from the bundle; `receipts` the caller's own; `witnesses` the keys of witnesses
    the caller trusts; `now` the time of verification (a record's time); `check_signature` checks a beacon's round.
    """

    vkeys: tuple[VerifierKey, ...]
    receipts: tuple[Receipt, ...] = ()
    held: HeldCheckpoint | None = None
    witnesses: tuple[VerifierKey, ...] = ()
    now: str | None = None
    check_signature: CheckSignature | None = None


@dataclass
class Case:
    """One bundle under verification; what several checks need is computed once."""

    bundle: Bundle
    evidence: Evidence
    _decks: dict[int, Deck] = field(default_factory=dict)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The parsed records; raises CanonicalError or RecordError for the first bad one."""
        return tuple(parse_record(data) for data in self.bundle.records)

    @cached_property
    def history(self) -> History:
        """The records in the order a shoe allows; raises Missing where a check before has refused them."""
        try:
            return read_history(self.records)
        except (ProofError, ValueError):
            raise Missing("records that can be read in order") from None

    @property
    def sealed(self) -> Seal:
        """The seal; raises NotYet before it."""
        if self.history.seal is None:
            raise NotYet("the shoe is not sealed")
        return self.history.seal

    @property
    def ended(self) -> End:
        """The reveal or void; raises NotYet before it."""
        if self.history.end is None:
            raise NotYet("applies after the reveal")
        return self.history.end

    @property
    def sealed_and_ended(self) -> tuple[Seal, End]:
        """Seal and end together; raises NotYet where either has not come."""
        end = self.ended
        if self.history.seal is None:
            raise NotYet("the shoe was void before it was sealed")
        return self.history.seal, end

    @cached_property
    def keys(self) -> Keys:
        """The keys that the published server seed and the seal give; raises NotYet before the end."""
        seal, end = self.sealed_and_ended
        return derive_keys(end.server_seed, seal.seal)

    def deck(self, hand: int) -> Deck:
        """Shuffle anew what should have been dealt as shuffle `hand`; raises NotYet before the end."""
        if hand not in self._decks:
            self._decks[hand] = deal_deck(self.keys, self.history.open.rules, hand)
        return self._decks[hand]

    @cached_property
    def checkpoint(self) -> Checkpoint:
        """The bundle's checkpoint, signed by the log; raises ProofError, NoteError or Missing."""
        return self.signed_checkpoint(self.bundle.checkpoint)

    def signed_checkpoint(self, text: str) -> Checkpoint:
        """Read a checkpoint that must be signed by the log that the records name."""
        return check_checkpoint(text, self.vkeys, self.log)

    @cached_property
    def vkeys(self) -> tuple[VerifierKey, ...]:
        """The caller's keys of this log; raises Missing where there is none at all, ProofError for other logs'."""
        given = self.evidence.vkeys
        if not given:
            raise Missing("the log's vkey")
        own = tuple(key for key in given if key.name == self.log)
        if not own:
            raise ProofError(expected(f"records of {given[0].name}, whose vkey was given", self.log, "log"))
        return own

    @property
    def log(self) -> str:
        """The origin of the log as the first record names it; the checkpoint must bear it."""
        try:
            return str(parse_object(self.bundle.records[0]).get("log"))
        except ValueError:
            raise Missing("a first record that can be read") from None

    @cached_property
    def book(self) -> Record:
        """The book record; raises Missing without one."""
        return self._placed(self.bundle.book_record, "the book record")

    @cached_property
    def previous(self) -> Record | None:
        """The last record of the table's previous shoe, or None for the table's first shoe.

        Raises Missing where `open` names one that the bundle does not hold.
        """
        first = self.history.open.previous == bytes(32)
        if first and self.bundle.previous_shoe is None:
            return None
        return self._placed(self.bundle.previous_shoe, "the last record of the previous shoe")

    def _placed(self, placed: Placed | None, what: str) -> Record:
        if placed is None:
            raise Missing(what)
        return parse_record(placed.record)
