"""The week of an own limit at every change of daylight saving, against the rule of the law written out by hand.

US Eastern time since 2007 (15 U.S.C. 260a): five hours behind UTC, and four from the second Sunday of March, 2:00
standard time (7:00 UTC), to the first Sunday of November, 2:00 daylight time (6:00 UTC).
"""

from __future__ import annotations

import importlib.resources
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.weeks import turns_at, week_of
from shoe.errors import ImpossibleError, RulesError
from shoe.game.houses.house import WEEKLY_BY_PIN

YEARS = range(2020, 2041)
SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)


def sunday(year: int, month: int, number: int) -> date:
    """The first, second … Sunday of a month, by walking through its days."""
    day, found = date(year, month, 1), 0
    while True:
        found += day.isoweekday() == 7
        if found == number:
            return day
        day += timedelta(days=1)


def changes(year: int) -> tuple[datetime, datetime]:
    """When daylight saving begins and ends."""
    spring, autumn = sunday(year, 3, 2), sunday(year, 11, 1)
    return (
        datetime(year, 3, spring.day, 7, tzinfo=UTC),
        datetime(year, 11, autumn.day, 6, tzinfo=UTC),
    )


def hours_behind(moment: datetime) -> int:
    begins, ends = changes(moment.year)
    return 4 if begins <= moment < ends else 5


def midnight(day: date) -> datetime:
    """00:00 of a day in US Eastern time, in UTC; the clock never changes at 00:00, so one of two offsets fits."""
    (found,) = (
        moment
        for hours in (4, 5)
        if hours_behind(moment := datetime(day.year, day.month, day.day, hours, tzinfo=UTC)) == hours
    )
    return found


def slow_week(moment: datetime) -> tuple[str, datetime]:
    """The Friday at or before a moment, and when the next one begins: by trying every day."""
    day = moment.date() + timedelta(days=1)
    while day.isoweekday() != 5 or midnight(day) > moment:
        day -= timedelta(days=1)
    return day.isoformat(), midnight(day + timedelta(days=7))


def both(moment: datetime) -> tuple[str, datetime]:
    return week_of(moment), turns_at(moment)


def test_the_slow_rule_has_published_dates() -> None:
    """Of the U.S. Naval Observatory's table of daylight time: 2020 to 2026."""
    spring = [changes(year)[0].strftime("%m-%d") for year in range(2020, 2027)]
    autumn = [changes(year)[1].strftime("%m-%d") for year in range(2020, 2027)]
    assert spring == ["03-08", "03-14", "03-13", "03-12", "03-10", "03-09", "03-08"]
    assert autumn == ["11-01", "11-07", "11-06", "11-05", "11-03", "11-02", "11-01"]


def test_a_week_by_hand() -> None:
    """Friday 2026-01-30 00:00 in New York is 05:00 UTC; in July it is 04:00."""
    winter = datetime(2026, 1, 30, 5, tzinfo=UTC)
    assert both(winter) == ("2026-01-30", datetime(2026, 2, 6, 5, tzinfo=UTC))
    assert both(winter - timedelta(microseconds=1)) == ("2026-01-23", winter)
    summer = datetime(2026, 7, 3, 4, tzinfo=UTC)
    assert both(summer) == ("2026-07-03", datetime(2026, 7, 10, 4, tzinfo=UTC))
    assert both(summer - timedelta(microseconds=1)) == ("2026-06-26", summer)


@pytest.mark.parametrize("year", YEARS)
def test_every_change_of_daylight_saving(year: int) -> None:
    for change, hours in zip(changes(year), (167, 169), strict=True):
        began, turns = slow_week(change)
        assert turns - midnight(date.fromisoformat(began)) == hours * HOUR
        for moment in (change - HOUR, change - SECOND, change, change + SECOND, change + HOUR, change + 2 * HOUR):
            assert both(moment) == (began, turns) == slow_week(moment)
        for turn in (midnight(date.fromisoformat(began)), turns, turns_at(turns)):
            for moment in (turn - SECOND, turn, turn + SECOND):
                assert both(moment) == slow_week(moment)


@pytest.mark.parametrize("year", YEARS)
def test_every_turn_of_every_year(year: int) -> None:
    turn, lengths = turns_at(datetime(year, 1, 1, 12, tzinfo=UTC)), []
    while turn.year == year:
        assert both(turn) == slow_week(turn)
        assert both(turn - SECOND) == slow_week(turn - SECOND)
        lengths.append((turns_at(turn) - turn) // HOUR)
        turn = turns_at(turn)
    assert (lengths.count(167), lengths.count(169)) == (1, 1)
    assert set(lengths) == {167, 168, 169}


@given(st.datetimes(datetime(2020, 1, 1), datetime(2040, 12, 31), timezones=st.just(UTC)))
def test_any_moment(moment: datetime) -> None:
    assert both(moment) == slow_week(moment)


def test_other_days_and_zones() -> None:
    """Sunday 00:00 in Sydney, daylight saving at its southern time: UTC+11 in January, UTC+10 in July."""
    limit = replace(WEEKLY_BY_PIN, day="sunday", zone="Australia/Sydney")
    winter, summer = datetime(2026, 7, 11, 14, tzinfo=UTC), datetime(2026, 1, 10, 13, tzinfo=UTC)
    for turn, before, after in ((winter, "2026-07-05", "2026-07-12"), (summer, "2026-01-04", "2026-01-11")):
        assert week_of(turn - SECOND, limit) == before
        assert week_of(turn, limit) == after
        assert turns_at(turn - SECOND, limit) == turn
    utc = replace(WEEKLY_BY_PIN, day="monday", zone="UTC")
    assert week_of(datetime(2026, 1, 4, 23, 59, tzinfo=UTC), utc) == "2025-12-29"


@pytest.mark.parametrize(
    "moment", [datetime(2026, 1, 1), datetime(2026, 1, 1, tzinfo=timezone(HOUR))], ids=["naive", "another zone"]
)
def test_moments_are_in_utc(moment: datetime) -> None:
    for ask in (week_of, turns_at):
        with pytest.raises(ImpossibleError, match="expected a moment in UTC"):
            ask(moment)


@pytest.mark.parametrize("zone", ["America/New_Amsterdam", "Nowhere", "America", "US/"])
def test_a_zone_that_there_is_not(zone: str) -> None:
    with pytest.raises(RulesError, match=r"rules\.own_limit\.zone: expected a zone of the IANA time zone database"):
        week_of(datetime(2026, 1, 1, tzinfo=UTC), replace(WEEKLY_BY_PIN, zone=zone))


def test_zones_need_nothing_from_the_system() -> None:
    """Machines may have no zone files of their own; the package tzdata brings them."""
    assert importlib.resources.files("tzdata").joinpath("zoneinfo/America/New_York").is_file()
    code = (
        "from datetime import UTC, datetime; from api.weeks import turns_at;"
        "print(turns_at(datetime(2026, 3, 6, 12, tzinfo=UTC)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONTZPATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "2026-03-13 04:00:00+00:00\n"
