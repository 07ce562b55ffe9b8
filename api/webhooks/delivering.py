"""Delivering what is due: leased, sent with no transaction open, and put down; by any number of keepers at once.

A delivery is leased before it is sent, and what became of it is put down only by whoever has the lease still. So no
two send it at the same time, and where one dies in between it is sent again once the lease has run out: a receiver may
see it twice, with the same id, and never not at all. Their order is not promised.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from api.db.tables import DeliveryRow, WebhookRow
from api.meters import count_delivery
from api.service import Service
from api.webhooks.events import ACTIVE, print_events
from api.webhooks.kept import secrets_of
from api.webhooks.sender import NotDelivered, Sender
from api.webhooks.signing import Secret, sign_delivery
from api.world import World, print_time, read_time, seconds_after

DELAYS_S: Final = (5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400)
"""How long after each failed attempt the next comes, in seconds; after the tenth the delivery is dead.

Source: Standard Webhooks 1.0.0, "Deliverability and reliability", example retry schedule.
"""

JITTER: Final = 5
"""One part in so many of each delay is added by chance, so that what failed together does not come together."""

LEASE_S: Final = 120
LANE_S: Final = 20.0
"""How long deliveries to one webhook may go on in one round; with the last attempt's own time it is below the lease."""

AT_ONCE: Final = 16
"""Deliveries that are leased together."""

LANES: Final = 32
"""Webhooks that are delivered to at the same time."""

KEPT_S: Final = 7 * 24 * 60 * 60
"""How long a delivery that arrived is kept; those that could not be delivered are kept for good."""

FORGET_AT_ONCE: Final = 1000


@dataclass(frozen=True, slots=True)
class Leased:
    """Deliveries to one webhook that are ours to send until `until`, and the secrets that sign them."""

    url: str
    until: str
    secrets: tuple[Secret, ...] = field(repr=False)
    ids: tuple[str, ...]
    bodies: tuple[bytes, ...] = field(repr=False)


def deliver_due(service: Service, sender: Sender) -> int:
    """Try everything that is due, each webhook beside the others; give the number of attempts.

    A webhook whose receiver fails is left alone until the next round. Sends nothing while nothing may be signed: what
    the log holds may not be ours then.
    """
    if service.permit.reasons():
        return 0
    with service.reading() as session:
        waiting = _waiting(session, print_time(service.world.now()))
    if not waiting:
        return 0
    with ThreadPoolExecutor(min(LANES, len(waiting))) as pool:
        return sum(pool.map(lambda webhook: _deliver_to(service, sender, webhook), waiting))


def forget_delivered(service: Service) -> int:
    """Forget what arrived long enough ago, some of it in one transaction; give the number."""
    before, forgotten = seconds_after(print_time(service.world.now()), -KEPT_S), 0
    arrived = select(DeliveryRow.id).where(DeliveryRow.state == "delivered", DeliveryRow.ended < before)
    while True:
        with service.reading() as session:
            some = session.scalars(arrived.order_by(DeliveryRow.ended).limit(FORGET_AT_ONCE)).all()
        if not some:
            return forgotten
        with service.store.writing() as session:
            # What was asked for again meanwhile is not ours to forget.
            query = delete(DeliveryRow).where(DeliveryRow.id.in_(some), DeliveryRow.state == "delivered")
            session.execute(query.execution_options(synchronize_session=False))
        forgotten += len(some)


def _deliver_to(service: Service, sender: Sender, webhook: str) -> int:
    """Deliver to one webhook until nothing is due, an attempt fails, or its time is over; give the attempts."""
    ends, attempts = time.monotonic() + LANE_S, 0
    while time.monotonic() < ends:
        leased = _lease(service, webhook)
        if leased is None:
            break
        for done, (delivery, body) in enumerate(zip(leased.ids, leased.bodies, strict=True), start=1):
            attempts += 1
            arrived = _attempt(service, sender, leased, delivery, body)
            if not arrived or time.monotonic() >= ends:
                _give_back(service, leased, leased.ids[done:])
                return attempts
    return attempts


def _attempt(service: Service, sender: Sender, leased: Leased, delivery: str, body: bytes) -> bool:
    now_s = int(service.world.now().timestamp())
    try:
        sender.send(leased.url, sign_delivery(leased.secrets, delivery, now_s, body), body)
    except NotDelivered as failure:
        count_delivery("failed")
        _put_down(service, leased, delivery, failure)
        return False
    count_delivery("delivered")
    _put_down(service, leased, delivery, None)
    return True


# --- leases --------------------------------------------------------------------------------------


def _is_due(now: str) -> tuple[ColumnElement[bool], ...]:
    free = or_(DeliveryRow.leased_until.is_(None), DeliveryRow.leased_until <= now)
    return DeliveryRow.state == "pending", DeliveryRow.due <= now, free


def _waiting(session: Session, now: str) -> Sequence[str]:
    """List the active webhooks with something due: one look into an index for each."""
    due = exists().where(DeliveryRow.webhook_id == WebhookRow.id, *_is_due(now))
    return session.scalars(select(WebhookRow.id).where(WebhookRow.state == ACTIVE, due)).all()


def _lease(service: Service, webhook: str) -> Leased | None:
    """Take the oldest deliveries that are due and nobody else's; None where there are none, or the webhook rests."""
    now = print_time(service.world.now())
    until = seconds_after(now, LEASE_S)
    with service.store.writing() as session:
        row = session.get_one(WebhookRow, webhook)
        if row.state != ACTIVE:
            return None
        query = select(DeliveryRow).where(DeliveryRow.webhook_id == webhook, *_is_due(now))
        query = query.order_by(DeliveryRow.due, DeliveryRow.id).limit(AT_ONCE)
        taken = session.scalars(query.with_for_update(skip_locked=True)).all()
        if not taken:
            return None
        secrets, bodies = secrets_of(service.vault, row, now), print_events(session, taken)
        for delivery in taken:
            delivery.leased_until = until
    return Leased(row.url, until, secrets, tuple(delivery.id for delivery in taken), tuple(bodies))


def _give_back(service: Service, leased: Leased, ids: Sequence[str]) -> None:
    if ids:
        with service.store.writing() as session:
            ours = (DeliveryRow.id.in_(ids), DeliveryRow.leased_until == leased.until)
            query = update(DeliveryRow).where(*ours).values(leased_until=None)
            session.execute(query.execution_options(synchronize_session=False))


# --- results -------------------------------------------------------------------------------------


def _put_down(service: Service, leased: Leased, delivery: str, failure: NotDelivered | None) -> None:
    """Put down what became of an attempt, unless the lease has run out and somebody else has the delivery now."""
    now = print_time(service.world.now())
    with service.store.writing() as session:
        ours = (DeliveryRow.id == delivery, DeliveryRow.leased_until == leased.until)
        row = session.scalars(select(DeliveryRow).where(*ours).with_for_update()).one_or_none()
        if row is None:
            return
        row.leased_until, row.attempts = None, row.attempts + 1
        if failure is None:
            row.state, row.ended, row.error = "delivered", now, None
            return
        row.error = str(failure)
        if failure.gone or row.attempts > len(DELAYS_S):
            row.state, row.ended = "dead", now
        else:
            row.due = _next(service.world, now, row.attempts, failure.wait_s)
        if failure.gone:
            webhook = session.get_one(WebhookRow, row.webhook_id)
            webhook.state, webhook.reason = "disabled", "gone"


def _next(world: World, now: str, attempts: int, wait_s: int) -> str:
    """Give the time of the next attempt: by the schedule, not before the receiver asked for, and somewhat later."""
    delay_s = max(DELAYS_S[attempts - 1], wait_s)
    chance = int.from_bytes(world.random_bytes(8), "big") % (delay_s * 1_000_000 // JITTER + 1)
    return print_time(read_time(now) + timedelta(seconds=delay_s, microseconds=chance))
