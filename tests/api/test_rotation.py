"""The vault's key rotated while the service runs: whatever happens on the way, no secret is lost."""

from __future__ import annotations

import gc
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import urllib3
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sqlalchemy import select

from api.cases.books import publish_book
from api.cases.keys import Rotated, add_key, rotate
from api.cases.tables import make_table
from api.db.tables import BookRow, SigningKeyRow
from api.demo import running_service
from api.refusals import Refusal
from api.service import Service
from api.settings import Settings, SetupError
from api.vault import KeyFile, of_book, of_signing_key
from api.wiring import open_service
from api.world import World, real_world
from shoe.proof.note import SignerKey
from shoe.proof.seeds import seed_book
from tests.api.boundaries import Killed, at_boundaries, killed_at
from tests.api.installation import DEADLINES, EVERY_COUP, HOUSE, ORIGIN, Chance, Found, Installation
from tests.api.sabotage import Sabotage, sabotaged
from tests.api.stored import everything_stored

ROOT = Path(__file__).parents[2]
OLD, NEW, OTHER = b"k" * 32, b"n" * 32, b"o" * 32


def held(house: Installation) -> list[bytes]:
    """The keys in the file."""
    content = (house.folder / "vault.key").read_bytes()
    return [content[start : start + 32] for start in range(0, len(content), 32)]


def opening(service: Service, keys: list[bytes]) -> dict[str, list[int]]:
    """Which of the keys open each secret, by cryptography alone; what opens must be what its public half commits to."""
    found: dict[str, list[int]] = {}
    with service.reading() as session:
        for book in session.scalars(select(BookRow)):
            opened = [_open(key, book.sealed_master, of_book(book.table_id, book.root)) for key in keys]
            assert all(seed_book(master, book.size).root == book.root for master in opened if master)
            found[book.root.hex()] = [at for at, master in enumerate(opened) if master]
        for row in session.scalars(select(SigningKeyRow)):
            opened = [_open(key, row.sealed_seed, of_signing_key(row.vkey)) for key in keys]
            assert all(str(SignerKey.from_seed(ORIGIN, seed).vkey) == row.vkey for seed in opened if seed)
            found[row.vkey] = [at for at, seed in enumerate(opened) if seed]
    return found


def _open(key: bytes, sealed: bytes, place: bytes) -> bytes | None:
    try:
        return AESGCM(key).decrypt(sealed[:12], sealed[12:], place)
    except InvalidTag:
        return None


def require_whole(house: Installation) -> None:
    """Every secret opens under just one of the keys in the file: nothing is lost."""
    assert {len(by) for by in opening(house.service, held(house)).values()} == {1}


def publish(installation: Installation) -> None:
    installation.service.write(publish_book(installation.service, "t", 1))


@pytest.fixture
def busy(house: Installation) -> Installation:
    """An installation with books, a second key, and a shoe in play."""
    house.table(**HOUSE)
    publish(house)
    house.service.write(add_key(house.service))
    return house


@pytest.fixture
def another(house: Installation) -> Iterator[Callable[[], Installation]]:
    """Opens the same installation as further processes do, each with a vault and keys that it holds by itself."""
    opened: list[Installation] = []

    def make() -> Installation:
        chance = Chance(10_000 * (len(opened) + 1))
        opened.append(Installation(house.folder, house.clock, chance, database_url=house.database_url))
        return opened[-1]

    yield make
    for installation in opened:
        installation.stop()


Another = Callable[[], Installation]


# --- a rotation ----------------------------------------------------------------------------------


def test_afterwards_every_secret_is_under_a_new_key_and_none_under_the_one_before(busy: Installation) -> None:
    before = held(busy)
    assert rotate(busy.service) == Rotated(secrets=4, sealed_anew=4)
    assert len(held(busy)) == 1
    assert list(opening(busy.service, held(busy) + before).values()) == [[0]] * 4


def test_only_what_is_sealed_changes_in_the_database(busy: Installation) -> None:
    before = everything_stored(busy.service.store)
    rotate(busy.service)
    after = everything_stored(busy.service.store)
    assert {name for name, rows in after.items() if rows != before[name]} == {"books", "signing_keys"}
    assert {name: len(rows) for name, rows in after.items()} == {name: len(rows) for name, rows in before.items()}


def test_the_file_keeps_its_mode_and_nothing_is_left_beside_it(busy: Installation) -> None:
    rotate(busy.service)
    files = {path.name: path.stat().st_mode & 0o777 for path in busy.folder.iterdir() if "vault" in path.name}
    assert files == {"vault.key": 0o600, "vault.key.turn": 0o600}


def test_servers_that_run_go_on_and_one_that_starts_finds_its_way(busy: Installation, another: Another) -> None:
    """Opening a shoe needs a book's master, and every record a key's seed."""
    servers = [busy, another()]
    for n in range(3):
        rotate(another().service)
        servers.append(another())
        for at, server in enumerate(servers):
            shoe = server.sealed(server.table(f"t{n}-{at}", **EVERY_COUP))
            server.deal_out(shoe)
            assert server.get("/shoes/" + shoe)["state"] == "revealed"
    require_whole(busy)


def test_several_who_rotate_at_once_come_one_after_another(busy: Installation, another: Another) -> None:
    processes = [another() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda process: rotate(process.service), processes))
    assert done == [Rotated(4, 4)] * 4
    assert len(held(busy)) == 1
    require_whole(busy)


def test_keys_that_a_rotation_left_in_the_file_go_with_the_next(busy: Installation) -> None:
    """It was killed before it began to seal, or before it could drop what opens nothing any more."""
    file = KeyFile(busy.folder / "vault.key")
    file.replace([NEW, *file.read(), OTHER])
    publish(busy)
    assert rotate(busy.service) == Rotated(5, 5)
    assert len(held(busy)) == 1
    require_whole(busy)


# --- refused -------------------------------------------------------------------------------------


def test_nothing_begins_while_nothing_may_be_signed(busy: Installation) -> None:
    (busy.folder / "halt").write_text("The auditor found leaf 3 changed.")
    before = held(busy), everything_stored(busy.service.store)
    with pytest.raises(Refusal, match=r"^The auditor found leaf 3 changed\.$"):
        rotate(busy.service)
    assert (held(busy), everything_stored(busy.service.store)) == before


@pytest.mark.parametrize("spoilt", ["a book", "a key"])
def test_nothing_begins_where_a_secret_does_not_open_and_it_says_which(busy: Installation, spoilt: str) -> None:
    with busy.service.store.writing() as session:
        if spoilt == "a book":
            book = session.scalars(select(BookRow).limit(1)).one()
            book.sealed_master, name = bytes(60), f"book {book.root.hex()} of table t"
        else:
            key = session.scalars(select(SigningKeyRow).order_by(SigningKeyRow.log_index.desc()).limit(1)).one()
            key.sealed_seed, name = bytes(60), f"signing key {key.vkey}"
    before = held(busy), everything_stored(busy.service.store)
    with pytest.raises(SetupError) as refused:
        rotate(busy.service)
    assert str(refused.value) == f"{name}: the vault's key does not open a secret of this database: is it another's?"
    assert (held(busy), everything_stored(busy.service.store)) == before


def test_what_was_sealed_under_a_former_key_behind_its_back_keeps_that_key_in_the_file(
    busy: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process of this version does that; the scan before a key is dropped believes nobody."""
    write, old = Service.write, held(busy)[0]

    def seal_under_the_old_key(service: Service, step: Any) -> Any:
        result = write(service, step)
        with service.store.writing() as session:
            book = session.scalars(select(BookRow).order_by(BookRow.log_index).limit(1)).one()
            place = of_book(book.table_id, book.root)
            book.sealed_master = bytes(12) + AESGCM(old).encrypt(
                bytes(12), service.vault.open(book.sealed_master, place), place
            )
        return result

    with monkeypatch.context() as patched:
        patched.setattr(Service, "write", seal_under_the_old_key)
        with pytest.raises(SetupError, match=r"^book .* was sealed under a former key meanwhile; run it again$"):
            rotate(busy.service)
    assert held(busy)[1:] == [old]
    require_whole(busy)
    assert rotate(busy.service) == Rotated(4, 4)
    require_whole(busy)


# --- killed on the way ---------------------------------------------------------------------------


def dies_rotating(dying: Installation, at: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a rotation has so many boundaries, and so was killed at this one; its connections end with it."""
    try:
        with killed_at(at, monkeypatch, dying.service.store):
            rotate(dying.service)
    except Killed:
        killed = True
    else:
        killed = False
    gc.collect(1)  # a connection is among what the error held
    dying.stop()
    return killed


def test_killed_between_any_two_steps_it_has_lost_nothing(
    busy: Installation, another: Another, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers go on over the half-done rotation, one that starts afresh as well, and the next rotation completes it."""
    dying, server, at, killed = another(), another(), 0, True
    while killed:
        at += 1
        killed = dies_rotating(dying, at, monkeypatch)
        require_whole(busy)
        publish(server)
        require_whole(busy)
        if at % 10 == 0:
            afresh = another()
            afresh.sealed(afresh.table(f"t{at}", **HOUSE))
    assert at > 30, "a rotation has more steps than that"
    assert len(held(busy)) == 1
    require_whole(busy)


KILL = """
import os, signal, sys
import pytest
from pathlib import Path
from api.cases.keys import rotate
from api.settings import Settings
from api.wiring import open_service
from api.world import real_world
from tests.api.boundaries import at_boundaries

folder, url, wanted, times = sys.argv[1:]
service, met = open_service(Settings(Path(folder), None, url or None), real_world()), 0

def act(name):
    global met
    met += name == wanted
    if met == int(times):
        os.kill(os.getpid(), signal.SIGKILL)

with at_boundaries(act, pytest.MonkeyPatch(), service.store):
    rotate(service)
"""


@pytest.mark.parametrize(
    ("step", "times"),
    [("before replace", 2), ("after replace", 2), ("after do_commit", 1), ("before replace", 3), ("after replace", 3)],
    ids=["before the new key is first", "before it seals", "once it has sealed", "before it drops", "once it dropped"],
)
def test_a_process_that_is_really_killed_has_lost_nothing(found: Found, step: str, times: int) -> None:
    """As above, but by SIGKILL: no handler runs, the locks are the system's to give back."""
    house = found(clock=real_world().now)
    house.table(**HOUSE)
    command = [sys.executable, "-c", KILL, str(house.folder), house.database_url or "", step, str(times)]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    require_whole(house)
    house.sealed()
    publish(house)
    rotate(house.service)
    assert len(held(house)) == 1
    require_whole(house)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_write_that_fails_or_only_seems_to_loses_nothing(
    busy: Installation, another: Another, when: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rotating, at = another(), 0
    while True:
        at += 1
        sabotage = Sabotage(at, when)
        with sabotaged(rotating.service, sabotage, monkeypatch), suppress(Exception):
            rotate(rotating.service)
        rotating.stop()
        require_whole(busy)
        if len(sabotage.done) < at:
            break
    assert len(held(busy)) == 1
    assert at > 8


# --- beside others -------------------------------------------------------------------------------


def test_what_others_seal_between_any_two_steps_is_not_lost(
    busy: Installation, another: Another, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At each boundary another server begins to publish a book, and ends there, or once the head is free again."""
    rotating, server, published = another(), another(), list[Future[None]]()
    here = threading.get_ident()
    with ThreadPoolExecutor(1) as pool:

        def act(_: str) -> None:
            if threading.get_ident() == here:
                published.append(pool.submit(publish, server))
                with suppress(NotYet):
                    published[-1].result(timeout=0.03)

        with at_boundaries(act, monkeypatch, rotating.service.store):
            rotate(rotating.service)
        for each in published:
            each.result()
    assert len(published) > 30
    assert len(held(busy)) == 1
    require_whole(busy)


@pytest.mark.parametrize(
    "content", [b"", b"x" * 31, OTHER, OTHER + NEW], ids=["empty", "cut short", "another key", "other keys"]
)
def test_a_vault_that_is_not_this_databases_seals_nothing_and_signs_nothing(busy: Installation, content: bytes) -> None:
    """Whoever puts a wrong file there: no book is published whose master the next start can't open."""
    path = busy.folder / "vault.key"
    publish(busy)  # all of its keys are held open from here on
    right, before = path.read_bytes(), everything_stored(busy.service.store)
    path.write_bytes(content)
    with pytest.raises(SetupError, match=r"does not open|expected keys of 32 bytes"):
        publish(busy)
    assert everything_stored(busy.service.store) == before
    path.write_bytes(right)
    publish(busy)
    require_whole(busy)


# --- keys from the environment ---------------------------------------------------------------------


@pytest.fixture
def serve(tmp_path: Path, new_database: Callable[[], str | None]) -> Iterator[Callable[..., Service]]:
    """Opens one installation in processes that are given the vault's keys."""
    opened: list[Service] = []
    url = new_database()

    def make(*keys: bytes) -> Service:
        chance = Chance(10_000 * len(opened))
        settings = Settings(tmp_path / "given", ORIGIN, url, vault_keys=keys)
        opened.append(open_service(settings, World(real_world().now, chance)))
        return opened[-1]

    yield make
    for service in opened:
        service.store.engine.dispose()


def add_book(service: Service) -> None:
    service.write(publish_book(service, "t", 1))


def test_given_keys_are_rotated_to_the_first(serve: Callable[..., Service], tmp_path: Path) -> None:
    """First every server gets both keys, then the secrets move, then the key before goes: none has to stop."""
    old = serve(OLD)
    old.write(make_table(old, "t", preset="np_punto_banco"))
    add_book(old)
    both = serve(NEW, OLD)
    add_book(both)
    assert rotate(serve(NEW, OLD)) == Rotated(secrets=3, sealed_anew=2)
    assert rotate(serve(NEW, OLD)) == Rotated(secrets=3, sealed_anew=0)
    add_book(both)
    new = serve(NEW)
    add_book(new)
    assert set(map(tuple, opening(new, [NEW, OLD]).values())) == {(0,)}
    assert not list((tmp_path / "given").glob("vault*"))


def test_a_server_that_has_only_the_key_before_signs_no_more(serve: Callable[..., Service]) -> None:
    """It could go on with the seed that it holds open, and seal a book under a key that the operator throws away."""
    old = serve(OLD)
    old.write(make_table(old, "t", preset="np_punto_banco"))
    rotate(serve(NEW, OLD))
    before = everything_stored(old.store)
    with pytest.raises(SetupError, match="does not open"):
        add_book(old)
    assert everything_stored(old.store) == before


def test_one_given_key_is_not_rotated(serve: Callable[..., Service]) -> None:
    service = serve(OLD)
    with pytest.raises(SetupError) as refused:
        rotate(service)
    wanted = "FAIRSHOE_VAULT_KEY: expected the new key and the one before it, as NEW,OLD, got 'one key'"
    assert str(refused.value) == wanted


# --- under load ------------------------------------------------------------------------------------


def ask(pool: urllib3.PoolManager, url: str, key: str, path: str, body: dict[str, Any]) -> Any:
    headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": uuid4().hex}
    answer = pool.request("POST", f"{url}/v1{path}", json=body, headers=headers)
    assert answer.status == 201, answer.data
    return answer.json()


def play(post: Callable[[str, dict[str, Any]], Any], table: str, goes_on: Callable[[], bool]) -> int:
    """Publish a book of one seed, play its shoe to the end, and again; give how many."""
    post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": EVERY_COUP})
    played = 0
    while goes_on():
        post(f"/tables/{table}/books", {"size": 1})
        shoe = post(f"/tables/{table}/shoes", DEADLINES)["shoe"]
        for step in ("lock", "seal", *["coups"] * 5):
            post(f"/shoes/{shoe}/{step}", {})
        played += 1
    return played


ROTATE = """
import sys
from pathlib import Path
from api.cases.keys import rotate
from api.settings import Settings
from api.wiring import open_service
from api.world import real_world

service = open_service(Settings(Path(sys.argv[1]), None, sys.argv[2] or None), real_world())
print(min(rotate(service).sealed_anew for _ in range(5)))
service.store.engine.dispose()
"""


@pytest.mark.slow
def test_rotations_beside_servers_under_load_lose_nothing_and_fail_nobody(found: Found) -> None:
    """A server of its own process and this one play whole shoes, while a third process rotates five times."""
    house = found(clock=real_world().now)
    rotated = threading.Event()
    command = [sys.executable, "-c", ROTATE, str(house.folder), house.database_url or ""]
    with (
        running_service(house.folder, house.database_url) as url,
        urllib3.PoolManager(4) as pool,
        ThreadPoolExecutor(4) as threads,
    ):
        posts = [house.post, house.post, *[lambda path, body: ask(pool, url, house.tokens.key, path, body)] * 2]
        playing = [threads.submit(play, post, f"t{n}", lambda: not rotated.is_set()) for n, post in enumerate(posts)]
        try:
            done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
        finally:
            rotated.set()
        played = [each.result() for each in playing]
    assert int(done.stdout) >= 5
    assert min(played) > 0
    assert len(held(house)) == 1
    require_whole(house)
