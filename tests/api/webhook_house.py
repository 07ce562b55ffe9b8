"""What tests of webhooks do to an installation: the use cases themselves, no HTTP before them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from sqlalchemy import select

from api.cases.books import publish_book
from api.cases.dealing import deal_coup
from api.cases.ending import void_shoe
from api.cases.entropy import lock_shoe
from api.cases.opening import Plan, open_shoe
from api.cases.sealing import seal_shoe
from api.cases.tables import make_table
from api.cases.webhooks import Made, make_webhook
from api.db.tables import DeliveryRow, WebhookRow
from api.service import Service
from api.webhooks.events import EVENT_TYPES
from api.webhooks.sender import Patience, Sender
from api.webhooks.signing import parse_secret
from tests.api.installation import EVERY_COUP

LOOPBACK = Sender("any", Patience(connect_s=2, total_s=5))
"""Sends to this machine, as no sender but a test's should."""


def table_at(service: Service, table: str = "t", **overrides: Any) -> str:
    """A table whose shoes are five coups long, with a book of four."""
    service.write(make_table(service, table, preset="np_punto_banco", overrides={**EVERY_COUP, **overrides}))
    service.write(publish_book(service, table, 4))
    return table


def opened(service: Service, table: str = "t") -> str:
    return service.write(open_shoe(service, table, Plan(60, 120, 3600, None)))[0]


def sealed(service: Service, table: str = "t") -> str:
    shoe = opened(service, table)
    service.write(lock_shoe(shoe))
    service.write(seal_shoe(service, shoe, None))
    return shoe


def dealt_out(service: Service, table: str = "t") -> str:
    """A whole shoe: opened, locked, sealed, five coups, revealed; nine events."""
    shoe = sealed(service, table)
    while service.write(deal_coup(service, shoe)).reveal is None:
        pass
    return shoe


def voided(service: Service, table: str = "t") -> str:
    shoe = opened(service, table)
    service.write(void_shoe(service, shoe, "operator"))
    return shoe


def hooked(service: Service, url: str, events: Iterable[str] = EVENT_TYPES, table: str | None = None) -> Made:
    return service.write(make_webhook(service, url, events, table, "any"))


def deliveries(service: Service, webhook: str | None = None) -> list[DeliveryRow]:
    """Every delivery in the database, in the order of the records."""
    with service.reading() as session:
        query = select(DeliveryRow).order_by(DeliveryRow.log_index, DeliveryRow.id)
        return [row for row in session.scalars(query) if webhook in (None, row.webhook_id)]


def webhook_row(service: Service, webhook: str) -> WebhookRow:
    with service.reading() as session:
        return session.get_one(WebhookRow, webhook)


def states(service: Service) -> list[str]:
    return [row.state for row in deliveries(service)]


def said(body: bytes) -> dict[str, Any]:
    """What an event says, read by Python's own json."""
    read = json.loads(body)
    assert isinstance(read, dict)
    return read


def key_of(made: Made) -> bytes:
    return parse_secret(made.secret).key
