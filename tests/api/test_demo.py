"""The demonstration: one whole shoe over real HTTP, as a user runs it, and the evidence that is left of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import pytest

from api.client import Client
from api.demo import first_key, running_service
from shoe.proof.bundle import parse_bundle
from shoe.proof.note import parse_vkey
from shoe.proof.tlog import parse_receipt
from shoe.proof.verify import Evidence, HeldCheckpoint, verify_bundle

SCHEMAS = Path(__file__).parents[2] / "shoe" / "schemas"
FAIRSHOE = [sys.executable, "-c", "from api.cli import main; main()"]


def run(*arguments, folder):
    """Run the command as a user does, its temporary files in `folder`."""
    return subprocess.run(
        [*FAIRSHOE, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONUTF8": "1", "PYTHONPATH": str(Path.cwd())},
    )


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """One demonstration with --json and one for people, each with its evidence."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "tmp").mkdir()
    as_json = run("demo", "--json", "--out", str(folder / "evidence"), folder=folder / "tmp")
    for_people = run("demo", "--out", str(folder / "other"), folder=folder / "tmp")
    return folder, as_json, for_people


def test_the_demonstration_passes(shown):
    _, as_json, for_people = shown
    assert (as_json.returncode, for_people.returncode) == (0, 0), as_json.stderr + for_people.stderr


def test_it_plays_in_an_installation_of_its_own_whatever_the_environment_names(tmp_path, monkeypatch):
    monkeypatch.setenv("DATABASE_URL", "postgresql://nobody@127.0.0.1:1/the-house")
    monkeypatch.setenv("FAIRSHOE_DATA", str(tmp_path / "the-house"))
    monkeypatch.setenv("FAIRSHOE_ORIGIN", "the-house.example/log")
    with running_service(tmp_path / "own") as url:
        assert Client(url).checkpoint().startswith("localhost/fairshoe-")
    assert (tmp_path / "own" / "fairshoe.sqlite3").is_file()
    assert not (tmp_path / "the-house").exists()


def test_json_is_one_object_on_standard_output_and_progress_is_on_standard_error(shown):
    _, as_json, _ = shown
    found = json.loads(as_json.stdout)
    assert (found["verdict"], found["fairness"]) == ("verified", "provably_fair")
    assert [check["status"] for check in found["checks"]].count("VALID") == 25
    assert {check["name"] for check in found["statistics"]} == {
        "structural_zeros", "outcomes", "rule_use", "cards_used", "runs",
    }  # fmt: skip
    assert sum(line["observed"] for line in found["rules"]) == 69, "coups 1…K of 8 decks with the cut at 7"
    assert "each checked by every player" in as_json.stderr


def test_the_evidence_verifies_without_the_service(shown):
    folder, _, _ = shown
    evidence = folder / "evidence"
    vkey = parse_vkey((evidence / "vkey").read_text().strip())
    held = HeldCheckpoint((evidence / "checkpoint").read_text())
    for player in range(3):
        receipts = tuple(
            parse_receipt((evidence / f"player-{player}-{kind}.receipt").read_text()) for kind in ("entropy", "lock")
        )
        answer = verify_bundle((evidence / "bundle.json").read_text(), Evidence((vkey,), receipts, held))
        assert (answer.verdict, answer.fairness) == ("verified", "provably_fair")
        assert answer.check("consistency").status == "VALID"


def test_the_bundle_keeps_its_schema(shown):
    folder, _, _ = shown
    schema = json.loads((SCHEMAS / "bundle.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads((folder / "evidence" / "bundle.json").read_text()))


def test_findings_are_what_json_prints(shown):
    folder, as_json, _ = shown
    assert json.loads((folder / "evidence" / "findings.json").read_text()) == json.loads(as_json.stdout)


def test_no_two_shoes_are_alike(shown):
    folder, _, _ = shown
    bundles = [parse_bundle((folder / name / "bundle.json").read_text()) for name in ("evidence", "other")]
    assert bundles[0].records[0] != bundles[1].records[0]


def test_the_certificate_says_what_a_person_asks(shown):
    _, _, for_people = shown
    text = for_people.stdout
    for part in (
        "Committed, in the order of the signed log",
        "house: book of 16 server seeds",
        "guest-2: commits to a seed",
        "house: locks the list at 3 players",
        "player 2: opens the seed",
        "house: seals, every card fixed",
        "the first coup is dealt; none could be before",
        "house: reveals the server seed",
        "Big road",
        "Rule use in the judged coups",
        "Verdict   verified (25 checks valid, 0 invalid, not decided: witnesses)",
        "Fairness  provably fair",
    ):
        assert part in text
    times = re.findall(r"^  (\d\d:\d\d:\d\d\.\d{6})  #(\d+)", text, re.MULTILINE)
    assert [int(index) for _, index in times] == sorted(int(index) for _, index in times)
    report = text.split("Written to")[0]
    assert max(map(len, report.split("Why")[0].splitlines())) <= 100


def test_the_coups_of_the_certificate_are_the_bundles(shown):
    folder, _, for_people = shown
    records = [json.loads(record) for record in parse_bundle((folder / "other" / "bundle.json").read_text()).records]
    coups = [record for record in records if record["type"] == "coup"]
    printed = re.findall(r"\b([PBT]) (\d):(\d)", for_people.stdout)
    letter = {"player": "P", "banker": "B", "tie": "T"}
    assert printed == [(letter[c["outcome"]], str(c["player_total"]), str(c["banker_total"])) for c in coups]


def test_nothing_is_left_behind(shown):
    folder, _, _ = shown
    assert list((folder / "tmp").iterdir()) == []


def test_no_server_seed_or_key_is_in_what_the_players_did_not_get(shown):
    folder, as_json, for_people = shown
    bundle = (folder / "evidence" / "bundle.json").read_text()
    seed = re.search(r'server_seed\\":\\"([0-9a-f]{64})', bundle)
    assert seed
    assert seed[1] not in (folder / "evidence" / "checkpoint").read_text()
    assert seed[1] not in as_json.stderr + for_people.stderr


def test_no_credential_is_in_what_was_said_or_written(shown):
    folder, as_json, for_people = shown
    texts = [done.stdout + done.stderr for done in (as_json, for_people)]
    texts += [path.read_text() for name in ("evidence", "other") for path in (folder / name).iterdir()]
    assert len(texts) > 2
    assert not any(re.search("fs[kt]_", text) for text in texts)


def test_the_operators_first_key_is_in_the_folder_and_is_good(tmp_path):
    with running_service(tmp_path / "own") as url:
        client = Client(url, first_key(tmp_path / "own"))
        assert "operator" in client.me().roles
        client.close()


def test_a_folder_that_cannot_be_written_is_an_environment_fault(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = run("demo", "--out", str(tmp_path / "file" / "evidence"), folder=tmp_path)
    assert done.returncode in (2, 3)
    assert "Traceback" not in done.stderr
    assert "file" in done.stderr.splitlines()[-1]


def test_a_file_named_as_the_folder_is_bad_usage(tmp_path):
    (tmp_path / "file").write_text("in the way")
    done = run("demo", "--out", str(tmp_path / "file"), folder=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_the_service_ends_with_the_demonstration():
    with tempfile.TemporaryDirectory() as folder:
        with running_service(Path(folder) / "service") as url:
            assert url.startswith("http://127.0.0.1:")
            port = int(url.rsplit(":", 1)[1])
        with pytest.raises(OSError, match=r"refused"):
            __import__("socket").create_connection(("127.0.0.1", port), timeout=5)
