"""``fairshoe book new`` beside a running service: a book in the log, its receipt in hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from api.payloads import MAX_BOOK_SIZE
from api.settings import VAULT_KEY
from api.world import real_world
from shoe.proof.note import parse_vkey
from shoe.proof.tlog import check_receipt, parse_receipt
from tests.api.installation import EVERY_COUP, ORIGIN, Found, Installation
from tests.api.stored import everything_stored


@pytest.fixture
def running(found: Found) -> Installation:
    """A service that runs while the command works beside it, by the same clock."""
    house = found(clock=real_world().now)
    house.table(book=1, **EVERY_COUP)
    return house


def book(house: Installation, *arguments: str) -> Result:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    env = {"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given}
    return CliRunner(env=env).invoke(fairshoe, ["book", *arguments])


def refused(house: Installation, code: int, *arguments: str) -> str:
    before = everything_stored(house.service.store)
    result = book(house, *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    assert everything_stored(house.service.store) == before
    return result.stderr.rstrip("\n")


def require_receipt(house: Installation, text: str, root: str, index: int, size: int) -> None:
    """The receipt proves the book's record to be in the log, under the log's key."""
    receipt = parse_receipt(text)
    vkey = parse_vkey(house.client.get("/v1/log/key").text.strip())
    assert check_receipt(receipt, [vkey], ORIGIN)[0] == index
    logged = json.loads(receipt.record)
    assert {key: logged[key] for key in ("type", "table", "root", "size")} == {
        "type": "book",
        "table": "t",
        "root": root,
        "size": size,
    }


def test_it_prints_root_size_and_index_and_the_receipt(running: Installation) -> None:
    result = book(running, "new", "t", "--size", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    said, heading, blank, *receipt = result.stdout.split("\n")
    listed = running.get("/tables/t/books")["books"][-1]
    assert said == f"Book {listed['root']} of 3 seeds for table t is record {listed['index']}"
    assert (heading, blank) == ("Its receipt:", "")
    require_receipt(running, "\n".join(receipt), listed["root"], listed["index"], 3)


def test_as_json_it_is_one_object(running: Installation) -> None:
    result = book(running, "new", "t", "--size", "2", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    made, listed = json.loads(result.stdout), running.get("/tables/t/books")["books"][-1]
    receipt = made.pop("receipt")
    assert made == {"table": "t", "root": listed["root"], "size": 2, "index": listed["index"]}
    require_receipt(running, receipt, listed["root"], listed["index"], 2)


def test_the_receipt_goes_into_a_file(running: Installation, tmp_path: Path) -> None:
    file = tmp_path / "book.receipt"
    result = book(running, "new", "t", "--size", "2", "--receipt", str(file))
    listed = running.get("/tables/t/books")["books"][-1]
    assert result.stdout.split("\n")[1] == f"Its receipt is in {file}"
    require_receipt(running, file.read_text(), listed["root"], listed["index"], 2)


def test_the_running_service_plays_from_it(running: Installation) -> None:
    running.deal_out(running.sealed())
    assert running.client.post("/v1/tables/t/shoes", json={}).status_code == 422
    book(running, "new", "t", "--size", "1")
    shoe = running.sealed()
    running.deal_out(shoe)
    assert running.verify(shoe).verdict == "verified"


# --- refused -------------------------------------------------------------------------------------


def test_there_must_be_the_table(running: Installation) -> None:
    said = refused(running, 2, "new", "nowhere", "--size", "2")
    assert said == "fairshoe book new: There is no table 'nowhere'. Name one that is there"


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "", "0x10", " 3", "1_0", "٣", str(MAX_BOOK_SIZE + 1)])
def test_a_size_out_of_bounds_is_refused(running: Installation, size: str) -> None:
    said = refused(running, 2, "new", "t", f"--size={size}")
    wanted = f"expected a whole number 1…{MAX_BOOK_SIZE}, got {size!r}"
    assert said == f"fairshoe book new: Invalid value for '--size': {wanted}; see 'fairshoe book new --help'"


@pytest.mark.parametrize("arguments", [["t"], ["--size", "1"], []])
def test_table_and_size_must_be_given(running: Installation, arguments: list[str]) -> None:
    assert "Missing " in refused(running, 2, "new", *arguments)


def test_nothing_is_published_while_nothing_may_be_signed(running: Installation) -> None:
    (running.folder / "halt").write_text("The auditor found leaf 3 changed.")
    said = refused(running, 3, "new", "t", "--size", "2")
    assert said.startswith("fairshoe: The auditor found leaf 3 changed. Reading goes on")


def here_already(path: Path) -> Path:
    path.write_text("something of mine\n")
    return path


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (here_already, "File exists"),
        (lambda path: path / "inner", "No such file or directory"),
        (lambda path: here_already(path) / "inner", "Not a directory"),
    ],
    ids=["here already", "no folder", "in a file"],
)
def test_a_receipt_that_cannot_be_written_is_said_before_anything_is_published(
    running: Installation, tmp_path: Path, file: Callable[[Path], Path], reason: str
) -> None:
    named = file(tmp_path / "r")
    said = refused(running, 2, "new", "t", "--size", "2", "--receipt", str(named))
    assert said.endswith(f": {reason}; name a file that is not there yet, in a folder that can be written")
    assert not (tmp_path / "r").exists() or (tmp_path / "r").read_text() == "something of mine\n"


def test_where_it_is_refused_no_receipt_is_left(running: Installation, tmp_path: Path) -> None:
    refused(running, 2, "new", "nowhere", "--size", "2", "--receipt", str(tmp_path / "r"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("r")] == []


def test_help_has_examples(running: Installation) -> None:
    for arguments in (["--help"], ["new", "--help"]):
        shown = book(running, *arguments).stdout.split("Examples:\n")[1].splitlines()
        assert shown
        assert all("fairshoe book new" in example for example in shown)
