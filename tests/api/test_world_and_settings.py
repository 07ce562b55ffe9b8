"""Clock, ids and settings; and the package that must load without Flask."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from uuid import UUID

import pytest

from api.settings import Settings, settings_from
from api.world import World, make_id, print_time, read_time, real_world, seconds_after
from shoe.errors import ImpossibleError, InputError
from shoe.proof.forms import parse_time
from tests.api.installation import NOON, Chance, Clock


def test_times_have_six_decimals_and_sort_as_text() -> None:
    printed = [print_time(NOON + timedelta(microseconds=step)) for step in (0, 1, 999_999, 1_000_000)]
    assert printed[0] == "2026-01-31T12:00:00.000000Z"
    assert printed == sorted(printed)
    assert all(parse_time(time) == time for time in printed)


def test_reading_a_time_inverts_printing_it() -> None:
    assert read_time(print_time(NOON)) == NOON
    assert seconds_after("2026-02-28T23:59:59.500000Z", 1) == "2026-03-01T00:00:00.500000Z"


@pytest.mark.parametrize("moment", [datetime(2026, 1, 31, 12), NOON.astimezone(timezone(timedelta(hours=1)))])
def test_a_moment_that_is_not_in_utc_is_impossible(moment: datetime) -> None:
    with pytest.raises(ImpossibleError, match="clock: expected a moment in UTC"):
        print_time(moment)


def test_ids_are_uuids_of_version_7_that_sort_by_time() -> None:
    """RFC 9562 §5.7: 48 bits of milliseconds, version 7, variant 10, the rest random."""
    clock, chance = Clock(), Chance()
    ids = []
    for _ in range(5):
        ids.append(make_id(World(clock, chance)))
        clock.forward(0.001)
    assert ids == sorted(ids)
    for text in ids:
        uuid = UUID(text)
        assert (uuid.version, uuid.variant, str(uuid)) == (7, "specified in RFC 4122", text)
    assert UUID(ids[0]).int >> 80 == int(NOON.timestamp() * 1000)


def test_ids_of_one_millisecond_differ_in_74_bits() -> None:
    ones = UUID(make_id(World(Clock(), lambda size: b"\xff" * size))).int
    zeros = UUID(make_id(World(Clock(), bytes))).int
    assert (ones ^ zeros).bit_count() == 74


def test_the_real_world_has_this_clock_and_fresh_bytes() -> None:
    world = real_world()
    assert abs(world.now() - datetime.now(UTC)) < timedelta(seconds=5)
    assert [len(world.random_bytes(32)), len({world.random_bytes(16) for _ in range(50)})] == [32, 50]


def test_settings_come_from_the_environment() -> None:
    assert settings_from({}) == Settings(Path("fairshoe-data"), None)
    assert settings_from({"FAIRSHOE_DATA": "d", "FAIRSHOE_ORIGIN": "a/b"}) == Settings(Path("d"), "a/b")


@pytest.mark.parametrize("origin", ["", "a b", "a+b", "a\n", "é", "x" * 129])
def test_an_origin_that_no_record_could_carry_is_refused(origin: str) -> None:
    with pytest.raises(InputError, match="FAIRSHOE_ORIGIN: expected 1–128 printable"):
        Settings(Path("d"), origin)


def test_the_package_loads_without_flask_and_sqlalchemy() -> None:
    """verify, shuffle, odds and roads import it, and have to start quickly."""
    code = "import sys, api; sys.exit(bool({'flask', 'sqlalchemy', 'pydantic', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
