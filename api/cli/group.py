"""The group of all commands: it loads them late, prints one line for a fault, and turns faults into exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import click
from click.exceptions import NoArgsIsHelpError

from api.cli.output import BadInput, EnvironmentFault, colour_wanted
from api.settings import SetupError
from shoe.errors import InputError

INTERRUPTED: Final = 130
"""The exit code of a command stopped by Ctrl-C, as shells have it."""


class Listed(NamedTuple):
    """A command as the group lists it: what it does, in one line, and how to load it."""

    summary: str
    load: Callable[[], click.Command]


class Group(click.Group):
    """A click group of commands that are loaded when called, each returning its exit code (None for 0)."""

    def __init__(self, *args: Any, listed: Mapping[str, Listed], **further: Any) -> None:
        super().__init__(*args, **further)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands, in the order given."""
        return list(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load a command, or give None where there is none of that name."""
        return self.listed[cmd_name].load() if cmd_name in self.listed else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands for --help without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.summary) for name, listed in self.listed.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; input refused becomes the caller's fault, an unfit installation the environment's."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise BadInput(str(error)) from None
        except SetupError as error:
            raise EnvironmentFault(str(error)) from None

    def main(self, *args: Any, standalone_mode: bool = True, **further: Any) -> Any:
        """Run the command line, and exit the process unless `standalone_mode` is false."""
        run: Callable[..., Any] = partial(super().main, *args, standalone_mode=False)
        further.setdefault("color", colour_wanted(os.environ))
        if not standalone_mode:
            return run(**further)
        try:
            sys.exit(run(**further))
        except NoArgsIsHelpError as error:
            error.show()
            sys.exit(error.exit_code)
        except click.ClickException as error:
            click.echo(_one_line(error), err=True)
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(INTERRUPTED)


def _one_line(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "fairshoe"
    misused = isinstance(error, click.UsageError) and not isinstance(error, BadInput)
    message = " ".join(error.format_message().split()).rstrip(".")
    return f"{path}: {message}; see '{path} --help'" if misused else f"{path}: {message}"
