"""The tree made anew from the records' bytes, slice by slice, and every stored node held against it (protocol §9).

A slice is 1,024 leaves that lie under one node of level 10. A node's position lies midway between its children's, so
the nodes in a slice are one run of positions, and before each run lies the one node above whose middle it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from api.db.tables import LeafRow, LogNodeRow
from api.integrity.complaints import MOST, Complaints
from shoe.errors import expected
from shoe.proof.merkle import (
    HASH_BYTES,
    Frontier,
    Node,
    Tree,
    appended_nodes,
    frontier,
    frontier_nodes,
    leaf_hash,
    node_hash,
    root_of_frontier,
)

HEIGHT: Final = 10
WIDTH: Final = 1 << HEIGHT
"""Leaves in a whole slice."""

_UNKNOWN: Final = bytes(HASH_BYTES)


class Leaf(NamedTuple):
    """A row of the log's leaves."""

    log_index: int
    record: bytes
    type: str
    shoe: str | None
    seq: int | None


@dataclass(frozen=True, slots=True)
class Slice:
    """The leaves start … stop−1 as they are stored, and the nodes at the positions between, one before included."""

    start: int
    stop: int
    leaves: Sequence[Leaf]
    nodes: Mapping[int, bytes]


def read_slice(session: Session, start: int, size: int) -> Slice:
    """Read the slice that begins at a multiple of 1,024, of a log of `size` leaves: two queries.

    What is no bytes, as SQLite would keep it, is left out like what is not there.
    """
    stop = min(start + WIDTH, size)
    leaves = session.execute(
        select(LeafRow.log_index, LeafRow.record, LeafRow.type, LeafRow.shoe, LeafRow.seq)
        .where(LeafRow.log_index >= start, LeafRow.log_index < stop)
        .order_by(LeafRow.log_index)
    )
    return Slice(start, stop, [Leaf(*row) for row in leaves if isinstance(row[1], bytes)], _read_nodes(session, start))


def _read_nodes(session: Session, start: int) -> dict[int, bytes]:
    first, last = 2 * start - 1, 2 * (start + WIDTH) - 2
    query = select(LogNodeRow.position, LogNodeRow.hash).where(LogNodeRow.position.between(max(first, 0), last))
    return {position: stored for position, stored in session.execute(query)}  # noqa: C416  # a row is no pair


def read_nodes(session: Session, nodes: Iterable[Node]) -> dict[int, bytes]:
    """Read what is stored of O(log size) nodes, by position: one query; a node that isn't stored is left out."""
    positions = [node.position for node in nodes]
    query = select(LogNodeRow.position, LogNodeRow.hash).where(LogNodeRow.position.in_(positions))
    return {position: stored for position, stored in session.execute(query)}  # noqa: C416  # as above


def missing_nodes(nodes: Iterable[Node], stored: Mapping[int, bytes]) -> Iterator[str]:
    """Say which of the nodes that must be there are not, or hold no hash."""
    for node in nodes:
        found = stored.get(node.position)
        if found is None or len(found) != HASH_BYTES:
            yield expected("a hash of 32 bytes", found, describe(node.position))


def node_at(position: int) -> Node:
    """Find the node of an integer key ≥ 0; the inverse of `Node.position`."""
    level = ((position + 1) & -(position + 1)).bit_length() - 1
    return Node(level, (position + 1) >> (level + 1))


class TreeCheck:
    """Walks the log from its first leaf on, or from a later slice whose frontier is taken on trust.

    What is wrong is complained of once, where it is: not again at every node above. Holds one slice and O(log size)
    hashes.
    """

    def __init__(self, complaints: Complaints, start: int = 0, trusted: Mapping[int, bytes] | None = None) -> None:
        """Begin at a multiple of 1,024 leaves, with the stored hashes by position that `ancestry` names for it."""
        self._complaints, self.place = complaints, start
        self._start, self._tree = start, Tree.of_hashes(())
        ahead = {node.position for node in _awaited(start)}
        self._waiting = {position: found for position, found in (trusted or {}).items() if position in ahead}
        self._seen = {position: found for position, found in (trusted or {}).items() if position not in ahead}
        self._known = dict(self._seen)

    def take(self, part: Slice) -> None:
        """Go on by the slice that begins where the walk stands."""
        self._start, self._tree = part.start, Tree.of_hashes(self._leaf_hashes(part))
        computed = _positions(self._tree, part.start)
        if part.start and (above := part.nodes.get(2 * part.start - 1)) is not None:
            self._waiting[2 * part.start - 1] = above
        stored = {position: found for position, found in part.nodes.items() if position >= 2 * part.start}
        if computed != stored:
            self._compare(computed, stored, stored)
        if part.stop - part.start == WIDTH:
            self._complete(part.start, stored)
        self.place = part.stop

    def frontier(self, size: int) -> Frontier:
        """Give the frontier of the first `size` leaves: in the slice that was taken last, or at either end of it."""
        return frontier(self._read, size)

    def root(self, size: int) -> bytes:
        """Give the root of the first `size` leaves, which end as `frontier` has it."""
        return root_of_frontier(self.frontier(size), size)

    def finish(self, session: Session, size: int) -> None:
        """Complain of stored nodes that no log of `size` leaves has."""
        beyond = select(LogNodeRow.position, LogNodeRow.hash).where(
            or_(LogNodeRow.position < 0, LogNodeRow.position > max(2 * size - 2, 2 * (self._start + WIDTH) - 2))
        )
        rows = session.execute(beyond.order_by(LogNodeRow.position).limit(MOST + 1)).all()
        for position, stored in [*self._waiting.items(), *rows]:
            self._surplus(position, stored)

    def _leaf_hashes(self, part: Slice) -> Iterable[bytes]:
        if len(part.leaves) == part.stop - part.start:
            return [leaf_hash(leaf.record) for leaf in part.leaves]
        records = {leaf.log_index: leaf.record for leaf in part.leaves}
        return [
            leaf_hash(records[index]) if index in records else self._missing(index, part.nodes.get(2 * index))
            for index in range(part.start, part.stop)
        ]

    def _missing(self, index: int, stored: bytes | None) -> bytes:
        self._complaints.add(expected("a record", None, f"leaf {index}"))
        return stored if stored is not None and len(stored) == HASH_BYTES else _UNKNOWN

    def _complete(self, start: int, stored: Mapping[int, bytes]) -> None:
        """Go up from a whole slice, to the nodes whose last leaf it has: a tree of slices, 10 levels higher."""
        before = frontier_nodes(start)
        over = tuple(self._known[node.position] for node in before)
        (top, *made), _ = appended_nodes(over, start >> HEIGHT, self._tree.levels[HEIGHT][0])
        position = Node(HEIGHT, top[0].index).position
        computed = {Node(node.level + HEIGHT, node.index).position: found for node, found in made}
        reached = {each: self._waiting.pop(each) for each in computed if each in self._waiting}
        self._seen |= reached
        if position in stored:
            self._seen[position] = stored[position]
        if computed != reached:
            self._compare(computed, reached, self._seen)
        ends = {node.position for node in (*before, *frontier_nodes(start + WIDTH))}
        known = {**self._known, **computed, position: top[1]}
        self._known = {each: found for each, found in known.items() if each in ends}
        self._seen = {each: found for each, found in self._seen.items() if each in ends}

    def _compare(
        self, computed: Mapping[int, bytes], stored: Mapping[int, bytes], beneath: Mapping[int, bytes]
    ) -> None:
        for position, wanted in computed.items():
            got = stored.get(position)
            if got != wanted and not _follows(position, got, beneath):
                self._complaints.differ(wanted, got, describe(position))
        for position in sorted(stored.keys() - computed.keys()):
            self._surplus(position, stored[position])

    def _surplus(self, position: int, stored: bytes) -> None:
        self._complaints.add(expected("none, for the log does not fill it", stored.hex(), describe(position)))

    def _read(self, nodes: Sequence[Node]) -> list[bytes]:
        return [self._hash(node) for node in nodes]

    def _hash(self, node: Node) -> bytes:
        within = node.index - (self._start >> node.level)
        if node.level < len(self._tree.levels) and within >= 0:
            return self._tree.levels[node.level][within]
        return self._known[node.position]


def ancestry(start: int) -> list[Node]:
    """List the nodes that a walk from a multiple of 1,024 leaves takes on trust: O(log start)."""
    return [*frontier_nodes(start), *_awaited(start)]


def describe(position: int) -> str:
    """Say where a stored node is."""
    if position < 0:
        return f"node at position {position}"
    node = node_at(position)
    place = f"node at level {node.level}, index {node.index} (position {position})"
    return place if node.level else f"leaf {node.index}: {place}"


def _awaited(start: int) -> list[Node]:
    """The nodes above a later slice that are stored before it: their middle lies before it, their end after."""
    above = [Node(level, start >> level) for level in range(HEIGHT + 1, start.bit_length() + 1)]
    return [node for node in above if node.position < 2 * start - 1]


def _positions(tree: Tree, start: int) -> dict[int, bytes]:
    """A slice's nodes by position, leaves first."""
    found: dict[int, bytes] = {}
    for level, hashes in enumerate(tree.levels):
        first, apart = 2 * start + (1 << level) - 1, 2 << level
        found.update(zip(range(first, first + apart * len(hashes), apart), hashes, strict=True))
    return found


def _follows(position: int, got: bytes | None, stored: Mapping[int, bytes]) -> bool:
    """Whether a node is right about the two stored below it, so that what is wrong is further down."""
    half = (1 << node_at(position).level) >> 1
    left, right = stored.get(position - half), stored.get(position + half)
    return half > 0 and got is not None and left is not None and right is not None and node_hash(left, right) == got
