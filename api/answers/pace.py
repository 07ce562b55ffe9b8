"""How a coup is played: what everyone at a table chose for the next one, and what a loop played."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from api.answers.access import Player
from api.answers.terms import BetName, Client, CoupNumber, LogIndex, Moment, ShoeId, StakeMinor, Uuid, amount
from api.payloads import MAX_LOOP, Payload
from shoe.game.bets.record import MAX_BETS


class StakeLaid(Payload):
    """A bet that lies on the next coup."""

    bet: BetName
    stake: StakeMinor


class SeatChoice(Payload):
    """What a seat at the table chose for the next coup."""

    seat: Annotated[Uuid, Field(description="The seat's id.")]
    player: Player
    state: Annotated[
        Literal["waiting", "bets", "ready", "passed", "joined_late"],
        Field(
            description="waiting: nothing yet; bets: they lie there, and may still change; ready: they are made; "
            "passed: it sits the coup out; joined_late: it was made when the betting had begun, and waits for the next."
        ),
    ]
    missing: Annotated[bool, Field(description="Whether the coup waits for this seat to choose Deal or Pass.")]
    bets: Annotated[list[StakeLaid], Field(max_length=MAX_BETS, description="Its bets, in the order of acceptance.")]


class ChoicesShown(Payload):
    """What everyone at a table chose for its shoe's next coup, and whether that may be dealt."""

    shoe: ShoeId
    number: CoupNumber
    began: Annotated[Moment | None, Field(description="When the betting began; null where no time is kept.")]
    closes: Annotated[Moment | None, Field(description="From when on no bets are taken; null where no time is kept.")]
    may_deal: Annotated[bool, Field(description="Whether the coup may be dealt now.")]
    seats: Annotated[
        list[SeatChoice],
        Field(description="The seats at the table, and those besides that have something on the coup, oldest first."),
    ]


class LoopedCoup(Payload):
    """A coup of a loop, dealt and settled as any other."""

    number: CoupNumber
    index: LogIndex
    outcome: Annotated[Literal["player", "banker", "tie"], Field(description="Who won.")]
    staked_minor: Annotated[int, amount("What the seat had staked on it.")]
    net_minor: Annotated[int, amount("What the seat won, commission taken off; what it lost, below 0.", least=None)]


class LoopPlayed(Payload):
    """What a loop played, and the seat's money after it."""

    shoe: ShoeId
    seat: Annotated[Uuid, Field(description="The seat whose bets they were.")]
    client: Client
    coups: Annotated[list[LoopedCoup], Field(min_length=1, max_length=MAX_LOOP, description="The coups, in order.")]
    reason: Annotated[
        Literal["coups", "shoe", "bank"],
        Field(
            description="Why it ended: all coups asked for were dealt; the shoe came to its end, and is revealed; or "
            "the table's bank could not pay the bets any more."
        ),
    ]
    staked_minor: Annotated[int, amount("What was staked on all of them together.")]
    net_minor: Annotated[int, amount("What was won or lost, below 0, in all.", least=None)]
    balance_minor: Annotated[int, amount("What the purse holds now.")]
    owed_minor: Annotated[int, amount("What the purse owes the house now.")]
