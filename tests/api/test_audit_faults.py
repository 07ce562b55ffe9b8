"""Faults planted in a store, one of every kind: an audit finds each, with the check, the shoe, the coup and what it is.

Whoever plants them has every right on the database. What else the same change breaks is listed too: nothing is left
out of what an audit says, and a store that nobody touched passes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from api.cases.keys import add_key, revoke_key
from api.cases.regulating import Opened
from api.db.tables import ShoeRow
from api.keyring import Keyring
from audit.records.findings import Findings
from shoe.proof.checkpoint import Checkpoint, print_checkpoint
from shoe.proof.merkle import leaf_hash
from shoe.proof.note import sign_note
from shoe.proof.tlog import Receipt, TlogProof, parse_receipt
from tests.api.audited import Audited, audit_now, faults_of
from tests.api.installation import ON_SQLITE, ORIGIN, Installation
from tests.api.tampering import (
    attackers_key,
    cut_off,
    edit_record,
    edit_record_and_its_hash,
    flip_node,
    full_rights,
    set_row,
    sign_by_another,
)


@pytest.fixture
def house(audited_house: Installation) -> Installation:
    return audited_house


Plant = Callable[[Installation, Audited], None]
Where = tuple[str, str | None, int | None]
"""A check, a shoe by its name in the story, and a coup."""


@dataclass(frozen=True)
class Planted:
    """A fault: what is done with full rights, all that an audit must say of it, and words of the first detail."""

    plant: Plant
    found: tuple[Where, ...]
    words: str


def sql(*statements: str) -> Plant:
    """Statements that name shoes as ``{played}``; each must change something."""

    def plant(house: Installation, made: Audited) -> None:
        with full_rights(house) as connection:
            for statement in statements:
                assert connection.execute(text(statement.format(**made.shoes))).rowcount > 0, statement

    return plant


def at(house: Installation, made: Audited, shoe: str, seq: int) -> int:
    """The log index of a shoe's record."""
    with house.service.reading() as session:
        query = text("SELECT log_index FROM leaves WHERE shoe = :shoe AND seq = :seq")
        return int(session.execute(query, {"shoe": made.shoes[shoe], "seq": seq}).scalar_one())


def of_record(tamper: Callable[[Installation, int], None], seq: int = 6) -> Plant:
    """What is done to a record of the shoe played out, by default that of its coup 1."""
    return lambda house, made: tamper(house, at(house, made, "played", seq))


def of_shoe(**values: object) -> Plant:
    return lambda house, made: set_row(house, ShoeRow, made.shoes["played"], **values)


def flip_leaf_hash(house: Installation, index: int) -> None:
    flip_node(2 * index)(house)


COUP = "WHERE shoe_id = '{played}' AND number = 2"
OWED = "WHERE shoe_id = '{given_up}' AND number = 5"
BET = "WHERE shoe_id = '{played}' AND number = 1"
EVERY = ("alone", "played", "given_up", "unsealed", "fresh")
EDITED = (("bundles", "played", None), *(("bundles", "played", 1),) * 2, ("coups", "played", 1))
"""The chain breaks at the record behind; of the coup itself the tableau and the log's tree say something else."""

EARLIER = "2020-01-31T11:00:00.000000Z"
COLUMNS = "time, rule, outcome, player_total, banker_total, cards_used, judged, table_id"
IN_COUPS, IN_BETS = (("coups", "played", 2),), (("bets", "played", 1),)
OF_OPENING = (("openings", "played", None),)

FAULTS: dict[str, Planted] = {
    # The log and its head.
    "a head that another key signed": Planted(
        lambda house, _: sign_by_another(house),
        (("head", None, None), *(("bundles", shoe, None) for shoe in EVERY)),
        "expected a signature of fairshoe.example/log",
    ),
    "a changed hash of the log's tree": Planted(
        of_record(flip_leaf_hash), (("bundles", "played", None),), "inclusion: inclusion[7]: inclusion of leaf 19"
    ),
    # Records and bundles.
    "a coup's record changed": Planted(of_record(edit_record), EDITED, "records[7].previous: not the hash of the"),
    "a coup's record and its hash changed": Planted(
        of_record(edit_record_and_its_hash), EDITED, "records[7].previous: not the hash of the"
    ),
    "a record that the log has lost": Planted(
        sql("DELETE FROM leaves WHERE shoe = '{played}' AND seq = 6"),
        (("bundles", "played", None), ("coups", "played", 1), ("bets", "played", 1)),
        "order: records[6]: bets can't come after bets",
    ),
    "a record hidden from its shoe": Planted(
        sql("UPDATE leaves SET shoe = NULL, seq = NULL WHERE shoe = '{played}' AND seq = 6"),
        (("bundles", "played", None), ("coups", "played", 1), ("bets", "played", 1)),
        "order: records[6]: bets can't come after bets",
    ),
    "another end of the shoe before": Planted(
        sql("UPDATE shoes SET previous_shoe = NULL WHERE id = '{given_up}'"),
        (("bundles", "given_up", None),),
        "missing: the last record of the previous shoe",
    ),
    # Openings: the shoes as the store has them.
    "a shoe dropped": Planted(
        sql("DELETE FROM coups WHERE shoe_id = '{alone}'", "DELETE FROM shoes WHERE id = '{alone}'"),
        (("openings", "alone", None),),
        "the log opened this shoe at table t, seed 0 of its book; no row has it",
    ),
    "a shoe that ended, said to be in play": Planted(
        sql("UPDATE shoes SET state = 'sealed' WHERE id = '{played}'"),
        OF_OPENING,
        "expected an ended shoe, for the log has its reveal, got 'sealed'",
    ),
    "a void shoe said to be revealed": Planted(
        sql("UPDATE shoes SET state = 'revealed' WHERE id = '{given_up}'"),
        (("openings", "given_up", None),),
        "state: expected void, as the log has it, got 'revealed'",
    ),
    "another commitment": Planted(of_shoe(commitment=bytes(32)), OF_OPENING, "commitment: expected "),
    "another seal": Planted(of_shoe(seal=bytes(32)), (("bundles", "played", 0), *OF_OPENING), "openings: "),
    "another time of opening": Planted(of_shoe(opened=EARLIER), OF_OPENING, f"as the log has it, got '{EARLIER}'"),
    "another number of coups": Planted(of_shoe(next_coup=99), OF_OPENING, "coups: expected 10, as the log has it"),
    # Books: seeds passed over, and unused ones.
    "a seed said to be unused": Planted(
        sql("UPDATE shoes SET seed_index = 3 WHERE id = '{unsealed}'"),
        (("openings", "unsealed", None), ("books", "unsealed", None)),
        "seed index: expected the seed of index 2 next, got 3",
    ),
    "a book whose end the log has lost": Planted(
        sql("DELETE FROM leaves WHERE type = 'book_end'"), (("books", None, None),), "the log has no end of it"
    ),
    # Coups: the rows that statistics count.
    "a missing coup": Planted(sql(f"DELETE FROM coups {COUP}"), IN_COUPS, "row: expected a row of it, got None"),
    "a coup too many": Planted(
        sql(
            f"INSERT INTO coups (shoe_id, number, log_index, {COLUMNS}) "
            f"SELECT shoe_id, 40, log_index + 1000, {COLUMNS} FROM coups {COUP}"
        ),
        (("coups", "played", 40),),
        "row: expected no such coup, got 'a row'",
    ),
    "another total": Planted(
        sql(f"UPDATE coups SET player_total = (player_total + 1) % 10 {COUP}"), IN_COUPS, "player_total: expected "
    ),
    "another winner": Planted(
        sql(f"UPDATE coups SET outcome = CASE outcome WHEN 'tie' THEN 'player' ELSE 'tie' END {COUP}"),
        IN_COUPS,
        "outcome: expected ",
    ),
    "a coup taken from those judged": Planted(
        sql(f"UPDATE coups SET judged = 0 {COUP}"), IN_COUPS, "judged: expected 1, got 0"
    ),
    "a coup moved to another table": Planted(
        sql(f"UPDATE coups SET table_id = 'c' {COUP}"), IN_COUPS, "table_id: expected s, got 'c'"
    ),
    "a void shoe's coup as it would not have been": Planted(
        sql(f"UPDATE coups SET banker_total = (banker_total + 1) % 10 {OWED}"),
        (("coups", "given_up", 5),),
        "banker_total: expected ",
    ),
    "a void shoe's coup left out": Planted(
        sql(f"DELETE FROM coups {OWED}"), (("coups", "given_up", 5),), "row: expected a row of it, got None"
    ),
    # Bets.
    "another stake": Planted(
        sql(f"UPDATE bets SET stake_minor = stake_minor + 100 {BET}"),
        IN_BETS * 2,
        "bets: expected 1 bets under the root ",
    ),
    "another bet": Planted(
        sql(f"UPDATE bets SET bet = 'player' {BET}"), IN_BETS * 2, "bets: expected 1 bets under the root "
    ),
    "another gain": Planted(sql(f"UPDATE bets SET net_minor = net_minor + 100 {BET}"), IN_BETS, "banker, bet 0: "),
    "another sum paid back": Planted(
        sql(f"UPDATE bets SET returned_minor = returned_minor + 7 {BET}"), IN_BETS, "banker, bet 0: expected "
    ),
    "a bet left out": Planted(sql(f"DELETE FROM bets {BET}"), IN_BETS, "bets: expected 1 bets under the root "),
    "a bet on a coup that was not dealt, taken": Planted(
        sql("UPDATE bets SET state = 'lost', net_minor = -400 WHERE shoe_id = '{given_up}' AND number = 2"),
        (("bets", "given_up", 2),),
        "state of bet 0: expected void, for the coup was not dealt, got 'lost'",
    ),
}


def places(findings: Findings, made: Audited) -> list[Where]:
    names = {shoe: name for name, shoe in made.shoes.items()}
    return [(check, names.get(shoe, shoe), coup) for check, shoe, coup, _, _ in faults_of(findings)]


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found(house: Installation, audited: Audited, name: str) -> None:
    planted = FAULTS[name]
    planted.plant(house, audited)
    findings = audit_now(house)
    assert sorted(places(findings, audited), key=str) == sorted(planted.found, key=str), faults_of(findings)
    assert any(planted.words in detail for *_, detail in faults_of(findings)), faults_of(findings)
    wrong = {check for check, *_ in planted.found}
    unverified = name == "another end of the shoe before"
    assert set(findings.looked.wanting if unverified else findings.looked.failed) == wrong
    assert findings.verdict == ("not_judged" if unverified else "fail")


def test_nothing_is_found_where_nobody_touched_anything(house: Installation, audited: Audited) -> None:
    findings = audit_now(house, receipts=[parse_receipt(each) for each in audited.receipts])
    assert (faults_of(findings), findings.verdict) == ([], "pass")
    looked = findings.looked.at
    assert looked["receipts"] == len(audited.receipts) > 3
    assert all(looked[check] > 0 for check in ("head", "openings", "bundles", "coups", "bets", "books"))


@ON_SQLITE
def test_a_text_where_a_number_belongs_is_found(house: Installation, audited: Audited) -> None:
    """SQLite keeps it, if it is told to."""
    sql(f"UPDATE coups SET player_total = 'nine' {COUP}")(house, audited)
    findings = audit_now(house)
    assert places(findings, audited) == [*IN_COUPS]
    assert faults_of(findings)[0][-1].endswith("got 'nine'")


# --- the pin and the witnesses -----------------------------------------------------------------


def pin(house: Installation, size: int, root: bytes) -> None:
    signed = sign_note(print_checkpoint(Checkpoint(ORIGIN, size, root)), [attackers_key(house)])
    (house.folder / "checkpoint.pinned").write_text(signed)


def test_a_log_set_back_behind_its_pin_is_found(house: Installation) -> None:
    pin(house, 10_000, bytes(32))
    findings = audit_now(house)
    assert findings.looked.failed == ("head",)
    assert "expected a log of 10000 records or more, as the pinned checkpoint has" in faults_of(findings)[0][-1]


def test_a_log_written_anew_beside_its_pin_is_found(house: Installation) -> None:
    pin(house, 20, bytes(32))
    findings = audit_now(house)
    assert findings.looked.failed == ("head",)
    assert "does not extend the pinned checkpoint over 20" in faults_of(findings)[0][-1]


# --- receipts ----------------------------------------------------------------------------------


def handed_in(house: Installation, *receipts: Receipt) -> Findings:
    return audit_now(house, Opened("s"), receipts)


def test_a_receipt_of_a_record_that_the_log_has_changed_is_found(house: Installation, audited: Audited) -> None:
    receipt = parse_receipt(audited.receipts[1])
    edit_record(house, receipt.proof.index)
    findings = handed_in(house, parse_receipt(audited.receipts[0]), receipt)
    told = [fault for fault in faults_of(findings) if fault[0] == "receipts"]
    wanted = "receipt 2: the log's record: expected the record that it shows, got 'another'"
    assert told == [("receipts", audited.shoes["played"], 1, receipt.proof.index, wanted)]


def test_a_receipt_of_a_record_that_the_log_has_lost_is_found(house: Installation, audited: Audited) -> None:
    sql("DELETE FROM leaves WHERE shoe = '{played}' AND seq = 6")(house, audited)
    findings = handed_in(house, parse_receipt(audited.receipts[1]))
    assert [fault[-1] for fault in faults_of(findings) if fault[0] == "receipts"] == [
        "receipt 1: the log's record: expected the record that it shows, got 'none'"
    ]


def forked(house: Installation, receipt: Receipt) -> Receipt:
    """A receipt under a head that the log's own key signed for somebody else's eyes: a tree of this one leaf."""
    with house.service.reading() as session:
        keys = Keyring(house.service.vault).signers(session)
    head = print_checkpoint(Checkpoint(ORIGIN, 1, leaf_hash(receipt.record)))
    return Receipt(receipt.record, TlogProof(0, (), sign_note(head, list(keys))))


def test_a_receipt_under_a_forked_head_is_found(house: Installation, audited: Audited) -> None:
    findings = handed_in(house, forked(house, parse_receipt(audited.receipts[0])))
    (fault,) = faults_of(findings)
    assert fault[:4] == ("receipts", audited.shoes["played"], 0, 0)
    assert fault[-1].startswith("receipt 1: the log does not extend the checkpoint over 1 that it signed: ")
    assert findings.verdict == "fail"


def test_a_receipt_of_what_the_log_was_cut_back_from_is_found(house: Installation) -> None:
    house.post("/tables", {"id": "later", "preset": "np_punto_banco"})
    size = house.size()
    late = parse_receipt(house.post("/tables/later/books", {"size": 1})["receipt"])
    cut_off(house, size)
    findings = handed_in(house, late)
    assert findings.looked.failed == ("head", "receipts")
    wanted = f"receipt 1: head: expected a log of {size + 1} records or more, as it signed, got {size}"
    assert ("receipts", None, None, size, wanted) in faults_of(findings)


def test_a_receipt_that_the_log_did_not_sign_proves_nothing(house: Installation, audited: Audited) -> None:
    """It is said, and the records are not judged by it: anybody may make one."""
    good = parse_receipt(audited.receipts[0])
    head = print_checkpoint(Checkpoint(ORIGIN, 1, leaf_hash(good.record)))
    findings = handed_in(house, Receipt(good.record, TlogProof(0, (), sign_note(head, [attackers_key(house)]))))
    assert (findings.looked.failed, findings.looked.wanting, findings.verdict) == ((), ("receipts",), "not_judged")
    (fault,) = faults_of(findings)
    assert fault[-1].startswith("receipt 1: it proves nothing: ")


def test_a_receipt_of_bytes_that_are_no_record_is_named(house: Installation) -> None:
    with house.service.reading() as session:
        keys = Keyring(house.service.vault).signers(session)
    head = print_checkpoint(Checkpoint(ORIGIN, 1, leaf_hash(b"no record")))
    findings = handed_in(house, Receipt(b"no record", TlogProof(0, (), sign_note(head, list(keys)))))
    (fault,) = faults_of(findings)
    assert fault[:4] == ("receipts", None, None, 0)
    assert "; its record can't be read: " in fault[-1]


def test_a_receipt_under_a_retired_key_is_good(house: Installation, audited: Audited) -> None:
    """The log was signed with that key when the receipt was given."""
    old = house.client.get("/v1/log/key").text.strip()
    house.service.write(add_key(house.service))
    house.service.write(revoke_key(old, "retired"))
    findings = handed_in(house, *map(parse_receipt, audited.receipts))
    assert (faults_of(findings), findings.verdict) == ([], "pass")
    assert len(findings.plan.retired) == 1
    assert set(findings.plan.retired).isdisjoint(findings.plan.vkeys)


# --- scope -------------------------------------------------------------------------------------


def test_the_scope_decides_which_shoes_are_looked_at(house: Installation, audited: Audited) -> None:
    sql(f"DELETE FROM coups {COUP}")(house, audited)
    assert audit_now(house, Opened("c")).verdict == "pass"
    assert audit_now(house, Opened("t")).plan.shoes == 1
    assert audit_now(house, Opened("s")).verdict == "fail"
    nothing = audit_now(house, Opened("s", end=EARLIER))
    assert (nothing.plan.shoes, nothing.verdict) == (0, "not_judged")
    assert nothing.words == "Not judged: no sealed shoe of the scope has ended."


def test_the_same_plan_over_the_same_records_gives_the_same_bytes(house: Installation) -> None:
    one, other = audit_now(house), audit_now(house)
    assert one.to_bytes() == other.to_bytes()
    assert one.hash == other.hash
