"""Several at once: nothing is dealt twice, nothing lost, and the log stays one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.api.installation import DEADLINES, EVERY_COUP, HOUSE, Installation
from tests.reference import merkle_reference


def at_once(step: Callable[[int], Any], times: int, workers: int = 6) -> list[Any]:
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(step, range(times)))


def test_clients_that_deal_at_once_get_different_coups_in_order(house: Installation) -> None:
    house.table(**HOUSE)
    shoe = house.sealed()
    answers = at_once(lambda _: house.post(f"/shoes/{shoe}/coups"), 30)
    by_index = sorted(answers, key=lambda answer: answer["index"])
    assert [answer["number"] for answer in by_index] == list(range(30))
    for answer in answers:
        house.receipt(answer)
    assert house.verify(shoe).verdict == "consistent"


def test_only_one_of_many_opens_the_shoe_and_only_one_locks_it(house: Installation) -> None:
    house.table(**HOUSE)
    opened = at_once(lambda _: house.client.post("/v1/tables/t/shoes", json=DEADLINES).status_code, 8)
    assert sorted(opened) == [201] + [409] * 7
    shoe = house.get("/tables/t")["live_shoe"]
    locked = at_once(lambda _: house.client.post(f"/v1/shoes/{shoe}/lock").status_code, 8)
    assert sorted(locked) == [201] + [409] * 7


def test_the_last_coup_is_dealt_once(house: Installation) -> None:
    house.table(**EVERY_COUP)
    shoe = house.sealed()
    statuses = at_once(lambda _: house.client.post(f"/v1/shoes/{shoe}/coups").status_code, 12)
    assert sorted(statuses) == [201] * 5 + [409] * 7
    assert house.verify(shoe).verdict == "verified"


def test_contributions_at_once_get_positions_of_their_own(house: Installation) -> None:
    house.table(decks=1)
    shoe = house.open()
    positions = [answer["position"] for answer in at_once(lambda n: house.commit(shoe, f"seed-{n}"), 20)]
    assert sorted(positions) == list(range(20))


def test_writers_at_several_tables_and_readers_leave_one_log(house: Installation) -> None:
    tables = [house.table(f"t{n}", **EVERY_COUP) for n in range(4)]
    shoes = {table: house.sealed(table) for table in tables}

    def step(n: int) -> str:
        shoe = shoes[tables[n % 4]]
        if n % 3 == 2:
            return house.verify(shoe).verdict
        house.post(f"/shoes/{shoe}/coups")
        return "consistent"

    assert set(at_once(step, 24)) <= {"consistent", "verified"}
    size = int(house.checkpoint().split("\n")[1])
    leaves = [house.client.get(f"/v1/log/entries/{index}").data for index in range(size)]
    with house.service.reading() as session:
        from api.log import read_head  # noqa: PLC0415

        assert read_head(session).root == merkle_reference.mth(leaves)
