"""A player's counters and money."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.access import Player
from api.answers.terms import Moment, Uuid, amount, count
from api.payloads import Payload


class BetCounterShown(Payload):
    """What became of the bets on one thing: four counters, and the money of them in minor units."""

    label: Annotated[str, Field(min_length=1, max_length=32, description="The bet's name, or `all` for their sum.")]
    games: Annotated[int, count("Coups that it was bet on: wins, ties and losses.")]
    wins: Annotated[int, count("Bets won.")]
    ties: Annotated[int, count("Bets neither won nor lost: the stake went back, or stays on the table.")]
    losses: Annotated[int, count("Bets lost.")]
    carried: Annotated[int, count("Of the games, those whose stake lay there from a tie before.")]
    wins_minor: Annotated[int, amount("What came back with wins: stakes and winnings.")]
    winnings_minor: Annotated[int, amount("Of it the winnings, commission taken off.")]
    ties_minor: Annotated[int, amount("Stakes of ties, given back or left on the table.")]
    bets_minor: Annotated[int, amount("What was staked, game by game.")]
    carried_minor: Annotated[int, amount("Of it stakes that lay there from a tie before.")]
    total_minor: Annotated[int, amount("What was won or lost: wins and ties less bets.", least=None)]


class BetCounters(Payload):
    """The bets of tables that count money alike."""

    minor_per_unit: Annotated[int, Field(ge=1, description="Minor units in a unit of money.")]
    coups: Annotated[int, count("Coups with a bet on any of them.")]
    bets: Annotated[list[BetCounterShown], Field(description="The tables' bets, those never bet on too.")]
    sum: Annotated[BetCounterShown, Field(description="The sum of each column.")]


class PlayerStatistics(Payload):
    """A player's counters and money, of the bets that coups have settled."""

    scope: Annotated[Literal["session", "all_time"], Field(description="One seat alone, or all seats of a player.")]
    seat: Annotated[Uuid | None, Field(description="The seat that was asked for; null where a player was.")]
    player: Player
    seats: Annotated[int, Field(ge=1, description="How many seats were counted.")]
    since: Annotated[Moment, Field(description="When the first of them was taken, in UTC.")]
    money: Annotated[
        list[BetCounters], Field(description="One part for tables of the same minor units; none without bets.")
    ]
