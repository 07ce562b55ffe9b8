"""Credentials (API keys and seats), quotas of writes, tables open to guests, and whose seat a contribution is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "credentials",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("prefix", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("roles", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("table_id", sa.Text(), nullable=True),
        sa.Column("made_by", sa.Text(), nullable=False),
        sa.Column("created", sa.Text(), nullable=False),
        sa.Column("expires", sa.Text(), nullable=True),
        sa.Column("revoked", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_credentials"),
        sa.UniqueConstraint("digest", name="uq_credentials_digest"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name="fk_credentials_table_id"),
        sa.CheckConstraint("kind IN ('key', 'seat')", name=op.f("ck_credentials_kind")),
        sa.CheckConstraint("(kind = 'seat') = (table_id IS NOT NULL)", name=op.f("ck_credentials_table")),
    )
    op.create_table(
        "quotas",
        sa.Column("caller", sa.Text(), nullable=False),
        sa.Column("minute", sa.BigInteger(), nullable=False),
        sa.Column("writes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("caller", name="pk_quotas"),
    )
    op.create_index("ix_quotas_minute", "quotas", ["minute"])
    # Columns are added in place: no table with records in it is made anew, and the triggers come back at the end.
    op.add_column("tables", sa.Column("guests", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("contributions", sa.Column("seat_id", sa.Text(), nullable=True))
    op.create_index("one_a_seat", "contributions", ["shoe_id", "seat_id"], unique=True)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
