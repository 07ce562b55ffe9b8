"""``fairshoe accounts`` beside a running service: its keys are those of HTTP, and a token is shown once."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.access import KEY_ROLES
from api.cli import fairshoe
from api.cli.accounts import _NAME
from api.payloads import MAX_DEADLINE_S, MAX_PAGE, NewKey
from api.settings import VAULT_KEY
from api.world import print_time, read_time, real_world
from tests.api.installation import Found, Installation
from tests.api.stored import everything_stored

TOKEN = re.compile(r"fsk_[0-9A-Za-z_-]{43}")
ROOT = Path(__file__).parents[2]
NOBODY = "01890000-0000-7000-8000-000000000000"


@pytest.fixture
def running(found: Found) -> Iterator[Installation]:
    """A service that runs while the command works beside it, by the same clock."""
    return found(clock=real_world().now)


def environment(house: Installation) -> dict[str, str | None]:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    return {"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given}


def accounts(house: Installation, *arguments: str) -> Result:
    return CliRunner(env=environment(house)).invoke(fairshoe, ["accounts", *arguments])


def told(house: Installation, *arguments: str) -> Any:
    """The one object that a command prints; it must succeed and print nothing else."""
    result = accounts(house, *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)


def refused(house: Installation, code: int, *arguments: str) -> str:
    """The one line that a command refuses with; nothing may have changed."""
    before = everything_stored(house.service.store)
    result = accounts(house, *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert result.stderr.count("\n") == 1
    assert everything_stored(house.service.store) == before
    return result.stderr.rstrip("\n")


def me(house: Installation, token: str) -> Any:
    return house.client.get("/v1/me", headers={"Authorization": f"Bearer {token}"})


# --- new ---------------------------------------------------------------------------------------


def test_a_new_key_works_at_once_and_is_what_http_lists(running: Installation) -> None:
    made = told(running, "new", "--roles", "operator,client", "--name", "table software")
    token = made.pop("token")
    assert TOKEN.fullmatch(token)
    assert me(running, token).json == {
        "id": made["id"],
        "kind": "key",
        "roles": ["client", "operator"],
        "table": None,
    }
    assert running.get(f"/keys/{made['id']}") == {**made, "revoked": None}
    assert (made["name"], made["prefix"], made["expires"]) == ("table software", token[:8], None)


def test_for_people_the_token_alone_is_on_standard_output(running: Installation) -> None:
    result = accounts(running, "new", "--roles", "regulator", "--name", "inspector")
    assert result.exit_code == 0
    assert TOKEN.fullmatch(result.stdout.removesuffix("\n"))
    (row,) = [key for key in running.get("/keys")["keys"] if key["name"] == "inspector"]
    said = f"API key {row['id']} for regulator, good until it is revoked; its token is shown only now\n"
    assert result.stderr == said


def test_it_expires_after_the_seconds_asked_for(running: Installation) -> None:
    made = told(running, "new", "--roles", "client", "--name", "n", "--expires-in-s", "3600")
    assert made["expires"] == print_time(read_time(made["created"]) + timedelta(hours=1))
    assert me(running, made["token"]).status_code == 200
    running.clock = lambda: real_world().now() + timedelta(hours=2)  # type: ignore[assignment]
    running.stop()
    running.start()
    assert me(running, made["token"]).status_code == 401


def test_no_token_is_kept_or_listed(running: Installation) -> None:
    token = told(running, "new", "--roles", "client", "--name", "n")["token"]
    listed = accounts(running, "list").output + accounts(running, "list", "--json").output
    assert token[:8] in listed
    assert token not in listed
    assert token not in repr(everything_stored(running.service.store))
    assert all(token.encode() not in path.read_bytes() for path in running.folder.rglob("*") if path.is_file())


BAD_NEW = {
    "no_roles": (["--name", "n"], ": Missing option '--roles'"),
    "no_name": (["--roles", "client"], ": Missing option '--name'"),
    "empty_roles": (["--roles", "", "--name", "n"], ": Invalid value for '--roles': roles: expected one or more of"),
    "unknown_role": (["--roles", "client,admin", "--name", "n"], ": Invalid value for '--roles': roles: expected"),
    "player": (["--roles", "player", "--name", "n"], ": Invalid value for '--roles': roles: expected one or more of"),
    "role_twice": (["--roles", "client,client", "--name", "n"], ": Invalid value for '--roles': roles: expected one"),
    "blank_in_roles": (["--roles", "client, operator", "--name", "n"], ": Invalid value for '--roles': roles: "),
    "long_name": (["--roles", "client", "--name", "n" * 129], ": Invalid value for '--name': expected at most 128"),
    "name_of_two_lines": (["--roles", "client", "--name", "a\nb"], ": Invalid value for '--name': expected at most"),
    "name_not_ascii": (["--roles", "client", "--name", "Ä"], ": Invalid value for '--name': expected at most 128"),
    "no_seconds": (["--roles", "client", "--name", "n", "--expires-in-s", "0"], ": Invalid value for '--expires-in-s'"),
    "part_seconds": (
        ["--roles", "client", "--name", "n", "--expires-in-s", "1.5"],
        ": Invalid value for '--expires-in-s': expected a whole number 1…",
    ),
    "too_long": (
        ["--roles", "client", "--name", "n", "--expires-in-s", str(10 * MAX_DEADLINE_S + 1)],
        f": Invalid value for '--expires-in-s': expected a whole number 1…{10 * MAX_DEADLINE_S}, got",
    ),
    "argument": (["client"], ": Missing option '--roles'"),
}


@pytest.mark.parametrize(("arguments", "says"), BAD_NEW.values(), ids=BAD_NEW)
@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_what_is_refused_of_a_new_key(running: Installation, arguments: list[str], says: str) -> None:
    assert refused(running, 2, "new", *arguments).startswith(f"fairshoe accounts new{says}")


@pytest.mark.parametrize("name", ["", "x" * 128, " ~", "x" * 129, "é", "\t", "a\x7f"])
def test_names_are_those_that_http_takes(name: str) -> None:
    try:
        NewKey(roles=["client"], name=name)
    except ValueError:
        assert not _NAME.fullmatch(name)
    else:
        assert _NAME.fullmatch(name)


def test_no_key_is_made_for_a_closed_standard_output(running: Installation) -> None:
    """The token would be lost, and a key be left that nobody can use."""
    before = everything_stored(running.service.store)
    code = "import os, sys; os.close(1); sys.stdout = None; from api.cli import main; main()"
    arguments = ["accounts", "new", "--roles", "client", "--name", "n"]
    env = {name: value for name, value in (os.environ | environment(running)).items() if value is not None}
    run = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(run, cwd=ROOT, env=env, stderr=subprocess.PIPE, check=False)
    said = "fairshoe: standard output is closed: the result would be lost\n"
    assert (result.returncode, result.stderr.decode()) == (3, said)
    assert everything_stored(running.service.store) == before


# --- list --------------------------------------------------------------------------------------


def test_the_list_is_that_of_http_revoked_ones_too(running: Installation) -> None:
    made = told(running, "new", "--roles", "client", "--name", "old")
    told(running, "revoke", made["id"])
    told(running, "new", "--roles", "client,operator,regulator", "--name", "new", "--expires-in-s", "60")
    listed = told(running, "list")
    assert listed == {"keys": running.get("/keys")["keys"]}
    assert [key["name"] for key in listed["keys"]] == ["first", "old", "new"]
    assert [key["revoked"] is None for key in listed["keys"]] == [True, False, True]


def test_people_read_a_line_a_key(running: Installation) -> None:
    told(running, "new", "--roles", "client", "--name", "two words")
    heading, first, second = accounts(running, "list").stdout.splitlines()
    assert heading.split() == ["Id", "Token", "Roles", "Created", "Expires", "Revoked", "Name"]
    keys = running.get("/keys")["keys"]
    for line, key in ((first, keys[0]), (second, keys[1])):
        shown = [key["id"], f"{key['prefix']}…", ",".join(key["roles"]), key["created"], "never", "no", key["name"]]
        assert re.split(r" {2,}", line) == shown
    assert keys[0]["roles"] == list(KEY_ROLES)


def test_more_than_a_page_is_listed_whole(running: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.cli.accounts.MAX_PAGE", 2)
    for number in range(4):
        told(running, "new", "--roles", "client", "--name", str(number))
    assert [key["name"] for key in told(running, "list")["keys"]] == ["first", "0", "1", "2", "3"]
    assert MAX_PAGE >= 5


# --- revoke ------------------------------------------------------------------------------------


def test_a_revoked_key_is_refused_by_the_running_service(running: Installation) -> None:
    made = told(running, "new", "--roles", "operator", "--name", "n")
    assert me(running, made["token"]).status_code == 200
    revoked = told(running, "revoke", made["id"])
    assert revoked == running.get(f"/keys/{made['id']}")
    assert revoked["revoked"] is not None
    assert me(running, made["token"]).status_code == 401
    headers = {"Authorization": f"Bearer {made['token']}"}
    assert running.client.post("/v1/tables", json={"preset": "np_punto_banco"}, headers=headers).status_code == 401


def test_people_read_that_it_is_revoked(running: Installation) -> None:
    made = told(running, "new", "--roles", "operator", "--name", "n")
    result = accounts(running, "revoke", made["id"])
    when = running.get(f"/keys/{made['id']}")["revoked"]
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == f"API key {made['id']} is revoked since {when}\n"


def test_a_key_is_revoked_once(running: Installation) -> None:
    made = told(running, "new", "--roles", "operator", "--name", "n")
    told(running, "revoke", made["id"])
    said = refused(running, 2, "revoke", made["id"])
    assert said.startswith(f"fairshoe accounts revoke: The key {made['id']} was revoked at 20")


def test_a_seat_is_no_key(running: Installation) -> None:
    running.table()
    seat = running.post("/tables/t/seats")["seat"]
    said = refused(running, 2, "revoke", seat)
    assert said == f"fairshoe accounts revoke: There is no key '{seat}'. Name one that is there"


def test_what_is_not_there_is_not_revoked(running: Installation) -> None:
    assert "There is no key '01890000" in refused(running, 2, "revoke", NOBODY)
    assert refused(running, 2, "revoke").startswith("fairshoe accounts revoke: Missing argument 'ID'")


def test_a_token_given_for_an_id_is_not_shown(running: Installation) -> None:
    token = running.tokens.key
    said = refused(running, 2, "revoke", token)
    assert token[4:12] not in said
    assert "expected the id that fairshoe accounts list shows, got '47 characters of another form'" in said


# --- where there is no service -----------------------------------------------------------------


@pytest.mark.parametrize(
    "command", [["list"], ["new", "--roles", "client", "--name", "n"], ["revoke", NOBODY]], ids=lambda each: each[0]
)
def test_without_a_database_nothing_is_made(tmp_path: Path, command: list[str]) -> None:
    env = {"FAIRSHOE_DATA": str(tmp_path / "nothing"), "DATABASE_URL": None, VAULT_KEY: None}
    result = CliRunner(env=env).invoke(fairshoe, ["accounts", *command])
    database = tmp_path / "nothing" / "fairshoe.sqlite3"
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"fairshoe: {database}: there is no database; set FAIRSHOE_DATA to the service's folder\n"
    assert not (tmp_path / "nothing").exists()
