"""The regulator's routes: every number is counted once more from the log's records, which are all that is believed.

Which records an export must hold is decided by looking at all of them; CSV is read back by Python's own reader, Parquet
by pyarrow's; the archive must be the bytes that the command writes, and pass the offline check.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from fractions import Fraction
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, update
from werkzeug.test import TestResponse

from api.access import KEY_ROLES
from api.cases.books import open_master
from api.cli import fairshoe
from api.db import triggers
from api.db.tables import BookRow, LeafRow, ShoeRow
from api.exports import formats, parquet
from api.exports.rows import Row
from api.exports.separated import print_separated
from api.routes import regulator
from api.routes.regulator import EXPORT_S, EXPORTS_AT_ONCE, TooSlow
from api.settings import VAULT_KEY
from shoe.proof.note import parse_vkey
from shoe.proof.seeds import server_seed
from shoe.proof.span import check_span
from tests.api.contract import watch
from tests.api.installation import ON_SQLITE, ORIGIN, SMALL, Installation, problem_of
from tests.api.test_backup import add_alarms

ROOT = Path(__file__).parents[2]
COLUMNS = ["log_index", "time", "type", "table", "shoe", "seq", "record"]
MEDIA = {"span": "application/octet-stream", "csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
PATHS = ["/v1/exports/records", "/v1/statistics/voids", "/v1/books/unused"]


@pytest.fixture
def filled(house: Installation) -> Installation:
    """Tables t and u: a revealed shoe, voids for three reasons, runs of them, live shoes; books ended and not."""
    watch(house.app)
    house.table("t", book=4, **SMALL)
    house.deal_out(house.sealed())
    for _ in range(2):
        house.clock.forward(10)
        void(house, house.open())
    end_book(house, 3)
    house.clock.forward(10)
    late = house.open()
    house.clock.forward(3601)
    void(house, late, "deadline")
    end_book(house, 5)
    house.table("u", book=2, decks=1, entropy="two_phase")
    withheld = house.open("u")
    house.commit(withheld, "a-seed")
    house.post(f"/shoes/{withheld}/lock")
    house.clock.forward(121)
    void(house, withheld, "seed_missing")
    house.clock.forward(10)
    void(house, house.open("u"))
    house.post("/tables/u/books", {"size": 1})
    house.clock.forward(10)
    house.open("u")
    house.deal_out(house.sealed())
    return house


def void(house: Installation, shoe: str, reason: str = "operator") -> None:
    house.post(f"/shoes/{shoe}/void", {"reason": reason})


def end_book(house: Installation, size: int) -> None:
    """Publish table t's next book, and end the one before it."""
    root = house.get("/tables/t/books")["books"][-1]["root"]
    house.post("/tables/t/books", {"size": size})
    house.post(f"/tables/t/books/{root}/end")


def log(house: Installation) -> list[dict[str, Any]]:
    """All records of the log, read."""
    with house.service.reading() as session:
        return [json.loads(each) for each in session.scalars(select(LeafRow.record).order_by(LeafRow.log_index))]


def log_bytes(house: Installation) -> list[bytes]:
    with house.service.reading() as session:
        return list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))


def export(house: Installation, query: str = "", status: int = 200) -> TestResponse:
    response = house.client.get(f"/v1/exports/records{query}")
    assert response.status_code == status, response.text
    return response


def between(since: str | None, until: str | None) -> str:
    return "".join(f"&{name}={time}" for name, time in (("from", since), ("to", until)) if time is not None)


def inside(records: Iterable[Mapping[str, Any]], since: str | None, until: str | None) -> list[int]:
    return [
        index
        for index, record in enumerate(records)
        if (since or "") <= record["time"] and (until is None or record["time"] < until)
    ]


def spans_of(house: Installation) -> list[tuple[str | None, str | None]]:
    times = sorted({record["time"] for record in log(house)})
    ends = [None, "2020-01-01T00:00:00.000000Z", times[0], times[3], times[-1], "2030-01-01T00:00:00.000000Z"]
    return [(since, until) for since in ends for until in ends if since is None or until is None or since <= until]


def expected_rows(house: Installation, since: str | None, until: str | None) -> list[tuple[Any, ...]]:
    """The rows by the records: a shoe's table is that of its `open`, wherever that lies."""
    records, data = log(house), log_bytes(house)
    tables = {record["shoe"]: record["table"] for record in records if record["type"] == "open"}
    rows = []
    for index in inside(records, since, until):
        record = records[index]
        table = record.get("table") or tables.get(record.get("shoe"))
        shown = record["time"], record["type"], table, record.get("shoe"), record.get("seq"), data[index].decode()
        rows.append((index, *shown))
    return rows


# --- exports: what is in them ------------------------------------------------------------------


def test_the_archive_is_the_commands_bytes_and_proves_the_records_of_its_time(
    filled: Installation, tmp_path: Path
) -> None:
    records, key = log_bytes(filled), parse_vkey(filled.client.get("/v1/log/key").text.strip())
    for number, (since, until) in enumerate(spans_of(filled)):
        archive = export(filled, f"?format=span{between(since, until)}").data
        taken: list[tuple[int, bytes]] = []
        check_span(io.BytesIO(archive), [key], ORIGIN, lambda *record, to=taken: to.append(record))
        assert taken == [(index, records[index]) for index in inside(log(filled), since, until)]
        path = tmp_path / str(number)
        command(filled, path, since, until)
        assert path.read_bytes() == archive


def test_csv_has_a_row_a_record_of_its_time(filled: Installation) -> None:
    for since, until in spans_of(filled):
        text = export(filled, f"?format=csv{between(since, until)}").text
        assert text.count("\r\n") == text.count("\n") == len(expected_rows(filled, since, until)) + 1
        header, *rows = csv.reader(io.StringIO(text, newline=""))
        assert header == COLUMNS
        wanted = expected_rows(filled, since, until)
        assert rows == [["" if cell is None else str(cell) for cell in row] for row in wanted]


def test_parquet_has_the_same_rows_typed_and_names_its_checkpoint(filled: Installation) -> None:
    pyarrow_parquet = pytest.importorskip("pyarrow.parquet")
    for since, until in spans_of(filled):
        table = pyarrow_parquet.read_table(io.BytesIO(export(filled, f"?format=parquet{between(since, until)}").data))
        assert table.schema.names == COLUMNS
        wanted = expected_rows(filled, since, until)
        rows = [tuple(row.values()) for row in table.to_pylist()]
        assert rows == [(row[0], datetime.fromisoformat(row[1]), *row[2:]) for row in wanted]
        assert all(row[1].utcoffset().total_seconds() == 0 for row in rows)
    assert table.schema.metadata[b"checkpoint"].decode() == filled.checkpoint()
    assert [str(kind) for kind in table.schema.types][:2] == ["int64", "timestamp[us, tz=UTC]"]


def test_without_a_format_it_is_the_archive_and_without_times_the_whole_log(filled: Installation) -> None:
    assert export(filled).data == export(filled, "?format=span").data
    assert [row[0] for row in expected_rows(filled, None, None)] == list(range(filled.size()))


def test_an_earlier_size_gives_the_same_bytes_when_the_log_has_grown(filled: Installation) -> None:
    size = filled.size()
    before = {name: export(filled, f"?format={name}").data for name in MEDIA}
    filled.table("later")
    assert {name: export(filled, f"?format={name}&size={size}").data for name in MEDIA} == before
    assert all(export(filled, f"?format={name}").data != data for name, data in before.items())


@pytest.mark.parametrize("name", MEDIA)
def test_it_is_a_file_of_its_media_type_and_nobody_keeps_it(filled: Installation, name: str) -> None:
    response = export(filled, f"?format={name}&from=2026-01-31T12:00:00.000000Z")
    assert response.mimetype == MEDIA[name]
    assert response.headers["Content-Disposition"] == (
        f'attachment; filename="records-2026-01-31T120000.000000Z-end.{name}"'
    )
    assert response.headers["Cache-Control"] == "no-store"
    streamed = filled.client.get(f"/v1/exports/records?format={name}", buffered=False)
    assert "Content-Length" not in streamed.headers
    streamed.close()


WORDS = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=128)
"""What a record's names may be made of (protocol §8)."""


@given(WORDS, WORDS | st.none(), WORDS | st.none())
def test_no_cell_of_csv_is_a_formula_and_its_reader_gets_the_words_back(
    kind: str, table: str | None, shoe: str | None
) -> None:
    time, record = "2026-01-31T12:00:00.000000Z", '{"a":"=1, \\"x\\""}'
    header, line = print_separated([Row(7, time, kind, table, shoe, None, record)])
    assert header == b"log_index,time,type,table,shoe,seq,record\r\n"
    (cells,) = csv.reader(io.StringIO(line.decode(), newline=""))
    assert not any(re.match(r"[=+\-@\t\r]", cell) for cell in cells)
    words = [cell.removeprefix("'") if re.match(r"'[=+\-@]", cell) else cell for cell in cells[2:5]]
    given = [word or "" for word in (kind, table, shoe)]
    assert [words, cells[:2], cells[5:]] == [
        [word.removeprefix("'") if re.match(r"'[=+\-@]", word) else word for word in given],
        ["7", time],
        ["", record],
    ]


# --- exports: what they take, and what is refused ----------------------------------------------


def test_pieces_come_before_the_whole_is_read_and_a_write_meanwhile_is_not_in_it(filled: Installation) -> None:
    add_alarms(filled, 1500)
    size = filled.size()
    response = filled.client.get("/v1/exports/records?format=csv", buffered=False)
    pieces = response.iter_encoded()
    first = next(pieces)
    filled.table("meanwhile")
    rest = list(pieces)
    response.close()
    assert rest
    assert len(first) < 2**17
    assert (first + b"".join(rest)).count(b"\r\n") == size + 1


def test_so_many_run_at_once_and_one_that_is_left_makes_room(filled: Installation) -> None:
    add_alarms(filled, 1500)
    running = [filled.client.get("/v1/exports/records", buffered=False) for _ in range(EXPORTS_AT_ONCE)]
    assert [response.status_code for response in running] == [200] * EXPORTS_AT_ONCE
    response = filled.client.get("/v1/exports/records")
    assert problem_of(response, "exports-busy", 503) == f"{EXPORTS_AT_ONCE} exports run in this process."
    assert response.headers["Retry-After"] == "30"
    running[0].close()
    assert export(filled).data
    half_read = filled.client.get("/v1/exports/records?format=csv", buffered=False)
    next(half_read.iter_encoded())
    half_read.close()
    for _ in range(3):
        filled.client.head("/v1/exports/records")
        export(filled, "?size=999999", 404)
    for response in running:
        response.close()


def test_who_reads_too_slowly_is_left(filled: Installation) -> None:
    add_alarms(filled, 1500)
    response = filled.client.get("/v1/exports/records?format=csv", buffered=False)
    pieces = response.iter_encoded()
    next(pieces)
    filled.clock.forward(EXPORT_S + 1)
    with pytest.raises(TooSlow, match="not read within 3600 seconds"):
        next(pieces)
    response.close()


def test_an_export_is_bounded(filled: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    size = filled.size()
    monkeypatch.setattr(regulator, "MAX_RECORDS", size)
    assert export(filled).data
    monkeypatch.setattr(regulator, "MAX_RECORDS", size - 1)
    detail = problem_of(export(filled, "", 422), "invalid", 422)
    assert detail == f"from, to: expected a time of at most {size - 1} records, got {size}; ask for parts of it"
    assert export(filled, "?from=2030-01-01T00:00:00.000000Z").data


@pytest.mark.parametrize("name", MEDIA)
def test_a_log_that_proves_nothing_gives_no_byte_of_it(filled: Installation, name: str) -> None:
    with filled.service.store.writing() as session:
        triggers.remove(session.connection())
        (first, second) = session.scalars(select(LeafRow.record).where(LeafRow.log_index.in_([3, 4]))).all()
        for index, record in ((3, second), (4, first)):
            session.execute(update(LeafRow).where(LeafRow.log_index == index).values(record=record))
    assert problem_of(export(filled, f"?format={name}", 503), "log-unproven", 503).startswith("root of ")


REFUSED = {
    "unknown_format": ("?format=xlsx", 422, "format: "),
    "unknown_key": ("?until=2026-01-31T12:00:00.000000Z", 422, "until: "),
    "no_time": ("?from=yesterday", 422, "from: "),
    "time_without_decimals": ("?to=2026-01-31T12:00:00Z", 422, "to: "),
    "no_such_day": ("?to=2026-02-30T12:00:00.000000Z", 422, "to: "),
    "backwards": (
        "?from=2026-01-31T12:00:01.000000Z&to=2026-01-31T12:00:00.000000Z",
        422,
        "to: expected a time not before 2026-01-31T12:00:01.000000Z, got '2026-01-31T12:00:00.000000Z'",
    ),
    "twice": ("?format=csv&format=span", 422, "query: expected each key once"),
    "negative_size": ("?size=-1", 422, "size: "),
    "size_over_the_head": ("?size=999999", 404, "There is no signed checkpoint over records in number '999999'."),
}


@pytest.mark.parametrize(("query", "status", "says"), REFUSED.values(), ids=REFUSED)
@ON_SQLITE
def test_what_is_refused_of_an_export(house: Installation, query: str, status: int, says: str) -> None:
    watch(house.app)
    detail = problem_of(export(house, query, status), "invalid" if status == 422 else "not-found", status)
    assert detail.startswith(says)


def test_without_the_extra_parquet_is_refused_and_the_others_are_made(
    filled: Installation, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(formats, "installed", lambda: False)
    response = export(filled, "?format=parquet", 409)
    assert "extra `parquet`" in problem_of(response, "parquet-not-installed", 409)
    assert "pip install 'fairshoe[parquet]'" in response.json["next"]
    assert export(filled, "?format=csv").data
    result = command(filled, tmp_path / "x", None, None, "--format", "parquet", code=3)
    assert result == "fairshoe: --format parquet: pyarrow is not installed; install fairshoe[parquet]\n"
    assert not (tmp_path / "x").exists()


def test_parquet_is_loaded_only_when_it_is_made() -> None:
    code = "import sys, api.routes.regulator, api.cli.exported; print('pyarrow' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


def test_the_extra_is_there_where_python_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    assert parquet.installed()
    monkeypatch.setattr("api.exports.parquet.find_spec", lambda name: None if name == "pyarrow" else 1)
    assert not parquet.installed()


# --- exports: the command ----------------------------------------------------------------------


def command(house: Installation, path: Path, since: str | None, until: str | None, *further: str, code: int = 0) -> str:
    """Run `fairshoe export`; give what it prints, or complains of where it must fail."""
    times = [part for name, time in (("--from", since), ("--to", until)) if time for part in (name, time)]
    env = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url, VAULT_KEY: None}
    result = CliRunner(env=env).invoke(fairshoe, ["export", *times, "--out", str(path), *further])
    assert (result.exit_code, (result.stdout if code else result.stderr)) == (code, ""), result.output
    return result.stderr if code else result.stdout


@pytest.mark.parametrize("name", MEDIA)
def test_the_command_writes_the_same_bytes_in_every_format(filled: Installation, tmp_path: Path, name: str) -> None:
    path, since = tmp_path / f"all.{name}", log(filled)[5]["time"]
    printed = json.loads(command(filled, path, since, None, "--format", name, "--json"))
    assert path.read_bytes() == export(filled, f"?format={name}&from={since}").data
    assert (printed["records"], printed["bytes"]) == (len(inside(log(filled), since, None)), path.stat().st_size)


# --- memory ------------------------------------------------------------------------------------

MANY, FEW = 27_000, 9_000
PEAKS = """
import json, resource, sys, tracemalloc
from pathlib import Path
from api import create_app
from api.settings import Settings
from api.world import real_world
folder, url, until = sys.argv[1], sys.argv[2] or None, sys.argv[3]
app = create_app(Settings(Path(folder), database_url=url), real_world())
headers = {"Authorization": "Bearer " + Path(folder, "operator.key").read_text().strip()}
def peak(query):
    tracemalloc.start()
    response = app.test_client().get("/v1/exports/records?format=" + query, headers=headers, buffered=False)
    assert response.status_code == 200, response.text
    size = sum(map(len, response.iter_encoded()))
    response.close()
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return size, found
found = {}
for name in ("span", "csv", "parquet"):
    few, after_few = peak(name + "&to=" + until), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    many, after_many = peak(name), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found[name] = [few, many, after_many - after_few]
print(json.dumps(found))
"""


@pytest.mark.slow
def test_memory_does_not_grow_with_the_records(house: Installation) -> None:
    """Three times the records, 5 MB of text, and no more memory, neither Python's nor the process's, in any format."""
    for count in (FEW, MANY - FEW):
        for _ in range(count // 1000):
            add_alarms(house, 1000)
        house.clock.forward(1)
    arguments = [str(house.folder), house.database_url or "", "2026-01-31T12:00:01.000000Z"]
    run = [sys.executable, "-c", PEAKS, *arguments]
    result = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    for name, ((few_bytes, few), (many_bytes, many), grown_kb) in json.loads(result.stdout).items():
        assert many_bytes > (2 if name == "parquet" else 2.9) * few_bytes
        assert many < few + 500_000, name
        assert grown_kb < 12_000, name


# --- voids -------------------------------------------------------------------------------------


def recount(house: Installation, table: str | None, since: str | None, until: str | None) -> dict[str, Any]:
    """Count voids from the records alone: runs by walking through every table's shoes in the order of their opens."""
    records = log(house)
    opens = [(index, each) for index, each in enumerate(records) if each["type"] == "open"]
    ends = {e["shoe"]: (index, e) for index, e in enumerate(records) if e["type"] in ("reveal", "void")}
    runs: Counter[str] = Counter()
    found: list[dict[str, Any]] = []
    states: Counter[str] = Counter()
    for index, opened in opens:
        end_index, end = ends.get(opened["shoe"], (None, {"type": "live"}))
        runs[opened["table"]] = runs[opened["table"]] + 1 if end["type"] == "void" else 0
        in_scope = (since or "") <= opened["time"] and (until is None or opened["time"] < until)
        if table not in (None, opened["table"]) or not in_scope:
            continue
        states[end["type"]] += 1
        if end["type"] == "void":
            found.append(
                {
                    "shoe": opened["shoe"],
                    "table": opened["table"],
                    "opened": opened["time"],
                    "voided": end["time"],
                    "reason": end["reason"],
                    "in_row": runs[opened["table"]],
                    "coups": end["coups"],
                    "open_index": index,
                    "index": end_index,
                }
            )
    ended = states["reveal"] + states["void"]
    rate = Fraction(states["void"], ended) if ended else None
    reasons = Counter(each["reason"] for each in found)
    return {
        "scope": {"table": table, "from": since, "to": until},
        "opened": states.total(),
        "live": states["live"],
        "revealed": states["reveal"],
        "void": states["void"],
        "by_reason": {name: reasons[name] for name in ("seed_missing", "beacon_missing", "deadline", "operator")},
        "rate": None if rate is None else str(rate),
        "rate_decimal": None if rate is None else f"{round(rate * 10**12) / 10**12:.12f}",
        "longest_run": max(found, key=lambda each: each["in_row"], default=None),
        "void_shoes": found,
        "next": None,
    }


@pytest.mark.parametrize("table", [None, "t", "u"])
def test_voids_are_what_a_recount_of_the_records_finds(filled: Installation, table: str | None) -> None:
    for since, until in spans_of(filled):
        query = between(since, until) + (f"&table={table}" if table else "")
        assert filled.get(f"/statistics/voids?{query[1:]}") == recount(filled, table, since, until)


def test_the_story_of_the_fixture_is_told(filled: Installation) -> None:
    """What the fixture does, by hand: t reveals, voids thrice, reveals; u voids twice and opens one."""
    told = filled.get("/statistics/voids")
    assert {name: told[name] for name in ("opened", "live", "revealed", "void")} == {
        "opened": 8,
        "live": 1,
        "revealed": 2,
        "void": 5,
    }
    assert told["by_reason"] == {"seed_missing": 1, "beacon_missing": 0, "deadline": 1, "operator": 3}
    assert (told["rate"], told["rate_decimal"]) == ("5/7", "0.714285714286")
    assert (told["longest_run"]["table"], told["longest_run"]["in_row"]) == ("t", 3)
    assert [each["in_row"] for each in told["void_shoes"]] == [1, 2, 3, 1, 2]


def test_pages_of_void_shoes_join_to_the_whole_list(filled: Installation) -> None:
    whole, pages, after = filled.get("/statistics/voids")["void_shoes"], [], ""
    while True:
        page = filled.get(f"/statistics/voids?limit=2{after}")
        pages.append(page["void_shoes"])
        assert page["void"] == len(whole)
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert [len(each) for each in pages] == [2, 2, 1]
    assert list(chain.from_iterable(pages)) == whole


def test_without_an_ended_shoe_there_is_no_rate(house: Installation) -> None:
    watch(house.app)
    house.table("t", **SMALL)
    house.open()
    told = house.get("/statistics/voids?table=t")
    assert (told["opened"], told["live"], told["rate"], told["rate_decimal"], told["longest_run"]) == (
        1,
        1,
        None,
        None,
        None,
    )


# --- unused seeds ------------------------------------------------------------------------------


def unused_by_records(house: Installation, table: str | None) -> list[dict[str, Any]]:
    """Ended books with the indices that no `open` names, from the records alone."""
    records = log(house)
    used: dict[str, set[int]] = {}
    for each in records:
        if each["type"] == "open":
            used.setdefault(each["book"]["root"], set()).add(each["index"])
    ends = {each["root"]: index for index, each in enumerate(records) if each["type"] == "book_end"}
    books = [(index, each) for index, each in enumerate(records) if each["type"] == "book" and each["root"] in ends]
    return [
        {
            "root": each["root"],
            "table": each["table"],
            "size": each["size"],
            "index": index,
            "end_index": ends[each["root"]],
            "unused": sorted(set(range(each["size"])) - used.get(each["root"], set())),
        }
        for index, each in books
        if table in (None, each["table"])
    ]


def spread(book: Mapping[str, Any]) -> dict[str, Any]:
    """A book as the service shows it, its ranges written out; they must be in order and not touch."""
    ranges = [(each["first"], each["last"]) for each in book["unused"]]
    assert all(first <= last for first, last in ranges)
    assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))
    indices = [index for first, last in ranges for index in range(first, last + 1)]
    assert book["unused_count"] == len(indices)
    return {**{name: book[name] for name in ("root", "table", "size", "index", "end_index")}, "unused": indices}


@pytest.mark.parametrize("table", [None, "t", "u"])
def test_unused_seeds_are_those_that_no_open_names(filled: Installation, table: str | None) -> None:
    shown = filled.get("/books/unused" + (f"?table={table}" if table else ""))
    assert [spread(book) for book in shown["books"]] == unused_by_records(filled, table)
    by_hand = {None: [[3], [1, 2], []], "t": [[3], [1, 2]], "u": [[]]}
    assert [spread(book)["unused"] for book in shown["books"]] == by_hand[table]
    assert shown["next"] is None


def test_the_seeds_end_with_a_master_that_makes_them(filled: Installation) -> None:
    """The record at `end_index` is the book's end: anybody computes the unused seeds from its master."""
    for book in filled.get("/books/unused")["books"]:
        end = log(filled)[book["end_index"]]
        assert (end["type"], end["root"]) == ("book_end", book["root"])


def test_seeds_that_were_skipped_in_the_database_are_found(house: Installation) -> None:
    """Somebody who has the database may let a book skip seeds, to choose among shoes: the gaps show it."""
    watch(house.app)
    house.table("t", book=9, **SMALL)
    for following in (0, 3, 6):
        with house.service.store.writing() as session:
            session.execute(update(BookRow).values(next_index=following))
        void(house, house.open())
    end_book(house, 1)
    (book,) = house.get("/books/unused")["books"]
    assert book["unused"] == [{"first": 1, "last": 2}, {"first": 4, "last": 5}, {"first": 7, "last": 8}]
    assert [spread(book)] == unused_by_records(house, None)


def test_a_book_that_was_never_used_is_unused_whole(house: Installation) -> None:
    watch(house.app)
    house.table("t", book=3, **SMALL)
    end_book(house, 1)
    (book,) = house.get("/books/unused")["books"]
    assert (book["unused"], book["unused_count"]) == ([{"first": 0, "last": 2}], 3)


def test_pages_of_books_join_to_the_whole_list(filled: Installation) -> None:
    whole = filled.get("/books/unused")["books"]
    first = filled.get("/books/unused?limit=2")
    second = filled.get(f"/books/unused?limit=2&after={first['next']}")
    assert first["books"] + second["books"] == whole
    assert (len(first["books"]), second["next"]) == (2, None)


# --- who may, and what is refused --------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_only_a_regulator_may(filled: Installation, path: str) -> None:
    for role in KEY_ROLES:
        token = filled.post("/keys", {"roles": [role]})["token"]
        response = filled.client.get(path, headers={"Authorization": f"Bearer {token}"})
        assert response.status_code == (200 if role == "regulator" else 403)
    seat = filled.post("/tables/t/seats")["token"]
    response = filled.client.get(path, headers={"Authorization": f"Bearer {seat}"})
    assert "role regulator" in problem_of(response, "forbidden", 403)
    response = filled.client.get(path, headers={"Authorization": "none"})
    assert "role regulator" in problem_of(response, "unauthenticated", 401)


@pytest.mark.parametrize("path", PATHS[1:])
@pytest.mark.parametrize(
    ("query", "status", "slug"),
    [
        ("table=nowhere", 404, "not-found"),
        ("table=T", 422, "invalid"),
        ("limit=0", 422, "invalid"),
        ("limit=1001", 422, "invalid"),
        ("limit=+7", 422, "invalid"),
        ("after=-1", 422, "invalid"),
        ("after=x", 422, "invalid"),
        ("after=" + "9" * 60, 422, "invalid"),
        ("shoe=1", 422, "invalid"),
    ],
)
@ON_SQLITE
def test_what_is_refused_of_lists(house: Installation, path: str, query: str, status: int, slug: str) -> None:
    watch(house.app)
    assert problem_of(house.client.get(f"{path}?{query}"), slug, status)


def test_no_seed_is_in_an_export_before_its_reveal(filled: Installation) -> None:
    """The live shoe's seed, and the masters of the books that go on, as the vault holds them."""
    with filled.service.reading() as session:
        live = session.scalars(select(ShoeRow).where(ShoeRow.state == "open")).one()
        books = session.scalars(select(BookRow).where(BookRow.state == "published")).all()
        secrets = {open_master(filled.service, book) for book in books}
        secrets.add(server_seed(open_master(filled.service, session.get_one(BookRow, live.book_root)), live.seed_index))
    assert len(secrets) == 3
    for path in ("/v1/exports/records?format=csv", "/v1/exports/records", *PATHS[1:]):
        assert not any(secret.hex() in filled.client.get(path).text for secret in secrets)
