"""``fairshoe log``: the log checked from its bytes, and proofs from it; reads, and works beside a running service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import click
from alembic.runtime.migration import MigrationContext
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bars
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.cli.database import database
from api.cli.group import Group, Listed
from api.cli.inputs import read_by, whole
from api.cli.output import EnvironmentFault, examples, json_option, note, print_object, print_text
from api.db.migrate import newest_revision
from api.db.sessions import Store
from api.db.tables import CheckpointRow
from api.integrity.examine import Examination, examine
from api.integrity.halt import halt, resume
from api.integrity.recompute import Show
from api.integrity.tree import read_nodes
from api.log import holds_nothing, prove_all, prove_extension, read_head, read_records
from api.permit import Permit
from api.pin import Pin
from api.settings import Settings
from api.world import print_time, real_world
from shoe.errors import InputError, ProofError, expected
from shoe.proof.checkpoint import parse_checkpoint
from shoe.proof.merkle import check_consistency, check_inclusion, frontier_nodes, leaf_hash, root_of_frontier
from shoe.proof.note import parse_note
from shoe.proof.tlog import Receipt, TlogProof, print_receipt

_NUMBER: Final = read_by(whole(0, 10**15))
_AMISS: Final = "the log's nodes don't prove it; find out what is wrong by: fairshoe log check"


@contextmanager
def _log_here() -> Iterator[tuple[Settings, Store]]:
    """Give settings and store of this environment, whose database holds a log at this version's schema."""
    with database() as (settings, store):
        with store.reading() as session:
            schema, wanted = MigrationContext.configure(session.connection()).get_current_revision(), newest_revision()
            if schema != wanted:
                what = f"{store.name}: {expected(f'schema {wanted}', schema)}"
                raise EnvironmentFault(f"{what}; run fairshoe migrate, unless it is of a newer version")
            if holds_nothing(session):
                raise EnvironmentFault(
                    f"{store.name}: there is no log in it; the first start of fairshoe serve makes one"
                )
        yield settings, store


@click.command(
    epilog=examples(
        "fairshoe log check", "FAIRSHOE_DATA=/srv/fairshoe fairshoe log check --json", "fairshoe log check --resume"
    )
)
@click.option("--resume", "resuming", is_flag=True, help="Where all is well, let signing go on, and pin the log anew.")
@json_option
def check(*, resuming: bool, as_json: bool) -> int:
    """Recompute the whole log from its records' bytes.

    Compares every node, checkpoint, signature, cosignature, chain and key that is stored, and all that a start checks;
    only reads. Where anything is wrong, it says what and where, exits with 1, and writes the file halt into the
    service's folder: from then on no process signs. --resume takes that file away where all is well, and pins the log
    as it stands where no checkpoint is pinned any more.
    """
    with _log_here() as (settings, store):
        world = real_world()
        with _bar() as show:
            found = examine(settings, store, world, show, unpinned=resuming)
        if found.complaints:
            try:
                halt(settings.halt, print_time(world.now()), found.complaints[0])
            except OSError as error:
                note(f"{settings.halt}: {error.strerror}: signing goes on")
        elif resuming:
            _resume(settings, store)
        halted = Permit(Pin(settings.pinned), settings.halt).reasons()
    if as_json:
        print_object({**_object(found), "halted": halted[0] if halted else None})
    else:
        print_text(*_lines(found), *halted)
    return 1 if found.complaints else 0


def _resume(settings: Settings, store: Store) -> None:
    pin = Pin(settings.pinned)
    done = [] if pin.read() else [f"{pin.path} pins the log as it stands"]
    with store.reading() as session:
        head = read_head(session)
        pin.keep(head.size, head.checkpoint)
    if resume(settings.halt):
        done.append(f"{settings.halt} is gone")
    for each in done:
        note(f"{each}: signing goes on, once servers that started read-only are started again")


def _object(found: Examination) -> dict[str, Any]:
    report = found.report
    return {
        "log": found.origin,
        "size": report.size,
        "root": report.root.hex(),
        "checkpoints": report.checkpoints,
        "cosignatures": report.cosignatures,
        "complaints": list(found.complaints),
        "omitted": report.omitted,
    }


def _lines(found: Examination) -> list[str]:
    report, wrong = found.report, found.complaints
    more = [f"  And {report.omitted} more."] if report.omitted else []
    return [
        f"Log {found.origin}: {report.size} records, root {report.root.hex()}",
        f"Checked: {report.checkpoints} checkpoints, {report.cosignatures} cosignatures",
        *(
            [f"Wrong: {len(wrong) + report.omitted}", *[f"  {each}" for each in wrong], *more]
            if wrong
            else ["All is well"]
        ),
    ]


@contextmanager
def _bar() -> Iterator[Show]:
    """Show progress on standard error; nothing where it is no terminal."""
    console = Console(stderr=True, highlight=False)
    parts = (BarColumn(), MofNCompleteColumn(), TextColumn("records"))
    with Bars(*parts, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("log check", total=None)
        yield lambda done, size: bars.update(task, completed=done, total=size)


@click.command(
    epilog=examples(
        "fairshoe log proof 17 > record-17.receipt",
        "fairshoe log proof 17 --size 4096 --json",
        "fairshoe log proof --from 4096 --to 8192",
    )
)
@click.argument("index", metavar="[INDEX]", required=False, callback=_NUMBER)
@click.option("--size", metavar="N", callback=_NUMBER, help="Under the checkpoint over N records; the newest without.")
@click.option("--from", "old", metavar="OLD", callback=_NUMBER, help="Prove that the log grew from OLD records.")
@click.option("--to", "new", metavar="NEW", callback=_NUMBER, help="To NEW records; to the newest checkpoint without.")
@json_option
def proof(*, index: int | None, size: int | None, old: int | None, new: int | None, as_json: bool) -> None:
    """Print a record's receipt, or a proof of growth.

    With INDEX the receipt of that record: its bytes and a C2SP tlog-proof under a checkpoint, to be checked offline.
    With --from the consistency path between two sizes, a hash a line in hex. What is printed is checked before.
    """
    receipt = index is not None
    if receipt == (old is not None) or (receipt and new is not None) or (not receipt and size is not None):
        raise click.UsageError("give INDEX [--size N], or --from OLD [--to NEW]", click.get_current_context())
    with _log_here() as (_, store), store.reading() as session:
        try:
            if index is not None:
                _print_receipt(_make_receipt(session, index, size), as_json)
            elif old is not None:
                _print_growth(session, old, new, as_json)
        except (ProofError, KeyError):
            raise EnvironmentFault(f"{store.name}: {_AMISS}") from None


def _make_receipt(session: Session, index: int, size: int | None) -> Receipt:
    text = _checkpoint(session, size)
    signed = parse_checkpoint(parse_note(text).text)
    (path,) = prove_all(session, [index], signed.size)
    record = read_records(session, [index])[index]
    check_inclusion(leaf_hash(record), index, signed.size, path, signed.root)
    return Receipt(record, TlogProof(index, path, text))


def _checkpoint(session: Session, size: int | None) -> str:
    if size is None:
        return read_head(session).checkpoint
    kept = session.get(CheckpointRow, size)
    if kept is None:
        above = session.scalar(select(func.min(CheckpointRow.size)).where(CheckpointRow.size > size))
        near = "the newest has fewer" if above is None else f"the next was signed over {above}"
        raise InputError(f"{expected('a size at which a checkpoint was signed', size, '--size')}; {near}")
    return kept.text


def _print_receipt(receipt: Receipt, as_json: bool) -> None:
    printed, made = print_receipt(receipt), receipt.proof
    if not as_json:
        print_text(printed.removesuffix("\n"))
        return
    path = [each.hex() for each in made.path]
    size = parse_checkpoint(parse_note(made.checkpoint).text).size
    record = receipt.record.decode()
    print_object({"index": made.index, "size": size, "record": record, "path": path, "checkpoint": made.checkpoint,
                  "receipt": printed})  # fmt: skip


def _print_growth(session: Session, old: int, new: int | None, as_json: bool) -> None:
    head = read_head(session).size
    new = head if new is None else new
    if new > head:
        raise InputError(expected(f"at most {head}, the log's records", new, "--to"))
    path = prove_extension(session, old, new)
    roots = [_root(session, size) for size in (old, new)]
    check_consistency(old, roots[0], new, roots[1], path)
    hashes = [each.hex() for each in path]
    if as_json:
        print_object({"old": old, "new": new, "old_root": roots[0].hex(), "new_root": roots[1].hex(), "path": hashes})
    else:
        print_text(*hashes)


def _root(session: Session, size: int) -> bytes:
    """The root of the first records: the one that was signed, where one was, else the nodes'."""
    kept = session.get(CheckpointRow, size)
    if kept is not None:
        return parse_checkpoint(parse_note(kept.text).text).root
    nodes = frontier_nodes(size)
    stored = read_nodes(session, nodes)
    return root_of_frontier(tuple(stored[node.position] for node in nodes), size)


COMMANDS: Final = {
    "check": Listed("Recompute the whole log from its records' bytes.", lambda: check),
    "proof": Listed("Print a record's receipt, or a proof of growth.", lambda: proof),
}


@click.group(cls=Group, listed=COMMANDS, epilog=examples("fairshoe log check", "fairshoe log proof 17"))
def log() -> None:
    """Check the log, and print proofs from it."""
