"""What holds of every command: help with examples that parse, one JSON object, one line for a fault, completion.

Commands are found by walking the tree, so that a new one is held to all of this; it must be given a run in `RUNS`, or
stand in `ELSEWHERE`, or a test fails.
"""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from api.cli import EXIT_CODES, fairshoe
from api.cli.completion import SHELLS
from api.cli.output import note
from api.settings import VAULT_KEY
from api.world import real_world
from tests.api.installation import ON_SQLITE, SMALL, Found, Installation
from tests.api.test_cli import GOLDEN, ROOT, process

Path_ = tuple[str, ...]

ELIDED = re.compile("[0-9a-f]{4}…[0-9a-f]{4}")
ASSIGNMENT = re.compile(r"[A-Z_]+=\S+")
UUID = "01890000-0000-7000-8000-000000000000"


def tree(command: click.Command = fairshoe, path: Path_ = ()) -> Iterator[tuple[Path_, click.Command]]:
    """Every command and group, by the words that call it."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from tree(found, (*path, name))


TREE = dict(tree())
GROUPS = {path for path, command in TREE.items() if isinstance(command, click.Group)}
RUNNABLE = [path for path, found in TREE.items() if path not in GROUPS or getattr(found, "invoke_without_command", 0)]


def words(path: Path_) -> str:
    return " ".join(path) or "fairshoe"


def call(*args: str, house: Installation | None = None) -> Result:
    given = {} if house is None else {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    return CliRunner(env={"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given}).invoke(fairshoe, args)


def test_the_tree_is_walked_whole() -> None:
    assert {("keys", "rotate"), ("log", "proof"), ("export", "check"), ("export",)} <= set(RUNNABLE)
    assert ("keys",) not in RUNNABLE


# --- help --------------------------------------------------------------------------------------


def examples_of(path: Path_) -> list[str]:
    shown = call(*path, "--help")
    assert (shown.exit_code, shown.stderr) == (0, "")
    return [line.strip() for line in shown.stdout.split("  Examples:\n")[1].splitlines() if line.strip()]


@pytest.mark.parametrize("path", [path for path in TREE if path], ids=words)
def test_help_ends_with_examples_of_the_command(path: Path_) -> None:
    examples = examples_of(path)
    assert examples
    assert all(f"fairshoe {' '.join(path)}" in example for example in examples)


@pytest.mark.parametrize("path", [path for path in TREE if path], ids=words)
def test_the_examples_parse(path: Path_, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every word of an example is taken by click and by the option's own parser; nothing is run but that."""
    monkeypatch.chdir(GOLDEN)
    parsed: list[str] = []
    monkeypatch.setattr(click.Command, "invoke", lambda _, context: parsed.append(context.command_path))
    for example in examples_of(path):
        arguments = arguments_of(example)
        result = call(*arguments)
        assert (result.exit_code, result.stderr) == (0, ""), f"{example}: {result.stderr}"
        named = tuple(parsed[-1].split()[1:])
        assert named == tuple(arguments[: len(named)])
        assert named[: len(path)] == path
        assert named in RUNNABLE


def arguments_of(example: str) -> list[str]:
    """What the shell would give to the program: without assignments, and what is behind a redirection or a pipe.

    Placeholders stand for what is the reader's own, and an elided seed for a whole one.
    """
    substituted = re.search(r"\$\((.*)\)", example)
    parts = shlex.split(substituted[1] if substituted else example)
    while ASSIGNMENT.fullmatch(parts[0]):
        parts.pop(0)
    assert parts.pop(0) == "fairshoe"
    for sign in ("<", ">", "|"):
        if sign in parts:
            del parts[parts.index(sign) :]
    named = {"VKEY": (GOLDEN / "vkey").read_text().strip(), "ID": UUID}
    return ["00" * 32 if ELIDED.fullmatch(part) else named.get(part, part) for part in parts]


def test_the_parsing_of_examples_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(click.Command, "invoke", lambda *_: None)
    assert call(*arguments_of("A=b fairshoe odds --decks 6 > file")).exit_code == 0
    assert call(*arguments_of("fairshoe odds --decks 60")).exit_code == 2
    assert call(*arguments_of("fairshoe odds --deck 6")).exit_code == 2


def test_help_says_what_the_exit_codes_are() -> None:
    shown = call("--help").stdout
    assert "Exit codes:" in shown
    assert re.findall(r"^  ([0-9])  \S", EXIT_CODES, re.MULTILINE) == ["0", "1", "2", "3"]
    assert all(line.strip() in shown for line in EXIT_CODES.splitlines()[1:])


# --- one JSON object ---------------------------------------------------------------------------


@pytest.fixture
def house(found: Found, tmp_path: Path) -> Installation:
    """A service that the commands work beside, and its whole archive and log key in the folder of the test."""
    house = found(clock=real_world().now)
    house.table("t", book=2, **SMALL)
    (tmp_path / "vkey").write_text(house.client.get("/v1/log/key").text)
    made = call("export", "--out", str(tmp_path / "archive"), house=house)
    assert made.exit_code == 0
    return house


def first_key(house: Installation) -> str:
    return str(json.loads(call("accounts", "list", "--json", house=house).stdout)["keys"][0]["id"])


def another_log_key(house: Installation) -> str:
    return str(json.loads(call("keys", "new", "--json", house=house).stdout)["vkey"])


def new_webhook(house: Installation) -> str:
    asked = {"url": "https://casino.example/hook", "events": ["shoe.opened"]}
    return str(house.post("/webhooks", asked)["id"])


Run = Callable[[Installation, Path], list[str]]

RUNS: dict[Path_, Run] = {
    ("verify",): lambda _, __: ["bundle.json", "--vkey", "vkey"],
    ("shuffle",): lambda _, __: ["--server-seed", "00" * 32, "--transcript", "transcript.json"],
    ("odds",): lambda _, __: ["--decks", "6"],
    ("roads",): lambda _, __: ["BPTB"],
    ("audit",): lambda _, __: ["bundle.json", "--vkey", "vkey", "--decks", "1"],
    ("certify",): lambda _, __: ["--table", "np_punto_banco", "--power", ".9"],
    ("migrate",): lambda _, __: [],
    ("backup",): lambda _, to: [str(to / "backup")],
    ("export",): lambda _, to: ["--format", "csv", "--out", str(to / "csv")],
    ("export", "check"): lambda _, to: [str(to / "archive"), "--vkey", str(to / "vkey")],
    ("statistics",): lambda _, __: ["--table", "t"],
    ("monitor",): lambda _, __: ["--table", "t"],
    ("keys", "new"): lambda _, __: [],
    ("keys", "list"): lambda _, __: [],
    ("keys", "revoke"): lambda house, _: [another_log_key(house)],
    ("keys", "rotate"): lambda _, __: [],
    ("accounts", "new"): lambda _, __: ["--roles", "client", "--name", "n"],
    ("accounts", "list"): lambda _, __: [],
    ("accounts", "revoke"): lambda house, _: [first_key(house)],
    ("log", "check"): lambda _, __: [],
    ("log", "proof"): lambda _, __: ["0"],
    ("book", "new"): lambda _, __: ["t", "--size", "1"],
    ("webhooks", "list"): lambda _, __: [],
    ("webhooks", "dead"): lambda _, __: [],
    ("webhooks", "redeliver"): lambda house, _: [new_webhook(house)],
    ("completion",): lambda _, __: ["zsh"],
}
"""A run of a command that succeeds, by the arguments behind its name."""

ELSEWHERE = {
    ("demo",): "test_demo.py",
    ("serve",): "test_cli_serve.py",
    ("restore",): "test_backup.py",
    ("bench",): "test_cli_certify.py",
    ("report",): "test_cli_report.py",
}
"""Commands that run for long or without a service, and the file of tests that looks at what they print."""


def test_every_command_has_a_run_here_or_elsewhere() -> None:
    assert {*RUNS, *ELSEWHERE} == set(RUNNABLE)
    for path, file in ELSEWHERE.items():
        text = (ROOT / "tests" / "api" / file).read_text()
        assert f'"{path[-1]}"' in text
        assert "--json" in text


@pytest.mark.parametrize("path", RUNNABLE, ids=words)
def test_every_command_offers_json(path: Path_) -> None:
    (option,) = (param for param in TREE[path].params if "--json" in param.opts)
    assert isinstance(option, click.Option)
    assert (option.name, option.is_flag) == ("as_json", True)


@pytest.mark.parametrize("path", RUNS, ids=words)
@ON_SQLITE
def test_json_is_one_object_and_nothing_else(
    path: Path_, house: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)
    result = call(*path, *RUNS[path](house, tmp_path), "--json", house=house)
    assert result.exit_code == 0, result.stderr
    assert isinstance(json.loads(result.stdout), dict)
    assert result.stdout.isascii()
    assert result.stdout.endswith("}\n")
    assert not result.stderr.startswith("{")


@pytest.mark.parametrize("path", RUNS, ids=words)
@ON_SQLITE
def test_for_people_there_is_text_without_colour_where_nobody_looks(
    path: Path_, house: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)
    result = call(*path, *RUNS[path](house, tmp_path), house=house)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip()
    assert "\x1b" not in result.output


WRITERS = {"output.py", "emit.py"}
"""The only modules of the command that may write to standard output."""


def test_one_place_writes() -> None:
    """So that what holds of a closed or broken standard output holds of every command."""
    found = set()
    for path in (ROOT / "api" / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            named = ast.unparse(node) if isinstance(node, ast.Attribute) else ""
            if called in ("print", "click.echo", "click.secho") or named == "sys.stdout":
                found.add(path.name)
    assert found == WRITERS


# --- faults ------------------------------------------------------------------------------------


def said(result: Result, path: Path_) -> str:
    """The one line of a command that was misused."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith(" ".join(("fairshoe", *path)) + ": ")
    assert f"see '{' '.join(('fairshoe', *path))} --help'\n" in result.stderr
    return result.stderr


@pytest.mark.parametrize("path", TREE, ids=words)
def test_an_unknown_option_is_refused_in_one_line(path: Path_) -> None:
    assert "No such option '--colour-blind'" in said(call(*path, "--colour-blind"), path)


@pytest.mark.parametrize("path", RUNNABLE, ids=words)
def test_an_option_that_is_nearly_right_is_named(path: Path_) -> None:
    assert "'--json'" in said(call(*path, "--jsn"), path).split("Did you mean")[1]


@pytest.mark.parametrize("path", sorted(GROUPS), ids=words)
def test_a_command_that_is_nearly_right_is_named(path: Path_) -> None:
    context = click.Context(TREE[path])
    for name in TREE[path].list_commands(context):  # type: ignore[attr-defined]
        line = said(call(*path, name + "x"), path)
        assert f"No such command '{name}x'" in line
        assert f"'{name}'" in line.split("Did you mean")[1]
    assert "Did you mean" not in said(call(*path, "zzzzzzzz"), path)


REQUIRED = [
    path
    for path in RUNNABLE
    if any(param.required and not param.is_eager for param in TREE[path].params) and path not in GROUPS
]


@pytest.mark.parametrize("path", REQUIRED, ids=words)
def test_what_is_missing_is_named(path: Path_) -> None:
    missing = [param for param in TREE[path].params if param.required]
    line = said(call(*path), path)
    assert any(f"Missing {param.param_type_name} '{shown(param)}'" in line for param in missing)


def takes_any(path: Path_) -> bool:
    return any(param.nargs == -1 for param in TREE[path].params)


def shown(param: click.Parameter) -> str:
    return param.opts[0] if isinstance(param, click.Option) else param.human_readable_name


@pytest.mark.parametrize("path", [path for path in RUNNABLE if path not in GROUPS and not takes_any(path)], ids=words)
def test_superfluous_arguments_are_refused(path: Path_) -> None:
    count = sum(isinstance(param, click.Argument) for param in TREE[path].params)
    result = call(*path, *["1"] * (count + 1))
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


WRITTEN = {
    "help": ["--help"],
    "version": ["--version"],
    "group_help": ["keys", "--help"],
    "late_group_help": ["log", "--help"],
    "command_help": ["odds", "--help"],
    "result": ["odds", "--json"],
    "completion": ["completion", "fish"],
}
"""Each way by which something comes to standard output."""


@pytest.mark.parametrize("args", WRITTEN.values(), ids=WRITTEN)
def test_a_broken_pipe_and_a_full_disk_are_the_environments_fault(args: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe, open("/dev/full", "wb") as full:
        for out, why in ((pipe, "Broken pipe"), (full, "No space left on device")):
            result = process(args, stdout=out)
            line = f"fairshoe: standard output can't be written: {why}\n"
            assert (result.returncode, result.stderr.decode()) == (3, line)


CLOSED = "import os; os.close(1); sys.stdout = None"


@pytest.mark.parametrize("args", [["odds"], ["odds", "--json"], ["completion", "fish"]], ids=shlex.join)
def test_a_result_is_not_lost_in_a_closed_standard_output(args: list[str]) -> None:
    result = process(args, CLOSED)
    assert result.returncode == 3
    assert result.stderr == b"fairshoe: standard output is closed: the result would be lost\n"


def test_nothing_is_dealt_for_a_closed_standard_output() -> None:
    result = process(["certify", "--table", "np_punto_banco", "--shoes", "10", "--emit", "raw"], CLOSED)
    assert result.returncode == 3
    assert result.stderr.endswith(b"fairshoe: standard output is closed: the result would be lost\n")


def test_a_closed_standard_error_changes_no_exit_code() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        assert process(["odds", "--deks"], stderr=pipe).returncode == 2
        mismatched = ["shuffle", "--server-seed", "00" * 32, "--transcript", "transcript.json", "--json"]
        result = process(mismatched, stderr=pipe)
    assert result.returncode == 0
    assert json.loads(result.stdout)["seal"]


def test_prose_for_nobody_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    note("for nobody")


def on_error_terminal(house: Installation, **environment: str) -> str:
    """What `log check` writes to a terminal that is its standard error."""
    ours, theirs = pty.openpty()
    plain = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "DATABASE_URL")}
    given = {**plain, "TERM": "xterm", "FAIRSHOE_DATA": str(house.folder), **environment}
    result = process(["log", "check"], stderr=theirs, env=given)
    assert result.returncode == 0
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # Linux's end of a terminal whose other side is closed
        pass
    os.close(ours)
    return written.decode()


COLOUR = re.compile(r"\x1b\[[0-9;]*\b(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])(?:;[0-9;]*)?m")


@ON_SQLITE
def test_progress_keeps_to_no_color_and_to_terminals(house: Installation) -> None:
    assert COLOUR.search(on_error_terminal(house))
    plain = on_error_terminal(house, NO_COLOR="1")
    assert "records" in plain
    assert not COLOUR.search(plain)
    assert call("log", "check", house=house).stderr == ""


# --- completion --------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_that_the_shell_reads(shell: str) -> None:
    script = call("completion", shell).stdout
    assert "_FAIRSHOE_COMPLETE" in script
    told = json.loads(call("completion", shell, "--json").stdout)
    assert (told["shell"], [line.rstrip() for line in told["script"].splitlines()]) == (shell, script.splitlines())
    program = shutil.which(shell)
    if program is not None:
        read = subprocess.run([program, "-n"], input=script, text=True, capture_output=True, check=False)
        assert (read.returncode, read.stderr) == (0, "")


def completed(line: str) -> list[str]:
    """What bash is offered for the last word of a line, by the real command."""
    count = len(line.split(" ")) - 1
    env = {**os.environ, "_FAIRSHOE_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(count)}
    result = process([], env=env)
    assert (result.returncode, result.stderr) == (0, b"")
    return [each.partition(",")[2] for each in result.stdout.decode().splitlines()]


def test_commands_options_and_choices_are_completed() -> None:
    assert completed("fairshoe exp") == ["export"]
    assert completed("fairshoe ver") == ["verify"]
    assert completed("fairshoe keys r") == ["revoke", "rotate"]
    assert completed("fairshoe log ") == ["check", "proof"]
    assert completed("fairshoe odds --d") == ["--decks"]
    assert completed("fairshoe export --format ") == ["span", "csv", "parquet"]
    assert completed("fairshoe completion ") == list(SHELLS)


def test_completing_a_commands_name_loads_no_command() -> None:
    env = {**os.environ, "_FAIRSHOE_COMPLETE": "bash_complete", "COMP_WORDS": "fairshoe ", "COMP_CWORD": "1"}
    result = process([], "import atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr))", env=env)
    loaded = set(result.stderr.decode().split())
    assert "api.cli.group" in loaded
    assert loaded & {"numpy", "flask", "sqlalchemy", "api.cli.odds", "api.cli.keys"} == set()
    assert len(result.stdout.splitlines()) == len(TREE[()].list_commands(click.Context(fairshoe)))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("shell", "says"), [("tcsh", "'tcsh' is not one of 'bash', 'zsh', 'fish'"), ("", "'' is not")])
def test_another_shell_is_refused(shell: str, says: str) -> None:
    assert says in said(call("completion", shell), ("completion",))
