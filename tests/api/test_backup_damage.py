"""Backups that are damaged, cut off or edited: each is refused, says where, and leaves the database empty.

The edited ones are taken apart and put together by Python's own tarfile and json, with manifests that fit where the
test says so: then only what the rows themselves say can give them away.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import MetaData, inspect, select

from api.backup.archive import BackupError
from api.backup.making import make_backup
from api.backup.manifest import Column, parse_manifest, print_manifest
from api.backup.restoring import check_backup, restore_backup
from api.backup.rows import parse_row, print_row
from api.db.migrate import newest_revision
from api.db.sessions import Store, open_store
from api.settings import SetupError
from shoe.proof.note import Note, SignerKey, parse_note, print_note, sign_note
from tests.api.conftest import NewDatabase
from tests.api.installation import ON_SQLITE, ORIGIN, SMALL, Installation

Members = dict[str, bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small backup: one void shoe, one with two coups."""
    house = Installation(tmp_path_factory.mktemp("made") / "house")
    house.table(**SMALL)
    house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    shoe = house.sealed()
    for _ in range(2):
        house.post(f"/shoes/{shoe}/coups")
    make_backup(house.service.store, house.folder / "backup")
    house.stop()
    return (house.folder / "backup").read_bytes()


@pytest.fixture
def empty(tmp_path: Path, new_database: NewDatabase) -> Iterator[Store]:
    store = open_store(new_database() or str(tmp_path / "empty.sqlite3"))
    yield store
    store.engine.dispose()


def refused(store: Store, backup: bytes, folder: Path) -> str:
    """Restore what must be refused, and leave no row in any table; give the message without the file's name."""
    path = folder / "edited"
    path.write_bytes(backup)
    with pytest.raises(BackupError) as caught:
        restore_backup(store, path)
    found = MetaData()
    with store.engine.connect() as connection:
        found.reflect(connection)
        filled = [name for name, table in found.tables.items() if connection.execute(select(table)).first()]
    assert set(filled) <= {"alembic_version"}
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert said.endswith("; take another backup")
    return said.removeprefix(f"{path}: ").removesuffix("; take another backup")


# --- bytes -------------------------------------------------------------------------------------


def holds_the_same(one: bytes, other: bytes) -> bool:
    """By zlib: some bits say nothing, such as a header's time, or what fills a block's last byte (RFC 1951 §3.2)."""
    try:
        return gzip.decompress(one) == gzip.decompress(other)
    except (OSError, EOFError, zlib.error):
        return False


def test_a_flipped_bit_anywhere_is_seen(made: bytes, tmp_path: Path) -> None:
    path, meaningless = tmp_path / "flipped", 0
    for at in [*range(12), *range(12, len(made), 61), *range(len(made) - 8, len(made))]:
        for bit in (0x01, 0x80):
            flipped = made[:at] + bytes([made[at] ^ bit]) + made[at + 1 :]
            path.write_bytes(flipped)
            if holds_the_same(flipped, made):
                meaningless += 1
                check_backup(path)
                continue
            with pytest.raises(BackupError, match=r"; take another backup$"):
                check_backup(path)
    assert meaningless < 20


def test_a_file_cut_off_anywhere_is_seen(made: bytes, tmp_path: Path) -> None:
    path = tmp_path / "short"
    for size in [*range(30), *range(30, len(made), 101), *range(len(made) - 12, len(made))]:
        path.write_bytes(made[:size])
        with pytest.raises(BackupError):
            check_backup(path)


NO_BACKUPS = {
    "empty": (b"", "start of the archive: expected the member manifest.json, got b''"),
    "text": (b"hello\n" * 200, r"archive: expected a whole gzip file, got Not a gzipped file \(b'he'\)"),
    "nothing_packed": (gzip.compress(b"", mtime=0), "start of the archive: expected the member manifest.json, got b''"),
    "text_packed": (
        gzip.compress(b"hello\n" * 200),
        "start of the archive: expected the member manifest.json, got b'h",
    ),
    "zeros_packed": (gzip.compress(bytes(2000)), "start of the archive: expected the member manifest.json, got b'.x00"),
}


@ON_SQLITE
@pytest.mark.parametrize(("data", "says"), NO_BACKUPS.values(), ids=NO_BACKUPS)
def test_what_is_no_backup_is_refused(empty: Store, tmp_path: Path, data: bytes, says: str) -> None:
    assert re.match(says, refused(empty, data, tmp_path))


@ON_SQLITE
@pytest.mark.parametrize("more", [b"x", b"hello\n" * 100, gzip.compress(b"more", mtime=0)])
def test_bytes_behind_the_end_are_refused(made: bytes, empty: Store, tmp_path: Path, more: bytes) -> None:
    assert refused(empty, made + more, tmp_path).startswith("archive: expected ")


def test_a_second_backup_behind_the_first_is_refused(made: bytes, empty: Store, tmp_path: Path) -> None:
    assert refused(empty, made + made, tmp_path) == "archive: expected its end, got something more or less"


# --- members -----------------------------------------------------------------------------------


def taken_apart(backup: bytes) -> Members:
    with tarfile.open(fileobj=io.BytesIO(backup)) as archive:
        return {each.name: archive.extractfile(each).read() for each in archive}  # type: ignore[union-attr]


def put_together(members: Members, change: Callable[[tarfile.TarInfo], object] = lambda _: None) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", format=tarfile.GNU_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o600
            change(info)
            archive.addfile(info, io.BytesIO(data) if info.isreg() else None)
    # Python's tarfile fills up to 10,240 bytes; ours ends with the two zero blocks that POSIX asks for.
    text = gzip.decompress(packed.getvalue()).rstrip(b"\0")
    return gzip.compress(text + bytes(-len(text) % 512) + bytes(1024))


def test_what_is_put_together_unchanged_is_accepted(made: bytes, empty: Store, tmp_path: Path) -> None:
    """So what the tests below change is what is refused."""
    (tmp_path / "same").write_bytes(put_together(with_manifest(taken_apart(made))))
    assert restore_backup(empty, tmp_path / "same").size == 9


def renamed(old: str, new: str) -> Callable[[Members], Members]:
    return lambda members: {new if name == old else name: data for name, data in members.items()}


def reordered(members: Members) -> Members:
    return dict(sorted(members.items(), key=lambda item: item[0] != "leaves.jsonl"))


MEMBERS: dict[str, tuple[Callable[[Members], Members], str]] = {
    "renamed": (renamed("leaves.jsonl", "leafs.jsonl"), "archive: expected the header of leaves.jsonl, "),
    "upwards": (renamed("leaves.jsonl", "../leaves.jsonl"), "archive: expected the header of leaves.jsonl, "),
    "absolute": (renamed("leaves.jsonl", "/leaves.jsonl"), "archive: expected the header of leaves.jsonl, "),
    "long": (renamed("leaves.jsonl", "leaves" * 50), "archive: expected the header of leaves.jsonl, "),
    "no_manifest": (renamed("manifest.json", "manifest"), "start: expected the member manifest.json of at most "),
    "manifest_not_first": (reordered, "start: expected the member manifest.json of at most "),
    "large_manifest": (
        lambda members: members | {"manifest.json": b" " * (2**20 + 1)},
        "start: expected the member manifest.json of at most 1048576 bytes, ",
    ),
    "missing": (
        lambda members: {name: data for name, data in members.items() if name != "leaves.jsonl"},
        "archive: expected the header of leaves.jsonl, ",
    ),
    "further": (lambda members: members | {"more.jsonl": b"[]\n"}, "archive: expected its end, got something more"),
    "emptied": (lambda members: members | {"coups.jsonl": b""}, "archive: expected the header of coups.jsonl, "),
    "longer": (
        lambda members: members | {"coups.jsonl": members["coups.jsonl"] + b"[]\n"},
        "archive: expected the header of coups.jsonl, ",
    ),
    "edited": (
        lambda members: members | {"coups.jsonl": members["coups.jsonl"].replace(b'"banker"', b'"Banker"', 1)},
        "coups.jsonl: expected 2 rows of SHA-256 ",
    ),
    "lines_joined": (
        lambda members: members | {"coups.jsonl": members["coups.jsonl"].replace(b"\n", b" ", 1)},
        "coups.jsonl: expected 2 rows of SHA-256 ",
    ),
}


@ON_SQLITE
@pytest.mark.parametrize(("edit", "says"), MEMBERS.values(), ids=MEMBERS)
def test_other_members_than_the_manifests_are_refused(
    made: bytes, empty: Store, tmp_path: Path, edit: Callable[[Members], Members], says: str
) -> None:
    members = taken_apart(made)
    assert refused(empty, put_together(edit(members)), tmp_path).startswith(says)


KINDS = {
    "link": {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
    "hard_link": {"type": tarfile.LNKTYPE, "linkname": "manifest.json"},
    "folder": {"type": tarfile.DIRTYPE},
    "device": {"type": tarfile.CHRTYPE},
    "sparse": {"type": tarfile.GNUTYPE_SPARSE},
    "old_kind": {"type": tarfile.AREGTYPE},
    "mode": {"mode": 0o644},
    "time": {"mtime": 1},
    "owner": {"uid": 1000, "uname": "somebody"},
}


@ON_SQLITE
@pytest.mark.parametrize("changed", KINDS.values(), ids=KINDS)
def test_a_member_of_any_other_kind_is_refused(
    made: bytes, empty: Store, tmp_path: Path, changed: dict[str, Any]
) -> None:
    def change(info: tarfile.TarInfo) -> None:
        if info.name == "coups.jsonl":
            for key, value in changed.items():
                setattr(info, key, value)

    edited = put_together(taken_apart(made), change)
    assert refused(empty, edited, tmp_path).startswith("archive: expected the header of coups.jsonl, ")


# --- the manifest ------------------------------------------------------------------------------


def with_manifest(members: Members, **changed: Any) -> Members:
    """The members, and a manifest that says what they are."""
    manifest = json.loads(members["manifest.json"])
    for table in manifest["tables"]:
        data = members.get(f"{table['table']}.jsonl", b"")
        table |= {"rows": data.count(b"\n"), "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return members | {"manifest.json": json.dumps(manifest | changed, indent=1).encode() + b"\n"}


def tables_with(edit: Callable[[dict[str, Any]], object]) -> Callable[[Members], Members]:
    """Change the manifest's tables, by name."""

    def apply(members: Members) -> Members:
        tables = {table["table"]: table for table in json.loads(members["manifest.json"])["tables"]}
        edit(tables)
        kept = {name: data for name, data in members.items() if name[:-6] in tables or name == "manifest.json"}
        return kept | with_manifest(kept, tables=list(tables.values()))

    return apply


def columns_of_coups(edit: Callable[[list[str]], object]) -> Callable[[Members], Members]:
    return tables_with(lambda tables: edit(tables["coups"]["columns"]))


def unknown_table(members: Members) -> Members:
    table = {
        "table": "invoices",
        "columns": ["id integer"],
        "rows": 0,
        "size": 0,
        "sha256": hashlib.sha256().hexdigest(),
    }
    tables = [*json.loads(members["manifest.json"])["tables"], table]
    return with_manifest(members, tables=tables) | {"invoices.jsonl": b""}


def as_json(edit: Callable[[bytes], bytes]) -> Callable[[Members], Members]:
    return lambda members: members | {"manifest.json": edit(members["manifest.json"])}


def saying(**changed: Any) -> Callable[[Members], Members]:
    return lambda members: with_manifest(members, **changed)


MANIFESTS: dict[str, tuple[Callable[[Members], Members], str]] = {
    "not_json": (as_json(lambda _: b"hello"), "manifest.json: not JSON at character 0"),
    "cut_off": (as_json(lambda data: data[:-3]), "manifest.json: not JSON at character "),
    "list": (as_json(lambda _: b"[]"), "manifest.json: the document: expected an object"),
    "other_spaces": (as_json(lambda data: data + b"\n"), "manifest.json: expected it as it was printed"),
    "other_format": (saying(format="fairshoe-backup/2"), "manifest.json: format: expected fairshoe-backup/1"),
    "further_key": (saying(more=1), "manifest.json: the document: expected only the keys "),
    "schema_by_name": (saying(schema="head"), "manifest.json: schema: expected four digits, got 'head'"),
    "other_log": (saying(log="fairshoe.example/other"), "manifest.json: expected log, size and root of the checkpoint"),
    "other_size": (saying(size=8), "manifest.json: expected log, size and root of the checkpoint"),
    "other_root": (saying(root="00" * 32), "manifest.json: expected log, size and root of the checkpoint"),
    "no_checkpoint": (saying(checkpoint="hello"), "manifest.json: "),
    "path": (tables_with(lambda tables: tables["coups"].update(table="../x")), "manifest.json: tables["),
    "no_tables": (saying(tables=[]), "manifest.json: tables: expected a list of 1…1000 items"),
    "unknown_table": (unknown_table, "manifest.json: expected only tables of schema "),
    "missing_table": (
        tables_with(lambda tables: tables.pop("claims")),
        "manifest.json: expected the table claims with ",
    ),
    "missing_column": (
        columns_of_coups(lambda columns: columns.pop()),
        "manifest.json: expected the table coups with ",
    ),
    "further_column": (
        columns_of_coups(lambda columns: columns.append("x text")),
        "manifest.json: expected the table coups with ",
    ),
    "column_twice": (
        columns_of_coups(lambda columns: columns.append(columns[0])),
        "manifest.json: expected the table coups with ",
    ),
    "column_of_another_kind": (
        columns_of_coups(lambda columns: columns.__setitem__(1, "number text")),
        "manifest.json: expected the table coups with ",
    ),
    "column_of_no_kind": (
        columns_of_coups(lambda columns: columns.__setitem__(1, "number float")),
        "manifest.json: tables[",
    ),
    "column_of_no_name": (
        columns_of_coups(lambda columns: columns.__setitem__(1, 'a"b integer')),
        "manifest.json: tables[",
    ),
}


@ON_SQLITE
@pytest.mark.parametrize(("edit", "says"), MANIFESTS.values(), ids=MANIFESTS)
def test_other_manifests_are_refused(
    made: bytes, empty: Store, tmp_path: Path, edit: Callable[[Members], Members], says: str
) -> None:
    assert refused(empty, put_together(edit(taken_apart(made))), tmp_path).startswith(says)


@pytest.mark.parametrize("schema", ["9999", "0000"])
def test_a_schema_that_this_version_does_not_know_is_refused(
    made: bytes, empty: Store, tmp_path: Path, schema: str
) -> None:
    """By its migrations alone: none of that name, and so no way from it to today."""
    path = tmp_path / "newer"
    path.write_bytes(put_together(with_manifest(taken_apart(made), schema=schema)))
    known = f"a schema that this version knows, up to {newest_revision()}, got '{schema}'"
    with pytest.raises(
        BackupError, match=f": manifest.json: expected {known}; restore it by the version that made it$"
    ):
        restore_backup(empty, path)
    assert inspect(empty.engine).get_table_names() == []


def test_a_table_that_comes_twice_is_refused(made: bytes) -> None:
    manifest = json.loads(taken_apart(made)["manifest.json"])
    manifest["tables"].append(manifest["tables"][0])
    with pytest.raises(BackupError, match=r"^manifest\.json: expected each table once, got \["):
        parse_manifest(json.dumps(manifest, indent=1).encode() + b"\n")


def test_a_manifest_prints_back(made: bytes) -> None:
    data = taken_apart(made)["manifest.json"]
    assert print_manifest(parse_manifest(data)) == data


# --- rows under a manifest that fits them ------------------------------------------------------


def rows_with(table: str, edit: Callable[[list[list[Any]]], object]) -> Callable[[Members], Members]:
    def apply(members: Members) -> Members:
        rows = [json.loads(line) for line in members[f"{table}.jsonl"].splitlines()]
        edit(rows)
        lines = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        return with_manifest(members | {f"{table}.jsonl": lines.encode()})

    return apply


def value_at(table: str, row: int, column: int, value: Any) -> Callable[[Members], Members]:
    return rows_with(table, lambda rows: rows[row].__setitem__(column, value))


def hex_of(change: Callable[[bytes], bytes]) -> Callable[[list[list[Any]]], object]:
    """Change the record of leaf 2."""
    return lambda rows: rows[2].__setitem__(1, change(bytes.fromhex(rows[2][1])).hex())


def indices_exchanged(rows: list[list[Any]]) -> None:
    rows[4][0], rows[5][0] = rows[5][0], rows[4][0]
    rows[4], rows[5] = rows[5], rows[4]


def signed_by_a_stranger(members: Members) -> Members:
    """Head and manifest under a signature by somebody else's key of the same name."""
    manifest = json.loads(members["manifest.json"])
    stranger = SignerKey.from_seed(ORIGIN, bytes(32))
    forged = sign_note(parse_note(manifest["checkpoint"]).text, [stranger])
    edited = rows_with("log_head", lambda rows: rows[0].__setitem__(5, forged))(members)
    return with_manifest(edited, checkpoint=forged)


def signed_wrongly(members: Members) -> Members:
    manifest = json.loads(members["manifest.json"])
    note = parse_note(manifest["checkpoint"])
    line = note.signatures[0]
    forged = print_note(Note(note.text, (line._replace(signature=bytes(64)),)))
    edited = rows_with("log_head", lambda rows: rows[0].__setitem__(5, forged))(members)
    return with_manifest(edited, checkpoint=forged)


def an_older_head(members: Members) -> Members:
    """The head's row is that of an older checkpoint, which the log's key signed too."""
    older = json.loads(members["checkpoints.jsonl"].splitlines()[-2])[1]
    return rows_with("log_head", lambda rows: rows[0].__setitem__(5, older))(members)


UNFIT = "rows that fit together, got "
ROWS: dict[str, tuple[Callable[[Members], Members], str]] = {
    "record_edited": (
        rows_with("leaves", hex_of(lambda record: record.replace(b"fairshoe/1", b"fairshoe/2"))),
        "the log in it: root of the 9 records: expected ",
    ),
    "record_dropped": (rows_with("leaves", lambda rows: rows.pop()), "the log in it: right: expected "),
    "record_added": (
        rows_with("leaves", lambda rows: rows.append([9, rows[8][1], "coup", None, None])),
        "the log in it: end of the span: expected at most 9 records",
    ),
    "records_exchanged": (rows_with("leaves", indices_exchanged), "the log in it: root of the 9 records: expected "),
    "another_key": (signed_by_a_stranger, "the log in it: "),
    "a_bad_signature": (signed_wrongly, "the log in it: "),
    "an_older_head": (an_older_head, "the log in it: "),
    "no_keys": (rows_with("signing_keys", list.clear), "the log in it: "),
    "no_head": (rows_with("log_head", list.clear), "log_head: expected the manifest's checkpoint over 9 records"),
    "twice": (rows_with("coups", lambda rows: rows.append(rows[0])), f"table coups: expected {UNFIT}"),
    "null": (value_at("coups", 0, 4, None), f"table coups: expected {UNFIT}"),
    "of_no_shoe": (value_at("coups", 0, 0, "nobody"), f"table coups: expected {UNFIT}"),
    "no_state": (
        rows_with("shoes", lambda rows: [row.__setitem__(13, "lost") for row in rows]),
        "table shoes: expected ",
    ),
}


@pytest.mark.parametrize(("edit", "says"), ROWS.values(), ids=ROWS)
def test_rows_that_do_not_belong_together_are_refused(
    made: bytes, empty: Store, tmp_path: Path, edit: Callable[[Members], Members], says: str
) -> None:
    assert refused(empty, put_together(edit(taken_apart(made))), tmp_path).startswith(says)


def test_after_a_refusal_a_good_backup_is_restored(made: bytes, empty: Store, tmp_path: Path) -> None:
    refused(empty, put_together(rows_with("leaves", lambda rows: rows.pop())(taken_apart(made))), tmp_path)
    (tmp_path / "good").write_bytes(made)
    assert restore_backup(empty, tmp_path / "good").size == 9


def line_with(old: bytes, new: bytes) -> Callable[[Members], Members]:
    """Change bytes of the first coup's line."""

    def apply(members: Members) -> Members:
        first, rest = members["coups.jsonl"].split(b"\n", 1)
        assert old in first
        return with_manifest(members | {"coups.jsonl": first.replace(old, new, 1) + b"\n" + rest})

    return apply


LINES: dict[str, tuple[Callable[[Members], Members], str]] = {
    "no_json": (line_with(b"[", b"("), "expected a JSON list, got something else"),
    "object": (line_with(b"[", b'{"a":['), "expected a JSON list, got something else"),
    "deep": (line_with(b"[", b"[" * 100_000), "expected a JSON list, got something else"),
    "long_number": (line_with(b",0,", b"," + b"9" * 5000 + b","), "expected a JSON list, got something else"),
    "blank": (line_with(b",0,", b", 0,"), "expected the row as it was printed, got another form of it"),
    "fewer": (line_with(b",0,", b","), "expected a list of 11 values, got another"),
    "more": (line_with(b",0,", b",0,0,"), "expected a list of 11 values, got another"),
    "float": (line_with(b",0,", b",0.0,"), "number: expected integer, got 'float'"),
    "bool": (line_with(b",0,", b",false,"), "number: expected integer, got 'bool'"),
    "text": (line_with(b",0,", b',"0",'), "number: expected integer, got 'str'"),
    "list": (line_with(b",0,", b",[],"), "number: expected integer, got 'list'"),
    "exponent": (line_with(b",0,", b",0e1,"), "number: expected integer, got 'float'"),
    "too_large": (line_with(b",0,", b",9223372036854775808,"), "number: expected integer, got 'int'"),
    "number_for_text": (line_with(b'"t"', b"7"), "table_id: expected text, got 'int'"),
    "escaped": (line_with(b'"t"', rb'"\u0074"'), "expected the row as it was printed, got another form of it"),
    "nul": (line_with(b'"t"', rb'"\u0000"'), "table_id: expected text, got 'str'"),
    "half_a_pair": (line_with(b'"t"', rb'"\ud834"'), "table_id: expected text, got 'str'"),
    "not_utf8": (line_with(b'"t"', b'"\xe9"'), "expected a JSON list, got something else"),
}


@ON_SQLITE
@pytest.mark.parametrize(("edit", "says"), LINES.values(), ids=LINES)
def test_lines_that_are_no_rows_are_refused(
    made: bytes, empty: Store, tmp_path: Path, edit: Callable[[Members], Members], says: str
) -> None:
    said = refused(empty, put_together(edit(taken_apart(made))), tmp_path)
    assert said.startswith("coups.jsonl line 1")
    assert said.endswith(says)


@ON_SQLITE
@pytest.mark.parametrize(
    ("hexed", "says"),
    [
        ("ABCD", "expected the row as it was printed, got another form of it"),
        ("ab cd", "expected the row as it was printed, got another form of it"),
        ("abc", "sealed_seed: expected bytes in hex, got other text"),
        ("xyz0", "sealed_seed: expected bytes in hex, got other text"),
        (7, "sealed_seed: expected bytes, got 'int'"),
    ],
)
def test_bytes_in_any_other_form_are_refused_and_not_shown(
    made: bytes, empty: Store, tmp_path: Path, hexed: object, says: str
) -> None:
    edited = put_together(value_at("signing_keys", 0, 1, hexed)(taken_apart(made)))
    assert refused(empty, edited, tmp_path).removeprefix("signing_keys.jsonl line 1").lstrip(":, ") == says


def test_a_refusal_of_the_database_shows_no_value(made: bytes, empty: Store, tmp_path: Path) -> None:
    said = refused(empty, put_together(value_at("coups", 0, 0, "secretive")(taken_apart(made))), tmp_path)
    assert said.startswith(f"table coups: expected {UNFIT}")
    assert "secretive" not in said


# --- one row -----------------------------------------------------------------------------------

COLUMNS = (Column("n", "integer"), Column("t", "text"), Column("b", "bytes"))
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(st.none() | st.integers(-(2**63), 2**63 - 1), st.none() | TEXT, st.none() | st.binary())
def test_every_row_prints_back(number: int | None, text: str | None, data: bytes | None) -> None:
    line = print_row(COLUMNS, (number, text, data))
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert parse_row(COLUMNS, line, "here") == {"n": number, "t": text, "b": data}


def test_a_row_is_a_list_in_json() -> None:
    """RFC 8259 §7: what is beyond the basic plane is escaped as a surrogate pair; U+1D11E is its own example."""
    line = print_row(COLUMNS, (2**63 - 1, "\N{MUSICAL SYMBOL G CLEF} \u00e9\n", b"\x00\xab"))
    assert line == b'[9223372036854775807,"\\ud834\\udd1e \\u00e9\\n","00ab"]\n'
    assert print_row(COLUMNS, (None, None, None)) == b"[null,null,null]\n"


@pytest.mark.parametrize(("row", "wrong"), [(("1", "t", b""), "n"), ((True, "t", b""), "n"), ((1, b"t", b""), "t"),
                                            ((1, "t", "b"), "b"), ((1.0, "t", b""), "n")])  # fmt: skip
def test_a_value_of_another_kind_is_not_printed(row: tuple[object, ...], wrong: str) -> None:
    with pytest.raises(SetupError, match=rf"^column {wrong}: expected \w+, got \w+$"):
        print_row(COLUMNS, row)
