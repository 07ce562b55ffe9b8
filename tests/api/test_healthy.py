"""A dead source of entropy stops the service before it serves, and a request once it serves."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from api.healthy import watched
from api.settings import SetupError
from api.world import World, real_world
from audit import health
from audit.health import HealthError
from shoe.errors import ImpossibleError


def world_of(random_bytes: Callable[[int], bytes]) -> World:
    return World(lambda: datetime(2026, 1, 31, tzinfo=UTC), random_bytes)


def test_a_sound_source_is_handed_through() -> None:
    drawn: list[bytes] = []

    def source(count: int) -> bytes:
        drawn.append(secrets.token_bytes(count))
        return drawn[-1]

    world = watched(world_of(source))
    assert [world.random_bytes(32), world.random_bytes(12)] == drawn[1:]
    assert world.now() == datetime(2026, 1, 31, tzinfo=UTC)


@pytest.mark.parametrize("dead", [bytes, lambda count: b"ab" * (count // 2)], ids=["zeros", "two"])
def test_a_source_that_is_dead_at_the_start_is_refused(dead: Callable[[int], bytes]) -> None:
    with pytest.raises(SetupError, match="not healthy"):
        watched(world_of(dead))


def test_a_source_that_dies_later_gives_nothing_more() -> None:
    alive = [True]
    world = watched(world_of(lambda count: secrets.token_bytes(count) if alive[0] else b"\x17" * count))
    world.random_bytes(32)
    alive[0] = False
    with pytest.raises(HealthError) as refused:
        world.random_bytes(32)
    assert "17" not in str(refused.value).replace("512", "")


def test_repeats_over_several_draws_are_seen() -> None:
    alive = [True]
    world = watched(world_of(lambda count: secrets.token_bytes(count) if alive[0] else b"\x17" * count))
    alive[0] = False
    draws = iter(lambda: world.random_bytes(1), b"")
    with pytest.raises(HealthError):
        list(draws)


def test_a_wrong_known_answer_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = health.KnownAnswer("AES-256", "nobody", lambda: b"", b"other")
    monkeypatch.setattr("api.healthy.self_test", lambda: health.self_test([wrong]))
    with pytest.raises(ImpossibleError, match="AES-256"):
        watched(real_world())


def test_threads_draw_one_at_a_time() -> None:
    world = watched(real_world())
    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(lambda _: world.random_bytes(32), range(200)))
    assert len(set(drawn)) == 200
