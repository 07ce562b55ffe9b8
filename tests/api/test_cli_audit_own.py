"""``fairshoe audit`` of the installation's own records: what the keeper would find, printed; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from api.cases.regulating import Opened
from api.cli import fairshoe
from api.settings import VAULT_KEY
from shoe.proof.tlog import parse_receipt
from tests.api.audited import Audited, audit_now
from tests.api.installation import ON_SQLITE, Installation
from tests.api.test_audit_faults import COUP, sql

EARLY, LATE = "2019-01-01T00:00:00.000000Z", "2030-01-01T00:00:00.000000Z"


@pytest.fixture
def house(audited_house: Installation) -> Installation:
    return audited_house


def audit(house: Installation, *args: str) -> Result:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    return CliRunner(env={"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given}).invoke(fairshoe, ["audit", *args])


def test_all_own_records_are_audited_and_nothing_is_written(house: Installation) -> None:
    at_once, log = audit_now(house), house.checkpoint()
    result = audit(house, "--own", "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert printed["verdict"] == "pass"
    assert printed["findings"] == json.loads(at_once.to_bytes())
    assert printed["findings_hash"] == at_once.hash.hex()
    assert (printed["shoes"], printed["coups"], printed["violations"]) == (5, at_once.judged_coups, {})
    assert [check["name"] for check in printed["checks"]] == list(at_once.plan.checks)
    assert house.checkpoint() == log
    assert house.get("/audits")["audits"] == []


def test_the_findings_are_written_as_the_service_would_keep_them_and_reported(
    house: Installation, tmp_path: Path
) -> None:
    path = tmp_path / "findings.json"
    path.write_text("older ones")
    result = audit(house, "--findings", str(path))
    assert result.exit_code == 0, result.output
    assert path.read_bytes() == audit_now(house).to_bytes()
    reported = CliRunner().invoke(fairshoe, ["report", str(path), "--out", str(tmp_path / "report")])
    assert reported.exit_code == 0, reported.output
    assert (
        json.loads((tmp_path / "report" / "report.json").read_bytes())["findings_hash"] == audit_now(house).hash.hex()
    )


def test_findings_that_can_not_be_written_are_the_environments_fault(house: Installation, tmp_path: Path) -> None:
    result = audit(house, "--findings", str(tmp_path / "none" / "findings.json"))
    assert (result.exit_code, result.stdout) == (3, "")
    assert "No such file or directory; name a file that can be written with --findings" in result.stderr


def test_a_scope_chooses_by_table_and_time(house: Installation) -> None:
    for args, scope in (
        (["--table", "s"], Opened("s")),
        (["--from", EARLY, "--to", LATE], Opened(None, EARLY, LATE)),
        (["--table", "c", "--from", EARLY], Opened("c", EARLY)),
    ):
        printed = json.loads(audit(house, *args, "--json").stdout)
        assert printed["findings_hash"] == audit_now(house, scope).hash.hex()
    nothing = audit(house, "--from", LATE)
    assert nothing.exit_code == 1
    assert nothing.stdout.startswith("Not judged: no sealed shoe of the scope has ended.\n")


def test_a_fault_fails_and_is_listed(house: Installation, audited: Audited) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    result = audit(house, "--table", "s")
    assert result.exit_code == 1
    assert f"  coups: shoe {audited.shoes['played']}, coup 2, log index 20: row: expected a row of it, got None" in (
        result.stdout.splitlines()
    )
    printed = json.loads(audit(house, "--table", "s", "--json").stdout)
    assert (printed["verdict"], printed["violations"]["coups"]["count"]) == ("fail", 1)


def test_people_read_the_numbers_of_the_findings(house: Installation) -> None:
    at_once = audit_now(house).to_json()
    shown = audit(house, "--own").stdout
    assert "5 ended shoes, 3 of them void, 1 not ended; 25 coups judged; 1 unused seeds of ended books" in shown
    for name in at_once["plan"]["checks"]:
        assert f"\n{name} " in shown
    for stratum in at_once["strata"]:
        for line in stratum["live_returns"]:
            assert line["return_decimal"] in shown
            assert line["exact_decimal"] in shown


def test_receipts_are_held_against_the_log(house: Installation, audited: Audited, tmp_path: Path) -> None:
    files = []
    for number, receipt in enumerate(audited.receipts[:2]):
        files.append(tmp_path / f"{number}.receipt")
        files[-1].write_text(receipt)
    options = [word for file in files for word in ("--receipt", str(file))]
    printed = json.loads(audit(house, *options, "--json").stdout)
    wanted = audit_now(house, receipts=[parse_receipt(each) for each in audited.receipts[:2]])
    assert printed["findings_hash"] == wanted.hash.hex()
    files[1].write_text(audited.receipts[1].replace("index ", "index 1"))
    shown = audit(house, *options)
    assert shown.exit_code == 1
    assert "receipts: shoe" in shown.stdout
    assert "receipt 2: it proves nothing: " in shown.stdout


@ON_SQLITE
@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], "expected one log or more, a file or - for standard input; or --own"),
        (["log.csv", "--own"], "LOG, --own: expected either logs or this installation's own records, got both"),
        (["log.csv", "--table", "s"], "LOG, --table: expected either logs or"),
        (["-", "--from", EARLY], "LOG, --from: expected either logs or"),
        (["log.csv", "--receipt", "r"], "LOG, --receipt: expected either logs or"),
        (["--own", "--decks", "8"], "--decks: expected it beside logs only"),
        (["--own", "--kind", "cards"], "--kind"),
        (["--table", "s", "--examples", "3"], "--examples: expected it beside logs only"),
        (["--own", "--vkey", "vkey"], "--vkey"),
        (["--table", "nowhere"], "nowhere"),
        (["--from", "yesterday"], "yesterday"),
        (["--from", LATE, "--to", EARLY], f"--to: expected a time after {LATE}"),
        (["--from", LATE, "--to", LATE], f"--to: expected a time after {LATE}"),
        (["--receipt", "nothing-there"], "nothing-there: No such file"),
        (["--receipt", "checkpoint.pinned"], "give a receipt as the service gave it"),
    ],
)
def test_a_wrong_use_is_refused_in_a_line(
    house: Installation, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    monkeypatch.chdir(house.folder)
    result = audit(house, *args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_where_there_is_no_service_it_says_so(tmp_path: Path) -> None:
    result = CliRunner(env={"FAIRSHOE_DATA": str(tmp_path), "DATABASE_URL": None}).invoke(fairshoe, ["audit", "--own"])
    assert result.exit_code == 3
    assert "there is no database; set FAIRSHOE_DATA to the service's folder" in result.stderr
