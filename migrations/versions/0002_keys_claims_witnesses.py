"""Keys with their status and place in the log; answers kept by Idempotency-Key; witnesses' cosignatures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    give_keys_their_place()
    op.create_table(
        "cosignatures",
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("vkey", sa.Text(), nullable=False),
        sa.Column("time_s", sa.BigInteger(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("size", "vkey", name="pk_cosignatures"),
        sa.ForeignKeyConstraint(["size"], ["checkpoints.size"], name="fk_cosignatures_size"),
    )
    op.create_table(
        "claims",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("time", sa.Text(), nullable=False),
        sa.Column("status", sa.BigInteger(), nullable=False),
        sa.Column("answer", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_claims"),
    )
    op.create_index("ix_claims_time", "claims", ["time"])


def give_keys_their_place() -> None:
    """The one key that there is was added by the log's first `key` record, and signs."""
    op.add_column("signing_keys", sa.Column("status", sa.Text()))
    op.add_column("signing_keys", sa.Column("log_index", sa.BigInteger()))
    op.execute(
        "UPDATE signing_keys SET status = 'active', log_index = (SELECT MIN(log_index) FROM leaves WHERE type = 'key')"
    )
    # No table of the log is made anew here, and the triggers come back at the end of the upgrade.
    with op.batch_alter_table("signing_keys") as keys:
        keys.alter_column("status", existing_type=sa.Text(), nullable=False)
        keys.alter_column("log_index", existing_type=sa.BigInteger(), nullable=False)
        keys.create_unique_constraint("uq_signing_keys_log_index", ["log_index"])
        keys.create_check_constraint(op.f("ck_signing_keys_status"), "status IN ('active', 'retired', 'compromised')")


def downgrade() -> None:
    raise NotImplementedError("migrations only go forward: restore a backup instead")
