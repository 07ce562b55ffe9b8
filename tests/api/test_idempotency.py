"""The same request with the same Idempotency-Key is taken once, and answered the same each time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, select

from api.claims import KEPT_S, claim_of, forget_claims
from api.db.tables import ClaimRow
from api.world import print_time
from shoe.errors import InputError
from tests.api.installation import DEADLINES, EVERY_COUP, HOUSE, Installation, problem_of
from tests.api.test_concurrency import at_once


def post(house: Installation, path: str, key: str, body: dict[str, Any] | None = None) -> Any:
    return house.client.post(f"/v1{path}", json=body or {}, headers={"Idempotency-Key": key})


def claims(house: Installation) -> int:
    with house.service.reading() as session:
        return session.scalar(select(func.count()).select_from(ClaimRow)) or 0


def test_a_repeated_request_is_given_the_first_answer(house: Installation) -> None:
    house.table(**HOUSE)
    shoe = house.sealed()
    first = post(house, f"/shoes/{shoe}/coups", "k1")
    house.post(f"/shoes/{shoe}/coups")
    again = post(house, f"/shoes/{shoe}/coups", "k1")
    assert (first.status_code, again.status_code, again.data) == (201, 201, first.data)
    assert again.content_type == first.content_type == "application/json"
    assert house.get(f"/shoes/{shoe}/state")["next_coup"] == 2
    house.receipt(again.json)


def test_it_is_given_after_a_new_start_and_after_the_shoe_has_ended(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    answers = [post(house, f"/shoes/{shoe}/coups", f"k{n}") for n in range(5)]
    house.stop()
    house.start()
    assert [post(house, f"/shoes/{shoe}/coups", f"k{n}").data for n in range(5)] == [each.data for each in answers]
    problem_of(post(house, f"/shoes/{shoe}/coups", "k5"), "wrong-state", 409)


def test_fifty_at_once_deal_one_coup(house: Installation) -> None:
    house.table(**HOUSE)
    shoe = house.sealed()
    answers = at_once(lambda _: post(house, f"/shoes/{shoe}/coups", "the-same"), 50, 50)
    assert {each.status_code for each in answers} == {201}
    assert len({each.data for each in answers}) == 1
    assert house.get(f"/shoes/{shoe}/state")["next_coup"] == 1


def test_a_key_belongs_to_one_request(house: Installation) -> None:
    house.table(**HOUSE)
    assert post(house, "/tables/t/books", "k", {"size": 3}).status_code == 201
    before = house.checkpoint()
    for path, body in (
        ("/tables/t/books", {"size": 4}),
        ("/tables/t/books", {"size": "3"}),
        ("/tables", {"preset": "np_punto_banco"}),
        ("/tables/u/books", {"size": 3}),
    ):
        answer = post(house, path, "k", body)
        slug = "invalid" if body.get("size") == "3" else "idempotency-key-reused"
        problem_of(answer, slug, 422)
    assert house.checkpoint() == before


def test_two_requests_with_one_key_at_once_are_one_and_a_refusal(house: Installation) -> None:
    house.table(**HOUSE)
    answers = at_once(lambda n: post(house, "/tables/t/books", "k", {"size": 3 + n % 2}), 12, 12)
    taken = {each.data for each in answers if each.status_code == 201}
    assert len(taken) == 1
    assert {each.status_code for each in answers} == {201, 422}
    assert len(house.get("/tables/t/books")["books"]) == 2


def test_a_refusal_is_not_kept_for_it_had_no_effect(house: Installation) -> None:
    house.table(**HOUSE)
    shoe = house.open()
    before = claims(house)
    problem_of(post(house, f"/shoes/{shoe}/coups", "k"), "wrong-state", 409)
    assert claims(house) == before
    house.post(f"/shoes/{shoe}/lock")
    house.post(f"/shoes/{shoe}/seal")
    assert post(house, f"/shoes/{shoe}/coups", "k").status_code == 201


def test_without_a_key_every_request_is_its_own(house: Installation) -> None:
    house.table(**HOUSE)
    roots = [house.post("/tables/t/books", {"size": 1})["root"] for _ in range(3)]
    assert len(set(roots)) == 3
    assert claims(house) == 0


@pytest.mark.parametrize("step", ["/tables/t/shoes", "/shoes/x/seal", "/shoes/x/coups", "/shoes/x/void"])
def test_where_cards_move_a_key_must_be_there(house: Installation, step: str) -> None:
    house.table(**HOUSE)
    body = DEADLINES if step.endswith("shoes") else {"reason": "operator"} if step.endswith("void") else {}
    answer = house.client.post(f"/v1{step}", json=body, headers={"Idempotency-Key": "none"})
    detail = problem_of(answer, "idempotency-key-missing", 400)
    assert detail == f"POST /v1{step} came without an Idempotency-Key."


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256, "tab\t", "\x7f"])
def test_a_key_that_is_none_is_refused(house: Installation, key: str) -> None:
    house.table(**HOUSE)
    with pytest.raises(InputError, match="Idempotency-Key: expected 1–255 printable ASCII characters"):
        claim_of(key, b"")
    if key.isascii() and "\x7f" not in key:
        problem_of(post(house, "/tables/t/books", key, {"size": 3}), "invalid", 422)


@pytest.mark.parametrize("key", ["x", "!~", "x" * 255, "8e03978e-40d5-43e8-bc93-6894a57f9324"])
def test_a_key_of_any_printable_form_is_taken(house: Installation, key: str) -> None:
    house.table(**HOUSE)
    assert post(house, "/tables/t/books", key, {"size": 3}).status_code == 201


def test_answers_are_forgotten_after_a_week_and_no_sooner(house: Installation) -> None:
    house.table(**HOUSE)
    first = post(house, "/tables/t/books", "old", {"size": 3})
    house.clock.forward(KEPT_S)
    post(house, "/tables/t/books", "new", {"size": 3})
    assert post(house, "/tables/t/books", "old", {"size": 3}).data == first.data

    def forget(seconds: float) -> int:
        house.clock.forward(seconds)
        with house.service.store.writing() as session:
            return forget_claims(session, print_time(house.clock() - timedelta(seconds=KEPT_S)))

    assert (forget(0), claims(house)) == (0, 2)
    assert (forget(1), claims(house)) == (1, 1)
    assert post(house, "/tables/t/books", "old", {"size": 3}).data != first.data
