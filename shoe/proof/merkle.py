"""Merkle trees of RFC 6962 §2.1: roots, inclusion and consistency paths, and their checks (protocol §1, §9).

A tree of any size is cut into *perfect* subtrees, whose hashes never change once complete, so a store only
ever adds. Where it keeps them is no concern of this module: it asks for them through one callable, once per
call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from shoe.errors import ImpossibleError, InputError, ProofError, expected
from shoe.proof.notation import sha256

HASH_BYTES: Final = 32

EMPTY_ROOT: Final = sha256(b"")
"""Root of the tree without leaves."""


@dataclass(frozen=True, slots=True)
class Node:
    """A perfect subtree of 2^level leaves, the index-th of its level; both count from 0."""

    level: int
    index: int

    @property
    def position(self) -> int:
        """Integer key ≥ 0 of the node, different for every node: (2·index + 1)·2^level − 1.

        The key of a leaf is twice its index, and a node's lies midway between those of its children.
        """
        return ((2 * self.index + 1) << self.level) - 1


ReadHashes = Callable[[Sequence[Node]], Sequence[bytes]]
"""Gives the 32-byte hashes of the nodes asked for, in the same order."""

Frontier = tuple[bytes, ...]
"""Hashes of the perfect subtrees that make up a tree, left to right: one for each 1 in its size in binary."""


class _Span(NamedTuple):
    """The leaves start … stop−1 under one node of the tree, perfect or not."""

    start: int
    stop: int


def leaf_hash(data: bytes) -> bytes:
    """Hash a leaf's bytes: H(0x00 ‖ data)."""
    return sha256(b"\x00" + data)


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hash two child hashes: H(0x01 ‖ left ‖ right)."""
    return sha256(b"\x01" + left + right)


def root(read: ReadHashes, size: int) -> bytes:
    """Compute the root of the first `size` ≥ 0 leaves: one read of O(log size) nodes."""
    return root_of_frontier(frontier(read, size), size)


def prove_inclusion(read: ReadHashes, index: int, size: int) -> tuple[bytes, ...]:
    """List the audit path of leaf `index` in the tree of `size` leaves, from the leaf's sibling upwards.

    One read of O(log size) nodes. Raises InputError unless 0 ≤ index < size. Source: RFC 6962 §2.1.1.
    """
    _check_leaf(index, size)
    return _read_spans(read, _siblings(index, size))


def prove_consistency(read: ReadHashes, old: int, new: int) -> tuple[bytes, ...]:
    """List the path that shows the first `old` leaves to be those of the tree of `new` leaves.

    One read of O(log new) nodes; empty where old is 0 or new. Raises InputError unless 0 ≤ old ≤ new.
    Source: RFC 6962 §2.1.2.
    """
    if not 0 <= old <= new:
        raise InputError(expected(f"0 ≤ old ≤ {new}", old, "old size"))
    return _read_spans(read, _consistency_spans(old, new))


def frontier_nodes(size: int) -> list[Node]:
    """List the perfect subtrees that make up the tree of `size` ≥ 0 leaves, left to right."""
    _check_size(size)
    return _perfect_nodes(_Span(0, size))


def frontier(read: ReadHashes, size: int) -> Frontier:
    """Read the frontier of the tree of `size` ≥ 0 leaves: one read of O(log size) nodes."""
    return tuple(_read(read, frontier_nodes(size)))


def root_of_frontier(hashes: Frontier, size: int) -> bytes:
    """Compute the root of the tree of `size` ≥ 0 leaves from its frontier: O(log size) hashes, no read."""
    _check_frontier(hashes, size)
    return _join(hashes) if hashes else EMPTY_ROOT


def appended_nodes(hashes: Frontier, size: int, leaf: bytes) -> tuple[list[tuple[Node, bytes]], Frontier]:
    """List the nodes that appending a leaf hash to `size` ≥ 0 leaves completes, and give the new frontier.

    The nodes come from the leaf upwards and are all that a store has to add: O(log size) hashes, no read,
    over many leaves two nodes a leaf. Raises InputError where the frontier isn't one of a tree of that
    size.
    """
    _check_frontier(hashes, size)
    _check_length(leaf, "leaf hash")
    nodes = [(Node(0, size), leaf)]
    left = list(hashes)
    node, reached = nodes[0]
    while node.index % 2 == 1:
        node, reached = Node(node.level + 1, node.index // 2), node_hash(left.pop(), reached)
        nodes.append((node, reached))
    return nodes, (*left, reached)


@dataclass(frozen=True, slots=True)
class Tree:
    """A tree held in memory, never changed: `levels[l][i]` is the hash of the perfect subtree Node(l, i)."""

    levels: tuple[tuple[bytes, ...], ...] = field(repr=False)

    @classmethod
    def of(cls, leaves: Iterable[bytes]) -> Tree:
        """Build the tree over leaves' bytes: two hashes a leaf."""
        return cls.of_hashes(leaf_hash(data) for data in leaves)

    @classmethod
    def of_hashes(cls, hashes: Iterable[bytes]) -> Tree:
        """Build the tree over leaf hashes of 32 bytes, InputError for any other: one hash a leaf."""
        level = tuple(hashes)
        for index, leaf in enumerate(level):
            _check_length(leaf, f"hash of leaf {index}")
        levels = [level]
        while len(level) > 1:
            level = tuple(map(node_hash, level[::2], level[1::2]))
            levels.append(level)
        return cls(tuple(levels))

    @property
    def size(self) -> int:
        """Number of leaves."""
        return len(self.levels[0])

    @property
    def root(self) -> bytes:
        """Root of all leaves: O(log size) hashes."""
        return root(self.read, self.size)

    def read(self, nodes: Sequence[Node]) -> list[bytes]:
        """Give the hashes of nodes: the tree as a `ReadHashes`."""
        return [self.levels[node.level][node.index] for node in nodes]

    def inclusion(self, index: int) -> tuple[bytes, ...]:
        """List the audit path of leaf `index`; InputError unless 0 ≤ index < size."""
        _check_leaf(index, self.size)
        return _read_parts(self.read, _path_in(index, self.size))

    def consistency(self, old: int) -> tuple[bytes, ...]:
        """List the consistency path from the first `old` leaves; InputError unless 0 ≤ old ≤ size."""
        return prove_consistency(self.read, old, self.size)


def root_from_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """Compute the root that an audit path leads to from a leaf hash.

    Index and size decide how many hashes the path must have and on which side each one stands; but the path
    doesn't bind the size, which has to come from a verified checkpoint. Raises ProofError for an index
    outside the tree, a path of another length or a hash that isn't 32 bytes long, and InputError for a
    negative number. Source: RFC 6962 §2.1.1.
    """
    _check_size(size)
    if index < 0:
        raise InputError(expected("a leaf index ≥ 0", index, "leaf index"))
    where = f"inclusion of leaf {index} in {size}"
    if index >= size:
        raise ProofError(expected(f"a leaf index below {size}", index, where))
    _check_hashes([leaf], f"{where}: leaf hash")
    reached = leaf
    for span, sibling in _pair(_siblings(index, size), path, where):
        reached = node_hash(sibling, reached) if span.start < index else node_hash(reached, sibling)
    return reached


def check_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> None:
    """Check that the tree with this size and root has the leaf hash at this index.

    Raises as `root_from_inclusion` does, and ProofError where the path leads to another root.
    """
    reached = root_from_inclusion(leaf, index, size, path)
    _check_root(root, reached, f"inclusion of leaf {index} in {size}: root")


def check_consistency(old: int, old_root: bytes, new: int, new_root: bytes, path: Sequence[bytes]) -> None:
    """Check that the tree of `new` leaves begins with the `old` leaves of the older tree.

    An empty old tree has `EMPTY_ROOT` and an empty path; between equal sizes the roots are equal and the
    path is empty. Raises ProofError where old > new, the path has another length, a hash isn't 32 bytes
    long or either root differs, and InputError for a negative size. Source: RFC 6962 §2.1.2.
    """
    _check_size(old)
    where = f"consistency of {old} with {new}"
    if new < old:
        raise ProofError(expected(f"a new size of at least {old}", new, where))
    _check_hashes([old_root, new_root], f"{where}: root")
    pairs = _pair(_consistency_spans(old, new), path, where)
    if old == 0:
        _check_root(EMPTY_ROOT, old_root, f"{where}: old root")
        if new > 0:
            return
    # Both roots grow from the lowest node that ends the old tree: the old root or the path's first hash.
    old_reached = new_reached = old_root
    if pairs and pairs[0][0].start < old:
        old_reached = new_reached = pairs.pop(0)[1]
    for span, sibling in pairs:
        if span.start < old:
            old_reached, new_reached = node_hash(sibling, old_reached), node_hash(sibling, new_reached)
        else:
            new_reached = node_hash(new_reached, sibling)
    _check_root(old_root, old_reached, f"{where}: old root")
    _check_root(new_root, new_reached, f"{where}: new root")


def _middle(span: _Span) -> int:
    """Where RFC 6962 splits two or more leaves: after the largest power of two below their number."""
    return span.start + (1 << (span.stop - span.start - 1).bit_length() - 1)


def _siblings(index: int, size: int) -> list[_Span]:
    """PATH of RFC 6962 §2.1.1, as spans."""
    spans, span = [], _Span(0, size)
    while span.stop - span.start > 1:
        middle = _middle(span)
        left, right = _Span(span.start, middle), _Span(middle, span.stop)
        span, sibling = (left, right) if index < middle else (right, left)
        spans.append(sibling)
    return spans[::-1]


def _consistency_spans(old: int, new: int) -> list[_Span]:
    """PROOF and SUBPROOF of RFC 6962 §2.1.2, as spans; the last step's flag b is `span.start == 0`."""
    if old == 0:
        return []
    spans, span = [], _Span(0, new)
    while span.stop > old:
        middle = _middle(span)
        left, right = _Span(span.start, middle), _Span(middle, span.stop)
        span, sibling = (left, right) if old <= middle else (right, left)
        spans.append(sibling)
    if span.start > 0:
        spans.append(span)
    return spans[::-1]


def _perfect_nodes(span: _Span) -> list[Node]:
    """Cut a span into perfect subtrees, largest first: its start is a multiple of the largest."""
    nodes, start = [], span.start
    while start < span.stop:
        level = (span.stop - start).bit_length() - 1
        nodes.append(Node(level, start >> level))
        start += 1 << level
    return nodes


def _join(hashes: Sequence[bytes]) -> bytes:
    """Root over perfect subtrees of falling size."""
    *rest, joined = hashes
    for left in reversed(rest):
        joined = node_hash(left, joined)
    return joined


def _read(read: ReadHashes, nodes: Sequence[Node]) -> Sequence[bytes]:
    hashes = read(nodes)
    if [len(found) for found in hashes] != [HASH_BYTES] * len(nodes):
        raise ImpossibleError(expected(f"{len(nodes)} hashes of 32 bytes", hashes, "node store"))
    return hashes


def _read_spans(read: ReadHashes, spans: Sequence[_Span]) -> tuple[bytes, ...]:
    return _read_parts(read, [_perfect_nodes(span) for span in spans])


@lru_cache(maxsize=4096)
def _path_in(index: int, size: int) -> list[list[Node]]:
    """The nodes of an audit path, kept: every shoe of a table has a tree of the same size."""
    return [_perfect_nodes(span) for span in _siblings(index, size)]


def _read_parts(read: ReadHashes, parts: Sequence[Sequence[Node]]) -> tuple[bytes, ...]:
    hashes = iter(_read(read, [node for part in parts for node in part]))
    return tuple(_join([next(hashes) for _ in part]) for part in parts)


def _pair(spans: list[_Span], path: Sequence[bytes], where: str) -> list[tuple[_Span, bytes]]:
    if len(path) != len(spans):
        raise ProofError(expected(f"a path of {len(spans)} hashes", len(path), where))
    _check_hashes(path, f"{where}: hash of the path")
    return list(zip(spans, path, strict=True))


def _check_hashes(hashes: Sequence[bytes], where: str) -> None:
    for found in hashes:
        if len(found) != HASH_BYTES:
            raise ProofError(expected("32 bytes", found, where))


def _check_root(root: bytes, reached: bytes, where: str) -> None:
    if reached != root:
        raise ProofError(expected(root.hex(), reached.hex(), where))


def _check_length(found: bytes, where: str) -> None:
    if len(found) != HASH_BYTES:
        raise InputError(expected("32 bytes", found, where))


def _check_leaf(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise InputError(expected(f"0 ≤ index < {size}", index, "leaf index"))


def _check_size(size: int) -> None:
    if size < 0:
        raise InputError(expected("a size ≥ 0", size, "tree size"))


def _check_frontier(hashes: Frontier, size: int) -> None:
    _check_size(size)
    if len(hashes) != size.bit_count():
        raise InputError(expected(f"{size.bit_count()} hashes", len(hashes), f"frontier of {size} leaves"))
