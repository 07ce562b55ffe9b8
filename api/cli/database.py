"""The database that a command works on, which must be there already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from api.cli.installation import installation
from api.cli.output import BadInput, EnvironmentFault
from api.db.sessions import Store, open_store
from api.settings import VAULT_KEY, Settings


@contextmanager
def database() -> Iterator[tuple[Settings, Store]]:
    """Give settings and store of this environment; raises EnvironmentFault where there is no database yet."""
    with installation() as settings:
        if settings.database_url is None and not Path(settings.database).is_file():
            raise EnvironmentFault(
                f"{settings.database}: there is no database; set FAIRSHOE_DATA to the service's folder"
            )
        with opened(settings) as store:
            yield settings, store


@contextmanager
def opened(settings: Settings) -> Iterator[Store]:
    """Open the store of an installation, and leave no connection open."""
    store = open_store(settings.database)
    try:
        yield store
    finally:
        store.engine.dispose()


@contextmanager
def file_named(path: Path, purpose: str) -> Iterator[None]:
    """Turn what goes wrong with a file that the caller named into BadInput, which says what to name instead."""
    try:
        yield
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(path)):
            raise
        raise BadInput(f"{error.filename or path}: {error.strerror}; name a file that {purpose}") from None


def where_vault(settings: Settings) -> str:
    """Say where an installation has the vault's key from: its file, or the environment's variable."""
    return str(settings.vault_key) if settings.vault_keys is None else VAULT_KEY
