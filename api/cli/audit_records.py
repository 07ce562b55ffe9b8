"""``fairshoe audit`` of this installation's own records: what the service's audits do, at once, and nothing kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from api.audits.planning import make_audit_plan
from api.audits.work import Work
from api.beacon import signature_checker
from api.cases.regulating import Opened
from api.cli.database import database
from api.cli.inputs import read_text
from api.cli.output import BadInput, EnvironmentFault, columns, print_object, print_text
from api.db.sessions import Store
from api.log import holds_nothing
from api.newfile import replace_file
from api.pin import Pin
from api.refusals import Refusal
from audit.records.findings import Findings
from shoe.errors import NoteError
from shoe.proof.tlog import Receipt, parse_receipt

_EXAMPLES: Final = 10


def audit_records(
    *,
    table: str | None,
    since: str | None,
    until: str | None,
    receipts: Sequence[str],
    findings_file: Path | None,
    as_json: bool,
) -> int:
    """Audit the ended shoes opened at a table (any, without one) from a time on, before a time; give the exit code.

    `receipts` are files of receipts to hold against the log; the canonical findings are written to `findings_file`.
    Works on the installation of the environment, while servers run, and only reads it. 0 for a pass, 1 for anything
    else. Raises BadInput for a table that isn't there, times in the wrong order and what is no receipt,
    EnvironmentFault where there is no log, and where the file can't be written.
    """
    if since is not None and until is not None and since >= until:
        raise BadInput(f"--to: expected a time after {since}, got {until}")
    handed_in = tuple(map(_read_receipt, receipts))
    with database() as (settings, store):
        pinned = Pin(settings.pinned).read()
        findings = _audit(store, Opened(table, since, until), pinned, handed_in)
    printed = findings.to_json()
    if findings_file is not None:
        _write(findings_file, findings.to_bytes())
    if as_json:
        print_object(_object(findings, printed))
    else:
        print_text(*_lines(printed))
    return 0 if findings.verdict == "pass" else 1


def _write(path: Path, content: bytes) -> None:
    try:
        replace_file(path, content)
    except OSError as error:
        raise EnvironmentFault(f"{path}: {error.strerror}; name a file that can be written with --findings") from None


def _read_receipt(name: str) -> Receipt:
    try:
        return parse_receipt(read_text(name))
    except NoteError as error:
        raise BadInput(f"{name}: {error}; give a receipt as the service gave it") from None


def _audit(store: Store, scope: Opened, pinned: str | None, receipts: Sequence[Receipt]) -> Findings:
    with store.reading() as session:
        if holds_nothing(session):
            raise EnvironmentFault(f"{store.name}: there is no log in it; the first start of the service makes one")
        try:
            plan = make_audit_plan(session, scope, pinned, receipts)
        except Refusal as error:
            raise BadInput(f"{error} Name one that is there.") from None
    work = Work(plan, signature_checker(), receipts)
    console = Console(stderr=True, highlight=False)
    parts = (BarColumn(), MofNCompleteColumn(), TextColumn("shoes"))
    with Bars(*parts, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("audit", total=plan.shoes)
        while not work.ended:
            with store.reading() as session:
                work.step(session)
            bars.update(task, completed=work.done)
    return work.find()


def _object(findings: Findings, printed: Mapping[str, Any]) -> dict[str, Any]:
    """Give the findings with what `fairshoe audit --json` has of any audit: shoes, coups, violations by kind."""
    violations = {
        each["name"]: {"count": each["wrong"], "examples": each["faults"]}
        for each in printed["records"]
        if each["wrong"]
    }
    return {
        "verdict": findings.verdict,
        "shoes": printed["shoes"]["ended"],
        "coups": findings.judged_coups,
        "violations": violations,
        "checks": printed["checks"],
        "findings_hash": findings.hash.hex(),
        "findings": printed,
    }


def _lines(printed: Mapping[str, Any]) -> Iterator[str]:
    shoes = printed["shoes"]
    yield printed["verdict_in_words"]
    yield ""
    yield (
        f"{shoes['ended']} ended shoes, {shoes['void']} of them void, {shoes['waiting']} not ended; "
        f"{printed['judged_coups']} coups judged; {printed['books']['unused']} unused seeds of ended books"
    )
    yield ""
    rows = [(each["name"], each["looked_at"], each["wrong"], each["unverified"]) for each in printed["records"]]
    yield from columns([("records", "looked at", "wrong", "unverified"), *rows], "<>>>")
    for each in printed["records"]:
        for fault in each["faults"][:_EXAMPLES]:
            yield f"  {each['name']}: {_where(fault)}{fault['detail']}"
    if printed["checks"]:
        yield ""
        tests = [(each["name"], each["n"], each["p"], each["p_adjusted"]) for each in printed["checks"]]
        yield from columns([("check", "n", "p", "adjusted"), *tests], "<>>>")
    for place, stratum in enumerate(printed["strata"]):
        if stratum["live_returns"]:
            yield ""
            names = ("bet", "bets", "staked_minor", "returned_minor", "return_decimal", "low", "high", "exact_decimal")
            laid = [tuple(line[name] for name in names) for line in stratum["live_returns"]]
            head = (f"laid at terms {place}", "bets", "staked", "returned", "return", "low", "high", "exact")
            yield from columns([head, *laid], "<>>>>>>>")


def _where(fault: Mapping[str, Any]) -> str:
    named = (("shoe", fault["shoe"]), ("coup", fault["coup"]), ("log index", fault["index"]))
    where = ", ".join(f"{name} {value}" for name, value in named if value is not None)
    return f"{where}: " if where else ""
