"""Delivering what is due, over real sockets, on both databases: retries, leases, crashes, the list of the dead.

The schedule is the specification's table, written out here; signatures are checked by ours and by the standard's own
library.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import OperationalError
from standardwebhooks import Webhook

from api.cases.webhooks import (
    disable_webhook,
    enable_webhook,
    redeliver,
    redeliver_dead,
    rotate_secret,
    send_test,
)
from api.db.sessions import OutcomeUnknown
from api.db.tables import DeliveryRow, LeafRow
from api.refusals import Refusal
from api.service import Service
from api.webhooks import delivering
from api.webhooks.delivering import KEPT_S, LEASE_S, deliver_due, forget_delivered
from api.webhooks.sender import NotDelivered, Sender
from api.webhooks.signing import check_delivery, parse_secret
from api.world import print_time, real_world
from tests.api.installation import Found, Installation
from tests.api.sabotage import Sabotage, sabotaged
from tests.api.test_beside import eventually
from tests.api.webhook_house import (
    LOOPBACK,
    dealt_out,
    deliveries,
    hooked,
    opened,
    said,
    states,
    table_at,
    voided,
    webhook_row,
)
from tests.api.webhook_receiver import Receiver, free_port, receiving

ROOT = Path(__file__).parents[2]
SCHEDULE = [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600]
"""Standard Webhooks 1.0.0, "Deliverability and reliability": the example's delays after the first attempt."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def service(house: Installation) -> Service:
    table_at(house.service)
    return house.service


def due_in(house: Installation, row: DeliveryRow) -> float:
    return (datetime.fromisoformat(row.due) - house.clock.moment).total_seconds()


# --- what arrives --------------------------------------------------------------------------------


def test_a_whole_shoe_arrives_and_two_implementations_take_each_signature(
    house: Installation, service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = hooked(service, receiver.url)
    shoe = dealt_out(service)
    house.clock.forward(2)
    assert deliver_due(service, LOOPBACK) == 9
    now_s = int(house.clock.moment.timestamp())

    class At(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return house.clock.moment

    monkeypatch.setattr("standardwebhooks.webhooks.datetime", At)
    for came in receiver.came:
        checked = check_delivery([parse_secret(made.secret)], came.headers, came.body, now_s)
        assert Webhook(made.secret).verify(came.body, came.headers) == said(came.body)
        assert came.headers["webhook-timestamp"] == str(now_s)
        assert came.headers["webhook-id"] == checked
    with service.reading() as session:
        told = session.scalars(select(LeafRow).where(LeafRow.shoe == shoe).order_by(LeafRow.seq)).all()
    records = {said(came.body)["data"]["seq"]: said(came.body)["data"]["record"] for came in receiver.came}
    assert [records[leaf.seq] for leaf in told] == [leaf.record.decode() for leaf in told]
    assert sorted(receiver.ids) == sorted(row.id for row in deliveries(service))


def test_what_arrived_is_put_down_and_not_sent_again(house: Installation, service: Service, receiver: Receiver) -> None:
    hooked(service, receiver.url)
    opened(service)
    house.clock.forward(3)
    assert (deliver_due(service, LOOPBACK), deliver_due(service, LOOPBACK)) == (1, 0)
    (row,) = deliveries(service)
    now = print_time(house.clock.moment)
    assert (row.state, row.attempts, row.ended, row.error, row.leased_until) == ("delivered", 1, now, None, None)
    assert len(receiver.came) == 1


def test_more_than_one_lease_holds_arrives_in_one_round(service: Service, receiver: Receiver) -> None:
    hooked(service, receiver.url)
    for _ in range(4):
        dealt_out(service)
    assert deliver_due(service, LOOPBACK) == 36 > 2 * delivering.AT_ONCE
    assert states(service) == ["delivered"] * 36
    assert len(set(receiver.ids)) == 36


def test_a_test_event_arrives(service: Service, receiver: Receiver) -> None:
    made = hooked(service, receiver.url, ["shoe.voided"])
    row = service.write(send_test(service, made.webhook.id))
    deliver_due(service, LOOPBACK)
    (came,) = receiver.came
    assert said(came.body) == {"type": "webhook.test", "timestamp": row.queued, "data": {"webhook": made.webhook.id}}
    assert came.headers["webhook-id"] == row.id


def test_nothing_is_sent_while_nothing_may_be_signed(service: Service, receiver: Receiver) -> None:
    hooked(service, receiver.url)
    opened(service)
    service.permit.halt.write_text("The auditor found leaf 3 changed.")
    assert deliver_due(service, LOOPBACK) == 0
    service.permit.halt.unlink()
    assert deliver_due(service, LOOPBACK) == 1


# --- what does not -------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["down", "500", "redirect", "out of reach"])
def test_a_failed_delivery_is_tried_by_the_schedule_and_is_dead_at_last(
    house: Installation, service: Service, receiver: Receiver, how: str
) -> None:
    receiver.status = {"500": 500, "redirect": 302}.get(how, 200)
    url = f"http://127.0.0.1:{free_port()}/" if how == "down" else receiver.url
    sender = Sender("public") if how == "out of reach" else LOOPBACK
    hooked(service, url)
    opened(service)
    for attempt, delay_s in enumerate(SCHEDULE, start=1):
        assert deliver_due(service, sender) == 1
        (row,) = deliveries(service)
        assert (row.state, row.attempts, row.ended, row.leased_until) == ("pending", attempt, None, None)
        assert delay_s <= due_in(house, row) <= delay_s * 1.2
        house.clock.forward(due_in(house, row) - 0.001)
        assert deliver_due(service, sender) == 0
        house.clock.forward(0.001)
    assert (deliver_due(service, sender), deliver_due(service, sender)) == (1, 0)
    (row,) = deliveries(service)
    assert (row.state, row.attempts, row.ended) == ("dead", 10, print_time(house.clock.moment))
    assert row.error is not None
    assert row.error.startswith(
        {
            "down": "no connection: ConnectionRefusedError",
            "500": "it answers 500",
            "redirect": "it answers 302",
            "out of reach": "url: expected a URL https://…, got 'http'",
        }[how]
    )
    assert len(receiver.came) == (0 if how in ("down", "out of reach") else 10)
    assert len(set(receiver.ids)) <= 1


def test_delays_differ_by_chance(house: Installation, service: Service, receiver: Receiver) -> None:
    receiver.status = 500
    hooked(service, receiver.url)
    dealt_out(service)
    for _ in range(9):
        deliver_due(service, LOOPBACK)
    assert len({row.due for row in deliveries(service)}) == 9


def test_each_attempt_is_signed_at_its_own_time_under_the_same_id(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    made = hooked(service, receiver.url)
    opened(service)
    receiver.status = 503
    deliver_due(service, LOOPBACK)
    house.clock.forward(10)
    receiver.status = 200
    deliver_due(service, LOOPBACK)
    first, second = receiver.came
    assert (first.headers["webhook-id"], first.body) == (second.headers["webhook-id"], second.body)
    assert int(second.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 10
    for came in receiver.came:
        check_delivery([parse_secret(made.secret)], came.headers, came.body, int(came.headers["webhook-timestamp"]))
    assert [(row.state, row.attempts, row.error) for row in deliveries(service)] == [("delivered", 2, None)]


def test_who_asks_to_be_left_alone_is(house: Installation, service: Service, receiver: Receiver) -> None:
    receiver.status, receiver.headers = 429, {"Retry-After": "600"}
    hooked(service, receiver.url)
    opened(service)
    deliver_due(service, LOOPBACK)
    assert 600 <= due_in(house, deliveries(service)[0]) <= 720


def test_a_receiver_that_fails_is_not_asked_again_in_the_same_round(service: Service, receiver: Receiver) -> None:
    receiver.status = 500
    hooked(service, receiver.url)
    dealt_out(service)
    assert deliver_due(service, LOOPBACK) == 1
    assert [row.leased_until for row in deliveries(service)] == [None] * 9
    receiver.status = 200
    assert deliver_due(service, LOOPBACK) == 8


def test_a_slow_receiver_holds_no_other_up(service: Service, receiver: Receiver) -> None:
    with receiving() as slow:
        fast_came = threading.Event()

        def wait(_: BaseHTTPRequestHandler) -> None:
            fast_came.wait(5)

        slow.take_over = wait
        hooked(service, slow.url)
        hooked(service, receiver.url)
        dealt_out(service)
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(deliver_due, service, LOOPBACK)
            eventually(lambda: len(receiver.came) == 9)
            assert len(slow.came) == 1
            fast_came.set()
            done.result(30)


def test_a_receiver_that_is_gone_is_told_nothing_more(service: Service, receiver: Receiver) -> None:
    receiver.status = 410
    made = hooked(service, receiver.url)
    voided(service)
    assert (deliver_due(service, LOOPBACK), deliver_due(service, LOOPBACK)) == (1, 0)
    row = webhook_row(service, made.webhook.id)
    assert (row.state, row.reason) == ("disabled", "gone")
    assert sorted(states(service)) == ["dead", "pending"], "both were due at once"
    opened(service)
    assert len(deliveries(service)) == 2


def test_what_waited_while_it_was_disabled_goes_on_its_way(service: Service, receiver: Receiver) -> None:
    made = hooked(service, receiver.url)
    opened(service)
    service.write(disable_webhook(made.webhook.id))
    assert deliver_due(service, LOOPBACK) == 0
    service.write(enable_webhook(made.webhook.id))
    assert deliver_due(service, LOOPBACK) == 1


# --- tried anew ----------------------------------------------------------------------------------


def kill_off(house: Installation, service: Service) -> None:
    """Let every delivery fail until it is dead."""
    while "pending" in states(service):
        deliver_due(service, LOOPBACK)
        house.clock.forward(29 * 3600)


def test_a_dead_delivery_is_tried_anew_with_all_its_attempts(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    receiver.status = 500
    made = hooked(service, receiver.url, ["shoe.opened"])
    opened(service)
    kill_off(house, service)
    (row,) = deliveries(service)
    service.write(redeliver(made.webhook.id, row.id))
    deliver_due(service, LOOPBACK)
    (row,) = deliveries(service)
    assert (row.state, row.attempts, row.ended) == ("pending", 1, None)
    house.clock.forward(7)
    receiver.status = 200
    deliver_due(service, LOOPBACK)
    assert states(service) == ["delivered"]
    assert len(set(receiver.ids)) == 1


def test_all_that_is_dead_is_tried_anew_and_nothing_else(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    with receiving() as other:
        receiver.status = other.status = 500
        made, another = hooked(service, receiver.url), hooked(service, other.url)
        voided(service)
        kill_off(house, service)
        assert service.write(redeliver_dead(made.webhook.id)) == 2
        assert service.write(redeliver_dead(made.webhook.id)) == 0
        receiver.status = other.status = 200
        assert deliver_due(service, LOOPBACK) == 2
    assert {row.state for row in deliveries(service, made.webhook.id)} == {"delivered"}
    assert {row.state for row in deliveries(service, another.webhook.id)} == {"dead"}


def test_one_that_waits_is_tried_now(service: Service, receiver: Receiver) -> None:
    receiver.status = 500
    made = hooked(service, receiver.url)
    opened(service)
    deliver_due(service, LOOPBACK)
    receiver.status = 200
    service.write(redeliver(made.webhook.id, deliveries(service)[0].id))
    assert deliver_due(service, LOOPBACK) == 1


@pytest.mark.parametrize("why", ["arrived", "no such", "another webhook's", "disabled"])
def test_what_can_not_be_tried_anew_is_refused(service: Service, receiver: Receiver, why: str) -> None:
    made, another = hooked(service, receiver.url), hooked(service, receiver.url, ["shoe.voided"])
    opened(service)
    deliver_due(service, LOOPBACK)
    (row,) = deliveries(service)
    webhook, delivery = made.webhook.id, row.id
    if why == "no such":
        delivery = "0190"
    elif why == "another webhook's":
        webhook = another.webhook.id
    elif why == "disabled":
        service.write(disable_webhook(webhook))
    with pytest.raises(Refusal) as refused:
        service.write(redeliver(webhook, delivery))
    wanted = {"arrived": "delivery-done", "disabled": "webhook-disabled"}.get(why, "not-found")
    assert refused.value.kind.slug == wanted
    assert states(service) == ["delivered"]


# --- leases --------------------------------------------------------------------------------------


def test_many_keepers_at_once_send_everything_once(found: Found, receiver: Receiver) -> None:
    house = found()
    table_at(house.service)
    hooked(house.service, receiver.url)
    for _ in range(4):
        dealt_out(house.service)
    others = [Installation(house.folder, house.clock, database_url=house.database_url).service for _ in range(3)]
    try:
        with ThreadPoolExecutor(8) as pool:
            sent = sum(pool.map(lambda n: deliver_due([house.service, *others][n % 4], LOOPBACK), range(8)))
    finally:
        for other in others:
            other.store.engine.dispose()
    assert (sent, len(receiver.came), len(set(receiver.ids))) == (36, 36, 36)
    assert states(house.service) == ["delivered"] * 36


def test_what_one_keeper_is_at_no_other_touches_until_the_lease_has_run_out(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    release = threading.Event()

    def answer_late(handler: BaseHTTPRequestHandler) -> None:
        release.wait(5)
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    receiver.take_over = answer_late
    hooked(service, receiver.url)
    opened(service)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(deliver_due, service, LOOPBACK)
        eventually(lambda: len(receiver.came) == 1)
        assert deliver_due(service, LOOPBACK) == 0
        house.clock.forward(LEASE_S - 1)
        assert deliver_due(service, LOOPBACK) == 0
        release.set()
        assert first.result(30) == 1
    assert (states(service), len(receiver.came)) == (["delivered"], 1)


def test_who_comes_back_after_the_lease_puts_nothing_down(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    """The machine slept, say: what another keeper found out meanwhile stands."""
    hooked(service, receiver.url)
    opened(service)

    class Sleepy(Sender):
        def send(self, *_: Any) -> None:
            house.clock.forward(LEASE_S)
            assert deliver_due(service, LOOPBACK) == 1
            raise NotDelivered("late")

    assert deliver_due(service, Sleepy("any")) == 1
    (row,) = deliveries(service)
    assert (row.state, row.attempts, row.error) == ("delivered", 1, None)


KILLED = """
import os, signal, sys
from pathlib import Path
from api.settings import Settings
from api.webhooks import delivering
from api.webhooks.sender import Sender
from api.wiring import open_service
from api.world import real_world

folder, url, when = sys.argv[1:]
service = open_service(Settings(Path(folder), None, url or None), real_world())
send = Sender.send

def dies(self, *given):
    if when == "after":
        send(self, *given)
    os.kill(os.getpid(), signal.SIGKILL)

Sender.send = dies
delivering.deliver_due(service, Sender("any"))
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_keeper_that_is_killed_loses_nothing(found: Found, receiver: Receiver, when: str) -> None:
    """By SIGKILL, before it sends or before it has put down that it did: the next one sends again, with the same id."""
    house = found(clock=real_world().now)
    service = house.service
    table_at(service)
    hooked(service, receiver.url)
    opened(service)
    command = [sys.executable, "-c", KILLED, str(house.folder), house.database_url or "", when]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert [(row.state, row.attempts) for row in deliveries(service)] == [("pending", 0)]
    assert deliver_due(service, LOOPBACK) == 0
    with service.store.writing() as session:
        row = session.scalars(select(DeliveryRow)).one()
        assert row.leased_until is not None
        row.leased_until = print_time(datetime.now(UTC) - timedelta(seconds=1))
    assert deliver_due(service, LOOPBACK) == 1
    assert (states(service), len(receiver.came)) == (["delivered"], 2 if when == "after" else 1)
    assert len(set(receiver.ids)) == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_database_that_fails_at_any_statement_loses_nothing(
    house: Installation, service: Service, receiver: Receiver, when: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked(service, receiver.url, ["shoe.opened"])
    at, done = 0, ["all"]
    while len(done) >= at:
        at, table = at + 1, table_at(service, f"t{at}")
        opened(service, table)
        sabotage = Sabotage(at, when)
        with sabotaged(service, sabotage, monkeypatch), suppress(OperationalError, OutcomeUnknown):
            deliver_due(service, LOOPBACK)
        done = sabotage.done
        house.clock.forward(LEASE_S)
        deliver_due(service, LOOPBACK)
        assert states(service) == ["delivered"] * at
        assert len(set(receiver.ids)) == at
    assert at > 8


# --- rotation of a secret ------------------------------------------------------------------------


def test_the_secret_before_signs_beside_the_new_one_for_a_day(
    house: Installation, service: Service, receiver: Receiver
) -> None:
    old = hooked(service, receiver.url)
    new = service.write(rotate_secret(service, old.webhook.id))
    assert new.secret != old.secret
    for seconds in (0, 24 * 3600 - 2, 1, 1):
        house.clock.forward(seconds)
        voided(service, table_at(service, f"t{len(receiver.came)}"))
        deliver_due(service, LOOPBACK)
    signatures = [came.headers["webhook-signature"].count("v1,") for came in receiver.came[::2]]
    assert signatures == [2, 2, 2, 1]
    first, *_, last = receiver.came
    for made in (old, new):
        check_delivery([parse_secret(made.secret)], first.headers, first.body, int(first.headers["webhook-timestamp"]))
    check_delivery([parse_secret(new.secret)], last.headers, last.body, int(last.headers["webhook-timestamp"]))


# --- forgetting ----------------------------------------------------------------------------------


def test_only_what_arrived_a_week_ago_is_forgotten(
    house: Installation, service: Service, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(delivering, "FORGET_AT_ONCE", 2)
    with receiving() as bad:
        bad.status = 500
        hooked(service, receiver.url)
        hooked(service, bad.url, ["shoe.opened"])
        dealt_out(service)
        while deliver_due(service, LOOPBACK):
            continue
        house.clock.forward(KEPT_S)
        assert forget_delivered(service) == 0
        house.clock.forward(1)
        assert forget_delivered(service) == 9
        assert states(service) == ["pending"]
        kill_off(house, service)
        house.clock.forward(100 * KEPT_S)
        assert forget_delivered(service) == 0
        assert states(service) == ["dead"]
