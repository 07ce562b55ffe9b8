"""``fairshoe statistics``: rules, outcomes and payouts of what this installation dealt, beside their exact laws.

With a seat or a player: what became of the bets, in games and in money.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from sqlalchemy.orm import Session

from api.cases.payouts import count_payable
from api.cases.reading import read_roads
from api.cases.statistics import Scope, count_coups
from api.cli.counters import count_bets, list_bets
from api.cli.database import database
from api.cli.inputs import read_by
from api.cli.output import BadInput, EnvironmentFault, columns, examples, json_option, print_object, print_text
from api.cli.roads import draw
from api.counted import DEALT, JUDGED, print_outcomes, print_payouts, print_roads, print_rules
from api.log import holds_nothing
from api.refusals import Refusal
from shoe.game.roads import draw_roads
from shoe.proof.forms import parse_time

Printed = Mapping[str, Any]

_EXACT = ("label", "observed", "expected_decimal", "deviation")
_PAID = (
    "label", "wins", "money_minor", "returns_minor", "in_minor", "out_minor", "sum_minor", "ties_minor", "total_minor",
)  # fmt: skip
_DECIMAL = frozenset({"expected_decimal", "expected_total_decimal", "deviation"})
_PAID_BESIDE = ("expected_total_decimal", "deviation")


@click.command(
    epilog=examples(
        "fairshoe statistics --table salon-1",
        "fairshoe statistics --shoe ID --json",
        "fairshoe statistics --seat ID --all-time",
        "fairshoe statistics --player ada --json",
        "fairshoe statistics --from 2026-01-01T00:00:00.000000Z --to 2026-02-01T00:00:00.000000Z --json",
    )
)
@click.option("--table", metavar="T", help="Of this table; of all, if not given.")
@click.option("--shoe", metavar="ID", help="Of this shoe; of all, if not given.")
@click.option("--from", "since", metavar="TIME", callback=read_by(parse_time),
              help="The first moment, as 2026-01-31T09:30:00.000000Z; the beginning, if not given.")  # fmt: skip
@click.option("--to", "until", metavar="TIME", callback=read_by(parse_time),
              help="The first moment after; the end, if not given.")  # fmt: skip
@click.option("--seat", metavar="ID", help="Of this seat's bets, in games and in money.")
@click.option("--all-time", is_flag=True, help="With --seat: of all seats of the player who sits there.")
@click.option("--player", metavar="NAME", help="Of the bets of all seats of this player.")
@json_option
def statistics(
    *,
    table: str | None,
    shoe: str | None,
    since: str | None,
    until: str | None,
    seat: str | None,
    all_time: bool,
    player: str | None,
    as_json: bool,
) -> None:
    """Count rules, outcomes, payouts; a player's bets.

    Works on the installation of the environment, while servers run. Of coups that have the probabilities of a full
    shoe, each count stands beside its exact expectation and its deviation in standard errors; all coups dealt stand
    beside them with --json. Payouts are as if one stake, the table's default one, had been on each bet every time. Of a
    shoe there are its roads too.

    With --seat or --player: what became of the bets, counted in games and in minor units.
    """
    of_bets, scope = bool(seat or player or all_time), Scope(table, shoe, since, until)
    if of_bets and scope != Scope():
        raise BadInput("a seat or a player is counted whole: leave out --table, --shoe, --from and --to")
    with database() as (_, store), store.reading() as session:
        if holds_nothing(session):
            raise EnvironmentFault(f"{store.name}: there is no log in it; the first start of the service makes one")
        if of_bets:
            counted = count_bets(session, seat=seat, player=player, all_time=all_time)
        else:
            counted = _count(session, scope)
    if of_bets:
        print_object(counted) if as_json else print_text(*list_bets(counted))
    elif as_json:
        shown = {"table": table, "shoe": shoe, "from": since, "to": until}
        print_object({"scope": shown, "judged": JUDGED, "dealt": DEALT, **counted})
    else:
        print_text(*_listing(counted))


def _count(session: Session, scope: Scope) -> dict[str, Any]:
    try:
        counts, payable = count_coups(session, scope), count_payable(session, scope)
        roads = None if scope.shoe is None else read_roads(session, scope.shoe)
    except Refusal as error:
        raise BadInput(f"{error} Name one that is there.") from None
    return {
        "rules": [print_rules(each) for each in counts],
        "outcomes": [print_outcomes(each) for each in counts],
        "payouts": [print_payouts(each) for each in payable],
        "roads": None if roads is None else print_roads(str(scope.shoe), *roads),
    }


def _listing(counted: Mapping[str, Any]) -> Iterator[str]:
    if not counted["rules"]:
        yield "No coups yet."
    for rules, outcomes in zip(counted["rules"], counted["outcomes"], strict=True):
        judged = rules["judged"]
        plural = "" if rules["decks"] == 1 else "s"
        yield f"{rules['decks']} deck{plural}: {judged['coups']} coups judged, {rules['dealt']['coups']} dealt"
        for title, lines in (("outcome", outcomes["judged"]["outcomes"]), ("rule", judged["rules"])):
            yield from ("", *_table(lines, (title, "seen", "expected", "deviation"), _EXACT))
        merged = [line for line in judged["merged_rules"] if line["label"] not in {r["label"] for r in judged["rules"]}]
        yield from (*_table(merged, ("of the 14", "seen", "expected", "deviation"), _EXACT), "")
    for paid in counted["payouts"]:
        yield f"{paid['stake_minor']} minor units on every bet of {paid['decks']} decks, judged coups"
        head = ("bet", "wins", "money", "returns", "in", "out", "sum", "ties", "total", "expected total", "deviation")
        total = {**paid["judged"]["sum"], **dict.fromkeys(_PAID_BESIDE, "")}
        yield from (*_table([*paid["judged"]["bets"], total], head, (*_PAID, *_PAID_BESIDE)), "")
    if counted["roads"] is not None:
        yield from draw(draw_roads(counted["roads"]["outcomes"]))


def _table(lines: Iterable[Printed], head: Sequence[str], names: Sequence[str]) -> list[str]:
    rows = [tuple(_short(line[name]) if name in _DECIMAL else line[name] for name in names) for line in lines]
    return columns([head, *rows], "<" + ">" * (len(names) - 1))


def _short(decimal: str) -> str:
    """Cut a decimal text to six digits, for people."""
    return f"{float(decimal):.6g}" if decimal else ""
