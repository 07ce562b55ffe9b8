"""``fairshoe webhooks``: who is told of events, what could not be delivered, and trying it anew."""

from __future__ import annotations

from typing import Any

import click

from api.cases.webhooks import count_deliveries, list_dead, list_webhooks, redeliver, redeliver_dead
from api.cli.output import columns, examples, json_option, print_object, print_text
from api.cli.service import service_here
from api.db.tables import DeliveryRow, WebhookRow
from api.payloads import MAX_PAGE


@click.group(epilog=examples("fairshoe webhooks list", "fairshoe webhooks dead", "fairshoe webhooks redeliver WEBHOOK"))
def webhooks() -> None:
    """List webhooks and what could not be delivered; try it anew.

    Works on the installation of the environment, as fairshoe serve has it, while servers run. Webhooks are made and
    ended over HTTP.
    """


@webhooks.command("list", epilog=examples("fairshoe webhooks list", "fairshoe webhooks list --json"))
@json_option
def list_all(as_json: bool) -> None:
    """List the webhooks, disabled ones too, and what is on its way to each or could not be delivered."""
    with service_here() as service, service.reading() as session:
        found = [(row, count_deliveries(session, row.id)) for row in list_webhooks(session, None, MAX_PAGE)]
    if as_json:
        print_object({"webhooks": [_object(row, counts) for row, counts in found]})
    else:
        lines = [(row.state, str(counts["pending"]), str(counts["dead"]), row.id, row.url) for row, counts in found]
        print_text(*columns([("State", "Pending", "Dead", "Webhook", "URL"), *lines], "<>><<"))


@webhooks.command(epilog=examples("fairshoe webhooks dead", "fairshoe webhooks dead --json"))
@json_option
def dead(as_json: bool) -> None:
    """List what could not be delivered and is tried no more, the oldest thousand of it."""
    with service_here() as service, service.reading() as session:
        found = list_dead(session, None, MAX_PAGE)
    if as_json:
        print_object({"dead": [_dead(row) for row in found]})
    else:
        lines = [(row.ended or "", row.type, row.error or "", row.webhook_id, row.id) for row in found]
        print_text(*columns([("Given up", "Event", "Why", "Webhook", "Delivery"), *lines], "<<<<<"))


@webhooks.command(
    "redeliver",
    epilog=examples("fairshoe webhooks redeliver WEBHOOK", "fairshoe webhooks redeliver WEBHOOK DELIVERY --json"),
)
@click.argument("webhook", metavar="WEBHOOK")
@click.argument("delivery", metavar="[DELIVERY]", required=False)
@json_option
def redeliver_here(webhook: str, delivery: str | None, as_json: bool) -> None:
    """Try a webhook's dead deliveries again now, or the one named; the keeper of the server sends them."""
    with service_here() as service:
        if delivery is None:
            count = service.write(redeliver_dead(webhook))
        else:
            service.write(redeliver(webhook, delivery))
            count = 1
    if as_json:
        print_object({"redelivered": count})
    else:
        print_text(f"{count} deliveries to {webhook} are on their way again")


def _object(row: WebhookRow, counts: dict[str, int]) -> dict[str, Any]:
    shown = {"id": row.id, "url": row.url, "events": row.events.split(" "), "table": row.table_id, "state": row.state}
    return {**shown, **counts}


def _dead(row: DeliveryRow) -> dict[str, Any]:
    shown = {"id": row.id, "webhook": row.webhook_id, "type": row.type, "index": row.log_index}
    return {**shown, "ended": row.ended, "error": row.error}
