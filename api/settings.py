"""What one installation is told from outside: where its files are, what its log is called, its limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shoe.errors import FairshoeError, InputError, expected

_ORIGIN: Final = re.compile(r"[!-*,-~]{1,128}")


class SetupError(FairshoeError):
    """The installation's own files do not fit together: for its operator to mend, before anything is served."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation's settings.

    `folder` holds the database and the vault's key. `origin` names the log, a URL without its scheme; without one
    the first start makes a name, and later starts keep it. Limits are in bytes of a request's body.
    Raises InputError for a name that no log can have.
    """

    folder: Path
    origin: str | None = None
    body_limit: int = 2**20
    verify_limit: int = 2**24

    def __post_init__(self) -> None:
        """Refuse an origin that no record could carry (protocol §8)."""
        if self.origin is not None and not _ORIGIN.fullmatch(self.origin):
            raise InputError(expected("1–128 printable characters, no space or plus", self.origin, "origin"))

    @property
    def database(self) -> Path:
        """The file of the embedded database."""
        return self.folder / "fairshoe.sqlite3"

    @property
    def vault_key(self) -> Path:
        """The file of the key that every secret in the database is encrypted under."""
        return self.folder / "vault.key"


def settings_from(environment: Mapping[str, str]) -> Settings:
    """Read settings from the variables FAIRSHOE_DATA (``fairshoe-data`` without it) and FAIRSHOE_ORIGIN."""
    folder = Path(environment.get("FAIRSHOE_DATA", "fairshoe-data"))
    return Settings(folder, environment.get("FAIRSHOE_ORIGIN"))
