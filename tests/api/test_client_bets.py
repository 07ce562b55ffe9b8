"""The client's bets at a real service, over real HTTP: laid, settled and held as the service's own JSON says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from api.cli import fairshoe
from api.client import Client, ServiceProblem
from api.client.bets import _choice
from api.client.fields import Fields
from api.client.results import MadeSeat
from api.demo import first_key, running_service
from api.player import Player
from shoe.errors import ProofError
from shoe.proof.merkle import check_inclusion, leaf_hash
from shoe.proof.note import parse_vkey
from shoe.proof.records import Bets, parse_as
from shoe.proof.seeds import commit_seed
from shoe.proof.verify import Evidence, verify_bundle

DEADLINES = {"lock_in_s": 600, "seal_in_s": 1200, "reveal_in_s": 3600}
SEED = "0123456789abcdef0123456789abcdef"
SHORT = {"shuffle": "coup", "cut": None, "coups": 12}


@dataclass
class Place:
    """A running service, its house's client, and a seat with the client of its own, in a sealed shoe."""

    url: str
    key: str

    def __post_init__(self) -> None:
        self.vkey = parse_vkey(Client(self.url).vkeys()[0])
        self.house = self.holding(self.key)
        self.house.make_table("np_punto_banco_three", "t-1", overrides=SHORT)
        self.house.publish_book("t-1", 4)
        opened = self.house.open_shoe("t-1", **DEADLINES)
        self.shoe, self.made = opened.shoe, self.house.make_seat("t-1", 50_000)
        self.seat = self.holding(self.made.token)
        self.player = Player(self.vkey, SEED, opened.receipt)
        self.player.accept_entropy(self.seat.contribute(self.shoe, commit_seed(SEED)).receipt)
        lock = self.house.lock(self.shoe)
        records = [record.record for record in self.seat.records(self.shoe)]
        self.seat.open_seed(self.shoe, 0, self.player.accept_lock(lock, records))
        self.player.accept_seal(self.house.seal(self.shoe).receipt)

    def holding(self, token: str) -> Client:
        return Client(self.url, token, vkeys=[self.vkey])


@pytest.fixture
def at(tmp_path: Path) -> Iterator[Place]:
    folder = tmp_path / "service"
    with running_service(folder) as url:
        yield Place(url, first_key(folder))


def test_a_seat_bets_through_a_shoe_and_believes_nothing(at: Place, tmp_path: Path) -> None:
    assert at.made == MadeSeat(at.made.seat, "t-1", at.made.token, 50_000)
    won = 0
    for number in range(SHORT["coups"] - 1):  # type: ignore[operator]  # it is a number
        if at.seat.purse(at.made.seat).staked_minor:
            at.seat.withdraw(at.shoe)
        choice = at.seat.bet(at.shoe, {"player": 300, "tie": 100})
        assert [(line.bet, line.stake, line.client) for line in choice.lines] == [
            ("player", 300, "guest-0"),
            ("tie", 100, "guest-0"),
        ]
        dealt = at.house.deal(at.shoe)
        assert dealt.bets is not None
        assert (dealt.number, parse_as(Bets, dealt.bets.record).count) == (number, 2)
        at.player.accept_coup(dealt.receipt, dealt.paths, dealt.bets)
        won += sum(line.net_minor for line in dealt.settlement)
        purse = at.seat.purse(at.made.seat)
        assert purse == at.house.purse(at.made.seat)
        assert purse.balance_minor + purse.staked_minor == 50_000 + won
        proofs = [held for held in at.seat.own_bets(at.shoe) if held.line in choice.lines]
        closed = parse_as(Bets, dealt.bets.record)
        for held in proofs:
            assert held.proof is not None
            assert held.bets_index == dealt.bets.proof.index
            check_inclusion(
                leaf_hash(held.line.to_bytes()), held.proof.index, closed.count, held.proof.path, closed.bets_root
            )
    (counted,) = at.seat.seat_statistics(at.made.seat).money
    assert (counted.minor_per_unit, counted.coups, counted.sum.label) == (100, 11, "all")
    assert (counted.sum.games, counted.sum.bets_minor, counted.sum.total_minor) == (22, 11 * 400, won)
    assert at.seat.seat_statistics(at.made.seat, all_time=True) == at.house.seat_statistics(at.made.seat)
    with pytest.raises(ServiceProblem, match="nobody"):
        at.house.player_statistics("nobody")
    if at.seat.purse(at.made.seat).staked_minor:  # a tie leaves a stake for the coup after the last that is counted
        at.seat.withdraw(at.shoe)
    while at.house.deal(at.shoe).reveal is None:
        pass
    bundle = at.seat.bundle(at.shoe)
    verification = verify_bundle(bundle, Evidence((at.vkey,), at.player.receipts))
    assert (verification.verdict, verification.fairness) == ("verified", "provably_fair")
    by_command(at, bundle, won, tmp_path)


def by_command(at: Place, bundle: str, won: int, folder: Path) -> None:
    """`fairshoe verify` settles every line anew, and finds out one that says another stake, bet or coup."""

    def verify(told: str) -> tuple[int, dict[str, Any], list[str]]:
        (folder / "bundle.json").write_text(told, encoding="utf-8")
        args = ["verify", str(folder / "bundle.json"), "--vkey", str(at.vkey), "--json"]
        ran = CliRunner().invoke(fairshoe, args)
        checks = json.loads(ran.stdout)["checks"]
        (bets,) = (check for check in checks if check["name"] == "bets")
        return ran.exit_code, bets, [check["name"] for check in checks if check["status"] == "INVALID"]

    code, bets, invalid = verify(bundle)
    assert (code, bets["status"], invalid) == (0, "VALID", [])
    assert bets["detail"].startswith("11 coups with bets, 22 lines of the holder; ")
    assert bets["detail"].endswith(f"net {won:+}")
    line = json.loads(bundle)["bets"][0]["line"]
    for said, instead in (
        ('"stake":300', '"stake":900'),
        ('"bet":"player"', '"bet":"banker"'),
        ('"number":0', '"number":1'),
    ):
        forged = json.loads(bundle)
        assert line.count(said) == 1
        forged["bets"][0]["line"] = line.replace(said, instead)
        code, bets, invalid = verify(json.dumps(forged))
        assert (code, invalid) == (1, ["bets"])
        assert "bets[" in bets["detail"]


def test_a_player_does_not_believe_a_coup_whose_bets_are_kept_back(at: Place) -> None:
    at.seat.bet(at.shoe, {"banker": 100})
    dealt = at.house.deal(at.shoe)
    with pytest.raises(ProofError, match="the chain is broken"):
        at.player.accept_coup(dealt.receipt, dealt.paths)
    at.player.accept_coup(dealt.receipt, dealt.paths, dealt.bets)


def test_passing_and_refusals(at: Place) -> None:
    assert at.seat.sit_out(at.shoe).lines == ()
    with pytest.raises(ServiceProblem, match="passed coup 0"):
        at.seat.bet(at.shoe, {"player": 100})
    assert at.seat.withdraw(at.shoe).lines == ()
    at.seat.bet(at.shoe, {"player": 100})
    (taken,) = at.seat.withdraw(at.shoe).lines
    assert (taken.bet, taken.stake) == ("player", 100)
    assert [held.state for held in at.seat.own_bets(at.shoe)] == ["withdrawn"]
    dealt = at.house.deal(at.shoe)
    assert (dealt.bets, dealt.settlement) == (None, ())


def test_a_table_is_run_by_what_everyone_chose(at: Place) -> None:
    """ReBet, Deal and Pass at a table that waits for them; the coup they are meant for goes along."""
    waits = {"deal": "all_chosen", "decide_s": 600, "rebet": True}
    at.house.make_table("np_punto_banco_three", "t-2", overrides={**SHORT, "entropy": "house", "pace": waits})
    at.house.publish_book("t-2", 1)
    shoe, made = at.house.open_shoe("t-2", **DEADLINES).shoe, at.house.make_seat("t-2", 50_000)
    at.house.lock(shoe)
    at.house.seal(shoe)
    seat = at.holding(made.token)
    assert (at.house.choices(shoe).number, at.house.choices(shoe).may_deal) == (0, False)
    seat.bet(shoe, {"tie": 100}, number=0)
    with pytest.raises(ServiceProblem, match="waits until"):
        at.house.deal(shoe)
    assert [line.stake for line in seat.ready(shoe, number=0).lines] == [100]
    shown = at.house.choices(shoe)
    assert shown.began is not None
    assert shown.closes is not None
    assert shown.began < shown.closes
    assert [(each.seat, each.player, each.state, each.missing, each.stakes) for each in shown.seats] == [
        (made.seat, None, "ready", False, {"tie": 100})
    ]
    dealt = at.house.deal(shoe)
    assert dealt.messages.keys() == {line.seat for line in dealt.settlement if line.result == "won"}
    with pytest.raises(ServiceProblem, match="The next coup of shoe"):
        seat.rebet(shoe, number=0)
    assert [(line.bet, line.stake, line.number) for line in seat.rebet(shoe, number=1).lines] == [("tie", 100, 1)]
    seat.withdraw(shoe, number=1)
    assert seat.sit_out(shoe, number=1).lines == ()
    assert [each.state for each in at.house.choices(shoe).seats] == ["passed"]


def test_a_loop_through_the_client_is_what_the_log_says(at: Place) -> None:
    assert at.seat.preserve(at.made.seat, preserve=True).preserve is True
    assert at.seat.preserve(at.made.seat, preserve=False).preserve is False
    played = at.house.loop(at.shoe, at.made.seat, {"tie": 400}, 5)
    assert (played.shoe, played.seat, played.client, played.reason) == (at.shoe, at.made.seat, "guest-0", "coups")
    listed = list(at.seat.coups(at.shoe))
    assert [(coup.number, coup.index, coup.outcome) for coup in played.coups] == [
        (coup.number, coup.index, coup.outcome) for coup in listed
    ]
    nets = [3200 if coup.outcome == "tie" else -400 for coup in listed]
    assert [(coup.staked_minor, coup.net_minor) for coup in played.coups] == [(400, net) for net in nets]
    assert (played.staked_minor, played.net_minor) == (2000, sum(nets))
    purse = at.seat.purse(at.made.seat)
    assert (
        (purse.balance_minor, purse.owed_minor) == (played.balance_minor, played.owed_minor) == (50_000 + sum(nets), 0)
    )


LINE = '{"bet":"tie","client":"seat-0","number":0,"salt":"%s","shoe":"s","stake":100}' % ("ab" * 16)
BET: dict[str, Any] = {"bet": "tie", "stake": 100, "salt": "ab" * 16, "line": LINE}


@pytest.mark.parametrize("changed", [{"bet": "player"}, {"stake": 200}, {"salt": "00" * 16}])
def test_a_line_that_says_something_else_is_no_evidence(changed: dict[str, Any]) -> None:
    whole = {"number": 0, "client": "seat-0", "balance_minor": 1, "bets": [BET]}
    assert _choice(Fields(whole), "s").lines[0].stake == 100
    with pytest.raises(ProofError, match="a line says something else"):
        _choice(Fields({**whole, "bets": [{**BET, **changed}]}), "s")
    for wrong in ({**whole, "number": 1}, {**whole, "client": "seat-1"}):
        with pytest.raises(ProofError):
            _choice(Fields(wrong), "s")


def test_a_purse_is_filled_and_a_limit_lowered(at: Place) -> None:
    at.house.make_table("vip", "v-1")
    made = at.house.make_seat("v-1", 1_000)
    moved = at.house.move_money(made.seat, -400, "till 3")
    assert (moved.amount_minor, moved.balance_minor, moved.note, moved.made_by) == (
        -400,
        600,
        "till 3",
        at.house.me().id,
    )
    assert list(at.house.moves(made.seat)) == [moved]
    seat = at.holding(made.token)
    assert (seat.limit(made.seat).maximum_minor, seat.limit(made.seat).why_not) == (30_000, None)
    lowered = seat.lower_limit(made.seat, 1_000, "471104")
    assert (lowered.own_maximum_minor, lowered.maximum_minor, lowered.why_not) == (1_000, 1_000, "already_this_week")
    assert at.house.limit(made.seat) == lowered
    with pytest.raises(ServiceProblem, match="got another"):
        seat.lower_limit(made.seat, 500, "0000")


def test_bets_come_with_the_coup(at: Place) -> None:
    dealt = at.house.deal(at.shoe, {at.made.seat: {"player": 300, "tie": 100}})
    assert [(line.bet, line.stake) for line in dealt.settlement] == [("player", 300), ("tie", 100)]
    assert dealt.bets is not None
    at.player.accept_coup(dealt.receipt, dealt.paths, dealt.bets)
    assert {held.line.bet for held in at.seat.own_bets(at.shoe)} == {"player", "tie"}
    purse = at.seat.purse(at.made.seat)
    won = sum(line.net_minor for line in dealt.settlement)
    assert purse.balance_minor + purse.staked_minor == 50_000 + won
    with pytest.raises(ServiceProblem, match="There is no seat"):
        at.house.deal(at.shoe, {"019c1000-0000-7000-8000-000000000000": {"player": 300}})
