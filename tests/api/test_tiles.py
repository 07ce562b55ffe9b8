"""The log as tiles: a reader that has only ``/checkpoint`` and the tiles finds everything (C2SP tlog-tiles).

Its hashing is `hashlib`'s, its checks are those of RFC 9162 in `tests/reference`, and nothing of the project is in it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from sqlalchemy import event

from api.writing import Finish, Writing
from shoe.proof.records import Alarm
from tests.api.installation import ON_SQLITE, Installation, problem_of
from tests.reference.merkle_reference import (
    climb_consistency,
    climb_inclusion,
    largest_power_of_two_below,
    mth,
)


def node_hash(left: bytes, right: bytes) -> bytes:
    return hashlib.sha256(b"\x01" + left + right).digest()


def tile_path(level: int | str, index: int, width: int) -> str:
    """The path of C2SP tlog-tiles: three digits an element, `x` before all but the last."""
    digits = f"{index:03d}"
    digits = digits.zfill(-(-len(digits) // 3) * 3)
    elements = [digits[at : at + 3] for at in range(0, len(digits), 3)]
    path = "/".join([*(f"x{element}" for element in elements[:-1]), elements[-1]])
    return f"/tile/{level}/{path}" + ("" if width == 256 else f".p/{width}")


@dataclass
class Reader:
    """A reader of a log: `get` fetches what is at a path; it keeps each tile that it has."""

    get: Callable[[str], bytes]
    tiles: dict[tuple[int, int], list[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _, size, root, *_ = self.get("/checkpoint").decode().split("\n")
        self.size, self.root = int(size), base64.b64decode(root)

    def tile(self, level: int, index: int) -> list[bytes]:
        """The hashes of a tile, as wide as this checkpoint's tree has it."""
        if (level, index) not in self.tiles:
            width = min(256, self.size // 256**level - 256 * index)
            content = self.get(tile_path(level, index, width))
            assert len(content) == 32 * width
            self.tiles[level, index] = [content[at : at + 32] for at in range(0, len(content), 32)]
        return self.tiles[level, index]

    def subtree(self, start: int, stop: int) -> bytes:
        """MTH(D[start:stop]) from the highest tiles that hold it (RFC 6962 §2.1)."""
        count, level = stop - start, 0
        while 256 ** (level + 1) <= count:
            level += 1
        if count == 256**level and start % count == 0:
            index = start // count
            return self.tile(level, index // 256)[index % 256]
        middle = start + largest_power_of_two_below(count)
        return node_hash(self.subtree(start, middle), self.subtree(middle, stop))

    def inclusion(self, index: int, start: int = 0, stop: int | None = None) -> list[bytes]:
        """PATH of RFC 6962 §2.1.1."""
        stop = self.size if stop is None else stop
        if stop - start == 1:
            return []
        middle = start + largest_power_of_two_below(stop - start)
        if index < middle:
            return [*self.inclusion(index, start, middle), self.subtree(middle, stop)]
        return [*self.inclusion(index, middle, stop), self.subtree(start, middle)]

    def consistency(self, old: int, start: int = 0, stop: int | None = None, whole: bool = True) -> list[bytes]:
        """SUBPROOF of RFC 6962 §2.1.2."""
        stop = self.size if stop is None else stop
        if old == stop - start:
            return [] if whole else [self.subtree(start, stop)]
        middle = start + largest_power_of_two_below(stop - start)
        if old <= middle - start:
            return [*self.consistency(old, start, middle, whole), self.subtree(middle, stop)]
        return [*self.consistency(old - (middle - start), middle, stop, False), self.subtree(start, middle)]

    def records(self) -> list[bytes]:
        """Every record, out of the entry bundles: each behind two bytes of its length."""
        records = []
        for start in range(0, self.size, 256):
            content = self.get(tile_path("entries", start // 256, min(256, self.size - start)))
            while content:
                length = int.from_bytes(content[:2], "big")
                assert len(content) >= 2 + length
                records.append(content[2 : 2 + length])
                content = content[2 + length :]
            assert len(records) == min(self.size, start + 256)
        return records


def fetch(house: Installation) -> Callable[[str], bytes]:
    client = house.client

    def get(path: str) -> bytes:
        response = client.get(path)
        assert response.status_code == 200, f"{path}: {response.text}"
        return response.data

    return get


def fill(house: Installation, size: int) -> list[bytes]:
    """Make the log `size` records long, in one transaction; give the new records."""

    def step(writing: Writing) -> Finish[list[bytes]]:
        made = []
        for number in range(writing.next_index, size):
            alarm = Alarm(table=f"t{number}", monitor="m", evidence="1", threshold="2", **writing.stamp())
            writing.add(alarm)
            made.append(alarm.to_bytes())
        return lambda _: made

    return house.service.write(step)


def check_reader(house: Installation, leaves: list[bytes], heads: dict[int, bytes]) -> None:
    """Everything that a reader can find out from the tiles of this head, and that it is so."""
    reader = Reader(fetch(house))
    size = reader.size
    assert size == len(leaves)
    assert reader.subtree(0, size) == reader.root == mth(leaves)
    near = {0, 1, 254, 255, 256, 257, 65_534, 65_535, 65_536, size // 2, size - 2, size - 1}
    for index in sorted(index for index in near if 0 <= index < size):
        leaf = hashlib.sha256(b"\x00" + leaves[index]).digest()
        assert climb_inclusion(index, size, leaf, reader.inclusion(index)) == reader.root
    for old, root in heads.items():
        proof = reader.consistency(old)
        path = [root, *proof] if old & (old - 1) == 0 else proof
        assert climb_consistency(old, size, path) == (root, reader.root)
    assert reader.records() == leaves
    heads[size] = reader.root


def grow_and_check(house: Installation, sizes: list[int]) -> None:
    leaves, heads = [house.client.get("/v1/log/entries/0").data], dict[int, bytes]()
    for size in sizes:
        leaves += fill(house, size) if size > len(leaves) else []
        check_reader(house, leaves, heads)


def test_a_reader_with_nothing_but_tiles_finds_everything(house: Installation) -> None:
    grow_and_check(house, [1, 2, 3, 7, 100, 255, 256, 257, 300, 511, 512, 513, 1000])


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_reader_of_a_log_with_three_levels_of_tiles(house: Installation) -> None:
    grow_and_check(house, [65_535, 65_536, 65_537, 65_793])


# --- what is served ----------------------------------------------------------------------------


@pytest.fixture
def filled(house: Installation) -> Installation:
    """A log of 600 records: two full tiles and a partial one at level 0, a partial one of two hashes at level 1."""
    fill(house, 600)
    return house


@pytest.mark.parametrize(
    "path", ["/tile/0/000", "/tile/0/001", "/tile/entries/001", "/tile/0/002.p/88", "/tile/1/000.p/2"]
)
def test_a_tile_may_be_kept_for_good(filled: Installation, path: str) -> None:
    response = filled.client.get(path)
    assert (response.status_code, response.content_type) == (200, "application/octet-stream")
    assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    again = filled.client.get(path, headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    fill(filled, 700)
    assert filled.client.get(path).data == response.data
    assert filled.client.head(path).content_length == response.content_length


def test_every_width_that_the_tree_has_or_had_is_served(filled: Installation) -> None:
    """C2SP: a log serves the partial tiles of every checkpoint that it gave out."""
    full = filled.client.get("/tile/0/000").data
    for width in (1, 2, 44, 255):
        assert filled.client.get(f"/tile/0/000.p/{width}").data == full[: 32 * width]
    partial = filled.client.get("/tile/0/002.p/88").data
    assert filled.client.get("/tile/0/002.p/87").data == partial[: 32 * 87]
    assert filled.client.get("/tile/1/000.p/1").data == filled.client.get("/tile/1/000.p/2").data[:32]


ABSENT = [
    "/tile/0/002",
    "/tile/0/002.p/89",
    "/tile/0/002.p/255",
    "/tile/0/003",
    "/tile/0/003.p/1",
    "/tile/1/000",
    "/tile/1/000.p/3",
    "/tile/1/001.p/1",
    "/tile/2/000.p/1",
    "/tile/63/000.p/1",
    "/tile/63/x009/x223/x372/x036/x854/x775/807",
    "/tile/7/x009/x223/x372/x036/x854/x775/807.p/1",
    "/tile/0/x009/x223/x372/x036/x854/x775/807",
    "/tile/0/x036/x028/x797/x018/x963/967.p/255",
    "/tile/entries/002",
    "/tile/entries/002.p/89",
    "/tile/entries/003.p/1",
    "/tile/entries/x009/x223/x372/x036/x854/x775/807",
    "/tile/entries/x036/x028/x797/x018/x963/967.p/255",
]
MALFORMED = [
    "/tile/0/x009/x223/x372/x036/x854/x775/808",
    "/tile/0/000.p/0",
    "/tile/0/000.p/256",
    "/tile/0/000.p/01",
    "/tile/0/000.p/",
    "/tile/0/000.p/1/",
    "/tile/0/000/",
    "/tile/0/000.P/1",
    "/tile/0/0",
    "/tile/0/00",
    "/tile/0/0000",
    "/tile/0/x000/000",
    "/tile/0/001/000",
    "/tile/0/x01/000",
    "/tile/00/000",
    "/tile/64/000",
    "/tile/-1/000",
    "/tile/x/000",
    "/tile/0",
    "/tile/",
    "/tile",
    "/tile/data/000",
    "/tile/entries",
    "/tile/entries/0",
    "/tile/Entries/000",
    "/tile/0/000%20",
    "/tile/0/000%0A",
    "/tile/0/000%00",
    "/tile/0/%D9%A0%D9%A0%D9%A0",
    "/tile/../checkpoint/000",
]


def not_found(house: Installation, path: str) -> None:
    response = house.client.get(path)
    problem_of(response, "not-found", 404)
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ABSENT)
def test_a_tile_that_this_log_does_not_have_is_not_found(filled: Installation, path: str) -> None:
    not_found(filled, path)


@ON_SQLITE  # nothing gets as far as the database
@pytest.mark.parametrize("path", MALFORMED)
def test_what_is_no_path_of_a_tile_is_not_found(filled: Installation, path: str) -> None:
    not_found(filled, path)


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_tiles_are_only_read(house: Installation, method: str) -> None:
    problem_of(getattr(house.client, method)("/tile/0/000.p/1"), "method-not-allowed", 405)


@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip", True),
        ("gzip, br", True),
        ("gzip;q=0.5", True),
        ("*", True),
        ("", False),
        ("br", False),
        ("identity", False),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
    ],
)
def test_entries_are_compressed_for_whom_that_suits(filled: Installation, accepted: str, packed: bool) -> None:
    plain = filled.client.get("/tile/entries/000")
    response = filled.client.get("/tile/entries/000", headers={"Accept-Encoding": accepted})
    assert response.headers["Vary"] == "Accept-Encoding"
    assert response.headers.get("Content-Encoding") == ("gzip" if packed else None)
    assert (gzip.decompress(response.data) if packed else response.data) == plain.data
    # An ETag is of the bytes as they go out.
    assert (response.headers["ETag"] == plain.headers["ETag"]) is not packed
    assert not packed or len(response.data) < len(plain.data) / 3


@pytest.mark.parametrize("path", ["/tile/0/001", "/tile/0/002.p/88", "/tile/entries/001", "/tile/entries/002.p/3"])
def test_a_tile_is_one_query(filled: Installation, path: str) -> None:
    statements: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    event.listen(filled.service.store.readers, "before_cursor_execute", note)
    filled.client.get(path, headers={"Authorization": "none"})
    event.remove(filled.service.store.readers, "before_cursor_execute", note)
    assert len([statement for statement in statements if statement.startswith("SELECT")]) == 1
