"""Webhooks, and what is on its way to them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

PENDING = sa.text("state = 'pending'")
DEAD = sa.text("state = 'dead'")


def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "webhooks",
        text("id"),
        text("url"),
        text("events"),
        text("table_id", nullable=True),
        text("created"),
        text("state"),
        text("reason", nullable=True),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        sa.Column("sealed_former", sa.LargeBinary()),
        text("former_until", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name="fk_webhooks_table_id"),
        sa.CheckConstraint("state IN ('active', 'disabled')", name=op.f("ck_webhooks_state")),
        sa.CheckConstraint("reason IN ('operator', 'gone')", name=op.f("ck_webhooks_reason")),
    )
    op.create_table(
        "deliveries",
        text("id"),
        text("webhook_id"),
        text("type"),
        sa.Column("log_index", sa.BigInteger()),
        text("queued"),
        text("due"),
        text("leased_until", nullable=True),
        sa.Column("attempts", sa.BigInteger(), nullable=False),
        text("state"),
        text("ended", nullable=True),
        text("error", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhooks.id"], name="fk_deliveries_webhook_id"),
        sa.ForeignKeyConstraint(["log_index"], ["leaves.log_index"], name="fk_deliveries_log_index"),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'dead')", name=op.f("ck_deliveries_state")),
    )
    op.create_index("ix_deliveries_webhook_id_id", "deliveries", ["webhook_id", "id"])
    op.create_index("ix_deliveries_ended", "deliveries", ["ended"])
    op.create_index(
        "pending_deliveries", "deliveries", ["webhook_id", "due"], sqlite_where=PENDING, postgresql_where=PENDING
    )
    op.create_index("dead_deliveries", "deliveries", ["webhook_id", "id"], sqlite_where=DEAD, postgresql_where=DEAD)


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
