"""Bets, passes, the purses of seats, and the banks of tables that can be broken."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def upgrade() -> None:
    purses = op.create_table(
        "purses",
        text("seat_id"),
        number("balance_minor"),
        sa.PrimaryKeyConstraint("seat_id", name="pk_purses"),
        sa.ForeignKeyConstraint(["seat_id"], ["credentials.id"], name="fk_purses_seat_id"),
        sa.CheckConstraint("balance_minor >= 0", name=op.f("ck_purses_balance")),
    )
    banks = op.create_table(
        "banks",
        text("table_id"),
        number("balance_minor"),
        sa.PrimaryKeyConstraint("table_id", name="pk_banks"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name="fk_banks_table_id"),
        sa.CheckConstraint("balance_minor >= 0", name=op.f("ck_banks_balance")),
    )
    _make_bets()
    op.create_table(
        "passes",
        text("shoe_id"),
        number("number"),
        text("seat_id"),
        text("client"),
        text("time"),
        text("state"),
        sa.PrimaryKeyConstraint("shoe_id", "number", "seat_id", name="pk_passes"),
        sa.ForeignKeyConstraint(["shoe_id"], ["shoes.id"], name="fk_passes_shoe_id"),
        sa.ForeignKeyConstraint(["seat_id"], ["credentials.id"], name="fk_passes_seat_id"),
        sa.CheckConstraint("state IN ('stands', 'withdrawn')", name=op.f("ck_passes_state")),
    )
    _fill(purses, banks)


def _make_bets() -> None:
    op.create_table(
        "bets",
        text("shoe_id"),
        number("number"),
        number("position"),
        text("seat_id"),
        text("client"),
        text("bet"),
        number("stake_minor"),
        text("salt"),
        text("time"),
        number("carried"),
        text("state"),
        number("net_minor", nullable=True),
        number("returned_minor", nullable=True),
        number("commission_minor", nullable=True),
        sa.PrimaryKeyConstraint("shoe_id", "number", "position", name="pk_bets"),
        sa.ForeignKeyConstraint(["shoe_id"], ["shoes.id"], name="fk_bets_shoe_id"),
        sa.ForeignKeyConstraint(["seat_id"], ["credentials.id"], name="fk_bets_seat_id"),
        sa.CheckConstraint("stake_minor > 0", name=op.f("ck_bets_stake")),
        sa.CheckConstraint(
            "state IN ('laid', 'withdrawn', 'void', 'won', 'lost', 'pushed')", name=op.f("ck_bets_state")
        ),
        sa.CheckConstraint(
            "(state IN ('won', 'lost', 'pushed')) = (net_minor IS NOT NULL)", name=op.f("ck_bets_settled")
        ),
    )
    op.create_index("ix_bets_shoe_id_seat_id_number", "bets", ["shoe_id", "seat_id", "number"])


def _fill(purses: sa.Table, banks: sa.Table) -> None:
    """Give the tables whose rules speak of money their banks, and their seats purses, as if made now."""
    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, rules FROM tables ORDER BY id")).all()
    for table, rules in rows:
        money = json.loads(rules).get("money")
        # Older code took any further key into a table's rules, without a look at it.
        if not isinstance(money, dict):
            continue
        bank, purse = money.get("bank_minor"), money.get("purse_minor")
        if type(bank) is int and bank >= 0:
            connection.execute(banks.insert(), {"table_id": table, "balance_minor": bank})
        balance = purse if type(purse) is int and purse >= 0 else 0
        query = sa.text("SELECT id FROM credentials WHERE kind = 'seat' AND table_id = :table ORDER BY id")
        seats = connection.execute(query, {"table": table}).scalars().all()
        if seats:
            connection.execute(purses.insert(), [{"seat_id": seat, "balance_minor": balance} for seat in seats])


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
