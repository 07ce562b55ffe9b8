"""HTTP itself: bodies, media types, methods, sizes, headers, caching; and errors that show nothing of the inside."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.problems import INTERNAL
from api.refusals import NOT_FOUND, Kind
from tests.api.installation import EVERY_COUP, SMALL, Installation, problem_of

CONTENT_TYPE = "application/json"


def send(
    house: Installation, body: bytes, content_type: str | None = CONTENT_TYPE, path: str = "/tables"
) -> TestResponse:
    return house.client.post(f"/v1{path}", data=body, content_type=content_type)


# --- bodies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b"{", "body: not JSON at character 1"),
        (b"nothing", "body: not JSON at character 0"),
        (b'{"id":"t"} {}', "body: not JSON at character"),
        (b'{"id":"t","id":"u"}', "body: duplicate key: expected each key once, got 'id'"),
        (b'{"overrides":{"decks":1,"decks":2}}', "body: duplicate key: expected each key once, got 'decks'"),
        (b'{"size":1.0}', "body: number: expected an integer, got '1.0'"),
        (b'{"size":1e3}', "body: number: expected an integer, got '1e3'"),
        (b'{"size":NaN}', "body: number: expected an integer, got 'NaN'"),
        (b'{"size":-Infinity}', "body: number: expected an integer"),
        (b'{"size":9007199254740992}', "body: number: expected an integer below 2^53"),
        (b'{"size":-0}', "body: number: expected an integer below 2^53"),
        (b'{"id":"\xff"}', "body: "),
        (b"\xef\xbb\xbf{}", "body: "),
        (b"[" * 100_000, "body: "),
        (b"9" * 10_000, "body: number: expected an integer below 2^53"),
    ],
)
def test_what_is_not_strict_json_is_malformed(house: Installation, body: bytes, detail: str) -> None:
    assert detail in problem_of(send(house, body), "malformed-json", 400)


@pytest.mark.parametrize("body", [b"[]", b"7", b'"t"', b"null", b"true"])
def test_json_that_is_no_object_is_invalid(house: Installation, body: bytes) -> None:
    assert "the document: Input should be" in problem_of(send(house, body), "invalid", 422)


@pytest.mark.parametrize(
    "content_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", "x"]
)
def test_a_body_of_another_media_type_is_refused(house: Installation, content_type: str | None) -> None:
    said = problem_of(send(house, b'{"preset":"np_punto_banco"}', content_type), "unsupported-media-type", 415)
    assert repr(content_type or "nothing") in said


@pytest.mark.parametrize("content_type", [CONTENT_TYPE, "Application/JSON", "application/json; charset=utf-8"])
def test_json_may_name_its_charset(house: Installation, content_type: str) -> None:
    assert send(house, b' {"preset" : "np_punto_banco"}\n', content_type).status_code == 201


def test_a_step_that_takes_nothing_takes_no_body_at_all(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    assert house.client.post(f"/v1/shoes/{shoe}/lock").status_code == 201
    assert send(house, b'{"count":0}', path=f"/shoes/{shoe}/seal").status_code == 422
    assert send(house, b"{}", path=f"/shoes/{shoe}/seal").status_code == 201


def test_an_unknown_key_is_named_but_not_at_length(house: Installation) -> None:
    body = json.dumps({"preset": "np_punto_banco", "k" * 5000: "a-secret-value"}).encode()
    said = problem_of(send(house, body), "invalid", 422)
    assert said == f"{'k' * 80}: Extra inputs are not permitted"


def test_a_lone_surrogate_is_invalid(house: Installation) -> None:
    assert problem_of(send(house, b'{"preset":"\\ud800"}'), "invalid", 422)
    assert problem_of(send(house, b'{"\\ud800":1}'), "invalid", 422)


def test_no_refusal_repeats_a_seed(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    for path, body in (
        ("entropy", {"seed": "my seed"}),
        ("entropy", {"seed": ["my seed"]}),
        ("entropy", {"seed": "myseed", "more": 1}),
        ("seeds", {"position": 0, "seed": {"my seed": 1}}),
        ("seeds", {"position": 0, "seed": "my seed"}),
    ):
        assert "my seed" not in send(house, json.dumps(body).encode(), path=f"/shoes/{shoe}/{path}").text


# --- sizes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "limit"), [("/tables", 2**20), ("/shoes/x/lock", 2**20), ("/verify", 2**24)])
def test_a_body_over_the_limit_is_too_large(house: Installation, path: str, limit: int) -> None:
    fits = b'{"id":"' + b"x" * (limit - 9) + b'"}'
    assert len(fits) == limit
    assert send(house, fits, path=path).status_code == 422
    problem_of(send(house, fits + b" ", path=path), "too-large", 413)


# --- addresses ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/v1",
        "/v1/",
        "/v2/tables",
        "/v1/tables/",
        "/v1/tables/t",
        "/v1/tables/t/books",
        "/v1/tables/%00",
        "/v1/tables/%FF",
        "/v1/tables/..%2f",
        "/v1/shoes/x",
        "/v1/shoes/x/state",
        "/v1/shoes/x/records",
        "/v1/shoes/x/coups",
        "/v1/shoes/x/coups/0",
        "/v1/shoes/x/bundle",
        "/v1/shoes/x/roads",
        "/v1/log/entries/2",
        "/v1/log/entries/-1",
        "/v1/log/entries/+1",
        "/v1/log/entries/01",
        "/v1/log/entries/1_0",
        "/v1/log/entries/%D9%A1",
        "/v1/log/entries/99999999999999999999",
        "/static/x",
    ],
)
def test_what_is_not_there_is_not_found(house: Installation, path: str) -> None:
    problem_of(house.client.get(path), "not-found", 404)


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/v1/tables", {"GET", "HEAD", "OPTIONS", "POST"}),
        ("PUT", "/v1/tables/t", {"GET", "HEAD", "OPTIONS"}),
        ("GET", "/v1/shoes/x/lock", {"OPTIONS", "POST"}),
        ("GET", "/v1/verify", {"OPTIONS", "POST"}),
        ("POST", "/v1/log/checkpoint", {"GET", "HEAD", "OPTIONS"}),
        ("PATCH", "/livez", {"GET", "HEAD", "OPTIONS"}),
    ],
)
def test_another_method_is_not_allowed_and_those_that_are_are_named(
    house: Installation, method: str, path: str, allowed: set[str]
) -> None:
    response = house.client.open(path, method=method)
    problem_of(response, "method-not-allowed", 405)
    assert set(response.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/tables?limit=0", "limit: Input should be greater than or equal to 1"),
        ("/tables?limit=1001", "limit: Input should be less than or equal to 1000"),
        ("/tables?limit=+5", "limit: Value error, number: expected decimal digits"),
        ("/tables?limit=1_0", "limit: Value error, number: expected decimal digits"),
        ("/tables?limit=٣", "limit: Value error, number: expected decimal digits"),
        ("/tables?limit=5.0", "limit: Value error, number: expected decimal digits"),
        ("/tables?limit=5&limit=5", "query: expected each key once, got one twice"),
        ("/tables?offset=5", "offset: Extra inputs are not permitted"),
        ("/tables/t/books?after=x", "after: String should match pattern"),
        ("/log/proof/inclusion", "index: Field required"),
        ("/log/proof/inclusion?index=2", "leaf index: expected 0 ≤ index < 2, got 2"),
        ("/log/proof/inclusion?index=0&size=0", "size: expected a size 1…2, got 0"),
        ("/log/proof/inclusion?index=0&size=3", "size: expected a size 1…2, got 3"),
        ("/log/proof/inclusion?index=-1", "index: Value error"),
        ("/log/proof/inclusion?index=9007199254740992", "index: Input should be less than"),
        ("/log/proof/consistency?new=2", "old: Field required"),
        ("/log/proof/consistency?old=2&new=1", "old size: expected 0 ≤ old ≤ 1, got 2"),
        ("/log/proof/consistency?old=1&new=3", "new: expected a size 1…2, got 3"),
        ("/statistics/rules?table=T", "table: String should match pattern"),
        ("/statistics/rules?from=2026-01-31", "from: Value error, time: expected a time such as"),
        ("/statistics/outcomes?to=2026-02-30T00:00:00.000000Z", "to: Value error, time: expected a real date"),
        ("/statistics/rules?from_=2026-01-31T00:00:00.000000Z", "from_: Extra inputs are not permitted"),
    ],
)
def test_a_query_that_is_not_allowed_is_invalid(house: Installation, path: str, detail: str) -> None:
    house.table()
    assert detail in problem_of(house.client.get(f"/v1{path}"), "invalid", 422)


# --- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/livez"), ("GET", "/v1/tables"), ("GET", "/checkpoint"), ("GET", "/nowhere"), ("POST", "/v1/tables")],
)
def test_every_answer_has_its_security_headers(house: Installation, method: str, path: str) -> None:
    headers = house.client.open(path, method=method).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert headers["Referrer-Policy"] == "no-referrer"
    kept = {"/livez": "private, no-cache", "/v1/tables": "no-cache" if method == "GET" else "no-store"}
    assert headers["Cache-Control"] == kept.get(path, "no-store")


def test_what_can_never_change_may_be_kept(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    texts = ["/v1/log/checkpoint", f"/v1/shoes/{shoe}/bundle"]
    assert {house.client.get(path).headers["Cache-Control"] for path in texts} == {"no-store"}
    live = [f"/v1/shoes/{shoe}/records", f"/v1/shoes/{shoe}/coups"]
    assert {house.client.get(path).headers["Cache-Control"] for path in live} == {"no-cache"}
    house.deal_out(shoe)
    for path in ("/v1/log/entries/0", f"/v1/shoes/{shoe}/records", f"/v1/shoes/{shoe}/coups"):
        first = house.client.get(path)
        assert "immutable" in first.headers["Cache-Control"]
        again = house.client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
        other = house.client.get(path, headers={"If-None-Match": '"other"'})
        assert (other.status_code, other.data) == (200, first.data)


def test_entries_are_the_records_bytes(house: Installation) -> None:
    response = house.client.get("/v1/log/entries/0")
    assert response.content_type == CONTENT_TYPE
    assert response.data.startswith(b'{"log":"fairshoe.example/log","protocol":"fairshoe/1"')


def test_the_service_says_what_it_is(house: Installation) -> None:
    assert house.client.get("/livez").json == {"status": "ok"}
    said = house.client.get("/version").json
    assert said is not None
    assert (said["name"], said["protocol"], said["log"]) == ("fairshoe", "fairshoe/1", "fairshoe.example/log")


def test_the_checkpoint_is_plain_text_in_both_places(house: Installation) -> None:
    one, two = house.client.get("/checkpoint"), house.client.get("/v1/log/checkpoint")
    assert one.text == two.text
    assert (one.content_type, two.content_type) == ("text/plain; charset=utf-8",) * 2


def test_lists_come_in_pages(house: Installation) -> None:
    for table in ("c", "a", "b"):
        house.table(table)
    pages, after = [], ""
    while after is not None:
        answer = house.get(f"/tables?limit=2{after and f'&after={after}'}")
        pages.append([table["id"] for table in answer["tables"]])
        after = answer["next"]
    assert pages == [["a", "b"], ["c"]]


@pytest.mark.parametrize(("name", "key"), [("records", "seq"), ("coups", "number")])
def test_a_shoes_lists_come_in_pages(house: Installation, name: str, key: str) -> None:
    house.table(**SMALL)
    shoe = house.sealed()
    house.deal_out(shoe)
    whole = house.get(f"/shoes/{shoe}/{name}")
    seen: list[Any] = []
    after = ""
    while after is not None:
        answer = house.get(f"/shoes/{shoe}/{name}?limit=3{after and f'&after={after}'}")
        seen += answer[name]
        after = answer["next"]
    assert (seen, whole["next"]) == (whole[name], None)
    assert [item[key] for item in seen] == list(range(len(seen)))


def test_books_come_in_pages(house: Installation) -> None:
    house.table()
    house.post("/tables/t/books", {"size": 1})
    first = house.get("/tables/t/books?limit=1")
    second = house.get(f"/tables/t/books?limit=1&after={first['next']}")
    assert [first["books"][0]["size"], second["books"][0]["size"]] == [4, 1]
    assert house.get(f"/tables/t/books?after={second['next']}") == {"books": [], "next": None}


# --- faults ------------------------------------------------------------------------------------


def broken(house: Installation) -> Flask:
    """The application with a route that fails as a bug would."""
    house.app.add_url_rule("/bug", view_func=lambda: {}["the inner secret"])
    return house.app


def test_a_fault_shows_nothing_and_is_logged(house: Installation, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = broken(house).test_client().get("/bug")
    problem_of(response, "internal", 500)
    assert "secret" not in response.text
    assert "KeyError" not in response.text
    assert "the inner secret" in caplog.text
    assert response.headers["Cache-Control"] == "no-store"


def test_a_fault_stays_a_problem_where_exceptions_would_propagate(house: Installation) -> None:
    app = broken(house)
    app.testing = True
    problem_of(app.test_client().get("/bug"), "internal", 500)


def test_types_are_urns_that_do_not_change() -> None:
    assert NOT_FOUND.type == "urn:fairshoe:problem:not-found"
    assert INTERNAL.type == "urn:fairshoe:problem:internal"
    assert Kind("a", 409, "t", "n").type == "urn:fairshoe:problem:a"
