"""``fairshoe migrate``: the database brought to this version's schema."""

from __future__ import annotations

import click
from alembic.runtime.migration import MigrationContext

from api.cli.installation import installation
from api.cli.output import examples, json_option, print_object, print_text
from api.db.migrate import upgrade
from api.db.sessions import Store, open_store


@click.command(epilog=examples("fairshoe migrate", "FAIRSHOE_DATA=/srv/fairshoe fairshoe migrate --json"))
@json_option
def migrate(as_json: bool) -> None:
    """Bring the database to this version's schema.

    The database lies in the folder that FAIRSHOE_DATA names, fairshoe-data without it; both are made where there are
    none. What is stored stays; all of the way is one transaction. Changes nothing where there is nothing to do.
    """
    with installation() as settings:
        database = settings.database
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        before, after = _migrate(open_store(database))
    if as_json:
        print_object({"database": str(database), "before": before, "after": after})
    elif before == after:
        print_text(f"{database} is at schema {after} already")
    else:
        print_text(f"{database} went from {f'schema {before}' if before else 'nothing'} to schema {after}")


def _migrate(store: Store) -> tuple[str | None, str | None]:
    """Migrate, and close the database; give the schema's revision before and after."""
    try:
        before = _revision(store)
        upgrade(store)
        return before, _revision(store)
    finally:
        store.engine.dispose()


def _revision(store: Store) -> str | None:
    with store.engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()
