"""Headers: who may read an answer from a web page, what may be kept and for how long, and a request's own id.

The fields are those of the Fetch standard (CORS), RFC 9110 (conditional requests) and RFC 9111 (caching).
"""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.routes.endpoint import endpoints_of
from tests.api.installation import EVERY_COUP, HOUSE, ON_SQLITE, SMALL, Found, Installation, problem_of

pytestmark = ON_SQLITE

PAGE = "https://casino.example"
OTHER = "https://elsewhere.example"
ANSWERS: tuple[tuple[str, str, dict[str, str], int], ...] = (
    ("GET", "/livez", {}, 200),
    ("GET", "/v1/tables", {}, 200),
    ("GET", "/v1/keys", {}, 200),
    ("GET", "/nowhere", {}, 404),
    ("GET", "/v1/keys", {"Authorization": "none"}, 401),
    ("GET", "/v1/tables", {"Authorization": "Bearer x"}, 401),
    ("POST", "/v1/livez", {}, 404),
    ("POST", "/livez", {}, 405),
    ("POST", "/v1/tables", {"Content-Type": "text/plain"}, 422),
    ("OPTIONS", "/v1/tables", {}, 200),
    ("HEAD", "/v1/tables", {}, 200),
)
"""An answer of each kind: given, refused by the guard, by a route, by the routing; and those without a body."""

of_each_kind = pytest.mark.parametrize(("method", "path", "headers", "status"), ANSWERS)


def ask(house: Installation, path: str, method: str = "GET", **headers: str) -> TestResponse:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return house.client.open(path, method=method, headers=sent)


def preflight(house: Installation, path: str, method: str, origin: str = PAGE, asked: str = "") -> TestResponse:
    """What a browser sends before a page's request, which never has a credential."""
    headers = {"Origin": origin, "Authorization": "none", "Access-Control-Request-Method": method}
    if asked:
        headers["Access-Control-Request-Headers"] = asked
    return house.client.open(path, method="OPTIONS", headers=headers)


# --- protection --------------------------------------------------------------------------------


@of_each_kind
def test_every_answer_keeps_browsers_from_taking_it_for_else(
    house: Installation, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = house.client.open(path, method=method, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in answer.headers


def test_no_page_may_run_or_load_anything_from_elsewhere(house: Installation) -> None:
    for path in ("/docs", "/v1/tables"):
        policy = house.client.get(path).headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"https?:|\*", policy)


# --- pages elsewhere ---------------------------------------------------------------------------


@of_each_kind
def test_any_page_may_read_any_answer_by_default(
    house: Installation, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = house.client.open(path, method=method, headers={**headers, "Origin": PAGE})
    assert answer.status_code == status
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    # Tokens come by header, never by themselves: a page that has none may read only what anyone may.
    assert "Access-Control-Allow-Credentials" not in answer.headers
    exposed = answer.headers["Access-Control-Expose-Headers"].split(", ")
    assert {"ETag", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"} <= set(exposed)


def test_every_endpoint_answers_a_browsers_question_before_the_request(house: Installation) -> None:
    """Fetch: the question bears no credential, and must be answered with an ok status."""
    wrong = []
    for endpoint in endpoints_of(house.app).values():
        answer = preflight(house, re.sub(r"{\w+}", "x", endpoint.path), endpoint.method, asked="authorization")
        methods = answer.headers.get("Access-Control-Allow-Methods", "").split(", ")
        named = answer.headers.get("Access-Control-Allow-Headers", "").lower().split(", ")
        if answer.status_code not in (200, 204) or endpoint.method not in methods or "authorization" not in named:
            wrong.append(f"{endpoint.method} {endpoint.path}: {answer.status_code} {methods} {named}")
    assert wrong == []


def test_a_page_may_send_what_the_interface_takes(house: Installation) -> None:
    answer = preflight(house, "/v1/tables", "POST", asked="content-type")
    named = answer.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key", "if-none-match", "x-request-id"} <= set(named)
    assert int(answer.headers["Access-Control-Max-Age"]) > 0


def test_without_a_browsers_question_none_is_answered(house: Installation) -> None:
    answer = house.client.open("/v1/tables", method="OPTIONS", headers={"Origin": PAGE})
    assert "Access-Control-Allow-Methods" not in answer.headers
    assert sorted(answer.headers["Allow"].split(", ")) == ["GET", "HEAD", "OPTIONS", "POST"]


@pytest.mark.parametrize(
    "origin", [OTHER, "null", f"{PAGE}:444", f"{PAGE}.evil.example", "http://casino.example", PAGE.upper(), "é", ""]
)
def test_only_pages_that_were_named_may_read(found: Found, origin: str) -> None:
    house = found(further={"cors": (PAGE,)})
    named = ask(house, "/v1/tables", Origin=PAGE)
    assert named.headers["Access-Control-Allow-Origin"] == PAGE
    assert "Origin" in named.headers["Vary"]
    answer = house.client.get("/v1/tables", headers={"Origin": origin})
    assert answer.status_code == 200
    assert not [name for name, _ in answer.headers if name.startswith("Access-Control-")]
    assert "Origin" in answer.headers["Vary"]
    assert "Access-Control-Allow-Methods" not in preflight(house, "/v1/tables", "POST", origin=origin).headers


def test_of_several_pages_each_is_told_its_own_name(found: Found) -> None:
    house = found(further={"cors": (PAGE, OTHER)})
    assert [ask(house, "/livez", Origin=page).headers["Access-Control-Allow-Origin"] for page in (PAGE, OTHER)] == [
        PAGE,
        OTHER,
    ]


def test_no_page_may_read_where_none_is_named(found: Found) -> None:
    house = found(further={"cors": ()})
    for answer in (ask(house, "/livez", Origin=PAGE), preflight(house, "/v1/tables", "POST")):
        assert not [name for name, _ in answer.headers if name.startswith("Access-Control-")]


# --- a request's id ----------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["a", "a" * 64, "8e03978e-40d5-43e8-bc93-6894a57f9324", "A.b_c-9"])
@pytest.mark.parametrize(("path", "status"), [("/livez", 200), ("/nowhere", 404), ("/v1/keys/x", 404)])
def test_a_requests_own_id_comes_back(house: Installation, given: str, path: str, status: int) -> None:
    answer = ask(house, path, X_Request_Id=given)
    assert (answer.status_code, answer.headers["X-Request-Id"]) == (status, given)


@pytest.mark.parametrize("given", ["", " ", "a b", "a" * 65, "ü", "a,b", "a\tb", "<script>", "a;b", "%0d%0a", '"'])
def test_an_id_that_could_spoil_a_journal_is_not_taken(house: Installation, given: str) -> None:
    answer = house.client.get("/livez", headers={"X-Request-Id": given})
    assert answer.status_code == 200
    assert str(uuid.UUID(answer.headers["X-Request-Id"])) == answer.headers["X-Request-Id"]


@of_each_kind
def test_every_answer_has_an_id_of_its_own(
    house: Installation, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    ids = [house.client.open(path, method=method, headers=headers).headers["X-Request-Id"] for _ in range(3)]
    assert status
    assert len(set(ids)) == 3


# --- what may be kept --------------------------------------------------------------------------


def control(house: Installation, path: str) -> str:
    return str(house.client.get(path).headers["Cache-Control"])


def test_what_is_for_the_caller_alone_is_not_kept(house: Installation) -> None:
    house.table(**HOUSE)
    seat = house.post("/tables/t/seats")
    key = house.post("/keys", {"roles": ["client"]})
    for path in ("/v1/me", "/v1/keys", f"/v1/keys/{key['id']}"):
        # No cache that others use may keep it, and its own holder asks whether it is still so.
        assert control(house, path) in ("no-store", "private, no-cache"), path
    for path in ("/v1/keys/nowhere", "/nowhere"):
        assert control(house, path) == "no-store", path
    for path, body in (("/v1/keys", {"roles": ["client"]}), ("/v1/tables/t/seats", {})):
        answer = house.client.post(path, json=body)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
        assert "ETag" not in answer.headers
    assert seat["token"] not in house.client.get("/v1/me").text


def test_a_refused_request_is_not_kept_where_its_answer_would_be(house: Installation) -> None:
    house.table(**HOUSE)
    for headers, status in (({"Authorization": "Bearer x"}, 401), ({}, 404)):
        path = "/v1/tables/t" if status == 401 else "/v1/tables/u"
        answer = house.client.get(path, headers=headers)
        assert (answer.status_code, answer.headers["Cache-Control"]) == (status, "no-store")


POLLED = ("/v1/tables", "/v1/tables/t", "/v1/tables/t/books", "/v1/shoes/{}", "/v1/shoes/{}/state",
          "/v1/shoes/{}/coups",
          "/v1/shoes/{}/roads", "/v1/statistics/outcomes")  # fmt: skip


@pytest.mark.parametrize("path", POLLED)
def test_who_asks_again_is_told_at_little_cost_whether_it_changed(house: Installation, path: str) -> None:
    house.table(**EVERY_COUP)
    path = path.format(house.sealed())
    first = house.client.get(path)
    assert first.headers["Cache-Control"] == "no-cache"
    tag = first.headers["ETag"]
    for given in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = ask(house, path, If_None_Match=given)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)
        assert "Content-Type" not in again.headers
        assert again.headers["Cache-Control"] == "no-cache"
        assert again.headers["X-Request-Id"]
    for given in ('"other"', "", "nonsense"):
        assert ask(house, path, If_None_Match=given).data == first.data
    head = ask(house, path, "HEAD", If_None_Match=tag)
    assert (head.status_code, head.data) == (304, b"")


def test_the_tag_changes_with_what_it_stands_for(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    paths = [f"/v1/shoes/{shoe}", f"/v1/shoes/{shoe}/state", f"/v1/shoes/{shoe}/coups", f"/v1/shoes/{shoe}/roads"]
    tags = {path: house.client.get(path).headers["ETag"] for path in paths}
    house.post(f"/shoes/{shoe}/coups")
    for path, tag in tags.items():
        changed = ask(house, path, If_None_Match=tag)
        assert (changed.status_code, changed.headers["ETag"] == tag) == (200, False), path


def test_a_tag_lets_nobody_in(house: Installation) -> None:
    house.table(**EVERY_COUP)
    path = f"/v1/shoes/{house.sealed()}/state"
    tag = house.client.get(path).headers["ETag"]
    problem_of(ask(house, path, If_None_Match=tag, Authorization="none"), "unauthenticated", 401)


def test_what_has_ended_never_changes_and_may_be_kept_for_good(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    paths = [f"/v1/shoes/{shoe}/records", f"/v1/shoes/{shoe}/coups"]
    assert {control(house, path) for path in paths} == {"no-cache"}
    house.deal_out(shoe)
    paths.append("/v1/log/entries/0")
    for path in paths:
        kept = house.client.get(path)
        directives = kept.headers["Cache-Control"].split(", ")
        assert {"public", "immutable"} <= set(directives), path
        again = ask(house, path, If_None_Match=kept.headers["ETag"])
        assert (again.status_code, again.headers["Cache-Control"]) == (304, kept.headers["Cache-Control"])


def test_what_may_be_kept_for_good_is_the_same_afterwards(house: Installation) -> None:
    """Every address that was ever called immutable, asked again once more has happened."""
    house.table(**SMALL)
    kept: dict[str, bytes] = {}
    for _ in range(2):
        shoe = house.sealed()
        house.post(f"/shoes/{shoe}/coups")
        house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
        addresses = [f"/v1/shoes/{shoe}/{what}" for what in ("records", "coups", "records?limit=1", "coups?after=0")]
        addresses += [f"/v1/log/entries/{index}" for index in range(house.size())]
        addresses += [f"/tile/0/000.p/{house.size()}", f"/tile/entries/000.p/{house.size()}"]
        for address in addresses:
            answer = house.client.get(address)
            if "immutable" in answer.headers["Cache-Control"]:
                kept.setdefault(address, answer.data)
    assert len(kept) > 20
    assert {address: house.client.get(address).data for address in kept} == kept


def test_a_head_is_the_get_without_its_body(house: Installation) -> None:
    house.table(**EVERY_COUP)
    for path in ("/livez", "/v1/tables", "/v1/tables/t", "/v1/tables/nowhere", "/checkpoint"):
        get, head = house.client.get(path), ask(house, path, "HEAD")
        assert (head.status_code, head.data) == (get.status_code, b"")
        shown: list[dict[str, Any]] = [dict(each.headers) for each in (get, head)]
        for each in shown:
            del each["X-Request-Id"]
        assert shown[0] == shown[1], path
