"""``fairshoe backup``: all that the database holds, in one file, while the service runs on."""

from __future__ import annotations

from pathlib import Path

import click

from api.backup.making import make_backup
from api.cli.database import database, file_named, where_vault
from api.cli.output import examples, json_option, print_object, print_text


@click.command(
    epilog=examples(
        "fairshoe backup fairshoe-2026-01-31.backup",
        "FAIRSHOE_DATA=/srv/fairshoe fairshoe backup /mnt/safe/fairshoe.backup --json",
    )
)
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
def backup(file: Path, as_json: bool) -> None:
    """Back up the database while the service runs.

    FILE, a new one, holds one moment of the database. `fairshoe restore` puts it into an empty SQLite file or
    PostgreSQL, whichever it came from. It is readable by its owner alone: seeds not yet revealed are in it, encrypted.
    The key that opens them, the vault's, is not in it: keep a copy of it apart.
    """
    with database() as (settings, store), file_named(file, "is not there yet, in a folder that can be written"):
        manifest = make_backup(store, file)
        name = store.name
    if as_json:
        print_object(
            {
                "file": str(file),
                "database": name,
                "format": manifest.format,
                "schema": manifest.schema,
                "log": manifest.log,
                "size": manifest.size,
                "root": manifest.root.hex(),
                "rows": manifest.rows,
                "bytes": file.stat().st_size,
                "vault_key": False,
            }
        )
        return
    print_text(
        f"{file}: {manifest.rows} rows of schema {manifest.schema}, {file.stat().st_size} bytes",
        f"Log {manifest.log}: {manifest.size} records, root {manifest.root.hex()}",
        f"The vault's key is not in it. Keep a copy of {where_vault(settings)} apart: without it no open shoe",
        "can be dealt on, no book be used, and nothing be signed.",
    )
