"""Signed notes and their keys, C2SP signed-note with Ed25519 alone (protocol §9).

A note is a text ending in a newline, a blank line, and one line for each signature. Every text form here
prints back to itself: what does not is refused, so that nobody can vary a note without breaking it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from shoe.errors import NoteError, SignatureError, expected
from shoe.proof.notation import sha256

ED25519: Final = 0x01
"""Signature type of a log's key: Ed25519 over the note's text."""

COSIGNATURE: Final = 0x04
"""Signature type of a witness's key: a time and Ed25519 over time and text."""

KEY_BYTES: Final = 32
KEY_ID_BYTES: Final = 4
SIGNATURE_BYTES: Final = 64
MAX_SIGNATURES: Final = 100
MAX_NOTE_BYTES: Final = 1_000_000
NUMBER_END: Final = 2**63

_TYPES: Final = {ED25519: "a log's (0x01)", COSIGNATURE: "a witness's (0x04)"}
_DASH: Final = "— "
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b-\x1f]")
_DECIMAL: Final = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A public key with its name: enough to check one signer's signatures of one type.

    `algorithm` is `ED25519` or `COSIGNATURE`, `public_key` 32 bytes. Raises NoteError for any other, and
    for a name that is empty or has a space (of any kind Unicode knows) or a plus.
    """

    name: str
    algorithm: int
    public_key: bytes

    def __post_init__(self) -> None:
        _check_key_name(self.name)
        if self.algorithm not in _TYPES:
            raise NoteError(expected("signature type 1 or 4", self.algorithm, "key"))
        if len(self.public_key) != KEY_BYTES:
            raise NoteError(expected("a public key of 32 bytes", self.public_key, "key"))

    @property
    def key_id(self) -> bytes:
        """The 4 bytes that name the key in a line: the start of H(name ‖ 0x0A ‖ type ‖ public key)."""
        return sha256(self.name.encode() + b"\n" + self._typed_key())[:KEY_ID_BYTES]

    def __str__(self) -> str:
        return f"{self.name}+{self.key_id.hex()}+{encode_base64(self._typed_key())}"

    def check(self, message: bytes, signature: bytes) -> None:
        """Check an Ed25519 signature (64 bytes) of a message; SignatureError where it isn't good."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, message)
        except (InvalidSignature, ValueError):
            raise SignatureError(expected("a good signature", signature.hex(), f"signature of {self}")) from None

    def _typed_key(self) -> bytes:
        return bytes([self.algorithm]) + self.public_key


@dataclass(frozen=True, slots=True, eq=False)
class SignerKey:
    """A private Ed25519 key with its verifier key; repr does not show it."""

    vkey: VerifierKey
    private_key: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def from_seed(cls, name: str, seed: bytes, algorithm: int = ED25519) -> SignerKey:
        """Make the key of a 32-byte seed (RFC 8032 §5.1.5).

        Raises NoteError for a seed of another length, and as `VerifierKey` does.
        """
        if len(seed) != KEY_BYTES:
            raise NoteError(expected("a seed of 32 bytes", f"{len(seed)} bytes", "signing key"))
        private_key = Ed25519PrivateKey.from_private_bytes(seed)
        return cls(VerifierKey(name, algorithm, private_key.public_key().public_bytes_raw()), private_key)

    def sign(self, message: bytes) -> bytes:
        """Sign a message: 64 bytes, always the same for the same message (RFC 8032)."""
        return self.private_key.sign(message)


class Signature(NamedTuple):
    """One signature line: the key's name, its 4-byte id and what the key made, at least one byte."""

    name: str
    key_id: bytes
    signature: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """A text and the signatures under it, none of them checked.

    The text ends in a newline; there are 1 to 100 signatures. Raises NoteError for anything else.
    """

    text: str
    signatures: tuple[Signature, ...]

    def __post_init__(self) -> None:
        check_text(self.text, "note text")
        if not 1 <= len(self.signatures) <= MAX_SIGNATURES:
            raise NoteError(expected(f"1 to {MAX_SIGNATURES} signatures", len(self.signatures), "note"))
        for line in self.signatures:
            _check_signature_line(line)


def parse_vkey(text: str) -> VerifierKey:
    """Read a verifier key, ``name+hex(key id)+base64(type ‖ public key)``; the inverse of `str`.

    Raises NoteError for any other form, an unknown type, or an id that isn't this key's. Source: C2SP
    signed-note.
    """
    parts = text.split("+", 2)
    if len(parts) != 3:
        raise NoteError(expected("name+id+key", text, "verifier key"))
    name, key_id, encoded = parts
    typed_key = decode_base64(encoded, "verifier key")
    key = VerifierKey(name, typed_key[0] if typed_key else 0, typed_key[1:])
    if key_id != key.key_id.hex():
        raise NoteError(expected(f"key id {key.key_id.hex()}", key_id, f"verifier key {name}"))
    return key


def parse_note(text: str) -> Note:
    """Read a note; the inverse of `print_note`. No signature is checked.

    Raises NoteError for a text that isn't a note: no blank line, no signature, a signature line of another
    form, base64 that another text also decodes to, a control character other than newline, over 100
    signatures or over 1,000,000 bytes. Source: C2SP signed-note.
    """
    check_text(text, "note")
    end = text.rfind("\n\n")
    if end < 0:
        raise NoteError(expected("a blank line before the signatures", text[-40:], "note"))
    return Note(text[: end + 1], tuple(map(_parse_signature, text[end + 2 : -1].split("\n"))))


def print_note(note: Note) -> str:
    """Print a note; NoteError where it would be over 1,000,000 bytes."""
    lines = (f"{_DASH}{name} {encode_base64(key_id + made)}\n" for name, key_id, made in note.signatures)
    return check_text(f"{note.text}\n{''.join(lines)}", "note")


def sign_note(text: str, signers: Sequence[SignerKey]) -> str:
    """Sign a text, which ends in a newline, with logs' keys in the given order, and print the note.

    Raises NoteError for a text or a number of signers that no note has, and for a witness's key.
    """
    check_text(text, "note text")
    require_type((signer.vkey for signer in signers), ED25519)
    message = text.encode()
    lines = (Signature(key.vkey.name, key.vkey.key_id, key.sign(message)) for key in signers)
    return print_note(Note(text, tuple(lines)))


def check_note(text: str, vkeys: Iterable[VerifierKey]) -> tuple[Note, tuple[VerifierKey, ...]]:
    """Read a note and check the signatures of the keys given; give the note and the keys that signed it.

    Signatures of keys not given are passed over. Raises NoteError as `parse_note` and for a witness's key
    among those given; SignatureError for a bad signature of a given key, or where none of them signed.
    Source: protocol §9, C2SP signed-note.
    """
    vkeys = tuple(vkeys)
    require_type(vkeys, ED25519)
    note = parse_note(text)
    signers = []
    for key, signature in signatures_by(note, vkeys):
        key.check(note.text.encode(), signature)
        signers.append(key)
    if not signers:
        known = " or ".join(map(str, vkeys)) or "a known key"
        raise SignatureError(expected(f"a signature of {known}", [line.name for line in note.signatures], "note"))
    return note, tuple(dict.fromkeys(signers))


def signatures_by(note: Note, vkeys: Iterable[VerifierKey]) -> Iterator[tuple[VerifierKey, bytes]]:
    """Pick the unchecked signatures that name one of the keys, by name and id, in the note's order."""
    known = {(key.name, key.key_id): key for key in vkeys}
    for name, key_id, signature in note.signatures:
        if (name, key_id) in known:
            yield known[name, key_id], signature


def require_type(vkeys: Iterable[VerifierKey], algorithm: int) -> None:
    """Refuse keys of another signature type by NoteError: no witness speaks for a log, and no log as a witness."""
    for key in vkeys:
        if key.algorithm != algorithm:
            raise NoteError(expected(f"{_TYPES[algorithm]} key", str(key), "key"))


def encode_base64(data: bytes) -> str:
    """Print bytes as base64, RFC 4648 §4, with padding and without line breaks."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(text: str, where: str) -> bytes:
    """Read base64; the inverse of `encode_base64`. Raises NoteError for text that isn't its own reprint."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except ValueError:
        raise NoteError(expected("base64", text, where)) from None
    if encode_base64(decoded) != text:
        raise NoteError(expected("canonical base64", text, where))
    return decoded


def parse_decimal(text: str, where: str) -> int:
    """Read ASCII decimal digits without a leading zero; the inverse of `str` on 0…2^63−1. Raises NoteError."""
    if not _DECIMAL.fullmatch(text):
        raise NoteError(expected("decimal digits without a leading zero", text, where))
    return check_number(int(text), where)


def check_number(number: int, where: str) -> int:
    """Give back a size, index or time 0…2^63−1; NoteError for any other number."""
    if not 0 <= number < NUMBER_END:
        raise NoteError(expected("a number 0…2^63−1", number, where))
    return number


def check_text(text: str, where: str) -> str:
    """Give back a text that a note may hold; NoteError for any other.

    It ends in a newline, has no other control character below 0x20 and at most 1,000,000 bytes of UTF-8.
    """
    if not text.endswith("\n"):
        raise NoteError(expected("a final newline", text[-40:], where))
    if control := _CONTROL.search(text):
        place = f"{where}: character {control.start()}"
        raise NoteError(expected("no control character but newline", control[0], place))
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise NoteError(expected("UTF-8", text[error.start], f"{where}: character {error.start}")) from None
    if size > MAX_NOTE_BYTES:
        raise NoteError(expected(f"at most {MAX_NOTE_BYTES} bytes", size, where))
    return text


def _check_key_name(name: str) -> None:
    check_text(f"{name}\n", "key name")
    if not name or "+" in name or any(map(str.isspace, name)):
        raise NoteError(expected("a name without spaces and plus", name, "key name"))


def _check_signature_line(line: Signature) -> None:
    _check_key_name(line.name)
    if len(line.key_id) != KEY_ID_BYTES or not line.signature:
        raise NoteError(expected("a key id of 4 bytes and a signature", line, "signature line"))


def _parse_signature(line: str) -> Signature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space:
        raise NoteError(expected("— name base64", line, "signature line"))
    decoded = decode_base64(encoded, "signature line")
    return Signature(name, decoded[:KEY_ID_BYTES], decoded[KEY_ID_BYTES:])
