"""Exports: every record of a span of time, in an archive that anyone checks without the service.

Which records belong in is decided here by looking at all of them; that an archive can't be altered without being seen
is for tests/shoe/test_span.py, and here for the command.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import event, select, update

from api.backup.making import make_backup
from api.backup.restoring import restore_backup
from api.cases.exporting import export_span
from api.cli import fairshoe
from api.db import triggers
from api.db.sessions import open_store
from api.db.tables import LeafRow
from api.refusals import Refusal
from shoe.errors import InputError, ProofError
from shoe.proof.note import SignerKey, parse_vkey
from shoe.proof.span import Span, check_span
from tests.api.installation import ORIGIN, SMALL, Found, Installation
from tests.api.test_backup import Target, add_alarms, peak_of, target

__all__ = ["target"]


@pytest.fixture
def filled(house: Installation) -> Installation:
    """Some 25 records over a minute, several of one time among them."""
    house.table("t", **SMALL)
    house.clock.forward(10)
    house.deal_out(house.sealed())
    for _ in range(3):
        house.clock.forward(10)
        house.post(f"/shoes/{house.open()}/void", {"reason": "operator"})
    house.clock.forward(10)
    house.table("u")
    return house


def records(house: Installation) -> list[bytes]:
    with house.service.reading() as session:
        return list(session.scalars(select(LeafRow.record).order_by(LeafRow.log_index)))


def vkey(house: Installation) -> str:
    return str(house.client.get("/v1/log/key").text).strip()


def export(house: Installation, since: str | None, until: str | None, size: int | None = None) -> tuple[bytes, Span]:
    file = io.BytesIO()
    with house.service.reading() as session:
        span = export_span(session, file, since, until, size)
    return file.getvalue(), span


def checked(house: Installation, archive: bytes) -> list[tuple[int, bytes]]:
    """Check an archive under the log's key, and list the records of its time with their indices."""
    taken: list[tuple[int, bytes]] = []
    check_span(io.BytesIO(archive), [parse_vkey(vkey(house))], ORIGIN, lambda *record: taken.append(record))
    return taken


def at(second: int) -> str:
    return f"2026-01-31T12:00:{second:02}.000000Z"


def time_of(record: bytes) -> str:
    return str(json.loads(record)["time"])


# --- what is in it -----------------------------------------------------------------------------


def test_every_span_has_the_records_of_its_time_and_no_others(filled: Installation) -> None:
    everything = records(filled)
    times = sorted(set(map(time_of, everything)))
    assert len(times) == 6
    moments = [
        None,
        "2026-01-31T11:59:59.999999Z",
        *times,
        times[2].replace("000Z", "001Z"),
        "2027-01-01T00:00:00.000000Z",
    ]
    for since in moments:
        for until in moments:
            if since is not None and until is not None and since > until:
                continue
            archive, span = export(filled, since, until)
            wanted = [
                (index, record)
                for index, record in enumerate(everything)
                if (since is None or time_of(record) >= since) and (until is None or time_of(record) < until)
            ]
            assert checked(filled, archive) == wanted
            assert (span.inside, span.checkpoint.size) == (len(wanted), len(everything))


def test_it_ends_in_the_newest_checkpoint_or_in_the_one_asked_for(filled: Installation) -> None:
    archive, _ = export(filled, None, None)
    assert archive.endswith(b"\n\n" + filled.checkpoint().encode())
    older, span = export(filled, None, None, 2)
    assert (span.checkpoint.size, [record for _, record in checked(filled, older)]) == (2, records(filled)[:2])


def test_the_same_span_under_the_same_checkpoint_is_the_same_bytes_when_the_log_has_grown(filled: Installation) -> None:
    since, until, size = time_of(records(filled)[3]), None, filled.size()
    before, _ = export(filled, since, until)
    filled.table("later")
    assert export(filled, since, until, size)[0] == before
    assert export(filled, since, until)[0] != before


@pytest.mark.parametrize("other", ["sqlite", "postgresql"])
def test_the_other_database_gives_the_same_bytes(
    filled: Installation, found: Found, tmp_path: Path, target: Target, other: str
) -> None:
    make_backup(filled.service.store, tmp_path / "backup")
    (tmp_path / "copy").mkdir(mode=0o700)
    store = open_store(target(other) or str(tmp_path / "copy" / "fairshoe.sqlite3"))
    restore_backup(store, tmp_path / "backup")
    spans = [(None, None), (time_of(records(filled)[2]), time_of(records(filled)[-1]))]
    for since, until in spans:
        file = io.BytesIO()
        with store.reading() as session:
            export_span(session, file, since, until)
        assert file.getvalue() == export(filled, since, until)[0]
    store.engine.dispose()


def test_a_log_with_a_few_records_is_exported_whole(house: Installation) -> None:
    archive, span = export(house, None, None)
    assert checked(house, archive) == [(0, records(house)[0])]
    assert (span.header.first, span.header.count, span.inside) == (0, 1, 1)


# --- what it costs -----------------------------------------------------------------------------

MANY = 24_000


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A log of 24,000 records, a thousand of each second."""
    house = Installation(tmp_path_factory.mktemp("many") / "house")
    for _ in range(MANY // 1000):
        house.clock.forward(1)
        add_alarms(house, 1000)
    yield house
    house.stop()


@contextmanager
def counting(house: Installation) -> Iterator[list[str]]:
    """The statements sent to the database meanwhile."""
    sent: list[str] = []

    def note(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
        sent.append(statement)

    event.listen(house.service.store.engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(house.service.store.engine, "before_cursor_execute", note)


@pytest.mark.slow
def test_a_short_span_of_a_long_log_takes_few_reads(many: Installation) -> None:
    """Two binary searches of at most ⌈log₂ 24,001⌉ = 15 steps each; head, checkpoint, nodes, keys, records; BEGIN."""
    with counting(many) as sent:
        _, span = export(many, at(10), at(11))
    assert span.inside == 1000
    assert len(sent) <= 2 * 15 + 6


@pytest.mark.slow
def test_exporting_and_checking_take_no_memory_for_the_records(many: Installation, tmp_path: Path) -> None:
    """24,000 records of 175 bytes are 4 MB as text alone; an eighth of them needs as much memory as all do."""
    key, peaks = parse_vkey(vkey(many)), []
    for until in (at(4), None):
        path = tmp_path / f"{until}"

        def write(to: Path = path, until: str | None = until) -> None:
            with to.open("wb") as file, many.service.reading() as session:
                export_span(session, file, None, until)

        def check(at: Path = path) -> None:
            with at.open("rb") as file:
                assert check_span(file, [key]).inside >= 3000

        peaks.append((peak_of(write), peak_of(check)))
    assert path.stat().st_size > 4_000_000
    for few, all_ in zip(*peaks, strict=True):
        assert all_ < few + 200_000
        assert all_ < 2_500_000


# --- what is refused ---------------------------------------------------------------------------


def test_a_checkpoint_that_was_never_signed_has_no_archive(filled: Installation) -> None:
    for size in (0, filled.size() + 1):
        with pytest.raises(Refusal, match=f"^There is no signed checkpoint over records in number '{size}'.$"):
            export(filled, None, None, size)


def test_a_span_that_ends_before_it_begins_is_refused(filled: Installation) -> None:
    with pytest.raises(InputError, match=r"^to: expected a time not before 2026-01-31T12:00:10"):
        export(filled, at(10), at(9))


def swap_records(house: Installation) -> None:
    """Exchange two records of one time, as somebody could who has the database."""
    four, five = records(house)[4:6]
    with house.service.store.writing() as session:
        triggers.remove(session.connection())
        for index, record in ((4, five), (5, four)):
            there = LeafRow.log_index == index
            session.execute(update(LeafRow).where(there).values(record=record))


def test_a_log_that_was_tampered_with_gives_no_archive(filled: Installation) -> None:
    swap_records(filled)
    with pytest.raises(ProofError, match=r"^root of "):
        export(filled, None, None)


# --- the command -------------------------------------------------------------------------------


def call(*args: str, house: Installation | None = None, stdin: bytes | None = None) -> Result:
    environment = {
        "FAIRSHOE_DATA": str(house.folder) if house else "none",
        "DATABASE_URL": house and house.database_url,
    }
    return CliRunner(env=environment).invoke(fairshoe, ["export", *args], input=stdin)


def refused(result: Result, code: int) -> str:
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.fixture
def archive(filled: Installation, tmp_path: Path) -> Path:
    """The archive of everything, by the command."""
    result = call("--out", str(tmp_path / "all.span"), house=filled)
    assert (result.exit_code, result.stderr) == (0, "")
    return tmp_path / "all.span"


def test_the_command_writes_what_the_check_accepts(filled: Installation, tmp_path: Path) -> None:
    path, everything = tmp_path / "some.span", records(filled)
    since, until = time_of(everything[2]), time_of(everything[-2])
    result = call("--from", since, "--to", until, "--out", str(path), "--json", house=filled)
    assert (result.exit_code, result.stderr) == (0, "")
    inside = [record for record in everything if since <= time_of(record) < until]
    first = everything.index(inside[0]) - 1
    origin, size, _ = filled.checkpoint().split("\n")[:3]
    described = {
        "log": origin,
        "from": since,
        "to": until,
        "records": len(inside),
        "first_time": time_of(inside[0]),
        "last_time": time_of(inside[-1]),
        "first": first,
        "count": len(inside) + 2,
        "size": int(size),
        "root": json.loads(call("check", str(path), "--vkey", vkey(filled), "--json").stdout)["root"],
    }
    assert json.loads(result.stdout) == {"file": str(path), **described, "bytes": path.stat().st_size}
    by_type = Counter(json.loads(record)["type"] for record in inside)
    result = call("check", str(path), "--vkey", vkey(filled), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert json.loads(result.stdout) == {"verdict": "verified", **described, "by_type": dict(sorted(by_type.items()))}
    assert path.stat().st_mode & 0o111 == 0


def test_people_read_span_records_and_types(filled: Installation, archive: Path) -> None:
    result = call("check", str(archive), "--vkey", vkey(filled))
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    count = len(records(filled))
    assert lines[0] == "Verdict  verified"
    assert lines[1] == "Span     the beginning to the end"
    assert lines[2] == f"Records  {count}, from 2026-01-31T12:00:00.000000Z to 2026-01-31T12:00:50.000000Z"
    assert lines[3].startswith(f"Log      {ORIGIN}: {count} records, root ")
    assert lines[5].split() == ["type", "records"]
    kinds = Counter(json.loads(record)["type"] for record in records(filled))
    assert [line.split() for line in lines[6:]] == [[kind, str(kinds[kind])] for kind in sorted(kinds)]


def test_a_span_without_records_is_whole_too(filled: Installation, tmp_path: Path) -> None:
    path, moment = tmp_path / "empty.span", at(5)
    made = call("--from", moment, "--to", moment, "--out", str(path), house=filled)
    assert (made.exit_code, made.stdout.splitlines()[1]) == (0, "Records  0")
    result = call("check", str(path), "--vkey", vkey(filled), "--json")
    printed = json.loads(result.stdout)
    assert (printed["records"], printed["count"], printed["first_time"], printed["by_type"]) == (0, 2, None, {})


def test_an_earlier_checkpoint_gives_the_same_file_again(filled: Installation, archive: Path, tmp_path: Path) -> None:
    size = filled.size()
    filled.table("later")
    call("--out", str(tmp_path / "again.span"), "--checkpoint", str(size), house=filled)
    assert (tmp_path / "again.span").read_bytes() == archive.read_bytes()


def test_the_check_reads_standard_input_and_key_files(filled: Installation, archive: Path, tmp_path: Path) -> None:
    (tmp_path / "vkey").write_text(vkey(filled) + "\n")
    result = call("check", "-", "--vkey", str(tmp_path / "vkey"), "--origin", ORIGIN, stdin=archive.read_bytes())
    assert result.exit_code == 0


STRANGER = str(SignerKey.from_seed(ORIGIN, hashlib.sha256(b"stranger").digest()).vkey)

ALTERED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda _: b"", "span: expected a header, got 'the end of the text'"),
    "text": (lambda _: b"hello\n", "line 1, span header: not JSON at character 0"),
    "no_newline": (lambda _: b"x" * 200_000, "line 1: expected a header and a newline"),
    "cut_off": (lambda text: text[:-150], ""),
    "record_gone": (lambda text: b"\n".join(text.split(b"\n")[:3] + text.split(b"\n")[4:]), "line "),
    "record_edited": (lambda text: text.replace(b'"reason":"operator"', b'"reason":"deadline"', 1), "root of "),
    "long_line": (
        lambda text: text.replace(b"\n", b"\n" + b" " * 70_000, 1),
        "line 2: expected record 0 and a newline",
    ),
}


@pytest.mark.parametrize(("alter", "says"), ALTERED.values(), ids=ALTERED)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_an_altered_archive_fails_the_check(
    filled: Installation, archive: Path, alter: Callable[[bytes], bytes], says: str
) -> None:
    text = alter(archive.read_bytes())
    assert text != archive.read_bytes()
    result = call("check", "-", "--vkey", vkey(filled), "--json", stdin=text)
    printed = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, printed["verdict"]) == (1, "", "invalid")
    assert printed["why"].startswith(says)
    result = call("check", "-", "--vkey", vkey(filled), stdin=text)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["Verdict  invalid", f"Why      {printed['why']}"]


def test_another_key_or_log_fails_the_check(filled: Installation, archive: Path) -> None:
    for args in (["--vkey", STRANGER], ["--vkey", vkey(filled), "--origin", "fairshoe.example/other"]):
        result = call("check", str(archive), *args)
        assert (result.exit_code, result.stdout.splitlines()[0]) == (1, "Verdict  invalid")


def test_the_check_loads_no_database_and_no_server(filled: Installation, archive: Path) -> None:
    code = "import atexit, sys, api.cli; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); api.cli.main()"
    command = [sys.executable, "-c", code, "export", "check", str(archive), "--vkey", vkey(filled), "--json"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in result.stderr.split()}
    assert loaded & {"flask", "sqlalchemy", "alembic", "pydantic", "numpy", "scipy", "gunicorn"} == set()
    assert json.loads(result.stdout)["verdict"] == "verified"


def test_what_the_command_refuses_is_said_in_one_line(filled: Installation, archive: Path, tmp_path: Path) -> None:
    before, other, early, late = archive.read_bytes(), str(tmp_path / "other"), at(8), at(9)
    for args, says in (
        ([], ": Missing option '--out'"),
        (["--out", str(archive)], f": {archive}: File exists; name a file that is not there yet"),
        (
            ["--out", str(tmp_path / "no" / "x")],
            f": {tmp_path}/no/x.draft: No such file or directory; name a file that",
        ),
        (["--out", other, "--from", "yesterday"], ": Invalid value for '--from': time: expected a time such as"),
        (["--out", other, "--from", late, "--to", early], f": to: expected a time not before {late}, got '{early}'"),
        (["--out", other, "--checkpoint", "9999"], ": --checkpoint 9999: There is no signed checkpoint over records"),
        (["--out", other, "--checkpoint", "0"], ": Invalid value for '--checkpoint': expected a whole number"),
        (["--out", other, "check", str(archive)], ": expected check with options of its own behind it, got options"),
        (["check", str(archive)], " check: Missing option '--vkey'"),
        (["check", other, "--vkey", STRANGER], f" check: {other}: No such file or directory; name a file that can be"),
        (["check", str(archive), "--vkey", "x"], " check: Invalid value for '--vkey': "),
    ):
        assert refused(call(*args, house=filled), 2).startswith(f"fairshoe export{says}")
    assert archive.read_bytes() == before
    assert not Path(other).exists()


def test_a_log_that_was_tampered_with_is_the_environments_fault(filled: Installation, tmp_path: Path) -> None:
    swap_records(filled)
    said = refused(call("--out", str(tmp_path / "x"), house=filled), 3)
    assert said.startswith("fairshoe: the log does not prove its head: root of ")
    assert said.endswith("; run: fairshoe log check\n")
    assert list(tmp_path.glob("x*")) == []


def test_there_is_nothing_to_export_where_there_is_no_log(tmp_path: Path) -> None:
    environment = {"FAIRSHOE_DATA": str(tmp_path / "none"), "DATABASE_URL": None}
    for prepare, says in (
        (lambda: None, "there is no database; set FAIRSHOE_DATA to the service's folder\n"),
        (lambda: CliRunner(env=environment).invoke(fairshoe, ["migrate"]), "there is no log in it; the first start of"),
    ):
        prepare()
        result = CliRunner(env=environment).invoke(fairshoe, ["export", "--out", str(tmp_path / "x")])
        assert f"{tmp_path}/none/fairshoe.sqlite3: {says}" in refused(result, 3)
    assert list(tmp_path.glob("x*")) == []
