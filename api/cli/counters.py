"""A player's counters and money, for `fairshoe statistics` with a seat or a player."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.orm import Session

from api.cases.counters import count_player, count_seat
from api.cli.output import BadInput, columns
from api.counted import print_counters
from api.refusals import Refusal

_GAMES = ("label", "games", "wins", "ties", "losses")
_MONEY = ("label", "games", "wins_minor", "ties_minor", "bets_minor", "total_minor")


def count_bets(session: Session, *, seat: str | None, player: str | None, all_time: bool) -> dict[str, Any]:
    """Count a seat's bets, or those of all seats of who sits there, or of a player.

    Raises BadInput unless one of both is named, and where there is none such.
    """
    if (seat is None) == (player is None):
        raise BadInput("name a seat or a player, not both")
    if player is not None and all_time:
        raise BadInput("--all-time goes with --seat: a player's statistics are always of all time")
    try:
        if seat is not None:
            return print_counters(count_seat(session, seat, "all_time" if all_time else "session", None))
        return print_counters(count_player(session, str(player)))
    except Refusal as error:
        raise BadInput(f"{error} Name one that is there.") from None


def list_bets(counted: Mapping[str, Any]) -> Iterator[str]:
    """Print both tables for people: counters, then money in minor units."""
    whose = counted["player"] or f"seat {counted['seat']}"
    plural = "" if counted["seats"] == 1 else "s"
    yield f"{whose}: {counted['seats']} seat{plural} since {counted['since']}"
    for money in counted["money"]:
        lines = [*money["bets"], money["sum"]]
        yield f"{money['coups']} coups with bets, {money['minor_per_unit']} minor units in a unit"
        for head, names in (("bet games wins ties lost", _GAMES), ("bet games wins ties bets total", _MONEY)):
            rows = [tuple(line[name] for name in names) for line in lines]
            yield from ("", *columns([head.split(), *rows], "<" + ">" * (len(names) - 1)))
        yield ""
