"""Webhooks: who is told of events, and what became of each delivery."""

from __future__ import annotations

from typing import Any, Final, cast

from flask import Response, current_app

from api.access import OPERATOR
from api.cases.webhooks import (
    Made,
    disable_webhook,
    enable_webhook,
    find_webhook,
    list_deliveries,
    list_webhooks,
    make_webhook,
    redeliver,
    redeliver_dead,
    rotate_secret,
    send_test,
)
from api.db.tables import DeliveryRow, WebhookRow
from api.payloads import PageQuery
from api.refusals import NOT_FOUND
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, commit, page, service
from api.webhooks.addresses import Reach
from api.webhooks.answers import (
    DeliveryPage,
    DeliveryShown,
    Redelivered,
    WebhookMade,
    WebhookPage,
    WebhookShown,
)
from api.webhooks.payloads import DeliveriesQuery, NewWebhook
from api.webhooks.refusals import DELIVERY_DONE, WEBHOOK_DISABLED, WEBHOOKS_FULL

REACH: Final = "WEBHOOK_REACH"
"""The application's configuration of where webhooks may go: ``public`` without one."""

blueprint = Resource("webhooks", "/v1/webhooks")


@blueprint.post(
    "",
    access=OPERATOR,
    body=NewWebhook,
    answers={201: WebhookMade},
    refuses=(NOT_FOUND, WEBHOOKS_FULL),
    claimed="may",
    secret=True,
)
def create_webhook(asked: NewWebhook) -> Response:
    """Have events sent to a URL, signed by Standard Webhooks; its secret is in this answer alone.

    Each delivery is a POST of `type`, `timestamp` and `data` with the record, and tried up to ten times in three days.
    Their order is not promised, and one may come twice: its `webhook-id` is the same each time.
    """
    reach = cast(Reach, current_app.config.get(REACH, "public"))
    return commit(make_webhook(service(), asked.url, asked.events, asked.table, reach), _print_made)


@blueprint.get("", access=OPERATOR, query=PageQuery, answers={200: WebhookPage})
def show_webhooks(asked: PageQuery) -> Response:
    """List the webhooks, the disabled ones too, oldest first."""
    with service().reading() as session:
        rows = list_webhooks(session, asked.after, asked.limit)
    return answer_privately(page("webhooks", [_print_webhook(row) for row in rows], asked.limit, "id"))


@blueprint.get("/{webhook_id}", access=OPERATOR, answers={200: WebhookShown})
def show_webhook(webhook_id: str) -> Response:
    """Show a webhook, without its secret."""
    with service().reading() as session:
        return answer_privately(_print_webhook(find_webhook(session, webhook_id)))


@blueprint.post("/{webhook_id}/rotate", access=OPERATOR, answers={201: WebhookMade}, claimed="may", secret=True)
def rotate_webhook(webhook_id: str) -> Response:
    """Give a webhook a new secret; the one before signs beside it for a day, one before that no more."""
    return commit(rotate_secret(service(), webhook_id), _print_made)


@blueprint.post("/{webhook_id}/disable", access=OPERATOR, answers={201: WebhookShown}, claimed="may")
def disable(webhook_id: str) -> Response:
    """Tell a webhook nothing more; what is on its way waits until it is enabled."""
    return commit(disable_webhook(webhook_id), _print_webhook)


@blueprint.post(
    "/{webhook_id}/enable", access=OPERATOR, answers={201: WebhookShown}, refuses=(WEBHOOKS_FULL,), claimed="may"
)
def enable(webhook_id: str) -> Response:
    """Tell a webhook of events again, from the next one on."""
    return commit(enable_webhook(webhook_id), _print_webhook)


@blueprint.post(
    "/{webhook_id}/test", access=OPERATOR, answers={201: DeliveryShown}, refuses=(WEBHOOK_DISABLED,), claimed="may"
)
def test_webhook(webhook_id: str) -> Response:
    """Send a webhook an event that only tests it, whatever it asked to be told."""
    return commit(send_test(service(), webhook_id), _print_delivery)


@blueprint.get("/{webhook_id}/deliveries", access=OPERATOR, query=DeliveriesQuery, answers={200: DeliveryPage})
def show_deliveries(webhook_id: str, asked: DeliveriesQuery) -> Response:
    """List a webhook's deliveries, oldest first; with `state=dead` those that could not be delivered.

    What arrived is forgotten after a week.
    """
    with service().reading() as session:
        rows = list_deliveries(session, webhook_id, asked.state, asked.after, asked.limit)
    return answer_privately(page("deliveries", [_print_delivery(row) for row in rows], asked.limit, "id"))


@blueprint.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver",
    access=OPERATOR,
    answers={201: DeliveryShown},
    refuses=(DELIVERY_DONE, WEBHOOK_DISABLED),
    claimed="may",
)
def redeliver_one(webhook_id: str, delivery_id: str) -> Response:
    """Try a delivery again now, whether it is dead or waits, with all its attempts before it."""
    return commit(redeliver(webhook_id, delivery_id), _print_delivery)


@blueprint.post(
    "/{webhook_id}/redeliver", access=OPERATOR, answers={201: Redelivered}, refuses=(WEBHOOK_DISABLED,), claimed="may"
)
def redeliver_all(webhook_id: str) -> Response:
    """Try all of a webhook's dead deliveries again now."""
    return commit(redeliver_dead(webhook_id), lambda count: {"redelivered": count})


def _print_webhook(row: WebhookRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "url": row.url,
        "events": row.events.split(" "),
        "table": row.table_id,
        "created": row.created,
        "state": row.state,
        "reason": row.reason,
        "former_until": row.former_until,
    }


def _print_made(made: Made) -> dict[str, Any]:
    return {**_print_webhook(made.webhook), "secret": made.secret}


def _print_delivery(row: DeliveryRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "type": row.type,
        "index": row.log_index,
        "queued": row.queued,
        "state": row.state,
        "due": row.due if row.state == "pending" else None,
        "attempts": row.attempts,
        "ended": row.ended,
        "error": row.error,
    }
