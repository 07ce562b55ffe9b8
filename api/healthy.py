"""A world whose chance is watched: a dead source of entropy stops the service, at its start and while it runs."""

from __future__ import annotations

from threading import Lock

from api.settings import SetupError
from api.world import World
from audit.health import START_BYTES, HealthError, HealthMonitor, self_test


def watched(world: World) -> World:
    """Give the same world with its bytes under SP 800-90B's health tests, from the first on, one thread at a time.

    Computes the known answers first. Raises SetupError where the source fails at the start; drawing raises HealthError
    where it fails later. Neither shows a byte.
    """
    self_test()
    monitor, turn = HealthMonitor(), Lock()
    try:
        monitor.start(world.random_bytes(START_BYTES))
    except HealthError as error:
        raise SetupError(f"the operating system's randomness is not healthy: {error}") from None

    def random_bytes(count: int) -> bytes:
        with turn:
            return monitor.check(world.random_bytes(count))

    return World(world.now, random_bytes)
