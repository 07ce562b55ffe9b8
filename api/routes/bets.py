"""Bets: what a seat lays, passes and takes back until a coup is dealt, what it holds of them, and its purse."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from flask import Response

from api.access import CLIENT, OPERATOR, PLAYER
from api.answers import Choice, OwnBetPage, PurseShown
from api.cases import betting
from api.cases.betting import lay_bets, pass_coup, withdraw
from api.cases.holding import CoupHeld, Held, list_own_bets
from api.cases.purses import read_purse
from api.payloads import ForCoup, NewBets, NumberedQuery
from api.refusals import (
    ANOTHER_COUP,
    BANK_TOO_SMALL,
    BET_LAID,
    BETS_LOCKED,
    BETTING_CLOSED,
    COUP_PASSED,
    DEADLINE_PASSED,
    JOINED_LATE,
    NO_BETS,
    NOTHING_LAID,
    PURSE_TOO_SMALL,
    WRONG_STATE,
)
from api.routes.endpoint import Resource
from api.routes.exchange import answer_privately, commit, page, principal, print_hashes, read_cursor, service
from shoe.proof.records import BetLine

OF_CARRIED: Final = (NO_BETS, JOINED_LATE, BETTING_CLOSED, BETS_LOCKED, COUP_PASSED)
"""What bets that come with a coup may be refused for."""

OF_A_CHOICE: Final = (WRONG_STATE, DEADLINE_PASSED, ANOTHER_COUP, *OF_CARRIED)
"""What every choice for the next coup may be refused for."""

OF_BETS: Final = (BET_LAID, PURSE_TOO_SMALL, BANK_TOO_SMALL)
"""What bets may be refused for besides."""

blueprint = Resource("bets", "/v1")


@blueprint.post(
    "/shoes/{shoe_id}/bets",
    access=PLAYER,
    body=NewBets,
    answers={201: Choice},
    refuses=(*OF_A_CHOICE, *OF_BETS),
    claimed="must",
)
def lay(shoe_id: str, asked: NewBets) -> Response:
    """Bet on the next coup: one bet or several, all accepted or none; the stakes leave the purse at once."""
    return commit(lay_bets(service(), shoe_id, principal(), asked.asked, asked.number), print_choice, shoe_id)


@blueprint.post(
    "/shoes/{shoe_id}/passes",
    access=PLAYER,
    body=ForCoup,
    answers={201: Choice},
    refuses=(*OF_A_CHOICE, BET_LAID),
    claimed="may",
)
def sit_out(shoe_id: str, asked: ForCoup) -> Response:
    """Pass: sit the next coup out."""
    return commit(pass_coup(shoe_id, principal(), asked.number), print_choice, shoe_id)


@blueprint.post(
    "/shoes/{shoe_id}/bets/withdraw",
    access=PLAYER,
    body=ForCoup,
    answers={201: Choice},
    refuses=(WRONG_STATE, DEADLINE_PASSED, NO_BETS, ANOTHER_COUP, BETS_LOCKED, NOTHING_LAID),
    claimed="must",
)
def take_back(shoe_id: str, asked: ForCoup) -> Response:
    """Take back all that the seat has on the next coup, its pass too, before it is dealt."""
    return commit(withdraw(shoe_id, principal(), asked.number), print_choice, shoe_id)


@blueprint.get("/shoes/{shoe_id}/bets", access=PLAYER, query=NumberedQuery, answers={200: OwnBetPage})
def show_own_bets(shoe_id: str, asked: NumberedQuery) -> Response:
    """List the seat's own bets in a shoe, coup by coup, with the path of each once the bets are closed."""
    with service().reading() as session:
        coups = list_own_bets(session, shoe_id, principal(), read_cursor(asked.after), asked.limit)
        items = [_print_coup(coup) for coup in coups]
    return answer_privately(page("coups", items, asked.limit, "number"))


@blueprint.get("/seats/{seat_id}/purse", access=PLAYER | CLIENT | OPERATOR, answers={200: PurseShown})
def show_purse(seat_id: str) -> Response:
    """Show what a seat may stake, and what it has on the table; a seat sees its own alone."""
    with service().reading() as session:
        return answer_privately(asdict(read_purse(session, seat_id, principal())))


def print_choice(choice: betting.Choice) -> dict[str, Any]:
    """Print what a seat chose, as every way to choose answers it."""
    return {
        "shoe": choice.shoe,
        "number": choice.number,
        "client": choice.client,
        "bets": [_print_line(line) for line in choice.lines],
        "balance_minor": choice.balance_minor,
    }


def _print_line(line: BetLine) -> dict[str, Any]:
    return {"bet": line.bet, "stake": line.stake, "salt": line.salt, "line": line.to_bytes().decode()}


def _print_coup(coup: CoupHeld) -> dict[str, Any]:
    return {
        "number": coup.number,
        "bets_index": coup.bets_index,
        "bets": [_print_held(held) for held in coup.bets],
        "message": coup.message,
    }


def _print_held(held: Held) -> dict[str, Any]:
    row = held.row
    return {
        "bet": row.bet,
        "stake": row.stake_minor,
        "salt": row.salt,
        "line": held.line.decode(),
        "state": row.state,
        "carried": bool(row.carried),
        "index": held.index,
        "path": None if held.path is None else print_hashes(held.path),
        "net_minor": row.net_minor,
        "returned_minor": row.returned_minor,
        "commission_minor": row.commission_minor,
    }
