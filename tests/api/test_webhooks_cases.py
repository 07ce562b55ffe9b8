"""Making, rotating, disabling and listing webhooks; and their secrets: sealed, rewrapped, backed up, never in clear."""

from __future__ import annotations

import base64
import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from api.backup.making import make_backup
from api.backup.restoring import restore_backup
from api.cases import webhooks as cases
from api.cases.keys import Rotated, rotate
from api.cases.webhooks import (
    disable_webhook,
    enable_webhook,
    list_deliveries,
    list_webhooks,
    make_webhook,
    rotate_secret,
    send_test,
)
from api.db.sessions import open_store
from api.db.tables import WebhookRow
from api.refusals import Refusal
from api.service import Service
from api.settings import SetupError
from api.webhooks.addresses import Reach
from api.webhooks.delivering import deliver_due
from api.webhooks.events import EVENT_TYPES
from api.webhooks.kept import of_webhook, secrets_of
from shoe.errors import InputError
from tests.api.conftest import NewDatabase
from tests.api.installation import Found, Installation
from tests.api.secret_search import Search
from tests.api.stored import everything_stored
from tests.api.webhook_house import LOOPBACK, dealt_out, deliveries, hooked, key_of, opened, table_at, webhook_row
from tests.api.webhook_receiver import Receiver, receiving

URL = "https://receiver.example/hook?token=t"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.fixture
def service(house: Installation) -> Service:
    table_at(house.service)
    return house.service


# --- made ----------------------------------------------------------------------------------------


def test_a_webhook_is_what_was_asked_for(service: Service, house: Installation) -> None:
    made = service.write(make_webhook(service, URL, ["shoe.voided", "coup.dealt"], "t"))
    row = webhook_row(service, made.webhook.id)
    assert (row.url, row.events, row.table_id) == (URL, "coup.dealt shoe.voided", "t")
    assert (row.state, row.reason, row.sealed_former, row.former_until) == ("active", None, None, None)
    assert made.secret.startswith("whsec_")
    assert len(key_of(made)) == 32
    assert key_of(made) in house.chance.drawn
    assert made.secret not in repr(made)


@pytest.mark.parametrize("events", [[], ["coup"], ["coup.dealt", "coup.dealt"], ["webhook.test"], ["coup.dealt", ""]])
def test_types_of_events_that_there_are_none_of_are_refused(service: Service, events: list[str]) -> None:
    with pytest.raises(InputError, match=r"^events: expected one or more of coup\.dealt, "):
        make_webhook(service, URL, events)


@pytest.mark.parametrize(
    ("url", "reach"),
    [("http://receiver.example/", "public"), ("https://127.0.0.1/", "public"), ("ftp://receiver.example/", "any")],
)
def test_a_url_out_of_reach_is_refused(service: Service, url: str, reach: Reach) -> None:
    with pytest.raises(InputError, match=r"^url: expected "):
        make_webhook(service, url, EVENT_TYPES, None, reach)


def test_a_table_that_is_not_there_is_refused(service: Service) -> None:
    with pytest.raises(Refusal, match=r"^There is no table 'nowhere'\.$"):
        service.write(make_webhook(service, URL, EVENT_TYPES, "nowhere"))


def test_there_are_only_so_many_at_work(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "MOST_ACTIVE", 2)
    first, _ = hooked(service, URL), hooked(service, URL)
    with pytest.raises(Refusal, match=r"^2 webhooks are at work\.$"):
        hooked(service, URL)
    service.write(disable_webhook(first.webhook.id))
    hooked(service, URL)
    with pytest.raises(Refusal, match=r"^2 webhooks are at work\.$"):
        service.write(enable_webhook(first.webhook.id))
    assert len(list_all(service)) == 3


def list_all(service: Service) -> list[WebhookRow]:
    with service.reading() as session:
        return list_webhooks(session, None, 100)


@pytest.mark.parametrize("step", [disable_webhook, enable_webhook])
def test_what_is_not_there_is_refused(service: Service, step: Any) -> None:
    for each in (step("0190"), rotate_secret(service, "0190"), send_test(service, "0190")):
        with pytest.raises(Refusal, match=r"^There is no webhook '0190'\.$"):
            service.write(each)
    with service.reading() as session, pytest.raises(Refusal, match="no webhook"):
        list_deliveries(session, "0190", None, None, 10)


def test_disabling_and_enabling_twice_is_the_same_as_once(service: Service) -> None:
    made = hooked(service, URL)
    for step, state in ((disable_webhook, ("disabled", "operator")), (enable_webhook, ("active", None))):
        for _ in range(2):
            row = service.write(step(made.webhook.id))
            assert (row.state, row.reason) == state
    service.write(disable_webhook(made.webhook.id))
    with pytest.raises(Refusal, match=r"is disabled: its operator did it\.$"):
        service.write(send_test(service, made.webhook.id))


def test_webhooks_are_listed_page_by_page(service: Service, house: Installation) -> None:
    ids = []
    for _ in range(3):
        house.clock.forward(1)
        ids.append(hooked(service, URL).webhook.id)
    with service.reading() as session:
        assert [row.id for row in list_webhooks(session, None, 2)] == ids[:2]
        assert [row.id for row in list_webhooks(session, ids[1], 2)] == ids[2:]


def test_deliveries_are_listed_by_state_page_by_page(service: Service, receiver: Receiver) -> None:
    made = hooked(service, receiver.url)
    dealt_out(service)
    receiver.status = 410
    deliver_due(service, LOOPBACK)
    ids = sorted(row.id for row in deliveries(service))
    dead = [row.id for row in deliveries(service) if row.state == "dead"]
    with service.reading() as session:
        listed: list[str] = []
        while page := list_deliveries(session, made.webhook.id, None, listed[-1] if listed else None, 4):
            listed += [row.id for row in page]
        assert listed == ids
        assert [row.id for row in list_deliveries(session, made.webhook.id, "dead", None, 10)] == dead
        assert list_deliveries(session, made.webhook.id, "delivered", None, 10) == []


# --- secrets -------------------------------------------------------------------------------------


def opening(house: Installation, sealed: bytes, webhook: str) -> list[int]:
    """Which keys of the vault's file open what is sealed, by cryptography alone."""
    held = (house.folder / "vault.key").read_bytes()
    place = json.dumps({"secret": "webhook", "webhook": webhook}, separators=(",", ":")).encode()
    found = []
    for at in range(0, len(held), 32):
        try:
            AESGCM(held[at : at + 32]).decrypt(sealed[:12], sealed[12:], place)
        except InvalidTag:
            continue
        found.append(at // 32)
    return found


def test_a_rotation_of_the_vaults_key_seals_both_secrets_anew(service: Service, house: Installation) -> None:
    old = hooked(service, URL)
    new = service.write(rotate_secret(service, old.webhook.id))
    before, now = webhook_row(service, old.webhook.id), "2026-01-31T12:00:00.000000Z"
    assert rotate(service) == Rotated(secrets=4, sealed_anew=4)
    row = webhook_row(service, old.webhook.id)
    assert row.sealed_former is not None
    assert before.sealed_former is not None
    for sealed, stale in ((row.sealed_secret, before.sealed_secret), (row.sealed_former, before.sealed_former)):
        assert (opening(house, sealed, row.id), opening(house, stale, row.id)) == ([0], [])
    assert [secret.key for secret in secrets_of(service.vault, row, now)] == [key_of(new), key_of(old)]


def test_a_secret_opens_for_its_own_webhook_alone(service: Service) -> None:
    one, other = hooked(service, URL), hooked(service, URL)
    with service.store.writing() as session:
        session.get_one(WebhookRow, one.webhook.id).sealed_secret = other.webhook.sealed_secret
    with pytest.raises(SetupError, match="does not open a secret"):
        secrets_of(service.vault, webhook_row(service, one.webhook.id), "")
    assert of_webhook("x") != of_webhook("y")


def test_a_rotation_says_which_secret_does_not_open(service: Service) -> None:
    made = hooked(service, URL)
    with service.store.writing() as session:
        session.get_one(WebhookRow, made.webhook.id).sealed_secret = bytes(60)
    with pytest.raises(SetupError, match=f"^webhook {made.webhook.id}: the vault's key does not open"):
        rotate(service)


def test_no_secret_is_anywhere_in_any_spelling(
    service: Service, house: Installation, receiver: Receiver, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = hooked(service, receiver.url)
    new = service.write(rotate_secret(service, made.webhook.id))
    dealt_out(service)
    receiver.status = 500
    deliver_due(service, LOOPBACK)
    receiver.status = 200
    deliver_due(service, LOOPBACK)
    make_backup(service.store, tmp_path / "backup")
    stored = everything_stored(service.store)
    places = {f"table {name}": repr(rows).encode() for name, rows in stored.items()}
    places |= {f"file {path.name}": path.read_bytes() for path in house.folder.iterdir() if path.is_file()}
    places["backup"] = gzip.decompress((tmp_path / "backup").read_bytes())
    places["sent"] = repr(receiver.came).encode()
    places["shown"] = repr([made, new, service, LOOPBACK, secrets_of(service.vault, made.webhook, "")]).encode()
    places["said"] = "".join(capfd.readouterr()).encode()
    secrets = {"old": key_of(made), "new": key_of(new)}
    assert Search(secrets).through(places) == []
    # The search can find: what a receiver is given has it.
    assert Search(secrets).through({"answer": new.secret.encode()}) != []
    assert base64.b64encode(receiver.came[0].body) not in places["said"]


# --- backup --------------------------------------------------------------------------------------


@pytest.fixture
def target(new_database: NewDatabase) -> str | None:
    """An empty database, for a copy."""
    return new_database()


def test_a_backup_carries_webhooks_and_deliveries_and_the_copy_goes_on(
    service: Service, house: Installation, found: Found, receiver: Receiver, target: str | None
) -> None:
    """A delivery that had not arrived is sent by the copy, under the same id and secret."""
    tmp_path, url = house.folder.parent, target
    hooked(service, receiver.url)
    service.write(rotate_secret(service, deliveries_of_none(service)))
    dealt_out(service)
    receiver.status = 500
    deliver_due(service, LOOPBACK)
    make_backup(service.store, tmp_path / "backup")
    before = everything_stored(service.store)
    folder = tmp_path / "copy"
    folder.mkdir(mode=0o700)
    for name in ("vault.key", "checkpoint.pinned"):
        (folder / name).write_bytes((house.folder / name).read_bytes())
        os.chmod(folder / name, 0o600)
    store = open_store(url or str(folder / "fairshoe.sqlite3"))
    restore_backup(store, tmp_path / "backup")
    after = everything_stored(store)
    store.engine.dispose()
    assert {name: after[name] for name in ("webhooks", "deliveries")} == {
        name: before[name] for name in ("webhooks", "deliveries")
    }
    assert len(before["deliveries"]) == 9
    copy = found("copy", database_url=url, clock=house.clock)
    house.clock.forward(10)
    receiver.status = 200
    assert deliver_due(copy.service, LOOPBACK) == 9
    assert sorted(receiver.ids[1:]) == sorted(row.id for row in deliveries(service))


def deliveries_of_none(service: Service) -> str:
    """The id of the one webhook."""
    (row,) = list_all(service)
    assert deliveries(service) == []
    return row.id


def test_a_shoe_that_nobody_is_told_of_leaves_no_row(service: Service) -> None:
    opened(service)
    assert deliveries(service) == []
