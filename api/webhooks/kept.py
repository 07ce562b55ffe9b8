"""An endpoint's secrets in the vault: sealed where they are stored, opened where a delivery is signed."""

from __future__ import annotations

from typing import Final

from api.db.tables import WebhookRow
from api.vault import Vault
from api.webhooks.signing import Secret
from api.world import World
from shoe.proof.canonical import print_canonical

SECRET_BYTES: Final = 32
FORMER_SIGNS_S: Final = 24 * 60 * 60
"""How long the secret before a rotation signs beside the new one, in seconds."""


def of_webhook(webhook: str) -> bytes:
    """Say where an endpoint's secret belongs: to this endpoint."""
    return print_canonical({"secret": "webhook", "webhook": webhook})


def make_secret(world: World) -> Secret:
    """Make a secret from fresh entropy."""
    return Secret(world.random_bytes(SECRET_BYTES))


def secrets_of(vault: Vault, row: WebhookRow, now: str) -> tuple[Secret, ...]:
    """Open the secrets that sign now, the current one first; raises SetupError where one does not open."""
    sealed = [row.sealed_secret]
    if row.sealed_former is not None and row.former_until is not None and now < row.former_until:
        sealed.append(row.sealed_former)
    return tuple(Secret(vault.open(each, of_webhook(row.id))) for each in sealed)
