"""``fairshoe keys``: the keys that sign the log, and the vault's key, while the service runs."""

from __future__ import annotations

from typing import Any

import click

from api.cases.keys import Ended, KeyLine, Logged, add_key, list_keys, revoke_key, rotate
from api.cli.inputs import read_by
from api.cli.output import columns, examples, json_option, print_object, print_text
from api.cli.service import service_here
from api.log import read_head
from api.settings import VAULT_KEY
from api.vault import KeyFile
from shoe.proof.checkpoint import parse_checkpoint
from shoe.proof.note import parse_note, parse_vkey


@click.group(epilog=examples("fairshoe keys list", "fairshoe keys new", "fairshoe keys rotate"))
def keys() -> None:
    """Make, list and end the log's keys; rotate the vault's.

    Works on the installation of the environment, as fairshoe serve has it, while servers run.
    """


@keys.command(epilog=examples("fairshoe keys new", "FAIRSHOE_DATA=/srv/fairshoe fairshoe keys new --json"))
@json_option
def new(as_json: bool) -> None:
    """Make a signing key of the log's name, and log it.

    The head that logs it is signed by the keys before it; every later head by the new one too. Verifiers believe only
    keys that were given to them: publish it where yours look, well before you revoke the one before.
    """
    with service_here() as service:
        vkey, receipt = service.write(add_key(service))
    index = receipt.proof.index
    if as_json:
        print_object({"vkey": vkey, "status": "active", "index": index})
    else:
        print_text(f"{vkey} is added by record {index}; it signs every head after that")


@keys.command(epilog=examples("fairshoe keys revoke VKEY", "fairshoe keys revoke VKEY --compromised --json"))
@click.argument("vkey", metavar="VKEY", callback=read_by(parse_vkey))
@click.option("--compromised", is_flag=True, help="Somebody else may have it: it signs not even this record's head.")
@json_option
def revoke(vkey: object, compromised: bool, as_json: bool) -> None:
    """End a signing key, and log that it is retired.

    The head that logs it is still signed by it, unless the key is compromised. The last key can't be revoked. Receipts
    given before stay good for whoever trusts the key.
    """
    status: Ended = "compromised" if compromised else "retired"
    with service_here() as service:
        receipt = service.write(revoke_key(str(vkey), status))
    index = receipt.proof.index
    if as_json:
        print_object({"vkey": str(vkey), "status": status, "index": index})
    else:
        print_text(f"{vkey} is {status} by record {index}; it signs no head {'any more' if compromised else 'after'}")


@keys.command("list", epilog=examples("fairshoe keys list", "fairshoe keys list --json"))
@json_option
def list_all(as_json: bool) -> None:
    """List the keys of the log, ended ones too.

    Of each: vkey, status, the record that added it, the one that ended it, and whether the current checkpoint carries
    its line.
    """
    with service_here() as service, service.reading() as session:
        lines, checkpoint = list_keys(session), read_head(session).checkpoint
    head = parse_checkpoint(parse_note(checkpoint).text)
    if as_json:
        print_object({"log": head.origin, "size": head.size, "keys": [_object(line) for line in lines]})
    else:
        table = [("Status", "Added by", "Ended by", "Signs", "Key"), *map(_row, lines)]
        print_text(*columns(table, "<<<<<"), "", f"Signs: whether the checkpoint over {head.size} records has its line")


@keys.command(
    "rotate",
    epilog=examples("fairshoe keys rotate", f"{VAULT_KEY}=NEW,OLD fairshoe keys rotate --json"),
)
@json_option
def rotate_vault(as_json: bool) -> None:
    """Seal every secret anew, under a new key of the vault.

    Where the vault's key is in the folder of FAIRSHOE_DATA, a new one takes its place; servers on that folder go on
    without a restart. Where FAIRSHOE_VAULT_KEY gives it, give every server NEW,OLD first, then this command, and NEW
    alone to every server at last. A backup opens under the key of its time: keep that one apart as long as the backup.
    """
    with service_here() as service:
        done, source = rotate(service), service.vault.source
    file = str(source.path) if isinstance(source, KeyFile) else None
    if as_json:
        print_object({"secrets": done.secrets, "sealed_anew": done.sealed_anew, "file": file})
    elif file is not None:
        print_text(f"{file} holds a new key, and all {done.secrets} secrets are sealed under it")
    else:
        print_text(
            f"All {done.secrets} secrets are under the first key of {VAULT_KEY}, {done.sealed_anew} of them anew",
            "The other keys may go from it, on every server that has the first one first",
        )


def _object(line: KeyLine) -> dict[str, Any]:
    added, ended = ({"index": at.index, "time": at.time} if at else None for at in (line.added, line.ended))
    return {"vkey": line.vkey, "status": line.status, "added": added, "ended": ended, "signs": line.signs}


def _row(line: KeyLine) -> tuple[str, ...]:
    return line.status, _place(line.added), _place(line.ended), "yes" if line.signs else "no", line.vkey


def _place(logged: Logged | None) -> str:
    return "" if logged is None else f"{logged.index}, {logged.time}"
