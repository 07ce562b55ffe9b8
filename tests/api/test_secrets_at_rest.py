"""The whole search, end to end: what a real server keeps, says, answers and leaves behind shows no secret of the house.

Shoes are left in every state, requests are malformed and refused, the database and the vault fail; then every byte
there is (files, dumps, output, answers with their heads, backups) is searched for every secret in every spelling.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import re
import secrets as chance
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import psycopg
import pytest
import urllib3
from click.testing import CliRunner
from sqlalchemy import make_url, select
from sqlalchemy.orm import Session

from api.cli import fairshoe
from api.db.sessions import Store, open_store
from api.db.tables import ENDED_STATES, BookRow, LeafRow, ShoeRow, SigningKeyRow
from api.service import Service
from api.settings import VAULT_KEY, Settings, settings_from
from api.vault import of_book, of_signing_key
from api.wiring import open_service
from api.world import real_world
from shoe.game.rules import parse_rules
from shoe.proof.openings import deal_deck
from shoe.proof.seal import Keys, derive_keys
from shoe.proof.seeds import commit_seed, server_seed
from tests.api.installation import DEADLINES, EVERY_COUP, ON_SQLITE, ORIGIN
from tests.api.postgres import USER, Postgres
from tests.api.secret_search import Search, spellings
from tests.api.stored import everything_stored

ROOT = Path(__file__).parents[2]
FAIRSHOE = (sys.executable, "-c", "from api.cli import main; main()")
TABLES: Mapping[str, Mapping[str, Any]] = {
    "open": {"decks": 1},
    "locked": {"decks": 1},
    "sealed": {"entropy": "house", "decks": 1, "burn": "first_card"},
    "each": EVERY_COUP,
    "revealed": EVERY_COUP,
    "void": {"entropy": "house", "decks": 1},
    "ended": EVERY_COUP,
}
STEPS = ("entropy", "lock", "seeds", "seal", "coups", "reveal", "void")
READS = ("", "/state", "/records", "/coups", "/coups/0", "/bundle", "/roads")
GOOD = {
    "entropy": {"seed_commitment": commit_seed("late").hex()},
    "seeds": {"position": 0, "seed": "a-players-seed"},
    "void": {"reason": "deadline"},
}
"""Bodies of the right form; where a shoe stands, they are refused all the same."""

POSSIBLE = {
    "open": {"entropy", "lock"},
    "locked": {"seeds"},
    "sealed": {"coups"},
    "each": {"coups"},
    "revealed": {"reveal"},
    "ended": {"reveal"},
}
"""The steps that would be taken, or are answered once more, where a table's shoe is left."""


@dataclass
class Watched:
    """A real installation, and every byte that came out of it."""

    folder: Path
    aside: Path
    database_url: str | None
    vault_key: str | None = None
    said: dict[str, bytes] = field(default_factory=dict)
    shoes: dict[str, str] = field(default_factory=dict)
    seats: dict[str, str] = field(default_factory=dict)
    _url: str = ""

    @property
    def settings(self) -> Settings:
        return Settings(self.folder, ORIGIN, self.database_url)

    @property
    def given(self) -> dict[str, str | None]:
        """What its processes are told by the environment; None takes a variable away."""
        told = {"FAIRSHOE_DATA": str(self.folder), "FAIRSHOE_ORIGIN": ORIGIN}
        return {**told, VAULT_KEY: self.vault_key, "DATABASE_URL": self.database_url}

    @property
    def environment(self) -> dict[str, str]:
        """All of such a process's environment."""
        return {name: value for name, value in {**os.environ, **self.given}.items() if value is not None}

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Run the real server; what it said is kept."""
        log = self.aside / f"server {len(self.said)}"
        command = [*FAIRSHOE, "serve", "--port", "0", "--workers", "2", "--json"]
        with log.open("wb") as complaints:
            piped: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": complaints, "env": self.environment}
            server = subprocess.Popen(command, cwd=ROOT, **piped)
            assert server.stdout
            first = server.stdout.readline()
            try:
                self._url = json.loads(first)["url"]
                self.ask("GET", "/livez")
                yield
            finally:
                server.send_signal(signal.SIGTERM)
                rest, _ = server.communicate(timeout=60)
                self.said[log.name] = first + rest + log.read_bytes()

    def command(self, *arguments: str) -> int:
        """Run a command; what it printed is kept."""
        done = CliRunner(env=self.given).invoke(fairshoe, arguments)
        self.said[f"{len(self.said)} fairshoe {' '.join(arguments)}"] = done.output_bytes
        return done.exit_code

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """Ask the server; the answer is kept with its head."""
        raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4()), **headers}
        key = self.folder / "operator.key"
        if key.exists():
            given.setdefault("Authorization", f"Bearer {key.read_text().strip()}")
        with urllib3.PoolManager(retries=False) as pool:
            answer = pool.request(method, self._url + path, body=raw, headers=given)
        head = "".join(f"{name}: {value}\n" for name, value in answer.headers.items())
        self.said[f"{len(self.said)} {method} {path} {answer.status}"] = head.encode() + answer.data
        return answer.status, json.loads(answer.data) if "json" in answer.headers["Content-Type"] else answer.data

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        status, answer = self.ask("POST", f"/v1{path}", {} if body is None else body, **headers)
        assert status == 201, answer
        return answer


# --- what is played ------------------------------------------------------------------------------


def play(house: Watched) -> None:
    """Leave a shoe in every state, and end a book before its shoes are used up."""
    for table, overrides in TABLES.items():
        house.post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": overrides})
        house.post(f"/tables/{table}/books", {"size": 3})
        house.shoes[table] = house.post(f"/tables/{table}/shoes", DEADLINES)["shoe"]
        house.seats[table] = house.post(f"/tables/{table}/seats")["token"]
    for table in ("open", "locked"):
        asked = {"seed_commitment": commit_seed("a-players-seed").hex()}
        house.post(f"/shoes/{house.shoes[table]}/entropy", asked, Authorization=f"Bearer {house.seats[table]}")
    for table in ("locked", "sealed", "each", "revealed", "ended"):
        house.post(f"/shoes/{house.shoes[table]}/lock")
    for table, coups in (("sealed", 3), ("each", 2), ("revealed", 5), ("ended", 5)):
        for step in ("seal", *["coups"] * coups):
            house.post(f"/shoes/{house.shoes[table]}/{step}")
    house.post(f"/shoes/{house.shoes['void']}/void", {"reason": "operator"})
    root = house.ask("GET", "/v1/tables/ended/books")[1]["books"][0]["root"]
    house.post("/tables/ended/books", {"size": 2})
    house.post(f"/tables/ended/books/{root}/end")


def read_everything(house: Watched) -> None:
    """Ask for all that can be asked for."""
    paths = [f"/v1/shoes/{shoe}{read}" for shoe in house.shoes.values() for read in READS]
    paths += [f"/v1/tables/{table}{part}" for table in TABLES for part in ("", "/books")]
    paths += ["/v1/tables", "/v1/log/key", "/checkpoint", "/version", "/livez", "/readyz", "/nowhere"]
    paths += [
        "/v1/statistics/rules",
        "/v1/statistics/outcomes",
        "/v1/statistics/payouts",
        "/tile/entries/000",
        "/tile/0/000",
        "/v1/log/entries/0",
    ]
    size = int(house.ask("GET", "/checkpoint")[1].split(b"\n")[1])
    paths += [f"/tile/entries/000.p/{size}", f"/v1/log/proof/inclusion?index=1&size={size}"]
    for path in paths:
        house.ask("GET", path)
    for shoe in house.shoes.values():
        bundle = house.ask("GET", f"/v1/shoes/{shoe}/bundle")[1]
        house.ask("POST", "/v1/verify", {"bundle": bundle})


def provoke(house: Watched) -> None:
    """Send what must be refused: malformed anywhere, and out of turn in every state."""
    for table, shoe in house.shoes.items():
        for step in STEPS:
            path = f"/v1/shoes/{shoe}/{step}"
            seat = {"Authorization": f"Bearer {house.seats[table]}"} if step in ("entropy", "seeds") else {}
            for body in (b"{", b"\xff", b"[]", b'{"x": 1}', b'{"seed": 1e999}', b"null"):
                assert house.ask("POST", path, body, **seat)[0] in (400, 422)
            assert house.ask("POST", path, b"{}", **{"Content-Type": "text/plain"}, **seat)[0] == 415
            if step not in POSSIBLE.get(table, set()):
                assert house.ask("POST", path, GOOD.get(step, {}), **seat)[0] in (409, 422)
        assert house.ask("PUT", f"/v1/shoes/{shoe}", b"{}")[0] == 405
        assert house.ask("GET", f"/v1/shoes/{shoe}/bundle?earlier=x")[0] == 422
        assert house.ask("POST", f"/v1/tables/{table}/books", {"size": 0})[0] == 422
        assert house.ask("POST", f"/v1/tables/{table}/books/{'00' * 32}/end")[0] == 404
    assert house.ask("POST", "/v1/tables/open/shoes", DEADLINES)[0] == 409
    assert house.ask("POST", "/v1/verify", b"x" * 2**20)[0] == 400
    assert house.ask("POST", "/v1/tables", b"x" * 2**21)[0] == 413


def break_the_database(house: Watched) -> None:
    """Let it fail while a master is being stored, and while an answer is: the values are in the statement's hands."""
    store = open_store(house.settings.database)
    try:
        for break_it, mend_it in TROUBLE[store.dialect]:
            run(store, *break_it)
            assert house.ask("POST", "/v1/tables/each/books", {"size": 2}, **{"Idempotency-Key": "k"})[0] == 500
            run(store, *mend_it)
    finally:
        store.engine.dispose()


TROUBLE: Mapping[str, list[tuple[list[str], list[str]]]] = {
    "sqlite": [
        (
            ["CREATE TRIGGER trouble BEFORE INSERT ON books BEGIN SELECT RAISE(ABORT, 'trouble'); END"],
            ["DROP TRIGGER trouble"],
        ),
        (["ALTER TABLE claims RENAME TO mislaid"], ["ALTER TABLE mislaid RENAME TO claims"]),
    ],
    "postgresql": [
        (
            ["ALTER TABLE books ADD CONSTRAINT trouble CHECK (size > 3) NOT VALID"],
            ["ALTER TABLE books DROP CONSTRAINT trouble"],
        ),
        (["ALTER TABLE claims RENAME TO mislaid"], ["ALTER TABLE mislaid RENAME TO claims"]),
    ],
}


def run(store: Store, *statements: str) -> None:
    with store.writing() as session:
        for statement in statements:
            session.connection().exec_driver_sql(statement)


def spoil_the_vault(house: Watched) -> None:
    """Exchange the vault's key under the running server, and start one with it: it seals, opens and signs nothing."""
    path = house.folder / "vault.key"
    right = path.read_bytes()
    with house.serving():
        for content in (bytes(32), right[:31], b""):
            path.write_bytes(content)
            assert house.ask("POST", "/v1/tables/each/books", {"size": 2})[0] >= 500
            assert house.command("keys", "rotate") == 3
            assert house.command("book", "new", "each", "--size", "2") == 3
        path.write_bytes(right)
    path.write_bytes(bytes(32))
    with house.serving():
        assert house.ask("GET", "/readyz")[0] == 503
        assert house.ask("POST", f"/v1/shoes/{house.shoes['each']}/coups")[0] == 503
        house.ask("GET", f"/v1/shoes/{house.shoes['sealed']}/bundle")
    path.write_bytes(right)


# --- what is secret --------------------------------------------------------------------------------


@dataclass
class Secrets:
    """What an installation has not revealed, and what it has, by name."""

    hidden: dict[str, bytes] = field(default_factory=dict)
    shown: dict[str, bytes] = field(default_factory=dict)

    def put(self, name: str, secret: bytes, *, shown: bool) -> None:
        (self.shown if shown else self.hidden)[name] = secret


def secrets_of(service: Service) -> Secrets:
    """Take every secret out of the vault, and derive what follows from each (protocol §3–§7)."""
    found = Secrets()
    with service.reading() as session:
        for key in session.scalars(select(SigningKeyRow)):
            seed = service.vault.open(key.sealed_seed, of_signing_key(key.vkey))
            found.put(f"seed of {key.vkey}", seed, shown=False)
            found.put(f"scalar of {key.vkey}", hashlib.sha512(seed).digest()[:32], shown=False)
        for book in session.scalars(select(BookRow)):
            _take_book(found, service, session, book)
    return found


def _take_book(found: Secrets, service: Service, session: Session, book: BookRow) -> None:
    name, ended = f"{book.table_id} at {book.log_index}", book.state == "ended"
    master = service.vault.open(book.sealed_master, of_book(book.table_id, book.root))
    found.put(f"master of {name}", master, shown=ended)
    shoes = {shoe.seed_index: shoe for shoe in session.scalars(select(ShoeRow).where(ShoeRow.book_root == book.root))}
    for index in range(book.size):
        seed, shoe = server_seed(master, index), shoes.get(index)
        if shoe is not None and shoe.state in ENDED_STATES:
            found.put(f"seed {index} of {name}", seed, shown=True)
        elif not ended:  # or whoever has the master derives it
            found.put(f"seed {index} of {name}", seed, shown=False)
            if shoe is not None and shoe.seal is not None:
                _take_deck(found, session, shoe, derive_keys(seed, shoe.seal))


def _take_deck(found: Secrets, session: Session, shoe: ShoeRow, keys: Keys) -> None:
    found.put(f"shuffle key of {shoe.id}", keys.shuffle_key, shown=False)
    found.put(f"salt key of {shoe.id}", keys.salt_key, shown=False)
    rules, opened = parse_rules(json.loads(shoe.table.rules)), set(_opened(session, shoe))
    for hand in range(rules.coups or 1) if rules.shuffle == "coup" else [0]:
        for card in deal_deck(keys, rules, hand).openings:
            shown = (hand, card.position) in opened
            found.put(f"salt {hand}/{card.position} of {shoe.id}", card.salt, shown=shown)


def _opened(session: Session, shoe: ShoeRow) -> Iterator[tuple[int, int]]:
    """Shuffle and position of every card that the shoe's records open."""
    for data in session.scalars(select(LeafRow.record).where(LeafRow.shoe == shoe.id)):
        record = json.loads(data)
        if record["type"] == "coup":
            yield from ((record["hand"], card["position"]) for card in record["cards"])
        elif record["type"] == "seal" and record["burn"] is not None:
            yield 0, record["burn"]["position"]


# --- where it is looked for ------------------------------------------------------------------------


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file under a folder; one that vanishes while it is read holds nothing any more."""
    found = {}
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):
            if path.is_file():
                found[str(path.relative_to(folder))] = path.read_bytes()
    return found


def tables_of(store: Store) -> dict[str, bytes]:
    """Every value in the database, as it is."""
    return {
        f"table {name}": b"\n".join(
            value if isinstance(value, bytes) else str(value).encode() for row in rows for value in row
        )
        for name, rows in everything_stored(store).items()
    }


def dumped(server: Postgres, url: str) -> dict[str, bytes]:
    """PostgreSQL's own files after all of it is written out, its log, and what its own program dumps."""
    database = str(make_url(url).database)
    with psycopg.connect(host=str(server.folder), user=USER, dbname=database, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    command: list[Any] = [server.bin("pg_dump"), "-h", server.folder, "-U", USER, database]
    dump = subprocess.run(command, capture_output=True, check=True).stdout
    return {f"server {name}": content for name, content in files_of(server.folder).items()} | {"dump": dump}


def unhexed(text: bytes) -> bytes:
    """What a dump or a backup prints as hex: a text that is a value there would else be hex of hex."""
    return b"\n".join(bytes.fromhex(run[: len(run) // 2 * 2].decode()) for run in re.findall(rb"[0-9a-f]{32,}", text))


def everywhere(house: Watched, service: Service, server: Postgres | None) -> dict[str, bytes]:
    places = house.said | {f"file {name}": content for name, content in files_of(house.folder).items()}
    del places["file vault.key"]
    places |= tables_of(service.store)
    if server is not None and house.database_url is not None:
        places |= dumped(server, house.database_url)
        places["dump, values"] = unhexed(places["dump"])
    places["backup"] = (house.aside / "backup").read_bytes()
    places["backup, unpacked"] = gzip.decompress(places["backup"])
    places["backup, values"] = unhexed(places["backup, unpacked"])
    shown = (service, service.vault, service.vault.source, service.log, service.log.keyring, service.decks)
    places["repr"] = repr([*shown, service.permit, service.store, house.settings, service.world]).encode()
    places["configuration"] = repr(settings_from(dict(house.environment))).encode()
    return places


# --- the search ------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path, new_database: Callable[[], str | None]) -> Watched:
    (tmp_path / "aside").mkdir()
    return Watched(tmp_path / "house", tmp_path / "aside", new_database())


def test_no_unrevealed_secret_is_anywhere_in_any_spelling(house: Watched, request: pytest.FixtureRequest) -> None:
    vault_keys = set()
    with house.serving():
        vault_keys.add((house.folder / "vault.key").read_bytes())
        play(house)
        provoke(house)
        break_the_database(house)
        commands = [["keys", "list"], ["keys", "new"], ["keys", "rotate"], ["keys", "new", "--json"]]
        commands += [["keys", "list", "--json"], ["book", "new", "each", "--size", "2"], ["keys", "rotate", "--json"]]
        commands += [["backup", str(house.aside / "backup"), "--json"], ["migrate"], ["log", "check"]]
        assert [house.command(*command) for command in commands] == [0] * len(commands)
        assert house.command("book", "new", "nowhere", "--size", "2") == 2
        vault_keys.add((house.folder / "vault.key").read_bytes())
        read_everything(house)
        live = {f"live {name}": content for name, content in files_of(house.folder).items()}
        del live["live vault.key"]
    spoil_the_vault(house)
    service = open_service(house.settings, real_world())
    try:
        server = request.getfixturevalue("postgres") if house.database_url else None
        secrets, places = secrets_of(service), live | everywhere(house, service, server)
    finally:
        service.store.engine.dispose()
    secrets.hidden |= {f"vault key {n}": key for n, key in enumerate(vault_keys)}
    require_all_kinds(secrets, len(TABLES))
    assert Search(secrets.hidden).through(places) == []
    require_control(secrets.shown, places, house)


def require_all_kinds(secrets: Secrets, tables: int) -> None:
    """The search is for something: of every kind there are secrets, and no two are the same."""
    kinds = Counter(name.split(" ")[0] for name in secrets.hidden)
    assert set(kinds) == {"seed", "scalar", "master", "shuffle", "salt", "vault"}
    assert kinds["vault"] == 2
    assert kinds["scalar"] == 3
    assert kinds["master"] >= tables
    assert kinds["salt"] > 40
    assert len(set(secrets.hidden.values())) == len(secrets.hidden)


def require_control(shown: dict[str, bytes], places: dict[str, bytes], house: Watched) -> None:
    """What is revealed is found, all of it, in each kind of place that shows it."""
    found = Search(shown).through(places)
    assert {each.secret for each in found} == set(shown)
    assert {name.split(" ")[0] for name in shown} == {"seed", "master", "salt"}
    told = {each.place for each in found}
    own = {"dump, values"} if house.database_url else {"file fairshoe.sqlite3", "live fairshoe.sqlite3-wal"}
    assert {"table leaves", "backup, values"} | own <= told
    assert any("/bundle 200" in place for place in told)
    assert any("/coups 201" in place for place in told)
    if house.database_url:
        assert any(place.startswith("server data/base/") for place in told)
        assert any(place.startswith("server data/pg_wal/") for place in told)


@ON_SQLITE
def test_keys_from_the_environment_are_nowhere_either(house: Watched, database: str) -> None:
    old, new = chance.token_bytes(32), chance.token_bytes(32)
    house.vault_key = old.hex()
    with house.serving():
        play(house)
    house.vault_key = f"{new.hex().upper()},{old.hex()}"
    with house.serving():
        assert house.command("keys", "rotate") == 0
        assert house.command("keys", "list", "--json") == 0
        house.post(f"/shoes/{house.shoes['each']}/coups")
    house.vault_key = f"{new.hex()} {old.hex()}"
    for command in (("keys", "list"), ("serve", "--port", "0")):
        assert house.command(*command) == 3
        shown = house.said[list(house.said)[-1]].decode()
        assert shown.startswith(f"fairshoe: {VAULT_KEY}: ")
        assert shown.count("\n") == 1
    house.vault_key = old.hex()
    assert house.command("keys", "new") == 3
    settings = settings_from(environment := dict(house.environment))
    places = house.said | files_of(house.folder) | {"settings": repr(settings).encode()}
    places["environment"] = repr(environment).encode()
    assert "vault.key" not in places
    assert Search({"old": old, "new": new}).through(places) == []


# --- the search can find ---------------------------------------------------------------------------


SPELT: Mapping[str, Callable[[bytes], bytes]] = {
    "raw": bytes,
    "hex": lambda secret: secret.hex().encode(),
    "HEX": base64.b16encode,
    "hexdump": lambda secret: secret.hex(" ").encode(),
    "fingerprint": lambda secret: secret.hex(":").upper().encode(),
    "base64": base64.b64encode,
    "base64url": base64.urlsafe_b64encode,
    "base64 without padding": lambda secret: base64.b64encode(secret).rstrip(b"="),
    "base64 after one byte": lambda secret: base64.b64encode(b"x" + secret),
    "base64 after two bytes": lambda secret: base64.b64encode(b"xy" + secret),
    "base64url amid others": lambda secret: base64.urlsafe_b64encode(b"wxyz" + secret + b"xyz"),
    "PKCS 8 in PEM": lambda secret: base64.b64encode(bytes.fromhex("302e020100300506032b657004220420") + secret),
    "base32": base64.b32encode,
    "base32 amid others": lambda secret: base64.b32encode(b"abc" + secret + b"de"),
    "a big number": lambda secret: b"%d" % int.from_bytes(secret, "big"),
    "a little number": lambda secret: b"%d" % int.from_bytes(secret, "little"),
    "repr": lambda secret: repr(secret).encode(),
    "repr of a bytearray": lambda secret: repr(bytearray(secret)).encode(),
    "repr of a list": lambda secret: repr(list(secret)).encode(),
    "JSON of a list": lambda secret: json.dumps(list(secret), separators=(",", ":")).encode(),
    "JSON of a text": lambda secret: json.dumps({"x": secret.decode("latin-1")}).encode(),
    "JSON of a text, with its letters": lambda secret: json.dumps(secret.decode("latin-1") + "é").encode(),
    "a text as UTF-8": lambda secret: secret.decode("latin-1").encode(),
    "a text as UTF-16": lambda secret: secret.decode("latin-1").encode("utf-16-le"),
    "URL": lambda secret: quote(secret).encode(),
    "URL of a form": lambda secret: urlencode({"x": secret}).encode(),
    "C": lambda secret: "".join(f"\\x{byte:02x}" for byte in secret).encode(),
    "bytea, escaped": lambda secret: "".join(f"\\{byte:03o}" for byte in secret).encode(),
    "SQL": lambda secret: f"X'{secret.hex().upper()}'".encode(),
    "reversed": lambda secret: secret[::-1],
    "hex, reversed": lambda secret: secret[::-1].hex().encode(),
    "base64, reversed": lambda secret: base64.b64encode(secret[::-1]),
}
"""How programs write bytes, each by the library's own function instead of the search's."""


@pytest.mark.parametrize("spelt", SPELT)
@pytest.mark.parametrize("size", [16, 32])
def test_a_secret_is_found_in_every_spelling_wherever_it_stands(spelt: str, size: int) -> None:
    for _ in range(30):
        secret = chance.token_bytes(size)
        text = SPELT[spelt](secret)
        search = Search({"it": secret, "another": chance.token_bytes(size)})
        around = [chance.token_bytes(count) for count in (chance.randbelow(40), chance.randbelow(40))]
        for content in (text, text.join(around), b"\0" * 13 + text, text + b"\0" * 5):
            assert {each.secret for each in search.through({"place": content})} == {"it"}
        assert search.through({"place": around[0], "empty": b""}) == []


@pytest.mark.parametrize("size", [16, 32])
def test_a_secret_of_few_or_strange_bytes_is_found_too(size: int) -> None:
    """Where nothing needs escaping, or everything."""
    for secret in (
        b"a" * size,
        b"\xff" * size,
        b"'\"\\\n" * (size // 4),
        b" +/-" * (size // 4),
        b"\x80\x00" * (size // 2),
    ):
        for name, spell in SPELT.items():
            assert Search({"it": secret}).through({"place": b"--" + spell(secret) + b"--"}), name


def test_a_secret_with_one_wrong_bit_is_another() -> None:
    secret = chance.token_bytes(32)
    for at in range(8, 248):  # the bits at its ends may share a character with what stands beside it
        other = (int.from_bytes(secret, "big") ^ 1 << at).to_bytes(32, "big")
        assert Search({"it": secret}).through({"place": b"\n".join(spellings(other).values())}) == []
