"""``fairshoe audit``: other people's logs and our own bundles, or the records of this installation's own service."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click
from click.core import ParameterSource

from api.cli.audited_logs import audit_logs
from api.cli.inputs import parse_log_keys, read_by, whole
from api.cli.output import BadInput, examples, json_option
from api.cli.verify import Keys
from audit.foreign.audit import KEPT
from audit.foreign.reading import KINDS, Kind
from shoe.game.cards import MAX_DECKS
from shoe.proof.forms import parse_time

MAX_EXAMPLES = 10_000


@click.command(
    epilog=examples(
        "fairshoe audit march.csv april.csv --decks 6",
        "fairshoe audit outcomes.txt --json",
        "fairshoe audit bundle.json --decks 1 --vkey vkey",
        "fairshoe audit - --examples 10 < log.csv",
        "fairshoe audit --own --findings findings.json",
        "fairshoe audit --table salon-1 --from 2026-01-01T00:00:00.000000Z --to 2026-02-01T00:00:00.000000Z --json",
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
@click.option(
    "--own", is_flag=True, expose_value=False, help="Audit the records of this installation's own service, all of them."
)
@click.option("--table", metavar="T", help="Of its own records the shoes opened at this table.")
@click.option("--from", "since", metavar="TIME", callback=read_by(parse_time),
              help="Of its own records the shoes opened from this time, as 2026-01-31T09:30:00.000000Z.")  # fmt: skip
@click.option("--to", "until", metavar="TIME", callback=read_by(parse_time),
              help="Of its own records the shoes opened before this time.")  # fmt: skip
@click.option("--receipt", "receipts", multiple=True, metavar="FILE",
              help="A receipt to hold against its own log; may be repeated.")  # fmt: skip
@click.option("--findings", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Write the findings on its own records there, for fairshoe report.")  # fmt: skip
@json_option
@click.pass_context
def audit(
    ctx: click.Context,
    *,
    logs: tuple[str, ...],
    decks: int,
    kind: Kind | None,
    keep: int,
    vkey: Keys,
    table: str | None,
    since: str | None,
    until: str | None,
    receipts: tuple[str, ...],
    findings: Path | None,
    as_json: bool,
) -> int:
    """Audit other people's logs, or the own records.

    LOG is a file, gzipped or not, or - for standard input: a CSV of shoe, coup, player, banker, outcome (bet, stake,
    paid, net are settled anew), cards or outcomes of one shoe a line, or a bundle. Every coup is held against the
    tableau, every shoe against its decks, and all together against the exact laws. Exits with 0 only where nothing
    fails and every line could be read.

    With --own, --table, --from, --to, --receipt or --findings instead: the records of the installation of the
    environment, while servers run. The log and the order of commitments come first, then the bundle and the rows of
    every ended shoe, then the statistics. The store is only read, and the log says nothing of it: POST /v1/audits makes
    one that it holds.
    """
    given = _given(ctx, _OWN)
    if logs and given:
        raise BadInput(f"LOG, {given[0]}: expected either logs or this installation's own records, got both")
    if logs:
        return audit_logs(logs, decks=decks, kind=kind, keep=keep, vkeys=vkey, as_json=as_json)
    if not given:
        raise BadInput(
            "LOG: expected one log or more, a file or - for standard input; or --own, for this installation's records"
        )
    if of_logs := _given(ctx, _OF_LOGS):
        raise BadInput(f"{of_logs[0]}: expected it beside logs only; own records say it themselves")
    from api.cli.audit_records import audit_records  # noqa: PLC0415  logs are audited without a database

    return audit_records(
        table=table, since=since, until=until, receipts=receipts, findings_file=findings, as_json=as_json
    )


_OWN = {
    "own": "--own", "table": "--table", "since": "--from", "until": "--to", "receipts": "--receipt",
    "findings": "--findings",
}  # fmt: skip
_OF_LOGS = {"decks": "--decks", "kind": "--kind", "keep": "--examples", "vkey": "--vkey"}


def _given(ctx: click.Context, options: Mapping[str, str]) -> list[str]:
    return [shown for name, shown in options.items() if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
