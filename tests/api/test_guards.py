"""The triggers: each alone keeps what it says it keeps, on both databases, and none is missing unseen."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.orm import Session

from api.db import triggers
from api.db.triggers import Guard, complaints
from tests.api.installation import HOUSE, ON_POSTGRESQL, ON_SQLITE, Found, Installation

BYTES = {"b": b"\x00"}
ENDED, LIVE = "state = 'void'", "state = 'sealed'"

STATEMENTS = {
    "guard_leaves_only_next": [
        "INSERT INTO leaves (log_index, record, type) SELECT MAX(log_index) + 2, :b, 'book' FROM leaves",
        "INSERT INTO leaves (log_index, record, type) VALUES (-1, :b, 'book')",
    ],
    "guard_coups_only_next": [
        f"INSERT INTO coups SELECT shoe_id, number + {step}, table_id, NULL, time, rule, outcome, player_total,"
        " banker_total, cards_used, judged FROM coups WHERE number = 1"
        for step in (-3, 3)
    ],
    "guard_contributions_only_next": [
        "INSERT INTO contributions (shoe_id, position, client) SELECT shoe_id, 7, 'x' FROM contributions",
    ],
    "guard_checkpoints_only_larger": [
        "INSERT INTO checkpoints SELECT MIN(size) + 1, 'x' FROM checkpoints WHERE size <> 2",
        "INSERT INTO checkpoints VALUES (0, 'x')",
    ],
    "guard_log_head_only_grows": [
        "UPDATE log_head SET root = :b",
        "UPDATE log_head SET size = size - 1",
        "UPDATE log_head SET size = size + 1, time = '2000'",
    ],
    "guard_log_head_counts_leaves": ["UPDATE log_head SET size = size + 1", "UPDATE log_head SET size = 0"],
    "guard_shoes_steps": [
        f"UPDATE shoes SET state = 'open', next_seq = next_seq + 1, last_index = last_index + 1000 WHERE {LIVE}",
        f"UPDATE shoes SET state = 'locked', next_seq = next_seq + 1 WHERE {LIVE}",
        f"UPDATE shoes SET next_seq = next_seq + 1, last_index = last_index + 1000 WHERE {ENDED}",
        f"UPDATE shoes SET state = 'revealed' WHERE {ENDED}",
    ],
    "guard_shoes_only_on": [
        f"UPDATE shoes SET next_seq = next_seq - 1 WHERE {LIVE}",
        f"UPDATE shoes SET next_coup = 0, next_seq = next_seq + 1, last_index = last_index + 1000 WHERE {LIVE}",
        f"UPDATE shoes SET next_seq = next_seq + 1 WHERE {LIVE}",
        f"UPDATE shoes SET last_index = last_index + 1000 WHERE {LIVE}",
    ],
    "guard_shoes_sealed_once": [f"UPDATE shoes SET seal = :b WHERE {LIVE}"],
    "guard_shoes_fixed": [
        f"UPDATE shoes SET commitment = :b WHERE {LIVE}",
        f"UPDATE shoes SET seed_index = seed_index + 2 WHERE {LIVE}",
        f"UPDATE shoes SET book_proof = :b WHERE {LIVE}",
        f"UPDATE shoes SET opened = 'x' WHERE {LIVE}",
        f"UPDATE shoes SET open_index = -1 WHERE {LIVE}",
    ],
    "guard_shoes_deadlines": [
        f"UPDATE shoes SET {column} = {value} WHERE {LIVE}"
        for column, value in (
            ("lock_by", "'2030'"),
            ("seal_by", "'2030'"),
            ("reveal_by", "'2030'"),
            ("beacon_round", "7"),
            ("previous_shoe", "NULL"),
        )
    ],
    "guard_contributions_fixed": [
        "UPDATE contributions SET client = 'guest-9'",
        "UPDATE contributions SET position = 1",
    ],
    "guard_contributions_opened_once": [
        "UPDATE contributions SET seed = 'another-seed'",
        "UPDATE contributions SET seed = NULL",
    ],
    "guard_books_fixed": ["UPDATE books SET size = size + 1", "UPDATE books SET log_index = log_index + 1000"],
    "guard_books_only_on": [
        "UPDATE books SET next_index = next_index - 1 WHERE next_index > 0",
        "UPDATE books SET state = 'published' WHERE state = 'ended'",
    ],
    "guard_signing_keys_fixed": ["UPDATE signing_keys SET vkey = 'x'", "UPDATE signing_keys SET log_index = 1000"],
    "guard_signing_keys_retired_for_good": [
        "UPDATE signing_keys SET status = 'active'",
    ],
    "guard_contributions_seat": [
        "UPDATE contributions SET seat_id = NULL",
        "UPDATE contributions SET seat_id = 'another'",
    ],
    "guard_credentials_fixed": [
        "UPDATE credentials SET id = 'another'",
        "UPDATE credentials SET kind = 'seat'",
        "UPDATE credentials SET prefix = 'x'",
        "UPDATE credentials SET digest = :b",
        "UPDATE credentials SET roles = 'operator'",
        "UPDATE credentials SET created = 'x'",
    ],
    "guard_credentials_revoked_for_good": [
        "UPDATE credentials SET revoked = NULL WHERE revoked IS NOT NULL",
        "UPDATE credentials SET revoked = 'later' WHERE revoked IS NOT NULL",
    ],
    "guard_purses_fixed": ["UPDATE purses SET seat_id = 'another'"],
    "guard_banks_fixed": ["UPDATE banks SET table_id = 'another'"],
    "guard_bets_only_next": [
        f"INSERT INTO bets SELECT shoe_id, number, position + {step}, seat_id, client, bet, stake_minor, salt, time,"
        " carried, 'laid', NULL, NULL, NULL FROM bets WHERE position = 1"
        for step in (-3, 3)
    ],
    "guard_bets_fixed": [
        f"UPDATE bets SET {column} = {value} WHERE state = 'laid'"
        for column, value in (
            ("number", "number + 1"),
            ("position", "position + 7"),
            ("seat_id", "(SELECT MIN(id) FROM credentials WHERE kind = 'key')"),
            ("client", "'another'"),
            ("bet", "'tie'"),
            ("stake_minor", "stake_minor + 1"),
            ("salt", "'x'"),
            ("time", "'x'"),
            ("carried", "1"),
        )
    ],
    "guard_bets_laid_first": [
        "INSERT INTO bets SELECT shoe_id, number, position + 1, seat_id, client, bet, stake_minor, salt, time,"
        " carried, 'withdrawn', NULL, NULL, NULL FROM bets WHERE position = 1",
    ],
    "guard_bets_settled_once": [
        "UPDATE bets SET state = 'laid' WHERE state = 'withdrawn'",
        "UPDATE bets SET state = 'void' WHERE state = 'withdrawn'",
    ],
    "guard_credentials_player": ["UPDATE credentials SET player = 'another' WHERE kind = 'seat'"],
    "guard_own_limits_fixed": [
        "UPDATE own_limits SET holder = 'another'",
        "UPDATE own_limits SET table_id = 'u'",
    ],
    "guard_own_limits_only_lowered": [
        "UPDATE own_limits SET maximum_minor = 501",
        "UPDATE own_limits SET maximum_minor = NULL",
    ],
    "guard_monitors_fixed": ["UPDATE monitors SET table_id = 'u'", "UPDATE monitors SET name = 'another'"],
    "guard_monitors_only_on": [
        "UPDATE monitors SET place = place - 1",
        "UPDATE monitors SET coups = coups - 1",
        "UPDATE monitors SET alarms = alarms - 1",
    ],
    "guard_audits_fixed": [
        "UPDATE audits SET id = 'b' WHERE id = 'a'",
        "UPDATE audits SET made_by = 'another' WHERE id = 'a'",
        "UPDATE audits SET created = 'x' WHERE id = 'a'",
    ],
    "guard_audits_ended_once": [
        "UPDATE audits SET verdict = 'pass' WHERE id = 'z'",
        "UPDATE audits SET state = 'queued', verdict = NULL, ended = NULL WHERE id = 'z'",
    ],
    "guard_passes_fixed": [
        "UPDATE passes SET number = number + 1",
        "UPDATE passes SET client = 'another'",
    ],
}
"""For each guard that has a condition, what it must not let through; ":b" is one byte."""

BETTING = (
    "INSERT INTO purses (seat_id, balance_minor) SELECT :seat, 1"
    " WHERE NOT EXISTS (SELECT 1 FROM purses WHERE seat_id = :seat)",
    "INSERT INTO banks SELECT 'u', 1000 WHERE NOT EXISTS (SELECT 1 FROM banks WHERE table_id = 'u')",
    *[
        f"INSERT INTO bets VALUES (:shoe, 3, {position}, :seat, 'seat-0', 'player', 100, 's', 't', 0, 'laid',"
        " NULL, NULL, NULL)"
        for position in (0, 1)
    ],
    "UPDATE bets SET state = 'withdrawn' WHERE position = 0",
    "INSERT INTO passes VALUES (:shoe, 3, :seat, 'seat-0', 't', 'stands', 'pass')",
    "INSERT INTO purse_moves VALUES ('m', :seat, 1, 1, 't', '', '')",
    "INSERT INTO own_limits VALUES ('ann', '', 500, '2026-01-23', 'x', 0, NULL)",
)
"""A purse, a bank, a bet that was withdrawn and one that is laid, a pass, money from outside, an own limit."""

AUDITING = (
    "INSERT INTO monitors SELECT id, 'x', 7, 7, 1, NULL, NULL, '{}' FROM tables WHERE id = 't'",
    "INSERT INTO audits VALUES ('a', 'key', 't', NULL, NULL, NULL, 'queued', NULL, 0, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO audits VALUES ('z', 'key', 't', NULL, NULL, NULL, 'done', NULL, 1, 1, 'fail', 9, NULL, 't')",
    "INSERT INTO audit_documents VALUES ('z', 'findings.json', :b)",
)
"""A monitor that went past seven coups, an audit that waits and one that ended, with a document."""

PLAIN = {
    "UPDATE": {
        "leaves": "record = :b",
        "log_nodes": "hash = :b",
        "checkpoints": "text = 'x'",
        "cosignatures": "line = 'x'",
        "purse_moves": "amount_minor = 2",
        "audit_documents": "content = :b",
        "tables": "rules = '{}'",
        "coups": "outcome = 'tie'",
    },
}


def statements_against(guard: Guard) -> list[str]:
    if guard.condition is not None:
        return STATEMENTS[guard.full_name]
    if guard.verb == "UPDATE":
        return [f"UPDATE {guard.table} SET {PLAIN['UPDATE'][guard.table]}"]
    return [f"DELETE FROM {guard.table}"] if guard.verb == "DELETE" else [f"TRUNCATE {guard.table} CASCADE"]


def filled(house: Installation) -> Installation:
    """A void shoe with a contribution, a sealed one with three coups; a book ended; a retired key; a webhook; bets."""
    house.table(book=1, decks=1)
    shoe = house.open()
    house.commit(shoe, "a-seed")
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "a-seed"})
    house.post("/tables/t/books", {"size": 4})
    house.post("/webhooks", {"url": "https://hooks.example/shoes", "events": ["shoe.opened"], "table": "t"})
    house.post(f"/seats/{house.post('/tables/t/seats')['seat']}/revoke")
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    house.post("/tables", {"id": "u", "preset": "np_punto_banco", "overrides": HOUSE})
    house.post("/tables/u/books", {"size": 4})
    house.post(f"/shoes/{house.open('u')}/void", {"reason": "operator"})
    seat = house.post("/tables/u/seats")["seat"]
    sealed = house.sealed("u")
    for _ in range(3):
        house.post(f"/shoes/{sealed}/coups")
    with house.service.store.writing() as session:
        session.execute(text("INSERT INTO cosignatures SELECT MAX(size), 'v', 1, 'l' FROM checkpoints"))
        session.execute(text("INSERT INTO signing_keys VALUES ('old', :b, 'retired', 999)"), BYTES)
        for statement in (*BETTING, *AUDITING):
            values = {"seat": seat, "shoe": sealed, **BYTES}
            session.execute(text(statement), {name: values[name] for name in values if f":{name}" in statement})
    return house


def attempt(session: Session, statement: str) -> int:
    parameters = BYTES if ":b" in statement else {}
    return int(session.execute(text(statement), parameters).rowcount)  # type: ignore[attr-defined]


def test_each_guard_alone_keeps_what_it_says(found: Found, database: str) -> None:
    """With the others away: so that no guard is there which another one makes up for in the tests alone."""
    house = filled(found())
    guards = triggers.guards_of(database)
    assert {guard.full_name for guard in guards if guard.condition} == set(STATEMENTS)
    for guard in guards:
        with house.service.store.writing() as session:
            triggers.remove(session.connection())
            made = guard.for_postgresql() if database == "postgresql" else (guard.for_sqlite(),)
            for each in made:
                session.connection().exec_driver_sql(each)
        for statement in statements_against(guard):
            with pytest.raises(DatabaseError) as caught, house.service.store.writing() as session:
                attempt(session, statement)
            assert guard.text in str(caught.value), (guard.full_name, statement)
    with house.service.store.writing() as session:
        triggers.remove(session.connection())
        triggers.install(session.connection())
    house.post(f"/shoes/{house.get('/tables/u')['live_shoe']}/coups")


def test_without_the_guards_the_statements_would_go_through(found: Found, database: str) -> None:
    """The control: they fail because of the guards; a key or a check of the table holds up some of them as well."""
    house = filled(found())
    with house.service.store.writing() as session:
        triggers.remove(session.connection())
    statements = [each for guard in triggers.guards_of(database) for each in statements_against(guard)]
    passed = [statement for statement in statements if goes_through(house, statement)]
    assert len(passed) >= 0.6 * len(statements)


def goes_through(house: Installation, statement: str) -> bool:
    """Whether a statement changes something; it is taken back."""
    with Session(house.service.store.writers) as session:
        try:
            return attempt(session, statement) != 0
        except DatabaseError:
            return False


@ON_SQLITE
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR REPLACE INTO leaves SELECT log_index, :b, type, shoe, seq FROM leaves WHERE log_index = 1",
        "INSERT OR REPLACE INTO leaves SELECT 99, :b, type, shoe, seq FROM leaves WHERE seq = 0",
        "INSERT OR REPLACE INTO log_nodes VALUES (0, :b)",
        "INSERT OR REPLACE INTO checkpoints VALUES (1, 'x')",
        "INSERT OR REPLACE INTO log_head SELECT 1, size, frontier, :b, time, checkpoint FROM log_head",
        "UPDATE OR REPLACE leaves SET log_index = 0 WHERE log_index = 1",
    ],
)
def test_replacing_is_no_way_around(house: Installation, statement: str) -> None:
    """SQLite's REPLACE deletes without a DELETE trigger unless `recursive_triggers` is on."""
    filled(house)
    with pytest.raises(DatabaseError, match=r"no DELETE|only the next|only a larger|no UPDATE"):  # noqa: SIM117
        with house.service.store.writing() as session:
            attempt(session, statement)


@ON_POSTGRESQL
@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO log_nodes VALUES (0, :b) ON CONFLICT (position) DO UPDATE SET hash = EXCLUDED.hash",
        "MERGE INTO leaves USING (SELECT 1) s ON log_index = 1 WHEN MATCHED THEN DELETE",
        "TRUNCATE leaves CASCADE",
        "TRUNCATE tables CASCADE",
    ],
)
def test_upsert_merge_and_truncate_are_no_way_around(house: Installation, statement: str) -> None:
    filled(house)
    with pytest.raises(DatabaseError, match=r"no (UPDATE|DELETE|TRUNCATE)"), house.service.store.writing() as session:
        attempt(session, statement)


def test_the_guards_are_there_and_a_missing_or_altered_one_is_named(house: Installation, database: str) -> None:
    with house.service.store.writing() as session:
        connection = session.connection()
        assert complaints(connection) == []
        on = " ON leaves" if database == "postgresql" else ""
        connection.exec_driver_sql(f"DROP TRIGGER guard_leaves_no_update{on}")
        assert complaints(connection) == ["trigger guard_leaves_no_update is missing"]
        if database == "postgresql":
            connection.exec_driver_sql("ALTER TABLE coups DISABLE TRIGGER guard_coups_no_delete")
            connection.exec_driver_sql(
                "CREATE OR REPLACE FUNCTION guard_tables_no_update() RETURNS trigger LANGUAGE plpgsql"
                " AS $$BEGIN RETURN NEW; END$$"
            )
            altered = ["coups_no_delete", "tables_no_update"]
        else:
            connection.exec_driver_sql("DROP TRIGGER guard_coups_no_delete")
            connection.exec_driver_sql(
                "CREATE TRIGGER guard_coups_no_delete BEFORE DELETE ON tables BEGIN SELECT 1; END"
            )
            altered = ["coups_no_delete"]
        wanted = [f"trigger guard_{name} is not the one that this version puts there" for name in altered]
        assert sorted(complaints(connection)) == sorted([*wanted, "trigger guard_leaves_no_update is missing"])
        triggers.install(connection)
        assert complaints(connection) == []
