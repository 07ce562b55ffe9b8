"""Before every signature: the head in the database must be one of ours, and none that is newer may have been signed.

A start looks once; between starts somebody else may write to the database. Whatever he sets the head to, nothing is
signed on top of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from api.db.tables import LogHeadRow
from api.integrity.pinned import behind
from api.log import split_frontier
from api.pin import Pin, read_pinned
from api.refusals import READ_ONLY, Refusal
from shoe.errors import FairshoeError, ProofError, expected
from shoe.proof.checkpoint import parse_checkpoint
from shoe.proof.merkle import root_of_frontier
from shoe.proof.note import VerifierKey, check_note, parse_note


@dataclass(slots=True)
class Succession:
    """Says whether a head may be followed by another; `vouched` is the last checkpoint whose signatures were checked.

    The pin does not vouch for a head: whatever stands in the database may have been copied there.
    """

    pin: Pin
    vouched: str = ""

    def require(self, origin: str, head: LogHeadRow, vkeys: Sequence[VerifierKey]) -> None:
        """Raise Refusal unless the head is signed, is its frontier's, and is not behind the pinned checkpoint.

        Costs the reading of the pin's file and O(log size) hashes; a check of signatures where another process signed
        the head.
        """
        try:
            self._require(origin, head, vkeys)
        except (FairshoeError, OSError, ValueError) as error:
            raise Refusal(READ_ONLY, f"{str(error).removesuffix('.')}.") from None

    def vouch(self, checkpoint: str) -> None:
        """Take a checkpoint for good without a further look: this process has just signed it."""
        self.vouched = checkpoint

    def _require(self, origin: str, head: LogHeadRow, vkeys: Sequence[VerifierKey]) -> None:
        signed = parse_checkpoint(parse_note(head.checkpoint).text)
        root = root_of_frontier(split_frontier(head.frontier), head.size)
        if (signed.origin, signed.size) != (origin, head.size):
            signs = f"one over {signed.size} leaves of {signed.origin}"
            raise ProofError(expected(f"one over {head.size} leaves of {origin}", signs, "log_head: checkpoint"))
        if signed.root != root:
            raise ProofError(
                expected(f"the root {signed.root.hex()}, as it was signed", root.hex(), "log_head: frontier")
            )
        if head.checkpoint != self.vouched:
            check_note(head.checkpoint, vkeys)
            self.vouched = head.checkpoint
        pinned = self.pin.read()
        if pinned is None:
            return
        newest = read_pinned(pinned)
        if newest.size > head.size:
            raise ProofError(behind(self.pin.path, newest.size, head.size))
        if newest.size == head.size and newest.root != root:
            where = f"{self.pin.path}: root of the log's {head.size} leaves"
            raise ProofError(expected(newest.root.hex(), root.hex(), where))
