"""All that a database holds, to be held against what it held before."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from api.db.sessions import Store
from api.db.tables import Base


def everything_stored(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in an order of its own."""
    with store.reading() as session:
        return {
            name: sorted((tuple(row) for row in session.execute(select(table))), key=repr)
            for name, table in Base.metadata.tables.items()
        }
