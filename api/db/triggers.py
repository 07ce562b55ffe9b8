"""What must never change, kept by the database itself: the triggers of both databases, one list for both.

Migrations make tables; the triggers are put in place anew, as they stand here, at the end of every upgrade, because
SQLite's way of altering a table drops them without a word. The service checks them at its start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

PREFIX: Final = "guard_"


@dataclass(frozen=True, slots=True)
class Guard:
    """A trigger on every row that a statement touches: where `condition` holds (always without one), it fails.

    The condition is SQL that both databases read alike, over NEW and OLD.
    """

    table: str
    verb: str
    name: str
    message: str
    condition: str | None = None

    @property
    def full_name(self) -> str:
        """The trigger's name in the database."""
        return f"{PREFIX}{self.table}_{self.name}"

    @property
    def text(self) -> str:
        """What the failure says: the table, and what it does not take."""
        return f"{self.table}: {self.message}"

    def for_sqlite(self) -> str:
        """Print the statement that makes it in SQLite, as its schema keeps it."""
        when = "" if self.condition is None else f" WHEN {self.condition}"
        raised = f"BEGIN SELECT RAISE(ABORT, '{self.text}'); END"
        return f"CREATE TRIGGER {self.full_name} BEFORE {self.verb} ON {self.table}{when} {raised}"

    def body_for_postgresql(self) -> str:
        """Print the body of the function that the trigger calls in PostgreSQL."""
        raised = f"RAISE EXCEPTION '{self.text}' USING ERRCODE = 'restrict_violation';"
        if self.condition is None:
            return f"BEGIN {raised} END"
        return f"BEGIN IF {self.condition} THEN {raised} END IF; RETURN NEW; END"

    def for_postgresql(self) -> tuple[str, str]:
        """Print the statements that make function and trigger in PostgreSQL."""
        level = "STATEMENT" if self.verb == "TRUNCATE" else "ROW"
        return (
            f"CREATE FUNCTION {self.full_name}() RETURNS trigger LANGUAGE plpgsql AS $${self.body_for_postgresql()}$$",
            f"CREATE TRIGGER {self.full_name} BEFORE {self.verb} ON {self.table} "
            f"FOR EACH {level} EXECUTE FUNCTION {self.full_name}()",
        )


def _never(table: str, *verbs: str) -> list[Guard]:
    return [Guard(table, verb, f"no_{verb.lower()}", f"no {verb}") for verb in verbs]


def _next(table: str, column: str, among: str = "TRUE") -> Guard:
    following = f"(SELECT COALESCE(MAX({column}) + 1, 0) FROM {table} WHERE {among})"  # noqa: S608  # names from here
    return Guard(table, "INSERT", "only_next", f"only the next {column} may be added", f"NEW.{column} <> {following}")


def _fixed(table: str, *columns: str) -> Guard:
    changed = " OR ".join(f"COALESCE(NEW.{column} <> OLD.{column}, TRUE)" for column in columns)
    return Guard(table, "UPDATE", "fixed", f"{', '.join(columns)} never change", changed)


_FUNCTIONS: Final = (
    "SELECT oid::regprocedure FROM pg_proc WHERE starts_with(proname, 'guard_')"
    " AND prorettype = 'trigger'::regtype AND pronamespace = current_schema()::regnamespace"
)
_STEPS: Final = (
    ("open", "locked"),
    ("open", "void"),
    ("locked", "sealed"),
    ("locked", "void"),
    ("sealed", "revealed"),
    ("sealed", "void"),
)
_STEP: Final = " OR ".join(f"(OLD.state = '{before}' AND NEW.state = '{after}')" for before, after in _STEPS)
_APPEND_ONLY: Final = (
    *("leaves", "log_nodes", "checkpoints", "cosignatures", "tables", "coups"),
    *("purse_moves", "audit_documents"),
)
_NEVER_LESS: Final = (
    *("log_head", "books", "shoes", "contributions", "signing_keys", "credentials", "webhooks"),
    *("purses", "banks", "bets", "passes", "own_limits"),
    *("monitors", "audits"),
)

GUARDS: Final = (
    *[guard for table in _APPEND_ONLY for guard in _never(table, "UPDATE", "DELETE", "TRUNCATE")],
    *[guard for table in _NEVER_LESS for guard in _never(table, "DELETE", "TRUNCATE")],
    _next("leaves", "log_index"),
    _next("coups", "number", "shoe_id = NEW.shoe_id"),
    _next("contributions", "position", "shoe_id = NEW.shoe_id"),
    Guard(
        "checkpoints",
        "INSERT",
        "only_larger",
        "only a larger one may be added",
        "NEW.size <= (SELECT COALESCE(MAX(size), 0) FROM checkpoints)",
    ),
    Guard(
        "log_head",
        "UPDATE",
        "only_grows",
        "may only grow",
        "NEW.size <= OLD.size OR NEW.time < OLD.time",
    ),
    Guard(
        "log_head",
        "UPDATE",
        "counts_leaves",
        "size is the number of leaves",
        "NEW.size <> (SELECT COALESCE(MAX(log_index) + 1, 0) FROM leaves)",
    ),
    Guard(
        "shoes",
        "UPDATE",
        "steps",
        "a state leads only to the next or to void, and an ended shoe stays as it is",
        f"OLD.state IN ('revealed', 'void') OR (NEW.state <> OLD.state AND NOT ({_STEP}))",
    ),
    Guard(
        "shoes",
        "UPDATE",
        "only_on",
        "goes only on",
        "NEW.next_seq <= OLD.next_seq OR NEW.next_coup < OLD.next_coup OR NEW.last_index <= OLD.last_index",
    ),
    Guard("shoes", "UPDATE", "sealed_once", "is sealed once", "OLD.seal IS NOT NULL AND NEW.seal <> OLD.seal"),
    _fixed("shoes", "id", "table_id", "book_root", "seed_index", "commitment", "book_proof", "opened", "open_index"),
    Guard(
        "shoes",
        "UPDATE",
        "deadlines",
        "deadlines, beacon round and previous shoe never change",
        "NEW.lock_by <> OLD.lock_by OR NEW.seal_by <> OLD.seal_by OR NEW.reveal_by <> OLD.reveal_by"
        " OR COALESCE(NEW.beacon_round, -1) <> COALESCE(OLD.beacon_round, -1)"
        " OR COALESCE(NEW.previous_shoe, '') <> COALESCE(OLD.previous_shoe, '')",
    ),
    _fixed("contributions", "shoe_id", "position", "client"),
    Guard(
        "contributions",
        "UPDATE",
        "seat",
        "seat_id never changes",
        "COALESCE(NEW.seat_id, '') <> COALESCE(OLD.seat_id, '')",
    ),
    Guard(
        "contributions",
        "UPDATE",
        "opened_once",
        "a seed is opened once",
        "OLD.seed IS NOT NULL OR NEW.seed_commitment <> OLD.seed_commitment",
    ),
    _fixed("books", "root", "table_id", "size", "log_index"),
    Guard(
        "books",
        "UPDATE",
        "only_on",
        "goes only on",
        "NEW.next_index < OLD.next_index OR (OLD.state = 'ended' AND NEW.state <> 'ended')",
    ),
    _fixed("signing_keys", "vkey", "log_index"),
    _fixed("credentials", "id", "kind", "prefix", "digest", "roles", "created"),
    Guard(
        "credentials",
        "UPDATE",
        "revoked_for_good",
        "a credential that is revoked stays so",
        "OLD.revoked IS NOT NULL AND COALESCE(NEW.revoked <> OLD.revoked, TRUE)",
    ),
    Guard(
        "credentials",
        "UPDATE",
        "player",
        "whose seat it is never changes",
        "COALESCE(NEW.player, '') <> COALESCE(OLD.player, '')",
    ),
    _fixed("purses", "seat_id"),
    _fixed("own_limits", "holder", "table_id"),
    Guard(
        "own_limits",
        "UPDATE",
        "only_lowered",
        "an own limit is only lowered",
        "OLD.maximum_minor IS NOT NULL AND COALESCE(NEW.maximum_minor > OLD.maximum_minor, TRUE)",
    ),
    _fixed("banks", "table_id"),
    _next("bets", "position", "shoe_id = NEW.shoe_id AND number = NEW.number"),
    _fixed(
        *("bets", "shoe_id", "number", "position", "seat_id", "client"),
        *("bet", "stake_minor", "salt", "time", "carried"),
    ),
    Guard("bets", "INSERT", "laid_first", "a bet is laid before anything becomes of it", "NEW.state <> 'laid'"),
    Guard("bets", "UPDATE", "settled_once", "what became of a bet stays so", "OLD.state <> 'laid'"),
    _fixed("passes", "shoe_id", "number", "seat_id", "client"),
    _fixed("monitors", "table_id", "name"),
    Guard(
        "monitors",
        "UPDATE",
        "only_on",
        "goes only on",
        "NEW.place < OLD.place OR NEW.coups < OLD.coups OR NEW.alarms < OLD.alarms",
    ),
    _fixed("audits", "id", "made_by", "created"),
    Guard(
        "audits",
        "UPDATE",
        "ended_once",
        "an audit that has ended stays as it is",
        "OLD.state IN ('done', 'failed')",
    ),
    Guard(
        "signing_keys",
        "UPDATE",
        "retired_for_good",
        "a key that is retired or compromised signs no more",
        "OLD.status <> 'active' AND NEW.status = 'active'",
    ),
)
"""Every guard; on SQLite those against TRUNCATE, which it doesn't have, are left out."""


def guards_of(dialect: str) -> tuple[Guard, ...]:
    """List the guards of a database."""
    return tuple(guard for guard in GUARDS if dialect == "postgresql" or guard.verb != "TRUNCATE")


def install(connection: Connection) -> None:
    """Put every trigger in place as it stands here, and away what stands there else."""
    remove(connection)
    for guard in guards_of(connection.dialect.name):
        statements = guard.for_postgresql() if connection.dialect.name == "postgresql" else (guard.for_sqlite(),)
        for statement in statements:
            connection.exec_driver_sql(statement)


def remove(connection: Connection) -> None:
    """Put all triggers of these tables away: for migrations and for restoring, inside of their transactions."""
    if connection.dialect.name == "postgresql":
        for (function,) in connection.exec_driver_sql(_FUNCTIONS).all():
            connection.exec_driver_sql(f"DROP FUNCTION {function} CASCADE")
        return
    for (name,) in connection.exec_driver_sql("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all():
        connection.exec_driver_sql(f'DROP TRIGGER "{name}"')


def complaints(connection: Connection) -> list[str]:
    """Name what is wrong with a database's triggers: missing, altered or switched off; nothing where all is well."""
    found = _in_postgresql(connection) if connection.dialect.name == "postgresql" else _in_sqlite(connection)
    wrong = []
    for guard in guards_of(connection.dialect.name):
        stands = found.get(guard.full_name)
        if stands is None:
            wrong.append(f"trigger {guard.full_name} is missing")
        elif stands != _wanted(guard, connection.dialect.name):
            wrong.append(f"trigger {guard.full_name} is not the one that this version puts there")
    return wrong


def _wanted(guard: Guard, dialect: str) -> tuple[str, ...]:
    if dialect == "sqlite":
        return (guard.for_sqlite(),)
    return guard.body_for_postgresql(), guard.for_postgresql()[1], "O"


def _in_sqlite(connection: Connection) -> dict[str, tuple[str, ...]]:
    rows = connection.exec_driver_sql("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    return {str(name): (str(sql),) for name, sql in rows}


def _in_postgresql(connection: Connection) -> dict[str, tuple[str, ...]]:
    rows = connection.exec_driver_sql(
        "SELECT t.tgname, p.prosrc, pg_get_triggerdef(t.oid), t.tgenabled, current_schema()"
        " FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal"
    )
    return {
        str(name): (str(body), str(made).replace(f"ON {schema}.", "ON "), _letter(enabled))
        for name, body, made, enabled, schema in rows
    }


def _letter(enabled: str | bytes) -> str:
    return enabled.decode() if isinstance(enabled, bytes) else enabled
