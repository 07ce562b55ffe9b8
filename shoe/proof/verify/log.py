"""Checks of a bundle against the log: checkpoint, inclusion, receipts, consistency, witnesses (protocol §9, §10)."""

from __future__ import annotations

from shoe.errors import NoteError, ProofError, expected
from shoe.proof.checkpoint import Checkpoint, cosignatures
from shoe.proof.merkle import check_consistency, check_inclusion, leaf_hash
from shoe.proof.records import ShoeRecord, parse_record
from shoe.proof.tlog import Receipt, check_receipt
from shoe.proof.verify.case import Case, HeldCheckpoint
from shoe.proof.verify.result import Missing


def check_log_checkpoint(case: Case) -> str:
    """The checkpoint is signed by the log's key and bears the log's name."""
    checkpoint = case.checkpoint
    return f"{checkpoint.origin}, {checkpoint.size} records, root {checkpoint.root.hex()}"


def check_log_inclusion(case: Case) -> str:
    """Every record is in the log, at its index, under the checkpoint's root."""
    bundle, checkpoint = case.bundle, _checkpoint(case)
    for at, (data, index, path) in enumerate(zip(bundle.records, bundle.log_indices, bundle.inclusion, strict=True)):
        _check_included(f"inclusion[{at}]", data, index, path, checkpoint)
    placed = {"book_record": bundle.book_record, "previous_shoe": bundle.previous_shoe}
    for where, record in placed.items():
        if record is not None:
            _check_included(where, record.record, record.index, record.path, checkpoint)
    return f"{len(bundle.records)} records in the log"


def _check_included(where: str, data: bytes, index: int, path: tuple[bytes, ...], checkpoint: Checkpoint) -> None:
    try:
        check_inclusion(leaf_hash(data), index, checkpoint.size, path, checkpoint.root)
    except ProofError as error:
        raise ProofError(f"{where}: {error}") from None


def _checkpoint(case: Case) -> Checkpoint:
    """The bundle's checkpoint for checks that build on it; its own faults are the checkpoint check's to name."""
    try:
        return case.checkpoint
    except (ProofError, NoteError):
        raise Missing("a checkpoint that the log signed") from None


def check_receipts(case: Case) -> str:
    """Each of the caller's receipts of this shoe is good, and its record stands in the bundle."""
    receipts = case.evidence.receipts
    if not receipts:
        raise Missing("receipts of the caller's own")
    passed = 0
    for at, receipt in enumerate(receipts):
        record = parse_record(receipt.record)
        if isinstance(record, ShoeRecord) and record.shoe == case.history.open.shoe:
            _check_receipt(case, f"receipt {at}", receipt, record)
        else:
            check_receipt(receipt, case.vkeys, case.log)
            passed += 1
    beside = f"; {passed} of other shoes or books" if passed else ""
    return f"{len(receipts) - passed} of this shoe's records{beside}"


def _check_receipt(case: Case, where: str, receipt: Receipt, record: ShoeRecord) -> None:
    index, _ = check_receipt(receipt, case.vkeys, case.log)
    bundle = case.bundle
    if record.seq < len(bundle.records):
        if bundle.records[record.seq] != receipt.record:
            raise ProofError(f"{where}: the log signed another record {record.seq} of this shoe than the bundle's")
        if bundle.log_indices[record.seq] != index:
            got = bundle.log_indices[record.seq]
            raise ProofError(expected(f"log index {index}", got, f"{where}, log_indices[{record.seq}]"))
    elif case.history.end is not None or index < _checkpoint(case).size:
        raise ProofError(f"{where}: {record.type}, record {record.seq} of this shoe, is left out of the bundle")


def check_log_consistency(case: Case) -> str:
    """The older checkpoints, the bundle's and the caller's, are of the same log as it was."""
    newer, earlier, held = _checkpoint(case), case.bundle.earlier, case.evidence.held
    found = []
    if earlier is not None:
        older = case.signed_checkpoint(earlier.checkpoint)
        try:
            check_consistency(older.size, older.root, newer.size, newer.root, earlier.path)
        except ProofError as error:
            raise ProofError(f"earlier: {error}") from None
        found.append(older)
    if held is None and not found:
        raise Missing("an older checkpoint")
    if held is not None:
        _check_held(case, held, [*found, newer])
    return f"the log of {newer.size} records extends the {'caller’s' if held else 'earlier'} one"


def _check_held(case: Case, held: HeldCheckpoint, known: list[Checkpoint]) -> None:
    caller = case.signed_checkpoint(held.text)
    same_size = [checkpoint for checkpoint in known if checkpoint.size == caller.size]
    if not same_size:
        raise Missing(f"a consistency path from the caller's checkpoint of {caller.size} records")
    if same_size[0].root != caller.root:
        raise ProofError(f"the log showed two heads of {caller.size} records: the caller's checkpoint proves fraud")


def check_witnesses(case: Case) -> str:
    """Witnesses that the caller names have cosigned the checkpoint."""
    if not case.evidence.witnesses:
        raise Missing("witnesses named by the caller")
    _checkpoint(case)
    found = cosignatures(case.bundle.checkpoint, case.evidence.witnesses)
    if not found:
        raise Missing("a cosignature of a named witness")
    return "cosigned by " + ", ".join(name for name, _ in found)
