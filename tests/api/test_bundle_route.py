"""Bundles of shoes at every stage, and the older checkpoints that may be asked for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.installation import EVERY_COUP, SMALL, Installation, problem_of


def test_a_tables_first_shoe_has_no_previous_one(house: Installation) -> None:
    house.table(**SMALL)
    bundle = house.bundle(house.open())
    assert (bundle["previous_shoe"], bundle["earlier"], bundle["bets"]) == (None, None, None)
    assert bundle["openings"] == {"burn": None, "coups": []}
    assert bundle["book_record"]["index"] == 1


def test_two_tables_do_not_mix(house: Installation) -> None:
    for table in "ab":
        house.table(table, **EVERY_COUP)
    shoes = [house.sealed(table) for table in "ab"]
    for _ in range(5):
        for shoe in shoes:
            house.post(f"/shoes/{shoe}/coups")
    assert [house.verify(shoe).verdict for shoe in shoes] == ["verified", "verified"]
    indices = [house.bundle(shoe)["log_indices"] for shoe in shoes]
    assert not set(indices[0]) & set(indices[1])


@pytest.mark.parametrize("earlier", ["0", "2", "99", "9007199254740991"])
def test_only_a_checkpoint_that_was_signed_can_be_earlier(house: Installation, earlier: str) -> None:
    """Size 2 was never signed here: the reveal and the book's end came under one checkpoint with the coup."""
    house.post("/tables", {"id": "t", "preset": "np_punto_banco", "overrides": {**EVERY_COUP, "coups": 1}})
    house.post("/tables/t/books", {"size": 1})
    shoe = house.sealed()
    house.deal_out(shoe)
    sizes = {"0": "0", "2": "6", "99": "99"}
    asked = sizes.get(earlier, earlier)
    response = house.client.get(f"/v1/shoes/{shoe}/bundle?earlier={asked}")
    assert f"a number of records of '{asked}'" in problem_of(response, "not-found", 404)


@pytest.mark.parametrize("earlier", ["-1", "01", "x", "", "9007199254740992"])
def test_an_earlier_size_is_a_plain_number(house: Installation, earlier: str) -> None:
    house.table(**SMALL)
    response = house.client.get(f"/v1/shoes/{house.open()}/bundle?earlier={earlier}")
    assert problem_of(response, "invalid", 422).startswith("earlier: ")


def test_every_checkpoint_that_was_given_out_can_be_asked_for(house: Installation) -> None:
    house.table(**SMALL)
    given: list[Any] = [house.checkpoint()]
    shoe = house.open()
    for step in ("lock", "seal", "coups", "coups"):
        given.append(house.checkpoint())
        house.post(f"/shoes/{shoe}/{step}")
    for checkpoint in given:
        size = checkpoint.split("\n")[1]
        bundle = house.bundle(shoe, f"?earlier={size}")
        assert bundle["earlier"]["checkpoint"] == checkpoint
        answer = house.post("/verify", {"bundle": bundle}, status=200)
        assert {"name": "consistency", "status": "VALID"}.items() <= answer["checks"][24].items()


def test_the_records_of_a_bundle_are_the_logs_bytes(house: Installation) -> None:
    house.table(**SMALL)
    bundle = house.bundle(house.sealed())
    for record, index in zip(bundle["records"], bundle["log_indices"], strict=True):
        assert house.client.get(f"/v1/log/entries/{index}").text == record
