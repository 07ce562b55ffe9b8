"""The way from any older schema to this one: forward migrations, all in one transaction."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config

import api
from api.db.sessions import Store
from api.settings import SetupError


def script_location() -> Path:
    """Find the migrations: beside the installed package's modules, else at the root of the repository."""
    package = Path(api.__file__).parent
    for folder in (package / "migrations", package.parent / "migrations"):
        if (folder / "env.py").is_file():
            return folder
    raise SetupError(f"no migrations beside {package}: the installation is incomplete")


def upgrade(store: Store) -> None:
    """Bring the database to the newest schema; changes nothing where it is there already.

    Starts that come together wait for each other, for the whole way is one write transaction.
    """
    config = Config()
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    with store.writers.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
