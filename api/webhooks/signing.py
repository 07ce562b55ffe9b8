"""Signatures of Standard Webhooks 1.0.0, symmetric scheme: made by us, and checked by whoever receives.

Source: the specification, "Signature scheme" and "Webhook headers". `check_delivery` needs nothing of the service: a
receiver written in Python may use it as it is.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC

from shoe.errors import InputError, SignatureError, expected

ID: Final = "webhook-id"
TIMESTAMP: Final = "webhook-timestamp"
SIGNATURE: Final = "webhook-signature"
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # what stands before a secret
MIN_SECRET_BYTES: Final = 24
MAX_SECRET_BYTES: Final = 64
TOLERANCE_S: Final = 300
"""How far a delivery's time may be from its receiver's, in seconds, before or after."""

MAX_SIGNATURES: Final = 16
_VERSION: Final = "v1,"
_SECONDS: Final = re.compile(r"0|[1-9][0-9]{0,11}")
_ID_PATTERN: Final = re.compile(r"[0-9A-Za-z_-]{1,128}")
"""No full stop: it is what stands between the parts of what is signed."""


@dataclass(frozen=True, slots=True)
class Secret:
    """What sender and receiver share: 24 to 64 bytes; raises InputError for fewer or more."""

    key: bytes = field(repr=False)

    def __post_init__(self) -> None:
        """Keep the specification's bounds."""
        if not MIN_SECRET_BYTES <= len(self.key) <= MAX_SECRET_BYTES:
            wanted = f"{MIN_SECRET_BYTES}–{MAX_SECRET_BYTES} bytes"
            raise InputError(expected(wanted, f"{len(self.key)} bytes", "secret of a webhook"))

    def print(self) -> str:
        """Print it as it is handed out: ``whsec_`` and base64."""
        return SECRET_PREFIX + base64.b64encode(self.key).decode()


def parse_secret(text: str) -> Secret:
    """Read a secret; the inverse of `Secret.print`. Raises InputError, which does not show the text."""
    if not text.startswith(SECRET_PREFIX):
        raise InputError(f"secret of a webhook: expected {SECRET_PREFIX} and base64, got another beginning")
    key = _decode(text.removeprefix(SECRET_PREFIX))
    if key is None:
        raise InputError(f"secret of a webhook: expected base64 after {SECRET_PREFIX}, got another form")
    return Secret(key)


def sign_delivery(secrets: Sequence[Secret], delivery_id: str, timestamp_s: int, body: bytes) -> dict[str, str]:
    """Make the three headers of a delivery: signed with each secret, the current one first.

    `timestamp_s` is the time of this attempt in POSIX seconds. Raises InputError for an id with other characters than
    letters, digits, ``_`` and ``-``.
    """
    if not _ID_PATTERN.fullmatch(delivery_id):
        raise InputError(expected("1–128 letters, digits, _ and -", delivery_id, ID))
    signed = _signed(delivery_id, str(timestamp_s), body)
    lines = (_VERSION + base64.b64encode(_hmac(secret, signed).finalize()).decode() for secret in secrets)
    return {ID: delivery_id, TIMESTAMP: str(timestamp_s), SIGNATURE: " ".join(lines)}


def check_delivery(secrets: Sequence[Secret], headers: Mapping[str, str], body: bytes, now_s: int) -> str:
    """Check that a delivery was signed with one of the secrets, five minutes from now at most; give its id.

    The names of headers may be spelt in any case. The id is the same whenever a delivery is repeated: keep those that
    you have seen. Raises InputError for a header that is missing or of another form, and SignatureError for a delivery
    of another time, of another secret, or of other content; each comparison takes constant time.
    """
    given = {name.lower(): text for name, text in headers.items()}
    delivery_id = _header(given, ID, _ID_PATTERN, "1–128 letters, digits, _ and -")
    seconds = _header(given, TIMESTAMP, _SECONDS, "whole seconds since 1970")
    if abs(now_s - int(seconds)) > TOLERANCE_S:
        raise SignatureError(expected(f"a time within {TOLERANCE_S} s of {now_s}", int(seconds), TIMESTAMP))
    made = _read_signatures(given)
    signed = _signed(delivery_id, seconds, body)
    if not any([_verifies(secret, signed, each) for secret in secrets for each in made]):  # noqa: C419  # all, always
        raise SignatureError(f"{SIGNATURE}: expected one made with the secret over this id, time and body, got none")
    return delivery_id


def _read_signatures(given: Mapping[str, str]) -> list[bytes]:
    """Read the signatures of version 1; those of other versions are passed over."""
    lines = given.get(SIGNATURE, "").split(" ")
    if len(lines) > MAX_SIGNATURES:
        raise InputError(expected(f"at most {MAX_SIGNATURES} signatures", len(lines), SIGNATURE))
    found = [_decode(line.removeprefix(_VERSION)) for line in lines if line.startswith(_VERSION)]
    whole = [each for each in found if each is not None and len(each) == SHA256.digest_size]
    if not whole or len(whole) < len(found):
        raise InputError(f"{SIGNATURE}: expected {_VERSION} and base64 of {SHA256.digest_size} bytes, got another form")
    return whole


def _header(given: Mapping[str, str], name: str, pattern: re.Pattern[str], wanted: str) -> str:
    text = given.get(name)
    if text is None:
        raise InputError(f"{name}: expected this header, got none")
    if not pattern.fullmatch(text):
        raise InputError(expected(wanted, text, name))
    return text


def _signed(delivery_id: str, seconds: str, body: bytes) -> bytes:
    return f"{delivery_id}.{seconds}.".encode() + body


def _hmac(secret: Secret, signed: bytes) -> HMAC:
    made = HMAC(secret.key, SHA256())
    made.update(signed)
    return made


def _verifies(secret: Secret, signed: bytes, signature: bytes) -> bool:
    try:
        _hmac(secret, signed).verify(signature)
    except InvalidSignature:
        return False
    return True


def _decode(text: str) -> bytes | None:
    """Decode base64 in its one form, None for any other: base64 alone takes bits that nothing prints."""
    try:
        found = base64.b64decode(text, validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found).decode() == text else None
