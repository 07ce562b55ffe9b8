"""The contract that watches all other tests: it lets real answers pass, and no answer that was changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Response
from werkzeug.datastructures import Headers
from werkzeug.test import TestResponse

from tests.api.contract import BrokenContract, Contract, contract_of, watch
from tests.api.installation import SMALL, Installation

OPERATION = "tables.show_table"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(Path(tmp_path_factory.mktemp("contract")) / "house")
    watch(made.app)
    made.table(**SMALL)
    yield made
    made.stop()


@pytest.fixture
def contract(house: Installation) -> Contract:
    return contract_of(house.app)


@pytest.fixture
def shown(house: Installation) -> TestResponse:
    return house.client.get("/v1/tables/t")


def check(
    contract: Contract,
    answer: TestResponse,
    *,
    status: int | None = None,
    body: Callable[[Any], Any] = lambda found: found,
    headers: dict[str, str | None] | None = None,
    method: str = "GET",
) -> None:
    """Check an answer with some of it changed; a header that is None is left out."""
    changed = Headers(answer.headers)
    for name, value in (headers or {}).items():
        changed.remove(name)
        if value is not None:
            changed[name] = value
    contract.check(OPERATION, method, status or answer.status_code, changed, json.dumps(body(answer.json)).encode())


def test_a_real_answer_passes(contract: Contract, shown: TestResponse) -> None:
    check(contract, shown)
    check(contract, shown, headers={"ETag": None, "Server": "x", "Date": "y"})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"status": 201}, "does not know this status"),
        ({"status": 418}, "does not know this status"),
        ({"headers": {"Content-Type": "text/html"}}, "expected application/json, got text/html"),
        ({"headers": {"Content-Type": None}}, "got no media type"),
        ({"headers": {"X-Request-Id": None}}, "the header x-request-id is missing"),
        ({"headers": {"Cache-Control": None}}, "the header cache-control is missing"),
        ({"headers": {"Cache-Control": "public"}}, "the header cache-control is 'public'"),
        ({"headers": {"ETag": "bare"}}, "the header etag is 'bare'"),
        ({"headers": {"RateLimit": "5"}}, "the header ratelimit is '5'"),
        ({"headers": {"Set-Cookie": "a=b"}}, "does not know: set-cookie"),
        ({"headers": {"Retry-After": "1"}}, "does not know: retry-after"),
        ({"body": lambda table: {**table, "more": 1}}, "more"),
        ({"body": lambda table: {key: table[key] for key in table if key != "rules"}}, "rules"),
        ({"body": lambda table: {**table, "guests": 0}}, "guests"),
        ({"body": lambda table: {**table, "id": "T"}}, "id"),
        ({"body": lambda table: {**table, "created": "2026-01-31"}}, "created"),
        ({"body": lambda table: {**table, "live_shoe": "x"}}, "live_shoe"),
        ({"body": lambda table: {**table, "rules": {**table["rules"], "decks": 8.5}}}, "decks"),
        ({"body": lambda table: []}, r"\[\] is not of type"),
        ({"status": 304}, "expected no body"),
    ],
)
def test_an_answer_that_was_changed_does_not_pass(
    contract: Contract, shown: TestResponse, changes: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(BrokenContract, match=complaint):
        check(contract, shown, **changes)


def test_a_problem_passes_only_with_a_type_that_the_operation_declares(house: Installation, contract: Contract) -> None:
    refused = house.client.get("/v1/tables/none")
    check(contract, refused)
    for changed in ({"type": "urn:fairshoe:problem:no-book"}, {"status": 409}, {"next": ""}, {"why": "x"}):
        with pytest.raises(BrokenContract):
            check(contract, refused, body=lambda found, changed=changed: {**found, **changed})


def test_what_no_operation_answers_must_be_a_problem(house: Installation, contract: Contract) -> None:
    refused = house.client.get("/nowhere")
    contract.check(None, "GET", 404, refused.headers, refused.data)
    with pytest.raises(BrokenContract, match="expected a problem"):
        contract.check(None, "GET", 404, Headers({"Content-Type": "text/html"}), b"<h1>Not Found</h1>")
    with pytest.raises(BrokenContract):
        contract.check(None, "GET", 404, refused.headers, b"{}")


def test_heads_and_answers_that_are_kept_pass(house: Installation) -> None:
    first = house.client.get("/v1/tables/t")
    assert house.client.head("/v1/tables/t").status_code == 200
    assert house.client.get("/v1/tables/t", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert house.client.options("/v1/tables/t").status_code == 200
    assert house.client.delete("/v1/tables/t").status_code == 405


def test_a_broken_route_fails_the_test_that_asks(house: Installation) -> None:
    sound = house.app.view_functions[OPERATION]
    house.app.view_functions[OPERATION] = lambda **_: Response('{"id": "t"}', content_type="application/json")
    try:
        with pytest.raises(BrokenContract, match=r"GET tables\.show_table 200"):
            house.client.get("/v1/tables/t")
    finally:
        house.app.view_functions[OPERATION] = sound
    assert house.client.get("/v1/tables/t").status_code == 200
