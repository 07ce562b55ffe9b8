"""Killed at any instant, the service loses nothing that it answered, and deals nothing twice."""

from __future__ import annotations

import os
import time
from contextlib import closing

import pytest

from tests.campaign.crashing import Campaign
from tests.campaign.serving import Place, Server

SEED = os.environ.get("CAMPAIGN_SEED") or os.urandom(4).hex()
"""Where the kills' moments and the clients' choices come from; printed, and set to have the same again."""


def campaign(place: Place, kills: int) -> None:
    """Kill the server so many times; in every tenth round its database too, and in every tenth that alone."""
    began, server = time.monotonic(), Server(place, workers=2)
    run = Campaign(server, SEED)
    with closing(server), closing(run):
        run.begin()
        for kill in range(1, kills + 1):
            if kill % 10 == 0:
                run.strike(server.kill, place.kill_database)
                place.restart_database()
            else:
                run.strike(server.kill)
            run.start()
            if kill % 10 == 5:
                run.strike(place.kill_database)
                place.restart_database()
                server.wait()
        run.finish()
    print(f"\nseed {SEED}: {kills} kills in {time.monotonic() - began:.0f} s: {run.summary()}")
    assert "Traceback" not in server.said()
    if place.postgres is None:
        assert server.complaints() == []


def test_a_few_kills(place: Place) -> None:
    campaign(place, kills=5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_hundred_kills(place: Place) -> None:
    campaign(place, kills=200)
