"""Monitors, which look at every coup, and audits of what the service itself has recorded, with their documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def text(name: str, *, nullable: bool = False) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=nullable)


def number(name: str, *, nullable: bool = False) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger(), nullable=nullable)


def upgrade() -> None:
    op.create_table(
        "monitors",
        text("table_id"),
        text("name"),
        number("place"),
        number("coups"),
        number("alarms"),
        number("alarm_index", nullable=True),
        number("changed_after", nullable=True),
        text("state"),
        sa.PrimaryKeyConstraint("table_id", "name", name="pk_monitors"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name="fk_monitors_table_id"),
    )
    op.create_table(
        "monitor_points",
        text("table_id"),
        text("name"),
        number("coups"),
        text("log_e"),
        sa.PrimaryKeyConstraint("table_id", "name", "coups", name="pk_monitor_points"),
        sa.ForeignKeyConstraint(
            ["table_id", "name"], ["monitors.table_id", "monitors.name"], name="fk_monitor_points_table_id"
        ),
    )
    op.create_table(
        "audits",
        text("id"),
        text("made_by"),
        text("created"),
        text("table_id", nullable=True),
        text("since", nullable=True),
        text("until", nullable=True),
        text("state"),
        text("claimed_until", nullable=True),
        number("done"),
        number("total", nullable=True),
        text("verdict", nullable=True),
        number("report_index", nullable=True),
        text("error", nullable=True),
        text("ended", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_audits"),
        sa.ForeignKeyConstraint(["table_id"], ["tables.id"], name="fk_audits_table_id"),
        sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_audits_state")),
        sa.CheckConstraint("verdict IN ('pass', 'fail', 'not_judged')", name=op.f("ck_audits_verdict")),
        sa.CheckConstraint("(state IN ('done', 'failed')) = (ended IS NOT NULL)", name=op.f("ck_audits_ended")),
        sa.CheckConstraint("(state = 'done') = (verdict IS NOT NULL)", name=op.f("ck_audits_judged")),
    )
    open_ones = sa.text("state IN ('queued', 'running')")
    op.create_index("open_audits", "audits", ["id"], sqlite_where=open_ones, postgresql_where=open_ones)
    op.create_table(
        "audit_documents",
        text("audit_id"),
        text("name"),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("audit_id", "name", name="pk_audit_documents"),
        sa.ForeignKeyConstraint(["audit_id"], ["audits.id"], name="fk_audit_documents_audit_id"),
    )


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
