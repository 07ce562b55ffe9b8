"""What one installation is told from outside: where its files are, what its log is called, its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shoe.errors import FairshoeError, InputError, expected
from shoe.proof.note import parse_decimal

VAULT_KEY: Final = "FAIRSHOE_VAULT_KEY"
"""The environment's variable for the vault's keys."""

_ORIGIN: Final = re.compile(r"[!-*,-~]{1,128}")
_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
DATABASE: Final = "DATABASE_URL"


class SetupError(FairshoeError):
    """The installation's own files do not fit together: for its operator to mend, before anything is served."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation's settings.

    `folder` holds the embedded database, the vault's key and what is pinned outside of the database. `database_url`
    is a PostgreSQL's; without one the embedded database serves. `origin` names the log, a URL without its scheme;
    without one the first start makes a name, and later starts keep it. Limits are in bytes of a request's body.
    `witnesses` is a file that names who cosigns the log's heads, and each is asked at most every `witness_every_s`.
    `vault_keys` are the vault's keys, 32 bytes each and the current first, where they are given; without them a file
    in the folder keeps one.
    Raises InputError for a name that no log can have.
    """

    folder: Path
    origin: str | None = None
    database_url: str | None = field(default=None, repr=False)
    body_limit: int = 2**20
    verify_limit: int = 2**24
    witnesses: Path | None = None
    witness_every_s: int = 60
    vault_keys: tuple[bytes, ...] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse an origin that no record could carry (protocol §8), and a pause of no time."""
        if self.origin is not None and not _ORIGIN.fullmatch(self.origin):
            raise InputError(expected("1–128 printable characters, no space or plus", self.origin, "origin"))
        if self.witness_every_s < 1:
            raise InputError(expected("seconds from 1 on", self.witness_every_s, "FAIRSHOE_WITNESS_EVERY_S"))

    @property
    def database(self) -> str:
        """The database's address: the URL given, else the embedded database's file; may hold a password."""
        return self.database_url or str(self.folder / "fairshoe.sqlite3")

    @property
    def pinned(self) -> Path:
        """The file of the pinned checkpoint: the newest that was signed, outside of the database."""
        return self.folder / "checkpoint.pinned"

    @property
    def halt(self) -> Path:
        """The file that stops all signing while it is there, and says why."""
        return self.folder / "halt"

    @property
    def vault_key(self) -> Path:
        """The file of the key that every secret in the database is encrypted under."""
        return self.folder / "vault.key"


def settings_from(environment: MutableMapping[str, str]) -> Settings:
    """Read settings from FAIRSHOE_DATA (``fairshoe-data`` without it), FAIRSHOE_ORIGIN, DATABASE_URL, …_WITNESSES.

    FAIRSHOE_WITNESS_EVERY_S is in whole seconds; raises InputError where it is no number from 1 on. FAIRSHOE_VAULT_KEY
    is taken out of the environment, so that nothing that shows or inherits that has it; SetupError as
    `parse_vault_keys`.
    """
    vault_key = environment.pop(VAULT_KEY, None)
    witnesses = environment.get("FAIRSHOE_WITNESSES")
    return Settings(
        folder=Path(environment.get("FAIRSHOE_DATA", "fairshoe-data")),
        origin=environment.get("FAIRSHOE_ORIGIN"),
        database_url=environment.get(DATABASE),
        witnesses=Path(witnesses) if witnesses else None,
        witness_every_s=parse_decimal(environment.get("FAIRSHOE_WITNESS_EVERY_S", "60"), "FAIRSHOE_WITNESS_EVERY_S"),
        vault_keys=None if vault_key is None else parse_vault_keys(vault_key),
    )


def parse_vault_keys(text: str) -> tuple[bytes, ...]:
    """Read keys of 64 hex digits, separated by commas, the current one first.

    Raises SetupError for any other form and for a key that comes twice; it does not show the text.
    """
    keys = text.split(",")
    for number, key in enumerate(keys, 1):
        if not _KEY.fullmatch(key):
            got = f"{len(key)} characters" if len(key) != 64 else "another character"
            where = f"key {number} of {len(keys)}"
            raise SetupError(
                f"{VAULT_KEY}: {where}: expected 64 hex digits, several keys separated by commas, got {got}"
            )
    found = tuple(map(bytes.fromhex, keys))
    if len(set(found)) < len(found):
        raise SetupError(f"{VAULT_KEY}: expected {len(keys)} different keys, got one of them twice")
    return found


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Give an environment without the variables that settings are read from: for an installation of its own."""
    return {name: text for name, text in environment.items() if not name.startswith("FAIRSHOE_") and name != DATABASE}
