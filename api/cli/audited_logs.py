"""The logs that ``fairshoe audit`` is given: opened, unpacked, read piece by piece; and what they show, printed."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import IO, Final

import click

from api.beacon import signature_checker
from api.cli.inputs import STDIN, joined
from api.cli.output import BadInput, columns, print_object, print_text
from api.cli.verify import Keys
from api.world import print_time, real_world
from audit.foreign.audit import LogAudit, LogFindings
from audit.foreign.lines import BadLine
from audit.foreign.reading import Kind, LogFile
from audit.foreign.violations import KINDS
from shoe.proof.verify import Evidence

CHUNK: Final = 2**18
_GZIP: Final = b"\x1f\x8b"
_COLOURS: Final = {"pass": "green", "fail": "red", "not judged": "yellow"}
_NEEDS_SHOWN: Final = 8


def audit_logs(names: tuple[str, ...], *, decks: int, kind: Kind | None, keep: int, vkeys: Keys, as_json: bool) -> int:
    """Audit logs and print what they show; the exit code: 0 for a pass, else 1.

    Raises BadInput where one can't be opened, before any is read.
    """
    for name in names:
        _open(name).close() if name != STDIN else _stdin()
    audit = LogAudit(
        decks, Evidence(joined(vkeys), now=print_time(real_world().now()), check_signature=signature_checker()), keep
    )
    for name in names:
        _read(audit, name, kind)
    findings = audit.judge()
    if as_json:
        print_object(findings.to_json())
    else:
        print_text(*_report(findings))
    return 0 if findings.word == "pass" else 1


def _read(audit: LogAudit, name: str, kind: Kind | None) -> None:
    stream = _stdin() if name == STDIN else _open(name)
    broken: list[str] = []
    try:
        log = audit.read(name, _chunks(stream, broken), kind)
    finally:
        if name != STDIN:
            stream.close()
    for why in broken:
        log.report(BadLine(log.lines + 1, "cut_off", "the rest of the file", why))


def _chunks(stream: IO[bytes], broken: list[str]) -> Iterator[bytes]:
    """Give a stream's bytes in pieces, unpacked; where it breaks off, say why in `broken` and end."""
    try:
        source: IO[bytes] = stream
        if isinstance(stream, BufferedReader) and stream.peek(2)[:2] == _GZIP:
            source = gzip.GzipFile(fileobj=stream)  # type: ignore[assignment]
        while piece := source.read(CHUNK):
            yield piece
    except (OSError, EOFError, zlib.error) as error:
        broken.append(str(error) or type(error).__name__)


def _open(name: str) -> IO[bytes]:
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise BadInput(f"{name}: {error.strerror}; name a file that can be read, or - for standard input") from None


def _stdin() -> IO[bytes]:
    if not sys.stdin:
        raise BadInput("-: standard input is closed; name a file that can be read")
    return sys.stdin.buffer


def _report(found: LogFindings) -> Iterable[str]:
    yield from columns(
        [
            ("log", "kind", "lines", "shoes", "coups", "bad lines"),
            *(
                (
                    log.name,
                    log.kind or "unknown",
                    f"{log.lines:,}",
                    f"{log.shoes:,}",
                    f"{log.coups:,}",
                    f"{log.bad.total():,}",
                )
                for log in found.files
            ),
        ],
        "<<>>>>",
    )
    for log in found.files:
        yield from _remarks(log)
    yield from _violations(found)
    yield from _checks(found)
    yield from _power(found)
    yield ""
    yield f"Verdict  {click.style(found.word, bold=True, fg=_COLOURS[found.word])}"
    yield from (f"  {reason}" for reason in found.reasons())


def _remarks(log: LogFile) -> Iterator[str]:
    told = [f"{log.empty_lines:,} empty lines"] if log.empty_lines else []
    told += [f"{log.comments:,} comments"] if log.comments else []
    yield from (f"  {log.name}: {remark}" for remark in [*told, *log.remarks])
    for bad in log.bad_examples:
        yield f"  {log.name}:{bad.line}: {bad.kind}: expected {bad.expected}: {bad.found}"
    if (more := log.bad.total() - len(log.bad_examples)) > 0:
        yield f"  {log.name}: and {more:,} bad lines more"


def _violations(found: LogFindings) -> Iterator[str]:
    for kind in KINDS:
        examples = found.ledger.examples(kind)
        if not found.ledger.count(kind):
            continue
        yield from ("", found.ledger.words(kind))
        for (of, sort), count in sorted(found.ledger.counts.items()):
            if of != kind:
                continue
            yield f"  {sort.replace('_', ' ')}: {count:,}"
            for each in examples:
                if each.sort == sort:
                    yield f"    {each.place}: expected {each.expected}, got {each.found}"


def _checks(found: LogFindings) -> Iterator[str]:
    if found.verdict is None:
        return
    adjusted = {check.name: check for check in found.verdict.checks}
    rows = [
        (
            check.name,
            f"{check.n:,}",
            f"{check.statistic:.6g}",
            check.p_text if check.p < 1e-6 else f"{check.p:.4g}",
            "fails" if adjusted[check.name].rejected else "passes",
        )
        for check in found.judged.checks
    ]
    yield ""
    yield from columns([("check", "n", "statistic", "p", "Holm at .01"), *rows], "<>>>>")
    yield from (f"not made: {each.name}: {each.why}" for each in found.judged.not_made)
    yield f"The cut card, where these coups end at one, raises chi-square over the rule classes by {found.bias():.2g}"


def _power(found: LogFindings) -> Iterator[str]:
    if not found.needs:
        return
    reached = [need for need in found.needs if need.reached]
    rest = [need for need in found.needs if not need.reached]
    yield ""
    yield f"Of {len(found.needs)} faults nine of ten logs of this size would show {len(reached)}" + (
        ":" if rest else ""
    )
    if reached:
        hardest = reached[-1]
        yield f"  the hardest of them: {hardest.words}, in {hardest.coups:,} coups by {hardest.shown_by}"
    for need in rest[:_NEEDS_SHOWN]:
        coups = "never" if need.coups is None else f"only in {need.coups:,} coups"
        yield f"  not shown: {need.words}: {coups}, by {need.shown_by}"
    if len(rest) > _NEEDS_SHOWN:
        yield f"  and {len(rest) - _NEEDS_SHOWN} more that need more coups"
