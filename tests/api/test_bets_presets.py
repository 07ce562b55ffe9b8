"""Every house's table over HTTP: opened, bet on, dealt, settled, verified, shown; and no money made or lost.

What a line pays is computed here anew by the rules that the table's own answer shows, with fractions; which event a
coup shows is read off its record by definitions of this file's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from api.db.tables import BankRow, BetRow, PurseRow
from shoe.game.houses import HOUSES
from shoe.proof.records import Bets, parse_as
from tests.api.betting import Seat, seat_at, table_of
from tests.api.installation import Found, Installation
from tests.api.preset_statistics import check_counters, check_payouts, check_roads, check_rules

PURSE = 10_000_000
SHORT: dict[str, Any] = {"coups": 30}
JUDGED = {"np_punto_banco": 69, "np_punto_banco_three": 69, "chance": 68, "doppelganger": 51}
RED = "dh"


def money(house: Installation) -> int:
    """All money there is: in purses less what the house lent them, on tables, in banks."""
    laid = select(func.coalesce(func.sum(BetRow.stake_minor), 0)).where(BetRow.state == "laid")
    with house.service.reading() as session:
        held = [session.scalar(select(func.coalesce(func.sum(row.balance_minor), 0))) for row in (PurseRow, BankRow)]
        lent = session.scalar(select(func.coalesce(func.sum(PurseRow.owed_minor), 0)))
        return sum(int(each or 0) for each in (*held, session.scalar(laid))) - int(lent or 0)


def hands(record: dict[str, Any]) -> tuple[list[str], list[str]]:
    """The first two cards of player and banker, as they are dealt in turn."""
    cards = [opening["card"] for opening in record["cards"]]
    return [cards[0], cards[2]], [cards[1], cards[3]]


def shows(event: str, record: dict[str, Any]) -> bool:
    """Whether a coup shows an event of the presets: a winner, or a DoppelGanger in a hand."""
    if event in ("player", "banker", "tie"):
        return bool(record["outcome"] == event)
    side, kind = event.split("_")
    (rank, suit), (other_rank, other_suit) = hands(record)[side == "banker"]
    if rank != other_rank:
        return False
    same_colour = (suit in RED) == (other_suit in RED)
    return kind == ("pure" if suit == other_suit else "coloured" if same_colour else "mixed")


def half_up(amount: Fraction) -> int:
    return floor(amount + Fraction(1, 2))


def net_of(rules: dict[str, Any], bet: str, stake: int, record: dict[str, Any]) -> int:
    """What a stake wins or loses: by TERMS.md, whole minor units, a half up for the house's part."""
    (terms,) = (each for each in rules["bets"] if each["name"] == bet)
    for event, gain, per in terms["pays"]:
        if shows(event, record):
            whole = -(-gain // per)
            win = stake * whole - half_up(Fraction(stake * (whole * per - gain), per))
            part = half_up(Fraction(win * terms["commission_bp"], 10_000))
            least = rules["money"]["least_commission_minor"]
            return win - (min(win, max(part, least)) if terms["commission_bp"] and win else 0)
    return -stake


def choices(rules: dict[str, Any], number: int) -> Iterator[dict[str, int]]:
    """What two seats bet on a coup: between them every bet of the table, in odd amounts where the chips allow them."""
    names = [bet["name"] for bet in rules["bets"]]
    sides = {bet["name"]: 100 for bet in rules["bets"] if bet["side"]}
    step = (rules["chips_minor"] or [1])[0]
    stakes = [rules["limits"]["min_minor"] + step * ((7 * number + k) % 13) for k in range(3)]
    if rules["combine"] == "one":
        yield {names[number % 3]: stakes[0]}
        yield {names[(number + 1) % 3]: stakes[1]}
    else:
        yield {"player": stakes[0], "tie": stakes[1], **sides}
        yield {"banker": stakes[2]}


def lay(seat: Seat, shoe: str, rules: dict[str, Any], stakes: dict[str, int]) -> None:
    """Lay what does not lie there already after a tie; a table of one option is bet on once."""
    carried = {bet["bet"] for bet in seat.own(shoe) if bet["state"] == "laid"}
    free = {bet: stake for bet, stake in stakes.items() if bet not in carried}
    if free and not (carried and rules["combine"] == "one"):
        seat.bet(shoe, **free)


Played = tuple[list[dict[str, Any]], list[dict[str, Any]]]


def play(house: Installation, shoe: str, rules: dict[str, Any], seats: list[Seat]) -> Played:
    """Play a shoe to its end; give its coups' records, and all settled lines with the coup's number."""
    whole, records, lines = money(house), [], []
    finite, dealt = rules["money"]["bank_minor"] is not None, {"ended": False}
    while not dealt["ended"]:
        for seat, stakes in zip(seats, choices(rules, len(records)), strict=True):
            lay(seat, shoe, rules, stakes)
            if rules["pace"]["deal"] == "all_chosen":
                seat.post(f"/shoes/{shoe}/ready")
        dealt = house.post(f"/shoes/{shoe}/coups")
        record = json.loads(dealt["record"])
        assert parse_as(Bets, dealt["bets"]["record"].encode()).count == len(dealt["settlement"])
        for line in dealt["settlement"]:
            net = net_of(rules, line["bet"], line["stake"], record)
            assert (line["net_minor"], line["returned_minor"] + line["left_minor"]) == (net, line["stake"] + net), line
            lines.append({**line, "number": len(records)})
        assert money(house) == whole + (0 if finite else sum(line["net_minor"] for line in lines))
        records.append(record)
    return records, lines


@pytest.mark.parametrize("preset", HOUSES)
def test_a_preset_is_opened_bet_on_dealt_settled_verified_and_shown(found: Found, preset: str) -> None:
    """Whole shoes of the preset's own decks, so that every expectation is a published one."""
    house = found()
    table_of(house, preset, **(SHORT if HOUSES[preset].rules.shuffle == "coup" else {}))
    rules = house.get("/tables/t")["rules"]
    seats = [seat_at(house, purse=PURSE), seat_at(house, purse=PURSE)]
    shoe = house.sealed()
    records, lines = play(house, shoe, rules, seats)
    judged = JUDGED.get(preset, SHORT["coups"])

    def nets(bet: str, stake: int, record: dict[str, Any]) -> int:
        return net_of(rules, bet, stake, record)

    for seat in seats:
        own = [line for line in lines if line["seat"] == seat.id]
        won = sum(line["net_minor"] for line in own)
        assert seat.purse() == (PURSE + won, 0)
        answer = house.post("/verify", {"bundle": seat.get(f"/shoes/{shoe}/bundle")}, status=200)
        (bets,) = (check for check in answer["checks"] if check["name"] == "bets")
        assert (answer["verdict"], bets["status"]) == ("verified", "VALID")
        assert bets["detail"].startswith(f"{len(records)} coups with bets, {len(own)} lines of the holder")
        assert bets["detail"].endswith(f"net {won:+}")
        check_counters(seat, own, nets, records)
    check_payouts(house, preset, nets, records, judged)
    check_rules(house, rules["decks"], records, judged)
    check_roads(house, shoe, records)
    assert {event for bet in rules["bets"] for event, *_ in bet["pays"]} <= {
        *("player", "banker", "tie"),
        *(f"{hand}_{kind}" for hand in ("player", "banker") for kind in ("pure", "coloured", "mixed")),
    }


# --- money is conserved whatever is done -------------------------------------------------------

BETS = ("player", "banker", "tie")
STEPS = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(
            [
                *BETS,
                "pass",
                "withdraw",
                "rebet",
                "ready",
                "preserve",
                "clear",
                "loop",
                "wait",
                "revoke",
                "deal",
                "void",
                "in",
                "out",
            ]
        ),
        st.integers(1, 120_000),
    ),
    max_size=25,
)
PATHS = {"pass": "passes", "withdraw": "bets/withdraw", "rebet": "bets/rebet", "ready": "ready"}
BROKE = {"entropy": "house", "money": {"bank_minor": 100_000}, "decks": 1, "pace": {"rebet": True}}
WAITING = {"deal": "all_chosen", "decide_s": 15, "rebet": True, "loop": False}
TABLES = {"t": BROKE, "waits": {**BROKE, "pace": WAITING}}


def take(house: Installation, shoe: str, seat: Seat, step: str, stake: int) -> int:
    """Let a seat take a step, or a game client play a loop for it; give the status."""
    if step == "loop":
        body = {"seat": seat.id, "bets": [{"bet": BETS[stake % 3], "stake": stake}], "coups": 1 + stake % 4}
        return house.client.post(f"/v1/shoes/{shoe}/loop", json=body).status_code
    if step in ("preserve", "clear"):
        path, body = f"seats/{seat.id}/settings", {"preserve": step == "preserve"}
    else:
        path, body = f"shoes/{shoe}/{PATHS.get(step, 'bets')}", {"bet": step, "stake": stake} if step in BETS else {}
    return house.client.post(f"/v1/{path}", json=body, headers=seat.headers).status_code


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.sampled_from(list(TABLES)))
def test_whatever_seats_and_house_do_no_money_is_made_or_lost(
    house: Installation, steps: list[tuple[int, str, int]], table: str
) -> None:
    """A bank of 1,000 units that is soon too small, purses of 500; refusals, loans, voids, and money from outside."""
    if table not in {each["id"] for each in house.get("/tables")["tables"]}:
        house.post("/tables", {"id": table, "preset": "np_punto_banco_three", "overrides": TABLES[table]})
        house.post(f"/tables/{table}/books", {"size": 1000})
    seats = [seat_at(house, table, purse=50_000) for _ in range(3)]
    whole, shoe = money(house), house.sealed(table)
    for who, step, stake in steps:
        if step in ("in", "out"):
            moved = {"amount_minor": stake if step == "in" else -stake}
            answer = house.client.post(f"/v1/seats/{seats[who].id}/purse/moves", json=moved)
            whole += moved["amount_minor"] if answer.status_code == 201 else 0
        elif step == "deal":
            house.client.post(f"/v1/shoes/{shoe}/coups", json={})
        elif step == "void":
            house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
        elif step == "wait":
            house.clock.forward(stake % 20)
        elif step == "revoke":
            house.client.post(f"/v1/seats/{seats[who].id}/revoke", json={})
        else:
            assert take(house, shoe, seats[who], step, stake) in (201, 401, 404, 409, 422)
        if house.get(f"/shoes/{shoe}")["state"] != "sealed":
            shoe = house.sealed(table)
        assert money(house) == whole
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    assert money(house) == whole
    for seat in seats:
        purse = house.get(f"/seats/{seat.id}/purse")
        assert purse["staked_minor"] == 0 <= purse["balance_minor"]
        assert 0 in (purse["balance_minor"], purse["owed_minor"])


# --- at once -----------------------------------------------------------------------------------


def test_bets_that_race_with_deals_are_each_on_one_coup_and_settled_there(house: Installation) -> None:
    """Four seats bet while two clients deal: what was accepted is settled with the coup that its line names."""
    table_of(house, "np_punto_banco_three", money={"bank_minor": 10**9})
    seats, shoe = [seat_at(house, purse=PURSE) for _ in range(4)], house.sealed()
    whole = money(house)

    def act(n: int) -> tuple[str, Any]:
        if n % 3 == 0:
            return "dealt", house.post(f"/shoes/{shoe}/coups")
        seat = seats[n % 4]
        answer = house.client.post(
            f"/v1/shoes/{shoe}/bets", json={"bet": "banker", "stake": 100 + n}, headers=seat.headers
        )
        return ("laid", answer.json) if answer.status_code == 201 else ("refused", answer.json)

    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(act, range(60)))
    done.append(("dealt", house.post(f"/shoes/{shoe}/coups")))
    accepted = [(answer["number"], answer["bets"][0]["stake"]) for what, answer in done if what == "laid"]
    settled = [
        (answer["number"], line["stake"]) for what, answer in done if what == "dealt" for line in answer["settlement"]
    ]
    refused = {answer["type"].rpartition(":")[2] for what, answer in done if what == "refused"}
    assert refused <= {"bet-laid"}
    assert set(accepted) <= set(settled)
    assert len(accepted) > 10
    assert money(house) == whole
    assert house.verify(shoe).verdict == "consistent"


def test_a_purse_is_spent_once_by_bets_at_once(house: Installation) -> None:
    """Three bets of 400 each from a purse of 1,000: two are taken."""
    table_of(house, "np_punto_banco_three")
    seat, shoe = seat_at(house, purse=1_000), house.sealed()

    def bet(name: str) -> int:
        body = {"bet": name, "stake": 400}
        return house.client.post(f"/v1/shoes/{shoe}/bets", json=body, headers=seat.headers).status_code

    with ThreadPoolExecutor(3) as pool:
        assert sorted(pool.map(bet, ("player", "banker", "tie"))) == [201, 201, 409]
    assert seat.purse() == (200, 800)
