"""The command ``fairshoe``: one module a command, each loaded only when it is called.

So `verify`, `shuffle`, `odds` and `roads` need neither Flask nor SQLAlchemy nor numpy, and start quickly.
"""

from __future__ import annotations

from importlib import import_module

import click

from api.cli.group import Group, Listed

COMMANDS = {
    "demo": Listed("Play, prove and verify one whole shoe.", lambda: import_module("api.cli.demo").demo),
    "verify": Listed("Verify a shoe's bundle.", lambda: import_module("api.cli.verify").verify),
    "shuffle": Listed("Shuffle and deal from a seed.", lambda: import_module("api.cli.shuffle").shuffle),
    "odds": Listed("Print exact probabilities and edges.", lambda: import_module("api.cli.odds").odds),
    "roads": Listed("Draw the roads of a shoe.", lambda: import_module("api.cli.roads").roads),
    "certify": Listed("Certify a table by its own shuffler.", lambda: import_module("api.cli.certify").certify),
    "report": Listed(
        "Report on a certification or an audit: JSON, page, PDF.", lambda: import_module("api.cli.report").report
    ),
    "audit": Listed("Audit other people's logs, or the own records.", lambda: import_module("api.cli.audit").audit),
    "bench": Listed("Time this installation, in ratios.", lambda: import_module("api.cli.bench").bench),
    "serve": Listed("Serve over HTTP.", lambda: import_module("api.cli.serve").serve),
    "migrate": Listed("Bring the database to this version's schema.", lambda: import_module("api.cli.migrate").migrate),
    "backup": Listed("Back up the database while the service runs.", lambda: import_module("api.cli.backup").backup),
    "restore": Listed("Restore a backup into an empty database.", lambda: import_module("api.cli.restore").restore),
    "export": Listed("Export all records of a stretch of time.", lambda: import_module("api.cli.export").export),
    "statistics": Listed(
        "Count rules, outcomes, payouts; a player's bets.",
        lambda: import_module("api.cli.statistics").statistics,
    ),
    "monitor": Listed("Show the evidence against each table so far.", lambda: import_module("api.cli.monitor").monitor),
    "keys": Listed(
        "Make, list and end the log's keys; rotate the vault's.", lambda: import_module("api.cli.keys").keys
    ),
    "accounts": Listed("Make, list and revoke API keys.", lambda: import_module("api.cli.accounts").accounts),
    "log": Listed("Check the log, and print proofs from it.", lambda: import_module("api.cli.log").log),
    "book": Listed("Publish seed books.", lambda: import_module("api.cli.book").book),
    "webhooks": Listed(
        "List webhooks and what could not be delivered; try it anew.",
        lambda: import_module("api.cli.webhooks").webhooks,
    ),
    "completion": Listed("Print a shell's completion script.", lambda: import_module("api.cli.completion").completion),
}

EXIT_CODES = """\b
Exit codes:
  0  passed, or done
  1  the verification or audit failed
  2  bad usage or bad input, a file named that can't be read included
  3  the environment: output can't be written, something needed is missing
"""


@click.group(cls=Group, listed=COMMANDS, epilog=EXIT_CODES)
@click.version_option(package_name="fairshoe")
def fairshoe() -> None:
    """Deal, verify and judge provably fair baccarat shoes.

    With --json a command prints exactly one JSON object on standard output. Progress and complaints go to standard
    error. Nothing is coloured where NO_COLOR is set.
    """


def main() -> None:
    """Run the command of this process's arguments, and exit with its code."""
    fairshoe(prog_name="fairshoe")
