"""``fairshoe accounts``: API keys made, listed and revoked on the installation itself, while the service runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import click
from sqlalchemy.orm import Session

from api.access import KEY_ROLES, Principal, Role, check_key_roles
from api.cases.accounts import list_keys, make_key, print_key, print_known_key
from api.cases.accounts import revoke as revoke_credential
from api.cli.inputs import read_by, whole
from api.cli.output import columns, examples, json_option, note, print_object, print_text, require_stdout
from api.cli.service import service_here
from api.db.tables import CredentialRow
from api.payloads import MAX_DEADLINE_S, MAX_PAGE, UUID_PATTERN
from shoe.errors import InputError, expected

_ID: Final = re.compile(UUID_PATTERN)
_NAME: Final = re.compile(r"[ -~]{0,128}")


def _parse_roles(text: str) -> tuple[Role, ...]:
    return check_key_roles(tuple(text.split(",")))


def _parse_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise InputError(expected("at most 128 printable ASCII characters", f"{len(text)} characters"))
    return text


def _parse_id(text: str) -> str:
    # It may be a token, by mistake: the refusal does not show it.
    if not _ID.fullmatch(text):
        raise InputError(
            expected("the id that fairshoe accounts list shows", f"{len(text)} characters of another form")
        )
    return text


@click.group(
    epilog=examples(
        "fairshoe accounts new --roles client --name 'table software'",
        "fairshoe accounts list",
        "fairshoe accounts revoke ID",
    )
)
def accounts() -> None:
    """Make, list and revoke API keys.

    Works on the installation of the environment, as fairshoe serve has it, while servers run, and needs no key itself:
    whoever has the installation's folder may do all this.
    """


@accounts.command(
    epilog=examples(
        "fairshoe accounts new --roles client,operator --name 'table software'",
        "fairshoe accounts new --roles regulator --name inspector --expires-in-s 2592000 --json",
    )
)
@click.option("--roles", required=True, metavar="R,R…", callback=read_by(_parse_roles),
              help=f"What it may be used for: {', '.join(KEY_ROLES)}, a comma between.")  # fmt: skip
@click.option("--name", required=True, metavar="N", callback=read_by(_parse_name), help="A name to know it by.")
@click.option("--expires-in-s", metavar="S", callback=read_by(whole(1, 10 * MAX_DEADLINE_S)),
              help="For how many seconds it is good; for always, if not given.")  # fmt: skip
@json_option
def new(*, roles: tuple[Role, ...], name: str, expires_in_s: int | None, as_json: bool) -> None:
    """Make an API key.

    Its token goes to standard output, now and never again: only its hash is kept. All else is said on standard error.
    """
    require_stdout()
    with service_here() as service:
        made = service.write(make_key(service.world, Principal(), roles, name, expires_in_s))
    if as_json:
        print_object({**print_key(made.row), "token": made.token})
        return
    until = f"until {made.row.expires}" if made.row.expires else "until it is revoked"
    note(f"API key {made.row.id} for {', '.join(roles)}, good {until}; its token is shown only now")
    print_text(made.token)


@accounts.command("list", epilog=examples("fairshoe accounts list", "fairshoe accounts list --json"))
@json_option
def list_all(as_json: bool) -> None:
    """List the API keys, revoked ones too, oldest first.

    Of each its id, the beginning of its token, its roles, and until when it is good; never its token.
    """
    with service_here() as service, service.reading() as session:
        rows = list(_all_keys(session))
    if as_json:
        print_object({"keys": [print_known_key(row) for row in rows]})
    else:
        heading = ("Id", "Token", "Roles", "Created", "Expires", "Revoked", "Name")
        print_text(*columns([heading, *map(_line, rows)], "<<<<<<<"))


@accounts.command(epilog=examples("fairshoe accounts revoke ID", "fairshoe accounts revoke ID --json"))
@click.argument("key", metavar="ID", callback=read_by(_parse_id))
@json_option
def revoke(*, key: str, as_json: bool) -> None:
    """Revoke an API key, for good.

    ID is the key's, as `list` shows it, not its token. Servers that run refuse it at once.
    """
    with service_here() as service:
        row = service.write(revoke_credential("key", key))
    if as_json:
        print_object(print_known_key(row))
    else:
        print_text(f"API key {row.id} is revoked since {row.revoked}")


def _all_keys(session: Session) -> Iterator[CredentialRow]:
    after = None
    while rows := list_keys(session, after, MAX_PAGE):
        yield from rows
        after = rows[-1].id


def _line(row: CredentialRow) -> tuple[str, ...]:
    expires, revoked = row.expires or "never", row.revoked or "no"
    return row.id, f"{row.prefix}…", ",".join(row.roles.split()), row.created, expires, revoked, row.name
