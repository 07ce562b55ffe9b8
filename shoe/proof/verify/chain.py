"""Checks of a bundle's records among themselves: bytes, chain, order, deadlines (protocol §8, §10)."""

from __future__ import annotations

from shoe.errors import InputError, ProofError, expected
from shoe.proof.records import ShoeRecord, Void, parse_record, record_hash
from shoe.proof.verify.case import Case
from shoe.proof.verify.history import read_history
from shoe.proof.verify.result import Missing


def check_record_bytes(case: Case) -> str:
    """Each record's bytes are canonical and hold a record of a known form."""
    placed = {"book_record": case.bundle.book_record, "previous_shoe": case.bundle.previous_shoe}
    places = {f"records[{index}]": data for index, data in enumerate(case.bundle.records)}
    places |= {name: record.record for name, record in placed.items() if record is not None}
    for where, data in places.items():
        try:
            parse_record(data)
        except InputError as error:
            raise ProofError(f"{where}: {error}") from None
    return f"{len(places)} records print back to the same bytes"


def check_record_chain(case: Case) -> str:
    """Each record names the one before by hash, place, shoe and log, and is no earlier than it."""
    first = case.history.open
    if first.seq != 0:
        raise ProofError(expected("seq 0", first.seq, "records[0].seq"))
    for index, before in enumerate(case.bundle.records[:-1], start=1):
        _check_link(case, index, before)
    previous = case.previous
    if previous is None:
        return f"{len(case.records)} records; the table's first shoe"
    if case.bundle.previous_shoe is None or record_hash(case.bundle.previous_shoe.record) != first.previous:
        raise ProofError("records[0].previous: not the hash of previous_shoe's record")
    if previous.time > first.time or previous.log != first.log:
        raise ProofError("records[0]: earlier than the previous shoe's last record, or of another log")
    return f"{len(case.records)} records; the previous shoe ended at {previous.time}"


def _check_link(case: Case, index: int, before: bytes) -> None:
    record, last, where = case.records[index], case.records[index - 1], f"records[{index}]"
    if not isinstance(record, ShoeRecord) or not isinstance(last, ShoeRecord):
        raise Missing("records of one shoe")
    if record.seq != index:
        raise ProofError(expected(f"seq {index}", record.seq, f"{where}.seq"))
    if record.previous != record_hash(before):
        raise ProofError(f"{where}.previous: not the hash of the record before")
    if record.shoe != last.shoe or record.log != last.log:
        raise ProofError(expected(f"shoe {last.shoe} of {last.log}", f"{record.shoe} of {record.log}", where))
    if record.time < last.time:
        raise ProofError(expected(f"a time from {last.time}", record.time, f"{where}.time"))


def check_order(case: Case) -> str:
    """The records come in the order that a shoe allows."""
    try:
        records = case.records
    except InputError:
        raise Missing("records that can be read") from None
    history = read_history(records)
    return f"open … {history.last.type}, {len(history.coups)} coups"


def check_deadlines(case: Case) -> str:
    """No step is later than its deadline, and a void's reason and count are true."""
    history = case.history
    opened = history.open
    if not opened.time <= opened.lock_by <= opened.seal_by <= opened.reveal_by:
        raise ProofError("records[0]: expected time ≤ lock_by ≤ seal_by ≤ reveal_by")
    end = history.end
    revealed = None if end is None or isinstance(end, Void) else end
    steps = (("lock", history.lock), ("seal", history.seal), ("reveal", revealed))
    for name, step in steps:
        deadline = getattr(opened, f"{name}_by")
        if step is not None and step.time > deadline:
            raise ProofError(expected(f"by {deadline}", step.time, f"{name}.time"))
    if isinstance(end, Void):
        _check_void(case, end)
        return f"void: {end.reason}, {end.in_row} in a row"
    return f"every step in time, reveal due by {opened.reveal_by}"


def _check_void(case: Case, void: Void) -> None:
    history, opened, mode = case.history, case.history.open, case.history.open.rules.entropy
    waiting = history.lock is not None and history.seal is None
    late = {"lock": history.lock is None and void.time > opened.lock_by}
    late["seal"] = history.seal is None and void.time > opened.seal_by
    late["reveal"] = void.time > opened.reveal_by
    missing_seed = history.lock is not None and len(history.seeds) < history.lock.count
    holds = {
        "operator": True,
        "deadline": any(late.values()),
        "seed_missing": mode == "two_phase" and waiting and missing_seed and late["seal"],
        "beacon_missing": mode == "beacon" and waiting and late["seal"],
    }
    if not holds[void.reason]:
        raise ProofError(f"void.reason: {void.reason} is not true of this shoe at {void.time}")
    before = case.previous
    in_row = 1 + (before.in_row if isinstance(before, Void) else 0)
    if void.in_row != in_row:
        raise ProofError(expected(f"{in_row}", void.in_row, "void.in_row"))
