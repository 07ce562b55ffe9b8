"""Receipts that were handed in, as players hold them: whether the log kept what each of them promised."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from api.beside import describe
from api.log import prove_extension, read_records
from audit.records.plan import Plan
from audit.records.wrong import Fault, Looked
from shoe.errors import FairshoeError, expected
from shoe.proof.checkpoint import Checkpoint
from shoe.proof.merkle import check_consistency
from shoe.proof.note import parse_vkey
from shoe.proof.records import Coup, ShoeRecord, parse_record
from shoe.proof.tlog import Receipt, check_receipt


def check_receipts(session: Session, plan: Plan, receipts: Sequence[Receipt]) -> Looked:
    """Hold each receipt against the log under the plan's head: one read of some 20 hashes and a record each.

    One that no key of the log has signed proves nothing, and is unverified; any other is the log's own word.
    """
    looked, vkeys = Looked(), [parse_vkey(vkey) for vkey in (*plan.vkeys, *plan.retired)]
    for number, receipt in enumerate(receipts, 1):
        looked.at["receipts"] += 1
        try:
            index, checkpoint = check_receipt(receipt, vkeys, plan.log)
        except FairshoeError as error:
            looked.add(_fault(number, receipt, f"it proves nothing: {describe(error)}", unverified=True))
            continue
        if (wrong := _broken(session, plan, receipt, index, checkpoint)) is not None:
            looked.add(_fault(number, receipt, wrong))
    return looked


def _broken(session: Session, plan: Plan, receipt: Receipt, index: int, checkpoint: Checkpoint) -> str | None:
    """Say how the log does not keep what a good receipt promised, None where it does."""
    if checkpoint.size > plan.size:
        return expected(f"a log of {checkpoint.size} records or more, as it signed", plan.size, "head")
    try:
        path = prove_extension(session, checkpoint.size, plan.size)
        check_consistency(checkpoint.size, checkpoint.root, plan.size, plan.root, path)
    except (FairshoeError, KeyError) as error:
        said = "nodes of the tree are missing" if isinstance(error, KeyError) else describe(error)
        return f"the log does not extend the checkpoint over {checkpoint.size} that it signed: {said}"
    if (held := read_records(session, [index]).get(index)) != receipt.record:
        return expected("the record that it shows", "another" if held else "none", "the log's record")
    return None


def _fault(number: int, receipt: Receipt, wrong: str, *, unverified: bool = False) -> Fault:
    """Place a fault by the record that the receipt shows, if that can be read."""
    shoe = coup = None
    try:
        record = parse_record(receipt.record)
        shoe = record.shoe if isinstance(record, ShoeRecord) else None
        coup = record.number if isinstance(record, Coup) else None
    except FairshoeError as error:
        wrong += f"; its record can't be read: {describe(error)}"
    return Fault("receipts", f"receipt {number}: {wrong}", shoe, coup, receipt.proof.index, unverified)
