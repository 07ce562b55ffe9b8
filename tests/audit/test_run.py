"""Runs: one sum on every executor, in every order, after every interruption; and checkpoints that can't mislead."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from multiprocessing import get_context
from operator import add
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pytest

from audit.battery import Sizes, judge_all
from audit.checkpoint import Done, load, save
from audit.counts import RunCounts
from audit.encoding import digest
from audit.engine import KERNEL
from audit.multiple import holm
from audit.plan import Plan
from audit.run import Progress, coups_of, run
from audit.work import count_task
from shoe.errors import InputError
from tests.audit.plans import SMALL, plan_of
from tests.audit.scalar_block import coup_rules

ROOT = Path(__file__).parents[2]
TASKS = SMALL.tasks()


@pytest.fixture(scope="module")
def whole() -> bytes:
    """The digest of the sum of all blocks, added up by hand."""
    return digest(reduce(add, (count_task(SMALL, task) for task in TASKS)))


class Backwards(Executor):
    """Does at once what it is handed, the last of every four first."""

    def __init__(self) -> None:
        self.held: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.held.append((future, lambda: fn(*args, **kwargs)))
        if len(self.held) == 4 or args[1] == TASKS[-1]:
            for late, work in reversed(self.held):
                late.set_result(work())
            self.held = []
        return future


class Counting(ThreadPoolExecutor):
    """Notes how many blocks were in flight at most."""

    def __init__(self) -> None:
        super().__init__(2)
        self.now = self.most = 0
        self.lock = Lock()

    def submit(self, *args: Any, **kwargs: Any) -> Future[Any]:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        future = super().submit(*args, **kwargs)
        future.add_done_callback(self.landed)
        return future

    def landed(self, _: Future[Any]) -> None:
        with self.lock:
            self.now -= 1


# --- one sum -----------------------------------------------------------------------------------


def test_one_process_comes_to_the_sum_of_all_blocks(whole: bytes) -> None:
    assert digest(run(SMALL)) == whole


def test_blocks_that_come_back_in_another_order_have_the_same_sum(whole: bytes) -> None:
    assert digest(run(SMALL, Backwards(), abreast=4)) == whole


def test_threads_have_the_same_sum_and_no_more_blocks_in_flight_than_asked_for(whole: bytes) -> None:
    with Counting() as executor:
        assert digest(run(SMALL, executor, abreast=3)) == whole
    assert 1 < executor.most <= 3


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_processes_have_the_same_sum(workers: int, whole: bytes) -> None:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        assert digest(run(SMALL, executor)) == whole


def test_another_seed_has_another_sum(whole: bytes) -> None:
    assert digest(run(replace(SMALL, seed=bytes(32)))) != whole


def test_no_block_in_flight_is_refused() -> None:
    with pytest.raises(InputError, match="abreast: expected 1 or more"):
        run(SMALL, abreast=0)


def test_progress_counts_blocks_and_coups_to_the_end() -> None:
    seen: list[Progress] = []
    counts = run(SMALL, progress=seen.append)
    assert [progress.done for progress in seen] == list(range(len(TASKS) + 1))
    assert {progress.total for progress in seen} == {len(TASKS)}
    assert seen[0].left_s is None
    assert seen[-1].left_s == 0
    assert seen[-1].coups == coups_of(counts) > 900 * 8
    assert seen[-1].coups_per_s > 0


def test_tables_shuffled_for_every_coup_are_run_too() -> None:
    """Lazily dealt coups, a whole order of each sampled one, six words a coup as bits, and the scalar code's coups."""
    plan = plan_of(Sizes(8000, 100, 1, 20), Sizes(700, 100, 0, 10), rules=coup_rules(2))
    counts = run(plan)
    assert coups_of(counts) == 8700
    results = {result.name: result for result in judge_all(plan.checks, counts, plan.rules)}
    assert results["batch_replay"].p == results["production_replay"].p == 1
    assert results["batch_joint_totals"].n == 8000
    assert holm({name: result.p for name, result in results.items()}).passed


# --- interruptions -----------------------------------------------------------------------------


class Stop(Exception):
    pass


def stop_after(blocks: int) -> Callable[[Progress], None]:
    def progress(at: Progress) -> None:
        if at.done == blocks:
            raise Stop

    return progress


@pytest.mark.parametrize("blocks", [1, 5, len(TASKS)])
def test_a_run_broken_off_goes_on_where_it_stopped(blocks: int, whole: bytes, tmp_path: Path) -> None:
    checkpoint, seen = tmp_path / "checkpoint.npz", []
    with pytest.raises(Stop):
        run(SMALL, checkpoint=checkpoint, progress=stop_after(blocks))
    assert len(load(checkpoint, SMALL).tasks) == blocks
    assert digest(run(SMALL, checkpoint=checkpoint, progress=seen.append)) == whole
    assert seen[0].done == blocks
    assert list(tmp_path.iterdir()) == [checkpoint]


def test_a_run_may_go_on_with_another_executor(whole: bytes, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    with pytest.raises(Stop):
        run(SMALL, Backwards(), checkpoint=checkpoint, progress=stop_after(3))
    with ThreadPoolExecutor(2) as threads, pytest.raises(Stop):
        run(SMALL, threads, checkpoint=checkpoint, progress=stop_after(7))
    assert digest(run(SMALL, checkpoint=checkpoint)) == whole


def broken(*_: object) -> Any:
    raise Stop


@pytest.mark.parametrize("executor", [None, ThreadPoolExecutor(2)], ids=["here", "threads"])
def test_a_block_that_fails_ends_the_run_and_keeps_what_is_done(executor: Executor | None, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint.npz"
    with pytest.raises(Stop):
        run(SMALL, executor, checkpoint=checkpoint, engine=KERNEL._replace(orders=broken), abreast=1)
    assert load(checkpoint, SMALL).tasks == frozenset(range(6))  # the shoes of the batch path


KILLED = """
import os, signal
from pathlib import Path
from audit.run import run
from audit.plan import parse_plan
folder = Path({folder!r})
def progress(at):
    if at.done == 9:
        os.kill(os.getpid(), signal.SIGKILL)
run(parse_plan((folder / "plan.json").read_bytes()), checkpoint=folder / "checkpoint.npz", progress=progress,
    save_every_s=0)
"""


def test_a_killed_process_leaves_a_checkpoint_that_goes_on(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_bytes(SMALL.to_bytes())
    killed = subprocess.run(
        [sys.executable, "-c", KILLED.format(folder=str(tmp_path))],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    checkpoint = tmp_path / "checkpoint.npz"
    assert 1 <= len(load(checkpoint, SMALL).tasks) <= 9
    assert digest(run(SMALL, checkpoint=checkpoint)) == whole


# --- checkpoints -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def some() -> Done:
    return Done().plus(0, count_task(SMALL, TASKS[0])).plus(7, count_task(SMALL, TASKS[7]))


def test_a_checkpoint_reads_back(some: Done, tmp_path: Path) -> None:
    save(tmp_path / "c", SMALL, some)
    again = load(tmp_path / "c", SMALL)
    assert (again.tasks, digest(again.counts)) == (frozenset({0, 7}), digest(some.counts))


def test_without_a_checkpoint_nothing_is_done(tmp_path: Path) -> None:
    assert load(tmp_path / "none", SMALL).tasks == frozenset()


@pytest.mark.parametrize(
    "other", [replace(SMALL, seed=bytes(32)), plan_of(Sizes(702, 150, 1, 20)), replace(SMALL, checks=SMALL.checks[1:])]
)
def test_the_checkpoint_of_another_plan_is_refused(other: Plan, some: Done, tmp_path: Path) -> None:
    save(tmp_path / "c", other, some)
    with pytest.raises(
        InputError, match=f"c: expected the checkpoint of plan {SMALL.hash.hex()}, got '{other.hash.hex()}'"
    ):
        run(SMALL, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_checkpoint_cut_short_is_refused(share: float, some: Done, tmp_path: Path) -> None:
    save(tmp_path / "c", SMALL, some)
    content = (tmp_path / "c").read_bytes()
    (tmp_path / "c").write_bytes(content[: int(share * len(content))])
    with pytest.raises(InputError, match=r"c: damaged or cut short .*; delete it to begin anew"):
        run(SMALL, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("share", [0.2, 0.4, 0.6, 0.8])
def test_a_checkpoint_with_a_changed_byte_is_refused(share: float, some: Done, tmp_path: Path) -> None:
    save(tmp_path / "c", SMALL, some)
    content = bytearray((tmp_path / "c").read_bytes())
    content[int(share * len(content))] ^= 1
    (tmp_path / "c").write_bytes(content)
    with pytest.raises(InputError, match="c: damaged or cut short"):
        load(tmp_path / "c", SMALL)


@pytest.mark.parametrize(
    "head",
    [
        b"[]",
        b"{}",
        b'{"form":"fairshoe/checkpoint/2"}',
        b'{"form":"fairshoe/checkpoint/2","done":[[0,1]],"plan_hash":"00","counts":{"tuple":[]}}',
        b'{"form":"fairshoe/checkpoint/2","done":[0],"plan_hash":"00","counts":null}',
        b"\xff",
    ],
)
def test_a_file_of_another_form_is_refused(head: bytes, tmp_path: Path) -> None:
    with open(tmp_path / "c", "wb") as file:
        np.savez(file, head=np.frombuffer(head, np.uint8))
    with pytest.raises(InputError):
        load(tmp_path / "c", SMALL)


def test_nothing_pickled_is_loaded(tmp_path: Path) -> None:
    with open(tmp_path / "c", "wb") as file:
        np.savez(file, head=np.array([Stop()], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="c: damaged or cut short"):
        load(tmp_path / "c", SMALL)


def test_a_checkpoint_that_can_not_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        run(replace(SMALL, checks=("batch_replay",)), checkpoint=tmp_path / "no" / "folder" / "c")


def test_the_sum_of_no_blocks_is_empty() -> None:
    assert coups_of(RunCounts()) == 0
