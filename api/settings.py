"""What one installation is told from outside: where its files are, what its log is called, its limits."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from api.variables import PATH, Choice, Text, Variable, WebOrigins, Whole, choice
from shoe.errors import FairshoeError, InputError

VAULT_KEY: Final = "FAIRSHOE_VAULT_KEY"
"""The environment's variable for the vault's keys."""

DATABASE: Final = "DATABASE_URL"
_PREFIX: Final = "FAIRSHOE_"
_KEY: Final = re.compile(r"[0-9a-fA-F]{64}")
_ORIGIN: Final = re.compile(r"[!-*,-~]{1,128}")


class SetupError(FairshoeError):
    """The installation's own files do not fit together: for its operator to mend, before anything is served."""


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


@dataclass(frozen=True, slots=True)
class VaultKeys:
    """The form of the vault's keys: see `parse_vault_keys`."""

    said: str = "64 hex digits; `new,old` while it is rotated"

    def read(self, text: str) -> tuple[bytes, ...]:
        """Read the keys; raises SetupError, which does not show them."""
        return parse_vault_keys(text)

    def check(self, value: Any) -> None:
        """Let any pass: the vault refuses keys that it can't use."""


VARIABLES: Final = (
    Variable("FAIRSHOE_DATA", "folder", "folder of the database and the vault's key, mode 0700", PATH,
             "fairshoe-data"),
    Variable("FAIRSHOE_ORIGIN", "origin", "the log's name, a URL without scheme; fixed at the first start",
             Text("1–128 printable characters, no space or plus", _ORIGIN), absent="a name made then"),
    Variable(DATABASE, "database_url", "a PostgreSQL to be used instead of SQLite (extra `postgres`)",
             Text("`postgresql://user@host/name`", re.compile(r"[^\0]*")), absent="SQLite, one file in the folder",
             secret=True),
    Variable(VAULT_KEY, "vault_keys", "the vault's key; taken out of the environment once read", VaultKeys(),
             absent="a file `vault.key`, made at the first start", secret=True),
    Variable("FAIRSHOE_WITNESSES", "witnesses",
             "a file of witnesses (C2SP tlog-witness), a line `vkey URL` each, asked to cosign the log's heads",
             Text("a path", re.compile(r"[^\0]*"), lambda text: Path(text) if text else None)),
    Variable("FAIRSHOE_WITNESS_EVERY_S", "witness_every_s", "how often at most each is asked, in seconds",
             Whole(1, 86_400), "60"),
    Variable("FAIRSHOE_PROXIES", "proxies",
             "trusted proxies before the server: so many entries of forwarded-for headers count", Whole(0, 16), "0"),
    Variable("FAIRSHOE_CORS", "cors", "web pages, by origin, whose scripts may read answers", WebOrigins(), "*"),
    Variable("FAIRSHOE_WRITES_PER_MINUTE", "writes_per_minute", "writes of an API key in a minute; 0 is no limit",
             Whole(0, 1_000_000), "6000"),
    Variable("FAIRSHOE_SEAT_WRITES_PER_MINUTE", "seat_writes_per_minute",
             "writes of a seat in a minute; 0 is no limit", Whole(0, 1_000_000), "60"),
    Variable("FAIRSHOE_READS_PER_MINUTE", "reads_per_minute",
             "reads of a caller in a minute, in each process; 0 is no limit", Whole(0, 1_000_000), "6000"),
    Variable("FAIRSHOE_SANDBOX", "sandbox", "1 is for integration tests: seeds are published, every record says so",
             Choice((("0", False), ("1", True))), "0"),
    Variable("FAIRSHOE_LOG_LEVEL", "log_level", "the least serious lines of the journal",
             choice("debug", "info", "warning", "error"), "info"),
    Variable("FAIRSHOE_WORKERS", "workers", "processes that serve", Whole(1, 64), "1"),
    Variable("FAIRSHOE_THREADS", "threads", "threads of each process", Whole(1, 256), "32"),
    Variable("FAIRSHOE_REACH", "reach", "where webhooks may go: `any` is private and loopback addresses too",
             choice("public", "any"), "public"),
    Variable("FAIRSHOE_GRACE_S", "grace_s", "seconds that requests have to finish in when the server is stopped",
             Whole(1, 600), "30"),
)  # fmt: skip
"""Every variable that settings are read from: what it means, its form, and what holds without it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """One installation's settings.

    `folder` holds the embedded database, the vault's key and what is pinned outside of the database. `database_url`
    is a PostgreSQL's; without one the embedded database serves. `origin` names the log, a URL without its scheme;
    without one the first start makes a name, and later starts keep it. Limits are in bytes of a request's body.
    `witnesses` is a file that names who cosigns the log's heads, and each is asked at most every `witness_every_s`.
    `vault_keys` are the vault's keys, 32 bytes each and the current first, where they are given; without them a file
    in the folder keeps one. `cors` are the origins of web pages, ``("*",)`` for all. What the others mean stands in
    `VARIABLES`, one each.
    Raises InputError for a value that its variable could not have.
    """

    folder: Path
    origin: str | None = None
    database_url: str | None = field(default=None, repr=False)
    body_limit: int = 2**20
    verify_limit: int = 2**24
    witnesses: Path | None = None
    witness_every_s: int = 60
    vault_keys: tuple[bytes, ...] | None = field(default=None, repr=False)
    proxies: int = 0
    cors: tuple[str, ...] = ("*",)
    writes_per_minute: int = 6000
    seat_writes_per_minute: int = 60
    reads_per_minute: int = 6000
    sandbox: bool = False
    log_level: str = "info"
    workers: int = 1
    threads: int = 32
    reach: Literal["public", "any"] = "public"
    grace_s: int = 30

    def __post_init__(self) -> None:
        """Refuse what no text of its variable gives: an origin that no record could carry (protocol §8), say."""
        for variable in VARIABLES:
            variable.check(getattr(self, variable.field))

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

    @property
    def operator_key(self) -> Path:
        """The file of the first API key, which the first start makes: for the operator to put away."""
        return self.folder / "operator.key"


def settings_from(environment: MutableMapping[str, str]) -> Settings:
    """Read settings from the environment's variables, each as `VARIABLES` says.

    FAIRSHOE_VAULT_KEY is taken out of the environment, so that nothing that shows or inherits that has it. Raises
    InputError for a value of another form and for a FAIRSHOE_ variable that there is none of, SetupError as
    `parse_vault_keys`.
    """
    secret = environment.pop(VAULT_KEY, None)
    found = {}
    for variable in VARIABLES:
        text = secret if variable.name == VAULT_KEY else environment.get(variable.name)
        text = variable.default if text is None else text
        if text is not None:
            found[variable.field] = variable.read(text)
    _refuse_unknown(environment)
    return Settings(**found)


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    """Refuse a variable that would have no effect; what it holds is not shown, for it may be a key."""
    known = [variable.name for variable in VARIABLES]
    for name in sorted(environment):
        if name.startswith(_PREFIX) and name not in known:
            near = difflib.get_close_matches(name, known, 1)
            advice = f"is it {near[0]}?" if near else "README lists them;"
            raise InputError(f"{name}: there is no variable of this name: {advice} rename or unset it")


def without_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Give an environment without the variables that settings are read from: for an installation of its own."""
    return {name: text for name, text in environment.items() if not name.startswith(_PREFIX) and name != DATABASE}
