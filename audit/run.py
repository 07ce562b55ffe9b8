"""The run of a plan: its blocks on any executor, added up in whatever order they come, and resumable."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Final

from audit.checkpoint import Done, load, save
from audit.counts import RunCounts
from audit.engine import KERNEL, Engine
from audit.health import self_test
from audit.plan import Plan
from audit.work import count_task
from shoe.errors import InputError, expected

ABREAST: Final = 4
SAVE_EVERY_S: Final = 5.0
_SAVE_SHARE: Final = 20

Finished = tuple[int, RunCounts]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: blocks done of all, coups dealt, seconds since it began or went on, and those left.

    `coups_per_s` is the rate of this sitting; `left_s` is None until a block is done.
    """

    done: int
    total: int
    coups: int
    seconds: float
    coups_per_s: float
    left_s: float | None


@dataclass(slots=True)
class _Sitting:
    """One process's part in a run: what is done, when it began, and when it last saved."""

    plan: Plan
    total: int
    done: Done
    checkpoint: Path | None
    progress: Callable[[Progress], None]
    save_every_s: float
    began: float = field(default_factory=monotonic)
    saved: float = field(default_factory=monotonic)
    pause: float = field(init=False)
    before: int = field(init=False)
    coups_before: int = field(init=False)

    def __post_init__(self) -> None:
        self.before, self.coups_before = len(self.done.tasks), coups_of(self.done.counts)
        self.pause = self.save_every_s
        self.progress(self._progress())

    def take(self, task: int, counts: RunCounts) -> None:
        self.done = self.done.plus(task, counts)
        if monotonic() - self.saved >= self.pause:
            self.save()
        self.progress(self._progress())

    def save(self) -> None:
        """Save, and no sooner again than takes up a twentieth of the time."""
        if self.checkpoint is None:
            return
        start = monotonic()
        save(self.checkpoint, self.plan, self.done)
        self.saved = monotonic()
        self.pause = max(self.save_every_s, _SAVE_SHARE * (self.saved - start))

    def _progress(self) -> Progress:
        seconds, coups = monotonic() - self.began, coups_of(self.done.counts)
        here = len(self.done.tasks) - self.before
        left = seconds / here * (self.total - len(self.done.tasks)) if here else None
        rate = (coups - self.coups_before) / seconds if seconds else 0.0
        return Progress(len(self.done.tasks), self.total, coups, seconds, rate, left)


def run(
    plan: Plan,
    executor: Executor | None = None,
    *,
    checkpoint: Path | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    engine: Engine = KERNEL,
    abreast: int = ABREAST,
    save_every_s: float = SAVE_EVERY_S,
) -> RunCounts:
    """Do all of a plan's blocks and add them up: a function of the plan alone.

    `executor` is any of `concurrent.futures`, or a Dask client's; without one, this process works. At most `abreast`
    blocks are in flight. With `checkpoint` the run goes on from that file, which is written every `save_every_s`
    seconds or so, and whenever the run ends or is broken off. Raises ImpossibleError where a known answer comes out
    wrong, InputError for a checkpoint of another plan, a damaged one or `abreast` below 1, and what the executor
    raises.
    """
    if abreast < 1:
        raise InputError(expected("1 or more blocks abreast", abreast, "abreast"))
    self_test()
    tasks = plan.tasks()
    done = Done() if checkpoint is None else load(checkpoint, plan)
    sitting = _Sitting(plan, len(tasks), done, checkpoint, progress, save_every_s)
    waiting = (number for number in range(len(tasks)) if number not in sitting.done.tasks)
    blocks = _here(plan, waiting, engine) if executor is None else _abroad(plan, waiting, engine, executor, abreast)
    try:
        for number, counts in blocks:
            sitting.take(number, counts)
    finally:
        sitting.save()
    return sitting.done.counts


def coups_of(counts: RunCounts) -> int:
    """Count all coups dealt on both paths, judged or not."""
    return sum(path.dealt.all_coups for path in (counts.batch, counts.production) if path.dealt is not None)


def _here(plan: Plan, waiting: Iterator[int], engine: Engine) -> Iterator[Finished]:
    tasks = plan.tasks()
    for number in waiting:
        yield number, count_task(plan, tasks[number], engine)


def _abroad(plan: Plan, waiting: Iterator[int], engine: Engine, executor: Executor, abreast: int) -> Iterator[Finished]:
    tasks = plan.tasks()
    flying: dict[Future[RunCounts], int] = {}
    try:
        while True:
            for number in islice(waiting, abreast - len(flying)):
                flying[executor.submit(count_task, plan, tasks[number], engine)] = number
            if not flying:
                return
            landed, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in landed:
                yield flying.pop(future), future.result()
    finally:
        for future in flying:
            future.cancel()
