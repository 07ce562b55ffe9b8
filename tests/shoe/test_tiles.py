"""Tiles against the examples of C2SP and tessera, RFC 6962 read slowly, and the proofs of a tree held in memory.

`tests/vectors/tiles.json` says where each published path comes from.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoe.errors import InputError, NoteError, ProofError
from shoe.proof.merkle import (
    EMPTY_ROOT,
    Frontier,
    Node,
    Tree,
    appended_nodes,
    check_inclusion,
    leaf_hash,
    prove_consistency,
    prove_inclusion,
    root,
)
from shoe.proof.tiles import (
    EntryBundle,
    Tile,
    has_tile,
    hash_reader,
    parse_entries,
    parse_hashes,
    parse_tile_path,
    print_entries,
    print_hashes,
    tile_width,
    tiles_of,
)
from tests.reference import merkle_reference as reference

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "tiles.json").read_text())

DATA = [f"leaf {index}".encode() for index in range(1100)]
TREE = Tree.of(DATA)

WIDTHS = st.integers(1, 256)
INDICES = st.integers(0, 2**63 - 1)
RESOURCES = st.builds(Tile, st.integers(0, 63), INDICES, WIDTHS) | st.builds(EntryBundle, INDICES, WIDTHS)


@cache
def large_tree() -> Tree:
    """A tree with tiles of level 2."""
    return Tree.of_hashes(leaf_hash(b"%d" % index) for index in range(66_000))


def server(tree: Tree) -> Callable[[Tile], bytes]:
    return lambda tile: print_hashes(tree.read(tile.nodes))


def of_place(level: int | None, index: int, width: int) -> Tile | EntryBundle:
    return EntryBundle(index, width) if level is None else Tile(level, index, width)


# --- paths -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", VECTORS["paths"], ids=lambda case: case["path"])
def test_published_paths(case: dict[str, Any]) -> None:
    resource = of_place(case["level"], case["index"], case["width"])
    assert parse_tile_path(case["path"]) == resource
    assert resource.path == case["path"]


@pytest.mark.parametrize("path", VECTORS["refused"])
def test_paths_that_tessera_refuses(path: str) -> None:
    with pytest.raises(NoteError, match=r"^(path|tile|tile level|tile index): expected"):
        parse_tile_path(path)


@pytest.mark.parametrize("case", VECTORS["served"], ids=lambda case: f"{case['path']} of {case['size']}")
def test_the_published_widths_in_trees_of_a_size(case: dict[str, Any]) -> None:
    width = tile_width(case["size"], case["level"] or 0, case["index"])
    assert of_place(case["level"], case["index"], width).path == case["path"]


@given(RESOURCES)
def test_every_path_reads_back(resource: Tile | EntryBundle) -> None:
    assert parse_tile_path(resource.path) == resource


@given(st.from_regex(r"tile/(entries|[0-9]{1,3})/(x?[0-9]{2,4}/?){1,3}(\.p/?[0-9]{0,3})?", fullmatch=True))
def test_what_is_read_prints_back(path: str) -> None:
    try:
        resource = parse_tile_path(path)
    except NoteError:
        return
    assert resource.path == path


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("", "path: expected tile/LEVEL/INDEX"),
        ("/tile/0/000", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/000/", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/000\n", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/0", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/X001/000", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/x001/x000", "path: expected tile/LEVEL/INDEX"),
        ("tile/data/000", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/" + "x999/" * 2000 + "999", "path: expected tile/LEVEL/INDEX"),
        ("tile/8/0/000", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/٠٠٠", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/000.p/1000", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/000.p/-1", "path: expected tile/LEVEL/INDEX"),
        ("tile/0/000.P/1", "path: expected tile/LEVEL/INDEX"),
        ("tile/00/000", "path: expected the path tile/0/000"),
        ("tile/07/000", "path: expected the path tile/7/000"),
        ("tile/0/x000/001", "path: expected the path tile/0/001"),
        ("tile/entries/x000/x001/000", "path: expected the path tile/entries/x001/000"),
        ("tile/0/000.p/01", "path: expected the path tile/0/000.p/1"),
        ("tile/0/000.p/256", "path: expected the path tile/0/000,"),
        ("tile/0/000.p/0", "tile: expected a width 1…256, got 0"),
        ("tile/entries/000.p/0", "entry bundle: expected a width 1…256, got 0"),
        ("tile/0/000.p/257", "tile: expected a width 1…256, got 257"),
        ("tile/64/000", "tile level: expected a level 0…63, got 64"),
        ("tile/0/x009/x223/x372/x036/x854/x775/808", "tile index: expected a number 0…2^63−1, got 9223372036854775808"),
        ("tile/entries/x999/x999/x999/x999/x999/x999/999", "entry bundle index: expected a number 0…2^63−1"),
    ],
)
def test_a_path_has_one_form(path: str, says: str) -> None:
    with pytest.raises(NoteError, match="^" + re.escape(says)):
        parse_tile_path(path)


@pytest.mark.parametrize(
    ("level", "index", "width", "says"),
    [
        (-1, 0, 256, "tile level: expected a level 0…63, got -1"),
        (64, 0, 256, "tile level: expected a level 0…63, got 64"),
        (0, -1, 256, "tile index: expected a number 0…2^63−1, got -1"),
        (0, 2**63, 256, "tile index: expected a number 0…2^63−1"),
        (0, 0, 0, "tile: expected a width 1…256, got 0"),
        (0, 0, 257, "tile: expected a width 1…256, got 257"),
        (None, -1, 256, "entry bundle index: expected a number 0…2^63−1, got -1"),
        (None, 0, 257, "entry bundle: expected a width 1…256, got 257"),
    ],
)
def test_there_are_no_other_tiles(level: int | None, index: int, width: int, says: str) -> None:
    with pytest.raises(NoteError, match="^" + re.escape(says)):
        of_place(level, index, width)


# --- which tiles a tree has ------------------------------------------------------------------


def test_the_tiles_of_70000_leaves_are_those_that_c2sp_counts() -> None:
    # c2sp.org/tlog-tiles: 273 full tiles of level 0 and one of width 112, one full tile of level 1 and one of width
    # 17, and one of level 2 of width 1.
    tiles = list(tiles_of(70_000))
    assert Counter((tile.level, tile.width) for tile in tiles) == {
        (0, 256): 273, (0, 112): 1, (1, 256): 1, (1, 17): 1, (2, 1): 1,
    }  # fmt: skip
    assert [tile.path for tile in tiles[-5:]] == [
        "tile/0/272", "tile/0/273.p/112", "tile/1/000", "tile/1/001.p/17", "tile/2/000.p/1",
    ]  # fmt: skip


def test_a_tree_of_one_full_tile_has_a_second_level() -> None:
    assert [tile.path for tile in tiles_of(256)] == ["tile/0/000", "tile/1/000.p/1"]
    assert [tile.path for tile in tiles_of(255)] == ["tile/0/000.p/255"]
    assert list(tiles_of(0)) == []


def test_a_tree_has_the_tiles_whose_nodes_it_has_completed() -> None:
    # Slow road: append leaf by leaf, and see which nodes exist.
    kept: set[Node] = set()
    edge: Frontier = ()
    for size in range(601):
        complete = [
            Tile(level, index, width) for level in (0, 1, 2) for index in range(4) for width in (1, 44, 255, 256)
        ]
        for tile in complete:
            assert has_tile(size, tile) == kept.issuperset(tile.nodes), (size, tile)
        own = list(tiles_of(size))
        assert sum(tile.width for tile in own) == sum(node.level % 8 == 0 for node in kept)
        assert all(kept.issuperset(tile.nodes) for tile in own)
        nodes, edge = appended_nodes(edge, size, leaf_hash(b""))
        kept.update(node for node, _ in nodes)


@given(st.integers(0, 2**63 - 1), st.integers(0, 63), st.integers(0, 2**62))
def test_a_tile_is_as_wide_as_its_subtrees_fit_into_the_log(size: int, level: int, index: int) -> None:
    # C2SP: the hashes of a tile are those of D[(n·256 + i)·256^l : (n·256 + i + 1)·256^l].
    width = tile_width(size, level, index)
    fits = [(index * 256 + offset + 1) * 256**level <= size for offset in range(256)]
    assert fits == [True] * width + [False] * (256 - width)


def test_a_log_goes_on_serving_the_partial_tiles_of_earlier_checkpoints() -> None:
    assert has_tile(300, Tile(0, 1, 44))
    assert has_tile(301, Tile(0, 1, 44))
    assert has_tile(300, Tile(0, 0, 7))
    assert not has_tile(299, Tile(0, 1, 44))
    assert not has_tile(300, Tile(0, 1))
    assert not has_tile(2**63 - 1, Tile(8, 0, 1))


# --- what stands in them ---------------------------------------------------------------------


@pytest.mark.parametrize("tile", [Tile(0, 0), Tile(0, 3, 9), Tile(0, 4, 76), Tile(1, 0, 4)], ids=lambda tile: tile.path)
def test_a_tile_holds_the_hashes_that_c2sp_names(tile: Tile) -> None:
    leaves = 256**tile.level
    starts = [(256 * tile.index + offset) * leaves for offset in range(tile.width)]
    expected = [reference.mth(DATA[start : start + leaves]) for start in starts]
    content = server(TREE)(tile)
    assert content == b"".join(expected)
    assert parse_hashes(tile, content) == tuple(expected)


def test_a_bundle_holds_the_records_under_its_tile() -> None:
    bundle = EntryBundle(4, 76)
    assert bundle.records == range(1024, 1100)
    records = [DATA[index] for index in bundle.records]
    assert server(TREE)(bundle.tile) == b"".join(map(leaf_hash, records))
    assert parse_entries(bundle, print_entries(records)) == tuple(records)


def test_the_bytes_of_a_bundle() -> None:
    # c2sp.org/tlog-tiles: big-endian uint16 length-prefixed entries.
    assert print_entries([b"ab", b"", b"c" * 300]) == b"\x00\x02ab\x00\x00\x01\x2c" + b"c" * 300


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=256))
def test_every_bundle_reads_back(records: list[bytes]) -> None:
    assert parse_entries(EntryBundle(7, len(records)), print_entries(records)) == tuple(records)


def test_the_longest_record_fits_a_bundle_and_no_longer_one() -> None:
    longest = [b"x" * 65_535]
    assert parse_entries(EntryBundle(0, 1), print_entries(longest)) == tuple(longest)
    with pytest.raises(NoteError, match=r"^entry bundle, entry 1: expected at most 65535 bytes, got '65536 bytes'"):
        print_entries([b"", b"x" * 65_536])


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "expected entry 512 to end at byte 2, got '0 bytes'"),
        (b"\x00", "expected entry 512 to end at byte 2, got '1 bytes'"),
        (b"\x00\x02a", "expected entry 512 to end at byte 4, got '3 bytes'"),
        (b"\x00\x01a", "expected entry 513 to end at byte 5, got '3 bytes'"),
        (b"\x00\x01a\x00", "expected entry 513 to end at byte 5, got '4 bytes'"),
        (b"\x00\x01a\x00\x01", "expected entry 513 to end at byte 6, got '5 bytes'"),
        (b"\x00\x01a\x01\x00b", "expected entry 513 to end at byte 261, got '6 bytes'"),
        (b"\x00\x01a\x00\x01bc", "expected 2 entries in 6 bytes, got '7 bytes'"),
        (b"\x00\x01a\x00\x01b\x00\x00", "expected 2 entries in 6 bytes, got '8 bytes'"),
    ],
)
def test_a_bundle_of_other_bytes_is_refused(content: bytes, says: str) -> None:
    with pytest.raises(NoteError, match=f"^tile/entries/002.p/2: {says}"):
        parse_entries(EntryBundle(2, 2), content)


@pytest.mark.parametrize("length", [0, 31, 63, 65, 96, 8192])
def test_a_tile_of_another_length_is_refused(length: int) -> None:
    with pytest.raises(NoteError, match=f"^tile/1/000.p/2: expected 64 bytes, got '{length} bytes'"):
        parse_hashes(Tile(1, 0, 2), bytes(length))


@pytest.mark.parametrize("count", [0, 257])
def test_nothing_is_printed_that_would_not_read_back(count: int) -> None:
    with pytest.raises(NoteError, match=f"^tile: expected a width 1…256, got {count}"):
        print_hashes([EMPTY_ROOT] * count)
    with pytest.raises(NoteError, match=f"^entry bundle: expected a width 1…256, got {count}"):
        print_entries([b""] * count)
    with pytest.raises(NoteError, match=r"^tile, hash 1: expected 32 bytes, got b'short'"):
        print_hashes([EMPTY_ROOT, b"short"])


# --- proofs from tiles alone -----------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 2, 3, 255, 256, 257, 511, 512, 513, 700, 1023, 1024, 1100])
def test_tiles_alone_give_every_root_and_proof(size: int) -> None:
    read = hash_reader(server(TREE), size)
    assert root(read, size) == root(TREE.read, size)
    for index in [*range(0, size, 37), *range(max(size - 3, 0), size)]:
        assert prove_inclusion(read, index, size) == prove_inclusion(TREE.read, index, size)
        assert prove_consistency(read, index, size) == prove_consistency(TREE.read, index, size)


def test_tiles_of_three_levels_give_the_same_proofs() -> None:
    tree = large_tree()
    read = hash_reader(server(tree), tree.size)
    assert root(read, tree.size) == tree.root
    for index in [0, 1, 255, 256, 65_535, 65_536, 65_999]:
        assert prove_inclusion(read, index, tree.size) == tree.inclusion(index)
        assert prove_consistency(read, index, tree.size) == tree.consistency(index)


def test_every_node_of_a_tree_is_read_from_its_tiles() -> None:
    tree = Tree.of(DATA[:600])
    nodes = [Node(at, index) for at, level in enumerate(tree.levels) for index in range(len(level))]
    assert hash_reader(server(tree), tree.size)(nodes) == tree.read(nodes)


def test_a_proof_fetches_only_tiles_that_the_tree_has_and_each_once() -> None:
    tree, fetched = large_tree(), Counter[Tile]()

    def fetch(tile: Tile) -> bytes:
        fetched[tile] += 1
        return server(tree)(tile)

    own = set(tiles_of(tree.size))
    for index in range(0, tree.size, 1777):
        fetched.clear()
        prove_inclusion(hash_reader(fetch, tree.size), index, tree.size)
        assert own.issuperset(fetched)
        assert set(fetched.values()) == {1}
        assert max(Counter(tile.level for tile in fetched).values()) <= 2


def test_an_older_proof_is_made_from_the_tiles_of_its_time() -> None:
    fetched = []

    def fetch(tile: Tile) -> bytes:
        fetched.append(tile.path)
        return server(TREE)(tile)

    assert prove_inclusion(hash_reader(fetch, 300), 299, 300) == Tree.of(DATA[:300]).inclusion(299)
    assert fetched == ["tile/0/001.p/44", "tile/1/000.p/1"]


def test_a_false_tile_makes_a_proof_that_is_refused() -> None:
    size, index = 700, 600
    leaf, claimed = leaf_hash(DATA[index]), root(TREE.read, size)

    def fetch(tile: Tile) -> bytes:
        content = server(TREE)(tile)
        return content[:-1] + bytes([content[-1] ^ 1]) if tile == Tile(0, 2, 188) else content

    check_inclusion(leaf, index, size, prove_inclusion(hash_reader(server(TREE), size), index, size), claimed)
    with pytest.raises(ProofError, match=r"^inclusion of leaf 600 in 700: root: expected"):
        check_inclusion(leaf, index, size, prove_inclusion(hash_reader(fetch, size), index, size), claimed)


@pytest.mark.parametrize("content", [b"", bytes(31), bytes(8191), bytes(8193), bytes(32 * 44)])
def test_a_server_that_sends_another_length_is_named_with_the_path(content: bytes) -> None:
    with pytest.raises(NoteError, match=f"^tile/0/000: expected 8192 bytes, got '{len(content)} bytes'"):
        hash_reader(lambda _: content, 300)([Node(0, 0)])


@pytest.mark.parametrize("node", [Node(0, 300), Node(0, -1), Node(2, 75), Node(8, 1), Node(9, 0), Node(16, 0)])
def test_a_node_that_the_tree_does_not_have_is_never_fetched(node: Node) -> None:
    with pytest.raises(InputError, match=r"^tiles: expected a node of the tree of 300 leaves, got Node"):
        hash_reader(lambda tile: pytest.fail(f"fetched {tile}"), 300)([node])
