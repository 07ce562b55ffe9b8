"""``fairshoe serve`` as a process of its own: it says where it listens, answers, and ends when told to."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import make_url

from api.cli import fairshoe
from tests.api.postgres import Postgres
from tests.first_keys import serves

ROOT = Path(__file__).parents[2]
RUN = "import sys; sys.path.insert(0, sys.argv.pop(1)); from api.cli import main; main()"


FIRST = "The first start makes an API key with every role:"


@contextmanager
def serving(folder: Path, *args: str) -> Iterator[tuple[dict[str, Any], subprocess.Popen[str]]]:
    """The running command, and the object that it printed first."""
    command = [sys.executable, "-c", RUN, str(ROOT), "serve", "--port", "0", "--json", *args]
    environment = {**os.environ, "FAIRSHOE_DATA": str(folder), "FAIRSHOE_ORIGIN": "serve.example/log"}
    environment["FAIRSHOE_LOG_LEVEL"] = "warning"
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **piped) as process:  # type: ignore[call-overload]
        try:
            printed = json.loads(process.stdout.readline())
            serves(int(printed["url"].rsplit(":", 1)[1]), folder)
            yield printed, process
        finally:
            process.kill()


def fetch(url: str) -> dict[str, Any]:
    with urlopen(url, timeout=30) as answer:  # noqa: S310
        return dict(json.load(answer))


def serve(folder: Path, *args: str) -> Result:
    return CliRunner(env={"FAIRSHOE_DATA": str(folder)}).invoke(fairshoe, ["serve", *args])


def test_it_serves_until_it_is_told_to_end(tmp_path: Path) -> None:
    folder = tmp_path / "installation"
    with serving(folder) as (printed, process):
        assert printed == {"url": printed["url"], "folder": str(folder)}
        assert fetch(f"{printed['url']}/livez") == {"status": "ok"}
        assert fetch(f"{printed['url']}/version")["log"] == "serve.example/log"
        assert folder.stat().st_mode & 0o777 == 0o700
        process.send_signal(signal.SIGTERM)
        rest, said = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "")
    assert said.splitlines() == [
        f"Serving on {printed['url']}; database and keys in {folder}; Ctrl-C ends it.",
        f"{FIRST} {folder}/operator.key",
    ]


def test_it_says_which_database_it_serves_from(
    tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = postgres.create_database()
    monkeypatch.setenv("DATABASE_URL", address)
    with serving(tmp_path / "x") as (printed, process):
        fetch(f"{printed['url']}/readyz")
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    postgres.drop_database(address)
    shown = make_url(address).render_as_string()
    assert said.splitlines() == [
        f"Serving on {printed['url']}; database {shown}, keys in {tmp_path / 'x'}; Ctrl-C ends it.",
        f"{FIRST} {tmp_path}/x/operator.key",
    ]
    assert not (tmp_path / "x" / "fairshoe.sqlite3").exists()


def test_ctrl_c_ends_it_in_order(tmp_path: Path) -> None:
    with serving(tmp_path / "x", "--workers", "2", "--threads", "1") as (printed, process):
        fetch(f"{printed['url']}/livez")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0


def test_ipv6_stands_in_brackets(tmp_path: Path) -> None:
    with serving(tmp_path / "x", "--host", "::1") as (printed, _):
        assert printed["url"].startswith("http://[::1]:")
        assert fetch(f"{printed['url']}/livez") == {"status": "ok"}


def test_a_taken_port_is_the_environments_fault(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = serve(tmp_path / "x", "--port", str(port))
    assert (result.exit_code, result.stdout) == (3, "")
    said = f"fairshoe: 127.0.0.1 port {port}: Address already in use; choose another with --host and --port\n"
    assert result.stderr == said
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("host", ["198.51.100.7", "::ffff:ffff:ffff:ffff"])
def test_a_host_that_is_not_here_is_the_environments_fault(tmp_path: Path, host: str) -> None:
    result = serve(tmp_path, "--host", host, "--port", "0")
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.startswith(f"fairshoe: {host} port 0: ")
    assert result.stderr.count("\n") == 1


def test_a_folder_that_others_read_is_not_served_from(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    result = serve(tmp_path, "--port", "0")
    assert result.exit_code == 3
    (last,) = result.stderr.splitlines()[2:]
    assert last.startswith("fairshoe: ")
    assert str(tmp_path) in last


def test_a_database_that_is_none_is_not_served_from(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "fairshoe.sqlite3").write_text("hello\n" * 200)
    result = serve(tmp_path, "--port", "0")
    assert result.exit_code == 3
    assert result.stderr.endswith(f"fairshoe: {tmp_path / 'fairshoe.sqlite3'}: file is not a database\n")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--port", "65536"),
        ("--port", "-1"),
        ("--port", "http"),
        ("--workers", "0"),
        ("--threads", "0"),
        ("--threads", "257"),
    ],
)
def test_a_number_out_of_bounds_is_refused(tmp_path: Path, option: str, value: str) -> None:
    result = serve(tmp_path, option, value)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"fairshoe serve: Invalid value for '{option}': expected a whole number ")
