"""Write the examples of the interface's document, `api/openapi/examples.json`, from a story played on an installation.

python -m tests.write_examples

Its clock stands and its chance is counted, so that the same story gives the same bytes. Each operation keeps its first
answer, each kind of problem the first refusal of it. The tokens among them open nothing but the story's installation.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from api.audits.running import Audits
from api.cases.monitoring import watch_coups
from api.integrity.halt import halt
from api.openapi.examples import FILE
from api.refusals import URN
from api.routes.endpoint import Endpoint, endpoints_of
from shoe.proof.seeds import commit_seed
from tests.api.installation import DEADLINES, Installation

TARGET = Path(__file__).parents[1] / "api" / "openapi" / FILE
SHORT = {"shuffle": "coup", "cut": None, "coups": 2}
SEED = "a seed of my own".replace(" ", "-")
NOBODY = "019c1000-0000-7000-8000-000000000000"


@dataclass
class Told:
    """What the stories told so far."""

    operations: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, Any] = field(default_factory=dict)

    def printed(self) -> str:
        kept = {"operations": dict(sorted(self.operations.items())), "problems": dict(sorted(self.problems.items()))}
        return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


@dataclass
class Story:
    """One installation, and who asks it: its first key, unless another token, or none, is named."""

    house: Installation
    told: Told
    asked: int = 0

    @property
    def endpoints(self) -> Mapping[str, Endpoint]:
        return endpoints_of(self.house.app)

    def ask(
        self,
        operation: str,
        body: Any = None,
        *,
        token: str | None = "",
        claim: str | None = "",
        query: Mapping[str, Any] | None = None,
        sent: Mapping[str, Any] | None = None,
        **path: Any,
    ) -> Any:
        """Ask for an operation, and keep what comes first of its kind."""
        endpoint = self.endpoints[operation]
        headers = self._headers(endpoint, token, claim)
        address = re.sub(r"\{(\w+)\}", lambda found: str(path[found[1]]), endpoint.path)
        client = FlaskClient(self.house.app)
        if endpoint.method == "GET":
            answer = client.get(address, headers=headers, query_string=query)
        else:
            answer = client.post(address, headers=headers, **(sent or {"json": {} if body is None else body}))
        self._keep(operation, endpoint, {"path": path, "query": dict(query or {}), "body": body}, answer)
        return answer.get_json(silent=True)

    def _headers(self, endpoint: Endpoint, token: str | None, claim: str | None) -> dict[str, str]:
        headers = {}
        if token is not None:
            headers["Authorization"] = f"Bearer {token or self.house.tokens.key}"
        if endpoint.claimed is not None and claim is not None:
            self.asked += 1
            headers["Idempotency-Key"] = claim or f"request-{self.asked}"
        return headers

    def _keep(self, operation: str, endpoint: Endpoint, asked: dict[str, Any], answer: TestResponse) -> None:
        if answer.status_code >= 400:
            self.told.problems.setdefault(answer.json["type"].removeprefix(URN), answer.json)
        elif operation not in self.told.operations and answer.status_code in endpoint.answers:
            if endpoint.method == "POST":
                asked["body"] = asked["body"] or {}
            self.told.operations[operation] = {**asked, "status": answer.status_code, "answer": _read(answer)}


def _read(answer: TestResponse) -> Any:
    if answer.is_json:
        return answer.json
    # Metrics count what this process has done before: no two times are alike.
    return answer.text if answer.content_type in ("text/plain", "text/plain; charset=utf-8") else None


def tell() -> Told:
    """Play every story; give what they told."""
    told = Told()
    with founded() as house:
        story = Story(house, told)
        keys(story)
        shoe = one_shoe(story)
        proofs(story, shoe)
        endings(story, shoe)
        regulator(story)
        audits(story)
        webhooks(story)
        refusals(story, shoe)
    with founded() as house:
        purses(Story(house, told))
    with founded() as house:
        paces(Story(house, told))
    with founded(check_signature=None) as house:
        beacons(Story(house, told))
    with founded(further={"writes_per_minute": 1, "seat_writes_per_minute": 1}) as house:
        floods(Story(house, told))
    return told


@contextmanager
def founded(**settings: Any) -> Iterator[Installation]:
    with tempfile.TemporaryDirectory() as folder:
        house = Installation(Path(folder) / "house", **settings)
        try:
            yield house
        finally:
            house.stop()


def keys(story: Story) -> None:
    story.ask("meta.show_version", token=None)
    for operation in sorted(name for name in story.endpoints if name.startswith("meta.")):
        story.ask(operation)
    key = story.ask("accounts.create_key", {"roles": ["client"], "name": "table software", "expires_in_s": 86_400})
    story.ask("accounts.show_me", token=key["token"])
    story.ask("accounts.show_keys")
    story.ask("accounts.show_key", key_id=key["id"])
    story.ask("accounts.revoke_key", key_id=key["id"])
    story.ask("accounts.revoke_key", key_id=key["id"])
    story.ask("accounts.show_me", token=key["token"])


def one_shoe(story: Story) -> str:
    """A shoe of two coups, from its table to its reveal, with a player's seed."""
    story.ask("tables.create_table", {"id": "salon-1", "preset": "np_punto_banco", "overrides": SHORT})
    story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")
    story.ask("tables.publish", {"size": 1000}, table_id="salon-1")
    ada = story.ask("accounts.create_seat", {"player": "ada"}, table_id="salon-1")
    seat = ada["token"]
    late = story.ask("accounts.create_seat", table_id="salon-1")["token"]
    shoe = str(story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")["shoe"])
    commitment = {"seed_commitment": commit_seed(SEED).hex()}
    story.ask("shoes.contribute_entropy", commitment, token=seat, shoe_id=shoe)
    story.ask("shoes.contribute_entropy", commitment, token=seat, shoe_id=shoe)
    story.ask("shoes.seal", shoe_id=shoe)
    story.ask("shoes.lock", shoe_id=shoe)
    story.ask("shoes.seal", shoe_id=shoe)
    story.ask("shoes.open_seed_of_seat", {"position": 0, "seed": "another-seed"}, token=seat, shoe_id=shoe)
    story.ask("shoes.open_seed_of_seat", {"position": 0, "seed": SEED}, token=seat, shoe_id=shoe)
    story.ask("shoes.open_seed_of_seat", {"position": 0, "seed": SEED}, token=seat, shoe_id=shoe)
    story.ask("shoes.seal", shoe_id=shoe)
    bets(story, shoe, seat)
    story.ask("shoes.deal", shoe_id=shoe, claim="")
    story.ask("bets.show_own_bets", token=seat, shoe_id=shoe)
    story.ask("shoes.show_state", shoe_id=shoe)
    story.ask("shoes.reveal", shoe_id=shoe)
    story.ask("tables.show_table", table_id="salon-1")
    story.ask("shoes.deal", shoe_id=shoe)
    story.ask("shoes.reveal", shoe_id=shoe)
    story.ask("counters.count_bets_of_seat", token=seat, seat_id=ada["seat"])
    story.ask("counters.count_bets_of_player", player="ada")
    for operation in ("show_shoe", "show_records", "show_coups", "show_roads"):
        story.ask(f"shoes.{operation}", shoe_id=shoe)
    story.ask("shoes.show_coup", shoe_id=shoe, number=0)
    withheld(story, late)
    return shoe


def bets(story: Story, shoe: str, seat: str) -> None:
    """A seat's bets on a coup, laid, taken back and laid again; and what is refused of them."""
    one, shoes = {"bet": "banker", "stake": 500}, {"token": seat, "shoe_id": shoe}
    story.ask("bets.take_back", **shoes)
    story.ask("bets.sit_out", **shoes)
    story.ask("bets.lay", one, **shoes)
    story.ask("bets.take_back", **shoes)
    story.ask("bets.lay", {"bet": "banker", "stake": 10**9}, **shoes)
    story.ask("bets.lay", one, **shoes)
    story.ask("bets.lay", one, **shoes)
    story.ask("bets.take_back", **shoes)
    rich = story.ask("accounts.create_seat", {"purse_minor": 10**9}, table_id="salon-1")
    story.ask("bets.lay", {"bet": "tie", "stake": 10**8}, token=rich["token"], shoe_id=shoe)
    story.ask("bets.lay", one, **shoes)
    story.ask("bets.show_purse", token=rich["token"], seat_id=rich["seat"])
    plain = {"burn": "none", "coups": 1, "cut": None, "decks": 8, "entropy": "house", "game": "punto_banco"}
    story.ask("tables.create_table", {"id": "plain", "rules": {**plain, "last_coup": "drawn_in", "shuffle": "coup"}})
    story.ask("accounts.create_seat", {"purse_minor": 1}, table_id="plain")


def purses(story: Story) -> None:
    """A player's own limit, and money into her purse and out of it; and what is refused of them."""
    story.ask("tables.create_table", {"id": "vip-1", "preset": "vip"})
    story.ask("tables.create_table", {"id": "chance-1", "preset": "chance"})
    ann = story.ask("accounts.create_seat", {"purse_minor": 100_000, "player": "player-17"}, table_id="vip-1")
    seat: dict[str, Any] = {"token": ann["token"], "seat_id": ann["seat"]}
    story.ask("purses.lower", {"maximum_minor": 20_000, "pin": "471104"}, **seat)
    story.ask("purses.show_limit", **seat)
    story.ask("purses.lower", {"maximum_minor": 10_000, "pin": "471104"}, **seat)
    for _ in range(6):
        story.ask("purses.lower", {"maximum_minor": 10_000, "pin": "000000"}, **seat)
    guest = story.ask("accounts.create_seat", table_id="chance-1")
    story.ask("purses.lower", {"maximum_minor": 100, "pin": "1234"}, token=guest["token"], seat_id=guest["seat"])
    for amount in (25_000, -200_000, 2**50):
        story.ask("purses.move", {"amount_minor": amount, "note": "cashier 3"}, seat_id=ann["seat"])
    story.ask("purses.show_moves", seat_id=ann["seat"])


def paces(story: Story) -> None:
    """A table that deals once everyone has chosen, and one where many coups are played unattended."""
    house = story.house
    table_of(story, "salon-3", "vip")
    shoe, ann, bea = house.sealed("salon-3"), player_at(story, "salon-3"), player_at(story, "salon-3")
    one = {"bet": "banker", "stake": 500}
    story.ask("pace.bet_again", token=ann["token"], shoe_id=shoe)
    story.ask("bets.lay", {**one, "number": 1}, token=ann["token"], shoe_id=shoe)
    story.ask("bets.lay", {**one, "number": 0}, token=ann["token"], shoe_id=shoe)
    story.ask("pace.be_ready", {"number": 0}, token=ann["token"], shoe_id=shoe)
    story.ask("bets.take_back", token=ann["token"], shoe_id=shoe)
    house.clock.forward(4)
    late = player_at(story, "salon-3")
    story.ask("bets.lay", one, token=late["token"], shoe_id=shoe)
    story.ask("pace.show_choices", shoe_id=shoe)
    story.ask("shoes.deal", shoe_id=shoe)
    house.clock.forward(11)
    story.ask("bets.sit_out", token=bea["token"], shoe_id=shoe)
    story.ask("shoes.deal", shoe_id=shoe)
    story.ask("pace.bet_again", {"number": 1}, token=ann["token"], shoe_id=shoe)
    bets = {"bets": [one], "coups": 10}
    story.ask("pace.loop", {**bets, "seat": ann["seat"]}, shoe_id=shoe)
    table_of(story, "salon-4", "np_punto_banco")
    shoe, carl = house.sealed("salon-4"), player_at(story, "salon-4")
    story.ask("pace.set_up", {"preserve": True}, token=carl["token"], seat_id=carl["seat"])
    story.ask("pace.loop", {**bets, "seat": carl["seat"]}, shoe_id=shoe)


def table_of(story: Story, table: str, preset: str) -> None:
    """A table whose shoes are sealed without anybody's contribution."""
    story.ask("tables.create_table", {"id": table, "preset": preset, "overrides": {"entropy": "house"}})
    story.ask("tables.publish", {"size": 4}, table_id=table)


def player_at(story: Story, table: str) -> Any:
    return story.ask("accounts.create_seat", {"purse_minor": 50_000}, table_id=table)


def withheld(story: Story, seat: str) -> None:
    """A shoe that a player's silence ends; the player sits the next one out."""
    shoe = story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")["shoe"]
    story.ask("shoes.contribute_entropy", {"seed_commitment": commit_seed(SEED).hex()}, token=seat, shoe_id=shoe)
    story.ask("shoes.lock", shoe_id=shoe)
    story.ask("shoes.void", {"reason": "seed_missing"}, shoe_id=shoe)
    story.house.clock.forward(DEADLINES["seal_in_s"] + 1)
    story.ask("shoes.seal", shoe_id=shoe)
    story.ask("shoes.void", {"reason": "seed_missing"}, shoe_id=shoe)
    shoe = story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")["shoe"]
    story.ask("shoes.contribute_entropy", {"seed_commitment": commit_seed(SEED).hex()}, token=seat, shoe_id=shoe)
    story.ask("shoes.void", {"reason": "operator"}, shoe_id=shoe)


def proofs(story: Story, shoe: str) -> None:
    """All that anyone can read and check, without a credential."""
    bundle = story.ask("bundles.show_bundle", token=None, shoe_id=shoe)
    story.ask("bundles.verify_bundle", {"bundle": bundle}, token=None)
    story.ask("log.show_checkpoint", token=None)
    story.ask("log.show_log_keys", token=None)
    story.ask("log.show_entry", token=None, index=2)
    story.ask("log.prove_inclusion", token=None, query={"index": 2})
    story.ask("log.prove_consistency", token=None, query={"old": 3})
    story.ask("tiles.show_tile", token=None, place="0/000.p/3")
    for operation in ("count_rules", "count_outcomes", "count_payouts"):
        story.ask(f"statistics.{operation}", token=None, query={"table": "salon-1"})
    watch_coups(story.house.service)
    story.ask("monitors.show_monitors", token=None, table_id="salon-1")
    story.ask("monitors.show_monitor", token=None, table_id="salon-1", monitor="outcomes")
    story.ask("monitors.plot_monitor", token=None, table_id="salon-1", monitor="outcomes")
    story.ask("tables.show_tables", token=None)
    story.ask("tables.show_books", token=None, table_id="salon-1")


def endings(story: Story, shoe: str) -> None:
    """A seat revoked, a book ended; and what is refused of it."""
    seat = story.ask("accounts.create_seat", table_id="salon-1")
    story.ask("accounts.revoke_seat", seat_id=seat["seat"])
    root = story.ask("tables.show_books", table_id="salon-1")["books"][0]["root"]
    story.ask("tables.end_early", table_id="salon-1", root=root)
    live = story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")
    story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")
    story.ask("tables.publish", {"size": 1000}, table_id="salon-1")
    story.ask("shoes.void", {"reason": "operator"}, shoe_id=live.get("shoe", shoe))
    story.ask("tables.end_early", table_id="salon-1", root=root)
    story.ask("tables.end_early", table_id="salon-1", root=root)


def regulator(story: Story) -> None:
    """What the regulator reads: shoes given up, seeds of ended books that no shoe used."""
    story.ask("regulator.export_records")
    story.ask("regulator.export_records", query={"size": 10**6})
    story.ask("regulator.show_voids", query={"table": "salon-1"})
    story.ask("regulator.show_unused")


def audits(story: Story) -> None:
    """An audit of the records from the asking to the verdict, and as many as may wait."""
    asked = story.ask("audits.create_audit", {"table": "salon-1"})
    of, keeper = {"audit_id": asked["id"]}, Audits(story.house.service)
    story.ask("audits.show_document", **of, document="plan.json")
    while keeper.turn():
        pass
    story.ask("audits.show_audits")
    story.ask("audits.show_audit", **of)
    story.ask("audits.show_document", **of, document="plan.json")
    while "audits-waiting" not in story.told.problems:
        story.ask("audits.create_audit")


def webhooks(story: Story) -> None:
    """A webhook from its making to its end; nothing is sent, since nothing delivers here."""
    made = story.ask("webhooks.create_webhook", {"url": "https://casino.example/events", "events": ["coup.dealt"]})
    hook = {"webhook_id": made["id"]}
    story.ask("webhooks.show_webhooks")
    story.ask("webhooks.show_webhook", **hook)
    delivery = story.ask("webhooks.test_webhook", **hook)
    story.ask("webhooks.show_deliveries", **hook)
    story.ask("webhooks.redeliver_one", **hook, delivery_id=delivery["id"])
    story.ask("webhooks.redeliver_all", **hook)
    story.ask("webhooks.rotate_webhook", **hook)
    story.ask("webhooks.disable", **hook)
    story.ask("webhooks.test_webhook", **hook)
    story.ask("webhooks.enable", **hook)


def refusals(story: Story, shoe: str) -> None:
    """What is refused before anything is done."""
    story.ask("tables.create_table", {"preset": "np_punto_banco"}, token=None)
    seat = story.ask("accounts.create_seat", table_id="salon-1")["token"]
    story.ask("tables.create_table", {"preset": "np_punto_banco"}, token=seat)
    story.ask("tables.create_table", {"id": "salon-1", "preset": "np_punto_banco"})
    story.ask("tables.create_table", {"preset": "np_punto_banco", "decks": 8})
    story.ask("tables.create_table", sent={"data": b'{"preset": ', "content_type": "application/json"})
    story.ask("tables.create_table", sent={"data": b"preset=np_punto_banco", "content_type": "text/plain"})
    story.ask("tables.create_table", sent={"data": b" " * (2**20 + 1), "content_type": "application/json"})
    story.ask("tables.publish", {"size": 1, "master": "00" * 32}, table_id="salon-1")
    story.ask("shoes.show_shoe", shoe_id=NOBODY)
    story.ask("shoes.deal", shoe_id=shoe, claim=None)
    story.ask("tables.publish", {"size": 1}, table_id="salon-1", claim="request-1")
    story.ask("tables.publish", {"size": 2}, table_id="salon-1", claim="request-1")
    story.ask("tables.create_table", {"id": "salon-2", "preset": "np_punto_banco", "overrides": {"entropy": "house"}})
    story.ask("tables.publish", {"size": 4}, table_id="salon-2")
    opened = story.ask("tables.open_next", dict(DEADLINES), table_id="salon-2")["shoe"]
    guest = story.ask("accounts.create_seat", table_id="salon-2")["token"]
    story.ask("shoes.contribute_entropy", {"seed": SEED}, token=guest, shoe_id=opened)
    crowd(story)
    halt(story.house.folder / "halt", "2026-01-31T12:00:00.000000Z", "the pinned checkpoint is not the log's")
    story.ask("tables.publish", {"size": 1}, table_id="salon-1")


def crowd(story: Story) -> None:
    """A shoe with more players than a seal can name."""
    shoe = story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")["shoe"]
    while "contributions-full" not in story.told.problems:
        seat = story.ask("accounts.create_seat", table_id="salon-1")["token"]
        story.ask("shoes.contribute_entropy", {"seed_commitment": commit_seed(SEED).hex()}, token=seat, shoe_id=shoe)


def beacons(story: Story) -> None:
    """A service that can't check a beacon's signatures."""
    story.ask("tables.create_table", {"id": "salon-1", "preset": "np_punto_banco", "overrides": {"entropy": "beacon"}})
    story.ask("tables.publish", {"size": 4}, table_id="salon-1")
    story.ask("tables.open_next", dict(DEADLINES), table_id="salon-1")


def floods(story: Story) -> None:
    """A caller who writes more often than the service allows."""
    for _ in range(2):
        story.ask("tables.create_table", {"preset": "np_punto_banco"})


if __name__ == "__main__":
    TARGET.write_text(tell().printed(), encoding="utf-8")
