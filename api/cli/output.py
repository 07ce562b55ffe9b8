"""The one place that writes: results to standard output, all else to standard error; colour; faults' exit codes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import click

JSON_WIDTH: Final = 180

F = TypeVar("F", bound=Callable[..., Any])


class BadInput(click.UsageError):
    """What the caller gave can't be used: exit code 2. The message says what, where, and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, click.get_current_context(silent=True))


class EnvironmentFault(click.ClickException):
    """What the command needs around it is missing or broken: exit code 3."""

    exit_code = 3


def colour_wanted(environment: Mapping[str, str]) -> bool | None:
    """Say False where NO_COLOR is set and not empty, else None: click then colours terminals only."""
    return False if environment.get("NO_COLOR") else None


def json_option(command: F) -> F:
    """Give a command the flag --json, as the argument `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object on standard output.")(command)


def examples(*lines: str) -> str:
    """Build the end of a command's --help, one line an example."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def print_object(value: Mapping[str, Any]) -> None:
    """Print one JSON object on standard output, in ASCII; what is too wide for a line has an item a line."""
    _write(_layout(value))


def _layout(value: Any, indent: str = "") -> str:
    text = json.dumps(value)
    if len(indent + text) <= JSON_WIDTH or not isinstance(value, Mapping | list | tuple):
        return text
    deeper = indent + " "
    if isinstance(value, Mapping):
        items = [f"{json.dumps(key)}: {_layout(inner, deeper)}" for key, inner in value.items()]
    else:
        items = [_layout(inner, deeper) for inner in value]
    return text[0] + "".join(f"\n{deeper}{item}," for item in items)[:-1] + f"\n{indent}{text[-1]}"


def print_text(*lines: str) -> None:
    """Print lines for people on standard output; characters its encoding lacks become question marks."""
    _write("\n".join(line.rstrip() for line in lines))


def note(line: str) -> None:
    """Print a line on standard error, where it can't disturb a result; nowhere, where nobody reads that any more."""
    with suppress(OSError):
        click.echo(line, err=True)


def columns(rows: Iterable[Sequence[object]], align: str) -> list[str]:
    """Lay rows out in columns two blanks apart; `align` has ``<`` or ``>`` for each column."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)).rstrip()
        for row in cells
    ]


def require_stdout() -> None:
    """Refuse to work for a result that can't be shown: raises EnvironmentFault where standard output is closed."""
    if sys.stdout is None:
        raise EnvironmentFault("standard output is closed: the result would be lost")


def _write(text: str) -> None:
    require_stdout()
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    try:
        click.echo(text.encode(encoding, "replace").decode(encoding))
    except OSError as error:
        forget_stdout()
        raise EnvironmentFault(f"standard output can't be written: {error.strerror}") from None


def forget_stdout() -> None:
    """Send what is still buffered nowhere, or the interpreter fails once more when it exits."""
    with suppress(OSError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
