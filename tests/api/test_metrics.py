"""Metrics: what is counted against what was done, and what is asked against what the log's readers see."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import event

from api import meters
from api.cases.deadlines import void_overdue
from api.cases.witnessing import cosign_head
from api.meters import count_delivery, instruments, measure, timed
from api.metrics import ASKED, print_metrics
from api.witness import Witness, WitnessClient
from shoe.proof.note import parse_vkey
from tests.api.installation import SMALL, Installation
from tests.api.witness_server import served_witness

ROOT = Path(__file__).parents[2]


def read(text: str) -> dict[tuple[str, ...], float]:
    """Each sample by its name and its labels' values, as Prometheus's own parser reads them."""
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def metrics(house: Installation) -> dict[tuple[str, ...], float]:
    with house.app.app_context():
        return read(print_metrics())


@pytest.fixture(autouse=True)
def from_nothing() -> Iterator[None]:
    """Instruments of the test's own: a process has one set, and tests share a process."""
    instruments.cache_clear()
    yield
    instruments.cache_clear()


# --- what the database knows -----------------------------------------------------------------------


def test_the_size_of_the_log_is_the_checkpoints(house: Installation) -> None:
    house.table()
    house.open()
    assert metrics(house)["fairshoe_log_records",] == house.size() > 1


def test_shoes_are_counted_by_state_and_what_is_overdue_until_it_is_void(house: Installation) -> None:
    for table in ("a", "b", "c"):
        house.table(table, **SMALL)
    house.open("a")
    house.open("b", lock_in_s=600, seal_in_s=700)
    house.sealed("c")
    before = metrics(house)
    assert before["fairshoe_overdue_shoes",] == 0
    assert [before["fairshoe_shoes", state] for state in ("open", "locked", "sealed", "revealed", "void")] == [
        2, 0, 1, 0, 0
    ]  # fmt: skip
    house.clock.forward(61)
    assert metrics(house)["fairshoe_overdue_shoes",] == 1
    assert void_overdue(house.service) == 1
    after = metrics(house)
    assert (after["fairshoe_overdue_shoes",], after["fairshoe_shoes", "void"], after["fairshoe_shoes", "open"]) == (
        0, 1, 1
    )  # fmt: skip


def test_read_only_is_what_readyz_says(house: Installation) -> None:
    halt = house.folder / "halt"
    for wanted in (0, 1, 0):
        if wanted:
            halt.write_text("A reason.")
        else:
            halt.unlink(missing_ok=True)
        assert metrics(house)["fairshoe_read_only",] == wanted
        assert house.client.get("/readyz").status_code == (503 if wanted else 200)


def test_a_witness_grows_old_only_while_it_lags_behind(house: Installation) -> None:
    age = ("fairshoe_witness_age_seconds", "witness.example/w1")
    assert age not in metrics(house)
    vkey = house.client.get("/v1/log/key").text.strip()
    with served_witness(vkey, lambda: house.clock().timestamp()) as witness:
        client = WitnessClient(Witness(parse_vkey(witness.vkey), witness.url))
        house.table("a")
        cosign_head(house.service, client)
        house.clock.forward(5000)
        assert metrics(house)[age] == 0
        house.table("b")
        house.clock.forward(30)
        assert metrics(house)[age] == 5030
        cosign_head(house.service, client)
        assert metrics(house)[age] == 0
        client.close()


def test_without_its_database_it_says_so_and_counts_on(house: Installation) -> None:
    count_delivery("delivered")
    assert metrics(house)["fairshoe_database_reachable",] == 1

    def refuse(*_: object) -> None:
        raise house.service.store.engine.dialect.loaded_dbapi.OperationalError("gone")

    event.listen(house.service.store.engine, "before_cursor_execute", refuse)
    found = metrics(house)
    event.remove(house.service.store.engine, "before_cursor_execute", refuse)
    assert found["fairshoe_database_reachable",] == 0
    assert found["fairshoe_webhook_deliveries_total", "delivered"] == 1
    assert not any(name in key[0] for key in found for name in ("log_records", "shoes", "witness"))


def test_printing_asks_in_one_transaction_and_writes_nothing(house: Installation) -> None:
    house.table()
    said: list[str] = []

    def listen(_: object, __: object, statement: str, *___: object) -> None:
        said.append(statement.lstrip().split()[0].upper())

    event.listen(house.service.store.engine, "before_cursor_execute", listen)
    before = house.checkpoint()
    said.clear()
    metrics(house)
    event.remove(house.service.store.engine, "before_cursor_execute", listen)
    assert set(said) <= {"SELECT", "BEGIN"}
    assert len(said) <= 6
    assert house.checkpoint() == before


# --- what is counted as it happens -----------------------------------------------------------------


@pytest.fixture
def app() -> Flask:
    app = Flask("metrics", static_folder=None)

    @app.get("/v1/shoes/<shoe>")
    def show(shoe: str) -> tuple[str, int]:
        assert read_counted()["fairshoe_requests_in_progress",] == 1
        return shoe, int(shoe)

    @app.post("/v1/fails")
    def fail() -> str:
        raise RuntimeError("no")

    measure(app)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app


def read_counted() -> dict[tuple[str, ...], float]:
    from prometheus_client import generate_latest  # noqa: PLC0415

    return read(generate_latest(instruments().registry).decode())


def test_requests_are_counted_by_method_route_and_status(app: Flask) -> None:
    client = app.test_client()
    for status in ("200", "200", "404", "429"):
        client.get(f"/v1/shoes/{status}")
    client.post("/v1/fails")
    found, route = read_counted(), "/v1/shoes/<shoe>"
    assert {key[1:]: value for key, value in found.items() if key[0] == "fairshoe_requests_total"} == {
        ("GET", route, "200"): 2,
        ("GET", route, "404"): 1,
        ("GET", route, "429"): 1,
        ("POST", "/v1/fails", "500"): 1,
    }
    assert found["fairshoe_rate_limited_total", "GET", route] == 1
    assert found["fairshoe_request_seconds_count", "GET", route] == 4
    assert found["fairshoe_request_seconds_count", "POST", "/v1/fails"] == 1
    assert found["fairshoe_requests_in_progress",] == 0


def test_no_caller_can_make_labels(app: Flask) -> None:
    """A series for each address or method would fill the memory of everything that reads them."""
    client = app.test_client()
    for number in range(50):
        client.get(f"/made/up/{number}")
        client.open(f"/v1/shoes/{number}", method=f"M{number}")
    keys = {key[1:] for key in read_counted() if key[0] == "fairshoe_requests_total"}
    assert keys == {("GET", "none", "404"), ("OTHER", "none", "405")}


def test_commits_are_counted_once_they_are_durable() -> None:
    ran: list[list[int]] = []

    def run(jobs: list[int]) -> None:
        ran.append(list(jobs))
        if len(jobs) == 3:
            raise RuntimeError("not durable")

    for jobs in ([1], [1, 2], [1, 2, 3]):
        try:
            timed(run)(jobs)  # type: ignore[arg-type]
        except RuntimeError:
            assert len(jobs) == 3
    found = read_counted()
    assert ran == [[1], [1, 2], [1, 2, 3]]
    assert (found["fairshoe_commit_writes_sum",], found["fairshoe_commit_writes_count",]) == (3, 2)
    assert (found["fairshoe_commit_writes_bucket", "1.0"], found["fairshoe_commit_writes_bucket", "2.0"]) == (1, 2)
    assert found["fairshoe_commit_seconds_count",] == 2


def test_deliveries_are_counted_by_result() -> None:
    for result in ("delivered", "failed", "delivered"):
        count_delivery(result)
    found = read_counted()
    assert found["fairshoe_webhook_deliveries_total", "delivered"] == 2
    assert found["fairshoe_webhook_deliveries_total", "failed"] == 1


PROCESSES = """
import os, sys
from pathlib import Path
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from api.meters import count_delivery, forget_process, instruments, share

share(Path(sys.argv[1]))
count_delivery("delivered")  # the server's own, before it forks
children = []
for number in range(3):
    child = os.fork()
    if not child:
        for _ in range(number + 1):
            count_delivery("delivered")
        instruments().in_progress.inc()
        os._exit(0)
    os.waitpid(child, 0)
    children.append(child)

def show():
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    lines = generate_latest(registry).decode().splitlines()
    print(*[line.split()[-1] for line in lines if line.startswith(("fairshoe_webhook", "fairshoe_requests_in"))])

show()
for child in children:
    forget_process(child)
show()
"""


def test_what_processes_count_is_added_up_and_what_the_dead_were_doing_forgotten(tmp_path: Path) -> None:
    """1 of the server, and 1 + 2 + 3 of its workers; three requests in progress, of workers that are dead then."""
    command = [sys.executable, "-c", PROCESSES, str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    first, second = (sorted(map(float, line.split())) for line in done.stdout.splitlines())
    assert (first, second) == ([3.0, 7.0], [0.0, 7.0])


def test_every_metric_begins_with_our_name_and_says_what_it_is() -> None:
    families = list(instruments().registry.collect())
    assert all(family.name.startswith("fairshoe_") and family.documentation for family in families)
    assert all(name.startswith("fairshoe_") and meaning for name, meaning in ASKED.items())
    assert len(families) == len(meters.Instruments.__dataclass_fields__) - 1
