"""What one installation is told from outside: where its files are, what its log is called, its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from shoe.errors import FairshoeError, InputError, expected

_ORIGIN: Final = re.compile(r"[!-*,-~]{1,128}")


class SetupError(FairshoeError):
    """The installation's own files do not fit together: for its operator to mend, before anything is served."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation's settings.

    `folder` holds the embedded database, the vault's key and what is pinned outside of the database. `database_url`
    is a PostgreSQL's; without one the embedded database serves. `origin` names the log, a URL without its scheme;
    without one the first start makes a name, and later starts keep it. Limits are in bytes of a request's body.
    Raises InputError for a name that no log can have.
    """

    folder: Path
    origin: str | None = None
    database_url: str | None = field(default=None, repr=False)
    body_limit: int = 2**20
    verify_limit: int = 2**24

    def __post_init__(self) -> None:
        """Refuse an origin that no record could carry (protocol §8)."""
        if self.origin is not None and not _ORIGIN.fullmatch(self.origin):
            raise InputError(expected("1–128 printable characters, no space or plus", self.origin, "origin"))

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


def settings_from(environment: Mapping[str, str]) -> Settings:
    """Read settings from FAIRSHOE_DATA (``fairshoe-data`` without it), FAIRSHOE_ORIGIN and DATABASE_URL."""
    folder = Path(environment.get("FAIRSHOE_DATA", "fairshoe-data"))
    return Settings(folder, environment.get("FAIRSHOE_ORIGIN"), environment.get("DATABASE_URL"))
