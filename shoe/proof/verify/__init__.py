"""The verifier: every check and verdict of protocol §10, without network or database.

It decides everything (algorithm, size, key); a proof is only hashes, and nothing in a bundle is believed. The log's
keys come from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from shoe.errors import BundleError, InputError, ProofError
from shoe.proof.bundle import Bundle, parse_bundle
from shoe.proof.records import Void
from shoe.proof.verify import chain, log, opening, play
from shoe.proof.verify.case import Case, Evidence, HeldCheckpoint
from shoe.proof.verify.fairness import judge_fairness
from shoe.proof.verify.result import ADVISORY, Check, Fairness, Missing, NotYet, Verdict, Verification

__all__ = ["CHECKS", "Check", "Evidence", "HeldCheckpoint", "Verification", "verify_bundle"]

CheckFunction = Callable[[Case], str]

CHECKS: Final[dict[str, CheckFunction]] = {
    "record_bytes": chain.check_record_bytes,
    "record_chain": chain.check_record_chain,
    "order": chain.check_order,
    "book": opening.check_book,
    "index": opening.check_index,
    "entropy": opening.check_entropy,
    "lock": opening.check_lock,
    "beacon": opening.check_beacon,
    "seal": opening.check_seal,
    "composition": play.check_composition,
    "deck_root": play.check_deck_root,
    "openings": play.check_openings,
    "positions": play.check_positions,
    "tableau": play.check_tableau,
    "outcome": play.check_outcome,
    "cut_card": play.check_cut_card,
    "deadlines": chain.check_deadlines,
    "commitment": opening.check_commitment,
    "shuffle": play.check_shuffle,
    "bets": play.check_bets,
    "receipts": log.check_receipts,
    "inclusion": log.check_log_inclusion,
    "checkpoint": log.check_log_checkpoint,
    "consistency": log.check_log_consistency,
    "witnesses": log.check_witnesses,
}
"""Every check but `format`, which comes first, in the protocol's order."""


def verify_bundle(source: Bundle | str | bytes | Mapping[str, Any], evidence: Evidence) -> Verification:
    """Verify a bundle with what the caller knows from elsewhere; never raises for anything in the bundle.

    A whole eight-deck shoe takes some ten thousand hashes. Source: protocol §10.
    """
    try:
        bundle = source if isinstance(source, Bundle) else parse_bundle(source)
    except BundleError as error:
        rest = (Check(name, "UNVERIFIABLE", "needs a bundle of the right form") for name in CHECKS)
        return Verification("invalid", None, str(error), (Check("format", "INVALID", str(error)), *rest))
    case = Case(bundle, evidence)
    shape = Check("format", "VALID", f"{len(bundle.records)} records")
    checks = (shape, *(_run(name, check, case) for name, check in CHECKS.items()))
    return _judge(case, checks)


def _run(name: str, check: CheckFunction, case: Case) -> Check:
    try:
        return Check(name, "VALID", check(case))
    except NotYet as why:
        return Check(name, "UNVERIFIABLE", str(why), applies=False)
    except Missing as what:
        return Check(name, "UNVERIFIABLE", f"missing: {what}")
    except (ProofError, InputError) as error:
        return Check(name, "INVALID", str(error))


def _judge(case: Case, checks: tuple[Check, ...]) -> Verification:
    wrong = [check for check in checks if check.status == "INVALID"]
    if wrong:
        why = "; ".join(f"{check.name}: {check.detail}" for check in wrong)
        return Verification("invalid", None, why, checks)
    fairness, reason = judge_fairness(case, {check.name: check.status for check in checks})
    undecided = [c for c in checks if c.status == "UNVERIFIABLE" and c.applies and c.name not in ADVISORY]
    if undecided:
        lacking = "; ".join(f"{check.name}: {check.detail}" for check in undecided)
        at_most: Fairness = "contributed" if fairness == "provably_fair" else fairness
        return Verification("incomplete", at_most, f"not all of it can be checked: {lacking}", checks)
    verdict, state = _verdict(case)
    return Verification(verdict, fairness, f"{state}; {reason}", checks)


def _verdict(case: Case) -> tuple[Verdict, str]:
    history, now = case.history, case.evidence.now
    if history.end is not None:
        if isinstance(history.end, Void):
            return "void", f"the shoe was given up: {history.end.reason}"
        return "verified", "every card follows from seeds fixed before the first bet"
    steps = (
        ("lock", history.lock, history.open.lock_by),
        ("seal", history.seal, history.open.seal_by),
        ("reveal", None, history.open.reveal_by),
    )
    for name, step, deadline in steps:
        if now is not None and step is None and now > deadline:
            return "overdue", f"the {name} was due by {deadline}"
    return "consistent", "all that is shown so far holds; the shoe is still in play"
