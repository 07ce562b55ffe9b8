"""``fairshoe restore``: a backup put into an empty database."""

from __future__ import annotations

from pathlib import Path

import click

from api.backup.restoring import restore_backup
from api.cli.database import file_named, opened, where_vault
from api.cli.installation import installation
from api.cli.output import examples, json_option, print_object, print_text
from api.db.migrate import newest_revision


@click.command(
    epilog=examples(
        "FAIRSHOE_DATA=/srv/restored fairshoe restore fairshoe-2026-01-31.backup",
        "DATABASE_URL=postgresql://fairshoe@db/fairshoe fairshoe restore fairshoe-2026-01-31.backup --json",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def restore(file: Path, as_json: bool) -> None:
    """Restore a backup into an empty database.

    The database of the environment must be empty: a new folder in FAIRSHOE_DATA, or a new database in DATABASE_URL. It
    may be of the other kind than the one backed up. A FILE that is damaged, cut off or edited is refused. An older
    schema is brought to this version's.

    Before the first start, put the original's vault key and its pinned checkpoint into the folder. A copy that is
    behind its pinned checkpoint signs nothing, or there would be two logs of one name.
    """
    with installation() as settings:
        settings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with opened(settings) as store:
            name = store.name
            with file_named(file, "can be read"):
                manifest = restore_backup(store, file)
    if as_json:
        print_object(
            {
                "file": str(file),
                "database": name,
                "before": manifest.schema,
                "after": newest_revision(),
                "log": manifest.log,
                "size": manifest.size,
                "root": manifest.root.hex(),
                "rows": manifest.rows,
            }
        )
        return
    print_text(
        f"{name}: {manifest.rows} rows of schema {manifest.schema}, now at {newest_revision()}",
        f"Log {manifest.log}: {manifest.size} records, root {manifest.root.hex()}",
        f"Before the first start, put the original's vault key into {where_vault(settings)}, and its pinned checkpoint",
        f"at {settings.pinned}. Where that one is lost, the copy signs nothing until",
        "fairshoe log check --resume pins the log as it stands: only where nothing was signed after this backup.",
    )
