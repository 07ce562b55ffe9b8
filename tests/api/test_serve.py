"""The real server, in a process of its own, on loopback."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.api.installation import DEADLINES, EVERY_COUP
from tests.first_keys import serves, signed

RUN_ON_A_SOCKET = (
    "import sys; from pathlib import Path; from api.serve import run; from api.settings import Settings;"
    "run(Settings(Path(sys.argv[1]), log_level='warning'), int(sys.argv[2]), workers=int(sys.argv[3]), threads=4)"
)
RUN_ON_AN_ADDRESS = RUN_ON_A_SOCKET.replace("int(sys.argv[2])", "('127.0.0.1', int(sys.argv[2]))")


@contextmanager
def served(folder: Path, workers: int = 1) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server on a socket that was bound before it started: the port is known without asking, and nobody's else."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number, port = listening.fileno(), listening.getsockname()[1]
        command = [sys.executable, "-c", RUN_ON_A_SOCKET, str(folder), str(number), str(workers)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(command, pass_fds=[number], **pipes)
        serves(port, folder)
    try:
        yield process, port
    finally:
        process.kill()
        process.communicate()


def call(port: int, method: str, path: str, body: object = None) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        headers = signed(port) if path.startswith("/v1") else {}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_whole_shoe_over_a_socket_that_was_handed_over(tmp_path: Path, workers: int) -> None:
    with served(tmp_path / "house", workers) as (process, port):
        made = call(port, "POST", "/v1/tables", {"id": "t", "preset": "np_punto_banco", "overrides": EVERY_COUP})
        assert made[0] == 201
        assert call(port, "POST", "/v1/tables/t/books", {"size": 1})[0] == 201
        shoe = call(port, "POST", "/v1/tables/t/shoes", DEADLINES)[1]["shoe"]
        steps = [call(port, "POST", f"/v1/shoes/{shoe}/{step}") for step in ("lock", "seal", *["coups"] * 5)]
        assert [status for status, _ in steps] == [201] * 7
        assert call(port, "POST", f"/v1/shoes/{shoe}/coups")[0] == 409
        bundle = call(port, "GET", f"/v1/shoes/{shoe}/bundle")[1]
        assert call(port, "POST", "/v1/verify", {"bundle": bundle})[1]["verdict"] == "verified"
        process.send_signal(signal.SIGTERM)
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said, complained) == (0, "", "")


def test_a_body_without_a_length_is_limited_too(tmp_path: Path) -> None:
    """Chunked bodies reach only a real server."""
    with served(tmp_path / "house") as (_, port):
        for size, status in ((2**20 - 10, 422), (2**20, 413)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            body = b'{"id":"' + b"x" * size + b'"}'
            chunks = (body[start : start + 65536] for start in range(0, len(body), 65536))
            connection.request("POST", "/v1/tables", chunks, signed(port), encode_chunked=True)
            assert connection.getresponse().status == status
            connection.close()


def test_killed_and_started_again_it_goes_on_where_it_was(tmp_path: Path) -> None:
    with served(tmp_path / "house") as (process, port):
        call(port, "POST", "/v1/tables", {"id": "t", "preset": "np_punto_banco", "overrides": EVERY_COUP})
        call(port, "POST", "/v1/tables/t/books", {"size": 1})
        shoe = call(port, "POST", "/v1/tables/t/shoes", DEADLINES)[1]["shoe"]
        for step in ("lock", "seal", "coups"):
            call(port, "POST", f"/v1/shoes/{shoe}/{step}")
        before = call(port, "GET", f"/v1/shoes/{shoe}/state")[1]
        process.kill()
    with served(tmp_path / "house") as (_, port):
        assert call(port, "GET", f"/v1/shoes/{shoe}/state")[1] == before
        assert [call(port, "POST", f"/v1/shoes/{shoe}/coups")[0] for _ in range(5)] == [201] * 4 + [409]
        bundle = call(port, "GET", f"/v1/shoes/{shoe}/bundle")[1]
        assert call(port, "POST", "/v1/verify", {"bundle": bundle})[1]["verdict"] == "verified"


def test_it_listens_on_an_address_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", RUN_ON_AN_ADDRESS, str(tmp_path / "house"), str(port), "1"]
    with subprocess.Popen(command) as process:
        try:
            assert eventually(port)["status"] == "ok"
        finally:
            process.terminate()
        assert process.wait(timeout=30) == 0


def eventually(port: int) -> Any:
    latest = time.monotonic() + 30
    while True:
        try:
            return call(port, "GET", "/livez")[1]
        except ConnectionRefusedError:
            assert time.monotonic() < latest
            time.sleep(0.05)


def test_a_folder_that_others_may_read_is_not_served(tmp_path: Path) -> None:
    folder = tmp_path / "wide"
    folder.mkdir()
    folder.chmod(0o755)
    with served(folder) as (process, _):
        said, complained = process.communicate(timeout=30)
    assert (process.returncode, said) == (1, "")
    assert "SetupError" in complained
    assert "chmod 700" in complained


def test_a_server_loads_nothing_that_only_statistics_need() -> None:
    """A process that serves or keeps starts without it, each worker too."""
    program = "import sys; import api.serve, api.wiring, api.keeper; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"api.serve", "api.keeper", "numpy"} <= set(loaded)
    assert set(loaded).isdisjoint({"scipy", "numba", "audit.battery", "audit.records.battery", "typst", "pyhanko"})
