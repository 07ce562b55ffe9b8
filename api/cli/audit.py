"""``fairshoe audit``: other people's logs, and our own bundles, held against tableau, shoe and exact laws."""

from __future__ import annotations

import click

from api.cli.audited_logs import audit_logs
from api.cli.inputs import parse_log_keys, read_by, whole
from api.cli.output import BadInput, examples, json_option
from api.cli.verify import Keys
from audit.foreign.audit import KEPT
from audit.foreign.reading import KINDS, Kind
from shoe.game.cards import MAX_DECKS

MAX_EXAMPLES = 10_000


@click.command(
    epilog=examples(
        "fairshoe audit march.csv april.csv --decks 6",
        "fairshoe audit outcomes.txt --json",
        "fairshoe audit bundle.json --decks 1 --vkey vkey",
        "fairshoe audit - --examples 10 < log.csv",
    )
)
@click.argument("logs", metavar="LOG…", nargs=-1)
@click.option("--decks", default="8", show_default=True, metavar="D", callback=read_by(whole(1, MAX_DECKS)),
              help="Decks of each shoe in the logs.")  # fmt: skip
@click.option(
    "--kind", type=click.Choice(KINDS), help="What the logs are; told from the content of each, if not given."
)
@click.option("--examples", "keep", default=str(KEPT), show_default=True, metavar="N",
              callback=read_by(whole(0, MAX_EXAMPLES)),
              help="How many of each sort of violation and bad line to list; all are counted.")  # fmt: skip
@click.option("--vkey", multiple=True, metavar="VKEY", callback=read_by(parse_log_keys),
              help="The key of a bundle's log, or a file that holds it; may be repeated.")  # fmt: skip
@json_option
def audit(*, logs: tuple[str, ...], decks: int, kind: Kind | None, keep: int, vkey: Keys, as_json: bool) -> int:
    """Audit other people's logs.

    LOG is a file, gzipped or not, or - for standard input: a CSV of shoe, coup, player, banker, outcome (bet, stake,
    paid, net are settled anew), cards or outcomes of one shoe a line, or a bundle. Every coup is held against the
    tableau, every shoe against its decks, and all together against the exact laws. Exits with 0 only where nothing
    fails and every line could be read.
    """
    if not logs:
        raise BadInput("LOG: expected one log or more, a file or - for standard input")
    return audit_logs(logs, decks=decks, kind=kind, keep=keep, vkeys=vkey, as_json=as_json)
