"""The group of all commands: it loads them late, prints one line for a fault, and turns faults into exit codes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, NamedTuple

import click
from click.exceptions import NoArgsIsHelpError, NoSuchCommand
from click.shell_completion import CompletionItem

from api.cli.output import BadInput, EnvironmentFault, colour_wanted, forget_stdout, note
from api.settings import SetupError
from shoe.errors import InputError

INTERRUPTED: Final = 130
"""The exit code of a command stopped by Ctrl-C, as shells have it."""

_UNWRITTEN: Final = (errno.EPIPE, errno.ENOSPC)


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with; raises NoSuchCommand with the names that come near."""
        try:
            return super().resolve_command(ctx, args)
        except NoSuchCommand as error:
            raise NoSuchCommand(error.command_name, possibilities=list(self.listed), ctx=ctx) from None

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without loading any command, and the group's own options."""
        names = [
            CompletionItem(name, help=listed.summary)
            for name, listed in self.listed.items()
            if name.startswith(incomplete)
        ]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands for --help without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, listed.summary) for name, listed in self.listed.items()])

    def make_context(self, *args: Any, **further: Any) -> click.Context:
        """Read the group's own options; help that can't be written is the environment's fault."""
        with _writing():
            return super().make_context(*args, **further)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; input refused becomes the caller's fault, an unfit installation the environment's."""
        try:
            with _writing():
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
            note(_one_line(error))
            sys.exit(error.exit_code)
        except click.Abort:
            sys.exit(INTERRUPTED)


@contextmanager
def _writing() -> Iterator[None]:
    """Let a pipe that was closed, or a full disk, be the environment's fault, for help as for results."""
    try:
        yield
    except OSError as error:
        if error.errno not in _UNWRITTEN or error.filename is not None:
            raise
        forget_stdout()
        raise EnvironmentFault(f"standard output can't be written: {error.strerror}") from None


def _one_line(error: click.ClickException) -> str:
    context = error.ctx if isinstance(error, click.UsageError) else None
    path = context.command_path if context else "fairshoe"
    misused = isinstance(error, click.UsageError) and not isinstance(error, BadInput)
    message = " ".join(error.format_message().split()).rstrip(".")
    if not misused:
        return f"{path}: {message}"
    return f"{path}: {message}{'' if message.endswith('?') else ';'} see '{path} --help'"
