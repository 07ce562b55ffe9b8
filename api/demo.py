"""One whole shoe over real HTTP: a fresh service, three players, and the evidence that is left of it."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from api.client import Client, OpenedShoe, ServiceUnreachable, Statistics
from api.player import Player
from api.settings import DATABASE, Settings, without_settings
from audit.checks.outcomes import cards_used, outcomes, rule_lines, rule_use, structural_zeros
from audit.checks.result import CheckResult, LineItem
from audit.checks.sequence import runs
from audit.tally import Tally, seen, tally_shoe
from shoe.errors import ProofError, expected
from shoe.game.rules import Rules
from shoe.game.tableau import play_coup
from shoe.proof.bundle import Bundle, parse_bundle
from shoe.proof.checkpoint import check_checkpoint
from shoe.proof.note import parse_vkey
from shoe.proof.records import Coup, Open, parse_record
from shoe.proof.tlog import Receipt, print_receipt
from shoe.proof.verify import Evidence, HeldCheckpoint, Verification, verify_bundle

PRESET: Final = "np_punto_banco"
TABLE: Final = "demo"
PLAYERS: Final = 3
BOOK_SIZE: Final = 16
STOP_WITHIN_S: Final = 10

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Played:
    """What a demonstration leaves: bundle, checkpoint, key and receipts as a player keeps them, and what they show."""

    bundle: str
    checkpoint: str
    vkey: str
    receipts: tuple[tuple[str, Receipt], ...]
    rules: Rules
    verification: Verification
    checks: tuple[CheckResult, ...]
    rule_lines: tuple[LineItem, ...]

    @property
    def parsed(self) -> Bundle:
        """The bundle, read."""
        return parse_bundle(self.bundle)

    @property
    def passed(self) -> bool:
        """Whether the shoe is verified, and provably fair to the players who took part."""
        return (self.verification.verdict, self.verification.fairness) == ("verified", "provably_fair")


@contextmanager
def running_service(folder: Path, database_url: str | None = None) -> Iterator[str]:
    """Run the real service as a process of its own on a free port of 127.0.0.1, its store in `folder`; give its URL.

    `database_url` is the PostgreSQL that it keeps its records in, SQLite in `folder` without one.
    The process is asked to stop at the end, and made to after ten seconds. Raises ServiceUnreachable where it ends
    before it serves.
    """
    command = [sys.executable, "-c", "from api.cli import main; main()", "serve", "--port", "0", "--json"]
    # Whatever installation this environment names, it is not the one to play in.
    environment = {**without_settings(os.environ), "FAIRSHOE_DATA": str(folder)}
    if database_url is not None:
        environment[DATABASE] = database_url
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    complaints = folder / "serve.log"
    with (
        complaints.open("w") as log,
        subprocess.Popen(  # noqa: S603  # this very program
            command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment
        ) as process,
    ):
        try:
            said = process.stdout.readline() if process.stdout else ""
            if not said:
                process.wait(STOP_WITHIN_S)
                raise ServiceUnreachable(f"the service did not start: {complaints.read_text().strip()[-500:]}")
            url = str(json.loads(said)["url"])
            _await(url)
            yield url
        finally:
            _stop(process)


def _await(url: str) -> None:
    """Wait until the service answers: it says where before it has opened its installation."""
    client = Client(url)
    try:
        client.version()
    finally:
        client.close()


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()


def first_key(folder: Path) -> str:
    """Read the API key that the first start of an installation left in its folder for the operator."""
    return Settings(folder).operator_key.read_text("ascii").strip()


@dataclass(frozen=True, slots=True)
class _House:
    """The service as its operator and as its game client see it; `vkey` is its log's."""

    url: str
    vkey: str
    operator: Client
    game: Client


@dataclass(frozen=True, slots=True)
class _Seated:
    """A player, and the client that a player speaks through."""

    player: Player
    client: Client


def play(url: str, progress: Progress, operator_key: str) -> Played:
    """Play one whole shoe of np_punto_banco at a service that has no such table yet, as operator and three players.

    The operator makes a key for the game client, which makes a seat for each player. Each player checks every coup
    while the shoe is in play. Raises ProofError for anything that doesn't hold.
    """
    house = _found(url, operator_key)
    house.operator.make_table(PRESET, TABLE)
    house.operator.publish_book(TABLE, BOOK_SIZE)
    opened = house.operator.open_shoe(TABLE, lock_in_s=600, seal_in_s=1200, reveal_in_s=86400)
    progress(f"Opened shoe {opened.shoe} of table {TABLE}: its server seed is committed to, in the log")
    seated = [_take_seat(house, opened) for _ in range(PLAYERS)]
    players = [each.player for each in seated]
    _contribute(house.game, opened.shoe, seated, progress)
    head = house.game.checkpoint()
    _deal(house.game, opened.shoe, players, progress)
    return _judge(house.game, opened.shoe, players, house.vkey, head)


def _found(url: str, operator_key: str) -> _House:
    """Get hold of the log's key, which here comes from the service itself: it is ours; and of a key to play with."""
    (vkey,) = Client(url).vkeys()
    operator = Client(url, operator_key, vkeys=[parse_vkey(vkey)])
    game_key = operator.make_key(["client"], TABLE)
    return _House(url, vkey, operator, Client(url, game_key.token, vkeys=[parse_vkey(vkey)]))


def _take_seat(house: _House, opened: OpenedShoe) -> _Seated:
    vkey, seat = parse_vkey(house.vkey), house.game.make_seat(TABLE)
    return _Seated(Player(vkey, secrets.token_hex(16), opened.receipt), Client(house.url, seat.token, vkeys=[vkey]))


def _contribute(game: Client, shoe: str, seated: Sequence[_Seated], progress: Progress) -> None:
    names = []
    for each in seated:
        contributed = each.client.contribute(shoe, each.player.commitment)
        each.player.accept_entropy(contributed.receipt)
        names.append(contributed.client)
    progress(f"{len(seated)} players committed to seeds of their own, and hold signed receipts")
    lock = game.lock(shoe)
    records = [shown.record for shown in game.records(shoe)]
    for name, each in zip(names, seated, strict=True):
        each.client.open_seed(shoe, name, each.player.accept_lock(lock, records))
    progress("Locked; each player found the own commitment in the chain, and only then opened the seed")
    seal = game.seal(shoe)
    for each in seated:
        each.player.accept_seal(seal.receipt)
    progress(f"Sealed: all {seated[0].player.opening.rules.size} cards are fixed under one signed root")


def _deal(game: Client, shoe: str, players: Sequence[Player], progress: Progress) -> None:
    ended, coups = False, 0
    while not ended:
        dealt = game.deal(shoe)
        for player in players:
            player.accept_coup(dealt.receipt, dealt.paths)
        ended, coups = dealt.reveal is not None, coups + 1
    progress(f"Dealt {coups} coups, each checked by every player before the next; the server seed is revealed")


def _judge(client: Client, shoe: str, players: Sequence[Player], vkey: str, head: str) -> Played:
    text = client.bundle(shoe, earlier=check_checkpoint(head, (parse_vkey(vkey),)).size)
    receipts = tuple(
        (f"player-{number}-{name}.receipt", receipt)
        for number, player in enumerate(players)
        for name, receipt in zip(("entropy", "lock"), player.receipts, strict=True)
    )
    bundle, key = parse_bundle(text), parse_vkey(vkey)
    verification = _verify(bundle, Evidence(vkeys=(key,), held=HeldCheckpoint(head)), players)
    opened = parse_record(bundle.records[0])
    if not isinstance(opened, Open):
        raise ProofError(expected("an open record", opened.type, "bundle"))
    tally = tally_bundle(bundle, opened.rules)
    decks = opened.rules.decks
    checks = (structural_zeros, outcomes, rule_use, cards_used)
    results = (*(check(tally, decks) for check in checks), runs(tally))
    lines = rule_lines(tally, decks)
    _compare(client.rule_statistics(shoe=shoe), lines)
    return Played(
        bundle=text,
        checkpoint=head,
        vkey=vkey,
        receipts=receipts,
        rules=opened.rules,
        verification=verification,
        checks=results,
        rule_lines=lines,
    )


def _verify(bundle: Bundle, evidence: Evidence, players: Sequence[Player]) -> Verification:
    """Verify offline once for each player's receipts; the worst answer stands for all."""
    answers = [verify_bundle(bundle, replace(evidence, receipts=player.receipts)) for player in players]
    return next((a for a in answers if (a.verdict, a.fairness) != ("verified", "provably_fair")), answers[0])


def _compare(published: Statistics, own: Sequence[LineItem]) -> None:
    """Hold the service's statistics of the shoe against the count from the bundle's own cards."""
    claimed = {line.label: line.observed for counts in published.decks for line in counts.judged["rules"]}
    counted = {line.label: line.observed for line in own}
    if claimed != counted:
        raise ProofError(expected(f"rule use {counted}", claimed, "the service's statistics"))


def tally_bundle(bundle: Bundle, rules: Rules) -> Tally:
    """Count the judged coups of a bundle, each played anew from its cards."""
    records = map(parse_record, bundle.records)
    coups = [play_coup([card.card for card in record.cards]) for record in records if isinstance(record, Coup)]
    return tally_shoe([seen(coup) for coup in coups], rules.judged_coups)


def findings(played: Played) -> dict[str, Any]:
    """Say what was found, as `findings.json` holds it."""
    return {
        **played.verification.to_json(),
        "statistics": [check.to_json() for check in played.checks],
        "rules": [line.to_json() for line in played.rule_lines],
    }


def write_evidence(played: Played, folder: Path) -> list[Path]:
    """Write bundle.json, checkpoint, vkey, findings.json and the players' receipts; give the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {
        "bundle.json": played.bundle,
        "checkpoint": played.checkpoint,
        "vkey": played.vkey + "\n",
        "findings.json": json.dumps(findings(played), indent=1) + "\n",
        **{name: print_receipt(receipt) for name, receipt in played.receipts},
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
