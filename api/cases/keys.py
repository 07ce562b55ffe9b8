"""Keys: the log's signing keys, added and ended by its own records, and the vault's key, rotated (protocol §9)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Final, Literal

from sqlalchemy import func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from api.db.tables import BookRow, LeafRow, SigningKeyRow, WebhookRow
from api.keyring import ACTIVE
from api.log import read_head
from api.refusals import Kind, Refusal
from api.service import Service
from api.settings import VAULT_KEY, SetupError
from api.vault import KEY_BYTES, GivenKeys, KeyFile, Vault, of_book, of_signing_key
from api.webhooks.kept import of_webhook
from api.writing import Finish, Step, Writing
from shoe.errors import expected
from shoe.proof.note import parse_note, parse_vkey, signatures_by
from shoe.proof.records import Key, parse_as
from shoe.proof.tlog import Receipt

MOST_ACTIVE: Final = 8
"""Active keys at once: each adds a line to every head, and a note has room for 100, witnesses' among them."""

_LIST: Final = "See which there are: fairshoe keys list."
NO_KEY: Final = Kind("no-such-key", 404, "The log has no such key", _LIST)
KEY_ENDED: Final = Kind("key-ended", 409, "The key signs no more", _LIST)
LAST_KEY: Final = Kind("last-key", 409, "No other key signs the log", "Make another first: fairshoe keys new.")
KEYS_FULL: Final = Kind(
    "keys-full", 409, "The log has all the keys it can sign with", "Revoke one first: fairshoe keys revoke VKEY."
)

Ended = Literal["retired", "compromised"]


@dataclass(frozen=True, slots=True)
class Logged:
    """Where the log tells of a key: the record's index and time."""

    index: int
    time: str


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A signing key as the log tells of it; `signs` says whether the current checkpoint carries its line."""

    vkey: str
    status: str
    added: Logged
    ended: Logged | None
    signs: bool


def add_key(service: Service) -> Step[tuple[str, Receipt]]:
    """Make a signing key of the log's name from fresh entropy and log it; give its vkey and the record's receipt.

    The head that logs it is signed by the keys before it, every later one by the new key too. Raises Refusal where
    there are as many keys as can be.
    """
    seed = service.world.random_bytes(KEY_BYTES)

    def step(writing: Writing) -> Finish[tuple[str, Receipt]]:
        query = select(func.count()).select_from(SigningKeyRow).where(SigningKeyRow.status == ACTIVE)
        active = writing.session.scalar(query) or 0
        if active >= MOST_ACTIVE:
            raise Refusal(KEYS_FULL, f"{active} keys sign the log.")
        row = service.log.keyring.new_row(writing.origin, seed, writing.next_index)
        writing.add(Key(vkey=row.vkey, status="added", **writing.stamp()))
        writing.insert(row)
        return lambda receipts: (row.vkey, receipts[0])

    return step


def revoke_key(vkey: str, status: Ended) -> Step[Receipt]:
    """End a signing key, and log that it is retired or compromised; give the record's receipt.

    A retired key still signs the head that says so; a compromised one does not. Raises Refusal for a key that the log
    doesn't have or that is ended, and where no other key is there to sign.
    """

    def step(writing: Writing) -> Finish[Receipt]:
        session = writing.session
        row = session.get(SigningKeyRow, vkey)
        if row is None:
            raise Refusal(NO_KEY, f"No key of this log is {vkey}.")
        if row.status != ACTIVE:
            raise Refusal(KEY_ENDED, f"The key {vkey} is {row.status} already.")
        if not _has_another(session, vkey):
            raise Refusal(LAST_KEY, f"No key but {vkey} signs the log.")
        writing.add(Key(vkey=vkey, status=status, **writing.stamp()))
        row.status = status
        return lambda receipts: receipts[0]

    return step


def _has_another(session: Session, vkey: str) -> bool:
    # A key that this very transaction adds doesn't sign its head, which has to have a line.
    another = (SigningKeyRow.status == ACTIVE, SigningKeyRow.vkey != vkey)
    query = select(SigningKeyRow.vkey).where(*another, SigningKeyRow.log_index < read_head(session).size)
    return session.scalars(query.limit(1)).first() is not None


def list_keys(session: Session) -> list[KeyLine]:
    """List the signing keys in the order in which the log added them: reads the records that belong to no shoe."""
    records: dict[str, list[Logged]] = {}
    # `shoe` and `type`: among millions of coups, the index over shoes finds the few records of none.
    query = select(LeafRow.log_index, LeafRow.record).where(LeafRow.shoe.is_(None), LeafRow.type == Key.type)
    for index, data in session.execute(query.order_by(LeafRow.log_index)):
        record = parse_as(Key, data)
        records.setdefault(record.vkey, []).append(Logged(index, record.time))
    note = parse_note(read_head(session).checkpoint)
    rows = session.scalars(select(SigningKeyRow).order_by(SigningKeyRow.log_index)).all()
    signing = {str(key) for key, _ in signatures_by(note, [parse_vkey(row.vkey) for row in rows])}
    return [
        KeyLine(row.vkey, row.status, added, ended[-1] if ended else None, row.vkey in signing)
        for row in rows
        for added, *ended in [records[row.vkey]]
    ]


# --- the vault's key ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sealed:
    """A secret of the database: what it is, the row and column it is in, and what it belongs to."""

    name: str
    row: BookRow | SigningKeyRow | WebhookRow
    column: InstrumentedAttribute[bytes] | InstrumentedAttribute[bytes | None]
    belongs_to: bytes

    @property
    def sealed(self) -> bytes:
        """The secret as the database has it."""
        found: bytes = getattr(self.row, self.column.key)
        return found


@dataclass(frozen=True, slots=True)
class Rotated:
    """What a rotation did: how many secrets there are, and how many of them were sealed anew."""

    secrets: int
    sealed_anew: int


def rotate(service: Service) -> Rotated:
    """Have every secret sealed under a new key of the vault, while the service runs.

    Where a file keeps the key, a new one is made; it and the one before are both in the file, durably, before anything
    is sealed under the new one; and the one before leaves it only while the head is held and nothing is sealed under
    it. A process that dies on the way leaves both, and all that is sealed opens; the next rotation goes on from there.
    Where the keys are given, the secrets go under the first. Raises Refusal where nothing may be written, SetupError
    where a secret opens under no key, and where just one key is given.
    """
    service.permit.require()
    source = service.vault.source
    if isinstance(source, GivenKeys) and len(source.keys) < 2:
        raise SetupError(f"{VAULT_KEY}: {expected('the new key and the one before it, as NEW,OLD', 'one key')}")
    with source.turn() if isinstance(source, KeyFile) else nullcontext():
        _require_readable(service)
        if isinstance(source, KeyFile):
            _add_to(source, service.vault.random_bytes(KEY_BYTES))
        done = service.write(_seal_all_anew(service.vault))
        service.write(_drop_former(service.vault))
    return done


def _require_readable(service: Service) -> None:
    """Refuse to begin what could not be done."""
    with service.reading() as session:
        for secret in _secrets(session):
            _open(service.vault, secret)


def _add_to(file: KeyFile, new: bytes) -> None:
    """Put a new key into the file: last first, then first of all, when no crash of the machine can take it away."""
    held = file.read()
    file.replace([*held, new])
    file.replace([new, *held])


def _seal_all_anew(vault: Vault) -> Step[Rotated]:
    """Seal every secret under the current key that is under another."""

    def step(writing: Writing) -> Finish[Rotated]:
        found = list(_secrets(writing.session))
        former = [secret for secret in found if not vault.is_current(secret.sealed, secret.belongs_to)]
        opened = [_open(vault, secret) for secret in former]
        writing.touched = True
        for secret, plain in zip(former, opened, strict=True):
            setattr(secret.row, secret.column.key, vault.seal(plain, secret.belongs_to))
        return lambda _: Rotated(len(found), len(former))

    return step


def _drop_former(vault: Vault) -> Step[None]:
    """Drop all keys but the current one, where a file keeps them and nothing is under another.

    It happens while the log's head is held: whoever seals next reads the file after.
    """

    def step(writing: Writing) -> Finish[None]:
        for secret in _secrets(writing.session):
            if not vault.is_current(secret.sealed, secret.belongs_to):
                raise SetupError(f"{secret.name} was sealed under a former key meanwhile; run it again")
        if isinstance(vault.source, KeyFile):
            vault.source.replace(vault.keys[:1])
        return lambda _: None

    return step


def _open(vault: Vault, secret: Sealed) -> bytes:
    try:
        return vault.open(secret.sealed, secret.belongs_to)
    except SetupError as error:
        raise SetupError(f"{secret.name}: {error}") from None


def _secrets(session: Session) -> Iterator[Sealed]:
    """List every secret of the database, ended ones too: one key opens all."""
    for key in session.scalars(select(SigningKeyRow).order_by(SigningKeyRow.log_index)):
        yield Sealed(f"signing key {key.vkey}", key, SigningKeyRow.sealed_seed, of_signing_key(key.vkey))
    for book in session.scalars(select(BookRow).order_by(BookRow.log_index)):
        place = of_book(book.table_id, book.root)
        yield Sealed(f"book {book.root.hex()} of table {book.table_id}", book, BookRow.sealed_master, place)
    for webhook in session.scalars(select(WebhookRow).order_by(WebhookRow.id)):
        place = of_webhook(webhook.id)
        yield Sealed(f"webhook {webhook.id}", webhook, WebhookRow.sealed_secret, place)
        if webhook.sealed_former is not None:
            yield Sealed(f"webhook {webhook.id}, the secret before", webhook, WebhookRow.sealed_former, place)
