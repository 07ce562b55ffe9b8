"""The sandbox: for integration tests the same shoe again and again, and nobody can take it for a real one.

Its mark is protocol §9's: the log's name ends with `/sandbox`, and that name stands in every record and checkpoint.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from api.db.tables import LeafRow
from api.settings import SetupError, settings_from
from shoe.errors import InputError
from shoe.proof.seeds import commit_seed, seed_book
from shoe.proof.verify.fairness import SANDBOX
from tests.api.installation import EVERY_COUP, NOON, ORIGIN, SMALL, Chance, Clock, Found, Installation, problem_of

MASTER = bytes(range(32))
NAME = ORIGIN + SANDBOX


@pytest.fixture
def sandbox(found: Found) -> Installation:
    return found(origin=NAME, further={"sandbox": True})


def publish(house: Installation, master: bytes = MASTER, size: int = 4, table: str = "t") -> Any:
    return house.post(f"/tables/{table}/books", {"size": size, "master": master.hex()})


def make_table(house: Installation, **overrides: Any) -> None:
    house.post("/tables", {"id": "t", "preset": "np_punto_banco", "overrides": overrides})


def cards_of(house: Installation, shoe: str) -> list[Any]:
    """The cards of each coup of a shoe, as its records show them."""
    records = [json.loads(each["record"]) for each in house.get(f"/shoes/{shoe}/records")["records"]]
    return [[opening["card"] for opening in each["cards"]] for each in records if each["type"] == "coup"]


# --- the same shoe -----------------------------------------------------------------------------


@pytest.mark.parametrize("overrides", [SMALL, EVERY_COUP], ids=["once", "every coup"])
def test_the_same_master_deals_the_same_shoe_again(found: Found, overrides: dict[str, Any]) -> None:
    """In sandboxes that share name, table and rules, as the seal says, but neither chance nor clock nor past."""
    dealt = []
    for number, before in enumerate((0, 2)):
        house = found(
            f"house-{number}",
            origin=NAME,
            further={"sandbox": True},
            chance=Chance(1000 * number),
            clock=Clock(NOON.replace(day=1 + number)),
        )
        for n in range(before):
            house.table(f"other-{n}", **overrides)
        make_table(house, **overrides)
        publish(house)
        shoes = []
        for _ in range(2):
            shoe = house.sealed()
            house.deal_out(shoe)
            shoes.append(cards_of(house, shoe))
        dealt.append(shoes)
    assert dealt[0] == dealt[1]
    assert dealt[0][0] != dealt[0][1]
    assert all(len(coups) >= 5 for coups in dealt[0])


def test_one_master_serves_books_of_other_sizes_at_other_tables(sandbox: Installation) -> None:
    """Each book has a root of its own, and so have its shoes their ids."""
    shoes = []
    for table, size in (("one", 4), ("two", 5)):
        sandbox.post("/tables", {"id": table, "preset": "np_punto_banco", "overrides": SMALL})
        sandbox.post(f"/tables/{table}/books", {"size": size, "master": MASTER.hex()})
        shoes.append(sandbox.sealed(table))
    assert len(set(shoes)) == 2


def test_another_master_deals_another_shoe(sandbox: Installation) -> None:
    make_table(sandbox, **SMALL)
    seen = []
    for master in (MASTER, MASTER[::-1]):
        publish(sandbox, master, 1)
        shoe = sandbox.sealed()
        sandbox.deal_out(shoe)
        seen.append(cards_of(sandbox, shoe))
    assert seen[0] != seen[1]


def test_the_book_is_the_masters(sandbox: Installation) -> None:
    """The root is what shoe.proof.seeds makes of the master, as in the protocol's vectors."""
    make_table(sandbox, **SMALL)
    assert publish(sandbox)["root"] == seed_book(MASTER, 4).root.hex()


def test_a_master_serves_one_book(sandbox: Installation) -> None:
    """The root names the book in the log: a second of the same master and size would be the same."""
    make_table(sandbox, **SMALL)
    publish(sandbox)
    said = sandbox.refuse("/tables/t/books", {"size": 4, "master": MASTER.hex()}, "invalid", 422)
    assert MASTER.hex() not in said
    publish(sandbox, size=5)


# --- the mark ----------------------------------------------------------------------------------


def test_every_record_and_every_checkpoint_bears_the_mark(sandbox: Installation) -> None:
    make_table(sandbox, **SMALL)
    publish(sandbox, size=1)
    sandbox.deal_out(sandbox.sealed())
    with sandbox.service.reading() as session:
        records = [json.loads(data) for data in session.scalars(select(LeafRow.record))]
    assert {record["type"] for record in records} >= {"key", "book", "open", "lock", "seal", "coup", "reveal"}
    assert {record["log"] for record in records} == {NAME}
    assert sandbox.checkpoint().startswith(f"{NAME}\n")
    assert sandbox.client.get("/version").json["log"] == NAME  # type: ignore[index]  # an object


def test_without_a_name_a_sandbox_makes_one_with_the_mark(found: Found) -> None:
    house = found(origin=None, further={"sandbox": True})
    assert house.service.log.origin.endswith(SANDBOX)


def test_its_books_show_their_masters_while_they_are_in_use(sandbox: Installation) -> None:
    make_table(sandbox, **SMALL)
    publish(sandbox)
    sandbox.post("/tables/t/books", {"size": 2})
    given, made = sandbox.get("/tables/t/books")["books"]
    assert given["master"] == MASTER.hex()
    assert seed_book(bytes.fromhex(made["master"]), 2).root.hex() == made["root"]


def test_players_see_no_more_in_its_shoes_than_the_house_could_know(sandbox: Installation) -> None:
    """With every seed opened and everything in order: `committed`, and why."""
    make_table(sandbox, decks=1)
    publish(sandbox)
    shoe = sandbox.open()
    sandbox.commit(shoe, "mine")
    sandbox.post(f"/shoes/{shoe}/lock")
    sandbox.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "mine"})
    sandbox.post(f"/shoes/{shoe}/seal")
    sandbox.deal_out(shoe)
    verification = sandbox.verify(shoe)
    assert (verification.verdict, verification.fairness) == ("verified", "committed")
    assert verification.why.endswith("; a sandbox's seeds are public")


def test_a_real_house_is_more_than_that(house: Installation) -> None:
    """The same shoe, elsewhere: so it is the mark that makes the difference."""
    house.table(decks=1)
    shoe = house.open()
    house.commit(shoe, "mine")
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seeds", {"position": 0, "seed": "mine"})
    house.post(f"/shoes/{shoe}/seal")
    house.deal_out(shoe)
    assert house.verify(shoe).fairness != "committed"


# --- elsewhere ---------------------------------------------------------------------------------


def test_elsewhere_no_master_is_taken_and_none_shown(house: Installation) -> None:
    make_table(house, **SMALL)
    said = house.refuse("/tables/t/books", {"size": 1, "master": MASTER.hex()}, "no-sandbox", 409)
    assert ORIGIN in said
    assert MASTER.hex() not in said
    house.post("/tables/t/books", {"size": 1})
    (book,) = house.get("/tables/t/books")["books"]
    assert book["master"] is None


@pytest.mark.parametrize(
    "master", ["", "00" * 31, "00" * 33, "AB" * 32, "xy" * 32, 7, ["00" * 32], MASTER.hex() + "\n"]
)
def test_a_master_is_32_bytes_as_hex(sandbox: Installation, master: Any) -> None:
    make_table(sandbox, **SMALL)
    answer = sandbox.client.post("/v1/tables/t/books", json={"size": 1, "master": master})
    said = problem_of(answer, "invalid", 422)
    assert "master: " in said
    assert len(str(master)) < 10 or str(master) not in said


def test_without_a_master_a_sandbox_takes_its_own(sandbox: Installation) -> None:
    sandbox.table(**SMALL)
    sandbox.deal_out(sandbox.sealed())


# --- setting and log ---------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "then"), [(True, False), (False, True)])
def test_a_log_stays_what_it_was_founded_as(found: Found, first: bool, then: bool) -> None:
    house = found(origin=NAME if first else ORIGIN, further={"sandbox": first})
    before = house.checkpoint()
    house.stop()
    house.origin = None
    house.further = {"sandbox": then}
    kind = "a sandbox's" if first else "no sandbox's"
    with pytest.raises(SetupError, match=rf"^FAIRSHOE_SANDBOX is {int(then)}: expected .*, {kind}$"):
        house.start()
    house.further = {"sandbox": first}
    house.start()
    assert house.checkpoint() == before


@pytest.mark.parametrize(
    ("origin", "sandbox"), [(ORIGIN, True), (NAME, False), (f"{NAME}/live", True), (SANDBOX[1:], True)]
)
def test_a_name_must_say_what_the_setting_says(found: Found, origin: str, sandbox: bool) -> None:
    with pytest.raises(SetupError, match=f"FAIRSHOE_SANDBOX is {int(sandbox)}: expected"):
        found(origin=origin, further={"sandbox": sandbox})


@pytest.mark.parametrize(("text", "wanted"), [("0", False), ("1", True), (None, False)])
def test_the_environment_says_it_by_one_digit(text: str | None, wanted: bool) -> None:
    assert settings_from({} if text is None else {"FAIRSHOE_SANDBOX": text}).sandbox is wanted


@pytest.mark.parametrize("text", ["", "true", "yes", "2", "01", " 1", "on"])
def test_any_other_word_for_it_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="FAIRSHOE_SANDBOX: expected"):
        settings_from({"FAIRSHOE_SANDBOX": text})


def test_a_commitment_is_as_closed_as_elsewhere(sandbox: Installation) -> None:
    """Only the house's seeds are public: a player's is not, until it is opened."""
    make_table(sandbox, decks=1)
    publish(sandbox)
    shoe = sandbox.open()
    sandbox.commit(shoe, "a-players-own-seed")
    shown = sandbox.client.get(f"/v1/shoes/{shoe}/bundle").text
    assert "a-players-own-seed" not in shown
    assert commit_seed("a-players-own-seed").hex() in shown
