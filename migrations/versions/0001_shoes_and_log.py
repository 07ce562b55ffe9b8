"""Tables, books, shoes and coups; the log with its head, and the triggers that keep it append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

LIVE = sa.text("state IN ('open', 'locked', 'sealed')")

SQLITE_TRIGGERS = {
    "leaves_only_next": """BEFORE INSERT ON leaves
        WHEN NEW.log_index <> (SELECT COALESCE(MAX(log_index) + 1, 0) FROM leaves)
        BEGIN SELECT RAISE(ABORT, 'leaves: only the next index may be added'); END""",
    "checkpoints_only_larger": """BEFORE INSERT ON checkpoints
        WHEN NEW.size <= (SELECT COALESCE(MAX(size), 0) FROM checkpoints)
        BEGIN SELECT RAISE(ABORT, 'checkpoints: only a larger one may be added'); END""",
    "log_head_only_grows": """BEFORE UPDATE ON log_head
        WHEN NEW.size <= OLD.size OR NEW.time < OLD.time
        BEGIN SELECT RAISE(ABORT, 'log_head: may only grow'); END""",
}
SQLITE_TRIGGERS |= {
    f"{table}_no_{verb.lower()}": f"BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{table}: no {verb}'); END"
    for table in ("leaves", "log_nodes", "checkpoints")
    for verb in ("UPDATE", "DELETE")
}
SQLITE_TRIGGERS["log_head_no_delete"] = (
    "BEFORE DELETE ON log_head BEGIN SELECT RAISE(ABORT, 'log_head: no DELETE'); END"
)


def integer(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def blob(name: str, *, nullable: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=nullable)


def primary_key(table: str, *columns: str) -> sa.PrimaryKeyConstraint:
    return sa.PrimaryKeyConstraint(*columns, name=f"pk_{table}")


def foreign_key(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=f"fk_{table}_{column}")


def unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")


def check(table: str, name: str, condition: str) -> sa.CheckConstraint:
    return sa.CheckConstraint(condition, name=op.f(f"ck_{table}_{name}"))


def upgrade() -> None:
    create_tables_and_books()
    create_shoes()
    create_coups()
    create_log()
    if op.get_bind().dialect.name == "sqlite":
        for name, definition in SQLITE_TRIGGERS.items():
            op.execute(f"CREATE TRIGGER {name} {definition}")


def create_tables_and_books() -> None:
    op.create_table(
        "tables",
        text("id"),
        text("preset", nullable=True),
        text("rules"),
        integer("decks"),
        text("shuffle"),
        text("created"),
        primary_key("tables", "id"),
    )
    op.create_table(
        "books",
        blob("root"),
        text("table_id"),
        integer("size"),
        blob("sealed_master"),
        integer("log_index"),
        integer("next_index"),
        text("state"),
        primary_key("books", "root"),
        foreign_key("books", "table_id", "tables.id"),
        unique("books", "log_index"),
        check("books", "state", "state IN ('published', 'ended')"),
        check("books", "next_index", "next_index BETWEEN 0 AND size"),
    )
    op.create_index("ix_books_table_id", "books", ["table_id"])


def create_shoes() -> None:
    op.create_table(
        "shoes",
        text("id"),
        text("table_id"),
        blob("book_root"),
        integer("seed_index"),
        blob("commitment"),
        blob("book_proof"),
        text("previous_shoe", nullable=True),
        text("opened"),
        integer("open_index"),
        text("lock_by"),
        text("seal_by"),
        text("reveal_by"),
        integer("beacon_round", nullable=True),
        text("state"),
        blob("seal", nullable=True),
        integer("next_seq"),
        blob("last_hash"),
        integer("last_index"),
        integer("next_coup"),
        integer("position"),
        integer("cut_drawn"),
        integer("in_row"),
        primary_key("shoes", "id"),
        foreign_key("shoes", "table_id", "tables.id"),
        foreign_key("shoes", "book_root", "books.root"),
        foreign_key("shoes", "previous_shoe", "shoes.id"),
        unique("shoes", "open_index"),
        unique("shoes", "book_root", "seed_index"),
        check("shoes", "state", "state IN ('open', 'locked', 'sealed', 'revealed', 'void')"),
    )
    op.create_index("ix_shoes_table_id", "shoes", ["table_id"])
    op.create_index("one_live_shoe", "shoes", ["table_id"], unique=True, sqlite_where=LIVE, postgresql_where=LIVE)
    op.create_table(
        "contributions",
        text("shoe_id"),
        integer("position"),
        text("client"),
        blob("seed_commitment", nullable=True),
        text("seed", nullable=True),
        primary_key("contributions", "shoe_id", "position"),
        foreign_key("contributions", "shoe_id", "shoes.id"),
        unique("contributions", "shoe_id", "client"),
    )


def create_coups() -> None:
    op.create_table(
        "coups",
        text("shoe_id"),
        integer("number"),
        text("table_id"),
        integer("log_index", nullable=True),
        text("time"),
        text("rule"),
        text("outcome"),
        integer("player_total"),
        integer("banker_total"),
        integer("cards_used"),
        integer("judged"),
        primary_key("coups", "shoe_id", "number"),
        foreign_key("coups", "shoe_id", "shoes.id"),
        foreign_key("coups", "table_id", "tables.id"),
        unique("coups", "log_index"),
    )
    op.create_index("ix_coups_table_id_time", "coups", ["table_id", "time"])


def create_log() -> None:
    op.create_table(
        "leaves",
        integer("log_index"),
        blob("record"),
        text("type"),
        text("shoe", nullable=True),
        integer("seq", nullable=True),
        primary_key("leaves", "log_index"),
        unique("leaves", "shoe", "seq"),
    )
    op.create_table("log_nodes", integer("position"), blob("hash"), primary_key("log_nodes", "position"))
    op.create_table(
        "log_head",
        integer("id"),
        integer("size"),
        blob("frontier"),
        blob("root"),
        text("time"),
        text("checkpoint"),
        primary_key("log_head", "id"),
        check("log_head", "one_row", "id = 1"),
    )
    op.create_table("checkpoints", integer("size"), text("text"), primary_key("checkpoints", "size"))
    op.create_table("signing_keys", text("vkey"), blob("sealed_seed"), primary_key("signing_keys", "vkey"))


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
