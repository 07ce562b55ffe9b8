"""What a client believes: its log's keys, and the largest checkpoint it saw; each receipt is held against both."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Final, NamedTuple, TypeVar

from api.client.faults import ServiceProblem, ServiceUnreachable, Unproven
from api.player import check_cards, check_played
from shoe.errors import InputError, ProofError, expected
from shoe.game.rules import Rules
from shoe.proof.checkpoint import Checkpoint, check_checkpoint
from shoe.proof.merkle import check_consistency
from shoe.proof.note import ED25519, VerifierKey, require_type
from shoe.proof.records import Coup, Record, Seal, parse_as
from shoe.proof.seal import seal_transcript
from shoe.proof.tlog import Receipt, check_receipt

Prove = Callable[[int, int], Sequence[bytes]]
"""Asks the service for the consistency path from an older size to a newer."""

R = TypeVar("R", bound=Record)

_UNANSWERED: Final = frozenset({400, 404, 409, 410, 422})
"""Refusals that mean: there is no such path. Any other may have to do with who asks, and when."""


class _Head(NamedTuple):
    checkpoint: Checkpoint
    text: str


class Receipts:
    """Checks receipts and checkpoints under keys that came from elsewhere; any thread may use it.

    Without keys it verifies nothing, and `verifies` is false. `held` is a signed checkpoint kept from before: the log
    must have grown from it. Raises NoteError and ProofError for keys and a checkpoint that are not of one log.
    """

    def __init__(self, vkeys: Iterable[VerifierKey], prove: Prove, held: str | None = None) -> None:
        self._vkeys = tuple(vkeys)
        require_type(self._vkeys, ED25519)
        if held is not None and not self._vkeys:
            raise InputError("held: expected the log's keys beside a checkpoint, got none")
        self._prove = prove
        self._lock = Lock()
        self._largest = None if held is None else _Head(check_checkpoint(held, self._vkeys), held)

    @property
    def verifies(self) -> bool:
        """Whether anything is checked at all."""
        return bool(self._vkeys)

    @property
    def held(self) -> str | None:
        """The largest checkpoint seen, signed: to be kept, and given to the next client."""
        return None if self._largest is None else self._largest.text

    @property
    def size(self) -> int:
        """The size of the largest checkpoint seen; 0 before any."""
        return 0 if self._largest is None else self._largest.checkpoint.size

    def check(self, receipt: Receipt, kind: type[R], wanted: Mapping[str, object], since: int = 0) -> R | None:
        """Check that a record is in the log, of a kind and with the fields wanted; give it, None without keys.

        `since` is the log's size when the step was asked for: its record can't be older. Raises ProofError for what
        does not hold, and Unproven where the service does not come to show that its log only grew.
        """
        if not self.verifies:
            return None
        try:
            index, checkpoint = check_receipt(receipt, self._vkeys)
            record = parse_as(kind, receipt.record)
        except InputError as error:
            raise ProofError(f"receipt: {error}") from None
        for name, value in wanted.items():
            if getattr(record, name) != value:
                # Neither value is shown: one may be a seed.
                raise ProofError(f"receipt: its {kind.type} record has another {name} than was asked for")
        if index < since:
            raise ProofError(f"receipt: record {index} was in the log of {since} before it was asked for")
        try:
            self._grow(_Head(checkpoint, receipt.proof.checkpoint))
        except (ServiceProblem, ServiceUnreachable) as error:
            raise Unproven(receipt, error) from None
        return record

    def check_head(self, text: str, since: int) -> str:
        """Check a checkpoint that was fetched as the log's head when it had `since` records already; give it back.

        Raises ProofError for a smaller one and as `check`, ServiceUnreachable for what is no checkpoint.
        """
        if not self.verifies:
            return text
        try:
            checkpoint = check_checkpoint(text, self._vkeys)
        except InputError as error:
            raise ServiceUnreachable(f"the answer is no checkpoint: {error}") from None
        if checkpoint.size < since:
            raise ProofError(expected(f"a log of at least {since} records", checkpoint.size, "checkpoint size"))
        self._grow(_Head(checkpoint, text))
        return text

    def _grow(self, head: _Head) -> None:
        """Take a checkpoint in: before or after the largest seen, one must begin with the other."""
        while True:
            largest = self._largest
            if largest is not None:
                self._check_one_log(largest.checkpoint, head.checkpoint)
            with self._lock:
                if self._largest is largest:
                    if largest is None or head.checkpoint.size > largest.checkpoint.size:
                        self._largest = head
                    return
            # Another thread took one in: two that each go with the older one may not go with each other.

    def _check_one_log(self, seen: Checkpoint, other: Checkpoint) -> None:
        if seen.origin != other.origin:
            raise ProofError(expected(f"the log {seen.origin}", other.origin, "checkpoint origin"))
        old, new = sorted((seen, other), key=lambda checkpoint: checkpoint.size)
        path = () if old.size in (0, new.size) else self._path(old.size, new.size)
        check_consistency(old.size, old.root, new.size, new.root, path)

    def _path(self, old: int, new: int) -> Sequence[bytes]:
        try:
            return self._prove(old, new)
        except ServiceProblem as error:
            if error.status in _UNANSWERED:
                raise ProofError(f"the service shows no way from its log of {old} records to that of {new}") from None
            raise


@dataclass(frozen=True, slots=True)
class _Deck:
    rules: Rules
    root: bytes


class KnownDecks:
    """The deck roots of shoes whose seals were checked, by shoe and hand: the `limit` last ones; for any thread."""

    def __init__(self, limit: int = 1024) -> None:
        self._limit = limit
        self._decks: OrderedDict[tuple[str, int], _Deck] = OrderedDict()
        self._lock = Lock()

    def learn(self, seal: Seal) -> None:
        """Keep what a seal in the log fixes; raises ProofError where it is not its own transcript's."""
        transcript = seal.transcript
        if seal.shoe != transcript.shoe or seal.seal != seal_transcript(transcript):
            raise ProofError("the seal is not the hash of its shoe's transcript")
        self._keep(seal.shoe, 0, _Deck(transcript.rules, seal.deck_root))

    def check(self, coup: Coup, paths: Sequence[Sequence[bytes]]) -> bool:
        """Check a logged coup's cards against the deck root, and the coup against its cards; false where none is known.

        Raises ProofError for what does not hold. Source: protocol §6, §7.
        """
        with self._lock:
            deck = self._decks.get((coup.shoe, coup.hand))
        if deck is None:
            return False
        check_cards(coup, paths, deck.rules, deck.root)
        try:
            check_played(coup)
        except InputError as error:
            raise ProofError(f"coup {coup.number}: {error}") from None
        if coup.next_deck_root is not None:
            self._keep(coup.shoe, coup.hand + 1, _Deck(deck.rules, coup.next_deck_root))
        return True

    def _keep(self, shoe: str, hand: int, deck: _Deck) -> None:
        with self._lock:
            self._decks[shoe, hand] = deck
            while len(self._decks) > self._limit:
                self._decks.popitem(last=False)
