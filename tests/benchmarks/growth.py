"""What a million coups add: bytes of the database on either kind, and of its backup.

Coups of 8-deck tables are dealt by the real use cases, their shoes opened, sealed and revealed with them; what the
files gain is scaled up. ``python -m tests.benchmarks.growth [COUPS]``; no timing, so the machine does not matter.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import text

from api import create_app
from api.backup.making import make_backup
from api.batch import Writer
from api.cases.dealing import deal_coup
from api.commits import Job
from api.routes.exchange import SERVICE
from api.service import Service
from api.settings import Settings
from api.world import real_world
from tests.api.postgres import Postgres

COUPS = 20_000
TABLES = 64
DEADLINES = {"lock_in_s": 86_400, "seal_in_s": 86_400, "reveal_in_s": 86_400}

MODES = {"one coup a transaction": 1, f"{TABLES} coups a transaction": TABLES}
"""How many coups share a checkpoint: at a quiet table each has its own, under load many wait together."""


@dataclass
class House:
    """A service with a live shoe at each of its tables."""

    folder: Path
    url: str | None
    requests: int = 0
    shoes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.app = create_app(Settings(self.folder, "growth.example/log", self.url), real_world())
        for table in range(TABLES):
            self.post("/tables", {"id": f"t{table}", "preset": "np_punto_banco", "overrides": {"entropy": "house"}})
            self.post(f"/tables/t{table}/books", {"size": 1000})
        self.shoes = [self.open(table) for table in range(TABLES)]

    @property
    def service(self) -> Service:
        service = self.app.extensions[SERVICE]
        assert isinstance(service, Service)
        return service

    def post(self, path: str, body: dict[str, Any] | None = None, *, claimed: bool = False) -> Any:
        self.requests += 1
        headers = {"Idempotency-Key": f"01a22ce6-cd5c-7bfb-a297-{self.requests:012x}"} if claimed else {}
        answer = self.app.test_client().post(f"/v1{path}", json=body or {}, headers=headers)
        assert answer.status_code == 201, answer.text
        return answer.json

    def open(self, table: int, *, claimed: bool = False) -> str:
        shoe = str(self.post(f"/tables/t{table}/shoes", DEADLINES, claimed=claimed)["shoe"])
        for step in ("lock", "seal"):
            self.post(f"/shoes/{shoe}/{step}", claimed=claimed)
        return shoe

    def deal_apart(self, table: int, *, claimed: bool) -> None:
        """Deal a coup by a request of its own, and open the next shoe where it was the last."""
        if self.post(f"/shoes/{self.shoes[table]}/coups", claimed=claimed)["ended"]:
            self.shoes[table] = self.open(table, claimed=claimed)

    def deal_together(self) -> None:
        """Deal a coup at every table in one transaction, as the queue of writers does for those that wait together."""
        jobs = [Job(deal_coup(self.service, shoe)) for shoe in self.shoes]
        service = self.service
        Writer(service.store, service.log, service.world, service.permit).run(jobs)
        for table, job in enumerate(jobs):
            if job.result().reveal is not None:
                self.shoes[table] = self.open(table)

    def deal(self, coups: int, at_once: int, *, claimed: bool) -> int:
        """Deal so many coups, round by round; give their number."""
        for _ in range(0, coups, TABLES):
            if at_once > 1:
                self.deal_together()
                continue
            for table in range(TABLES):
                self.deal_apart(table, claimed=claimed)
        return -(-coups // TABLES) * TABLES

    def sizes(self) -> dict[str, int]:
        """Bytes of the database and of a backup made now; nothing is packed that a running service would not pack."""
        backup = self.folder / "backup"
        make_backup(self.service.store, backup)
        found = {"database": self._database_bytes(), "backup": backup.stat().st_size}
        backup.unlink()
        return found

    def _database_bytes(self) -> int:
        if self.url is None:
            with closing(self.service.store.engine.raw_connection()) as connection:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return (self.folder / "fairshoe.sqlite3").stat().st_size
        with self.service.store.engine.connect() as connection:
            return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)


@contextmanager
def databases() -> Iterator[Sequence[tuple[str, Any]]]:
    """Both kinds, each with what makes a new database: a URL, or None for SQLite's file."""
    with Postgres() as server:
        yield (("SQLite", lambda: None), ("PostgreSQL", server.create_database))


def growth(coups: int = COUPS) -> None:
    """Print what a million coups add, with and without the answers that are kept for those who repeat a request."""
    with databases() as kinds:
        for kind, new in kinds:
            for mode, at_once in MODES.items():
                _print(f"{kind}, {mode}", _measure(new(), coups, at_once, claimed=False))
            _print(f"{kind}, one a transaction, answers kept", _measure(new(), coups, 1, claimed=True))


def _measure(url: str | None, coups: int, at_once: int, *, claimed: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder) / "house", url)
        before = house.sizes()
        dealt = house.deal(coups, at_once, claimed=claimed)
        after = house.sizes()
        house.service.store.engine.dispose()
    return {name: (after[name] - before[name]) / dealt * 1e6 for name in before}


def _print(what: str, per_million: dict[str, float]) -> None:
    sizes = ", ".join(f"{name} {size / 1e9:.2f} GB" for name, size in per_million.items())
    sys.stdout.write(f"{what:<46} {sizes} a million coups\n")
    sys.stdout.flush()


if __name__ == "__main__":
    growth(int(sys.argv[1]) if len(sys.argv) > 1 else COUPS)
