"""Events: made from the records as they are logged, in their transaction, for whoever asked; on both databases.

What must be told is read from the log's own records, and what an event says by Python's json.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import event as sqlalchemy_event
from sqlalchemy import select
from sqlalchemy.exc import OperationalError

from api.cases.webhooks import disable_webhook, enable_webhook
from api.db.sessions import OutcomeUnknown
from api.db.tables import DeliveryRow, LeafRow
from api.refusals import Refusal
from api.service import Service
from api.webhooks.events import print_events
from shoe.proof.records import parse_record
from tests.api.installation import Installation
from tests.api.sabotage import Sabotage, sabotaged
from tests.api.webhook_house import dealt_out, deliveries, hooked, opened, said, table_at, voided

URL = "https://receiver.example/hook"

TOLD = {
    "open": "shoe.opened",
    "lock": "shoe.locked",
    "seal": "shoe.sealed",
    "bets": "coup.settled",
    "coup": "coup.dealt",
    "reveal": "shoe.revealed",
    "void": "shoe.voided",
}
"""Which type of record makes which event, as the documentation says."""


@pytest.fixture
def service(house: Installation) -> Service:
    table_at(house.service)
    return house.service


def leaves(service: Service) -> list[LeafRow]:
    with service.reading() as session:
        return list(session.scalars(select(LeafRow).order_by(LeafRow.log_index)))


def bodies(service: Service, rows: list[DeliveryRow]) -> list[dict[str, Any]]:
    with service.reading() as session:
        return [said(body) for body in print_events(session, rows)]


def test_each_record_of_a_shoe_is_told_once_and_as_it_stands(service: Service) -> None:
    made = hooked(service, URL)
    shoes = [dealt_out(service), voided(service)]
    rows = deliveries(service, made.webhook.id)
    told = [leaf for leaf in leaves(service) if leaf.shoe in shoes]
    assert [leaf.type for leaf in told] == ["open", "lock", "seal", *["coup"] * 5, "reveal", "open", "void"]
    assert [row.log_index for row in rows] == [leaf.log_index for leaf in told]
    for leaf, body in zip(told, bodies(service, rows), strict=True):
        data = {"table": "t", "shoe": leaf.shoe, "seq": leaf.seq, "index": leaf.log_index}
        record = leaf.record.decode()
        timestamp = parse_record(leaf.record).time
        assert body == {"type": TOLD[leaf.type], "timestamp": timestamp, "data": {**data, "record": record}}


def test_a_new_delivery_is_due_at_once(service: Service, house: Installation) -> None:
    hooked(service, URL)
    house.clock.forward(7)
    opened(service)
    (row,) = deliveries(service)
    time = parse_record(leaves(service)[-1].record).time
    assert (row.queued, row.due, row.state, row.attempts) == (time, time, "pending", 0)
    assert (row.leased_until, row.ended, row.error) == (None, None, None)


def test_ids_are_different_and_sort_by_time(service: Service, house: Installation) -> None:
    for _ in range(2):
        hooked(service, URL)
    opened(service)
    house.clock.forward(1)
    table_at(service, "u")
    opened(service, "u")
    first, second = ([row.id for row in deliveries(service) if row.log_index == index] for index in (2, 4))
    assert len({*first, *second}) == 4
    assert max(first) < min(second)


@pytest.mark.parametrize("wanted", [*([each] for each in TOLD.values()), ["shoe.opened", "shoe.voided"]])
def test_only_what_was_asked_for_is_told(service: Service, wanted: list[str]) -> None:
    hooked(service, URL, wanted)
    dealt_out(service)
    voided(service)
    counts = {"coup.dealt": 5, "coup.settled": 0, "shoe.opened": 2}
    told = [row.type for row in deliveries(service)]
    assert {each: told.count(each) for each in wanted} == {each: counts.get(each, 1) for each in wanted}
    assert set(told) <= set(wanted)


def test_only_the_table_that_was_asked_for_is_told_of(service: Service) -> None:
    table_at(service, "u")
    one, all_tables = hooked(service, URL, table="u"), hooked(service, URL)
    shoes = {"t": opened(service), "u": opened(service, "u")}
    told = {each.webhook.id: bodies(service, deliveries(service, each.webhook.id)) for each in (one, all_tables)}
    assert [body["data"]["shoe"] for body in told[one.webhook.id]] == [shoes["u"]]
    assert [body["data"]["shoe"] for body in told[all_tables.webhook.id]] == [shoes["t"], shoes["u"]]


def test_what_happened_before_or_while_it_was_disabled_is_not_told(service: Service) -> None:
    voided(service)
    made = hooked(service, URL, ["shoe.opened"])
    service.write(disable_webhook(made.webhook.id))
    voided(service)
    service.write(enable_webhook(made.webhook.id))
    shoe = voided(service)
    assert [body["data"]["shoe"] for body in bodies(service, deliveries(service))] == [shoe]


def test_records_that_are_no_steps_of_a_shoe_are_not_told(service: Service) -> None:
    hooked(service, URL)
    table_at(service, "u")
    assert leaves(service)[-1].type == "book"
    assert deliveries(service) == []


def test_an_event_says_the_same_bytes_each_time(service: Service) -> None:
    hooked(service, URL)
    dealt_out(service)
    rows = deliveries(service)
    with service.reading() as session:
        assert print_events(session, rows) == print_events(session, rows)


def queries(service: Service, work: Callable[[], object]) -> list[str]:
    seen: list[str] = []

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        seen.append(statement)

    sqlalchemy_event.listen(service.store.engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        sqlalchemy_event.remove(service.store.engine, "before_cursor_execute", note)
    return [statement for statement in seen if "webhooks" in statement or "deliveries" in statement]


def test_who_asks_for_nothing_costs_one_look_at_a_short_list(service: Service) -> None:
    assert len(queries(service, lambda: opened(service))) == 1
    assert queries(service, lambda: table_at(service, "u")) == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_record_and_its_events_are_there_together_or_not_at_all(
    service: Service, when: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every statement of the transaction made to fail, both ways, until it has no more."""
    hooked(service, URL, ["shoe.opened", "shoe.voided"])
    at, done = 0, ["all"]
    while len(done) >= at:
        at, table = at + 1, table_at(service, f"t{at}")
        sabotage = Sabotage(at, when)
        with sabotaged(service, sabotage, monkeypatch), suppress(OperationalError, OutcomeUnknown, Refusal):
            opened(service, table)
        done = sabotage.done
        told = [leaf.log_index for leaf in leaves(service) if leaf.type in TOLD]
        assert [row.log_index for row in deliveries(service)] == told
    assert at > 10
    assert told
