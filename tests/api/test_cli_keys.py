"""``fairshoe keys`` beside a running service: what it prints, changes and refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from api.cases.keys import MOST_ACTIVE
from api.cli import fairshoe
from api.settings import VAULT_KEY
from api.world import real_world
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import SignerKey, parse_note, parse_vkey
from tests.api.installation import EVERY_COUP, ORIGIN, Found, Installation
from tests.api.stored import everything_stored

OLD, NEW = "0b" * 32, "0e" * 32


@pytest.fixture
def running(found: Found) -> Iterator[Installation]:
    """A service that runs while the command works beside it, by the same clock."""
    house = found(clock=real_world().now)
    house.table(**EVERY_COUP)
    return house


def keys(house: Installation, *arguments: str, **further: str) -> Result:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    env = {"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given, **further}
    return CliRunner(env=env).invoke(fairshoe, ["keys", *arguments])


def told(house: Installation, *arguments: str, **further: str) -> Any:
    """The one object that a command prints; it must succeed and print nothing else."""
    result = keys(house, *arguments, "--json", **further)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    return json.loads(result.stdout)


def line(house: Installation, *arguments: str, **further: str) -> str:
    """The one line that a command prints; it must succeed and print nothing else."""
    result = keys(house, *arguments, **further)
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    (only,) = result.stdout.splitlines()
    return only


def refused(house: Installation, code: int, *arguments: str, **further: str) -> str:
    """The one line that a command refuses with; nothing may have changed."""
    before = everything_stored(house.service.store), files(house)
    result = keys(house, *arguments, **further)
    assert (result.exit_code, result.stdout) == (code, "")
    assert result.stderr.count("\n") == 1
    assert (everything_stored(house.service.store), files(house)) == before
    return result.stderr.rstrip("\n")


def files(house: Installation) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in house.folder.iterdir() if "sqlite3" not in path.name}


def first(house: Installation) -> str:
    return str(told(house, "list")["keys"][0]["vkey"])


def record(house: Installation) -> str:
    house.post("/tables/t/books", {"size": 1})
    return house.checkpoint()


# --- new and revoke --------------------------------------------------------------------------------


def test_a_new_key_signs_beside_the_old_one_from_the_next_head_on(running: Installation) -> None:
    old, made = first(running), told(running, "new")
    assert made == {"vkey": made["vkey"], "status": "active", "index": 2}
    assert len(parse_note(running.checkpoint()).signatures) == 1
    later = record(running)
    for vkey in (old, made["vkey"]):
        check_checkpoint(later, [parse_vkey(vkey)], ORIGIN)
    assert running.client.get("/v1/log/key").text == f"{old}\n{made['vkey']}\n"


@pytest.mark.parametrize(
    ("flags", "status", "signatures", "said"),
    [([], "retired", 2, "it signs no head after"), (["--compromised"], "compromised", 1, "it signs no head any more")],
)
def test_the_old_one_is_revoked(
    running: Installation, flags: list[str], status: str, signatures: int, said: str
) -> None:
    old, made = first(running), told(running, "new")
    record(running)
    assert line(running, "revoke", old, *flags) == f"{old} is {status} by record 4; {said}"
    assert len(parse_note(running.checkpoint()).signatures) == signatures
    check_checkpoint(record(running), [parse_vkey(made["vkey"])], ORIGIN)
    assert len(parse_note(running.checkpoint()).signatures) == 1
    assert running.client.get("/v1/log/key").text == made["vkey"] + "\n"


def test_new_and_revoke_say_what_they_did_in_one_line_or_object(running: Installation) -> None:
    old, said = first(running), line(running, "new")
    vkey, rest = said.split(" ", 1)
    assert parse_vkey(vkey).name == ORIGIN
    assert rest == "is added by record 2; it signs every head after that"
    assert told(running, "revoke", old) == {"vkey": old, "status": "retired", "index": 3}


@pytest.mark.parametrize("flags", [[], ["--compromised"]])
def test_the_last_key_is_not_revoked(running: Installation, flags: list[str]) -> None:
    only = first(running)
    said = refused(running, 2, "revoke", only, *flags)
    assert said == f"fairshoe keys revoke: No key but {only} signs the log. Make another first: fairshoe keys new"


def test_an_ended_key_is_not_revoked_again(running: Installation) -> None:
    old = first(running)
    line(running, "new")
    line(running, "revoke", old)
    said = refused(running, 2, "revoke", old, "--compromised")
    assert said == f"fairshoe keys revoke: The key {old} is retired already. See which there are: fairshoe keys list"


def test_a_key_of_another_log_is_not_revoked(running: Installation) -> None:
    other = str(SignerKey.from_seed(ORIGIN, bytes(32)).vkey)
    said = refused(running, 2, "revoke", other)
    assert said == f"fairshoe keys revoke: No key of this log is {other}. See which there are: fairshoe keys list"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x", "verifier key: expected name+id+key, got 'x'"),
        ("a+00000000+AAAA", "key: expected signature type 1 or 4, got 0"),
        ("", "verifier key: expected name+id+key, got ''"),
    ],
)
def test_what_is_no_vkey_is_refused_as_such(running: Installation, text: str, said: str) -> None:
    assert f"Invalid value for 'VKEY': {said}" in refused(running, 2, "revoke", text)


def test_there_is_an_end_to_new_keys(running: Installation) -> None:
    for _ in range(MOST_ACTIVE - 1):
        line(running, "new")
    said = refused(running, 2, "new")
    assert said == f"fairshoe keys new: {MOST_ACTIVE} keys sign the log. Revoke one first: fairshoe keys revoke VKEY"


# --- list --------------------------------------------------------------------------------------------


def test_the_list_has_all_that_the_log_tells_of_each_key(running: Installation) -> None:
    old, made = first(running), told(running, "new")["vkey"]
    told(running, "revoke", old)
    entries = [running.client.get(f"/v1/log/entries/{index}").json for index in range(4)]
    times = [entry["time"] for entry in entries]
    assert told(running, "list") == {
        "log": ORIGIN,
        "size": 4,
        "keys": [
            {
                "vkey": old,
                "status": "retired",
                "added": {"index": 0, "time": times[0]},
                "ended": {"index": 3, "time": times[3]},
                "signs": True,
            },
            {
                "vkey": made,
                "status": "active",
                "added": {"index": 2, "time": times[2]},
                "ended": None,
                "signs": True,
            },
        ],
    }
    record(running)
    assert [key["signs"] for key in told(running, "list")["keys"]] == [False, True]


def test_for_people_it_is_a_table(running: Installation) -> None:
    old, made = first(running), told(running, "new")["vkey"]
    result = keys(running, "list")
    head, one, two, blank, footnote = result.stdout.splitlines()
    assert head.split() == ["Status", "Added", "by", "Ended", "by", "Signs", "Key"]
    assert (one.split()[0], one.split()[-2:]) == ("active", ["yes", old])
    assert (two.split()[0], two.split()[-2:]) == ("active", ["no", made])
    assert (blank, footnote) == ("", "Signs: whether the checkpoint over 3 records has its line")


# --- rotate ------------------------------------------------------------------------------------------


def test_the_vaults_key_is_exchanged_and_the_service_goes_on(running: Installation) -> None:
    path = running.folder / "vault.key"
    before = path.read_bytes()
    assert line(running, "rotate") == f"{path} holds a new key, and all 2 secrets are sealed under it"
    assert len(path.read_bytes()) == 32
    assert path.read_bytes() != before
    running.deal_out(running.sealed())
    assert told(running, "rotate") == {"secrets": 2, "sealed_anew": 2, "file": str(path)}
    record(running)


def test_given_keys_are_exchanged_for_the_first(found: Found) -> None:
    house = found(clock=real_world().now)
    house.table(**EVERY_COUP)
    with_file = (house.folder / "vault.key").read_bytes().hex()
    given = {VAULT_KEY: f"{NEW},{with_file}"}
    assert told(house, "rotate", **given) == {"secrets": 2, "sealed_anew": 2, "file": None}
    said = keys(house, "rotate", **given).stdout.splitlines()
    assert said == [
        f"All 2 secrets are under the first key of {VAULT_KEY}, 0 of them anew",
        "The other keys may go from it, on every server that has the first one first",
    ]
    assert told(house, "list", **{VAULT_KEY: NEW})["size"] == 2
    assert (house.folder / "vault.key").read_bytes().hex() == with_file


def test_a_single_given_key_is_not_rotated(running: Installation) -> None:
    key = (running.folder / "vault.key").read_bytes().hex()
    said = refused(running, 3, "rotate", **{VAULT_KEY: key})
    assert said == f"fairshoe: {VAULT_KEY}: expected the new key and the one before it, as NEW,OLD, got 'one key'"


# --- what does not fit ---------------------------------------------------------------------------------


WRITERS = ["new", "rotate"]


@pytest.mark.parametrize("command", WRITERS)
def test_nothing_is_written_while_nothing_may_be_signed(running: Installation, command: str) -> None:
    (running.folder / "halt").write_text("The auditor found leaf 3 changed.")
    assert refused(running, 3, command).startswith("fairshoe: The auditor found leaf 3 changed. Reading goes on")
    assert told(running, "list")["size"] == 2


def test_revoking_is_writing_too(running: Installation) -> None:
    line(running, "new")
    (running.folder / "halt").write_text("The auditor found leaf 3 changed.")
    assert refused(running, 3, "revoke", first(running)).startswith("fairshoe: The auditor found leaf 3 changed.")


@pytest.mark.parametrize("command", [["list"], ["new"], ["rotate"]])
def test_without_a_database_there_is_nothing_to_work_on_and_nothing_is_made(tmp_path: Path, command: list[str]) -> None:
    env = {"FAIRSHOE_DATA": str(tmp_path / "nothing"), "DATABASE_URL": None, VAULT_KEY: None}
    result = CliRunner(env=env).invoke(fairshoe, ["keys", *command])
    database = tmp_path / "nothing" / "fairshoe.sqlite3"
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr == f"fairshoe: {database}: there is no database; set FAIRSHOE_DATA to the service's folder\n"
    assert not (tmp_path / "nothing").exists()


def test_a_database_that_never_served_is_not_made_a_log(found: Found, tmp_path: Path, new_database: Any) -> None:
    url = new_database()
    folder = tmp_path / "empty"
    folder.mkdir(mode=0o700)
    if url is None:
        (folder / "fairshoe.sqlite3").touch()
    env = {"FAIRSHOE_DATA": str(folder), "DATABASE_URL": url, VAULT_KEY: None}
    result = CliRunner(env=env).invoke(fairshoe, ["keys", "new"])
    assert (result.exit_code, result.stdout) == (3, "")
    assert result.stderr.endswith(": no service was started on it yet; run: fairshoe serve\n")
    assert not (folder / "vault.key").exists()


@pytest.mark.parametrize("command", WRITERS)
def test_another_vaults_key_changes_nothing(running: Installation, command: str) -> None:
    said = refused(running, 3, command, **{VAULT_KEY: f"{NEW},{OLD}"})
    assert "the vault's key does not open a secret of this database: is it another's?" in said
    assert NEW not in said


@pytest.mark.parametrize("command", [["list"], ["new"], ["rotate"]])
def test_a_key_of_another_form_is_refused_and_not_shown(running: Installation, command: list[str]) -> None:
    said = refused(running, 3, *command, **{VAULT_KEY: NEW + "0"})
    assert said.startswith(f"fairshoe: {VAULT_KEY}: key 1 of 1: expected 64 hex digits")
    assert NEW[:16] not in said


def test_a_folder_that_others_may_enter_is_refused(running: Installation) -> None:
    running.folder.chmod(0o755)
    said = refused(running, 3, "new")
    assert said == (f"fairshoe: {running.folder}: others on this machine may read it; run: chmod 700 {running.folder}")


def test_no_subcommand_shows_help(running: Installation) -> None:
    result = keys(running)
    assert result.exit_code == 2
    assert all(f"\n  {name} " in result.stderr for name in ("list", "new", "revoke", "rotate"))


@pytest.mark.parametrize("name", ["list", "new", "revoke", "rotate"])
def test_every_subcommands_help_has_examples(running: Installation, name: str) -> None:
    shown = keys(running, name, "--help").stdout.split("Examples:\n")[1].splitlines()
    assert shown
    assert all(f"fairshoe keys {name}" in example for example in shown)
