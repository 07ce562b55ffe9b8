"""What is refused of webhooks."""

from __future__ import annotations

from typing import Final

from api.refusals import Kind

WEBHOOKS_FULL: Final = Kind(
    "webhooks-full",
    409,
    "There are as many webhooks at work as there can be",
    "Disable one first: POST /v1/webhooks/{id}/disable.",
)
WEBHOOK_DISABLED: Final = Kind(
    "webhook-disabled", 409, "The webhook is disabled", "Enable it first: POST /v1/webhooks/{id}/enable."
)
DELIVERY_DONE: Final = Kind(
    "delivery-done", 409, "The delivery has arrived", "Nothing is left to do; the receiver has it."
)
