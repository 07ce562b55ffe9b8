"""``fairshoe demo``: one whole shoe, played over real HTTP, proved and verified."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console

from api.certificate import certificate
from api.cli.output import EnvironmentFault, examples, json_option, print_object, print_text
from api.client import ServiceProblem, ServiceUnreachable
from api.demo import Played, findings, first_key, play, running_service, write_evidence


@click.command(epilog=examples("fairshoe demo", "fairshoe demo --json --out evidence"))
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write bundle.json, checkpoint, vkey, findings.json and the players' receipts there.",
)
@json_option
def demo(*, out: Path | None, as_json: bool) -> int:
    """Play, prove and verify one whole shoe.

    Starts the real service on a free port of this machine with a database of its own, plays np_punto_banco as three
    players, checks each coup while the shoe is in play, reveals, verifies the bundle offline, tests the outcomes and
    prints a certificate. The service and its database are gone afterwards.
    """
    console = Console(stderr=True, highlight=False)
    if out is not None:
        with _writing(out):
            out.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(prefix="fairshoe-") as folder, running_service(Path(folder) / "service") as url:
            key = first_key(Path(folder) / "service")
            played = play(url, lambda line: console.print(f"[dim]·[/dim] {line}", soft_wrap=True), key)
    except (ServiceProblem, ServiceUnreachable) as error:
        raise EnvironmentFault(str(error)) from None
    written = [] if out is None else _write(played, out)
    if as_json:
        print_object(findings(played))
    else:
        print_text(*certificate(played))
        if out is not None:
            print_text("", *_how_to_verify(out, written))
    return 0 if played.passed else 1


def _write(played: Played, out: Path) -> list[Path]:
    with _writing(out):
        return write_evidence(played, out)


@contextmanager
def _writing(out: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(f"{error.filename or out}: {error.strerror}; choose another folder with --out") from None


def _how_to_verify(out: Path, written: list[Path]) -> list[str]:
    receipts = " ".join(f"--receipt {path}" for path in written if path.name.startswith("player-0"))
    return [
        f"Written to {out}. Verify it yourself, offline:",
        f"  fairshoe verify {out / 'bundle.json'} --vkey {out / 'vkey'} --checkpoint {out / 'checkpoint'} {receipts}",
    ]
