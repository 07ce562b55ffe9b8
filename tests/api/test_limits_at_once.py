"""Several who lower one limit at once: one does, one PIN is hers, five wrong ones are answered; on both databases."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

import pytest

from api.cases import limits
from api.own_limit import MOST_WRONG
from api.passcode import same_pin
from tests.api.betting import Seat
from tests.api.installation import Installation
from tests.api.test_concurrency import at_once
from tests.api.test_limits import PIN, lower, rows, vip


def statuses(seat: Seat, pins: list[str], maximum: int = 10_000) -> list[tuple[int, str]]:
    def step(n: int) -> tuple[int, str]:
        body = {"maximum_minor": maximum + n, "pin": pins[n]}
        answer = seat.house.client.post(f"/v1/seats/{seat.id}/limit", json=body, headers=seat.headers)
        assert answer.json is not None
        return answer.status_code, str(answer.json.get("type", "")).rpartition(":")[2]

    return at_once(step, len(pins), len(pins))


def test_of_several_at_once_one_lowers(house: Installation) -> None:
    seat = vip(house)
    assert sorted(statuses(seat, [PIN] * 4)) == [(201, "")] + [(409, "limit-set")] * 3


def test_of_several_first_pins_at_once_one_is_hers(house: Installation) -> None:
    pins = ["1111", "2222", "3333"]
    seat = vip(house)
    found = statuses(seat, pins)
    assert sorted(found) == [(201, "")] + [(403, "wrong-pin")] * 2
    (row,) = rows(house)
    assert row.pin is not None
    assert same_pin(pins[found.index((201, ""))], row.pin)
    assert row.wrong == 2


def test_of_many_wrong_pins_at_once_five_are_answered(house: Installation) -> None:
    seat = vip(house)
    lower(seat, 20_000)
    found = statuses(seat, [f"{n:04}" for n in range(MOST_WRONG + 3)])
    assert sorted(found) == [(403, "too-many-wrong-pins")] * 3 + [(403, "wrong-pin")] * MOST_WRONG


def test_a_pin_that_was_confirmed_while_another_was_tried_counts(
    house: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second PIN is hashed before the first is stored, and decided on after."""
    seat, real, hashed, stored = vip(house), limits.try_pin, Event(), Event()

    def slow(pin: str, *further: Any) -> Any:
        tried = real(pin, *further)
        if pin == "2222" and not hashed.is_set():
            hashed.set()
            assert stored.wait(30)
        return tried

    def step(n: int) -> int:
        body = {"maximum_minor": 10_000, "pin": ("1111", "2222")[n]}
        if n == 0:
            assert hashed.wait(30)
        answer = house.client.post(f"/v1/seats/{seat.id}/limit", json=body, headers=seat.headers)
        stored.set()
        return answer.status_code

    monkeypatch.setattr(limits, "try_pin", slow)
    assert at_once(step, 2, 2) == [201, 403]
    assert rows(house)[0].wrong == 1


def test_nobody_waits_for_a_pin_to_be_hashed(house: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others write while it is: the log's head is not held."""
    seat, real, written = vip(house), limits.try_pin, Event()

    def write() -> None:
        house.post("/tables/t/books", {"size": 1})
        written.set()

    def while_somebody_writes(*asked: Any) -> Any:
        Thread(target=write, daemon=True).start()
        assert written.wait(30)
        return real(*asked)

    monkeypatch.setattr(limits, "try_pin", while_somebody_writes)
    lower(seat, 10_000)
