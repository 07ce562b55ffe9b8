"""How fair a shoe was: whose entropy is in it, and what shows that nobody had the last word (protocol §10)."""

from __future__ import annotations

from collections.abc import Iterator

from shoe.errors import FairshoeError
from shoe.proof.beacon import due_s, time_of
from shoe.proof.checkpoint import cosignatures, parse_checkpoint
from shoe.proof.note import parse_note
from shoe.proof.records import CommittedEntropy as Committed
from shoe.proof.records import Lock, ShoeRecord, Void, parse_record
from shoe.proof.tlog import Receipt
from shoe.proof.verify.case import Case
from shoe.proof.verify.result import Fairness, Missing, Status

SANDBOX = "/sandbox"


def is_sandbox(origin: str) -> bool:
    """Say whether a log is a sandbox's, whose seeds are public (protocol §9)."""
    return origin.endswith(SANDBOX)


def judge_fairness(case: Case, statuses: dict[str, Status]) -> tuple[Fairness, str]:
    """Name the fairness of a shoe that is not invalid, with the reason in plain words."""
    history = case.history
    if is_sandbox(history.open.log):
        return "committed", "a sandbox's seeds are public"
    if history.seal is None:
        return "committed", "the shoe is not sealed yet, so nobody's seed is in it"
    if not history.seal.transcript.client_seeds:
        return "committed", "no player's seed is in it"
    try:
        if isinstance(case.previous, Void):
            return (
                "contributed",
                "the shoe directly before it was void: the house may have waited for a better one",
            )
    except Missing:
        return "contributed", "it is not shown whether the shoe directly before it was void"
    judge = _judge_beacon if history.open.rules.entropy == "beacon" else _judge_two_phase
    lacking = judge(case, statuses)
    if lacking is not None:
        return "contributed", lacking
    return "provably_fair", "players' seeds are in it, and nobody could choose a seed after seeing the others"


def _judge_two_phase(case: Case, statuses: dict[str, Status]) -> str | None:
    """Say what is lacking: the caller's own entropy receipt, and the lock receipt held before opening."""
    if statuses["receipts"] != "VALID":
        return "the caller hands in no receipts of its own contribution and of the lock"
    own = [record for record in _of_this_shoe(case) if isinstance(record, Committed)]
    if not own:
        return "no receipt of the caller's own entropy record"
    locks = [receipt for receipt in case.evidence.receipts if _lock_of(case, receipt)]
    if not locks:
        return "no receipt of the lock"
    opened = [seed.seq for seed in case.history.seeds if seed.position in {record.position for record in own}]
    first = min(case.bundle.log_indices[seq] for seq in opened)
    if min(_size_of(receipt.proof.checkpoint) for receipt in locks) > first:
        return "the receipt of the lock is younger than the caller's opened seed: it was not held before"
    return None


def _judge_beacon(case: Case, statuses: dict[str, Status]) -> str | None:
    """Say what is lacking: a checked signature, and a checkpoint with the lock from before the round was due."""
    pin, lock = case.history.open.beacon, case.history.lock
    if statuses["beacon"] != "VALID" or pin is None or lock is None:
        return "the beacon's signature was not checked"
    due = due_s(pin)
    held = case.evidence.held
    if held is not None and held.since is not None and statuses["consistency"] == "VALID":
        holds_lock = _size_of(held.text) > case.bundle.log_indices[lock.seq]
        if holds_lock and held.since < time_of(due):
            return None
    if any(time < due for text in _checkpoints_with_lock(case, lock, statuses) for time in _witnessed(case, text)):
        return None
    return f"no checkpoint with the lock is shown to be older than round {pin.round}, due {time_of(due)}"


def _checkpoints_with_lock(case: Case, lock: Lock, statuses: dict[str, Status]) -> Iterator[str]:
    index = case.bundle.log_indices[lock.seq]
    yield case.bundle.checkpoint
    earlier = case.bundle.earlier
    if earlier is not None and statuses["consistency"] == "VALID" and _size_of(earlier.checkpoint) > index:
        yield earlier.checkpoint
    if statuses["receipts"] == "VALID":
        yield from (receipt.proof.checkpoint for receipt in case.evidence.receipts if _lock_of(case, receipt))


def _witnessed(case: Case, text: str) -> list[int]:
    try:
        return [time for _, time in cosignatures(text, case.evidence.witnesses)]
    except FairshoeError:
        return []


def _of_this_shoe(case: Case) -> list[ShoeRecord]:
    records = [parse_record(receipt.record) for receipt in case.evidence.receipts]
    return [r for r in records if isinstance(r, ShoeRecord) and r.shoe == case.history.open.shoe]


def _lock_of(case: Case, receipt: Receipt) -> bool:
    lock = case.history.lock
    return lock is not None and receipt.record == case.bundle.records[lock.seq]


def _size_of(checkpoint: str) -> int:
    return parse_checkpoint(parse_note(checkpoint).text).size
