"""Runs the migrations on the connection, and in the transaction, that the caller hands over."""

from __future__ import annotations

from alembic import context

from api.db.tables import Base

context.configure(connection=context.config.attributes["connection"], target_metadata=Base.metadata)
context.run_migrations()
