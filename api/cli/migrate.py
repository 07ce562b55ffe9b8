"""``fairshoe migrate``: the database brought to this version's schema."""

from __future__ import annotations

import click

from api.cli.installation import installation
from api.cli.output import examples, json_option, note, print_object, print_text
from api.db.migrate import put_triggers_back, upgrade
from api.db.sessions import open_store


@click.command(epilog=examples("fairshoe migrate", "FAIRSHOE_DATA=/srv/fairshoe fairshoe migrate --json"))
@json_option
def migrate(as_json: bool) -> None:
    """Bring the database to this version's schema.

    The database lies in the folder that FAIRSHOE_DATA names, fairshoe-data without it; both are made where there are
    none. What is stored stays; all of the way is one transaction. Triggers that are missing or altered are put back
    and named: who took them away may have changed more, which fairshoe log check finds. Changes nothing where there
    is nothing to do.
    """
    with installation() as settings:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        store = open_store(settings.database)
        database = store.name
        try:
            before, after = upgrade(store)
            mended = put_triggers_back(store)
        finally:
            store.engine.dispose()
    if as_json:
        print_object({"database": database, "before": before, "after": after, "mended": list(mended)})
    elif before == after:
        print_text(f"{database} is at schema {after} already")
    else:
        print_text(f"{database} went from {f'schema {before}' if before else 'nothing'} to schema {after}")
    for wrong in mended:
        note(f"{wrong}: put back; run: fairshoe log check")
