"""The process that runs audits: killed at any step it goes on, two at once share, and requests go on undisturbed."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, event, text

from api.audits import running, work
from api.audits.running import LEASE_S, Audits, NotOurs, finish_audit
from api.audits.work import Work
from api.db.tables import CosignatureRow
from api.keeper import Keeper
from shoe.proof.records import Report
from tests.api.audited import Audited, audit_now, run_audits
from tests.api.installation import EVERY_COUP, Installation
from tests.api.test_audit_faults import COUP, sql
from tests.api.test_audits import ask, text_of
from tests.api.test_beside import eventually
from tests.api.test_keeper import keeper_of
from tests.api.test_serve import call, served

ROOT = Path(__file__).parents[2]

STEPS = 11
"""Of an audit of five shoes: four looks at the log, a shoe each, the counts, and seeing that nothing is left."""

KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from api.audits import running
from api.audits.running import Audits
from api.audits.work import Work
from tests.api.installation import Chance, Clock, Installation
from tests.api.tampering import LONG_AGO

running.KEEP_EVERY_S = 0
house = Installation(Path(sys.argv[2]), Clock(LONG_AGO), Chance(2000), database_url=sys.argv[3] or None)
steps, step, keep, finish = 0, Work.step, Audits._keep, running.finish_audit

def killed(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def counted(self, session):
    global steps
    step(self, session)
    steps += 1
    if str(steps) == sys.argv[4]:
        killed()

Work.step = counted
if sys.argv[4] == "finish":
    running.finish_audit = killed
audits = Audits(house.service, busy_s=3600)
while audits.turn():
    pass
print("it was not killed")
"""


@pytest.fixture
def house(audited_house: Installation) -> Installation:
    return audited_house


def reports(house: Installation) -> list[int]:
    with house.service.reading() as session:
        return list(session.scalars(text("SELECT log_index FROM leaves WHERE type = :report"), {"report": Report.type}))


def done(house: Installation, audit: str) -> int:
    return int(house.get(f"/audits/{audit}")["done"])


# --- killed ------------------------------------------------------------------------------------


def killed_at(house: Installation, step: object) -> None:
    house.stop()
    arguments = [str(ROOT), str(house.folder), house.database_url or "", str(step)]
    ran = subprocess.run([sys.executable, "-c", KILLED, *arguments], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (-signal.SIGKILL, ""), ran.stderr


@pytest.mark.parametrize(("step", "kept"), [(1, 0), (6, 1), (9, 4), (STEPS - 1, 5), (STEPS, 5), ("finish", 5)])
def test_a_killed_audit_is_taken_up_where_it_was(
    house: Installation, audited: Audited, step: object, kept: int
) -> None:
    """At every step: behind it there is one verdict, one record of it, and the findings of an audit in one go."""
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    audit = ask(house)
    at_once = audit_now(house).to_bytes()
    killed_at(house, step)
    shown = house.get(f"/audits/{audit}")
    assert (shown["state"], shown["done"], shown["documents"]) == ("running", kept, ["plan.json"])
    run_audits(house)
    assert house.get(f"/audits/{audit}")["state"] == "running"
    house.clock.forward(LEASE_S + 1)
    looked = count_shoes(house)
    assert looked == 5 - kept
    assert text_of(house, audit).encode() == at_once
    assert reports(house) == [house.get(f"/audits/{audit}")["report_index"]]


def count_shoes(house: Installation) -> int:
    """Run what waits; give the number of shoes that were looked at."""
    shoes: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        check = work.check_shoe
        patch.setattr(
            work, "check_shoe", lambda session, shoe, *rest: (shoes.append(shoe.id), check(session, shoe, *rest))[1]
        )
        run_audits(house)
    return len(shoes)


# --- several at once ---------------------------------------------------------------------------


def test_two_keepers_run_two_audits_each_once(house: Installation) -> None:
    asked = [ask(house, table=table) for table in ("s", "t", "c", "s", "t")]
    threads = [Thread(target=run_audits, args=(house,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run_audits(house)
    shown = [house.get(f"/audits/{each}") for each in asked]
    assert [(each["state"], each["verdict"]) for each in shown] == [("done", "pass")] * 5
    assert reports(house) == sorted(each["report_index"] for each in shown)


def test_a_keeper_leaves_alone_what_another_runs(house: Installation) -> None:
    first, second = ask(house), ask(house, table="t")
    one, other = Audits(house.service, busy_s=0), Audits(house.service, busy_s=0)
    assert one.turn()
    while other.turn():
        pass
    assert [house.get(f"/audits/{each}")["state"] for each in (first, second)] == ["running", "done"]
    while one.turn():
        pass
    assert house.get(f"/audits/{first}")["verdict"] == "pass"


def test_who_was_away_too_long_has_lost_the_audit(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """And writes nothing: not what it found, nor a second end."""
    monkeypatch.setattr(running, "KEEP_EVERY_S", 0)
    audit = ask(house)
    late = Audits(house.service, busy_s=0)
    for _ in range(5):
        assert late.turn()
    assert done(house, audit) == 1
    house.clock.forward(LEASE_S + 1)
    run_audits(house)
    ended, log = house.get(f"/audits/{audit}"), house.size()
    assert ended["verdict"] == "pass"
    for _ in range(3):
        late.turn()
    assert (house.get(f"/audits/{audit}"), house.size()) == (ended, log)


def test_who_was_away_too_long_writes_nothing_into_anothers_audit(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "KEEP_EVERY_S", 0)
    audit, at_once = ask(house), audit_now(house).to_bytes()
    late, other = Audits(house.service, busy_s=0), Audits(house.service, busy_s=0)
    for _ in range(5):
        assert late.turn()
    house.clock.forward(LEASE_S + 1)
    for _ in range(5):
        assert other.turn()
    before = house.get(f"/audits/{audit}")
    assert (before["state"], before["done"]) == ("running", 2)
    assert late.turn()
    assert house.get(f"/audits/{audit}") == before
    while other.turn():
        pass
    assert text_of(house, audit).encode() == at_once


def test_the_end_is_refused_to_who_has_no_lease(house: Installation) -> None:
    audit = ask(house)
    with pytest.raises(NotOurs, match="is another's by now, or has ended"):
        house.service.write(finish_audit(audit, "2026-01-01T00:00:00.000000Z", audit_now(house)))
    assert (house.get(f"/audits/{audit}")["state"], reports(house)) == ("queued", [])


# --- what goes wrong ---------------------------------------------------------------------------


def test_an_audit_that_fails_by_its_own_fault_says_so_and_holds_up_no_other(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = ask(house), ask(house, table="t")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault in the program")

    with monkeypatch.context() as patch:
        patch.setattr(work, "check_openings", broken)
        audits = Audits(house.service)
        assert audits.turn()
    shown = house.get(f"/audits/{first}")
    assert (shown["state"], shown["verdict"], shown["documents"]) == ("failed", None, ["plan.json"])
    assert shown["error"].startswith("ZeroDivisionError at ")
    run_audits(house)
    assert house.get(f"/audits/{second}")["verdict"] == "pass"
    assert house.get(f"/audits/{first}") == shown


def test_a_plan_that_cannot_be_made_fails_the_audit(house: Installation) -> None:
    (house.folder / "checkpoint.pinned").write_text("no checkpoint\n")
    audit = ask(house)
    run_audits(house)
    shown = house.get(f"/audits/{audit}")
    assert (shown["state"], shown["documents"], shown["total"]) == ("failed", [], None)
    assert shown["error"]


def test_a_stored_cosignature_that_is_no_line_fails_the_audit_and_is_named(house: Installation) -> None:
    with house.service.store.writing() as session:
        session.add(CosignatureRow(size=2, vkey="witness.example/w", time_s=1, line="no line"))
    audit = ask(house)
    run_audits(house)
    shown = house.get(f"/audits/{audit}")
    assert (shown["state"], shown["documents"]) == ("failed", [])
    assert shown["error"].startswith("the cosigned checkpoint over 2 records: note: expected a final newline")


def test_a_database_out_of_reach_is_no_fault_of_the_audit(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = ask(house)
    audits = Audits(house.service, busy_s=0)
    assert audits.turn()

    def unreachable(*_: object) -> None:
        raise OSError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(work, "check_openings", unreachable)
        with pytest.raises(OSError, match="away"):
            audits.turn()
    assert house.get(f"/audits/{audit}")["state"] == "running"
    house.clock.forward(LEASE_S + 1)
    while audits.turn():
        pass
    assert house.get(f"/audits/{audit}")["verdict"] == "pass"


def test_nothing_is_audited_while_nothing_may_be_signed(house: Installation) -> None:
    audit = ask(house)
    house.service.permit.halt.write_text("Halted.")
    run_audits(house)
    assert house.get(f"/audits/{audit}")["state"] == "queued"
    house.service.permit.halt.unlink()


# --- beside requests ---------------------------------------------------------------------------


def test_a_coup_is_dealt_within_every_step(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """While an audit has read the store and not let go of it, a request writes and is answered; nothing waits.

    What was dealt meanwhile is of none of its numbers: they are those of the plan's head.
    """
    house.table("busy", book=9, **{**EVERY_COUP, "coups": 50})
    shoe = house.sealed("busy")
    audit = ask(house)
    at_once = audit_now(house).to_bytes()
    dealt: list[Any] = []
    step = Work.step

    def beside(self: Work, session: Any) -> None:
        step(self, session)
        assert session.scalar(text("SELECT COUNT(*) FROM shoes")) > 5
        dealt.append(house.post(f"/shoes/{shoe}/coups"))

    monkeypatch.setattr(Work, "step", beside)
    run_audits(house)
    assert house.get(f"/audits/{audit}")["error"] is None
    assert len(dealt) == STEPS
    assert text_of(house, audit).encode() == at_once
    assert house.get(f"/shoes/{shoe}")["coups"] == STEPS


def test_an_audit_writes_a_few_rows_and_reads_the_rest(house: Installation) -> None:
    """Its transactions that write are the claim, the plan, what is kept now and then, and the end."""
    ask(house)
    wrote: list[str] = []

    def note(_: Connection, __: Any, statement: str, *___: Any) -> None:
        if statement.split(maxsplit=1)[0] in ("INSERT", "UPDATE", "DELETE"):
            wrote.append(statement.split()[1 if statement.startswith("UPDATE") else 2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        run_audits(house)
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert wrote.count("audits") <= 4
    assert set(wrote) - {"audits", "audit_documents"} == {"leaves", "log_nodes", "checkpoints", "log_head"}


def test_the_keeper_runs_audits_in_its_rounds(house: Installation) -> None:
    audit, said = ask(house), list[str]()
    keeper = Keeper(house.service, say=said.append)
    for _ in range(3):
        keeper.tick()
        house.clock.forward(1)
    keeper.close()
    assert (house.get(f"/audits/{audit}")["verdict"], said) == ("pass", [])


def test_the_process_beside_the_server_runs_them(tmp_path: Path) -> None:
    """It is killed meanwhile, and started again; requests are answered all the time."""
    with served(tmp_path / "house") as (process, port):
        call(port, "POST", "/v1/tables", {"id": "t", "preset": "np_punto_banco", "overrides": EVERY_COUP})
        call(port, "POST", "/v1/tables/t/books", {"size": 9})
        audit = call(port, "POST", "/v1/audits", {})[1]["id"]
        answered = 0

        def ended() -> bool:
            nonlocal answered
            assert call(port, "POST", "/v1/tables", {"preset": "np_punto_banco"})[0] == 201
            answered += 1
            return bool(call(port, "GET", f"/v1/audits/{audit}")[1]["state"] == "done")

        eventually(ended)
        assert call(port, "GET", f"/v1/audits/{audit}")[1]["verdict"] == "not_judged"
        assert answered >= 1
        assert keeper_of(process.pid)
