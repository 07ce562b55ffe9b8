"""What is measured, where it happens: requests around the application, commits around the writer, deliveries.

Each process of a server keeps its counts in a file of the folder that `share` names; `api.metrics` adds them up.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from flask import Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, values
from prometheus_client.multiprocess import mark_process_dead

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
UNROUTED: Final = "none"
"""The route of a request that no rule matches: its address is the caller's choice, and must not become a label."""

_BEGUN: Final = "meters_begun"

SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The environment's variable by which processes of one server find the folder of their counts."""

_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WRITES: Final = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Instruments:
    """What is counted as it happens, and the registry that holds it."""

    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    in_progress: Gauge
    limited: Counter
    commit_writes: Histogram
    commit_seconds: Histogram
    deliveries: Counter


@cache
def instruments() -> Instruments:
    """Give this process's instruments, made when they are first asked for."""
    registry = CollectorRegistry()
    return Instruments(
        registry,
        Counter("fairshoe_requests", "Requests answered", ("method", "route", "status"), registry=registry),
        Histogram("fairshoe_request_seconds", "From a request's arrival to its answer", ("method", "route"),
                  buckets=_SECONDS, registry=registry),
        Gauge("fairshoe_requests_in_progress", "Requests that are being answered", registry=registry,
              multiprocess_mode="livesum"),
        Counter("fairshoe_rate_limited", "Requests refused with 429", ("method", "route"), registry=registry),
        Histogram("fairshoe_commit_writes", "Writes that shared one transaction and checkpoint", buckets=_WRITES,
                  registry=registry),
        Histogram("fairshoe_commit_seconds", "From asking for a write transaction to its being durable",
                  buckets=_SECONDS, registry=registry),
        Counter("fairshoe_webhook_deliveries", "Attempts to deliver an event to a webhook", ("result",),
                registry=registry),
    )  # fmt: skip


def share(folder: Path) -> None:
    """Keep the counts of this process, and of those it forks, in files of a folder; to be called before any count."""
    os.environ[SHARED] = str(folder)
    # The library looks at the environment when it is imported, which was before.
    values.ValueClass = values.MultiProcessValue()  # type: ignore[no-untyped-call]
    instruments.cache_clear()


def forget_process(process: int) -> None:
    """Take what an ended process was doing out of the sums; what it has counted stays."""
    if SHARED in os.environ:
        mark_process_dead(process)  # type: ignore[no-untyped-call]


def measure(app: Flask) -> None:
    """Have every request counted and timed, by route, method and status."""

    def begin() -> None:
        setattr(g, _BEGUN, time.perf_counter())
        instruments().in_progress.inc()

    def end(response: Response) -> Response:
        found, method = instruments(), request.method if request.method in METHODS else "OTHER"
        route = request.url_rule.rule if request.url_rule else UNROUTED
        found.requests.labels(method, route, str(response.status_code)).inc()
        found.seconds.labels(method, route).observe(time.perf_counter() - g.get(_BEGUN, time.perf_counter()))
        if response.status_code == 429:
            found.limited.labels(method, route).inc()
        return response

    def leave(_: BaseException | None) -> None:
        if g.pop(_BEGUN, None) is not None:
            instruments().in_progress.dec()

    # Before any other, which may refuse the request; and after all others.
    app.before_request_funcs.setdefault(None, []).insert(0, begin)
    app.after_request_funcs.setdefault(None, []).insert(0, end)
    app.teardown_request(leave)


def timed(run: Callable[[Sequence[T]], None]) -> Callable[[Sequence[T]], None]:
    """Wrap what writes some jobs in one transaction, so that it is counted and timed once it is durable."""

    def run_timed(jobs: Sequence[T]) -> None:
        begun, found = time.perf_counter(), instruments()
        run(jobs)
        found.commit_seconds.observe(time.perf_counter() - begun)
        found.commit_writes.observe(len(jobs))

    return run_timed


def count_delivery(result: str) -> None:
    """Count an attempt to deliver an event to a webhook, by its result, a word of the code's own."""
    instruments().deliveries.labels(result).inc()
