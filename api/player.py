"""A player who believes nothing: checks every receipt, the lock before opening a seed, and each coup as it is dealt.

No I/O here: `api.client` carries what a player says, and a player judges what came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from shoe.errors import ProofError, expected
from shoe.game.dealing import begin
from shoe.game.rules import Rules
from shoe.game.tableau import play_coup
from shoe.proof.note import VerifierKey
from shoe.proof.openings import check_opening
from shoe.proof.records import (
    Bets,
    CommittedEntropy,
    Coup,
    Lock,
    Open,
    Seal,
    ShoeRecord,
    parse_as,
    parse_record,
    record_hash,
)
from shoe.proof.seal import ClientSeed, seal_transcript
from shoe.proof.seeds import check_seed, commit_seed
from shoe.proof.tlog import Receipt, check_receipt

R = TypeVar("R", bound=ShoeRecord)


@dataclass(slots=True)
class Player:
    """One player at one shoe, who contributes a seed (two_phase) and follows the shoe to its end.

    Made with the log's key, which the player has from elsewhere, an own seed, and the receipt of `open`. Every method
    raises ProofError, NoteError or RecordError for what does not hold, and leaves the player where it was.
    """

    vkey: VerifierKey
    seed: str = field(repr=False)
    opened: Receipt
    entropy: Receipt | None = None
    lock: Receipt | None = None
    deck_roots: dict[int, bytes] = field(default_factory=dict)
    number: int = 0
    position: int = 0
    last: bytes = b""

    @property
    def opening(self) -> Open:
        """The shoe's opening, as the log has it."""
        return self._logged(Open, self.opened)

    @property
    def commitment(self) -> bytes:
        """What the player commits to (32 bytes), before anybody's seed is known."""
        return commit_seed(self.seed)

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        """What makes the shoe provably fair to this player: its entropy's receipt, and the lock's, held in time."""
        return tuple(receipt for receipt in (self.entropy, self.lock) if receipt is not None)

    def accept_entropy(self, receipt: Receipt) -> CommittedEntropy:
        """Take the receipt of the player's own contribution."""
        entropy = self._logged(CommittedEntropy, receipt)
        if (entropy.shoe, entropy.seed_commitment) != (self.opening.shoe, self.commitment):
            raise ProofError("the receipt is of another shoe's or another player's contribution")
        self.entropy = receipt
        return entropy

    def accept_lock(self, receipt: Receipt, records: Sequence[bytes]) -> str:
        """Check that the chain up to the lock holds the player's own contribution; give the seed to open now.

        `records` are the shoe's records so far, from `open` to `lock`. Source: protocol §4.
        """
        lock = self._logged(Lock, receipt)
        chain = list(records[: lock.seq + 1])
        if self.entropy is None or self.entropy.record not in chain[:-1]:
            raise ProofError("the player's own contribution is not in the chain up to the lock: the seed stays closed")
        if chain[0] != self.opened.record or chain[-1] != receipt.record:
            raise ProofError("the chain does not run from the shoe's opening to its lock")
        for before, after in pairwise(chain):
            self._check_follows(parse_record(after), before)
        self.lock = receipt
        return check_seed(self.seed, self.commitment)

    def accept_seal(self, receipt: Receipt) -> Seal:
        """Check that the sealed transcript repeats the opening and holds the player's own seed."""
        seal = self._logged(Seal, receipt)
        own = None if self.entropy is None else parse_as(CommittedEntropy, self.entropy.record)
        if own is None or ClientSeed(own.client, self.seed) not in seal.transcript.client_seeds[own.position :][:1]:
            raise ProofError("the sealed transcript does not hold the player's own seed")
        opening = self.opening
        for key in ("log", "shoe", "table", "rules", "book", "index", "commitment"):
            if getattr(seal.transcript, key) != getattr(opening, key):
                raise ProofError(f"the sealed transcript has another {key} than the opening")
        if seal.seal != seal_transcript(seal.transcript):
            raise ProofError("the seal is not the hash of its transcript")
        self.deck_roots[0], self.last = seal.deck_root, receipt.record
        self.position = begin(opening.rules, 0 if seal.burn is None else seal.burn.card).position
        return seal

    def accept_coup(self, receipt: Receipt, paths: Sequence[Sequence[bytes]], closed: Receipt | None = None) -> Coup:
        """Check a coup while the shoe is in play: place, each card against the deck root, tableau, winner.

        `closed` is the receipt of the record that closed the coup's bets, where there were any.
        """
        coup, rules, last = self._logged(Coup, receipt), self.opening.rules, self.last
        if closed is not None:
            self._check_follows(self._logged(Bets, closed), last)
            last = closed.record
        self._check_follows(coup, last)
        start = 0 if rules.shuffle == "coup" else self.position
        positions = [opening.position for opening in coup.cards]
        if coup.number != self.number or positions != list(range(start, start + len(positions))):
            raise ProofError(expected(f"coup {self.number} from position {start}", positions, f"coup {coup.number}"))
        root = self.deck_roots.get(coup.hand)
        if root is None:
            raise ProofError(f"coup {coup.number}: no deck root was published for hand {coup.hand}")
        check_cards(coup, paths, rules, root)
        check_played(coup)
        if coup.next_deck_root is not None:
            self.deck_roots[coup.hand + 1] = coup.next_deck_root
        self.number, self.position, self.last = coup.number + 1, start + len(positions), receipt.record
        return coup

    def _logged(self, kind: type[R], receipt: Receipt) -> R:
        check_receipt(receipt, (self.vkey,))
        return parse_as(kind, receipt.record)

    def _check_follows(self, record: object, before: bytes) -> None:
        if not isinstance(record, ShoeRecord) or record.previous != record_hash(before):
            raise ProofError("a record does not name the one before: the chain is broken")
        if record.shoe != self.opening.shoe:
            raise ProofError(expected(f"shoe {self.opening.shoe}", record.shoe, "record"))


def check_cards(coup: Coup, paths: Sequence[Sequence[bytes]], rules: Rules, deck_root: bytes) -> None:
    """Check each card of a coup against the root of its hand's deck; raises ProofError. Source: protocol §7."""
    if len(paths) != len(coup.cards):
        raise ProofError(expected(f"{len(coup.cards)} paths", len(paths), f"coup {coup.number}"))
    for opening, path in zip(coup.cards, paths, strict=True):
        check_opening(opening, coup.hand, path, rules, deck_root)


def check_played(coup: Coup) -> None:
    """Check totals, outcome, rule and number of cards against the coup that its cards make; raises ProofError."""
    played = play_coup([opening.card for opening in coup.cards])
    claimed = (coup.player_total, coup.banker_total, coup.outcome, coup.rule, len(coup.cards))
    found = (played.player_total, played.banker_total, played.outcome, played.rule, len(played.cards))
    if claimed != found:
        raise ProofError(expected(f"{found}", claimed, f"coup {coup.number}"))
