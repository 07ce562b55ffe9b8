"""The client's transport at a server that misbehaves: what is sent again, how often, and what is never believed."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from api.client import Client, Patience, ServiceProblem, ServiceUnreachable
from api.client.cache import EtagCache
from api.client.patience import parse_retry_after
from api.demo import first_key
from shoe.errors import InputError
from tests.api.installation import HOUSE
from tests.api.misbehaving import (
    JSON,
    QUICK,
    Waiting,
    answer,
    drop_after,
    drop_before,
    given,
    honestly,
    misbehaving,
    problem,
    truncate,
)

TOKEN = "fsk_" + "Z" * 43
VERSION = json.dumps({"name": "fairshoe", "version": "1", "protocol": "fairshoe/1", "log": "l"})


@pytest.fixture
def waiting():
    return Waiting()


@pytest.fixture
def stranger(waiting):
    """A server without a service behind it, and a client of it."""
    with misbehaving() as server:
        client = Client(server.url, TOKEN, patience=QUICK, surroundings=waiting.surroundings())
        yield server, client
        client.close()


@pytest.fixture
def between(house, waiting):
    """A server before a real service, and the client of its operator, who is its game client too."""
    with misbehaving(house) as server:
        client = Client(server.url, first_key(house.folder), patience=QUICK, surroundings=waiting.surroundings())
        yield server, client
        client.close()


# --- sent again, and taken once ----------------------------------------------------------------


def sealed(client):
    client.make_table("np_punto_banco", "t", overrides=HOUSE)
    client.publish_book("t", 2)
    shoe = client.open_shoe("t", lock_in_s=60, seal_in_s=120, reveal_in_s=3600).shoe
    client.lock(shoe)
    client.seal(shoe)
    return shoe


@pytest.mark.parametrize(
    ("plan", "taken"),
    [
        ([drop_after], 2),
        ([truncate], 2),
        ([drop_before], 1),
        ([drop_after, drop_before, truncate], 3),
        ([answer(problem(503, "outcome-unknown", Retry_After="1"))], 1),
        ([drop_after, answer(given(502, "<html>bad gateway", "text/html"))], 2),
        ([answer(problem(409, "idempotency-key-in-use"))], 1),
    ],
    ids=["lost", "truncated", "unheard", "thrice", "503", "502", "in use"],
)
def test_a_coup_asked_for_again_is_dealt_once(between, plan, taken):
    server, client = between
    shoe = sealed(client)
    before, server.plan[:] = server.answered, plan
    assert client.deal(shoe).number == 0
    assert server.answered - before == taken, "how often the service itself was asked"
    keys = server.keys(f"/v1/shoes/{shoe}/coups")
    assert (len(keys), len(set(keys))) == (len(plan) + 1, 1)
    assert client.state(shoe).next_coup == 1
    assert client.deal(shoe).number == 1
    assert len(set(server.keys(f"/v1/shoes/{shoe}/coups"))) == 2, "another call has a key of its own"


def test_a_service_that_stops_answering_leaves_what_was_done(between, waiting):
    server, client = between
    shoe = sealed(client)
    server.plan[:] = [drop_after] * QUICK.attempts
    with pytest.raises(ServiceUnreachable, match=rf"^POST /v1/shoes/{shoe}/coups: ProtocolError$"):
        client.deal(shoe)
    assert len(waiting.slept) == QUICK.attempts - 1
    assert client.state(shoe).next_coup == 1


def test_every_post_has_a_key_and_no_get_has(between):
    server, client = between
    shoe = sealed(client)
    list(client.coups(shoe))
    keys = {asked.method: [] for asked in server.asked}
    for asked in server.asked:
        keys[asked.method].append(asked.headers["Idempotency-Key"])
    assert len(set(keys["POST"])) == len(keys["POST"]) == 5
    assert None not in keys["POST"]
    assert set(keys["GET"]) == {None}


# --- how often, and how long between -------------------------------------------------------------


@pytest.mark.parametrize("call", [lambda c: c.version(), lambda c: c.lock("s")], ids=["GET", "POST"])
@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_what_passes_is_asked_again_within_the_attempts(stranger, waiting, call, status):
    server, client = stranger
    server.otherwise = answer(problem(status, "busy"))
    with pytest.raises(ServiceProblem) as refused:
        call(client)
    assert refused.value.status == status
    assert len(server.asked) == QUICK.attempts
    # All bits drawn: the whole of each bound, 1 s doubled up to 3 s.
    assert waiting.slept == pytest.approx([1, 2, 3])


def test_the_waits_are_drawn_from_nothing_up(stranger, waiting):
    server, client = stranger
    waiting.draw = 0
    server.otherwise = answer(problem(503))
    with pytest.raises(ServiceProblem):
        client.version()
    assert waiting.slept == [0, 0, 0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422, 500, 501])
def test_a_refusal_is_the_last_word(stranger, waiting, status):
    server, client = stranger
    server.otherwise = answer(problem(status, "no", Retry_After="1"))
    with pytest.raises(ServiceProblem) as refused:
        client.lock("s")
    assert (len(server.asked), waiting.slept) == (1, [])
    assert (refused.value.status, refused.value.type) == (status, "urn:fairshoe:problem:no")


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_names_a_wait_is_left_alone_so_long(stranger, waiting, status):
    server, client = stranger
    server.plan[:] = [answer(problem(status, Retry_After="7"))]
    server.otherwise = answer(given(200, VERSION))
    assert client.version().protocol == "fairshoe/1"
    assert waiting.slept == pytest.approx([7 + 1])


@pytest.mark.parametrize("seconds", ["30", "3600", "9" * 30])
def test_no_wait_goes_beyond_the_call_s_whole_time(stranger, waiting, seconds):
    server, client = stranger
    server.otherwise = answer(problem(429, Retry_After=seconds))
    with pytest.raises(ServiceProblem) as refused:
        client.version()
    assert (len(server.asked), waiting.slept) == (1, [])
    assert refused.value.retry_after_s >= 30


def test_the_whole_time_ends_the_attempts_before_their_number_does(waiting):
    with misbehaving() as server:
        server.otherwise = answer(problem(503, Retry_After="4"))
        patience = Patience(total_s=10, attempts=100, first_wait_s=1e-9)
        client = Client(server.url, patience=patience, surroundings=waiting.surroundings())
        with pytest.raises(ServiceProblem):
            client.version()
        client.close()
    assert len(server.asked) == 3, "at 0, 4 and 8 s; at 12 s the time is over"


@pytest.mark.parametrize(
    ("text", "date", "seconds"),
    [
        (None, None, None),
        ("0", None, 0.0),
        ("120", None, 120.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT", 30.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:29:30 GMT", 0.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None, None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", "yesterday", None),
        ("-1", None, None),
        ("1.5", None, None),
        ("soon", "Wed, 21 Oct 2015 07:27:30 GMT", None),
        ("٣", None, None),
        ("1" * 400, None, float("inf")),
    ],
)
def test_retry_after_is_seconds_or_a_moment(text, date, seconds):
    assert parse_retry_after(text, date) == seconds


def test_a_server_that_says_nothing_is_waited_for_and_asked_again():
    waiting = Waiting()
    with misbehaving() as server:
        server.plan[:] = [lambda handler: handler.connection.settimeout(None) or handler.rfile.read(1)]
        server.otherwise = answer(given(200, VERSION))
        patience = Patience(silence_s=0.2, total_s=30)
        client = Client(server.url, patience=patience, surroundings=waiting.surroundings())
        assert client.version().name == "fairshoe"
        client.close()
    assert len(server.asked) == 2


def test_where_nobody_listens_the_service_is_unreachable(waiting):
    client = Client("http://127.0.0.1:9", patience=QUICK, surroundings=waiting.surroundings())
    with pytest.raises(ServiceUnreachable, match="GET /v1/log/key"):
        client.vkeys()
    assert len(waiting.slept) == QUICK.attempts - 1


# --- what is not believed ------------------------------------------------------------------------


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b'{"a":1,"a":2}', b"NaN", b"\xff\xfe", b"[" * 100_000, b"1.5"])
def test_an_answer_that_is_not_the_services_is_not_believed(stranger, body):
    server, client = stranger
    server.otherwise = answer(given(200, body))
    with pytest.raises(ServiceUnreachable):
        client.lock("shoe")
    assert len(server.asked) == 1


@pytest.mark.parametrize("media_type", ["text/html", "text/plain", "", None, "application/problem+json", "json"])
def test_an_answer_of_another_type_is_not_believed(stranger, media_type):
    server, client = stranger
    server.otherwise = answer(given(200, VERSION, media_type))
    with pytest.raises(ServiceUnreachable, match=r"GET /version: content type: expected 'application/json'|expected"):
        client.version()


@pytest.mark.parametrize("media_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_a_type_may_have_parameters_and_be_spelt_in_any_case(stranger, media_type):
    server, client = stranger
    server.otherwise = answer(given(200, VERSION, media_type))
    assert client.version().name == "fairshoe"


@pytest.mark.parametrize("status", [400, 404, 500, 503])
@pytest.mark.parametrize(
    ("body", "media_type"),
    [("oops", "text/html"), ("oops", "application/problem+json"), ("[]", "application/problem+json"), ("{}", JSON)],
)
def test_a_refusal_that_is_no_problem_document_is_still_an_error(stranger, status, body, media_type):
    server, client = stranger
    server.otherwise = answer(given(status, body, media_type))
    with pytest.raises(ServiceUnreachable, match=str(status)):
        client.lock("shoe")
    assert len(server.asked) == (QUICK.attempts if status == 503 else 1)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(stranger, status):
    server, client = stranger
    server.otherwise = answer(given(status, "", None, Location=f"{server.url}/elsewhere"))
    with pytest.raises(ServiceUnreachable, match=str(status)):
        client.version()
    assert [asked.path for asked in server.asked] == ["/version"]


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("status", [200, 404])
def test_an_answer_over_the_limit_is_not_read_on(waiting, status, declared):
    def flood(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", JSON)
        handler.send_header(*(("Content-Length", str(2**40)) if declared else ("Connection", "close")))
        handler.end_headers()
        handler.close_connection = True
        for _ in range(2**12):
            handler.wfile.write(b" " * 2**16)

    with misbehaving() as server:
        server.otherwise = flood
        client = Client(server.url, patience=Patience(answer_bytes=2**20), surroundings=waiting.surroundings())
        with pytest.raises(ServiceUnreachable, match="over 1048576 bytes"):
            client.lock("s")
        client.close()
    assert len(server.asked) == 1


def test_an_answer_of_the_limit_is_read(waiting):
    with misbehaving() as server:
        padded = VERSION + " " * (1000 - len(VERSION))
        server.otherwise = answer(given(200, padded))
        for limit, good in ((1000, True), (999, False)):
            client = Client(server.url, patience=Patience(answer_bytes=limit), surroundings=waiting.surroundings())
            if good:
                assert client.version().name == "fairshoe"
            else:
                with pytest.raises(ServiceUnreachable, match="over 999 bytes"):
                    client.version()
            client.close()


def test_an_answer_that_takes_too_long_is_given_up(waiting):
    def drip(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", JSON)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        for _ in range(100):
            waiting.now += 1
            handler.wfile.write(b" " * 10)

    with misbehaving() as server:
        server.otherwise = drip
        patience = Patience(total_s=20)
        client = Client(server.url, patience=patience, surroundings=waiting.surroundings())
        with pytest.raises(ServiceUnreachable, match="no whole answer in 20 s"):
            client.version()
        client.close()


# --- what a refusal carries ----------------------------------------------------------------------


def test_a_refusal_carries_all_that_it_says(stranger):
    server, client = stranger
    server.otherwise = answer(problem(404, "not-found", X_Request_Id="0198-abc", Retry_After="3"))
    with pytest.raises(ServiceProblem, match=r"^404 No: because$") as refused:
        client.version()
    told = refused.value
    assert (told.type, told.title, told.detail, told.next, told.retry_after_s, told.request_id) == (
        "urn:fairshoe:problem:not-found", "No", "because", "wait", 3.0, "0198-abc",
    )  # fmt: skip


def test_a_request_id_of_another_form_is_passed_over(stranger):
    server, client = stranger
    server.otherwise = answer(problem(404, X_Request_Id="a b" + "c" * 200))
    with pytest.raises(ServiceProblem) as refused:
        client.version()
    assert refused.value.request_id is None


def test_the_token_goes_into_its_header_and_nowhere_else(stranger, caplog):
    server, client = stranger
    caplog.set_level(logging.DEBUG)
    echo = {"type": TOKEN, "title": TOKEN, "detail": f"Bearer {TOKEN}", "next": TOKEN}
    server.otherwise = answer(given(401, json.dumps(echo), "application/problem+json"))
    with pytest.raises(ServiceProblem) as refused:
        client.version()
    told = refused.value
    assert server.asked[0].headers["Authorization"] == f"Bearer {TOKEN}"
    assert TOKEN not in str(server.asked[0].path)
    for text in (repr(client), repr(client._transport), str(told), told.type, told.title, told.next, caplog.text):
        assert TOKEN not in text
    assert "(the token)" in told.detail
    server.otherwise = drop_before
    with pytest.raises(ServiceUnreachable) as unreachable:
        client.version()
    assert TOKEN not in str(unreachable.value)


def test_without_a_token_none_is_sent():
    with misbehaving() as server:
        server.otherwise = answer(given(200, VERSION))
        client = Client(server.url)
        client.version()
        client.close()
    assert server.asked[0].headers["Authorization"] is None


@pytest.mark.parametrize("token", ["", "a b", "fsk_\n", "fsk_\r\nX: y", "fsk_ü"])
def test_a_token_that_would_be_another_header_is_refused_unseen(token):
    with pytest.raises(InputError, match=r"^token: expected") as refused:
        Client("http://127.0.0.1:1", token)
    assert not token or token not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    ["", "fairshoe.example", "ftp://x", "file:///etc/passwd", "http://", "http://u:secret@x", "http://x:99999",
     "http://x?q", "http://x#f", "http://x y", "http://x:port"],
)  # fmt: skip
def test_a_url_that_is_none_is_refused_unseen(url):
    with pytest.raises(InputError, match=r"^url: expected") as refused:
        Client(url)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("bound", ["connect_s", "silence_s", "total_s", "attempts", "answer_bytes"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_bound_that_is_none_is_refused(bound, value):
    with pytest.raises(InputError, match=bound):
        Patience(**{bound: value})


# --- polling ---------------------------------------------------------------------------------------


def test_what_has_not_changed_is_not_sent_again(stranger):
    server, client = stranger
    other = VERSION.replace('"1"', '"2"')
    server.plan[:] = [
        answer(given(200, VERSION, ETag='"one"')),
        answer(given(304, b"", None)),
        answer(given(200, other, ETag='"two"')),
        answer(given(304, b"", None)),
        answer(given(200, VERSION)),
        answer(given(200, VERSION)),
    ]
    assert [client.version().version for _ in range(6)] == ["1", "1", "2", "2", "1", "1"]
    sent = [asked.headers["If-None-Match"] for asked in server.asked]
    assert sent == [None, '"one"', '"one"', '"two"', '"two"', None]


def test_unchanged_for_what_was_never_had_is_not_believed(stranger):
    server, client = stranger
    server.otherwise = answer(given(304, b"", None))
    for call in (client.version, lambda: client.lock("s")):
        with pytest.raises(ServiceUnreachable, match="304"):
            call()


def test_the_real_service_says_unchanged_of_what_never_changes(between):
    server, client = between
    shoe = sealed(client)
    statuses = []

    def watch(handler):
        made = handler.forward()
        statuses.append(made.status)
        handler.give(made)

    server.otherwise = watch
    entries = [client.entry(0) for _ in range(3)]
    assert len(set(entries)) == 1
    assert json.loads(entries[0])["type"] == "key"
    assert statuses == [200, 304, 304]
    server.otherwise = honestly
    assert client.state(shoe).state == "sealed"


def test_the_cache_forgets_what_was_not_used_for_longest():
    cache = EtagCache(limit=10)
    cache.keep("a", '"1"', "x" * 4)
    cache.keep("b", '"1"', "x" * 4)
    assert cache.get("a") is not None
    cache.keep("c", '"1"', "x" * 4)
    assert [cache.get(name) is not None for name in "abc"] == [True, False, True]
    cache.keep("a", None, "y")
    cache.keep("d", '"1"', "x" * 11)
    assert [cache.get(name) for name in "acd"] == [None, None, None]


@pytest.mark.parametrize("etag", ["", None, '"' + "x" * 300 + '"', '"a b"', '"\x7f"', '"ü"'])
def test_no_etag_is_kept_that_could_not_be_sent_back(etag):
    cache = EtagCache()
    cache.keep("a", etag, "text")
    assert cache.get("a") is None


# --- what it is made of ------------------------------------------------------------------------------


def test_the_client_loads_neither_flask_nor_the_store_nor_statistics():
    code = "import sys, api.client; print(sorted({m.split('.')[0] for m in sys.modules}))"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    loaded = set(json.loads(done.stdout.replace("'", '"')))
    assert {"api", "shoe", "urllib3"} <= loaded
    assert not loaded & {"flask", "werkzeug", "sqlalchemy", "scipy", "numpy", "pydantic", "audit"}
