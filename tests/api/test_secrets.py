"""Nothing unrevealed leaves the vault: not into the database's files, an answer, an error, a log line or a repr."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from api.cases.custody import seed_of
from api.cases.standing import find_shoe, rules_at
from shoe.proof.openings import deal_deck
from shoe.proof.seal import derive_keys
from shoe.proof.seeds import server_seed
from tests.api.installation import DEADLINES, EVERY_COUP, Installation
from tests.api.secret_search import found
from tests.api.stored import everything_stored

BURNED = {"decks": 1, "burn": "first_card"}
KEYS = ("vault.key", "operator.key")
READS = ("", "/state", "/records", "/coups", "/coups/0", "/bundle", "/roads")


def files(house: Installation) -> dict[str, bytes]:
    """The files of the installation, but for those of keys, and all that its database holds."""
    kept = {path.name: path.read_bytes() for path in house.folder.iterdir() if path.name not in KEYS}
    return kept | {f"table {name}": printed(rows) for name, rows in everything_stored(house.service.store).items()}


def printed(rows: list[tuple[Any, ...]]) -> bytes:
    values = [value for row in rows for value in row]
    return b"\n".join(value if isinstance(value, bytes) else str(value).encode() for value in values)


def everything_readable(house: Installation, shoe: str) -> dict[str, bytes]:
    """The database's files and every answer there is about a shoe, good or refused, and what Python would print."""
    size = int(house.checkpoint().split("\n")[1])
    paths = [f"/v1/shoes/{shoe}{read}" for read in READS]
    paths += [f"/v1/log/entries/{index}" for index in range(size)]
    paths += ["/v1/tables/t", "/v1/tables/t/books", "/v1/statistics/rules", "/v1/statistics/payouts"]
    paths += ["/v1/log/key", "/version", "/checkpoint"]
    answers = {path: house.client.get(path).data for path in paths}
    steps = ("entropy", "lock", "seeds", "seal", "reveal", "void", "nothing")
    refusals = {f"POST {step}": house.client.post(f"/v1/shoes/{shoe}/{step}", json={"x": 1}).data for step in steps}
    printed = {"repr": f"{house.service!r} {house.service.vault} {house.service.log} {house.service.decks}".encode()}
    return files(house) | answers | refusals | printed


def hidden(house: Installation, shoe: str) -> dict[str, list[bytes]]:
    """What only the house knows of a shoe."""
    with house.service.reading() as session:
        row = find_shoe(session, shoe)
        kept = {"seed": [seed_of(house.service, session, row)]}
        if row.seal is not None:
            keys, rules = derive_keys(kept["seed"][0], row.seal), rules_at(row)
            hands = range(row.next_coup, rules.coups or 1) if rules.shuffle == "coup" else [0]
            position = row.position if rules.shuffle == "shoe" else 0
            undealt = [card for hand in hands for card in deal_deck(keys, rules, hand).openings[position:]]
            kept |= {"keys": [keys.shuffle_key, keys.salt_key], "salts": [card.salt for card in undealt]}
    return kept


def standing(house: Installation) -> list[bytes]:
    """What only the installation knows: vault key, signing seed, the first API key, masters; then seats' tokens."""
    return [draw for draw in house.chance.drawn if len(draw) == 32]


@pytest.mark.parametrize("overrides", [BURNED, {**EVERY_COUP, "entropy": "two_phase"}], ids=["shoe", "every coup"])
def test_nothing_unrevealed_can_be_read_anywhere(
    house: Installation, overrides: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    house.table(**overrides)
    shoe = house.open()
    assert [len(drawn) for drawn in standing(house)] == [32, 32, 32, 32]
    steps = [
        lambda: house.commit(shoe, "player-one"),
        lambda: house.post(f"/shoes/{shoe}/lock"),
        lambda: house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "player-one"}),
        lambda: house.post(f"/shoes/{shoe}/seal"),
        *[lambda: house.post(f"/shoes/{shoe}/coups")] * 2,
    ]
    answers: list[bytes] = []
    for step in steps:
        answers.append(repr(step()).encode())
        places = everything_readable(house, shoe) | {"answers": b"\n".join(answers), "log": caplog.text.encode()}
        secrets = [secret for kind in hidden(house, shoe).values() for secret in kind]
        assert found([*standing(house), *secrets], places) == []


def test_the_search_finds_what_is_revealed(house: Installation) -> None:
    """The control of the test above: after the end the seed is there, and of the deck what was dealt."""
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    (seed,) = hidden(house, shoe)["seed"]
    salt = hidden(house, shoe)["salts"][0]
    house.deal_out(shoe)
    places = {place for place, _ in found([seed], everything_readable(house, shoe))}
    assert {"/v1/shoes/" + shoe + "/records", "/v1/shoes/" + shoe + "/bundle"} <= places
    assert "table leaves" in places
    assert house.database_url or any(name.startswith("fairshoe.sqlite3") for name in places)
    assert found([salt], everything_readable(house, shoe)) != []
    # One seed says nothing of another: the master of a book in use stays where it was (protocol §3).
    assert found(standing(house), everything_readable(house, shoe)) == []


def test_a_commitment_hides_an_unopened_seed(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    house.commit(shoe, "never-sent-before-the-lock")
    assert found([b"never-sent-before-the-lock"], everything_readable(house, shoe)) == []


def test_the_next_shoe_is_as_closed_as_the_last_was(house: Installation) -> None:
    house.table(**EVERY_COUP)
    house.deal_out(house.sealed())
    shoe = house.sealed()
    secrets = [secret for kind in hidden(house, shoe).values() for secret in kind]
    assert found(secrets, everything_readable(house, shoe)) == []


def test_the_seeds_are_those_of_the_book(house: Installation) -> None:
    house.table(**EVERY_COUP)
    master = standing(house)[-1]
    for index in range(2):
        shoe = house.sealed()
        assert hidden(house, shoe)["seed"] == [server_seed(master, index)]
        house.deal_out(shoe)


def test_a_fault_while_dealing_shows_no_secret(
    house: Installation, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A bug between the vault and the record: the traceback in the log has no value of a secret in it."""
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    secrets = [secret for kind in hidden(house, shoe).values() for secret in kind]
    before = house.checkpoint()
    monkeypatch.setattr("api.cases.dealing.next_coup", lambda progress, cards, hand: cards["no such card"])
    response = house.client.post(f"/v1/shoes/{shoe}/coups")
    assert (response.status_code, house.checkpoint()) == (500, before)
    assert "Traceback" in caplog.text
    assert found([*standing(house), *secrets], {"answer": response.data, "log": caplog.text.encode()}) == []


def test_a_broken_database_shows_no_secret(house: Installation, caplog: pytest.LogCaptureFixture) -> None:
    house.table()
    with house.service.store.writing() as session:
        session.connection().exec_driver_sql("DROP TABLE shoes" + (" CASCADE" if house.database_url else ""))
    response = house.client.post("/v1/tables/t/shoes", json=DEADLINES)
    assert response.status_code == 500
    assert ('relation "shoes" does not exist' if house.database_url else "no such table: shoes") in caplog.text
    assert found(standing(house), {"answer": response.data, "log": caplog.text.encode()}) == []
