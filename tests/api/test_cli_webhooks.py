"""``fairshoe webhooks`` beside a running service, and the keeper's part: what was asked for again is sent."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from api.cli import fairshoe
from api.keeper import FORGET_EVERY_S, Keeper
from api.settings import VAULT_KEY
from api.webhooks.delivering import KEPT_S
from api.world import real_world
from tests.api.installation import Found, Installation
from tests.api.webhook_house import LOOPBACK, deliveries, hooked, opened, states, table_at
from tests.api.webhook_receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def running(found: Found) -> Installation:
    """A service that runs while the command works beside it, by the same clock."""
    house = found(clock=real_world().now)
    table_at(house.service)
    return house


def command(house: Installation, *arguments: str) -> Result:
    given = {"FAIRSHOE_DATA": str(house.folder), "DATABASE_URL": house.database_url}
    env = {"FAIRSHOE_ORIGIN": None, VAULT_KEY: None, **given}
    return CliRunner(env=env).invoke(fairshoe, ["webhooks", *arguments])


def keeper_of(house: Installation, said: list[str]) -> Keeper:
    return Keeper(house.service, say=said.append, sender=LOOPBACK)


def test_what_could_not_be_delivered_is_listed_and_tried_anew(running: Installation, receiver: Receiver) -> None:
    receiver.status, said = 410, []  # type: ignore[var-annotated]
    made = hooked(running.service, receiver.url, ["shoe.opened"])
    opened(running.service)
    keeper = keeper_of(running, said)
    keeper.tick()
    (row,) = deliveries(running.service)
    shown = json.loads(command(running, "list", "--json").stdout)
    assert [(each["id"], each["state"], each["pending"], each["dead"]) for each in shown["webhooks"]] == [
        (made.webhook.id, "disabled", 0, 1)
    ]
    assert made.secret not in command(running, "list").stdout
    (dead,) = json.loads(command(running, "dead", "--json").stdout)["dead"]
    assert (dead["id"], dead["webhook"], dead["error"]) == (row.id, made.webhook.id, "it answers 410")
    assert row.id in command(running, "dead").stdout
    refused = command(running, "redeliver", made.webhook.id)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "is disabled: its receiver answered 410." in refused.stderr
    running.post(f"/webhooks/{made.webhook.id}/enable")
    again = command(running, "redeliver", made.webhook.id)
    assert (again.exit_code, again.stdout) == (0, f"1 deliveries to {made.webhook.id} are on their way again\n")
    one = command(running, "redeliver", made.webhook.id, row.id, "--json")
    assert json.loads(one.stdout) == {"redelivered": 1}
    receiver.status = 200
    keeper_of(running, said).tick()
    assert (states(running.service), said) == (["delivered"], [])


@pytest.mark.parametrize("arguments", [["redeliver", "0190"], ["redeliver", "0190", "0191"]])
def test_what_is_not_there_is_named(running: Installation, arguments: list[str]) -> None:
    result = command(running, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "There is no webhook '0190'." in result.stderr


def test_the_keeper_delivers_each_second_and_forgets_each_hour(house: Installation, receiver: Receiver) -> None:
    table_at(house.service)
    hooked(house.service, receiver.url)
    said: list[str] = []
    keeper = keeper_of(house, said)
    keeper.tick()
    opened(house.service)
    house.clock.forward(1)
    keeper.tick()
    assert (states(house.service)[0], said) == ("delivered", [])
    house.clock.forward(KEPT_S + FORGET_EVERY_S)
    keeper.tick()
    house.clock.forward(FORGET_EVERY_S)
    keeper.tick()
    assert (len(receiver.came), said) == (2, []), "the shoe was opened, and void by its deadline"
