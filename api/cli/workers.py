"""Who works on a run: this process, processes of this machine, or a Dask cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from threading import Thread
from typing import Any, Final, NamedTuple

from api.cli.output import EnvironmentFault

_BLOCKS_EACH: Final = 2


class Workforce(NamedTuple):
    """An executor, None for this process alone, and how many blocks are in flight on it."""

    executor: Executor | None
    abreast: int


@contextmanager
def workforce(workers: int | None, scheduler: str | None) -> Iterator[Workforce]:
    """Give `workers` processes (as many as processors without), or the cluster whose scheduler has this address.

    Raises EnvironmentFault where the cluster can't be reached, or the extra `cluster` is not installed.
    """
    if scheduler is not None:
        with _cluster(scheduler) as hands:
            yield hands
        return
    count = workers or processors()
    if count == 1:
        yield Workforce(None, 1)
        return
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"), initializer=serve_parent)
    try:
        yield Workforce(pool, _BLOCKS_EACH * count)
    finally:
        pool.shutdown(cancel_futures=True)


def processors() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def serve_parent() -> None:
    """Leave Ctrl-C to the process that collects the blocks, and leave with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        Thread(target=_leave_with, args=(parent.sentinel,), daemon=True).start()


def _leave_with(sentinel: int) -> None:
    # A parent killed by SIGKILL tells nobody, and its pool's queues never end: workers would wait for ever.
    wait([sentinel])
    os._exit(1)


@contextmanager
def _cluster(scheduler: str) -> Iterator[Workforce]:
    try:
        from distributed import Client  # noqa: PLC0415  an extra
    except ImportError:
        raise EnvironmentFault("--scheduler: distributed is not installed; install fairshoe[cluster]") from None
    try:
        client: Any = Client(scheduler, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise EnvironmentFault(f"--scheduler: {scheduler}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        yield Workforce(client.get_executor(pure=False), _BLOCKS_EACH * max(1, threads))
