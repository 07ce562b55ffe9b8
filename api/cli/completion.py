"""``fairshoe completion``: the script by which a shell completes commands, options and their choices."""

from __future__ import annotations

from typing import Final

import click
from click.shell_completion import get_completion_class

from api.cli.output import examples, json_option, print_object, print_text

SHELLS: Final = ("bash", "zsh", "fish")
_PROGRAM: Final = "fairshoe"
_VARIABLE: Final = "_FAIRSHOE_COMPLETE"


@click.command(
    epilog=examples(
        'eval "$(fairshoe completion bash)"',
        "fairshoe completion zsh > _fairshoe",
        "fairshoe completion fish --json",
    )
)
@click.argument("shell", metavar="SHELL", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def completion(ctx: click.Context, *, shell: str, as_json: bool) -> None:
    """Print a shell's completion script.

    SHELL is bash, zsh or fish, and reads the script at its start: bash by the first example in its .bashrc, zsh by a
    file in its fpath, fish by one in its folder of completions. Completing loads no command but the one completed.
    """
    found = get_completion_class(shell)
    if found is None:
        raise click.BadParameter(f"{shell} is a shell that this click can't complete for", ctx)
    script = found(ctx.find_root().command, {}, _PROGRAM, _VARIABLE).source()
    if as_json:
        print_object({"shell": shell, "script": script})
    else:
        print_text(script)
