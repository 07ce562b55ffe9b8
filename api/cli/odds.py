"""``fairshoe odds``: exact probabilities of one coup, and what each bet costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

import click

from api.cli.inputs import read_by, whole
from api.cli.output import BadInput, columns, examples, json_option, print_object, print_text
from audit.edges import BANKER, PLAYER, TIE, MainBet, edge, percent
from audit.exact import VALUES, Exact, exact_odds
from shoe.game.cards import MAX_DECKS
from shoe.game.houses import House, house
from shoe.game.tableau import RULE_WORDS

DECKS: Final = 8
BETS: Final[Mapping[str, MainBet]] = {"player": PLAYER, "banker": BANKER, "tie": TIE}
"""The bets of every table there is: banker pays 19:20, tie 8:1."""

_DECIMALS: Final = 10


@click.command(
    epilog=examples(
        "fairshoe odds",
        "fairshoe odds --decks 6",
        "fairshoe odds --table np_punto_banco --json",
    )
)
@click.option("--decks", metavar="D", callback=read_by(whole(1, MAX_DECKS)),
              help=f"Decks in the shoe, 1…{MAX_DECKS}; {DECKS}, if neither --decks nor --table is given.")  # fmt: skip
@click.option("--table", metavar="NAME", callback=read_by(house), help="A preset, for its decks, bets and pay.")
@json_option
def odds(decks: int | None, table: House | None, as_json: bool) -> None:
    """Print exact probabilities and edges.

    Every count is a number of ordered six-card deals from a full shoe; a coup of four cards counts once for each deal
    that begins with it. The law holds for every coup that is always dealt, not for the first alone.
    """
    if decks is not None and table is not None:
        raise BadInput("--decks and --table: expected one of them, for a table has its own decks")
    law = exact_odds(table.rules.decks if table else decks or DECKS)
    if as_json:
        print_object(odds_object(law))
    else:
        print_text(*_listing(law))


def odds_object(law: Exact) -> dict[str, Any]:
    """Give the object that ``odds --json`` prints; `joint_totals` is indexed [player total][banker total]."""
    joint = law.joint_totals()
    outcomes = law.outcomes()
    return {
        "decks": law.decks,
        "total": law.total,
        "outcomes": _combinations({name: outcomes[name] for name in ("banker", "player", "tie")}),
        "rules": _combinations(law.rules()),
        "cards": _combinations(law.cards()),
        "bets": {name: {"edge_percent": percent(edge(law, bet))} for name, bet in BETS.items()},
        "joint_totals": [[joint[player, banker] for banker in VALUES] for player in VALUES],
    }


def _combinations(counts: Mapping[Any, int]) -> dict[str, dict[str, int]]:
    return {str(key): {"combinations": count} for key, count in counts.items()}


def _listing(law: Exact) -> Iterable[str]:
    plural = "" if law.decks == 1 else "s"
    yield from (f"One coup from a full shoe of {law.decks} deck{plural}: {law.total:,} ordered six-card deals", "")
    for title, counts in (("outcome", law.outcomes()), ("cards", law.cards()), ("rule", law.rules())):
        yield from (*columns([(title, "deals", "percent", ""), *_rows(law, counts)], "<>><"), "")
    edges = ((bet.name, percent(edge(law, bet), _DECIMALS)) for bet in BETS.values())
    yield from (*columns([("bet", "edge, percent"), *edges], "<>"), "")
    yield "Both totals, percent: player down, banker across"
    yield from columns(_joint_rows(law), ">" * 11)


def _rows(law: Exact, counts: Mapping[Any, int]) -> Iterable[tuple[object, ...]]:
    for key, count in counts.items():
        yield key, f"{count:,}", percent(Fraction(count, law.total), _DECIMALS), RULE_WORDS.get(key, "")


def _joint_rows(law: Exact) -> Iterable[tuple[object, ...]]:
    joint = law.joint_totals()
    yield ("", *VALUES)
    for player in VALUES:
        yield (player, *(percent(Fraction(joint[player, banker], law.total), 4) for banker in VALUES))
