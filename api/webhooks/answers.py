"""What is answered about webhooks. A secret is in two answers only: of who made it, and of who rotated it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.terms import Cursor, LogIndex, Moment, TableId, Uuid, count, whole
from api.payloads import MAX_PAGE, Payload
from api.webhooks.addresses import MAX_URL
from api.webhooks.delivering import DELAYS_S
from api.webhooks.events import EVENT_TYPES, TEST

EventType = Annotated[
    str, Field(json_schema_extra={"enum": [*EVENT_TYPES, TEST]}, description="What happened; `webhook.test` is a test.")
]


class WebhookShown(Payload):
    """A webhook without its secret."""

    id: Annotated[Uuid, Field(description="The webhook's id.")]
    url: Annotated[str, Field(max_length=MAX_URL, description="Where events are sent by POST.")]
    events: Annotated[list[EventType], Field(min_length=1, max_length=len(EVENT_TYPES), description="What it is told.")]
    table: Annotated[TableId | None, Field(description="The table that it is told of; null for all.")]
    created: Annotated[Moment, Field(description="When it was made, in UTC.")]
    state: Annotated[Literal["active", "disabled"], Field(description="Whether it is told anything.")]
    reason: Annotated[
        Literal["operator", "gone"] | None,
        Field(description="Why it is disabled: an operator did it, or its receiver answered 410; null while active."),
    ]
    former_until: Annotated[
        Moment | None, Field(description="Until when the secret before a rotation signs too; null without one.")
    ]


class WebhookMade(WebhookShown):
    """A webhook and its new secret, which is never shown again."""

    secret: Annotated[
        str, whole("whsec_[0-9A-Za-z+/]{43}=", "What its receiver checks signatures with; keep it secret.")
    ]


class WebhookPage(Payload):
    """A page of webhooks."""

    webhooks: Annotated[list[WebhookShown], Field(max_length=MAX_PAGE, description="The webhooks of this page.")]
    next: Cursor


class DeliveryShown(Payload):
    """An event on its way to a webhook, and what became of it."""

    id: Annotated[Uuid, Field(description="The delivery's id, its header `webhook-id` at every attempt.")]
    type: EventType
    index: Annotated[
        LogIndex | None, Field(description="The log index of the record that it tells of; null for a test.")
    ]
    queued: Annotated[Moment, Field(description="When it was put down, in UTC.")]
    state: Annotated[
        Literal["pending", "delivered", "dead"],
        Field(description="Whether it is on its way, has arrived, or is given up."),
    ]
    due: Annotated[Moment | None, Field(description="When it is tried next; null unless it is pending.")]
    attempts: Annotated[int, count("How often it was tried since it was queued or redelivered.", len(DELAYS_S) + 2)]
    ended: Annotated[Moment | None, Field(description="When it arrived or was given up; null while it is pending.")]
    error: Annotated[str | None, Field(max_length=4096, description="What went wrong last; null where nothing did.")]


class DeliveryPage(Payload):
    """A page of deliveries."""

    deliveries: Annotated[list[DeliveryShown], Field(max_length=MAX_PAGE, description="The deliveries of this page.")]
    next: Cursor


class Redelivered(Payload):
    """How many dead deliveries are on their way again."""

    redelivered: Annotated[int, count("How many deliveries are tried anew.")]
