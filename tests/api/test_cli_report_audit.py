"""``fairshoe report`` on an audit's findings: all that they say, signed as a certification's; and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cases.regulating import Opened
from api.cli import fairshoe
from audit.report.recorded import read_recorded
from audit.report.signing import check_report_note
from shoe.errors import InputError
from shoe.proof.canonical import parse_object, print_canonical
from shoe.proof.note import parse_vkey
from tests.api.audited import Audited, audit_now, faults_of
from tests.api.installation import ON_SQLITE, Installation
from tests.api.test_audit_faults import COUP, sql

NAMES = ["report.json", "report.html", "report.pdf"]
SECTIONS = (
    *("Identification", "Versions and digests", "Summary", "Non-compliances", "Scope and game parameters"),
    *("Every check", "Outcomes and rule use against exact", "Live return to player", "Void shoes", "Unused seeds"),
    *("Provenance", "Limitations"),
)


@pytest.fixture
def house(audited_house: Installation) -> Installation:
    return audited_house


def report(folder: Path, findings: bytes, *args: str) -> Result:
    (folder / "findings.json").write_bytes(findings)
    return CliRunner().invoke(fairshoe, ["report", str(folder / "findings.json"), "--out", str(folder / "out"), *args])


@ON_SQLITE
def test_a_pass_is_reported_and_signed(house: Installation, tmp_path: Path) -> None:
    findings = audit_now(house)
    made = report(tmp_path, findings.to_bytes(), "--sandbox", "--json")
    assert made.exit_code == 0, made.stderr
    printed, files = json.loads(made.stdout), {name: (tmp_path / "out" / name).read_bytes() for name in NAMES}
    assert (printed["verdict"], printed["non_compliances"]) == ("pass", [])
    assert (printed["plan_hash"], printed["findings_hash"]) == (findings.plan.hash.hex(), findings.hash.hex())
    assert {name: printed["files"][name] for name in NAMES} == {
        name: sha256(content).hexdigest() for name, content in files.items()
    }
    note = (tmp_path / "out" / "report.note").read_text()
    key = parse_vkey(printed["vkey"])
    assert check_report_note(note, files, [key]) == key
    assert "\nverdict pass\n" in note
    told = json.loads(files["report.json"])
    assert told["findings"] == json.loads(findings.to_bytes())
    assert [section["title"] for section in told["document"]["sections"]] == list(SECTIONS)
    again = report(tmp_path, findings.to_bytes(), "--json")
    assert {name: json.loads(again.stdout)["files"][name] for name in NAMES} == {
        name: printed["files"][name] for name in NAMES
    }


@ON_SQLITE
def test_a_failure_is_told_with_shoe_coup_and_what(house: Installation, audited: Audited, tmp_path: Path) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    findings = audit_now(house)
    made = report(tmp_path, findings.to_bytes(), "--sandbox")
    assert made.exit_code == 1
    assert findings.words in made.stdout
    assert "Clauses" not in made.stdout
    page = (tmp_path / "out" / "report.html").read_text()
    for _, shoe, coup, index, detail in faults_of(findings):
        assert all(f">{text}<" in page.replace("&#39;", "'") for text in (coup, index, detail))
        assert f"<code>{shoe}</code>" in page
    assert "\nverdict fail\n" in (tmp_path / "out" / "report.note").read_text()


@ON_SQLITE
def test_what_is_not_judged_is_for_a_human(house: Installation, tmp_path: Path) -> None:
    made = report(tmp_path, audit_now(house, Opened("s", end="2019-01-01T00:00:00.000000Z")).to_bytes(), "--json")
    assert made.exit_code == 1
    assert json.loads(made.stdout)["verdict"] == "not_judged"
    assert '<span class="status MANUAL">MANUAL</span>' in (tmp_path / "out" / "report.html").read_text()


Change = Callable[[dict[str, Any]], object]

WRONG: dict[str, tuple[Change, str]] = {
    "a pass where a record is wrong": (lambda told: told["records"][3].update(wrong=1), "failed: expected "),
    "a fail where nothing is": (lambda told: told.update(verdict="fail"), "verdict: expected pass"),
    "evidence that was wanting": (lambda told: told["records"][2].update(unverified=1), "verdict: expected not_judged"),
    "a check that is rejected": (lambda told: told["checks"][0].update(p="1e-9"), "failed: expected "),
    "another plan": (lambda told: told["plan"].update(size=9), "plan_hash: expected "),
    "a plan with other checks": (lambda told: told["plan"].update(checks=[]), "checks: expected "),
    "no plan": (lambda told: told.pop("plan"), "lack what an audit writes"),
    "no records": (lambda told: told.pop("records"), "lack what an audit writes"),
    "no shoes": (lambda told: told.pop("shoes"), "lack what an audit writes"),
    "strata that are none": (lambda told: told.update(strata=[]), "lack what an audit writes"),
    "a p that is none": (lambda told: told["checks"][0].update(p="often"), "lack what an audit writes"),
    "a text for a number": (lambda told: told.update(judged_coups="many"), "lack what an audit writes"),
}


@ON_SQLITE
@pytest.mark.parametrize("name", WRONG)
def test_findings_that_contradict_themselves_are_refused(house: Installation, tmp_path: Path, name: str) -> None:
    change, words = WRONG[name]
    told = parse_object(audit_now(house).to_bytes(), 2**26)
    change(told)
    made = report(tmp_path, print_canonical(told, 2**26))
    assert (made.exit_code, made.stdout) == (2, "")
    assert words in made.stderr
    assert not (tmp_path / "out").exists()


@ON_SQLITE
def test_counts_are_of_certifications_only(house: Installation, tmp_path: Path) -> None:
    made = report(tmp_path, audit_now(house).to_bytes(), "--counts", "checkpoint.npz")
    assert made.exit_code == 2
    assert "--counts: expected it beside the findings of a certification only" in made.stderr


def test_findings_of_another_form_are_refused() -> None:
    with pytest.raises(InputError, match=r"form: expected fairshoe/audit/1, got 'fairshoe/findings/1'"):
        read_recorded(b'{"form":"fairshoe/findings/1"}')
