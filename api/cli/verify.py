"""``fairshoe verify``: a shoe's bundle checked offline, with what the caller knows from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import click

from api.beacon import signature_checker
from api.cli.inputs import joined, parse_log_keys, parse_witness_keys, read_by, read_file, read_text
from api.cli.output import BadInput, examples, json_option, print_object, print_text
from api.world import print_time, real_world
from shoe.errors import InputError
from shoe.proof.checkpoint import parse_checkpoint
from shoe.proof.forms import parse_time
from shoe.proof.note import VerifierKey, parse_note
from shoe.proof.tlog import Receipt, parse_receipt
from shoe.proof.verify import Check, Evidence, HeldCheckpoint, Verification, verify_bundle

PASSED: Final = ("verified", "consistent", "void")
"""The verdicts that exit with 0."""

_COLOURS: Final = {"VALID": "green", "INVALID": "red", "UNVERIFIABLE": "yellow"}

Keys = tuple[tuple[VerifierKey, ...], ...]


@click.command(
    epilog=examples(
        "fairshoe verify bundle.json --vkey vkey",
        "fairshoe verify bundle.json --vkey vkey --receipt entropy.receipt --receipt lock.receipt",
        "fairshoe verify - --vkey vkey --json < bundle.json",
    )
)
@click.argument("bundle", metavar="BUNDLE")
@click.option("--vkey", multiple=True, metavar="VKEY", callback=read_by(parse_log_keys),
              help="The log's key, or a file that holds it; may be repeated. Nothing is proved without.")  # fmt: skip
@click.option("--receipt", "receipts", multiple=True, metavar="FILE",
              help="A receipt that you hold; may be repeated.")  # fmt: skip
@click.option("--checkpoint", metavar="FILE", help="An older checkpoint of the log that you hold.")
@click.option("--held-since", metavar="TIME", callback=read_by(parse_time),
              help="Since when you hold it, as 2026-01-31T09:30:00.000000Z.")  # fmt: skip
@click.option("--witness", multiple=True, metavar="VKEY", callback=read_by(parse_witness_keys),
              help="The key of a witness that you trust, or a file that holds it; may be repeated.")  # fmt: skip
@click.option("--now", metavar="TIME", callback=read_by(parse_time), help="The time to judge by; now, if not given.")
@json_option
def verify(
    *,
    bundle: str,
    vkey: Keys,
    receipts: tuple[str, ...],
    checkpoint: str | None,
    held_since: str | None,
    witness: Keys,
    now: str | None,
    as_json: bool,
) -> int:
    """Verify a shoe's bundle.

    BUNDLE is a file, or - for standard input. Exits with 0 for the verdicts verified, consistent and void, with 1 for
    overdue, incomplete and invalid. A beacon's signature is checked where py-ecc is installed.
    """
    evidence = Evidence(
        vkeys=joined(vkey),
        receipts=tuple(map(_read_receipt, receipts)),
        held=_read_held(checkpoint, held_since),
        witnesses=joined(witness),
        now=now or print_time(real_world().now()),
        check_signature=signature_checker(),
    )
    verification = verify_bundle(read_file(bundle), evidence)
    if as_json:
        print_object(verification.to_json())
    else:
        print_text(*_report(verification))
    return 0 if verification.verdict in PASSED else 1


def _read_receipt(name: str) -> Receipt:
    try:
        return parse_receipt(read_text(name))
    except InputError as error:
        raise BadInput(f"--receipt {name}: {error}; give a receipt as the service sent it") from None


def _read_held(name: str | None, since: str | None) -> HeldCheckpoint | None:
    if name is None:
        if since is not None:
            raise BadInput("--held-since: expected --checkpoint with it, for it says since when you hold that one")
        return None
    text = read_text(name)
    try:
        parse_checkpoint(parse_note(text).text)
    except InputError as error:
        raise BadInput(f"--checkpoint {name}: {error}; give a checkpoint as the service sent it") from None
    return HeldCheckpoint(text, since)


def _report(verification: Verification) -> Iterable[str]:
    fairness = verification.fairness or "nothing can be said of its fairness"
    yield f"Verdict   {click.style(verification.verdict, bold=True)}"
    yield f"Fairness  {fairness}"
    yield f"Why       {verification.why}"
    yield ""
    yield from map(_check_line, verification.checks)


def _check_line(check: Check) -> str:
    status = click.style(f"{check.status:12}", fg=_COLOURS[check.status])
    return f"{status}  {check.name:12}  {check.detail}"
