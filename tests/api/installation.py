"""A whole installation in a folder, driven through Flask's client: a settable clock, bytes from a counter."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api import create_app
from api.routes.exchange import SERVICE
from api.service import Service
from api.settings import Settings
from api.world import World
from shoe.errors import ProofError
from shoe.proof.note import parse_vkey
from shoe.proof.seeds import commit_seed
from shoe.proof.tlog import Receipt, check_receipt, parse_receipt
from shoe.proof.verify import Evidence, Verification, verify_bundle
from tests.api.contract import watch
from tests.api.credentials import Signing, Tokens

ORIGIN = "fairshoe.example/log"
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
DEADLINES = {"lock_in_s": 60, "seal_in_s": 120, "reveal_in_s": 3600}
URN = "urn:fairshoe:problem:"

ON_SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
ON_POSTGRESQL = pytest.mark.parametrize("database", ["postgresql"], indirect=True)
"""Marks of tests that look at what only one database has."""

NO_LIMITS: Mapping[str, Any] = {"writes_per_minute": 0, "seat_writes_per_minute": 0, "reads_per_minute": 0}
"""Tests ask more often than any client does."""

VECTORS = Path(__file__).parents[1] / "vectors"
Found = Callable[..., "Installation"]
"""The fixture that founds an installation in a folder of the name given, with settings of its own."""

BEACON = json.loads(json.loads((VECTORS / "protocol.json").read_text())[2]["transcript"])["beacon"]
ROUND, SIGNATURE = BEACON["round"], BEACON["signature"]
"""drand quicknet's round 657413 and its signature, as drand serves them."""

BEFORE_ROUND = datetime.fromtimestamp(1_692_803_367 + (ROUND - 1) * 3, UTC) - timedelta(seconds=60)
"""A minute before the round was due: quicknet's genesis and period are drand's chain information."""

HOUSE = {"entropy": "house"}
SMALL = {"entropy": "house", "decks": 1}
EVERY_COUP = {"entropy": "house", "shuffle": "coup", "cut": None, "coups": 5}


class Clock:
    """The time that a test sets."""

    def __init__(self, moment: datetime = NOON) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment

    def forward(self, seconds: float) -> None:
        self.moment += timedelta(seconds=seconds)


class Chance:
    """Bytes from SHA-256 over a counter, every draw kept: a test can say what nobody else may know."""

    def __init__(self, start: int = 0) -> None:
        self.count = start
        self.drawn: list[bytes] = []

    def __call__(self, size: int) -> bytes:
        self.count += 1
        self.drawn.append(hashlib.shake_256(b"chance %d" % self.count).digest(size))
        return self.drawn[-1]


def published_round_only(number: int, signature: bytes) -> None:
    """Accept the one signature that tests/vectors holds, without pairings."""
    if (number, signature.hex()) != (ROUND, SIGNATURE):
        raise ProofError(f"not the signature of round {number}")


@dataclass
class Installation:
    """A service in a folder, and the steps a client takes; a step must succeed unless the test asks otherwise."""

    folder: Path
    clock: Clock = field(default_factory=Clock)
    chance: Chance = field(default_factory=Chance)
    check_signature: Callable[[int, bytes], None] | None = published_round_only
    origin: str | None = ORIGIN
    database_url: str | None = None
    further: Mapping[str, Any] = field(default_factory=dict)
    app: Flask = field(init=False)
    tokens: Tokens = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        settings = Settings(self.folder, self.origin, self.database_url, **{**NO_LIMITS, **self.further})
        self.app = create_app(settings, World(self.clock, self.chance), self.check_signature)
        self.app.test_client_class = Signing
        watch(self.app)
        key = settings.operator_key
        self.tokens = Tokens(key.read_text().strip() if key.exists() else "fsk_" + "0" * 43)

    def stop(self) -> None:
        self.service.store.engine.dispose()

    @property
    def client(self) -> Signing:
        client = self.app.test_client()
        assert isinstance(client, Signing)
        client.tokens = self.tokens
        return client

    @property
    def service(self) -> Service:
        service = self.app.extensions[SERVICE]
        assert isinstance(service, Service)
        return service

    def get(self, path: str, status: int = 200) -> Any:
        response = self.client.get(f"/v1{path}")
        assert response.status_code == status, response.text
        return response.json

    def post(self, path: str, body: Mapping[str, Any] | None = None, status: int = 201) -> Any:
        response = self.client.post(f"/v1{path}", json={} if body is None else body)
        assert response.status_code == status, response.text
        return response.json

    def refuse(self, path: str, body: Mapping[str, Any] | None, slug: str, status: int) -> str:
        """Post what must be refused so, and change nothing in the log; give the detail."""
        before = self.checkpoint()
        response = self.client.post(f"/v1{path}", json={} if body is None else body)
        assert self.checkpoint() == before
        return problem_of(response, slug, status)

    def checkpoint(self) -> str:
        return self.client.get("/checkpoint").text

    def size(self) -> int:
        return int(self.checkpoint().split("\n")[1])

    def table(self, table: str = "t", book: int = 4, **overrides: Any) -> str:
        """A table of the preset with overrides, its first book published."""
        self.post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": overrides})
        self.post(f"/tables/{table}/books", {"size": book})
        return table

    def open(self, table: str = "t", **plan: int) -> str:
        return str(self.post(f"/tables/{table}/shoes", {**DEADLINES, **plan})["shoe"])

    def sealed(self, table: str = "t") -> str:
        """Open, lock and seal a shoe of a table without contributions."""
        shoe = self.open(table)
        self.post(f"/shoes/{shoe}/lock")
        self.post(f"/shoes/{shoe}/seal")
        return shoe

    def deal_out(self, shoe: str) -> list[Any]:
        """Deal a sealed shoe to its end; give every answer."""
        answers = []
        while not answers or not answers[-1]["ended"]:
            answers.append(self.post(f"/shoes/{shoe}/coups"))
        return answers

    def commit(self, shoe: str, seed: str) -> Any:
        return self.post(f"/shoes/{shoe}/entropy", {"seed_commitment": commit_seed(seed).hex()})

    def bundle(self, shoe: str, query: str = "") -> Any:
        return self.get(f"/shoes/{shoe}/bundle{query}")

    def verify(self, shoe: str, *receipts: str, **evidence: Any) -> Verification:
        """Verify a shoe's bundle offline, with the log's key and with receipts that the test kept."""
        vkey = parse_vkey(self.client.get("/v1/log/key").text.strip())
        kept = tuple(map(parse_receipt, receipts))
        return verify_bundle(self.bundle(shoe), Evidence((vkey,), kept, **evidence))

    def receipt(self, logged: Mapping[str, Any]) -> Receipt:
        """The receipt in an answer, checked under the log's key: record and index are those of the answer."""
        receipt = parse_receipt(logged["receipt"])
        index, _ = check_receipt(receipt, [parse_vkey(self.client.get("/v1/log/key").text.strip())], ORIGIN)
        assert (receipt.record.decode(), index) == (logged["record"], logged["index"])
        return receipt


def problem_of(response: TestResponse, slug: str, status: int) -> str:
    """The detail of an answer that must be this problem, in the one form all problems have (RFC 9457)."""
    body = response.json
    assert (response.status_code, body and body["type"]) == (status, URN + slug), response.text
    assert response.content_type == "application/problem+json"
    assert set(body) == {"type", "title", "status", "detail", "next"}
    assert body["status"] == status
    assert all(body[key] for key in body)
    return str(body["detail"])
