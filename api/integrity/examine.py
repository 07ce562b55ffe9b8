"""All checks at once, on an installation whose service may run, or refuse to start."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.exc import DBAPIError

from api.beside import describe
from api.db.sessions import Store, out_of_reach
from api.integrity import start
from api.integrity.complaints import sentence
from api.integrity.durability import damage
from api.integrity.pinned import look_at
from api.integrity.recompute import Report, Show, recompute
from api.integrity.start import PINNED, check_start
from api.keyring import Keyring
from api.log import Log, name_of_log
from api.pin import Pin
from api.settings import Settings
from api.vault import GivenKeys, KeyFile, Vault
from api.world import World


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found: of which log, by recomputing it, and every complaint there is."""

    origin: str
    report: Report
    complaints: tuple[str, ...]


def examine(settings: Settings, store: Store, world: World, show: Show, *, unpinned: bool) -> Examination:
    """Check all that a start checks, the database's own file, and the whole log from its records' bytes; only read.

    `unpinned` lets pass that no checkpoint is pinned. Raises SetupError where no record or checkpoint names the log.
    """
    with store.reading() as session:
        origin = name_of_log(session)
    given, pin = settings.vault_keys, Pin(settings.pinned)
    # Not `open_vault`: what is wrong with the vault is for the check of the keys to say.
    vault = Vault(KeyFile(settings.vault_key) if given is None else GivenKeys(given), world.random_bytes)
    held = look_at(pin)
    passed_over = PINNED if unpinned and held.text is None and held.fault is None else None
    checks = {name: each for name, each in start.CHECKS.items() if name != passed_over}
    faults = check_start(store, Log(origin, Keyring(vault)), world, pin, checks).faults
    with store.reading() as session:
        report = recompute(session, origin, show)
    return Examination(origin, report, tuple(dict.fromkeys((*faults, *_damage(store), *report.complaints))))


def _damage(store: Store) -> tuple[str, ...]:
    try:
        with store.reading() as session:
            return tuple(map(sentence, damage(session.connection())))
    except DBAPIError as error:
        if out_of_reach(error):
            raise
        return (sentence(f"database file: {describe(error)}"),)
