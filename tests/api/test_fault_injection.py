"""Each write step of each request made to fail, both ways; then the service is started anew and everything checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import select

from api.db.tables import BankRow, BetRow, LeafRow, LogHeadRow, PurseRow
from shoe.proof.records import Coup, parse_record
from shoe.proof.seeds import commit_seed
from tests.api.betting import seat_at
from tests.api.installation import DEADLINES, HOUSE, Found, Installation
from tests.api.sabotage import Sabotage, sabotaged
from tests.api.test_store import other_writer_waits
from tests.reference import merkle_reference

Prepare = Callable[[Installation, str], str]
"""Makes ready what a request needs at a new table of the name given; gives the request's path."""


@dataclass(frozen=True)
class Request:
    """A request to be made to fail, and what its answer must say once it was taken."""

    prepare: Prepare
    body: dict[str, Any]
    logged: int = 1


def opened(house: Installation, table: str, step: str, **overrides: Any) -> str:
    return f"/shoes/{house.open(house.table(table, **overrides))}/{step}"


def committed(house: Installation, table: str) -> str:
    shoe = house.open(house.table(table, decks=1))
    house.commit(shoe, "a-players-seed")
    house.post(f"/shoes/{shoe}/lock")
    return f"/shoes/{shoe}/seeds"


def locked(house: Installation, table: str) -> str:
    path = opened(house, table, "lock", **HOUSE)
    house.post(path)
    return path.replace("lock", "seal")


def dealt(house: Installation, table: str, coups: int, of: int, **further: Any) -> str:
    overrides = {"entropy": "house", "shuffle": "coup", "cut": None, "coups": of, **further}
    house.table(table, book=1, **overrides)
    shoe = house.sealed(table)
    house.post(f"/tables/{table}/books", {"size": 2})
    for _ in range(coups):
        house.post(f"/shoes/{shoe}/coups")
    return f"/shoes/{shoe}/coups"


def bet_on(house: Installation, table: str, then: str, *bets: str) -> str:
    """A shoe in play, and a seat of its table, which `seats` keep, with bets of 100 on its next coup."""
    shoe = dealt(house, table, 1, 3, combine="any", on_tie="returned").split("/")[2]
    seat = seat_at(house, table)
    house.tokens.seats[shoe, 0] = seat.token
    for bet in bets:
        seat.bet(shoe, **{bet: 100})
    return f"/shoes/{shoe}/{then}"


REQUESTS = {
    "table": Request(lambda house, table: "/tables", {"preset": "np_punto_banco"}, 0),
    "book": Request(lambda house, table: f"/tables/{house.table(table)}/books", {"size": 3}),
    "open": Request(lambda house, table: f"/tables/{house.table(table)}/shoes", DEADLINES),
    "entropy": Request(
        lambda house, table: opened(house, table, "entropy"), {"seed_commitment": commit_seed("x").hex()}
    ),
    "lock": Request(lambda house, table: opened(house, table, "lock"), {}),
    "seed": Request(committed, {"position": 0, "seed": "a-players-seed"}),
    "seal": Request(locked, {}),
    "coup": Request(lambda house, table: dealt(house, table, 1, 3), {}),
    "last coup, reveal and end of the book": Request(lambda house, table: dealt(house, table, 1, 2), {}, 3),
    "bets": Request(lambda house, table: bet_on(house, table, "bets"), {"bet": "player", "stake": 100}, 0),
    "withdrawal": Request(lambda house, table: bet_on(house, table, "bets/withdraw", "player"), {}, 0),
    # Whoever wins, bank and purse change and no stake stays: the coup takes the same steps whatever its cards are.
    "coup with bets": Request(lambda house, table: bet_on(house, table, "coups", "player", "banker", "tie"), {}, 2),
    "void with bets": Request(lambda house, table: bet_on(house, table, "void", "player"), {"reason": "operator"}, 2),
    "void": Request(lambda house, table: opened(house, table, "void"), {"reason": "operator"}),
}


def seat_for(house: Installation, name: str, path: str) -> dict[str, str]:
    """The player's credential, taken before anything fails: of a new seat to contribute, of its own to open a seed."""
    shoe = path.split("/")[3] if "/shoes/" in path else ""
    if name == "entropy":
        return {"Authorization": f"Bearer {house.client.take_seat(house.tokens, path_table(house, shoe))}"}
    own = name in ("seed", "bets", "withdrawal")
    return {"Authorization": f"Bearer {house.tokens.seats[shoe, 0]}"} if own else {}


def path_table(house: Installation, shoe: str) -> str:
    return str(house.get(f"/shoes/{shoe}")["table"])


def everything_holds(house: Installation) -> None:
    """The root is that of the bytes, shoes' chains and coups have no gap, and each record is there once."""
    with house.service.reading() as session:
        leaves = session.execute(select(LeafRow.record, LeafRow.shoe, LeafRow.seq).order_by(LeafRow.log_index)).all()
        head = session.get_one(LogHeadRow, 1)
        assert (head.size, head.root) == (len(leaves), merkle_reference.mth([leaf.record for leaf in leaves]))
    chains: dict[str, list[int]] = {}
    numbers: dict[str, list[int]] = {}
    for leaf in leaves:
        record = parse_record(leaf.record)
        if leaf.shoe is not None:
            chains.setdefault(leaf.shoe, []).append(leaf.seq)
        if isinstance(record, Coup):
            numbers.setdefault(record.shoe, []).append(record.number)
    for counted in (*chains.values(), *numbers.values()):
        assert counted == list(range(len(counted)))
    money_holds(house)


def money_holds(house: Installation) -> None:
    """What the NP house gave, 1,000 units a purse and 10,000 a bank, is there: in them, or staked on a coup to come."""
    with house.service.reading() as session:
        purses = session.scalars(select(PurseRow.balance_minor)).all()
        banks = session.scalars(select(BankRow.balance_minor)).all()
        laid = session.scalars(select(BetRow.stake_minor).where(BetRow.state == "laid")).all()
    assert sum((*purses, *banks, *laid)) == 100_000 * len(purses) + 1_000_000 * len(banks)


QUICK = {"coup"}
"""Tried in every run of the tests, the others by the long proofs: each stops and starts a service dozens of times."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in REQUESTS]
)
def test_whatever_fails_a_request_is_taken_once(
    found: Found, name: str, monkeypatch: pytest.MonkeyPatch, database: str
) -> None:
    house, request = found(), REQUESTS[name]
    at, failed, steps = 0, 0, 0
    while at <= steps:
        for when in ("before", "after"):
            path = f"/v1{request.prepare(house, f't{at}-{when}')}"
            size, key = house.size(), f"{name[:4]}-{at}-{when}".replace(" ", "-")
            headers = {"Idempotency-Key": key}
            body = {**request.body, "id": f"made-{at}-{when}"} if name == "table" else request.body
            headers |= seat_for(house, name, path)
            tried = Sabotage(at, when)
            with sabotaged(house.service, tried, monkeypatch):
                first = house.client.post(path, json=body, headers=headers)
            failed, steps = failed + (first.status_code != 201), max(steps, len(tried.done))
            # The pin is written once the answer is durable: where it fails, the next write makes up for it.
            assert first.status_code == (201 if at == 0 or tried.done[at - 1] == "pin" else 503), (at, when)
            house.stop()
            house.start()
            again = house.client.post(path, json=body, headers=headers)
            assert (again.status_code, house.size()) == (201, size + request.logged), (at, when)
            if first.status_code == 201:
                assert again.data == first.data
            assert house.client.post(path, json=body, headers=headers).data == again.data
            if request.logged:
                house.receipt(json.loads(again.data))
            assert house.size() == size + request.logged
        at += 1
    everything_holds(house)
    assert failed == 2 * (steps - 1) >= 10


def test_a_commit_that_was_stored_but_failed_is_told_as_unknown(house: Installation, monkeypatch: Any) -> None:
    path = f"/v1{dealt(house, 't', 1, 9)}"
    counted = Sabotage(0, "before")
    with sabotaged(house.service, counted, monkeypatch):
        house.client.post(path, json={})
    at = counted.done.index("COMMIT") + 1
    with sabotaged(house.service, Sabotage(at, "after"), monkeypatch):
        answer = house.client.post(path, json={})
    assert (answer.status_code, answer.json["type"]) == (503, "urn:fairshoe:problem:outcome-unknown")  # type: ignore[index]
    assert answer.headers["Retry-After"] == "1"
    assert house.get(path.removeprefix("/v1").replace("coups", "state"))["next_coup"] == 3


def test_a_commit_that_fails_holds_nobody_up(house: Installation, monkeypatch: Any) -> None:
    """The driver reports a failure and leaves the transaction open, as SQLite does where it can be tried again."""
    path = f"/v1{dealt(house, 't', 1, 9)}"
    counted = Sabotage(0, "before")
    with sabotaged(house.service, counted, monkeypatch):
        house.client.post(path, json={})
    engine = house.service.store.engine
    with (
        monkeypatch.context() as patched,
        sabotaged(house.service, Sabotage(counted.done.index("COMMIT") + 1, "before"), patched),
    ):
        patched.setattr(engine.dialect, "do_rollback", lambda connection: None)
        assert house.client.post(path, json={}).status_code == 503
    assert not other_writer_waits(house)
    assert house.post(path.removeprefix("/v1"))["number"] == 2


def test_while_the_pin_can_not_be_written_nothing_more_is_signed(house: Installation) -> None:
    """A head that is not pinned could be taken back unseen; what was stored before is answered all the same."""
    house.table(**HOUSE)
    shoe = house.sealed()
    pin = house.service.permit.pinned
    draft = pin.path.with_name(f"{pin.path.name}.draft")
    draft.mkdir()
    house.post(f"/shoes/{shoe}/coups")
    said = house.refuse(f"/shoes/{shoe}/coups", {}, "read-only", 503)
    assert said == f"The checkpoint can't be pinned at {pin.path}: [Errno 21] Is a directory: '{draft}'."
    assert house.get(f"/shoes/{shoe}/state")["next_coup"] == 1
    draft.rmdir()
    house.post(f"/shoes/{shoe}/coups")
    assert pin.read() == house.checkpoint()
