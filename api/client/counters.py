"""A player's counters and money, of one seat or of all."""

from __future__ import annotations

from dataclasses import dataclass

from api.client.calls import Calls, part
from api.client.fields import Fields


@dataclass(frozen=True, slots=True)
class BetCounter:
    """What became of the bets on one thing, in games and in minor units; `label` is ``all`` for their sum."""

    label: str
    games: int
    wins: int
    ties: int
    losses: int
    carried: int
    wins_minor: int
    winnings_minor: int
    ties_minor: int
    bets_minor: int
    carried_minor: int
    total_minor: int


@dataclass(frozen=True, slots=True)
class BetCounters:
    """The bets of tables that count money alike, `minor_per_unit`; `coups` had a bet on any of them."""

    minor_per_unit: int
    coups: int
    bets: tuple[BetCounter, ...]
    sum: BetCounter


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """Counters of one seat, or of all `seats` of a player, the first of which was taken at `since`."""

    seat: str | None
    player: str | None
    seats: int
    since: str
    money: tuple[BetCounters, ...]


class Counters(Calls):
    """The calls at ``/v1/seats/ID/statistics`` and ``/v1/players/NAME/statistics``."""

    def seat_statistics(self, seat: str, *, all_time: bool = False) -> PlayerStatistics:
        """Count what became of a seat's bets, or of those of all seats of who sits there."""
        query = {"scope": "all_time" if all_time else "session"}
        return _statistics(self._get(f"/v1/seats/{part(seat)}/statistics", query))

    def player_statistics(self, player: str) -> PlayerStatistics:
        """Count what became of the bets of all seats of a player."""
        return _statistics(self._get(f"/v1/players/{part(player)}/statistics"))


def _statistics(answer: Fields) -> PlayerStatistics:
    return PlayerStatistics(
        answer.maybe("seat", answer.text),
        answer.maybe("player", answer.text),
        answer.number("seats"),
        answer.text("since"),
        tuple(map(_counters, answer.parts("money"))),
    )


def _counters(answer: Fields) -> BetCounters:
    bets = tuple(map(_counter, answer.parts("bets")))
    return BetCounters(answer.number("minor_per_unit"), answer.number("coups"), bets, _counter(answer.part("sum")))


def _counter(answer: Fields) -> BetCounter:
    label, *numbers = BetCounter.__match_args__
    return BetCounter(answer.text(label), *map(answer.number, numbers))
