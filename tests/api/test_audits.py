"""Audits asked for over HTTP and run as the keeper does: from the asking to what anyone may read; and every refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from api.audits.running import Audits
from api.cases.audits import MOST_WAITING
from audit.records.plan import parse_plan
from shoe.proof.notation import sha256
from shoe.proof.records import Report, parse_as
from tests.api.audited import Audited, audit_now, run_audits
from tests.api.installation import Installation, problem_of
from tests.api.tampering import record_of
from tests.api.test_audit_faults import COUP, sql

LATER = "2026-01-01T00:00:00.000000Z"
NOBODY = "019c1000-0000-7000-8000-000000000000"


@pytest.fixture
def house(audited_house: Installation) -> Installation:
    return audited_house


def ask(house: Installation, **scope: Any) -> str:
    return str(house.post("/audits", scope)["id"])


def text_of(house: Installation, audit: str, name: str = "findings.json") -> str:
    answer = house.client.get(f"/v1/audits/{audit}/{name}")
    assert answer.status_code == 200, answer.text
    return answer.text


# --- from the asking to the verdict ------------------------------------------------------------


def test_an_audit_goes_from_queued_to_its_verdict(house: Installation) -> None:
    asked = house.post("/audits")
    assert (asked["state"], asked["done"], asked["total"], asked["verdict"]) == ("queued", 0, None, None)
    assert (asked["documents"], asked["plan_hash"], asked["scope"]) == (
        [],
        None,
        {"table": None, "from": None, "to": None},
    )
    assert house.get(f"/audits/{asked['id']}") == asked
    before = house.size()
    run_audits(house)
    shown = house.get(f"/audits/{asked['id']}")
    assert (shown["state"], shown["done"], shown["total"], shown["verdict"]) == ("done", 5, 5, "pass")
    assert (shown["documents"], shown["error"]) == (["plan.json", "findings.json", "report.html"], None)
    assert (shown["report_index"], house.size()) == (before, before + 1)


def test_the_log_holds_the_hashes_of_what_anyone_reads(house: Installation) -> None:
    audit = ask(house)
    run_audits(house)
    shown = house.get(f"/audits/{audit}")
    plan, findings = (text_of(house, audit, name) for name in ("plan.json", "findings.json"))
    record = parse_as(Report, record_of(house, shown["report_index"]))
    assert (record.kind, record.plan_hash, record.findings_hash) == (
        "audit",
        sha256(plan.encode()),
        sha256(findings.encode()),
    )
    assert (shown["plan_hash"], shown["findings_hash"]) == (record.plan_hash.hex(), record.findings_hash.hex())
    assert json.loads(findings)["plan"] == json.loads(plan)
    assert parse_plan(plan.encode()).to_bytes() == plan.encode()


def test_the_keeper_finds_what_an_audit_at_once_finds(house: Installation, audited: Audited) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    audit = ask(house)
    at_once = audit_now(house).to_bytes()
    run_audits(house)
    assert text_of(house, audit).encode() == at_once


def test_a_fault_stands_in_the_findings_with_shoe_coup_and_what(house: Installation, audited: Audited) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    audit = ask(house, table="s")
    run_audits(house)
    assert house.get(f"/audits/{audit}")["verdict"] == "fail"
    told = json.loads(text_of(house, audit))
    (fault,) = [fault for check in told["records"] for fault in check["faults"]]
    assert fault["shoe"] == audited.shoes["played"]
    assert (fault["coup"], fault["detail"]) == (2, "row: expected a row of it, got None")
    assert told["failed"] == ["coups"]


def test_the_plan_is_there_before_anything_is_looked_at(house: Installation) -> None:
    audit = ask(house)
    audits = Audits(house.service, busy_s=0)
    assert audits.turn()
    shown = house.get(f"/audits/{audit}")
    assert (shown["state"], shown["done"], shown["total"], shown["documents"]) == ("running", 0, 5, ["plan.json"])
    assert shown["plan_hash"] == sha256(text_of(house, audit, "plan.json").encode()).hex()


def test_what_comes_after_the_plan_is_not_looked_at(house: Installation) -> None:
    audit = ask(house, table="t")
    audits = Audits(house.service, busy_s=0)
    assert audits.turn()
    house.sealed("t")
    run_audits_of(audits)
    told = json.loads(text_of(house, audit))
    assert (told["verdict"], told["shoes"]["ended"], told["shoes"]["waiting"]) == ("pass", 1, 0)


def run_audits_of(audits: Audits) -> None:
    while audits.turn():
        pass


def test_the_scope_is_kept_and_decides_what_is_looked_at(house: Installation) -> None:
    scope = {"table": "s", "from": "2020-01-01T00:00:00.000000Z", "to": "2021-01-01T00:00:00.000000Z"}
    audit = ask(house, **scope)
    run_audits(house)
    shown = house.get(f"/audits/{audit}")
    assert (shown["scope"], shown["total"]) == (scope, 3)
    later = ask(house, **{"from": "2021-01-01T00:00:00.000000Z"})
    run_audits(house)
    shown = house.get(f"/audits/{later}")
    assert (shown["total"], shown["verdict"]) == (0, "not_judged")


def test_receipts_handed_in_are_held_against_the_log(house: Installation, audited: Audited) -> None:
    audit = ask(house, receipts=audited.receipts)
    run_audits(house)
    told = json.loads(text_of(house, audit))
    assert told["plan"]["receipts"] == [sha256(each.encode()).hex() for each in audited.receipts]
    (check,) = [each for each in told["records"] if each["name"] == "receipts"]
    assert (check["looked_at"], check["wrong"], told["verdict"]) == (len(audited.receipts), 0, "pass")
    assert house.get(f"/audits/{audit}")["documents"] == ["plan.json", "findings.json", "report.html"]


def test_the_page_shows_the_findings_and_runs_nothing(house: Installation, audited: Audited) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    audit = ask(house, table="s")
    run_audits(house)
    shown = house.client.get(f"/v1/audits/{audit}/report.html")
    assert (shown.status_code, shown.content_type) == (200, "text/html; charset=utf-8")
    assert "script-src" not in shown.headers["Content-Security-Policy"]
    assert shown.headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    told = json.loads(text_of(house, audit))
    assert '<span class="status FAIL">FAIL</span>' in shown.text
    assert audited.shoes["played"] in shown.text
    assert "row: expected a row of it, got None" in shown.text
    assert house.get(f"/audits/{audit}")["findings_hash"] in shown.text
    for line in told["strata"][0]["live_returns"]:
        assert f"{100 * float(line['return_decimal']):.4f}" in shown.text


# --- the numbers of the findings ---------------------------------------------------------------


def test_a_void_shoe_is_judged_as_it_would_have_been(house: Installation, audited: Audited) -> None:
    """All its judged coups count, though two were dealt: those of the store's rows, completed from the seed."""
    audit = ask(house, table="s")
    run_audits(house)
    (stratum,) = json.loads(text_of(house, audit))["strata"]
    with house.service.reading() as session:
        dealt = session.execute(
            text("SELECT outcome, COUNT(*) FROM coups WHERE shoe_id = :shoe AND judged = 1 GROUP BY outcome"),
            {"shoe": audited.shoes["given_up"]},
        ).all()
    shown = house.get(f"/shoes/{audited.shoes['given_up']}")
    assert shown["coups"] == 2
    assert stratum["void"]["coups"] == sum(count for _, count in dealt) == 8
    assert {each["label"]: each["observed"] for each in stratum["void"]["outcomes"] if each["observed"]} == dict(
        map(tuple, dealt)
    )


def test_voids_and_unused_seeds_are_those_that_the_regulator_reads(house: Installation) -> None:
    audit = ask(house)
    run_audits(house)
    told = json.loads(text_of(house, audit))
    voids, unused = house.get("/statistics/voids"), house.get("/books/unused")
    assert (told["shoes"]["void_rate"], told["shoes"]["waiting"]) == (voids["rate"], voids["live"])
    assert told["shoes"]["by_reason"] == {reason: n for reason, n in voids["by_reason"].items() if n}
    assert [(book["root"], book["end_index"], book["unused"]) for book in told["books"]["ended"]] == [
        (book["root"], book["end_index"], sum(span["last"] - span["first"] + 1 for span in book["unused"]))
        for book in unused["books"]
    ]
    assert told["books"]["unused"] == 1


def test_the_live_return_is_what_the_bets_brought(house: Installation) -> None:
    """Counted once more from the bets' rows: what was staked on settled bets, and what came back."""
    audit = ask(house, table="s")
    run_audits(house)
    (stratum,) = json.loads(text_of(house, audit))["strata"]
    with house.service.reading() as session:
        rows = session.execute(
            text(
                "SELECT bet, COUNT(*), SUM(stake_minor), SUM(stake_minor + net_minor), SUM(commission_minor) FROM bets"
                " WHERE state IN ('won', 'lost', 'pushed') GROUP BY bet ORDER BY bet"
            )
        ).all()
    told = [
        (
            each["bet"],
            each["bets"],
            int(each["staked_minor"]),
            int(each["returned_minor"]),
            int(each["commission_minor"]),
        )
        for each in stratum["live_returns"]
    ]
    assert sorted(told) == [(bet, *map(int, sums)) for bet, *sums in rows]
    assert {each["bet"] for each in stratum["live_returns"]} == {"banker", "player"}


# --- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"table": "nowhere"}, 404, "nowhere"),
        ({"table": ""}, 422, "table"),
        ({"from": "yesterday"}, 422, "from"),
        ({"to": "2026-02-30T00:00:00.000000Z"}, 422, "to"),
        ({"from": LATER, "to": LATER}, 422, "expected a time after"),
        ({"from": LATER, "to": "2025-01-01T00:00:00.000000Z"}, 422, "expected a time after"),
        ({"until": LATER}, 422, "until"),
        ({"receipts": "none"}, 422, "receipts"),
        ({"receipts": ["no receipt"]}, 422, "receipts[0]: "),
        ({"receipts": [7]}, 422, "receipts"),
        ({"receipts": ["x" * 100_001]}, 422, "receipts"),
        ({"receipts": ["x"] * 101}, 422, "receipts"),
        ({"shoes": 10}, 422, "shoes"),
    ],
)
def test_a_wrong_request_is_refused(house: Installation, body: dict[str, Any], status: int, words: str) -> None:
    slug = {404: "not-found", 422: "invalid"}[status]
    assert words in house.refuse("/audits", body, slug, status)
    assert house.get("/audits")["audits"] == []


def test_no_more_audits_wait_than_may(house: Installation) -> None:
    for _ in range(MOST_WAITING):
        ask(house, table="t")
    house.refuse("/audits", {}, "audits-waiting", 409)
    audits = Audits(house.service)
    assert audits.turn()
    ask(house)
    house.refuse("/audits", {}, "audits-waiting", 409)


def test_a_repeated_request_asks_for_one_audit(house: Installation) -> None:
    headers = {"Idempotency-Key": "asked-once"}
    one, other = (house.client.post("/v1/audits", json={}, headers=headers) for _ in range(2))
    assert (one.status_code, one.data) == (201, other.data)
    assert len(house.get("/audits")["audits"]) == 1


@pytest.mark.parametrize("document", ["report.pdf", "progress-0000000000000001", "receipt-0000", "..%2fplan.json"])
def test_no_document_but_those_that_are_named_is_shown(house: Installation, document: str, audited: Audited) -> None:
    audit = ask(house, receipts=audited.receipts[:1])
    run_audits(house)
    answer = house.client.get(f"/v1/audits/{audit}/{document}")
    assert answer.status_code == 404


def test_what_there_is_not_is_not_found(house: Installation) -> None:
    audit = ask(house)
    for path in (f"/v1/audits/{NOBODY}", f"/v1/audits/{NOBODY}/plan.json", f"/v1/audits/{audit}/findings.json"):
        problem_of(house.client.get(path), "not-found", 404)
    detail = problem_of(house.client.get(f"/v1/audits/{audit}/plan.json"), "not-found", 404)
    assert "which is queued" in detail


def test_what_an_audit_found_never_changes(house: Installation) -> None:
    audit = ask(house)
    running = house.client.get(f"/v1/audits/{audit}")
    assert "immutable" not in running.headers.get("Cache-Control", "")
    run_audits(house)
    for path in (
        f"/v1/audits/{audit}",
        f"/v1/audits/{audit}/findings.json",
        f"/v1/audits/{audit}/plan.json",
        f"/v1/audits/{audit}/report.html",
    ):
        shown = house.client.get(path)
        assert "immutable" in shown.headers["Cache-Control"]
        again = house.client.get(path, headers={"If-None-Match": shown.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b"")


def test_audits_are_listed_by_age_in_pages(house: Installation) -> None:
    asked = [ask(house, table=table) for table in ("s", "t", "c")]
    page = house.get("/audits?limit=2")
    assert [each["id"] for each in page["audits"]] == asked[:2]
    rest = house.get(f"/audits?limit=2&after={page['next']}")
    assert ([each["id"] for each in rest["audits"]], rest["next"]) == (asked[2:], None)
    assert [each["scope"]["table"] for each in page["audits"]] == ["s", "t"]
