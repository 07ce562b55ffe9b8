"""The metrics: each one's name and meaning, and their text as Prometheus reads it.

What happens is counted by `api.meters`, in every process of a server, and added up here; what the database knows is
asked of it then. deploy/RUNBOOK.md lists all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final, cast

from flask import current_app
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from api.cases.deadlines import overdue
from api.cases.witnessing import SEARCHED
from api.db.tables import ENDED_STATES, LIVE_STATES, CosignatureRow, ShoeRow
from api.log import read_head
from api.meters import SHARED, instruments
from api.service import Service
from api.world import print_time
from shoe.proof.note import parse_vkey

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
ASKED: Final = {
    "fairshoe_database_reachable": "1 where the database answers; without it the metrics below it are left out",
    "fairshoe_read_only": "1 while nothing may be signed, for a reason that /readyz gives",
    "fairshoe_log_records": "Records in the log",
    "fairshoe_overdue_shoes": "Shoes whose deadline has passed and that are not void yet",
    "fairshoe_shoes": "Shoes by state",
    "fairshoe_witness_age_seconds": "Since a witness's newest cosignature; 0 where it covers the log's head",
}
"""What is asked when the metrics are printed: names and meanings."""


def print_metrics() -> str:
    """Print all metrics of the running application's installation, in Prometheus's text format."""
    service = cast(Service, current_app.extensions["fairshoe"])
    registry = CollectorRegistry()
    registry.register(_Asked(service))
    counted = instruments().registry
    if SHARED in os.environ:
        counted = CollectorRegistry()
        MultiProcessCollector(counted)  # type: ignore[no-untyped-call]
    return (generate_latest(registry) + generate_latest(counted)).decode()


class _Asked(Collector):
    """Asks the service and its database, in one snapshot."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Give what is known; without a database, that there is none."""
        yield _gauge("fairshoe_read_only", bool(self._service.permit.reasons()))
        try:
            with self._service.reading() as session:
                found = list(_of_database(session, self._service))
        except DBAPIError:
            found = []
        yield _gauge("fairshoe_database_reachable", bool(found))
        yield from found


def _of_database(session: Session, service: Service) -> Iterator[Metric]:
    now, size = service.world.now(), read_head(session).size
    yield _gauge("fairshoe_log_records", size)
    yield _gauge("fairshoe_overdue_shoes", len(overdue(session, print_time(now))))
    shoes = GaugeMetricFamily("fairshoe_shoes", ASKED["fairshoe_shoes"], labels=("state",))
    rows = session.execute(select(ShoeRow.state, func.count()).group_by(ShoeRow.state))
    counts = {str(row[0]): int(row[1]) for row in rows}
    for state in (*LIVE_STATES, *ENDED_STATES):
        shoes.add_metric((state,), counts.get(state, 0))
    yield shoes
    name = "fairshoe_witness_age_seconds"
    ages = GaugeMetricFamily(name, ASKED[name], labels=("witness",))
    for vkey, covered, time_s in _cosigned(session):
        ages.add_metric((parse_vkey(vkey).name,), 0 if covered == size else max(0.0, now.timestamp() - time_s))
    yield ages


def _cosigned(session: Session) -> list[tuple[str, int, int]]:
    """Give each witness's newest size and time, among the newest cosignatures."""
    newest = select(CosignatureRow).order_by(CosignatureRow.size.desc()).limit(SEARCHED).subquery()
    query = select(newest.c.vkey, func.max(newest.c.size), func.max(newest.c.time_s)).group_by(newest.c.vkey)
    return [(vkey, int(size), int(time_s)) for vkey, size, time_s in session.execute(query)]


def _gauge(name: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, ASKED[name], value)
