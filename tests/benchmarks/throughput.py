"""Durable, logged, signed coups over HTTP beside the same server's empty JSON route; proofs in a long log.

Every round times both, one after the other, on a server that ``fairshoe serve`` started; the load is a process of its
own (`tests.campaign.hammer`), and shares the machine's cores with the server. What is printed is the median of the
rounds' ratios. ``python -m tests.benchmarks.throughput --profile sqlite`` (or ``postgresql``) shows where a coup's time
goes: the same application in this process, without HTTP, under cProfile.
"""

from __future__ import annotations

import cProfile
import hashlib
import io
import json
import os
import pstats
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from flask import Flask
from sqlalchemy import text
from sqlalchemy.orm import Session
from werkzeug.test import EnvironBuilder, run_wsgi_app

from api import create_app
from api.db.tables import LogHeadRow
from api.log import HEAD, make_receipts, prove_all, read_head
from api.routes.exchange import SERVICE
from api.service import Service
from api.settings import Settings, without_settings
from api.world import real_world
from tests.api.postgres import Postgres
from tests.campaign.hammer import Assault, Outcome, assail_apart
from tests.campaign.ledger import Draws, Ledger
from tests.campaign.load import DEADLINES, Client
from tests.campaign.serving import NO_LIMITS
from tests.first_keys import key_at, serves

CLIENTS = THREADS = 64
WORKERS = (1, 2)
ROUNDS, SECONDS = 5, 1.5
LEAVES, PROOFS = 1_000_000, 2_000
ROOT = Path(__file__).parents[2]

EIGHT_DECKS = {"entropy": "house"}
EACH_COUP = {"entropy": "house", "shuffle": "coup", "cut": None, "coups": 2**20}
SHOES = {"8 decks": (EIGHT_DECKS, 3 * CLIENTS), "shuffled each coup": (EACH_COUP, CLIENTS // 4)}
"""Kinds of tables, and how many: enough that no client runs out of shoes."""


@dataclass(frozen=True)
class Place:
    """Where an installation may be founded: a folder that is not there yet, and a database's URL."""

    folder: Path
    database_url: str | None

    @property
    def settings(self) -> Settings:
        return Settings(self.folder, "bench.example/log", self.database_url, **NO_LIMITS)


@contextmanager
def places() -> Iterator[dict[str, Callable[[], Place]]]:
    """Make places on each database, the durable ones: on the disk under the system's temporary folder."""
    with tempfile.TemporaryDirectory() as folder, Postgres() as postgres:
        names = (Path(folder) / f"house-{number}" for number in range(10**6))
        yield {
            "sqlite": lambda: Place(next(names), None),
            "postgresql": lambda: Place(next(names), postgres.create_database()),
        }


def throughput() -> None:
    """Print the service's speed as ratios, on both databases, and its proofs' latency."""
    with places() as make:
        for store, place in make.items():
            for workers in WORKERS:
                _over_http(store, place(), workers)
        for store, place in make.items():
            _proofs(store, place())


# --- over HTTP ---------------------------------------------------------------------------------


def _over_http(store: str, place: Place, workers: int) -> None:
    with serving(place, workers) as port:
        shoes = {kind: _sealed(port, kind, *wanted) for kind, wanted in SHOES.items()}
        rounds: dict[str, list[tuple[Outcome, Outcome]]] = {kind: [] for kind in SHOES}
        for number in range(ROUNDS):
            for kind, found in rounds.items():
                empty = assail_apart(Assault(port, CLIENTS, SECONDS, "GET", ["/livez"], token=key_at(port)))
                key = f"{kind.split()[0]}-{number}"
                coups = assail_apart(Assault(port, CLIENTS, SECONDS, "POST", shoes[kind], 201, key, key_at(port)))
                found.append((empty, coups))
    for kind, found in rounds.items():
        _print_rounds(f"{store}, {_workers(workers)}, {kind}", found)


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"


def _print_rounds(what: str, rounds: Sequence[tuple[Outcome, Outcome]]) -> None:
    empty, coups = (statistics.median(each[which].per_second for each in rounds) for which in (0, 1))
    ratio = statistics.median(coups.per_second / empty.per_second for empty, coups in rounds)
    waited = statistics.median(latency for _, outcome in rounds for latency in outcome.latencies_ms)
    refused = sum(sum(outcome.others.values()) for pair in rounds for outcome in pair)
    sys.stdout.write(
        f"{what:<46} {coups:9.0f} coups/s = {ratio:8.3f} × the empty route ({empty:.0f}/s); "
        f"median wait {waited:.0f} ms; {refused} refused\n"
    )


@contextmanager
def serving(place: Place, workers: int) -> Iterator[int]:
    """Run ``fairshoe serve`` on a free port of loopback, in a group of its own that is gone afterwards."""
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0", "--json"]
    command += ["--workers", str(workers), "--threads", str(THREADS)]
    environment = {**without_settings(os.environ), "FAIRSHOE_DATA": str(place.folder), "PYTHONPATH": str(ROOT)}
    environment |= {} if place.database_url is None else {"DATABASE_URL": place.database_url}
    environment |= {f"FAIRSHOE_{whose}_PER_MINUTE": "0" for whose in ("WRITES", "SEAT_WRITES", "READS")}
    environment["FAIRSHOE_LOG_LEVEL"] = "warning"
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        assert process.stdout is not None
        port = int(json.loads(process.stdout.readline())["url"].rsplit(":")[-1])
        serves(port, place.folder)
        yield port
        process.terminate()
        process.wait(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _sealed(port: int, kind: str, overrides: dict[str, Any], count: int) -> list[str]:
    """Seal a shoe at each of so many tables; give the addresses that deal from them."""

    def seal(number: int) -> str:
        table, ledger = f"{kind.replace(' ', '-')}-{number}", Ledger()
        client = Client(table, port, ledger, Draws("bench", table), repeats=0)
        client.post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": overrides})
        client.post(f"/tables/{table}/books", {"size": 1})
        shoe = client.post(f"/tables/{table}/shoes", DEADLINES).json["shoe"]
        for step in ("lock", "seal"):
            client.post(f"/shoes/{shoe}/{step}")
        client.close()
        assert len(ledger.made) == 5, ledger
        return f"/v1/shoes/{shoe}/coups"

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(seal, range(count)))


# --- proofs ------------------------------------------------------------------------------------


def _proofs(store: str, place: Place) -> None:
    service: Service = create_app(place.settings, real_world()).extensions[SERVICE]
    try:
        began = perf_counter()
        with service.store.writing() as session:
            _fill(session, LEAVES)
        filled = perf_counter() - began
        draws = Draws("proofs", store)
        times: dict[str, list[float]] = {"a receipt": [], "an audit path": []}
        for _ in range(PROOFS):
            index = draws.below(LEAVES)
            times["a receipt"].append(_timed_ms(service, lambda session, index=index: make_receipts(session, [index])))
            times["an audit path"].append(
                _timed_ms(service, lambda session, index=index: prove_all(session, [index], read_head(session).size))
            )
    finally:
        service.store.engine.dispose()
    for what, each in times.items():
        median, worst = statistics.median(each), sorted(each)[len(each) * 99 // 100]
        sys.stdout.write(
            f"{f'{store}, {what} among {LEAVES:,} leaves':<46} {median:9.2f} ms median, {worst:.2f} ms at the 99th "
            f"percentile (filled in {filled:.0f} s)\n"
        )


def _timed_ms(service: Service, work: Callable[[Session], object]) -> float:
    start = perf_counter()
    with service.reading() as session:
        work(session)
    return (perf_counter() - start) * 1e3


def _fill(session: Session, size: int) -> None:
    """Fill a log with further leaves: of the usual rows, but nothing that says anything, and no checkpoint but one."""
    head = session.get_one(LogHeadRow, HEAD)
    (first,) = session.execute(text("SELECT hash FROM log_nodes WHERE position = 0")).scalars()
    levels: list[list[bytes]] = [[bytes(first)]]
    leaves, nodes = [], []
    for index in range(1, size):
        record = b'{"fill":%d,"type":"alarm"}' % index
        leaves.append((index, record, "alarm"))
        nodes += _completed(levels, hashlib.sha256(b"\x00" + record).digest())
    _insert(session, "leaves", ("log_index", "record", "type"), leaves)
    _insert(session, "log_nodes", ("position", "hash"), nodes)
    perfect = [level[-1] for level in reversed(levels) if len(level) % 2]
    root = perfect[-1]
    for left in reversed(perfect[:-1]):
        root = hashlib.sha256(b"\x01" + left + root).digest()
    head.size, head.frontier, head.root = size, b"".join(perfect), root


def _completed(levels: list[list[bytes]], reached: bytes) -> Iterator[tuple[int, bytes]]:
    """Put a leaf's hash into its place, and give the perfect subtrees that end with it, by position."""
    for level in range(len(levels) + 1):
        if level == len(levels):
            levels.append([])
        levels[level].append(reached)
        index = len(levels[level]) - 1
        yield ((2 * index + 1) << level) - 1, reached
        if index % 2 == 0:
            return
        reached = hashlib.sha256(b"\x01" + levels[level][-2] + reached).digest()


def _insert(session: Session, table: str, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Insert rows by the quickest way that the driver has."""
    names, raw = ", ".join(columns), session.connection().connection
    if session.connection().dialect.name == "sqlite":
        marks = ", ".join("?" * len(columns))
        raw.cursor().executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
        return
    with raw.cursor().copy(f"COPY {table} ({names}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


# --- the profile -------------------------------------------------------------------------------


def profile(store: str, count: int = 50) -> None:
    """Print where the processor's time goes while 64 threads deal, each function's own first.

    From Python 3.12 on only one thread can be profiled at a time: then one alone deals.
    """
    with places() as make:
        place = make[store]()
        app = create_app(place.settings, real_world())
        bearer = f"Bearer {place.settings.operator_key.read_text().strip()}"
        threads = CLIENTS if sys.version_info < (3, 12) else 1
        shoes = [_sealed_within(app, bearer, number) for number in range(16)]
        empty = _in_process(app, bearer, ["/livez"], "GET", threads=threads, count=count)
        coups = _in_process(app, bearer, shoes, "POST", threads=threads, count=count)
        sys.stdout.write(f"without HTTP, {threads} threads: {coups:.3f} ms a coup, {empty:.3f} ms an empty answer\n")
        profiles: list[cProfile.Profile] = []
        _in_process(app, bearer, shoes, "POST", threads=threads, count=count, profiles=profiles)
        app.extensions[SERVICE].store.engine.dispose()
    said = io.StringIO()
    stats = pstats.Stats(*profiles, stream=said).strip_dirs()
    for order in ("tottime", "cumulative"):
        stats.sort_stats(order).print_stats(40)
    sys.stdout.write(f"processor time over {threads * count} coups, seconds\n{said.getvalue()}")


def _in_process(
    app: Flask,
    bearer: str,
    paths: Sequence[str],
    method: str,
    *,
    threads: int,
    count: int,
    profiles: list[Any] | None = None,
) -> float:
    """Let threads ask the application `count` times each; give the milliseconds a request, of all threads together."""

    def ask(number: int) -> None:
        watch = cProfile.Profile(time.thread_time)
        for turn in range(count):
            headers = {"Authorization": bearer, "Idempotency-Key": f"{id(profiles)}-{number}-{turn}"}
            environ = EnvironBuilder(path=paths[number % len(paths)], method=method, headers=headers).get_environ()
            if profiles is not None:
                watch.enable()
            _, status, _ = run_wsgi_app(app.wsgi_app, environ)
            watch.disable()
            assert status[0] == "2", status
        if profiles is not None:
            profiles.append(watch)

    began = perf_counter()
    each = [threading.Thread(target=ask, args=(number,)) for number in range(threads)]
    for thread in each:
        thread.start()
    for thread in each:
        thread.join()
    return (perf_counter() - began) / (threads * count) * 1e3


def _sealed_within(app: Flask, bearer: str, number: int) -> str:
    client, table = app.test_client(), f"t{number}"

    def post(path: str, body: object = None) -> Any:
        headers = {"Authorization": bearer, "Idempotency-Key": f"{number} {path}".replace(" ", "-")}
        answer = client.post(f"/v1{path}", json=body or {}, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json

    post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": EACH_COUP})
    post(f"/tables/{table}/books", {"size": 1})
    shoe = post(f"/tables/{table}/shoes", DEADLINES)["shoe"]
    for step in ("lock", "seal"):
        post(f"/shoes/{shoe}/{step}")
    return f"/v1/shoes/{shoe}/coups"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--profile"]:
        profile(sys.argv[2] if sys.argv[2:] else "sqlite")
    else:
        throughput()
