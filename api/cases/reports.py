"""Reports in the log: which plan was carried out and what came of it, by hash."""

from __future__ import annotations

from api.writing import Finish, Step, Writing
from shoe.proof.records import Report
from shoe.proof.tlog import Receipt


def log_report(kind: str, plan_hash: bytes, findings_hash: bytes) -> Step[Receipt]:
    """Log that findings came of a plan; `kind` says of what, such as ``certification``."""

    def step(writing: Writing) -> Finish[Receipt]:
        writing.add(Report(kind=kind, plan_hash=plan_hash, findings_hash=findings_hash, **writing.stamp()))
        return lambda receipts: receipts[0]

    return step
