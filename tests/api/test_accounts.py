"""Accounts: API keys and seats from their making to their end; what they may do to a shoe; and the first key of all."""

from __future__ import annotations

import base64
import json
import logging
import re
import shutil
import signal
import stat
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, func, select
from werkzeug.test import TestResponse

from api.access import TOKEN_BYTES, parse_key, token_digest
from api.backup.making import make_backup
from api.backup.restoring import restore_backup
from api.cases import accounts
from api.cases.accounts import Made
from api.claims import GUESSABLE
from api.db.sessions import open_store
from api.db.tables import ClaimRow, CredentialRow
from api.routes.guard import GUARD
from api.settings import Settings, SetupError
from shoe.errors import InputError
from shoe.proof.seeds import commit_seed
from tests.api.conftest import NewDatabase
from tests.api.installation import HOUSE, ON_SQLITE, SMALL, Chance, Found, Installation, problem_of
from tests.api.secret_search import Search

COMMITMENT = commit_seed("mine").hex()
KEY, SEAT = re.compile(r"fsk_[0-9A-Za-z_-]{43}"), re.compile(r"fst_[0-9A-Za-z_-]{43}")
DAY_S = 24 * 60 * 60


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def post(house: Installation, path: str, token: str | None, body: Any = None, **headers: str) -> TestResponse:
    """Post with a token of one's own, or with none; under a new Idempotency-Key, unless one is given."""
    sent = {"Authorization": "none"} if token is None else bearer(token)
    sent["Idempotency-Key"] = str(uuid.uuid4())
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return house.client.post(f"/v1{path}", json={} if body is None else body, headers=sent)


def me(house: Installation, token: str) -> TestResponse:
    return house.client.get("/v1/me", headers=bearer(token))


def make_key(house: Installation, *roles: str, **further: Any) -> Any:
    return house.post("/keys", {"roles": list(roles or ("client",)), **further})


def take_seat(house: Installation, table: str = "t") -> Any:
    return house.post(f"/tables/{table}/seats")


def rows(house: Installation) -> list[CredentialRow]:
    with house.service.reading() as session:
        return list(session.scalars(select(CredentialRow).order_by(CredentialRow.id)))


def count(house: Installation, row: type[Any]) -> int:
    with house.service.reading() as session:
        return session.scalar(select(func.count()).select_from(row)) or 0


@pytest.fixture
def beside(house: Installation) -> Iterator[Installation]:
    """Another process's view of the same installation: an application of its own over the same database."""
    other = Installation(house.folder, house.clock, Chance(10_000), database_url=house.database_url)
    yield other
    other.stop()


# --- keys --------------------------------------------------------------------------------------


def test_a_key_is_shown_once_and_known_by_its_beginning(house: Installation) -> None:
    house.clock.forward(1)
    made = make_key(house, "regulator", "client", name="the north pit", expires_in_s=DAY_S)
    assert KEY.fullmatch(made["token"])
    assert made["prefix"] == made["token"][:8]
    assert made["roles"] == ["client", "regulator"]
    assert (made["name"], made["created"]) == ("the north pit", "2026-01-31T12:00:01.000000Z")
    assert made["expires"] == "2026-02-01T12:00:01.000000Z"
    shown = house.get(f"/keys/{made['id']}")
    assert shown == {**{name: value for name, value in made.items() if name != "token"}, "revoked": None}
    first, listed = house.get("/keys")["keys"]
    assert listed == shown
    assert (first["name"], first["roles"]) == ("first", ["client", "operator", "regulator"])


def test_a_token_is_256_bits_of_the_worlds_chance(house: Installation) -> None:
    made = make_key(house)
    random = base64.urlsafe_b64decode(made["token"].removeprefix("fsk_") + "=")
    assert len(random) == TOKEN_BYTES == 32
    assert random in house.chance.drawn
    assert make_key(house)["token"] != made["token"]


def test_who_a_token_shows_is_told_to_its_holder(house: Installation) -> None:
    house.table(**HOUSE)
    key, seat = make_key(house, "client"), take_seat(house)
    assert me(house, key["token"]).json == {"id": key["id"], "kind": "key", "roles": ["client"], "table": None}
    assert me(house, seat["token"]).json == {"id": seat["seat"], "kind": "seat", "roles": ["player"], "table": "t"}
    nobody = house.client.get("/v1/me", headers={"Authorization": "none"}).json
    assert nobody == {"id": "", "kind": None, "roles": [], "table": None}


def test_keys_come_in_pages_oldest_first(house: Installation) -> None:
    made = [house.get("/keys")["keys"][0]["id"]]
    for _ in range(4):
        house.clock.forward(0.001)
        made.append(make_key(house)["id"])
    page = house.get("/keys?limit=2")
    seen = [each["id"] for each in page["keys"]]
    while page["next"] is not None:
        page = house.get(f"/keys?limit=2&after={page['next']}")
        seen += [each["id"] for each in page["keys"]]
    assert seen == made


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "roles: Field required"),
        ({"roles": []}, "roles: List should have at least 1 item"),
        ({"roles": ["player"]}, "roles.0: Input should be 'client', 'operator' or 'regulator'"),
        ({"roles": ["admin"]}, "roles.0: Input should be"),
        ({"roles": ["client", "client"]}, "roles: expected one or more of client, operator, regulator, each once"),
        ({"roles": ["client"] * 4}, "roles: List should have at most 3 items"),
        ({"roles": "client"}, "roles: Input should be a valid list"),
        ({"roles": ["client"], "name": "x" * 129}, "name: String should match pattern"),
        ({"roles": ["client"], "name": "tab\t"}, "name: String should match pattern"),
        ({"roles": ["client"], "name": None}, "name: Input should be a valid string"),
        ({"roles": ["client"], "expires_in_s": 0}, "expires_in_s: Input should be greater than or equal to 1"),
        ({"roles": ["client"], "expires_in_s": 10**12}, "expires_in_s: Input should be less than or equal to"),
        ({"roles": ["client"], "expires_in_s": "60"}, "expires_in_s: Input should be a valid integer"),
        ({"roles": ["client"], "token": "fsk_" + "A" * 43}, "token: Extra inputs are not permitted"),
    ],
)
@ON_SQLITE
def test_a_key_that_cannot_be_is_refused(house: Installation, body: dict[str, Any], detail: str) -> None:
    before = rows(house)
    assert detail in house.refuse("/keys", body, "invalid", 422)
    assert [row.id for row in rows(house)] == [row.id for row in before]


def test_accounts_are_no_records(house: Installation) -> None:
    """Whoever reads the log learns nothing of who plays."""
    house.table(**HOUSE)
    before = house.checkpoint()
    key, seat = make_key(house), take_seat(house)
    house.post(f"/keys/{key['id']}/revoke")
    house.post(f"/seats/{seat['seat']}/revoke")
    assert house.checkpoint() == before


# --- the end of a credential -------------------------------------------------------------------


def test_a_revoked_key_is_good_for_nothing_from_then_on(house: Installation) -> None:
    house.table(**HOUSE)
    key = make_key(house, "operator", "client")
    assert post(house, "/tables/t/books", key["token"], {"size": 1}).status_code == 201
    house.clock.forward(1)
    revoked = house.post(f"/keys/{key['id']}/revoke")
    assert revoked["revoked"] == "2026-01-31T12:00:01.000000Z"
    assert house.get(f"/keys/{key['id']}") == revoked
    before = house.checkpoint()
    for answer in (me(house, key["token"]), post(house, "/tables/t/books", key["token"], {"size": 1})):
        said = problem_of(answer, "unauthenticated", 401)
        assert said == "The credential is unknown, revoked or expired."
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert house.checkpoint() == before


def test_a_key_may_revoke_itself(house: Installation) -> None:
    key = make_key(house, "operator")
    assert post(house, f"/keys/{key['id']}/revoke", key["token"]).status_code == 201
    assert me(house, key["token"]).status_code == 401


def test_a_credential_is_revoked_once_and_by_its_own_kind(house: Installation) -> None:
    house.table(**HOUSE)
    key, seat = make_key(house), take_seat(house)
    for path, slug, status in (
        (f"/keys/{seat['seat']}/revoke", "not-found", 404),
        (f"/seats/{key['id']}/revoke", "not-found", 404),
        ("/keys/nowhere/revoke", "not-found", 404),
        ("/seats/nowhere/revoke", "not-found", 404),
    ):
        house.refuse(path, {}, slug, status)
    house.get(f"/keys/{seat['seat']}", 404)
    house.post(f"/keys/{key['id']}/revoke")
    house.post(f"/seats/{seat['seat']}/revoke")
    said = house.refuse(f"/keys/{key['id']}/revoke", {}, "credential-revoked", 409)
    assert said == f"The key {key['id']} was revoked at 2026-01-31T12:00:00.000000Z."
    house.refuse(f"/seats/{seat['seat']}/revoke", {}, "credential-revoked", 409)


def test_another_process_knows_of_a_revocation_at_once(house: Installation, beside: Installation) -> None:
    """It has let the key write, and so takes it for good: only the transaction can tell."""
    house.table(**HOUSE)
    key = make_key(house, "operator", "client")
    shoe = house.sealed()
    assert post(beside, f"/shoes/{shoe}/coups", key["token"]).status_code == 201
    house.post(f"/keys/{key['id']}/revoke")
    before = house.checkpoint(), house.get(f"/shoes/{shoe}/state")
    known = beside.app.extensions[GUARD].known
    assert token_digest(key["token"]) in known._found
    refused = [post(beside, f"/shoes/{shoe}/coups", key["token"])]
    # From then on it is turned away without a transaction.
    assert token_digest(key["token"]) not in known._found
    refused += [post(beside, f"/shoes/{shoe}/coups", key["token"]) for _ in range(2)]
    refused += [post(beside, "/keys", key["token"], {"roles": ["operator"]}), me(beside, key["token"])]
    for answer in refused:
        problem_of(answer, "unauthenticated", 401)
    assert (house.checkpoint(), house.get(f"/shoes/{shoe}/state")) == before


def test_one_of_a_batch_with_a_revoked_key_does_not_hinder_the_others(house: Installation) -> None:
    house.table(**HOUSE)
    key = make_key(house, "operator")
    assert post(house, "/tables/t/books", key["token"], {"size": 1}).status_code == 201
    with house.service.store.writing() as session:
        session.get_one(CredentialRow, key["id"]).revoked = "2026-01-31T12:00:00.000000Z"
    answers = [post(house, "/tables/t/books", token, {"size": 1}) for token in (house.tokens.key, key["token"]) * 2]
    assert [answer.status_code for answer in answers] == [201, 401, 201, 401]


def test_what_a_revoked_key_did_is_not_repeated_to_it(house: Installation) -> None:
    """The first answer of a claim is for who is still somebody."""
    key = make_key(house, "operator")
    assert post(house, "/keys", key["token"], {"roles": ["client"]}, Idempotency_Key="k").status_code == 201
    house.post(f"/keys/{key['id']}/revoke")
    again = post(house, "/keys", key["token"], {"roles": ["client"]}, Idempotency_Key="k")
    assert "fsk_" not in problem_of(again, "unauthenticated", 401)


def test_a_key_is_good_until_it_expires_and_no_longer(house: Installation, beside: Installation) -> None:
    house.table(**HOUSE)
    key = make_key(house, "operator", expires_in_s=60)
    house.clock.forward(59.999999)
    for house_ in (house, beside):
        assert me(house_, key["token"]).status_code == 200
        assert post(house_, "/tables/t/books", key["token"], {"size": 1}).status_code == 201
    house.clock.forward(0.000001)
    before = house.checkpoint()
    for house_ in (house, beside):
        # The write comes first: the read would have found out, and the process would know.
        problem_of(post(house_, "/tables/t/books", key["token"], {"size": 1}), "unauthenticated", 401)
        problem_of(me(house_, key["token"]), "unauthenticated", 401)
    assert house.checkpoint() == before
    assert house.get(f"/keys/{key['id']}")["revoked"] is None


def test_a_key_without_a_time_never_expires(house: Installation) -> None:
    key = make_key(house, "client")
    house.clock.forward(3650 * DAY_S)
    assert me(house, key["token"]).status_code == 200


def test_a_revoked_seat_contributes_no_more(house: Installation, beside: Installation) -> None:
    house.table(decks=1)
    shoe, seat, other = house.open(), take_seat(house), take_seat(house)
    body = {"seed_commitment": COMMITMENT}
    assert me(beside, seat["token"]).status_code == 200
    house.post(f"/seats/{seat['seat']}/revoke")
    for house_ in (house, beside):
        problem_of(post(house_, f"/shoes/{shoe}/entropy", seat["token"], body), "unauthenticated", 401)
    assert post(beside, f"/shoes/{shoe}/entropy", other["token"], body).status_code == 201


# --- the same request twice --------------------------------------------------------------------


@pytest.mark.parametrize(("path", "body"), [("/keys", {"roles": ["client"]}), ("/tables/t/seats", {})])
def test_a_token_comes_again_only_to_who_asks_the_same_again(
    house: Installation, beside: Installation, path: str, body: dict[str, Any]
) -> None:
    house.table(**HOUSE)
    other = make_key(house, "operator", "client")["token"]
    first = post(house, path, house.tokens.key, body, Idempotency_Key="k")
    made = len(rows(house))
    for house_ in (house, beside):
        again = post(house_, path, house.tokens.key, body, Idempotency_Key="k")
        assert (first.status_code, again.status_code, again.data) == (201, 201, first.data)
    assert len(rows(house)) == made
    another_caller = post(house, path, other, body, Idempotency_Key="k")
    another_key = post(house, path, house.tokens.key, body, Idempotency_Key="l")
    tokens = {answer.json["token"] for answer in (first, another_caller, another_key) if answer.json}
    assert len(tokens) == 3
    assert len(rows(house)) == made + 2


def test_anothers_idempotency_key_is_another_claim(house: Installation) -> None:
    house.table(**HOUSE)
    shoe, keys = house.sealed(), [make_key(house, "client")["token"] for _ in range(2)]
    dealt = [post(house, f"/shoes/{shoe}/coups", token, Idempotency_Key="same") for token in keys * 2]
    assert [answer.json["number"] for answer in dealt if answer.json] == [0, 1, 0, 1]


def test_a_key_used_for_else_is_refused_and_shows_no_token(house: Installation) -> None:
    first = post(house, "/keys", house.tokens.key, {"roles": ["client"]}, Idempotency_Key="k")
    assert first.json is not None
    again = post(house, "/keys", house.tokens.key, {"roles": ["operator"]}, Idempotency_Key="k")
    assert first.json["token"] not in problem_of(again, "idempotency-key-reused", 422)


def test_guests_from_two_addresses_have_claims_of_their_own(house: Installation) -> None:
    house.post("/tables", {"id": "g", "preset": "np_punto_banco", "overrides": HOUSE, "guests": True})
    client = house.app.test_client()
    tokens = [
        client.open(
            "/v1/tables/g/seats", method="POST", json={}, headers={"Idempotency-Key": "k" * GUESSABLE},
            environ_base={"REMOTE_ADDR": address},
        ).json["token"]
        for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1")
    ]  # fmt: skip
    assert tokens[0] == tokens[2] != tokens[1]


def test_a_guests_key_that_might_be_guessed_is_refused(house: Installation) -> None:
    """Who has the database and the key could open the answer kept under it."""
    house.post("/tables", {"id": "g", "preset": "np_punto_banco", "overrides": HOUSE, "guests": True})
    headers = {"Authorization": "none", "Idempotency-Key": "k" * (GUESSABLE - 1)}
    answer = house.client.post("/v1/tables/g/seats", json={}, headers=headers)
    assert problem_of(answer, "invalid", 422) == (
        "Idempotency-Key: expected 32 random characters or more, a UUID say, got '31'"
    )


# --- what can be read of a token ---------------------------------------------------------------


def everything_of(house: Installation) -> dict[str, bytes]:
    """Every value of every table as bytes, and every file of the folder but the first key's own."""
    with house.service.reading() as session:
        metadata = MetaData()
        metadata.reflect(session.connection())
        places = {
            name: b"\n".join(
                value if isinstance(value, bytes) else str(value).encode()
                for row in session.execute(table.select())
                for value in row
            )
            for name, table in metadata.tables.items()
        }
    files = [path for path in house.folder.rglob("*") if path.is_file() and path != house_key(house)]
    return places | {str(path): path.read_bytes() for path in files}


def house_key(house: Installation) -> Path:
    return Settings(house.folder).operator_key


def test_nothing_that_is_stored_or_written_shows_a_token(
    house: Installation, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Claims keep the answer that has the token, sealed under what only its holder has."""
    caplog.set_level(logging.DEBUG)
    house.table(decks=1)
    tokens = {"first": house.tokens.key}
    for kind, path, body in (("key", "/keys", {"roles": ["client"]}), ("seat", "/tables/t/seats", {})):
        made = post(house, path, house.tokens.key, body)
        assert made.json is not None
        tokens[kind] = made.json["token"]
    house.post("/tables", {"id": "g", "preset": "np_punto_banco", "overrides": HOUSE, "guests": True})
    guest = post(house, "/tables/g/seats", None)
    assert guest.json is not None
    tokens["guest"] = guest.json["token"]
    assert count(house, ClaimRow) == 3
    house.commit(house.open(), "mine")
    post(house, "/tables/g/seats", tokens["seat"])
    backup = tmp_path / "backup"
    make_backup(house.service.store, backup)
    places = everything_of(house) | {"backup": backup.read_bytes(), "journal": caplog.text.encode()}
    places |= {"keys": house.client.get("/v1/keys").data, "rows": repr([vars(row) for row in rows(house)]).encode()}
    secrets = {name: token[4:].encode() for name, token in tokens.items()}
    secrets |= {f"{name}, bytes": base64.urlsafe_b64decode(token[4:] + "=") for name, token in tokens.items()}
    assert Search(secrets).through(places) == []
    assert Search(secrets).through({"answer": guest.data})


def test_the_search_would_have_found_an_answer_that_is_kept_open(house: Installation) -> None:
    """What else is claimed is kept as it was given: so a token in it would be found."""
    answer = post(house, "/tables", house.tokens.key, {"id": "in-the-open-answer", "preset": "np_punto_banco"})
    assert answer.status_code == 201
    assert [found.place for found in Search({"id": b"in-the-open-answer"}).through(everything_of(house))][0:1]


def test_only_a_digest_is_kept(house: Installation) -> None:
    made = make_key(house)
    (row,) = (row for row in rows(house) if row.id == made["id"])
    assert row.digest == token_digest(made["token"])
    assert [name for name, value in vars(row).items() if made["token"][9:] in str(value)] == []


def test_no_repr_shows_a_token(house: Installation) -> None:
    token = make_key(house)["token"]
    shown = [repr(Made(rows(house)[-1], token)), repr(house.app), repr(house.service), repr(house.service.commits)]
    assert [text for text in shown if token[4:] in text] == []


@pytest.mark.parametrize("text", ["", "fsk_", "fsk_" + "A" * 42, "fsk_" + "A" * 44, "fst_" + "A" * 43, "A" * 47,
                                  "fsk_" + "A" * 42 + "é", "fsk_" + "A" * 42 + "\n", " fsk_" + "A" * 43])  # fmt: skip
def test_what_is_no_key_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(
        InputError, match=r"API key: expected an API key, fsk_ and 43 characters, got '?\d+ char"
    ) as error:
        parse_key(text)
    assert "AAA" not in str(error.value)


# --- seats and their seeds ---------------------------------------------------------------------


def test_a_seat_contributes_once_to_a_shoe(house: Installation) -> None:
    house.table(decks=1)
    shoe, seat, body = house.open(), take_seat(house)["token"], {"seed_commitment": COMMITMENT}
    assert post(house, f"/shoes/{shoe}/entropy", seat, body).status_code == 201
    again = post(house, f"/shoes/{shoe}/entropy", seat, {"seed_commitment": commit_seed("second").hex()})
    problem_of(again, "seat-contributed", 409)
    assert house.get(f"/shoes/{shoe}")["contributions"] == 1


def test_the_database_itself_takes_one_contribution_of_a_seat(house: Installation) -> None:
    house.table(decks=1)
    shoe, seat = house.open(), take_seat(house)["token"]
    post(house, f"/shoes/{shoe}/entropy", seat, {"seed_commitment": COMMITMENT})
    with house.service.store.engine.connect() as connection:
        metadata = MetaData()
        metadata.reflect(connection)
        table = metadata.tables["contributions"]
        row = dict(connection.execute(table.select()).mappings().one()) | {"position": 1, "client": "guest-1"}
        with pytest.raises(Exception, match=r"(?i)unique"):
            connection.execute(table.insert(), row)


def test_a_seat_stays_at_its_table(house: Installation) -> None:
    for table in ("t", "u"):
        house.table(table, decks=1)
    shoe, seat = house.open("u"), take_seat(house, "t")
    answer = post(house, f"/shoes/{shoe}/entropy", seat["token"], {"seed_commitment": COMMITMENT})
    assert problem_of(answer, "forbidden", 403) == "The seat is at table 't', this is of table 'u'."


def locked_with_two(house: Installation) -> tuple[str, list[str]]:
    """A locked shoe, and the tokens of the two seats that committed to `seed-0` and `seed-1`."""
    house.table(decks=1)
    shoe, seats = house.open(), [take_seat(house)["token"] for _ in range(2)]
    for number, seat in enumerate(seats):
        body = {"seed_commitment": commit_seed(f"seed-{number}").hex()}
        assert post(house, f"/shoes/{shoe}/entropy", seat, body).status_code == 201
    house.post(f"/shoes/{shoe}/lock")
    return shoe, seats


@pytest.mark.parametrize("author", [{"position": 1}, {"client": "guest-1"}])
def test_anothers_seed_is_not_for_a_seat_to_open(house: Installation, author: dict[str, Any]) -> None:
    shoe, seats = locked_with_two(house)
    said = problem_of(post(house, f"/shoes/{shoe}/seeds", seats[0], {**author, "seed": "seed-1"}), "forbidden", 403)
    assert said == "The contribution of guest-1 is another seat's."
    opened = post(house, f"/shoes/{shoe}/seeds", seats[1], {**author, "seed": "seed-1"})
    assert opened.status_code == 201


def test_a_seat_need_not_say_which_seed_is_its_own(house: Installation) -> None:
    shoe, seats = locked_with_two(house)
    for number in (1, 0):
        opened = post(house, f"/shoes/{shoe}/seeds", seats[number], {"seed": f"seed-{number}"})
        assert opened.json is not None
        assert opened.json["position"] == number
    stranger = post(house, f"/shoes/{shoe}/seeds", take_seat(house)["token"], {"seed": "seed-0"})
    problem_of(stranger, "not-found", 404)
    house.post(f"/shoes/{shoe}/seal")


def test_who_withholds_a_seed_sits_out_exactly_one_shoe(house: Installation) -> None:
    shoe, (opens, withholds) = locked_with_two(house)
    post(house, f"/shoes/{shoe}/seeds", opens, {"seed": "seed-0"})
    house.clock.forward(121)
    house.post(f"/shoes/{shoe}/void", {"reason": "seed_missing"})
    body, next_one = {"seed_commitment": COMMITMENT}, house.open()
    said = problem_of(post(house, f"/shoes/{next_one}/entropy", withholds, body), "seed-withheld", 409)
    assert shoe in said
    assert post(house, f"/shoes/{next_one}/entropy", opens, body).status_code == 201
    assert post(house, f"/shoes/{next_one}/entropy", take_seat(house)["token"], body).status_code == 201
    house.post(f"/shoes/{next_one}/void", {"reason": "operator"})
    last = house.open()
    assert post(house, f"/shoes/{last}/entropy", withholds, body).status_code == 201


def test_nobody_sits_out_for_a_shoe_that_was_given_up_in_time(house: Installation) -> None:
    """Before seal_by a seed that is not open yet is not withheld."""
    shoe, seats = locked_with_two(house)
    house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
    next_one = house.open()
    for seat in seats:
        answer = post(house, f"/shoes/{next_one}/entropy", seat, {"seed_commitment": COMMITMENT})
        assert answer.status_code == 201


# --- guests ------------------------------------------------------------------------------------


def test_a_table_open_to_guests_has_no_seeds_to_withhold(house: Installation) -> None:
    body = {"id": "g", "preset": "np_punto_banco", "guests": True}
    said = house.refuse("/tables", body, "invalid", 422)
    assert "beacon or house at a table open to guests" in said
    assert house.post("/tables", {**body, "overrides": {"entropy": "beacon"}})["guests"] is True
    assert house.get("/tables/g")["guests"] is True


def test_a_guest_may_do_at_other_tables_what_anyone_may(house: Installation) -> None:
    house.table("t", **SMALL)
    house.post("/tables", {"id": "g", "preset": "np_punto_banco", "overrides": SMALL, "guests": True})
    guest = post(house, "/tables/g/seats", None).json
    assert guest is not None
    assert SEAT.fullmatch(guest["token"])
    problem_of(post(house, "/tables/t/seats", None), "unauthenticated", 401)
    problem_of(post(house, "/tables/t/seats", guest["token"]), "forbidden", 403)
    problem_of(post(house, f"/seats/{guest['seat']}/revoke", guest["token"]), "forbidden", 403)
    problem_of(post(house, "/tables/nowhere/seats", None), "not-found", 404)


# --- the first key -----------------------------------------------------------------------------


def test_the_first_start_leaves_a_key_for_its_owner_alone(house: Installation) -> None:
    path = house_key(house)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    token = path.read_text().strip()
    assert KEY.fullmatch(token)
    assert [(row.name, row.roles, row.made_by, row.digest) for row in rows(house)] == [
        ("first", "client operator regulator", "", token_digest(token))
    ]


def test_a_key_file_that_was_put_away_is_not_made_again(house: Installation) -> None:
    house_key(house).unlink()
    before = [row.id for row in rows(house)]
    house.stop()
    house.start()
    assert not house_key(house).exists()
    assert [row.id for row in rows(house)] == before


def test_a_start_that_was_killed_before_the_row_is_completed_by_the_next(
    found: Found, new_database: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        """A start that ends here and now."""

    def killed(*_: object) -> None:
        raise Killed

    url = new_database()
    with monkeypatch.context() as patch:
        patch.setattr(accounts, "_keep_first", killed)
        with pytest.raises(Killed):
            found(database_url=url)
    house = found(database_url=url, chance=Chance(500))
    token = house_key(house).read_text().strip()
    assert [row.digest for row in rows(house)] == [token_digest(token)]
    assert me(house, token).status_code == 200


STARTS = """
import sys
from pathlib import Path
from api import create_app
from api.settings import Settings
from api.world import real_world
print("ready", flush=True)
sys.stdin.readline()
create_app(Settings(Path(sys.argv[1]), "two.example/log", sys.argv[2] or None), real_world())
"""


def start_beside(folder: Path, url: str | None) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", STARTS, str(folder), url or ""]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, text=True, **pipes)


def test_two_first_starts_at_once_make_one_key(tmp_path: Path, new_database: NewDatabase, found: Found) -> None:
    url = new_database()
    starts = [start_beside(tmp_path / "house", url) for _ in range(2)]
    for start in starts:
        assert start.stdout is not None
        assert start.stdout.readline() == "ready\n"
    ended = [start.communicate("go\n") for start in starts]
    assert [(start.returncode, error) for start, (_, error) in zip(starts, ended, strict=True)] == [(0, "")] * 2
    house = found(database_url=url, origin=None)
    assert [row.digest for row in rows(house)] == [token_digest(house_key(house).read_text().strip())]


def test_a_start_that_was_beside_the_first_finds_the_firsts_key(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has looked before the first was done, and comes to its transaction afterwards."""
    before = [row.id for row in rows(house)]
    house.stop()
    with monkeypatch.context() as patch:
        patch.setattr(accounts, "_has_keys", lambda _: False)
        house.start()
    assert [row.id for row in rows(house)] == before
    assert me(house, house_key(house).read_text().strip()).status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("after_ms", range(0, 400, 40))
def test_a_first_start_killed_at_any_moment_leaves_a_key_that_is_good(
    tmp_path: Path, new_database: NewDatabase, found: Found, after_ms: int
) -> None:
    url = new_database()
    start = start_beside(tmp_path / "house", url)
    assert start.stdout is not None
    assert start.stdout.readline() == "ready\n"
    assert start.stdin is not None
    start.stdin.write("go\n")
    start.stdin.flush()
    try:
        start.wait(after_ms / 1000)
    except subprocess.TimeoutExpired:
        start.send_signal(signal.SIGKILL)
    start.communicate()
    house = found(database_url=url, origin=None)
    assert [row.digest for row in rows(house)] == [token_digest(house_key(house).read_text().strip())]


@pytest.mark.parametrize("text", ["", "no key", "fst_" + "A" * 43, "fsk_" + "A" * 42, "é" * 47])
def test_a_key_file_with_something_else_stops_the_start_and_is_not_shown(
    tmp_path: Path, found: Found, text: str
) -> None:
    folder = tmp_path / "house"
    folder.mkdir(mode=0o700)
    (folder / "operator.key").write_text(text)
    with pytest.raises(
        SetupError, match=r"operator\.key: expected an API key, got something else; put it away"
    ) as error:
        found()
    assert not text or text not in str(error.value)


def test_a_restored_copy_keeps_its_accounts(
    house: Installation, found: Found, new_database: NewDatabase, tmp_path: Path
) -> None:
    house.table(decks=1)
    key, gone, seat = make_key(house, "operator"), make_key(house, "operator"), take_seat(house)
    house.post(f"/keys/{gone['id']}/revoke")
    claimed = post(house, "/keys", key["token"], {"roles": ["client"]}, Idempotency_Key="k")
    kept = [json.dumps(house.get("/keys")), [vars(row)["digest"] for row in rows(house)]]
    backup, url, folder = tmp_path / "backup", new_database(), tmp_path / "copy"
    make_backup(house.service.store, backup)
    folder.mkdir(mode=0o700)
    for name in ("vault.key", "checkpoint.pinned"):
        shutil.copy(house.folder / name, folder)
    store = open_store(Settings(folder, database_url=url).database)
    restore_backup(store, backup)
    store.engine.dispose()
    copy = found("copy", database_url=url, clock=house.clock, chance=Chance(5000))
    copy.tokens = house.tokens
    assert [json.dumps(copy.get("/keys")), [vars(row)["digest"] for row in rows(copy)]] == kept
    assert not house_key(copy).exists()
    assert [me(copy, token).status_code for token in (key["token"], gone["token"], seat["token"])] == [200, 401, 200]
    again = post(copy, "/keys", key["token"], {"roles": ["client"]}, Idempotency_Key="k")
    assert again.data == claimed.data
