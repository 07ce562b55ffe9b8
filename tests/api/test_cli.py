"""The command as a whole: help, exit codes, one-line refusals, what it writes where, and what it loads."""

from __future__ import annotations

import importlib
import json
import os
import pty
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from api.cli import COMMANDS, fairshoe
from api.cli.group import Group, Listed
from api.cli.output import JSON_WIDTH, EnvironmentFault, colour_wanted, columns, json_option, print_object, print_text
from api.settings import SetupError
from shoe.errors import ImpossibleError, RulesError

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
LIGHT = {
    "verify": ["bundle.json", "--vkey", "vkey"],
    "shuffle": ["--server-seed", "00" * 32, "--transcript", "transcript.json"],
    "odds": [],
    "roads": ["BPTB"],
}
HEAVY = {"flask", "scipy", "numpy", "sqlalchemy", "pydantic", "py_ecc", "rich", "alembic", "gunicorn", "werkzeug"}


def call(*args: str) -> Result:
    return CliRunner().invoke(fairshoe, args)


RUN = "import atexit, os, sys; sys.path.insert(0, sys.argv.pop(1)); {before}; from api.cli import main; main()"


def process(args: Sequence[str], before: str = "0", **further: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command as its own process, after a statement of the test's."""
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": GOLDEN} | further
    command = [sys.executable, "-c", RUN.format(before=before), str(ROOT), *args]
    return subprocess.run(command, check=False, **given)  # type: ignore[call-overload]


# --- help --------------------------------------------------------------------------------------


def test_help_lists_every_command_and_exit_code() -> None:
    text = call("--help").stdout
    for name, listed in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(listed.summary)}$", text, re.MULTILINE)
    assert [line.split()[0] for line in text.split("Exit codes:\n")[1].splitlines()] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_commands_help_begins_with_its_summary_and_ends_with_examples_of_it(name: str) -> None:
    lines = call(name, "--help").stdout.splitlines()
    assert lines[2].strip() == COMMANDS[name].summary
    examples = [line.strip() for line in lines[lines.index("  Examples:") + 1 :]]
    assert examples
    assert all(f"fairshoe {name}" in example for example in examples)


@pytest.mark.parametrize("name", ["odds", "roads"])
def test_the_examples_run(name: str) -> None:
    shown = call(name, "--help").stdout.split("Examples:\n")[1].splitlines()
    results = [call(*shlex.split(example)[1:]) for example in shown]
    assert [result.exit_code for result in results] == [0] * len(shown)


def test_no_command_at_all_shows_help_and_exits_with_2() -> None:
    result = call()
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Commands:" in result.stderr


def test_the_version_is_the_distributions() -> None:
    declared = (ROOT / "pyproject.toml").read_text().split('\nversion = "')[1].split('"')[0]
    assert call("--version").stdout == f"fairshoe, version {declared}\n"


# --- what is loaded ----------------------------------------------------------------------------


def loaded(args: Sequence[str]) -> set[str]:
    """Names of all modules that are loaded when the command exits."""
    result = process(args, "atexit.register(lambda: print(*sys.modules, file=sys.stderr))")
    assert result.returncode in (0, 1), result.stderr.decode()[-500:]
    return set(result.stderr.decode().split())


@pytest.mark.parametrize("name", LIGHT)
def test_a_light_command_loads_nothing_heavy(name: str) -> None:
    modules = loaded([name, *LIGHT[name], "--json"])
    assert f"api.cli.{name}" in modules
    assert {module.split(".")[0] for module in modules} & HEAVY == set()


def test_help_loads_no_command() -> None:
    modules = loaded(["--help"])
    assert "api.cli.group" in modules
    assert modules & {f"api.cli.{name}" for name in COMMANDS} == set()


def test_the_entry_point_exists() -> None:
    (line,) = (line for line in (ROOT / "pyproject.toml").read_text().splitlines() if line.startswith("fairshoe = "))
    module, name = line.split('"')[1].split(":")
    assert callable(getattr(importlib.import_module(module), name))


# --- refusals ----------------------------------------------------------------------------------

REFUSED = {
    "unknown_command": (["deal"], "fairshoe: No such command 'deal'"),
    "unknown_group_option": (["--jsn"], "fairshoe: No such option"),
    "unknown_option": (["odds", "--deck", "8"], "fairshoe odds: No such option"),
    "missing_argument": (["roads"], "fairshoe roads: Missing argument"),
    "missing_option": (["shuffle", "--server-seed", "00" * 32], "fairshoe shuffle: Missing option '--transcript'"),
    "missing_value": (["odds", "--decks"], "fairshoe: Option '--decks' requires an argument"),
    "superfluous_argument": (["odds", "8"], "fairshoe odds: Got unexpected extra argument"),
    "missing_file": (["verify", "no-such"], "fairshoe verify: no-such: No such file or directory; name a file"),
    "directory": (["verify", "."], "fairshoe verify: .: Is a directory; name a file"),
}


@pytest.mark.parametrize(("args", "begins"), REFUSED.values(), ids=REFUSED)
def test_bad_usage_is_one_line_on_standard_error(args: list[str], begins: str) -> None:
    result = call(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith(begins)
    assert result.stderr.count("\n") == 1
    assert result.stderr.endswith("\n")


def command_that(does: Callable[[], object]) -> Group:
    """A group of one command, `go`, that does this."""
    go = click.Command("go", callback=does, params=[])
    return Group("fairshoe", listed={"go": Listed("Go.", lambda: go)})


def raising(error: BaseException) -> Group:
    def does() -> None:
        raise error

    return command_that(does)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (RulesError("decks: expected 1…16"), 2, "fairshoe: decks: expected 1…16\n"),
        (SetupError("the key is another's"), 3, "fairshoe: the key is another's\n"),
        (EnvironmentFault("no database"), 3, "fairshoe: no database\n"),
        (click.ClickException("two\nlines"), 1, "fairshoe: two lines\n"),
        (KeyboardInterrupt(), 130, "\n"),
    ],
    ids=["input", "setup", "environment", "several_lines", "interrupted"],
)
def test_a_fault_has_its_exit_code(error: BaseException, code: int, said: str) -> None:
    result = CliRunner().invoke(raising(error), ["go"])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", said)


def test_a_fault_of_ours_is_not_dressed_up() -> None:
    result = CliRunner().invoke(raising(ImpossibleError("the cards ran out")), ["go"])
    assert isinstance(result.exception, ImpossibleError)


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (1, 1)])
def test_a_commands_answer_is_the_exit_code(returned: int | None, code: int) -> None:
    assert CliRunner().invoke(command_that(lambda: returned), ["go"]).exit_code == code


def test_called_from_python_the_group_neither_exits_nor_hides_its_errors() -> None:
    assert command_that(lambda: 1).main(["go"], "fairshoe", standalone_mode=False) == 1
    with pytest.raises(click.UsageError, match="decks"):
        raising(RulesError("decks")).main(["go"], "fairshoe", standalone_mode=False)


# --- what is written where ---------------------------------------------------------------------


def test_a_full_disk_is_the_environments_fault() -> None:
    with open("/dev/full", "wb") as full:
        result = process(["roads", "BPTB"], stdout=full)
    assert result.returncode == 3
    assert result.stderr.decode() == "fairshoe: standard output can't be written: No space left on device\n"


def test_a_closed_pipe_is_no_failed_verification() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        result = process(["verify", "bundle.json", "--vkey", "vkey"], stdout=pipe)
    assert result.returncode == 3
    assert result.stderr.decode() == "fairshoe: standard output can't be written: Broken pipe\n"


def test_closed_standard_input_is_refused() -> None:
    result = process(["verify", "-"], "os.close(0); sys.stdin = None")
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"fairshoe verify: -: standard input is closed; name a file that can be read\n"


def test_an_ascii_terminal_gets_question_marks_and_json_needs_none() -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    text = process(["odds", "--decks", "1"], env=ascii_only)
    assert text.returncode == 0
    assert b"banker draws on 0?5" in text.stdout
    plain = process(["verify", "bundle.json", "--json"], env=ascii_only)
    assert "…" in json.loads(plain.stdout)["checks"][3]["detail"]


def on_terminal(environment: dict[str, str]) -> bytes:
    """What `verify` writes to a terminal."""
    ours, theirs = pty.openpty()
    process(["verify", "bundle.json", "--vkey", "vkey"], stdout=theirs, env=environment)
    os.close(theirs)
    written = b""
    try:
        while piece := os.read(ours, 65536):
            written += piece
    except OSError:  # Linux's end of a terminal whose other side is closed
        pass
    os.close(ours)
    return written


def test_no_color_holds_on_a_terminal() -> None:
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    assert b"\x1b[32mVALID" in on_terminal(plain)
    assert b"\x1b[32mVALID" in on_terminal({**plain, "NO_COLOR": ""})
    assert b"\x1b" not in on_terminal({**plain, "NO_COLOR": "1"})


def test_a_pipe_gets_no_colour() -> None:
    assert b"\x1b" not in process(["verify", "bundle.json", "--vkey", "vkey"]).stdout


def test_colour_is_off_only_where_no_color_has_a_value() -> None:
    """By no-color.org: present and not empty, whatever the value."""
    assert [colour_wanted(e) for e in ({}, {"NO_COLOR": ""}, {"NO_COLOR": "0"})] == [None, None, False]


def test_a_short_object_is_one_line_of_ascii(capsys: pytest.CaptureFixture[str]) -> None:
    print_object({"why": "0…7", "list": [[1, "a"]], "none": None})
    assert capsys.readouterr().out == '{"why": "0\\u20267", "list": [[1, "a"]], "none": null}\n'


def test_what_is_too_wide_has_an_item_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    wide = "x" * JSON_WIDTH
    print_object({"text": wide, "short": (1, 2), "list": [wide, {"a": wide, "b": {}}]})
    shown = ["{", f' "text": "{wide}",', ' "short": [1, 2],', ' "list": [', f'  "{wide}",']
    shown += ["  {", f'   "a": "{wide}",', '   "b": {}', "  }", " ]", "}"]
    assert capsys.readouterr().out.splitlines() == shown


@given(st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(max_size=60), st.lists)))
def test_what_is_printed_is_the_object(value: dict[str, object]) -> None:
    @click.command()
    def go() -> None:
        print_object(value)

    assert json.loads(CliRunner().invoke(go).stdout) == value


def test_lines_lose_their_trailing_blanks_and_lone_surrogates(capsys: pytest.CaptureFixture[str]) -> None:
    print_text("a  ", "", "\ud800b ")
    assert capsys.readouterr().out == "a\n\n?b\n"


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    assert columns([("a", 1, ""), ("bcd", 10, "x")], "<><") == ["a     1", "bcd  10  x"]


def test_columns_refuse_rows_of_different_length() -> None:
    with pytest.raises(ValueError, match="argument 2 is"):
        columns([("a", 1), ("b",)], "<>")


def test_the_json_option_is_a_flag() -> None:
    @click.command()
    @json_option
    def go(as_json: bool) -> None:
        print_text(str(as_json))

    assert [CliRunner().invoke(go, args).stdout for args in ([], ["--json"])] == ["False\n", "True\n"]
