"""Shoes past their deadlines are void by themselves, for the reason that is true (protocol §4, §8), and books end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import event, text

from api.cases.deadlines import Overdue, overdue, void_overdue
from api.cases.ending import void_shoe
from api.refusals import Refusal
from api.settings import SetupError
from api.world import print_time
from shoe.proof.records import Book, BookEnd, Void, parse_as, parse_record
from tests.api.installation import (
    BEFORE_ROUND,
    DEADLINES,
    EVERY_COUP,
    HOUSE,
    ROUND,
    SMALL,
    Clock,
    Found,
    Installation,
)


def found_overdue(house: Installation) -> list[Overdue]:
    with house.service.reading() as session:
        return overdue(session, print_time(house.service.world.now()))


def void_of(house: Installation, shoe: str) -> Void:
    return parse_as(Void, house.get(f"/shoes/{shoe}/state")["last_record"].encode())


def opened(house: Installation) -> str:
    return house.open()


def locked(house: Installation) -> str:
    shoe = house.open()
    house.post(f"/shoes/{shoe}/lock")
    return shoe


def dealt(house: Installation) -> str:
    shoe = house.sealed()
    house.post(f"/shoes/{shoe}/coups")
    return shoe


def locked_with_seeds(missing: int) -> Callable[[Installation], str]:
    def make(house: Installation) -> str:
        shoe = house.open()
        for seed in ("one", "two"):
            house.commit(shoe, seed)
        house.post(f"/shoes/{shoe}/lock")
        for number, seed in enumerate(("one", "two")[missing:], start=missing):
            house.post(f"/shoes/{shoe}/seeds", {"position": number, "seed": seed})
        return shoe

    return make


@pytest.mark.parametrize(
    ("entropy", "stand", "past_s", "reason"),
    [
        ("house", opened, 60, "deadline"),
        ("house", locked, 120, "deadline"),
        ("house", Installation.sealed, 3600, "deadline"),
        ("house", dealt, 3600, "deadline"),
        ("two_phase", opened, 60, "deadline"),
        ("two_phase", locked_with_seeds(missing=2), 120, "seed_missing"),
        ("two_phase", locked_with_seeds(missing=1), 120, "seed_missing"),
        ("two_phase", locked_with_seeds(missing=0), 120, "deadline"),
        ("two_phase", locked, 120, "deadline"),
    ],
)
def test_a_shoe_is_void_once_its_next_step_is_past(
    house: Installation, entropy: str, stand: Callable[[Installation], str], past_s: int, reason: str
) -> None:
    """SPEC's table of void reasons; the verifier has the last word on whether the reason is true."""
    house.table(decks=1, entropy=entropy)
    shoe = stand(house)
    house.clock.forward(past_s)
    assert (found_overdue(house), void_overdue(house.service)) == ([], 0)
    assert house.get(f"/shoes/{shoe}/state")["state"] != "void"
    house.clock.forward(0.000001)
    assert found_overdue(house) == [(shoe, reason)]
    assert void_overdue(house.service) == 1
    assert void_of(house, shoe).reason == reason
    verification = house.verify(shoe)
    assert (verification.verdict, verification.check("deadlines").status) == ("void", "VALID")
    assert (found_overdue(house), void_overdue(house.service)) == ([], 0)


@pytest.mark.parametrize(("step", "past_s", "reason"), [("open", 60, "deadline"), ("lock", 120, "beacon_missing")])
def test_a_shoe_that_waits_for_its_beacon_in_vain_is_void(found: Found, step: str, past_s: int, reason: str) -> None:
    house = found(clock=Clock(BEFORE_ROUND))
    house.table(decks=1, entropy="beacon")
    shoe = house.open(lock_in_s=30, beacon_round=ROUND)
    if step == "lock":
        house.post(f"/shoes/{shoe}/lock")
    house.clock.forward(past_s + 0.000001)
    assert void_overdue(house.service) == 1
    assert void_of(house, shoe).reason == reason
    assert house.verify(shoe).verdict == "void"


def test_an_open_shoe_with_contributions_is_never_locked_by_itself(house: Installation) -> None:
    house.table(decks=1, entropy="two_phase")
    shoe = house.open()
    house.commit(shoe, "one")
    house.clock.forward(60)
    void_overdue(house.service)
    assert house.get(f"/shoes/{shoe}/state")["state"] == "open"
    house.post(f"/shoes/{shoe}/lock")


def test_what_comes_too_late_is_refused_before_the_shoe_is_void(house: Installation) -> None:
    house.table(decks=1, entropy="two_phase")
    shoe = house.open()
    house.clock.forward(60.000001)
    house.refuse(f"/shoes/{shoe}/lock", {}, "deadline-passed", 409)
    house.refuse(f"/shoes/{shoe}/entropy", {"seed_commitment": "00" * 32}, "deadline-passed", 409)
    void_overdue(house.service)
    house.refuse(f"/shoes/{shoe}/lock", {}, "wrong-state", 409)


def test_the_table_goes_on_with_its_next_shoe(house: Installation) -> None:
    house.table(**SMALL)
    first = house.open()
    house.refuse("/tables/t/shoes", DEADLINES, "shoe-live", 409)
    house.clock.forward(61)
    void_overdue(house.service)
    second = house.open()
    assert house.get(f"/shoes/{second}")["previous_shoe"] == first
    house.clock.forward(61)
    void_overdue(house.service)
    assert [void_of(house, shoe).in_row for shoe in (first, second)] == [1, 2]


def test_only_what_is_overdue_and_live_is_found(house: Installation) -> None:
    for number, table in enumerate(("a", "b", "c", "d")):
        house.table(table, **SMALL, book=2)
        house.clock.forward(number)
    late, ended = house.open("a"), house.open("b")
    house.post(f"/shoes/{ended}/void", {"reason": "operator"})
    house.deal_out(house.sealed("c"))
    house.clock.forward(40)
    house.open("d")
    house.clock.forward(40)
    assert found_overdue(house) == [(late, "deadline")]


def test_many_are_found_by_one_query_on_the_index_of_live_shoes(house: Installation) -> None:
    for number in range(5):
        house.table(f"t{number}", **SMALL)
        house.open(f"t{number}")
    house.clock.forward(61)
    statements: list[tuple[str, Any]] = []

    def note(_c: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        statements.append((statement, parameters))

    with house.service.reading() as session:
        event.listen(house.service.store.readers, "before_cursor_execute", note)
        found = overdue(session, print_time(house.service.world.now()))
        event.remove(house.service.store.readers, "before_cursor_execute", note)
        assert len(found) == 5
        ((statement, parameters),) = [asked for asked in statements if asked[0].startswith("SELECT")]
        if house.service.store.dialect == "postgresql":
            # The planner would read so small a table whole.
            session.execute(text("SET LOCAL enable_seqscan = off"))
        explain = "EXPLAIN" if house.service.store.dialect == "postgresql" else "EXPLAIN QUERY PLAN"
        plan = session.connection().exec_driver_sql(f"{explain} {statement}", parameters).all()
    assert "one_live_shoe" in str(plan)


def test_who_was_there_first_is_passed_over(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the keeper's look and its step a client may void the shoe, and so may another keeper."""
    house.table(**SMALL)
    house.table("u", **SMALL)
    first, second = house.open(), house.open("u")
    house.clock.forward(61)
    steps: list[str] = []

    def raced(service: Any, shoe: str, reason: Any) -> Any:
        if not steps:
            house.post(f"/shoes/{shoe}/void", {"reason": "operator"})
        steps.append(shoe)
        return void_shoe(service, shoe, reason)

    monkeypatch.setattr("api.cases.deadlines.void_shoe", raced)
    assert void_overdue(house.service) == 1
    assert steps == [first, second]
    assert [void_of(house, shoe).reason for shoe in (first, second)] == ["operator", "deadline"]


def test_one_shoe_that_fails_does_not_keep_the_others_open(house: Installation) -> None:
    """The first table's book is sealed under a key that the vault no longer has."""
    house.table(**SMALL)
    house.table("u", **SMALL)
    _, second = house.open(), house.open("u")
    with house.service.store.writing() as session:
        session.execute(text("UPDATE books SET sealed_master = :none WHERE table_id = 't'"), {"none": bytes(60)})
    house.clock.forward(61)
    with pytest.raises(SetupError):
        void_overdue(house.service)
    assert void_of(house, second).reason == "deadline"


def test_where_nothing_may_be_signed_nothing_is_void_and_it_is_said(house: Installation) -> None:
    house.table(**SMALL)
    shoe = house.open()
    house.clock.forward(61)
    house.service.permit.halt.write_text("An auditor found a fork.")
    before = house.checkpoint()
    with pytest.raises(Refusal, match="An auditor found a fork"):
        void_overdue(house.service)
    assert (house.checkpoint(), house.get(f"/shoes/{shoe}/state")["state"]) == (before, "open")


# --- books -------------------------------------------------------------------------------------


def logged(house: Installation, start: int) -> list[Any]:
    return [parse_record(house.client.get(f"/v1/log/entries/{index}").data) for index in range(start, house.size())]


def test_a_book_used_up_before_the_next_was_there_ends_when_it_is_published(house: Installation) -> None:
    """Protocol §3: the next book is logged before the old one ends."""
    house.table(**EVERY_COUP, book=1)
    shoe = house.sealed()
    house.deal_out(shoe)
    assert house.get("/tables/t/books")["books"][0]["state"] == "published"
    before = house.size()
    answer = house.post("/tables/t/books", {"size": 1})
    book, end = logged(house, before)
    assert isinstance(book, Book)
    assert isinstance(end, BookEnd)
    assert (book.root.hex(), answer["index"]) == (answer["root"], before)
    assert house.receipt(answer).record == book.to_bytes()
    assert [known["state"] for known in house.get("/tables/t/books")["books"]] == ["ended", "published"]
    following = house.sealed()
    house.deal_out(following)
    assert house.verify(following).verdict == "verified"


def test_a_book_whose_last_shoe_is_void_ends_with_the_next_too(house: Installation) -> None:
    house.table(**SMALL, book=1)
    house.open()
    house.clock.forward(61)
    void_overdue(house.service)
    house.post("/tables/t/books", {"size": 1})
    assert [book["state"] for book in house.get("/tables/t/books")["books"]] == ["ended", "published"]


def test_a_book_with_a_live_shoe_does_not_end_with_the_next(house: Installation) -> None:
    """Its master would give the live shoe's seed away."""
    house.table(**SMALL, book=1)
    shoe, before = house.sealed(), house.size()
    house.post("/tables/t/books", {"size": 1})
    assert [type(record) for record in logged(house, before)] == [Book]
    house.deal_out(shoe)
    assert [book["state"] for book in house.get("/tables/t/books")["books"]] == ["ended", "published"]


def test_a_book_with_unused_seeds_does_not_end_with_the_next(house: Installation) -> None:
    house.table(**SMALL, book=2)
    house.deal_out(house.sealed())
    before = house.size()
    house.post("/tables/t/books", {"size": 1})
    assert [type(record) for record in logged(house, before)] == [Book]


def test_another_tables_book_does_not_end(house: Installation) -> None:
    house.table("u", **HOUSE, book=1)
    house.post(f"/shoes/{house.open('u')}/void", {"reason": "operator"})
    house.table(**HOUSE)
    assert house.get("/tables/u/books")["books"][0]["state"] == "published"
