"""``fairshoe odds``: exact probabilities of one coup, and what each bet costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, Final

import click

from api.cli.inputs import read_by, whole
from api.cli.output import BadInput, columns, examples, json_option, print_object, print_text
from audit.bank import Breaking, any_play_at_most, break_bank, scientific
from audit.edges import percent
from audit.exact import VALUES, Exact, exact_odds
from audit.showings import showings
from audit.wagers import bet_edge, edge_at
from shoe.game.bets.wagers import CATALOGUE, Bet
from shoe.game.cards import MAX_DECKS
from shoe.game.houses import House, house
from shoe.game.tableau import RULE_WORDS

DECKS: Final = 8

_DECIMALS: Final = 10


@click.command(
    epilog=examples(
        "fairshoe odds",
        "fairshoe odds --decks 6",
        "fairshoe odds --table intercasino",
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
        print_object(odds_object(law, table))
    else:
        print_text(*_listing(law, table))


def odds_object(law: Exact, table: House | None = None) -> dict[str, Any]:
    """Give the object that ``odds --json`` prints; `joint_totals` is indexed [player total][banker total].

    Without a table its bets are all that can be had ready made. With one they are the table's own, each with the edge
    at the least stake too, and a bank that can be broken adds `bank`.
    """
    joint = law.joint_totals()
    outcomes = law.outcomes()
    return {
        "decks": law.decks,
        "total": law.total,
        "outcomes": _combinations({name: outcomes[name] for name in ("banker", "player", "tie")}),
        "rules": _combinations(law.rules()),
        "cards": _combinations(law.cards()),
        "bets": _bets_object(law.decks, table),
        "joint_totals": [[joint[player, banker] for banker in VALUES] for player in VALUES],
        **_bank_object(law.decks, table),
    }


def _bets_object(decks: int, table: House | None) -> dict[str, dict[str, Any]]:
    law = showings(decks)
    if table is None:
        return {name: {"edge_percent": percent(bet_edge(law, bet))} for name, bet in CATALOGUE.items()}
    terms, least = table.terms, table.terms.limits.min_minor
    return {
        bet.name: {
            "edge_percent": percent(bet_edge(law, bet)),
            "minimum_minor": least,
            "edge_at_minimum_percent": percent(edge_at(law, bet, least, terms)),
        }
        for bet in terms.bets
    }


def _bank_object(decks: int, table: House | None) -> dict[str, dict[str, Any]]:
    """Say how likely a bettor with the defaults breaks the bank, beside what the house's page claims."""
    breaks = _breaks(decks, table)
    if table is None or not breaks:
        return {}
    first, most = breaks[0], any_play_at_most(showings(decks), table.terms)
    return {
        "bank": {
            "claim": table.claim and table.claim.words,
            "claimed_percent": table.claim and table.claim.percent,
            "stake_minor": first.stake_minor,
            "purse_minor": first.purse_minor,
            "bank_minor": first.bank_minor,
            "broken": {each.bet: scientific(each.probability) for each in breaks},
            "any_play_at_most_percent": most and percent(most),
        }
    }


def _breaks(decks: int, table: House | None) -> list[Breaking]:
    if table is None:
        return []
    found = (break_bank(showings(decks), table.terms, bet) for bet in table.terms.bets)
    return [each for each in found if each is not None]


def _combinations(counts: Mapping[Any, int]) -> dict[str, dict[str, int]]:
    return {str(key): {"combinations": count} for key, count in counts.items()}


def _listing(law: Exact, table: House | None) -> Iterable[str]:
    plural = "" if law.decks == 1 else "s"
    yield from (f"One coup from a full shoe of {law.decks} deck{plural}: {law.total:,} ordered six-card deals", "")
    for title, counts in (("outcome", law.outcomes()), ("cards", law.cards()), ("rule", law.rules())):
        yield from (*columns([(title, "deals", "percent", ""), *_rows(law, counts)], "<>><"), "")
    yield from (*_bet_lines(law.decks, table), "")
    yield from _bank_lines(law.decks, table)
    yield "Both totals, percent: player down, banker across"
    yield from columns(_joint_rows(law), ">" * 11)


def _bet_lines(decks: int, table: House | None) -> Iterable[str]:
    law, least = showings(decks), table.terms.limits.min_minor if table else 0
    heading = ("bet", "edge, percent", *((f"at a stake of {least} minor units",) if table else ()), "pays")
    rows = [heading]
    for bet in table.terms.bets if table else CATALOGUE.values():
        at_least = (percent(edge_at(law, bet, least, table.terms), _DECIMALS),) if table else ()
        rows.append((bet.name, percent(bet_edge(law, bet), _DECIMALS), *at_least, _pays(bet)))
    return columns(rows, "<>><" if table else "<><")


def _pays(bet: Bet) -> str:
    """Print a pay table in the order it is read; pushes on a tie go without saying."""
    ratios = [f"{pay.gain}:{pay.per}" if pay.gain else "push" for pay in bet.pays if pay[:2] != ("tie", 0)]
    return ", ".join(ratios) + (f" less {bet.commission_bp / 100:g} %" if bet.commission_bp else "")


def _bank_lines(decks: int, table: House | None) -> Iterable[str]:
    breaks = _breaks(decks, table)
    if table is None or not breaks:
        return
    claim, money, most = table.claim, table.terms.money, any_play_at_most(showings(decks), table.terms)
    amounts = (money.purse_minor, money.bank_minor, money.default_stake_minor)
    purse, funds, stake = (f"{(amount or 0) / money.minor_per_unit:,g}" for amount in amounts)
    if claim:
        yield from (f"The house's page says {claim.percent} %:", f"“{claim.words}”")
    yield f"Odds that a purse of {purse} breaks the bank of {funds}, always staking {stake} on one bet:"
    yield from columns([("bet", "probability"), *((each.bet, scientific(each.probability)) for each in breaks)], "<>")
    if most is not None:
        yield f"However it is staked, at most {percent(most, 4)} %"
    yield ""


def _rows(law: Exact, counts: Mapping[Any, int]) -> Iterable[tuple[object, ...]]:
    for key, count in counts.items():
        yield key, f"{count:,}", percent(Fraction(count, law.total), _DECIMALS), RULE_WORDS.get(key, "")


def _joint_rows(law: Exact) -> Iterable[tuple[object, ...]]:
    joint = law.joint_totals()
    yield ("", *VALUES)
    for player in VALUES:
        yield (player, *(percent(Fraction(joint[player, banker], law.total), 4) for banker in VALUES))
