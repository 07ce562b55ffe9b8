"""Bad requests of every kind to every endpoint: each the problem that the interface names, none of them a 500.

The endpoints are those that the application has, so that a new one is tried by itself. What a body may hold is asked of
its model's fields; which problem must come is written here. Single cases of one route are in test_requests.
"""

from __future__ import annotations

import json
import re
import socket
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.payloads import NoBody
from api.routes.endpoint import Endpoint, endpoints_of
from api.wiring import RESOURCES
from tests.api.installation import DEADLINES, URN, Installation, problem_of
from tests.campaign.serving import Place, Server

ALL = {name: each for resource in RESOURCES for name, each in resource.blueprint.declared.items()}
POSTS = [name for name, each in ALL.items() if each.method == "POST"]
CLAIMED = [name for name in POSTS if ALL[name].claimed is not None]
JSON = "application/json"

VALID: Mapping[str, dict[str, Any]] = {
    "NewTable": {"preset": "np_punto_banco"},
    "NewBook": {"size": 1},
    "NewShoe": DEADLINES,
    "NewEntropy": {"seed_commitment": "ab" * 32},
    "OpenedSeed": {"seed": "mine"},
    "NewVoid": {"reason": "operator"},
    "NewKey": {"roles": ["client"]},
    "VerifyRequest": {"bundle": {}},
    "NewBets": {"bet": "player", "stake": 100},
    "NewLimit": {"maximum_minor": 100, "pin": "4711"},
    "NewMove": {"amount_minor": 100},
    "NewLoop": {
        "seat": "019c1000-0000-7000-8000-000000000000",
        "bets": [{"bet": "player", "stake": 100}],
        "coups": 3,
    },
    "SeatSettings": {"preserve": True},
    "NewWebhook": {"url": "https://casino.example/told", "events": ["coup.dealt"]},
}
"""A body that a model takes, by its name: those that it needs and no more."""

ODD: tuple[Any, ...] = (
    None, True, 0, -1, 2**53 - 1, -(2**53 - 1), "", "x", "\0", "a\0b", "é", "\u202e", "𝟙", "1", " 1", "x" * 5000,
    "ab" * 32 + "\n", "Robert'); DROP TABLE leaves;--", "%00", "../../etc/passwd", "{{7*7}}", [], [[]], [None], ["\0"],
    {}, {"": ""}, {"\0": "\0"}, {"a": {"b": {"c": []}}}, ["x"] * 2000,
)  # fmt: skip

every_post = pytest.mark.parametrize("name", POSTS)


@pytest.fixture(scope="module")
def tried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One installation for all: what is tried is refused before the database is asked for more than who asks."""
    house = Installation(tmp_path_factory.mktemp("tried") / "house")
    house.table("t", decks=1)
    house.open()
    house.tokens.seats["t", 0] = str(house.post("/tables/t/seats")["token"])
    yield house
    house.stop()


@pytest.fixture
def house(tried: Installation) -> Installation:
    return tried


def address(endpoint: Endpoint, value: str = "nowhere") -> str:
    return re.sub(r"{\w+}", value, endpoint.path)


def send(
    house: Installation, endpoint: Endpoint, body: bytes, content_type: str | None = JSON, **headers: str
) -> TestResponse:
    """Post as one who may."""
    token = house.tokens.seats["t", 0] if endpoint.access == {"player"} else house.tokens.key
    sent = {"Authorization": f"Bearer {token}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return house.client.post(address(endpoint), data=body, content_type=content_type, headers=sent)


def valid(endpoint: Endpoint) -> dict[str, Any]:
    return dict(VALID.get(endpoint.body.__name__, {}))


# --- bodies ------------------------------------------------------------------------------------

BODIES: Mapping[str, tuple[bytes, str, int]] = {
    "cut off": (b'{"a":', "malformed-json", 400),
    "two documents": (b"{}{}", "malformed-json", 400),
    "a key twice": (b'{"a":1,"a":1}', "malformed-json", 400),
    "a key twice, spelt otherwise": (b'{"a":1,"\\u0061":1}', "malformed-json", 400),
    "not a number": (b'{"a":NaN}', "malformed-json", 400),
    "infinity": (b'{"a":-Infinity}', "malformed-json", 400),
    "a fraction": (b'{"a":1.5}', "malformed-json", 400),
    "2^63": (b'{"a":9223372036854775808}', "malformed-json", 400),
    "many digits": (b'{"a":' + b"9" * 5000 + b"}", "malformed-json", 400),
    "deep": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "malformed-json", 400),
    "deep lists": (b"[" * 200_000 + b"]" * 200_000, "malformed-json", 400),
    "no UTF-8": (b'{"a":"\xc3\x28"}', "malformed-json", 400),
    "a surrogate in UTF-8": (b'{"a":"\xed\xa0\x80"}', "malformed-json", 400),
    "UTF-16": ('{"a":1}'.encode("utf-16"), "malformed-json", 400),
    "a raw control character": (b'{"a":"\x00"}', "malformed-json", 400),
    "a comment": (b"{/* nothing */}", "malformed-json", 400),
    "a last comma": (b'{"a":1,}', "malformed-json", 400),
    "single quotes": (b"{'a':1}", "malformed-json", 400),
    "only blanks": (b"   ", "malformed-json", 400),
    "a form": (b"a=1&b=2", "malformed-json", 400),
    "a list": (b"[]", "invalid", 422),
    "null": (b"null", "invalid", 422),
    "a text": (b'"t"', "invalid", 422),
    "true": (b"true", "invalid", 422),
    "a number": (b"0", "invalid", 422),
    "an unknown field": (b'{"unheard_of":1}', "invalid", 422),
    "an unknown field, U+0000": (b'{"\\u0000":1}', "invalid", 422),
    "an unknown field, long": (b'{"' + b"k" * 50_000 + b'":1}', "invalid", 422),
    "the root of all objects": (b'{"__proto__":{},"__class__":{}}', "invalid", 422),
}


@every_post
def test_a_body_that_cannot_be_read_is_named_so(house: Installation, name: str) -> None:
    before, wrong = house.checkpoint(), []
    for kind, (body, slug, status) in BODIES.items():
        answer = send(house, ALL[name], body)
        found = (answer.status_code, answer.json["type"] if answer.json else None)
        if found != (status, URN + slug) or len(answer.data) > 4000:
            wrong.append(f"{kind}: {answer.text[:300]}")
    assert wrong == []
    assert house.checkpoint() == before


@every_post
def test_a_lone_surrogate_has_no_place_in_any_field(house: Installation, name: str) -> None:
    endpoint = ALL[name]
    for field in [*endpoint.body.model_fields, "unheard_of"]:
        body = json.dumps({**valid(endpoint), field: "\ud800"}).encode()
        assert send(house, endpoint, body).status_code in (400, 422), field


@every_post
def test_no_field_takes_what_is_not_its_own(house: Installation, name: str) -> None:
    """Whatever stands in a field: what is taken is answered, what is not is a problem, and nothing is unforeseen."""
    endpoint, wrong = ALL[name], []
    for field in endpoint.body.model_fields:
        for odd in ODD:
            answer = send(house, endpoint, json.dumps({**valid(endpoint), field: odd}).encode())
            foreseen = answer.status_code in (200, 201, 400, 403, 404, 409, 422)
            if not foreseen or (answer.status_code >= 400 and answer.content_type != "application/problem+json"):
                wrong.append(f"{field} {odd!r}: {answer.status_code} {answer.text[:200]}")
    assert wrong == []


@every_post
def test_every_field_that_is_needed_is_missed(house: Installation, name: str) -> None:
    endpoint = ALL[name]
    for field, told in endpoint.body.model_fields.items():
        if told.is_required():
            body = {each: value for each, value in valid(endpoint).items() if each != field}
            said = problem_of(send(house, endpoint, json.dumps(body).encode()), "invalid", 422)
            assert f"{field}: Field required" in said


@every_post
def test_only_json_is_read(house: Installation, name: str) -> None:
    body = json.dumps(valid(ALL[name])).encode()
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                         "application/xml", "application/json-patch+json", "\u00fcber/json"):  # fmt: skip
        problem_of(send(house, ALL[name], body, content_type), "unsupported-media-type", 415)


@every_post
def test_a_body_of_many_megabytes_is_too_large(house: Installation, name: str) -> None:
    """The limits are documented: 16 MiB of a bundle, 1 MiB of all else."""
    size = 17 * 2**20 if ALL[name].path == "/v1/verify" else 10 * 2**20
    problem_of(send(house, ALL[name], b'{"a":"' + b"x" * size + b'"}'), "too-large", 413)


@every_post
def test_a_query_has_no_place_in_a_post(house: Installation, name: str) -> None:
    endpoint = ALL[name]
    for query in ("a=1", "a=1&a=1", "%00=%00", "seed=%ff"):
        answer = house.client.post(f"{address(endpoint)}?{query}", json=valid(endpoint))
        assert answer.status_code in (403, 422), answer.text


def test_every_model_of_a_body_is_tried_with_one_that_it_takes() -> None:
    needed = {
        ALL[name].body.__name__
        for name in POSTS
        if ALL[name].body is not NoBody and any(told.is_required() for told in ALL[name].body.model_fields.values())
    }
    assert [model for model in needed if model not in VALID] == []


# --- headers -----------------------------------------------------------------------------------

BAD_KEYS = ("", " ", "a b", "a\tb", "é", "x" * 256, "\u00a0")


@pytest.mark.parametrize("name", CLAIMED)
def test_an_idempotency_key_that_is_none_is_refused(house: Installation, name: str) -> None:
    endpoint, before = ALL[name], house.checkpoint()
    for key in BAD_KEYS:
        answer = send(house, endpoint, json.dumps(valid(endpoint)).encode(), Idempotency_Key=key)
        if endpoint.path.endswith("/seal") and answer.status_code == 404:
            continue  # a shoe's cards are looked for before its seal is asked for
        assert "Idempotency-Key: expected 1–255 printable ASCII characters" in problem_of(answer, "invalid", 422)
    assert house.checkpoint() == before


@pytest.mark.parametrize("name", CLAIMED)
def test_where_cards_or_money_move_there_must_be_an_idempotency_key(house: Installation, name: str) -> None:
    endpoint = ALL[name]
    last = ("/shoes", "/seal", "/coups", "/void", "/bets", "/withdraw", "/rebet", "/loop", "/moves")
    moves = endpoint.path.endswith(last)
    answer = send(house, endpoint, json.dumps(valid(endpoint)).encode(), Idempotency_Key="none")
    if endpoint.path.endswith("/seal"):
        assert endpoint.claimed == "must"
    elif moves:
        said = problem_of(answer, "idempotency-key-missing", 400)
        assert said == f"POST {address(endpoint)} came without an Idempotency-Key."
    else:
        assert answer.status_code != 400


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", "Bearer ", "bearer  x", "Basic Og==", "Bearer fsk_", "Bearer \u00e9", "Bearer " + "x" * 5000,
     "Bearer fsk_" + "A" * 43 + " ", "Bearer\tfsk_" + "A" * 43, "fsk_" + "A" * 43, "Bearer fsk_" + "%41" * 43],
)  # fmt: skip
def test_a_credential_that_is_none_is_named_without_being_shown(house: Installation, header: str) -> None:
    answer = house.client.get("/v1/tables", headers={"Authorization": header})
    said = problem_of(answer, "unauthenticated", 401)
    assert "AAA" not in said
    assert "xxx" not in said


# --- methods -----------------------------------------------------------------------------------


def paths(endpoints: Iterable[Endpoint]) -> dict[str, set[str]]:
    """The methods that each path takes."""
    found: dict[str, set[str]] = defaultdict(set)
    for endpoint in endpoints:
        found[address(endpoint, "x")] |= {endpoint.method, "OPTIONS"} | (
            {"HEAD"} if endpoint.method == "GET" else set()
        )
    return found


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "BREW", "G\u00cbT"])
def test_another_method_is_answered_with_those_that_there_are(house: Installation, method: str) -> None:
    for path, allowed in paths(endpoints_of(house.app).values()).items():
        answer = house.client.open(path, method=method)
        problem_of(answer, "method-not-allowed", 405)
        assert set(answer.headers["Allow"].split(", ")) == allowed, path


def test_get_and_post_where_there_is_only_the_other(house: Installation) -> None:
    for path, allowed in paths(endpoints_of(house.app).values()).items():
        for method in {"GET", "POST"} - allowed:
            answer = house.client.open(path, method=method)
            problem_of(answer, "method-not-allowed", 405)
            assert method not in answer.headers["Allow"].split(", ")


def test_options_tell_what_a_path_takes(house: Installation) -> None:
    for path, allowed in paths(endpoints_of(house.app).values()).items():
        answer = house.client.options(path)
        assert (answer.status_code, set(answer.headers["Allow"].split(", "))) == (200, allowed)


# --- addresses ---------------------------------------------------------------------------------

PLACES = ("%00", "%zz", "%", "%2", "%ff", "%c0%af", "%2f", "%2e%2e", "..", "%0d%0aX-Evil:1", "%F0%9F%82%A1",
          "x" * 3000, "'%20OR%201=1--", "%ed%a0%80", "-1", "01", "1e3", "9" * 30, "%D9%A3", "*", "null", "{}",
          "%3Cscript%3E",
          )  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_an_address_with_something_odd_in_it_names_nothing(house: Installation, place: str) -> None:
    wrong = []
    for name, endpoint in endpoints_of(house.app).items():
        if "{" not in endpoint.path:
            continue
        body = json.dumps(valid(endpoint)).encode() if endpoint.method == "POST" else None
        token = house.tokens.seats["t", 0] if endpoint.access == {"player"} else house.tokens.key
        answer = house.client.open(
            address(endpoint, place.replace("\\", "")),
            method=endpoint.method,
            data=body,
            content_type=JSON if body else None,
            headers={"Authorization": f"Bearer {token}"},
        )
        if answer.status_code not in (404, 405, 422, 200, 409) or "X-Evil" in answer.headers:
            wrong.append(f"{name}: {answer.status_code} {answer.text[:200]}")
        if answer.status_code >= 400 and not (answer.json or {}).get("type", "").startswith(URN):
            wrong.append(f"{name}: no problem: {answer.text[:200]}")
    assert wrong == []


# --- over a real socket ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    place = Place(tmp_path_factory.mktemp("served") / "house")
    with closing(Server(place)) as server:
        server.start()
        yield server, place.settings.operator_key.read_text().strip()


def exchange(server: Server, *pieces: bytes, half: bool = False) -> tuple[int, dict[str, str], bytes]:
    """Send bytes as they are, and say where `half` that no more come; read what comes back until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
            if half:
                connection.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has answered, and hears no more
        received = b""
        try:
            while piece := connection.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    assert first.startswith("HTTP/1.1 "), received[:200]
    headers = dict(line.split(": ", 1) for line in lines)
    return int(first.split()[1]), {name.lower(): value for name, value in headers.items()}, body


def head(token: str, *lines: str, target: str = "/v1/tables", method: str = "POST") -> bytes:
    named = (f"{method} {target} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", "Connection: close", *lines)
    return "".join(f"{line}\r\n" for line in named).encode("latin-1") + b"\r\n"


def chunks(size: int) -> list[bytes]:
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    return [piece] * (size // 0x10000) + [b"0\r\n\r\n"]


def test_ten_megabytes_without_a_length_are_too_large(served: tuple[Server, str]) -> None:
    server, token = served
    sent = head(token, "Content-Type: application/json", "Transfer-Encoding: chunked")
    status, headers, body = exchange(server, sent, *chunks(10 * 2**20))
    assert (status, headers["content-type"]) == (413, "application/problem+json"), body
    assert json.loads(body)["type"] == URN + "too-large"


def test_ten_megabytes_with_their_length_are_too_large_before_they_come(served: tuple[Server, str]) -> None:
    server, token = served
    sent = head(token, "Content-Type: application/json", f"Content-Length: {10 * 2**20}")
    status, _, body = exchange(server, sent)
    assert (status, json.loads(body)["type"]) == (413, URN + "too-large")


def test_a_body_in_pieces_is_read(served: tuple[Server, str]) -> None:
    """So that the refusal above is for its size."""
    server, token = served
    body = b'{"preset":"np_punto_banco"}'
    sent = head(token, "Content-Type: application/json", "Transfer-Encoding: chunked", "Idempotency-Key: k")
    status, _, answer = exchange(server, sent, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    assert status == 201, answer


GARBLED: Mapping[str, tuple[bytes, ...]] = {
    "a header of 100 kB": (b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 100_000 + b"\r\n\r\n",),
    "1,000 headers": (b"GET /livez HTTP/1.1\r\nHost: x\r\n" + b"X-A: b\r\n" * 1000 + b"\r\n",),
    "an address of 100 kB": (b"GET /v1/tables/" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",),
    "no request line": (b"\r\n\r\nnonsense\r\n\r\n",),
    "no version": (b"GET /livez\r\n\r\n",),
    "another version": (b"GET /livez HTTP/9.9\r\nHost: x\r\n\r\n",),
    "a blank in a header's name": (b"GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",),
    "U+0000 in a header": (b"GET /livez HTTP/1.1\r\nHost: x\r\nX-A: a\0b\r\n\r\n",),
    "two lengths": (b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",),
    "a length below zero": (b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n{}",),
    "a length in words": (b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: two\r\n\r\n{}",),
    "pieces and a length": (
        b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ),
    "pieces of no size": (
        b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        b"\r\nzz\r\n{}\r\n0\r\n\r\n",
    ),
    "another coding": (b"POST /v1/verify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n",),
}


@pytest.mark.parametrize("kind", GARBLED)
def test_what_is_no_http_is_refused_and_the_server_goes_on(served: tuple[Server, str], kind: str) -> None:
    server, token = served
    status, _, body = exchange(server, *GARBLED[kind])
    assert 400 <= status < 500 or status in (501, 505), f"{status} {body[:300]!r}"
    assert b"Traceback" not in body
    assert exchange(server, head(token, target="/livez", method="GET"))[0] == 200


@pytest.mark.parametrize(
    "pieces",
    [
        (("Transfer-Encoding: chunked",), b"zz\r\n{}\r\n0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"2\r\n{}xx0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"-2\r\n{}\r\n0\r\n\r\n"),
        (("Transfer-Encoding: chunked",), b"5\r\n{}"),
    ],
    ids=["no size", "no end of a chunk", "a size below zero", "cut off in a chunk"],
)
def test_a_body_that_does_not_come_whole_is_named_so(
    served: tuple[Server, str], pieces: tuple[tuple[str, ...], bytes]
) -> None:
    server, token = served
    lines, body = pieces
    sent = head(token, "Content-Type: application/json", *lines, target="/v1/verify")
    status, headers, answer = exchange(server, sent + body, half=True)
    assert (status, headers["content-type"]) == (400, "application/problem+json"), answer
    assert json.loads(answer)["type"] == URN + "bad-request"


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "BREW", "PUT"])
def test_other_methods_over_a_socket(served: tuple[Server, str], method: str) -> None:
    server, token = served
    status, headers, body = exchange(server, head(token, method=method))
    assert (status, json.loads(body)["type"]) == (405, URN + "method-not-allowed")
    assert set(headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
    assert token.encode() not in body


def test_nothing_of_all_this_was_unforeseen(served: tuple[Server, str]) -> None:
    """The server's journal, once more of the same has been sent: no fault in it, and no token."""
    server, token = served
    for pieces in GARBLED.values():
        exchange(server, *pieces)
    said = server.said()
    assert "Traceback" not in said
    assert "a request failed" not in said
    assert token not in said
    assert Path(server.log).exists()
