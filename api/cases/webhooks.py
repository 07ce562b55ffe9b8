"""Webhooks: who is told of which events, under which secret; and what became of each delivery."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from api.cases.tables import find_table
from api.db.tables import DeliveryRow, WebhookRow
from api.refusals import Refusal, no_such
from api.service import Service
from api.webhooks.addresses import Reach, parse_target
from api.webhooks.events import ACTIVE, EVENT_TYPES, TEST, new_delivery
from api.webhooks.kept import FORMER_SIGNS_S, make_secret, of_webhook
from api.webhooks.refusals import DELIVERY_DONE, WEBHOOK_DISABLED, WEBHOOKS_FULL
from api.world import make_id, seconds_after
from api.writing import Finish, Step, Writing
from shoe.errors import InputError, expected

MOST_ACTIVE: Final = 32
"""Webhooks at work at once: each may make a row of every record."""

State = Literal["pending", "delivered", "dead"]


@dataclass(frozen=True, slots=True)
class Made:
    """A webhook whose secret was made just now, and the secret as its receiver is to have it: shown this once."""

    webhook: WebhookRow
    secret: str = field(repr=False)


def make_webhook(
    service: Service, url: str, events: Iterable[str], table_id: str | None = None, reach: Reach = "public"
) -> Step[Made]:
    """Have somebody told of events at `url`, of all tables or one; from the next record on.

    Raises InputError for a URL that can't be within reach and for types of events that there are none of, Refusal for
    a table that isn't there and where as many webhooks as can be are at work.
    """
    parse_target(url, reach)
    wanted = list(events)
    if not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(EVENT_TYPES):
        raise InputError(expected(f"one or more of {', '.join(EVENT_TYPES)}, each once", wanted, "events"))
    webhook_id, secret = make_id(service.world), make_secret(service.world)

    def step(writing: Writing) -> Finish[Made]:
        if table_id is not None:
            find_table(writing.session, table_id)
        _require_room(writing.session)
        row = WebhookRow(
            id=webhook_id,
            url=url,
            events=" ".join(sorted(wanted)),
            table_id=table_id,
            created=writing.time,
            state=ACTIVE,
            sealed_secret=service.vault.seal(secret.key, of_webhook(webhook_id)),
        )
        writing.insert(row)
        return lambda _: Made(row, secret.print())

    return step


def rotate_secret(service: Service, webhook_id: str) -> Step[Made]:
    """Give a webhook a new secret; the one before signs beside it for a day, an earlier one no more.

    Raises Refusal where there is no such webhook.
    """
    secret = make_secret(service.world)

    def step(writing: Writing) -> Finish[Made]:
        row = find_webhook(writing.session, webhook_id)
        writing.touched = True
        row.sealed_former, row.former_until = row.sealed_secret, seconds_after(writing.time, FORMER_SIGNS_S)
        row.sealed_secret = service.vault.seal(secret.key, of_webhook(row.id))
        return lambda _: Made(row, secret.print())

    return step


def disable_webhook(webhook_id: str) -> Step[WebhookRow]:
    """Tell a webhook nothing more: what is on its way waits, what happens meanwhile is not for it.

    One that is disabled stays so. Raises Refusal where there is no such webhook.
    """

    def step(writing: Writing) -> Finish[WebhookRow]:
        row = find_webhook(writing.session, webhook_id)
        if row.state == ACTIVE:
            writing.touched = True
            row.state, row.reason = "disabled", "operator"
        return lambda _: row

    return step


def enable_webhook(webhook_id: str) -> Step[WebhookRow]:
    """Tell a webhook of events again; what waited goes on its way.

    Raises Refusal where there is no such webhook, and where as many as can be are at work.
    """

    def step(writing: Writing) -> Finish[WebhookRow]:
        row = find_webhook(writing.session, webhook_id)
        if row.state != ACTIVE:
            _require_room(writing.session)
            writing.touched = True
            row.state, row.reason = ACTIVE, None
        return lambda _: row

    return step


def send_test(service: Service, webhook_id: str) -> Step[DeliveryRow]:
    """Put an event down that only tests a webhook; raises Refusal where there is none, or it is disabled."""

    def step(writing: Writing) -> Finish[DeliveryRow]:
        _require_active(find_webhook(writing.session, webhook_id))
        row = DeliveryRow(**new_delivery(service.world, webhook_id, TEST, None, writing.time))
        writing.insert(row)
        return lambda _: row

    return step


def redeliver(webhook_id: str, delivery_id: str) -> Step[DeliveryRow]:
    """Try a delivery anew, with all its attempts before it: now, whether it is dead or waits for its next attempt.

    Raises Refusal where there is no such delivery, it has arrived, or its webhook is disabled.
    """

    def step(writing: Writing) -> Finish[DeliveryRow]:
        _require_active(find_webhook(writing.session, webhook_id))
        row = writing.session.get(DeliveryRow, delivery_id, with_for_update=True)
        if row is None or row.webhook_id != webhook_id:
            raise no_such("delivery of this webhook", delivery_id)
        if row.state == "delivered":
            raise Refusal(DELIVERY_DONE, f"The delivery arrived at {row.ended}.")
        writing.touched = True
        # A lease stays: whoever is at it now goes on, and nobody begins beside.
        row.state, row.ended, row.attempts, row.due = "pending", None, 0, writing.time
        return lambda _: row

    return step


def redeliver_dead(webhook_id: str) -> Step[int]:
    """Try every dead delivery of a webhook anew; give their number. Raises Refusal as `redeliver` does."""

    def step(writing: Writing) -> Finish[int]:
        _require_active(find_webhook(writing.session, webhook_id))
        dead = (DeliveryRow.webhook_id == webhook_id, DeliveryRow.state == "dead")
        count = writing.session.scalar(select(func.count()).select_from(DeliveryRow).where(*dead)) or 0
        writing.touched = True
        anew = {"state": "pending", "ended": None, "attempts": 0, "due": writing.time}
        writing.session.execute(update(DeliveryRow).where(*dead).values(anew))
        return lambda _: count

    return step


def find_webhook(session: Session, webhook_id: str) -> WebhookRow:
    """Find a webhook; raises Refusal where there is none."""
    row = session.get(WebhookRow, webhook_id)
    if row is None:
        raise no_such("webhook", webhook_id)
    return row


def list_webhooks(session: Session, after: str | None, limit: int) -> list[WebhookRow]:
    """List webhooks in the order they were made in, disabled ones too, from the first after a cursor."""
    query = select(WebhookRow).where(WebhookRow.id > (after or ""))
    return list(session.scalars(query.order_by(WebhookRow.id).limit(limit)))


def list_deliveries(
    session: Session, webhook_id: str, state: State | None, after: str | None, limit: int
) -> list[DeliveryRow]:
    """List a webhook's deliveries in the order of their ids, of one state or of any, from the first after a cursor.

    Raises Refusal where there is no such webhook.
    """
    find_webhook(session, webhook_id)
    query = select(DeliveryRow).where(DeliveryRow.webhook_id == webhook_id, DeliveryRow.id > (after or ""))
    if state is not None:
        query = query.where(DeliveryRow.state == state)
    return list(session.scalars(query.order_by(DeliveryRow.id).limit(limit)))


def list_dead(session: Session, after: str | None, limit: int) -> list[DeliveryRow]:
    """List what could not be delivered, of all webhooks, in the order of ids from the first after a cursor."""
    query = select(DeliveryRow).where(DeliveryRow.state == "dead", DeliveryRow.id > (after or ""))
    return list(session.scalars(query.order_by(DeliveryRow.id).limit(limit)))


def count_deliveries(session: Session, webhook_id: str) -> dict[str, int]:
    """Count what of a webhook is on its way and what is dead; what arrived is forgotten after a while."""
    query = select(DeliveryRow.state, func.count()).where(DeliveryRow.webhook_id == webhook_id)
    found = {state: count for state, count in session.execute(query.group_by(DeliveryRow.state))}  # noqa: C416  # rows
    return {state: found.get(state, 0) for state in ("pending", "dead")}


def _require_room(session: Session) -> None:
    active = session.scalar(select(func.count()).select_from(WebhookRow).where(WebhookRow.state == ACTIVE)) or 0
    if active >= MOST_ACTIVE:
        raise Refusal(WEBHOOKS_FULL, f"{active} webhooks are at work.")


def _require_active(row: WebhookRow) -> None:
    if row.state != ACTIVE:
        reason = "its receiver answered 410" if row.reason == "gone" else "its operator did it"
        raise Refusal(WEBHOOK_DISABLED, f"The webhook {row.id} is disabled: {reason}.")
