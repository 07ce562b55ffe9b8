"""Shoes: each step of one, and all that can be read of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from flask import Response

from api.access import ANYONE, CLIENT, OPERATOR, PLAYER
from api.answers import (
    Contribution,
    CoupPage,
    CoupShown,
    DealtCoupAnswer,
    Logged,
    RecordPage,
    RoadsAnswer,
    SealedShoe,
    ShoeState,
    ShoeSummary,
)
from api.cases.dealing import Dealt, deal_coup
from api.cases.ending import read_reveal, void_shoe
from api.cases.entropy import contribute, lock_shoe, open_seed
from api.cases.reading import (
    list_coups,
    list_records,
    read_coup,
    read_last_record,
    read_roads,
    read_summary,
)
from api.cases.sealing import Sealed, seal_shoe
from api.cases.settling import Settled
from api.cases.standing import find_shoe
from api.cases.telling import tell_seats
from api.counted import print_roads
from api.db.tables import ENDED_STATES, ContributionRow, ShoeRow
from api.payloads import NewCoup, NewEntropy, NewSeal, NewVoid, NumberedQuery, OpenedSeed
from api.problems import PROOF_FAILED
from api.refusals import (
    CHOICES_MISSING,
    CONTRIBUTIONS_FULL,
    DEADLINE_PASSED,
    NO_BEACON,
    NOT_ENDED,
    REASON_UNTRUE,
    SEAT_CONTRIBUTED,
    SEED_OPENED,
    SEED_WITHHELD,
    SEEDS_MISSING,
    WRONG_MODE,
    WRONG_STATE,
    no_such,
)
from api.routes.bets import OF_BETS, OF_CARRIED
from api.routes.endpoint import Resource
from api.routes.exchange import (
    answer,
    answer_privately,
    commit,
    page,
    principal,
    print_hashes,
    print_logged,
    read_cursor,
    service,
)
from api.routes.reading import read_number
from shoe.proof.beacon import QUICKNET
from shoe.proof.tlog import Receipt

blueprint = Resource("shoes", "/v1/shoes")


@blueprint.post(
    "/{shoe_id}/entropy",
    access=PLAYER,
    body=NewEntropy,
    answers={201: Contribution},
    refuses=(WRONG_STATE, WRONG_MODE, DEADLINE_PASSED, CONTRIBUTIONS_FULL, SEAT_CONTRIBUTED, SEED_WITHHELD),
    claimed="may",
)
def contribute_entropy(shoe_id: str, asked: NewEntropy) -> Response:
    """Contribute to a shoe, once a seat: commit to a seed, or give it where the table waits for a beacon."""
    commitment = None if asked.seed_commitment is None else bytes.fromhex(asked.seed_commitment)
    step = contribute(shoe_id, principal(), seed_commitment=commitment, seed=asked.seed)
    return commit(step, _print_contribution, shoe_id)


@blueprint.post(
    "/{shoe_id}/lock",
    access=CLIENT,
    answers={201: Logged},
    refuses=(WRONG_STATE, DEADLINE_PASSED),
    claimed="may",
)
def lock(shoe_id: str) -> Response:
    """Close a shoe's list of contributions: only then are seeds opened."""
    return commit(lock_shoe(shoe_id), print_logged, shoe_id)


@blueprint.post(
    "/{shoe_id}/seeds",
    access=PLAYER,
    body=OpenedSeed,
    answers={201: Contribution},
    refuses=(WRONG_STATE, WRONG_MODE, DEADLINE_PASSED, SEED_OPENED, PROOF_FAILED),
    claimed="may",
)
def open_seed_of_seat(shoe_id: str, asked: OpenedSeed) -> Response:
    """Open the seed that the seat's contribution committed to."""
    return commit(open_seed(shoe_id, principal(), asked.author, asked.seed), _print_contribution, shoe_id)


@blueprint.post(
    "/{shoe_id}/seal",
    access=CLIENT,
    body=NewSeal,
    answers={201: SealedShoe},
    refuses=(WRONG_STATE, DEADLINE_PASSED, SEEDS_MISSING, NO_BEACON, PROOF_FAILED),
    claimed="must",
)
def seal(shoe_id: str, asked: NewSeal) -> Response:
    """Seal a shoe: every card is fixed under one root before the first bet."""
    signature = None if asked.beacon_signature is None else bytes.fromhex(asked.beacon_signature)
    return commit(seal_shoe(service(), shoe_id, signature), _print_sealed, shoe_id)


@blueprint.post(
    "/{shoe_id}/coups",
    access=CLIENT,
    body=NewCoup,
    answers={201: DealtCoupAnswer},
    refuses=(WRONG_STATE, DEADLINE_PASSED, CHOICES_MISSING, *OF_CARRIED, *OF_BETS),
    claimed="must",
)
def deal(shoe_id: str, asked: NewCoup) -> Response:
    """Close the bets, deal the next coup, and settle them; with the last one comes the reveal.

    Bets may come with it, of several seats: they are laid first, and where one of them can't be, nothing is done. Where
    the table's terms say so, it waits until everyone at the table has chosen Deal or Pass, or their time is over; whose
    bets come with the coup has chosen Deal.
    """
    return commit(deal_coup(service(), shoe_id, asked.asked), _print_dealt, shoe_id)


@blueprint.post("/{shoe_id}/reveal", access=CLIENT, answers={200: Logged}, refuses=(WRONG_STATE, NOT_ENDED))
def reveal(shoe_id: str) -> Response:
    """Give the reveal of a shoe that has ended, which its last coup brought; refused before."""
    with service().reading() as session:
        return answer_privately(print_logged(read_reveal(session, shoe_id)))


@blueprint.post(
    "/{shoe_id}/void",
    access=OPERATOR,
    body=NewVoid,
    answers={201: Logged},
    refuses=(WRONG_STATE, REASON_UNTRUE),
    claimed="must",
)
def void(shoe_id: str, asked: NewVoid) -> Response:
    """Give up a shoe, for a reason that is true of it; its seed is published."""
    return commit(void_shoe(service(), shoe_id, asked.reason), print_logged, shoe_id)


@blueprint.get("/{shoe_id}", access=ANYONE, answers={200: ShoeSummary})
def show_shoe(shoe_id: str) -> Response:
    """Sum a shoe up."""
    with service().reading() as session:
        shoe, contributions = read_summary(session, shoe_id)
    return answer(_print_summary(shoe, contributions))


@blueprint.get("/{shoe_id}/state", access=CLIENT | OPERATOR, answers={200: ShoeState})
def show_state(shoe_id: str) -> Response:
    """Say where a shoe stands, for a client that resumes."""
    with service().reading() as session:
        shoe = find_shoe(session, shoe_id)
        last = read_last_record(session, shoe)
    return answer(
        {
            "shoe": shoe.id,
            "state": shoe.state,
            "next_seq": shoe.next_seq,
            "next_coup": shoe.next_coup,
            "last_record": last.decode(),
            "last_index": shoe.last_index,
            "ended": shoe.state in ENDED_STATES,
        }
    )


@blueprint.get("/{shoe_id}/records", access=ANYONE, query=NumberedQuery, answers={200: RecordPage}, kept=True)
def show_records(shoe_id: str, asked: NumberedQuery) -> Response:
    """List a shoe's records in the order of its chain."""
    with service().reading() as session:
        shoe = find_shoe(session, shoe_id)
        leaves = list_records(session, shoe, read_cursor(asked.after), asked.limit)
    items = [{"seq": leaf.seq, "index": leaf.log_index, "record": leaf.record.decode()} for leaf in leaves]
    return answer(page("records", items, asked.limit, "seq"), immutable=shoe.state in ENDED_STATES)


@blueprint.get("/{shoe_id}/coups", access=ANYONE, query=NumberedQuery, answers={200: CoupPage}, kept=True)
def show_coups(shoe_id: str, asked: NumberedQuery) -> Response:
    """List a shoe's coups in dealing order."""
    with service().reading() as session:
        shoe = find_shoe(session, shoe_id)
        coups = list_coups(session, shoe, read_cursor(asked.after), asked.limit)
    items = [
        {
            "number": row.number,
            "outcome": row.outcome,
            "rule": row.rule,
            "player_total": row.player_total,
            "banker_total": row.banker_total,
            "index": row.log_index,
            "record": record.decode(),
        }
        for row, record in coups
    ]
    return answer(page("coups", items, asked.limit, "number"), immutable=shoe.state in ENDED_STATES)


@blueprint.get("/{shoe_id}/coups/{number}", access=ANYONE, answers={200: CoupShown})
def show_coup(shoe_id: str, number: str) -> Response:
    """Show a coup with its receipt and the audit paths of its cards."""
    wanted = read_number(number)
    if wanted is None:
        raise no_such("coup in this shoe of number", number)
    with service().reading() as session:
        shown = read_coup(service(), session, shoe_id, wanted)
    paths = [print_hashes(path) for path in shown.paths]
    return answer(print_logged(shown.receipt, number=wanted, paths=paths))


@blueprint.get("/{shoe_id}/roads", access=ANYONE, answers={200: RoadsAnswer})
def show_roads(shoe_id: str) -> Response:
    """Draw the roads of a shoe's coups so far."""
    with service().reading() as session:
        outcomes, roads = read_roads(session, shoe_id)
    return answer(print_roads(shoe_id, outcomes, roads))


def _print_contribution(taken: tuple[ContributionRow, Receipt]) -> dict[str, Any]:
    row, receipt = taken
    return print_logged(receipt, client=row.client, position=row.position)


def _print_sealed(sealed: Sealed) -> dict[str, Any]:
    burn_path = None if sealed.burn_path is None else print_hashes(sealed.burn_path)
    return print_logged(sealed.receipt, burn_path=burn_path)


def _print_dealt(dealt: Dealt) -> dict[str, Any]:
    return print_logged(
        dealt.receipt,
        number=dealt.number,
        paths=[print_hashes(path) for path in dealt.paths],
        ended=dealt.reveal is not None,
        reveal=None if dealt.reveal is None else print_logged(dealt.reveal),
        bets=None if dealt.bets is None else print_logged(dealt.bets),
        settlement=[_print_settled(settled) for settled in dealt.settlement],
        messages=[asdict(told) for told in tell_seats(dealt.number, dealt.settlement)],
    )


def _print_settled(settled: Settled) -> dict[str, Any]:
    settlement = settled.settlement
    return {
        "seat": settled.seat,
        "client": settled.client,
        "bet": settlement.bet,
        "stake": settlement.stake_minor,
        "result": settlement.result,
        "net_minor": settlement.net_minor,
        "commission_minor": settlement.commission_minor,
        "returned_minor": settled.returned_minor,
        "left_minor": settled.left_minor,
        "balance_minor": settled.balance_minor,
    }


def _print_summary(shoe: ShoeRow, contributions: int) -> dict[str, Any]:
    beacon = None if shoe.beacon_round is None else {"chain": QUICKNET.hex(), "round": shoe.beacon_round}
    return {
        "id": shoe.id,
        "table": shoe.table_id,
        "state": shoe.state,
        "opened": shoe.opened,
        "book": shoe.book_root.hex(),
        "seed_index": shoe.seed_index,
        "commitment": shoe.commitment.hex(),
        "lock_by": shoe.lock_by,
        "seal_by": shoe.seal_by,
        "reveal_by": shoe.reveal_by,
        "beacon": beacon,
        "contributions": contributions,
        "seal": None if shoe.seal is None else shoe.seal.hex(),
        "coups": shoe.next_coup,
        "previous_shoe": shoe.previous_shoe,
    }
