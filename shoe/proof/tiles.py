"""Tiles of a log, C2SP tlog-tiles: their paths, what stands in them, and proofs from tiles alone (protocol §9).

Every eighth level of the tree is cut into tiles of 256 hashes, and the records into bundles of 256 entries. A tile or
bundle at the right edge of a tree is partial: it holds fewer, and its width stands in its path. Since perfect subtrees
never change, a full tile never does, and a log's tiles can be served as files by anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shoe.errors import InputError, NoteError, expected
from shoe.proof.merkle import HASH_BYTES, Node, ReadHashes, Tree
from shoe.proof.note import check_number

TILE_HEIGHT: Final = 8
TILE_WIDTH: Final = 1 << TILE_HEIGHT
"""Hashes in a full tile, and entries in a full bundle."""

MAX_TILE_LEVEL: Final = 63
MAX_ENTRY_BYTES: Final = 65_535

_LENGTH_BYTES: Final = 2
_PATH: Final = re.compile(r"tile/(entries|[0-9]{1,2})/((?:x[0-9]{3}/){0,6}[0-9]{3})(?:\.p/([0-9]{1,3}))?")


@dataclass(frozen=True, slots=True)
class Tile:
    """The index-th tile of a level: `width` hashes of perfect subtrees of 256^level leaves, side by side.

    Level 0…63 and index 0…2^63−1 count from 0, width is 1…256. Raises NoteError for any other number.
    """

    level: int
    index: int
    width: int = TILE_WIDTH

    def __post_init__(self) -> None:
        if not 0 <= self.level <= MAX_TILE_LEVEL:
            raise NoteError(expected(f"a level 0…{MAX_TILE_LEVEL}", self.level, "tile level"))
        _check_place(self.index, self.width, "tile")

    @property
    def path(self) -> str:
        """Where a log serves the tile, such as ``tile/0/x001/x234/067`` or, partial, ``tile/1/000.p/5``."""
        return f"tile/{self.level}/{_print_place(self.index, self.width)}"

    @property
    def nodes(self) -> list[Node]:
        """The subtrees whose hashes stand in the tile, in its order."""
        level, start = TILE_HEIGHT * self.level, TILE_WIDTH * self.index
        return [Node(level, start + offset) for offset in range(self.width)]


@dataclass(frozen=True, slots=True)
class EntryBundle:
    """The index-th bundle of entries: the bytes of `width` records, those under the same tile of level 0.

    Index 0…2^63−1 counts from 0, width is 1…256. Raises NoteError for any other number.
    """

    index: int
    width: int = TILE_WIDTH

    def __post_init__(self) -> None:
        _check_place(self.index, self.width, "entry bundle")

    @property
    def path(self) -> str:
        """Where a log serves the bundle, such as ``tile/entries/000`` or, partial, ``tile/entries/000.p/5``."""
        return f"tile/entries/{_print_place(self.index, self.width)}"

    @property
    def tile(self) -> Tile:
        """The tile of these records' leaf hashes."""
        return Tile(0, self.index, self.width)

    @property
    def records(self) -> range:
        """Log indices of the records in the bundle."""
        start = TILE_WIDTH * self.index
        return range(start, start + self.width)


def parse_tile_path(path: str) -> Tile | EntryBundle:
    """Read the path, relative to the log, of a tile or bundle of entries; the inverse of their `path`.

    Raises NoteError for any other text: a level over 63, an index not cut into groups of three digits or with a
    group of zeros in front, a width outside 1…255 (a full tile's is not written). Source: C2SP tlog-tiles.
    """
    found = _PATH.fullmatch(path)
    if not found:
        raise NoteError(expected("tile/LEVEL/INDEX or tile/entries/INDEX, .p/WIDTH behind it if partial", path, "path"))
    kind, groups, width = found.groups()
    place = int(groups.replace("x", "").replace("/", "")), TILE_WIDTH if width is None else int(width)
    read = EntryBundle(*place) if kind == "entries" else Tile(int(kind), *place)
    if read.path != path:
        raise NoteError(expected(f"the path {read.path}", path, "path"))
    return read


def tile_width(size: int, level: int, index: int) -> int:
    """Count the hashes, 0…256, that a tile has in the tree of `size` ≥ 0 leaves: partial below 256, absent at 0."""
    hashes = size >> TILE_HEIGHT * level
    return min(max(hashes - TILE_WIDTH * index, 0), TILE_WIDTH)


def has_tile(size: int, tile: Tile) -> bool:
    """Tell whether a log of `size` ≥ 0 records can serve a tile: whether it has every hash of it.

    A partial tile of an earlier size is among them: a log goes on serving those of the checkpoints it gave out.
    """
    return tile.width <= tile_width(size, tile.level, tile.index)


def tiles_of(size: int) -> Iterator[Tile]:
    """List the tiles of the tree of `size` ≥ 0 leaves, level by level from the leaves: all full ones, then a partial.

    About size/255 tiles. Source: C2SP tlog-tiles.
    """
    level = 0
    while hashes := size >> TILE_HEIGHT * level:
        full, width = divmod(hashes, TILE_WIDTH)
        yield from (Tile(level, index) for index in range(full))
        if width:
            yield Tile(level, full, width)
        level += 1


def print_hashes(hashes: Sequence[bytes]) -> bytes:
    """Print a tile's content: its 1 to 256 hashes of 32 bytes, one behind the other; NoteError for any other."""
    _check_width(len(hashes), "tile")
    for at, found in enumerate(hashes):
        if len(found) != HASH_BYTES:
            raise NoteError(expected("32 bytes", found, f"tile, hash {at}"))
    return b"".join(hashes)


def parse_hashes(tile: Tile, content: bytes) -> tuple[bytes, ...]:
    """Read a tile's content; the inverse of `print_hashes`. NoteError where it isn't as long as the tile is wide."""
    if len(content) != HASH_BYTES * tile.width:
        raise NoteError(expected(f"{HASH_BYTES * tile.width} bytes", f"{len(content)} bytes", tile.path))
    return tuple(content[at : at + HASH_BYTES] for at in range(0, len(content), HASH_BYTES))


def print_entries(records: Sequence[bytes]) -> bytes:
    """Print a bundle's content: before each of its 1 to 256 records the record's length as two bytes, big-endian.

    Raises NoteError for another number of records and for one over 65,535 bytes. Source: C2SP tlog-tiles.
    """
    _check_width(len(records), "entry bundle")
    for at, record in enumerate(records):
        if len(record) > MAX_ENTRY_BYTES:
            wanted = f"at most {MAX_ENTRY_BYTES} bytes"
            raise NoteError(expected(wanted, f"{len(record)} bytes", f"entry bundle, entry {at}"))
    return b"".join(len(record).to_bytes(_LENGTH_BYTES, "big") + record for record in records)


def parse_entries(bundle: EntryBundle, content: bytes) -> tuple[bytes, ...]:
    """Read a bundle's content; the inverse of `print_entries`.

    Raises NoteError where it ends within an entry or goes on behind the last. Source: C2SP tlog-tiles.
    """
    records, at = [], 0
    for index in bundle.records:
        start = at + _LENGTH_BYTES
        end = start + int.from_bytes(content[at:start], "big")
        if len(content) < end:
            raise NoteError(expected(f"entry {index} to end at byte {end}", f"{len(content)} bytes", bundle.path))
        records.append(content[start:end])
        at = end
    if at != len(content):
        raise NoteError(expected(f"{bundle.width} entries in {at} bytes", f"{len(content)} bytes", bundle.path))
    return tuple(records)


def hash_reader(fetch: Callable[[Tile], bytes], size: int) -> ReadHashes:
    """Read the nodes of the tree of `size` ≥ 0 leaves out of its tiles' contents, as proofs ask for them.

    `fetch` gives the content of a tile that the tree has, and is called once for each tile that a read needs: for a
    proof one or two a level. A node between two levels of tiles is hashed from the tile below it. Nothing here says
    that the tiles are true: a proof made from others leads to another root. Reading raises InputError for a node that
    the tree doesn't have, and NoteError for content of another length.
    """

    def read(nodes: Sequence[Node]) -> list[bytes]:
        fetched: dict[Tile, tuple[bytes, ...]] = {}
        hashes = []
        for node in nodes:
            tile, part = _part_under(node, size)
            if tile not in fetched:
                fetched[tile] = parse_hashes(tile, fetch(tile))
            hashes.append(Tree.of_hashes(fetched[tile][part]).root)
        return hashes

    return read


def _part_under(node: Node, size: int) -> tuple[Tile, slice]:
    """Find the tile of the tree that a node's hash comes from, and which of the tile's hashes lie under the node."""
    level, height = divmod(node.level, TILE_HEIGHT)
    index, start = divmod(node.index << height, TILE_WIDTH)
    stop, width = start + (1 << height), tile_width(size, level, index)
    if node.index < 0 or stop > width:
        raise InputError(expected(f"a node of the tree of {size} leaves", node, "tiles"))
    return Tile(level, index, width), slice(start, stop)


def _print_place(index: int, width: int) -> str:
    place = f"{index % 1000:03}"
    while index := index // 1000:
        place = f"x{index % 1000:03}/{place}"
    return place if width == TILE_WIDTH else f"{place}.p/{width}"


def _check_place(index: int, width: int, where: str) -> None:
    check_number(index, f"{where} index")
    _check_width(width, where)


def _check_width(width: int, where: str) -> None:
    if not 1 <= width <= TILE_WIDTH:
        raise NoteError(expected(f"a width 1…{TILE_WIDTH}", width, where))
