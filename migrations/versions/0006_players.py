"""Players across seats, their own limits, moves of their purses, and what a seat chose besides its bets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Columns are added in place: no table with records in it is made anew, and the triggers come back at the end.
    op.add_column("credentials", sa.Column("player", sa.Text(), nullable=True))
    op.create_index("ix_credentials_player", "credentials", ["player"])
    for table, column in (
        ("purses", "preserve BIGINT NOT NULL DEFAULT 0 CONSTRAINT ck_purses_preserve CHECK (preserve IN (0, 1))"),
        ("purses", "owed_minor BIGINT NOT NULL DEFAULT 0 CONSTRAINT ck_purses_owed CHECK (owed_minor >= 0)"),
        (
            "passes",
            "choice TEXT NOT NULL DEFAULT 'pass' CONSTRAINT ck_passes_choice CHECK (choice IN ('pass', 'deal'))",
        ),
    ):
        op.execute(f"ALTER TABLE {table} ADD COLUMN {column}")
    op.create_table(
        "own_limits",
        sa.Column("holder", sa.Text(), nullable=False),
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("maximum_minor", sa.BigInteger(), nullable=True),
        sa.Column("week", sa.Text(), nullable=True),
        sa.Column("pin", sa.Text(), nullable=True),
        sa.Column("wrong", sa.BigInteger(), nullable=False),
        sa.Column("wrong_week", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("holder", "table_id", name="pk_own_limits"),
        sa.CheckConstraint("maximum_minor > 0", name=op.f("ck_own_limits_maximum")),
    )
    op.create_table(
        "purse_moves",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("seat_id", sa.Text(), nullable=False),
        sa.Column("amount_minor", sa.BigInteger(), nullable=False),
        sa.Column("balance_minor", sa.BigInteger(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_purse_moves"),
        sa.ForeignKeyConstraint(["seat_id"], ["purses.seat_id"], name="fk_purse_moves_seat_id"),
        sa.CheckConstraint("amount_minor <> 0", name=op.f("ck_purse_moves_amount")),
        sa.CheckConstraint("balance_minor >= 0", name=op.f("ck_purse_moves_balance")),
    )
    op.create_index("ix_purse_moves_seat_id_id", "purse_moves", ["seat_id", "id"])


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
