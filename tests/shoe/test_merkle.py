"""Merkle trees against the figures of transparency-dev/merkle and a recursive reading of RFC 6962.

`tests/vectors/merkle.json` holds the published leaves, roots and paths, and the published mutations of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoe.errors import ImpossibleError, InputError, ProofError
from shoe.proof.merkle import (
    EMPTY_ROOT,
    Frontier,
    Node,
    Tree,
    appended_nodes,
    check_consistency,
    check_inclusion,
    frontier,
    leaf_hash,
    node_hash,
    prove_consistency,
    prove_inclusion,
    root,
    root_from_inclusion,
    root_of_frontier,
)
from tests.reference import merkle_reference as reference

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "merkle.json").read_text())
LEAVES = [bytes.fromhex(leaf) for leaf in VECTORS["leaves"]]
ROOTS = [bytes.fromhex(text) for text in (VECTORS["empty_root"], *VECTORS["roots"])]

LARGEST = 70
DATA = [f"leaf {index}".encode() for index in range(LARGEST)]
TREE = Tree.of(DATA)
TREES = [Tree.of(DATA[:size]) for size in range(LARGEST + 1)]


def hashes(texts: Sequence[str]) -> tuple[bytes, ...]:
    return tuple(map(bytes.fromhex, texts))


def flipped(data: bytes, bit: int) -> bytes:
    return (int.from_bytes(data, "big") ^ (1 << bit)).to_bytes(len(data), "big")


def altered(path: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    """Every path with one bit flipped, one hash dropped, repeated or put in, or two exchanged."""
    at = range(len(path))
    flips = [(*path[:i], flipped(path[i], bit), *path[i + 1 :]) for i in at for bit in range(256)]
    drops = [path[:i] + path[i + 1 :] for i in at]
    repeats = [path[: i + 1] + path[i:] for i in at]
    additions = [(*path[:i], EMPTY_ROOT, *path[i:]) for i in range(len(path) + 1)]
    swaps = []
    for i, j in combinations(at, 2):
        swap = list(path)
        swap[i], swap[j] = path[j], path[i]
        swaps.append(tuple(swap))
    return flips + drops + repeats + additions + swaps


class Store:
    """Nodes as a database keeps them, under their positions, counting the reads."""

    def __init__(self) -> None:
        self.kept: dict[int, bytes] = {}
        self.reads: list[list[Node]] = []

    def read(self, nodes: Sequence[Node]) -> list[bytes]:
        self.reads.append(list(nodes))
        return [self.kept[node.position] for node in nodes]


def filled_store(size: int) -> Store:
    store = Store()
    edge: Frontier = ()
    for index in range(size):
        nodes, edge = appended_nodes(edge, index, leaf_hash(b"%d" % index))
        store.kept.update((node.position, found) for node, found in nodes)
    return store


@pytest.mark.parametrize("size", range(9))
def test_roots_are_those_of_transparency_dev(size: int) -> None:
    assert Tree.of(LEAVES[:size]).root == ROOTS[size]


def test_the_empty_root_is_the_hash_of_nothing() -> None:
    assert Tree.of([]).root == EMPTY_ROOT == root(TREE.read, 0) == ROOTS[0]


@pytest.mark.parametrize("case", VECTORS["inclusion"], ids=lambda case: f"{case['index']} of {case['size']}")
def test_audit_paths_are_those_of_transparency_dev(case: dict[str, Any]) -> None:
    index, size, path = case["index"], case["size"], hashes(case["path"])
    assert Tree.of(LEAVES[:size]).inclusion(index) == path
    assert prove_inclusion(Tree.of(LEAVES).read, index, size) == path
    check_inclusion(leaf_hash(LEAVES[index]), index, size, path, ROOTS[size])


@pytest.mark.parametrize("case", VECTORS["consistency"], ids=lambda case: f"{case['old']} to {case['new']}")
def test_consistency_paths_are_those_of_transparency_dev(case: dict[str, Any]) -> None:
    old, new, path = case["old"], case["new"], hashes(case["path"])
    assert Tree.of(LEAVES[:new]).consistency(old) == path
    assert prove_consistency(Tree.of(LEAVES).read, old, new) == path
    check_consistency(old, ROOTS[old], new, ROOTS[new], path)


@pytest.mark.parametrize("case", VECTORS["refused_inclusion"], ids=lambda case: case["name"])
def test_audit_paths_that_transparency_dev_refuses(case: dict[str, Any]) -> None:
    leaf, path, claimed = bytes.fromhex(case["leaf_hash"]), hashes(case["path"]), bytes.fromhex(case["root"])
    with pytest.raises(ProofError, match=f"^inclusion of leaf {case['index']} in {case['size']}: .*{case['says']}"):
        check_inclusion(leaf, case["index"], case["size"], path, claimed)


@pytest.mark.parametrize("case", VECTORS["refused_consistency"], ids=lambda case: case["name"])
def test_consistency_paths_that_transparency_dev_refuses(case: dict[str, Any]) -> None:
    old_root, new_root = bytes.fromhex(case["old_root"]), bytes.fromhex(case["new_root"])
    with pytest.raises(ProofError, match=f"^consistency of {case['old']} with {case['new']}: .*{case['says']}"):
        check_consistency(case["old"], old_root, case["new"], new_root, hashes(case["path"]))


@pytest.mark.parametrize("size", range(LARGEST + 1))
def test_roots_and_audit_paths_agree_with_the_recursive_definition(size: int) -> None:
    expected_root = reference.mth(DATA[:size])
    assert TREES[size].root == root(TREE.read, size) == expected_root
    for index in range(size):
        path = prove_inclusion(TREE.read, index, size)
        assert path == TREES[size].inclusion(index) == tuple(reference.path(index, DATA[:size]))
        assert root_from_inclusion(leaf_hash(DATA[index]), index, size, path) == expected_root


@pytest.mark.parametrize("new", range(1, LARGEST + 1))
def test_consistency_paths_agree_with_the_recursive_definition(new: int) -> None:
    for old in range(1, new + 1):
        path = prove_consistency(TREE.read, old, new)
        assert path == TREES[new].consistency(old) == tuple(reference.proof(old, DATA[:new]))
        check_consistency(old, TREES[old].root, new, TREES[new].root, path)


@pytest.mark.parametrize("new", [0, 1, 8, 70])
def test_every_tree_begins_with_the_empty_one(new: int) -> None:
    assert prove_consistency(TREE.read, 0, new) == ()
    check_consistency(0, EMPTY_ROOT, new, TREES[new].root, ())


@pytest.mark.parametrize("case", VECTORS["nodes_of_inclusion"], ids=lambda case: f"{case['index']} of {case['size']}")
def test_an_audit_path_reads_the_published_nodes_at_once(case: dict[str, Any]) -> None:
    store = filled_store(case["size"])
    prove_inclusion(store.read, case["index"], case["size"])
    assert [{(node.level, node.index) for node in read} for read in store.reads] == [set(map(tuple, case["nodes"]))]


@pytest.mark.parametrize("case", VECTORS["nodes_of_consistency"], ids=lambda case: f"{case['old']} to {case['new']}")
def test_a_consistency_path_reads_the_published_nodes_at_once(case: dict[str, Any]) -> None:
    store = filled_store(case["new"])
    prove_consistency(store.read, case["old"], case["new"])
    assert [{(node.level, node.index) for node in read} for read in store.reads] == [set(map(tuple, case["nodes"]))]


def test_positions_number_a_perfect_tree_in_order() -> None:
    # service.md's key, ((2·i + 1) << level) − 1, written as counting: in-order, left child, node, right child.
    def in_order(level: int, index: int) -> list[Node]:
        if level == 0:
            return [Node(0, index)]
        return [*in_order(level - 1, 2 * index), Node(level, index), *in_order(level - 1, 2 * index + 1)]

    assert [node.position for node in in_order(10, 0)] == list(range(2**11 - 1))
    assert Node(3, 5).position == ((2 * 5 + 1) << 3) - 1 == 87


def test_appending_completes_the_nodes_of_the_tree_and_no_others() -> None:
    kept: dict[Node, bytes] = {}
    edge: Frontier = ()
    for size, data in enumerate(DATA):
        assert edge == frontier(TREE.read, size)
        assert root_of_frontier(edge, size) == TREES[size].root
        nodes, edge = appended_nodes(edge, size, leaf_hash(data))
        assert [node.level for node, _ in nodes] == list(range(len(nodes)))
        assert not kept.keys() & dict(nodes).keys()
        kept.update(nodes)
    levels = TREE.levels
    assert kept == {Node(at, i): found for at, level in enumerate(levels) for i, found in enumerate(level)}


def test_paths_from_a_store_keyed_by_position() -> None:
    store = filled_store(45)
    for index in range(45):
        path = prove_inclusion(store.read, index, 45)
        check_inclusion(leaf_hash(b"%d" % index), index, 45, path, root(store.read, 45))


def invented(nodes: Sequence[Node]) -> list[bytes]:
    """Hashes for trees too large to build: the verifiers only ever combine them."""
    return [node.position.to_bytes(32, "big") for node in nodes]


@given(size=st.integers(1, 2**62), data=st.data())
@settings(deadline=None)
def test_inclusion_is_checked_as_rfc_9162_does_up_to_the_largest_log(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    path, leaf = prove_inclusion(invented, index, size), leaf_hash(b"")
    below = (index ^ (size - 1)).bit_length()
    assert len(path) == below + (index >> below).bit_count()
    assert root_from_inclusion(leaf, index, size, path) == reference.climb_inclusion(index, size, leaf, path)


@given(new=st.integers(2, 2**62), data=st.data())
@settings(deadline=None)
def test_consistency_is_checked_as_rfc_9162_does_up_to_the_largest_log(new: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, new - 1) | st.sampled_from([1 << at for at in range((new - 1).bit_length())]))
    path = prove_consistency(invented, old, new)
    power = old.bit_count() == 1
    roots = reference.climb_consistency(old, new, (leaf_hash(b""), *path) if power else path)
    assert roots is not None
    check_consistency(old, roots[0], new, roots[1], path)


@pytest.mark.parametrize(("index", "size"), [(0, 1), (0, 2), (2, 3), (5, 13), (12, 13), (31, 32), (32, 33)])
def test_any_alteration_of_an_audit_path_is_refused(index: int, size: int) -> None:
    leaf, path, claimed = leaf_hash(DATA[index]), TREES[size].inclusion(index), TREES[size].root
    check_inclusion(leaf, index, size, path, claimed)
    for wrong in altered(path):
        with pytest.raises(ProofError, match=f"^inclusion of leaf {index} in {size}: "):
            check_inclusion(leaf, index, size, wrong, claimed)
    for bit in range(256):
        with pytest.raises(ProofError, match="root: expected"):
            check_inclusion(flipped(leaf, bit), index, size, path, claimed)
        with pytest.raises(ProofError, match="root: expected"):
            check_inclusion(leaf, index, size, path, flipped(claimed, bit))


@pytest.mark.parametrize(("old", "new"), [(1, 2), (2, 3), (4, 7), (6, 13), (8, 13), (12, 13), (31, 64)])
def test_any_alteration_of_a_consistency_path_is_refused(old: int, new: int) -> None:
    old_root, new_root, path = TREES[old].root, TREES[new].root, TREES[new].consistency(old)
    check_consistency(old, old_root, new, new_root, path)
    for wrong in altered(path):
        with pytest.raises(ProofError, match=f"^consistency of {old} with {new}: "):
            check_consistency(old, old_root, new, new_root, wrong)
    for bit in range(256):
        with pytest.raises(ProofError, match="root: expected"):
            check_consistency(old, flipped(old_root, bit), new, new_root, path)
        with pytest.raises(ProofError, match="new root: expected"):
            check_consistency(old, old_root, new, flipped(new_root, bit), path)


def test_a_leaf_is_nowhere_but_at_its_index_and_in_its_tree() -> None:
    for size in range(1, 25):
        for index in range(size):
            leaf, path = leaf_hash(DATA[index]), TREES[size].inclusion(index)
            for other in set(range(size)) - {index}:
                with pytest.raises(ProofError, match=f"^inclusion of leaf {other} in {size}: "):
                    check_inclusion(leaf, other, size, path, TREES[size].root)
            for other in set(range(25)) - {size}:
                with pytest.raises(ProofError, match=f"^inclusion of leaf {index} in {other}: "):
                    check_inclusion(leaf, index, other, path, TREES[other].root)


def test_a_consistency_path_serves_no_other_sizes() -> None:
    for new in range(1, 20):
        for old in range(1, new):
            path = TREES[new].consistency(old)
            for other in set(range(20)) - {old}:
                with pytest.raises(ProofError, match=f"^consistency of {other} with {new}: "):
                    check_consistency(other, TREES[other].root, new, TREES[new].root, path)
            for other in set(range(20)) - {new}:
                with pytest.raises(ProofError, match=f"^consistency of {old} with {other}: "):
                    check_consistency(old, TREES[old].root, other, TREES[other].root, path)


def test_a_path_does_not_bind_the_size_so_the_checkpoint_must() -> None:
    # Why size and root only ever come together, from a signature: with the root of 5 leaves, 6 passes as well.
    check_inclusion(leaf_hash(DATA[0]), 0, 6, TREES[5].inclusion(0), TREES[5].root)
    with pytest.raises(ProofError, match=r"^inclusion of leaf 0 in 6: root: expected"):
        check_inclusion(leaf_hash(DATA[0]), 0, 6, TREES[5].inclusion(0), TREES[6].root)


def test_an_empty_tree_has_one_root() -> None:
    with pytest.raises(ProofError, match=r"^consistency of 0 with 0: new root: expected"):
        check_consistency(0, EMPTY_ROOT, 0, TREES[1].root, ())


def test_bytes_cannot_move_from_one_hash_to_the_next() -> None:
    # The node's bytes are the same, wherever the cut between left and right falls: only the lengths tell.
    left, right = (leaf_hash(data) for data in DATA[:2])
    for cut in (31, 33):
        moved = left + right
        assert node_hash(moved[:cut], moved[cut:]) == TREES[2].root
        with pytest.raises(ProofError, match=r"^inclusion of leaf 0 in 2: leaf hash: expected 32 bytes"):
            check_inclusion(moved[:cut], 0, 2, (moved[cut:],), TREES[2].root)
        with pytest.raises(ProofError, match=r"^inclusion of leaf 0 in 2: hash of the path: expected 32 bytes"):
            check_inclusion(left, 0, 2, (moved[cut:],), TREES[2].root)


def test_a_node_never_passes_as_a_leaf() -> None:
    left, right = (leaf_hash(data) for data in DATA[:2])
    assert Tree.of([left + right]).root != Tree.of(DATA[:2]).root == node_hash(left, right)


@pytest.mark.parametrize(
    ("old", "old_root", "new", "path", "says"),
    [
        (0, TREES[1].root, 0, (), "old root: expected"),
        (0, TREES[1].root, 4, (), "old root: expected"),
        (0, EMPTY_ROOT, 4, (EMPTY_ROOT,), "expected a path of 0 hashes, got 1"),
        (1, TREES[1].root, 2, (b"x" * 31,), "hash of the path: expected 32 bytes"),
        (4, TREES[4].root, 4, (EMPTY_ROOT,), "expected a path of 0 hashes, got 1"),
        (4, TREES[3].root, 4, (), "new root: expected"),
        (5, TREES[5].root, 4, (), "expected a new size of at least 5, got 4"),
        (3, TREES[3].root, 4, (), "expected a path of 3 hashes, got 0"),
        (4, b"", 4, (), "root: expected 32 bytes, got b''"),
    ],
)
def test_the_verifier_alone_decides_what_a_trivial_path_proves(
    old: int, old_root: bytes, new: int, path: tuple[bytes, ...], says: str
) -> None:
    with pytest.raises(ProofError, match=f"^consistency of {old} with {new}: {says}"):
        check_consistency(old, old_root, new, TREES[new].root, path)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (1, 1), (8, 8), (9, 8), (2**64 - 1, 1)])
def test_an_index_outside_the_tree_proves_nothing(index: int, size: int) -> None:
    with pytest.raises(ProofError, match=f"expected a leaf index below {size}, got {index}"):
        check_inclusion(leaf_hash(b""), index, size, (), EMPTY_ROOT)
    with pytest.raises(InputError, match=f"^leaf index: expected 0 ≤ index < {size}, got {index}"):
        prove_inclusion(TREE.read, index, size)


def test_negative_numbers_are_the_callers_fault() -> None:
    leaf = leaf_hash(b"")
    with pytest.raises(InputError, match=r"^leaf index: expected a leaf index ≥ 0, got -1"):
        root_from_inclusion(leaf, -1, 3, ())
    with pytest.raises(InputError, match=r"^tree size: expected a size ≥ 0, got -3"):
        check_inclusion(leaf, 0, -3, (), leaf)
    with pytest.raises(InputError, match=r"^tree size: expected a size ≥ 0, got -1"):
        check_consistency(-1, EMPTY_ROOT, 3, leaf, ())
    with pytest.raises(InputError, match=r"^old size: expected 0 ≤ old ≤ 3, got -1"):
        prove_consistency(TREE.read, -1, 3)
    with pytest.raises(InputError, match=r"^old size: expected 0 ≤ old ≤ 3, got 4"):
        TREES[3].consistency(4)
    with pytest.raises(InputError, match=r"^leaf index: expected 0 ≤ index < 3, got -1"):
        TREES[3].inclusion(-1)
    with pytest.raises(InputError, match=r"^tree size: expected a size ≥ 0, got -1"):
        root(TREE.read, -1)


@pytest.mark.parametrize("size", [0, 1, 3, 6])
def test_a_frontier_of_another_size_is_refused(size: int) -> None:
    wrong = (EMPTY_ROOT,) * (size.bit_count() + 1)
    with pytest.raises(InputError, match=f"^frontier of {size} leaves: expected {size.bit_count()} hashes"):
        appended_nodes(wrong, size, EMPTY_ROOT)
    with pytest.raises(InputError, match=f"^frontier of {size} leaves: expected {size.bit_count()} hashes"):
        root_of_frontier(wrong, size)


@pytest.mark.parametrize("wrong", [b"", b"x" * 31, b"x" * 33])
def test_a_leaf_hash_of_another_length_is_refused(wrong: bytes) -> None:
    with pytest.raises(InputError, match=r"^leaf hash: expected 32 bytes"):
        appended_nodes((), 0, wrong)
    with pytest.raises(InputError, match=r"^hash of leaf 1: expected 32 bytes"):
        Tree.of_hashes([EMPTY_ROOT, wrong])


@pytest.mark.parametrize("answer", [[], [EMPTY_ROOT] * 4, [EMPTY_ROOT, EMPTY_ROOT, b"short"]])
def test_a_store_that_answers_wrongly_is_our_fault(answer: list[bytes]) -> None:
    with pytest.raises(ImpossibleError, match=r"^node store: expected 3 hashes of 32 bytes"):
        prove_inclusion(lambda _: answer, 1, 8)


def test_a_tree_shows_no_leaves_and_cannot_be_changed() -> None:
    assert repr(TREE) == "Tree()"
    with pytest.raises(AttributeError):
        TREE.levels = ()  # type: ignore[misc]
