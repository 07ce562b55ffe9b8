"""What a start looks at before anything may be signed: O(log size) nodes, and the end of the log from its bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from api.beside import describe
from api.db import triggers
from api.db.sessions import Store, out_of_reach
from api.db.tables import LogHeadRow, SigningKeyRow
from api.integrity.complaints import Complaints
from api.integrity.durability import durability_complaints
from api.integrity.head import checkpoint_complaints, size_before, size_complaints, tree_complaints
from api.integrity.keys import KeyHistory
from api.integrity.leaves import LeafCheck
from api.integrity.pinned import Held, look_at, pin_complaints
from api.integrity.tree import WIDTH, TreeCheck, ancestry, missing_nodes, read_nodes, read_slice
from api.keyring import ACTIVE
from api.log import CLOCK_TOLERANCE_S, HEAD, Log, clock_behind, holds_nothing
from api.pin import Pin
from api.settings import SetupError
from api.vault import Vault, of_signing_key
from api.world import World, print_time, seconds_after
from shoe.errors import InputError, expected
from shoe.proof.checkpoint import Checkpoint
from shoe.proof.merkle import frontier_nodes
from shoe.proof.note import SignerKey, VerifierKey, parse_vkey

REHASHED_WHOLE: Final = 32_768
"""A log of up to so many leaves is recomputed whole."""

REHASHED: Final = 4_096
PARSED: Final = 1_024
"""Of every other log, so many leaves at the end are recomputed, and so many of these parsed."""

PINNED: Final = "pinned checkpoint"

FAULTS: Final = 8
"""Faults told at most: they stand in every refusal."""


@dataclass(frozen=True, slots=True)
class View:
    """What the checks look at: one snapshot of the database, and what lies outside of it."""

    session: Session
    head: LogHeadRow
    origin: str
    vault: Vault
    now: str
    held: Held

    @property
    def keys(self) -> list[SigningKeyRow]:
        """The log's keys in the order in which it added them."""
        return list(self.session.scalars(select(SigningKeyRow).order_by(SigningKeyRow.log_index)))

    @property
    def known(self) -> list[VerifierKey]:
        """The verifier keys of all of them, whatever became of them."""
        return [parse_vkey(row.vkey) for row in self.keys]


Check = Callable[[View], Iterator[str]]


class Start(NamedTuple):
    """What a start found: why nothing may be signed, and the head that it looked at, size and signed checkpoint."""

    faults: tuple[str, ...]
    size: int = 0
    checkpoint: str = ""


def check_start(store: Store, log: Log, world: World, pin: Pin, checks: Mapping[str, Check] | None = None) -> Start:
    """Look for what is wrong: a fault is a sentence that says what, where, what was expected and what is there.

    `checks` are all of `CHECKS` unless others are given. Costs O(log size) reads and a bounded number of leaves. Raises
    DBAPIError where the database can't be reached.
    """
    complaints, held = Complaints(FAULTS), look_at(pin)
    with store.reading() as session:
        head = session.get(LogHeadRow, HEAD)
        if head is None:
            return Start(("log_head: expected one row, got none.",))
        view = View(session, head, log.origin, log.keyring.vault, print_time(world.now()), held)
        for name, check in (CHECKS if checks is None else checks).items():
            try:
                for wrong in check(view):
                    complaints.add(wrong)
            except DBAPIError as error:
                if out_of_reach(error):
                    raise
                complaints.add(f"check of the {name}: {describe(error)}")
                break  # on PostgreSQL the transaction answers no more
            except Exception as error:  # noqa: BLE001  # what is stored may be anything, and no start may fail on it
                complaints.add(f"check of the {name}: {describe(error)}")
        return Start(complaints.sentences(), head.size, head.checkpoint)


def refuse_second_log(session: Session, store: Store, pin: Pin) -> None:
    """Raise SetupError where a log was pinned, but the database holds nothing of one: no start may found another."""
    held = look_at(pin)
    if (held.text or held.fault) and holds_nothing(session):
        what = f"{store.name}: the database is empty, but {pin.path} holds a checkpoint of the log that was in it"
        raise SetupError(f"{what}; restore a backup, or begin a new log in another folder")


def _check_head(view: View) -> Iterator[str]:
    yield from size_complaints(view.session, view.head)
    nodes = frontier_nodes(view.head.size)
    stored = read_nodes(view.session, nodes)
    lacking = list(missing_nodes(nodes, stored))
    yield from lacking or tree_complaints(view.head, tuple(stored[node.position] for node in nodes))


def _check_checkpoint(view: View) -> Iterator[str]:
    head = view.head
    before = size_before(view.session, head.size) or head.size
    due = [parse_vkey(row.vkey) for row in view.keys if row.status == ACTIVE and row.log_index < before]
    wanted = Checkpoint(view.origin, head.size, head.root)
    return checkpoint_complaints(view.session, head, wanted, due, view.known)


def _check_end(view: View) -> Iterator[str]:
    """Recompute the end of the log, or all of a short one, from the records' bytes."""
    size, complaints = view.head.size, Complaints()
    start = 0 if size <= REHASHED_WHOLE else max(size - REHASHED, 0) // WIDTH * WIDTH
    parsed = max(size - PARSED, 0) // WIDTH * WIDTH
    trusted = read_nodes(view.session, ancestry(start))
    lacking = list(missing_nodes(frontier_nodes(start), trusted))
    if lacking:
        yield from lacking
        return
    tree = TreeCheck(complaints, start, trusted)
    leaves = LeafCheck(complaints, view.origin, first=parsed, strict=True)
    for place in range(start, size, WIDTH):
        part = read_slice(view.session, place, size)
        if not part.leaves:
            yield expected(f"{size} leaves", place, "leaves")
            break
        tree.take(part)
        for leaf in part.leaves if place >= parsed else ():
            leaves.take(leaf)
    else:
        tree.finish(view.session, size)
        complaints.differ(leaves.time, view.head.time, "log_head: time")
    yield from complaints.sentences()


def _check_guards(view: View) -> Iterator[str]:
    return iter(triggers.complaints(view.session.connection()))


def _check_durability(view: View) -> Iterator[str]:
    return durability_complaints(view.session.connection())


def _check_clock(view: View) -> Iterator[str]:
    if seconds_after(view.now, CLOCK_TOLERANCE_S) < view.head.time:
        yield clock_behind(view.now, view.head.time)


def _check_keys(view: View) -> Iterator[str]:
    history, wrong = KeyHistory.read(view.session)
    yield from wrong
    yield from history.differences(view.keys)
    active = [row for row in view.keys if row.status == ACTIVE]
    for row in active:
        yield from _seed_complaints(view.vault, row)
    if not active:
        yield expected("at least one active key", "none", "signing_keys")


def _seed_complaints(vault: Vault, row: SigningKeyRow) -> Iterator[str]:
    """The vault must open an active key's seed, and the seed give the verifier key that the row says."""
    where = f"signing_keys: {row.vkey}: seed"
    try:
        # A rotation may have begun since the row was read: a former key is good too.
        seed = vault.open(row.sealed_seed, of_signing_key(row.vkey))
        key = SignerKey.from_seed(parse_vkey(row.vkey).name, seed)
    except (SetupError, InputError) as error:
        yield f"{where}: {error}"
        return
    if str(key.vkey) != row.vkey:
        yield expected(f"the seed of {row.vkey}", f"that of {key.vkey}", where)


def _check_pin(view: View) -> Iterator[str]:
    return pin_complaints(view.session, view.head, view.held, view.origin, view.known)


CHECKS: Final[Mapping[str, Check]] = {
    "head": _check_head,
    "checkpoint": _check_checkpoint,
    "end of the log": _check_end,
    "triggers": _check_guards,
    "durability": _check_durability,
    "clock": _check_clock,
    "keys": _check_keys,
    PINNED: _check_pin,
}
"""All that a start checks, by name, in the order in which it does."""

WHILE_RUNNING: Final = {name: CHECKS[name] for name in ("head", "checkpoint", "triggers", "durability", PINNED)}
"""Those that hold at every moment and cost next to nothing; a key may be rotated between two looks."""
