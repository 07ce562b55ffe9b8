"""``fairshoe certify``: a table and its shuffler, held against the exact law over as many shoes as wanted."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars

from api.cli.emit import STREAMS, Stream, emit
from api.cli.inputs import parse_secret, read_by, read_file, whole
from api.cli.output import BadInput, EnvironmentFault, columns, examples, json_option, note, print_object, print_text
from api.cli.outside import PROGRAMS, outside_listing, outside_object, run_outside
from api.cli.sizes import parse_power, print_sizes
from api.cli.workers import workforce
from api.newfile import replace_file
from audit.battery import MAX_SHOES
from audit.findings import MOST_BYTES, Findings, find
from audit.health import START_BYTES, HealthError, HealthMonitor
from audit.kernel import prepare
from audit.plan import Plan, make_plan, parse_plan
from audit.run import Progress, run
from shoe.errors import InputError, expected
from shoe.game.houses import House, house
from shoe.proof.canonical import parse_object
from shoe.proof.notation import sha256

PLAN: Final = "plan.json"
CHECKPOINT: Final = "checkpoint.npz"
FINDINGS: Final = "findings.json"
MAX_WORKERS: Final = 1024


@click.command(
    epilog=examples(
        "fairshoe certify --table np_punto_banco --power .9",
        "fairshoe certify --table np_punto_banco --shoes 100000",
        "fairshoe certify --table np_punto_banco --shoes 1200000 --workers 2 --out certificate --json",
        "fairshoe certify --confirm certificate --out confirmation",
        "fairshoe certify --table np_punto_banco --shoes 1000000 --emit raw | rngtest -c 1000",
    )
)
@click.option("--table", metavar="NAME", callback=read_by(house), help="The preset to certify.")
@click.option("--shoes", metavar="N", callback=read_by(whole(1, MAX_SHOES)),
              help="Shoes (or coups, where each is shuffled anew) of the batch path.")  # fmt: skip
@click.option("--workers", metavar="W", callback=read_by(whole(1, MAX_WORKERS)),
              help="Processes to work with; as many as there are processors, if not given.")  # fmt: skip
@click.option("--seed", metavar="HEX", callback=read_by(parse_secret),
              help="32 bytes that all keys come from; fresh ones of the operating system, if not given.")  # fmt: skip
@click.option("--scheduler", metavar="ADDRESS", help="Work on the Dask cluster of this scheduler instead.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Keep plan, checkpoint and findings there; the same command again goes on.")  # fmt: skip
@click.option("--confirm", "first", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
              help="Instead of --table and --shoes: the one confirmation of the failed findings in DIR.")  # fmt: skip
@click.option("--power", metavar="P", callback=read_by(parse_power),
              help="Deal nothing: print the sample that each fault needs to be caught with this power.")  # fmt: skip
@click.option("--outside", multiple=True, type=click.Choice(tuple(PROGRAMS)),
              help="Afterwards run this program, where installed, on the keystream; not in the findings.")  # fmt: skip
@click.option("--emit", "stream", type=click.Choice(STREAMS),
              help="Judge nothing: write keystream, bounded draws or cards to standard output.")  # fmt: skip
@json_option
def certify(
    *,
    table: House | None,
    shoes: int | None,
    workers: int | None,
    seed: bytes | None,
    scheduler: str | None,
    out: Path | None,
    first: Path | None,
    power: float | None,
    outside: tuple[str, ...],
    stream: Stream | None,
    as_json: bool,
) -> int:
    """Certify a table by its own shuffler.

    Fixes a plan and prints its hash before the first shoe, deals both by the batch and by the path of production, and
    judges all named checks together at 99 % by Holm's rule. The findings are a function of the plan: the same bytes on
    one process, on many, and after an interruption.
    """
    if power is not None:
        _show_sizes(table, power, as_json, others=(shoes, first, stream, out))
        return 0
    if workers is not None and scheduler is not None:
        raise BadInput("--workers and --scheduler: expected one of them, for a cluster has its own workers")
    if stream is not None and (as_json or out is not None or outside):
        raise BadInput("--emit: expected neither --json nor --out nor --outside, for nothing is judged")
    plan = _plan(_planner(table, shoes, first), seed, out)
    note(f"plan {plan.hash.hex()}")
    note(f"seed {plan.seed.hex()}")
    prepare(note)
    if stream is not None:
        emit(plan, stream)
        return 0
    began = monotonic()
    findings = _certify(plan, workers, scheduler, out)
    seconds = monotonic() - began
    beside = run_outside(plan, outside)
    if as_json:
        print_object(_object(findings, seconds) | ({"outside": outside_object(beside)} if beside else {}))
    else:
        print_text(*_listing(findings, seconds), *(outside_listing(beside) if beside else []))
    return 0 if findings.passed else 1


def _show_sizes(table: House | None, power: float, as_json: bool, others: tuple[object, ...]) -> None:
    if table is None or any(other is not None for other in others):
        raise BadInput("--power: expected --table beside it and nothing that deals, for no shoe is dealt")
    print_sizes(table, power, as_json=as_json)


def _planner(table: House | None, shoes: int | None, first: Path | None) -> Callable[[bytes], Plan]:
    """Say what plan follows from a seed: the whole battery, or the confirmation of a failed run."""
    if first is None and table is not None and shoes is not None:
        return lambda seed: make_plan(table.name, table.rules, shoes, seed)
    if first is None or table is not None or shoes is not None:
        raise BadInput("--table, --shoes, --confirm: expected the first two, or the last alone")
    try:
        plan = parse_plan(read_file(str(first / PLAN)))
        text = read_file(str(first / FINDINGS))
        printed: Any = parse_object(text, MOST_BYTES)
        if printed.get("plan_hash") != plan.hash.hex():
            raise InputError(expected(f"findings of plan {plan.hash.hex()}", printed.get("plan_hash"), FINDINGS))
        failed = tuple(printed["failed"])
        plan.confirm(failed, sha256(text), sha256(plan.seed))  # refused here and not where a seed is drawn
    except (InputError, KeyError, TypeError) as error:
        raise BadInput(f"{first}: {error}; give the folder of a certification that failed") from None
    return lambda seed: plan.confirm(failed, sha256(text), seed)


def _plan(planned: Callable[[bytes], Plan], seed: bytes | None, out: Path | None) -> Plan:
    """Make the plan, or take up the one in `out`; it is on the disk before this returns."""
    kept = None if out is None else out / PLAN
    if kept is not None and kept.exists():
        return _plan_again(kept, planned, seed)
    plan = planned(fresh_seed() if seed is None else seed)
    if kept is not None:
        _write(kept, plan.to_bytes())
    return plan


def _plan_again(kept: Path, planned: Callable[[bytes], Plan], seed: bytes | None) -> Plan:
    try:
        plan = parse_plan(read_file(str(kept)))
        asked = planned(plan.seed if seed is None else seed)
    except InputError as error:
        raise BadInput(f"{kept}: {error}; choose another folder with --out") from None
    if asked.hash != plan.hash:
        raise BadInput(
            f"{kept}: expected plan {asked.hash.hex()}, got {plan.hash.hex()}, that of another table, number of shoes, "
            "seed or version; choose another folder with --out"
        )
    return plan


def fresh_seed(source: Callable[[int], bytes] = secrets.token_bytes) -> bytes:
    """Draw 32 bytes from the operating system, watched by the health tests of `audit.health`.

    Raises EnvironmentFault where they find the source dead.
    """
    monitor = HealthMonitor()
    try:
        monitor.start(source(START_BYTES))
        return monitor.check(source(32))
    except HealthError as error:
        raise EnvironmentFault(f"the operating system's randomness is not healthy: {error}") from None


def _certify(plan: Plan, workers: int | None, scheduler: str | None, out: Path | None) -> Findings:
    checkpoint = None if out is None else out / CHECKPOINT
    try:
        with workforce(workers, scheduler) as hands, _bar() as progress:
            counts = run(plan, hands.executor, checkpoint=checkpoint, progress=progress, abreast=hands.abreast)
    except KeyboardInterrupt:
        note("")
        note(_where_it_stands(out))
        raise
    except BrokenExecutor:
        raise EnvironmentFault(f"a worker process died; {_where_it_stands(out)}") from None
    except OSError as error:
        raise EnvironmentFault(f"{error.filename or out}: {error.strerror or error}") from None
    note("judging")
    findings = find(plan, counts)
    if out is not None:
        _write(out / FINDINGS, findings.to_bytes())
    return findings


def _where_it_stands(out: Path | None) -> str:
    if out is None:
        return "nothing was kept, for there is no --out"
    return f"what is done is kept in {out / CHECKPOINT}: the same command goes on from there"


def _write(path: Path, content: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    except OSError as error:
        raise EnvironmentFault(
            f"{error.filename or path}: {error.strerror}; choose another folder with --out"
        ) from None


@contextmanager
def _bar() -> Iterator[Callable[[Progress], None]]:
    """Show progress on standard error: blocks, coups, rate and time left; nothing where it is no terminal."""
    parts = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[words]}"))
    console = Console(stderr=True, highlight=False)
    with Bars(*parts, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("certify", total=None, words="")

        def show(progress: Progress) -> None:
            bars.update(task, completed=progress.done, total=progress.total, words=_words(progress))

        yield show


def _words(progress: Progress) -> str:
    left = "" if progress.left_s is None else f", {progress.left_s:.0f} s left"
    return f"blocks, {progress.coups:,} coups, {progress.coups_per_s:,.0f} a second{left}"


def _object(findings: Findings, seconds: float) -> dict[str, Any]:
    """Give the object that ``certify --json`` prints; all else is in findings.json."""
    return {
        "plan_hash": findings.plan.hash.hex(),
        "findings_hash": findings.hash.hex(),
        "verdict": "pass" if findings.passed else "fail",
        "coups": findings.coups,
        "seconds": round(seconds, 3),
        "checks": [
            {
                **{key: check[key] for key in ("name", "statistic", "dof", "n", "p", "p_adjusted", "rejected")},
                "effect": check["effect"],
            }
            for check in findings.to_json()["checks"]
        ],
        "seed": findings.plan.seed.hex(),
        "failed": list(findings.verdict.rejected),
    }


_SHOWN: Final = 10


def _listing(findings: Findings, seconds: float) -> Iterable[str]:
    plan = findings.plan
    yield from columns(
        [
            ("table", plan.table),
            ("plan", plan.hash.hex()),
            ("findings", findings.hash.hex()),
            ("shoes", f"{plan.batch.shoes:,} by the batch path, {plan.production.shoes:,} by that of production"),
            ("coups", f"{findings.coups:,}, of which {findings.judged_coups:,} judged"),
            ("time", f"{seconds:.1f} s"),
        ],
        "<<",
    )
    yield from ("", f"The {_SHOWN} smallest p-values of {len(findings.checks)}:")
    statistics = {check.name: check for check in findings.checks}
    rows = [
        (check.name, f"{statistics[check.name].statistic:.6g}", f"{check.p:.6g}", f"{float(check.adjusted):.6g}")
        for check in findings.verdict.checks[:_SHOWN]
    ]
    yield from columns([("check", "statistic", "p", "adjusted"), *rows], "<>>>")
    yield from ("", click.style(findings.words, fg="green" if findings.passed else "red"))
