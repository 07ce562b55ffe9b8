"""How a coup is played: bets repeated or preserved, a seat's Deal, what everyone chose, and coups unattended."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response

from api.access import CLIENT, OPERATOR, PLAYER
from api.answers import Choice, ChoicesShown, LoopPlayed, PurseShown
from api.cases.choosing import Choices, Chosen, press_deal, read_choices
from api.cases.looping import Looped, play_loop
from api.cases.repeating import preserve_bets, rebet
from api.payloads import ForCoup, NewLoop, SeatSettings
from api.refusals import (
    BANK_TOO_SMALL,
    BET_LAID,
    BETS_LOCKED,
    COUP_PASSED,
    DEADLINE_PASSED,
    NO_BETS,
    NOT_OFFERED,
    NOTHING_LAID,
    NOTHING_TO_REPEAT,
    WRONG_STATE,
)
from api.routes.bets import OF_A_CHOICE, OF_BETS, print_choice
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, commit, principal, service
from api.world import print_time

blueprint = Resource("pace", "/v1")


@blueprint.post(
    "/shoes/{shoe_id}/bets/rebet",
    access=PLAYER,
    body=ForCoup,
    answers={201: Choice},
    refuses=(*OF_A_CHOICE, *OF_BETS, NOT_OFFERED, NOTHING_TO_REPEAT),
    claimed="must",
)
def bet_again(shoe_id: str, asked: ForCoup) -> Response:
    """ReBet: lay again what the seat had on the last coup at this table that was dealt with bets of it."""
    return commit(rebet(service(), shoe_id, principal(), asked.number), print_choice, shoe_id)


@blueprint.post(
    "/shoes/{shoe_id}/ready",
    access=PLAYER,
    body=ForCoup,
    answers={201: Choice},
    refuses=(*OF_A_CHOICE, NOT_OFFERED, NOTHING_LAID),
    claimed="may",
)
def be_ready(shoe_id: str, asked: ForCoup) -> Response:
    """Choose Deal: the seat's bets on the next coup are made, and change no more.

    For tables that deal once everyone has chosen Deal or Pass.
    """
    return commit(press_deal(shoe_id, principal(), asked.number), print_choice, shoe_id)


@blueprint.get(
    "/shoes/{shoe_id}/choices",
    access=CLIENT | OPERATOR,
    answers={200: ChoicesShown},
    refuses=(WRONG_STATE, NO_BETS),
)
def show_choices(shoe_id: str) -> Response:
    """Show what everyone at the table chose for the shoe's next coup, until when, and whether it may be dealt."""
    time = print_time(service().world.now())
    with service().reading() as session:
        return answer_privately(_print_choices(read_choices(session, shoe_id, time)))


@blueprint.post(
    "/shoes/{shoe_id}/loop",
    access=CLIENT,
    body=NewLoop,
    answers={201: LoopPlayed},
    refuses=(WRONG_STATE, DEADLINE_PASSED, NO_BETS, NOT_OFFERED, BET_LAID, COUP_PASSED, BETS_LOCKED, BANK_TOO_SMALL),
    claimed="must",
)
def loop(shoe_id: str, asked: NewLoop) -> Response:
    """Deal many coups unattended, a seat's bets laid anew for each; what its purse lacks for them, the house lends.

    All of them, their bets and what they pay are one transaction; each is in the log as if it were dealt by itself.
    """
    bets = tuple((each.bet, each.stake) for each in asked.bets)
    return commit(play_loop(service(), shoe_id, asked.seat, bets, asked.coups), _print_loop, shoe_id)


@blueprint.post(
    "/seats/{seat_id}/settings",
    access=PLAYER,
    body=SeatSettings,
    answers={201: PurseShown},
    refuses=(NOT_OFFERED,),
    claimed="may",
)
def set_up(seat_id: str, asked: SeatSettings) -> Response:
    """Set whether the seat's bets are laid again after every coup, from the next one that is settled on."""
    return commit(preserve_bets(seat_id, principal(), preserve=asked.preserve), asdict)


def _print_choices(choices: Choices) -> dict[str, Any]:
    window = choices.window
    return {
        "shoe": choices.shoe,
        "number": choices.number,
        "began": None if window is None else window.began,
        "closes": None if window is None else window.closes,
        "may_deal": choices.may_deal,
        "seats": [_print_chosen(seat) for seat in choices.seats],
    }


def _print_chosen(seat: Chosen) -> dict[str, Any]:
    bets = [{"bet": bet, "stake": stake} for bet, stake in seat.stakes.items()]
    return {"seat": seat.seat, "player": seat.player, "state": seat.state, "missing": seat.missing, "bets": bets}


def _print_loop(looped: Looped) -> dict[str, Any]:
    return {
        "shoe": looped.shoe,
        "seat": looped.seat,
        "client": looped.client,
        "coups": [asdict(each) for each in looped.rounds],
        "reason": looped.reason,
        "staked_minor": sum(each.staked_minor for each in looped.rounds),
        "net_minor": sum(each.net_minor for each in looped.rounds),
        "balance_minor": looped.balance_minor,
        "owed_minor": looped.owed_minor,
    }
