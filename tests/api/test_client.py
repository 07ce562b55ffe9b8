"""The client: what the service refuses, and what is not the service, come back as errors that say so."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from api.client import Client, ServiceProblem, ServiceUnreachable
from api.demo import running_service
from shoe.errors import NoteError
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import parse_vkey
from shoe.proof.tlog import check_receipt


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with running_service(Path(tmp_path_factory.mktemp("client")) / "service") as url:
        client = Client(url)
        yield client
        client.close()


@pytest.fixture
def stranger():
    """A real HTTP server that is not ours: it answers whatever it is told to."""
    answers = []

    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self):
            status, body = answers.pop(0)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self):
            self.do_GET()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Stranger)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    client = Client(f"http://127.0.0.1:{server.server_port}", timeout_s=5)
    yield client, answers
    client.close()
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_the_service_gives_verifies(client):
    client.make_table("np_punto_banco", "t-1")
    receipt = client.publish_book("t-1", 4)
    vkey = parse_vkey(client.vkey())
    assert check_receipt(receipt, (vkey,))[0] == 1
    assert check_checkpoint(client.checkpoint(), (vkey,)).size == 2


def test_a_refusal_carries_type_status_and_detail(client):
    with pytest.raises(ServiceProblem) as refused:
        client.deal("no-such-shoe")
    assert refused.value.status == 404
    assert refused.value.type.startswith("urn:fairshoe:problem:")
    assert "no-such-shoe" in str(refused.value)


def test_a_name_with_a_slash_stays_one_name(client):
    with pytest.raises(ServiceProblem) as refused:
        client.records("../tables")
    assert refused.value.status == 404


def test_rules_that_cannot_be_played_are_refused(client):
    with pytest.raises(ServiceProblem) as refused:
        client.make_table("no_such_house", "t-2")
    assert refused.value.status == 422


def test_where_nobody_listens_the_service_is_unreachable():
    with pytest.raises(ServiceUnreachable, match="GET /v1/log/key"):
        Client("http://127.0.0.1:9", timeout_s=2).vkey()


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b'{"a":1,"a":2}', b"NaN", b"\xff\xfe", b"[" * 100_000])
def test_an_answer_that_is_not_the_services_is_not_believed(stranger, body):
    client, answers = stranger
    answers.append((200, body))
    with pytest.raises(ServiceUnreachable):
        client.lock("shoe")


@pytest.mark.parametrize("status", [400, 404, 500, 503])
def test_a_refusal_that_is_no_problem_document_is_still_an_error(stranger, status):
    client, answers = stranger
    answers.append((status, b"oops"))
    with pytest.raises(ServiceUnreachable):
        client.lock("shoe")
    answers.append((status, json.dumps({"title": "No", "detail": "because", "type": "urn:x"}).encode()))
    with pytest.raises(ServiceProblem, match="because") as refused:
        client.lock("shoe")
    assert (refused.value.status, refused.value.type) == (status, "urn:x")


def test_a_receipt_that_is_none_is_refused(stranger):
    client, answers = stranger
    answers.append((200, b'{"receipt":"nonsense"}'))
    with pytest.raises(NoteError):
        client.lock("shoe")
