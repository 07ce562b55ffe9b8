"""The way from any older schema to this one: forward migrations, all in one transaction, one start at a time."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

import api
from api.db import triggers
from api.db.sessions import Store
from api.settings import SetupError


def script_location() -> Path:
    """Find the migrations: beside the installed package's modules, else at the root of the repository."""
    package = Path(api.__file__).parent
    for folder in (package / "migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise SetupError(f"no migrations beside {package}: the installation is incomplete")


def newest_revision() -> str:
    """Name the schema of this version."""
    return _newest(script_location())


@cache
def _newest(location: Path) -> str:
    return str(ScriptDirectory.from_config(_config(location)).get_current_head())


def upgrade(store: Store, revision: str | None = None) -> tuple[str | None, str]:
    """Bring the database to the newest schema, or to an older one on the way; give the schema before and after.

    Changes nothing where it is there already. Starts that come together wait for each other, for the whole way is
    one write transaction; the triggers are off inside of it, and anew at its end. Raises alembic's CommandError for
    a database of a newer version.
    """
    config, wanted = _config(script_location()), revision or newest_revision()
    with store.founding() as session:
        connection = session.connection()
        before = MigrationContext.configure(connection).get_current_revision()
        if before != wanted:
            triggers.remove(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, wanted)
            if wanted == newest_revision():
                triggers.install(connection)
    return before, wanted


def put_triggers_back(store: Store) -> tuple[str, ...]:
    """Put the triggers of the newest schema in place where they are not; say what was wrong with them.

    No start does this by itself: a trigger that is gone is a reason to look what else is.
    """
    with store.founding() as session:
        wrong = tuple(triggers.complaints(session.connection()))
        if wrong:
            triggers.install(session.connection())
    return wrong


def _config(location: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(location).replace("%", "%%"))
    return config
