"""What requests about webhooks carry."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.payloads import PageQuery, Payload, TableId
from api.webhooks.addresses import MAX_URL
from api.webhooks.events import EVENT_TYPES

EventType = Annotated[str, Field(json_schema_extra={"enum": [*EVENT_TYPES]})]


class NewWebhook(Payload):
    """A webhook: where events are sent, which, and of which table; of all without one."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL, description="Where events go: an https address.")]
    events: Annotated[list[EventType], Field(min_length=1, max_length=len(EVENT_TYPES), description="Which events.")]
    table: Annotated[TableId | None, Field(description="Of which table alone; null for all.")] = None


class DeliveriesQuery(PageQuery):
    """A page of a webhook's deliveries, of one state or of any."""

    state: Annotated[
        Literal["pending", "delivered", "dead"] | None, Field(description="Of one state alone; null for all.")
    ] = None
